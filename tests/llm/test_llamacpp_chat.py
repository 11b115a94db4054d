"""llama.cpp in this process, with real but tiny weights."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigError, ContextOverflowError, EndpointError
from harness.llm import Calls, LlamaCppChat, Request, llamacpp_chat
from tests.tiny_gguf import write_tiny_gguf

pytest.importorskip("xllamacpp", reason="needs the extra `llamacpp`")
pytest.importorskip("gguf", reason="the tests write their weights with gguf")

MakeRequest = Callable[..., Request]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("weights") / "tiny-Q8.gguf")


def chat_with(weights: Path, **given: object) -> LlamaCppChat:
    settings = {"model_path": str(weights), "context": 512, "threads": 1, "max_tokens": 12}
    return LlamaCppChat(**{**settings, **given})  # type: ignore[arg-type]


def test_it_answers_with_counts_and_remembers(
    weights: Path, calls: Calls, ask: MakeRequest
) -> None:
    """A real reply: 12 tokens were allowed, and random weights never stop by themselves."""
    chat = chat_with(weights)
    first = chat.complete(ask("2+2?"), calls)
    again = chat.complete(ask("2+2?"), calls)

    assert (first.output_tokens, first.finish_reason) == (12, "length")
    assert first.input_tokens is not None
    assert first.input_tokens > len("user: 2+2?")  # a token a byte
    assert again.remembered
    assert chat.label == "tiny-Q8"


def test_a_reply_does_not_depend_on_what_was_asked_before(weights: Path, ask: MakeRequest) -> None:
    """Without prompt cache and with one slot, the order of requests changes nothing."""
    chat, texts = chat_with(weights), ["one", "one two", "three", "one two four"]
    replies = [
        {text: chat.complete(ask(text), Calls(None)).text for text in order}
        for order in (texts, texts[::-1])
    ]

    assert replies[0] == replies[1]
    assert len(set(replies[0].values())) > 1


def test_a_schema_is_enforced(weights: Path, ask: MakeRequest) -> None:
    """Even random weights write one of the allowed labels."""
    schema = {
        "type": "object",
        "properties": {"label": {"type": "string", "enum": ["yes", "no"]}},
        "required": ["label"],
        "additionalProperties": False,
    }
    reply = chat_with(weights, max_tokens=40).complete(ask("?", schema=schema), Calls(None))

    assert reply.text.replace(" ", "").replace("\n", "") in ('{"label":"yes"}', '{"label":"no"}')


def test_a_string_of_a_schema_ends(weights: Path, ask: MakeRequest) -> None:
    """A string without a maximum length might never end: the schema that is sent has one."""
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}}
    reply = chat_with(weights, max_tokens=60).complete(ask("?", schema=schema), Calls(None))

    assert reply.finish_reason == "stop"


def test_a_prompt_beyond_the_window_is_refused_by_the_server_too(
    weights: Path, ask: MakeRequest
) -> None:
    """A token per byte is more than any estimate: the server's refusal becomes an overflow."""
    with pytest.raises(ContextOverflowError, match=r"window|context"):
        chat_with(weights).complete(ask("lighthouse " * 60), Calls(None))


def test_weights_count_by_their_content(weights: Path, tmp_path: Path) -> None:
    """The same bytes elsewhere are the same model; other bytes under the name are another."""
    moved = tmp_path / "moved.gguf"
    moved.write_bytes(weights.read_bytes())
    other = write_tiny_gguf(tmp_path / weights.name, seed=1)

    identity = chat_with(weights).identity()
    assert identity["weights"] == hashlib.sha256(weights.read_bytes()).hexdigest()
    assert chat_with(moved).identity() == identity
    assert chat_with(other).identity() != identity


