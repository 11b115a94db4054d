from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.llm import Calls
from harness.sources.vision import PROMPTS, VisionCaptioner
from tests.sources.figures import figure
from tests.stub_endpoint import Reply, StubEndpoint

FIGURES = [figure("d#1.f1"), figure("d#2.f1")]


def captioner(stub: StubEndpoint, **settings: object) -> VisionCaptioner:
    return VisionCaptioner(base_url=stub.base_url, model="stub", **settings)  # type: ignore[arg-type]


def test_picture_and_prompt_are_sent() -> None:
    """The model gets the prompt of the language and the picture as base64 PNG."""
    with StubEndpoint(" A bar chart. ") as stub:
        first, _ = captioner(stub, language="ja").caption(FIGURES, Calls(None))

    (content,) = [message["content"] for message in stub.chats[0].messages]
    assert content[0]["text"] == PROMPTS["ja"]
    assert content[1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert (first.text, first.source, first.captioner) == ("A bar chart.", "vision", "stub")
    assert first.readable


def test_a_custom_prompt_replaces_the_languages() -> None:
    """A custom prompt is sent and is part of the identity."""
    with StubEndpoint("ok") as stub:
        own = captioner(stub, prompt="Only the title.")
        own.caption(FIGURES[:1], Calls(None))

        assert stub.chats[0].messages[0]["content"][0]["text"] == "Only the title."
        assert own.identity() != captioner(stub).identity()


def test_each_picture_is_asked_once(tmp_path: Path) -> None:
    """Calls are cached in the store like those of any model."""
    with StubEndpoint("ok") as stub:
        for _ in range(2):
            captioner(stub).caption(FIGURES, Calls(tmp_path))

        assert len(stub.chats) == 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(status=400, error="no images here"), "no images here"),
        (Reply(content="  "), "the model returned an empty caption"),
        (Reply(content="A bar", finish_reason="length"), "truncated at 800 tokens"),
    ],
)
def test_failures_are_captions_with_a_reason(reply: Reply, reason: str) -> None:
    """A refusal, an empty reply and a truncated one do not affect the other figures."""
    with StubEndpoint([reply, "A map."]) as stub:
        bad, good = captioner(stub, concurrency=1).caption(FIGURES, Calls(None))

    assert bad.text == ""
    assert reason in str(bad.error)
    assert (good.text, good.error) == ("A map.", None)


def test_model_is_needed() -> None:
    """Without a model the error names the key to set."""
    with pytest.raises(ConfigError, match=r"variant\.captioner\.model"):
        VisionCaptioner().identity()


def test_a_language_without_a_prompt_gets_the_english_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A study in German is captioned in English, and one warning lists the known languages."""
    german, english = (VisionCaptioner(model="m", language=each) for each in ("de", "en"))

    assert german.identity() == english.identity()
    assert german.rendered_prompt == PROMPTS["en"]
    (line,) = caplog.messages
    assert "'de' (known: en, ja, zh_hans, zh_hant): using English" in line


def test_key_is_never_part_of_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the key nor the name of its variable is part of the identity."""
    monkeypatch.setenv("VISION_KEY", "sk-secret")

    with_key = VisionCaptioner(model="m", api_key_env="VISION_KEY").identity()

    assert with_key == VisionCaptioner(model="m").identity()
    assert "sk-secret" not in repr(with_key)