def test_weights_that_take_another_file_s_place_answer_for_themselves(
    weights: Path, tmp_path: Path, ask: MakeRequest
) -> None:
    """In one process, under one path: a later model loads the file that is there now."""
    file, other = tmp_path / "model.gguf", write_tiny_gguf(tmp_path / "other.gguf", seed=1)
    file.write_bytes(weights.read_bytes())
    old = chat_with(file).complete(ask("2+2?"), Calls(None)).text
    expected = chat_with(other).complete(ask("2+2?"), Calls(None)).text
    os.replace(other, file)

    assert chat_with(file).complete(ask("2+2?"), Calls(None)).text == expected != old


def test_weights_may_not_change_under_a_model(
    weights: Path, tmp_path: Path, calls: Calls, ask: MakeRequest
) -> None:
    """Once a model has read its weights, other bytes are refused and nothing is cached."""
    file = tmp_path / "model.gguf"
    file.write_bytes(weights.read_bytes())
    chat = chat_with(file)
    chat.identity()
    os.utime(file)
    chat.identity()  # the same bytes
    os.replace(write_tiny_gguf(tmp_path / "other.gguf", seed=1), file)

    with pytest.raises(EndpointError, match=r"model\.gguf was replaced while it was in use"):
        chat.complete(ask("2+2?"), calls)
    assert calls.size().calls == {}


def test_weights_replaced_while_they_are_loaded_are_not_used(
    weights: Path, tmp_path: Path, calls: Calls, ask: MakeRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file loaded in the meantime is not used as the model that was hashed."""
    file, other = tmp_path / "model.gguf", write_tiny_gguf(tmp_path / "other.gguf", seed=1)
    file.write_bytes(weights.read_bytes())
    start = llamacpp_chat._start

    def replaced_first(*given: Any) -> Any:
        if other.exists():
            os.replace(other, file)
        return start(*given)

    monkeypatch.setattr(llamacpp_chat, "_start", replaced_first)
    with pytest.raises(EndpointError, match="was replaced"):
        chat_with(file).complete(ask("2+2?"), calls)
    assert calls.size().calls == {}
    assert str(file) not in {path for path, *_ in llamacpp_chat._servers}


@pytest.mark.parametrize("context", [600, 4096])
def test_a_reply_that_the_window_cuts_is_not_kept(
    weights: Path, calls: Calls, ask: MakeRequest, context: int
) -> None:
    """The weights have a window of 512 tokens, whatever `context` says; nothing else ends it."""
    with pytest.raises(ContextOverflowError, match="the reply reached the end of the context w"):
        chat_with(weights, max_tokens=None, context=context).complete(ask("2+2?"), calls)
    assert calls.size().calls == {}


def test_extra_may_bound_the_reply_too(weights: Path, calls: Calls, ask: MakeRequest) -> None:
    """llama.cpp's own name for `max_tokens` limits the reply too."""
    chat = chat_with(weights, max_tokens=None, extra={"n_predict": 5})
    reply = chat.complete(ask("2+2?"), calls)

    assert (reply.output_tokens, reply.finish_reason) == (5, "length")


def test_calls_keep_the_keys_of_the_recording_that_is_shipped() -> None:
    """The demo was recorded under these entries and no others."""
    chat = LlamaCppChat(model_path=__file__, max_tokens=256)
    names = "protocol weights package threads structured temperature top_p seed max_tokens extra"
    assert list(chat.identity()) == names.split()


def test_what_is_missing_is_named(tmp_path: Path, ask: MakeRequest) -> None:
    """No path, no file, a base_url, a file that is not a model: one line each."""
    with pytest.raises(ConfigError, match=r"set variant\.chat\.model_path="):
        LlamaCppChat().identity()
    with pytest.raises(ConfigError, match=r"file not found: .*nowhere\.gguf"):
        chat_with(tmp_path / "nowhere.gguf").identity()
    with pytest.raises(ConfigError, match="use chat=openai"):
        LlamaCppChat(base_url="http://127.0.0.1:8080")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and no more")
    with pytest.raises(EndpointError, match=r"cannot load .*broken\.gguf"):
        chat_with(broken).complete(ask(), Calls(None))
