import re

import pytest

from harness.config.run_names import portable, run_name, study_folder
from harness.errors import ConfigError

NEUTRAL = frozenset({"chat.base_url", "corpus"})


@pytest.mark.parametrize(
    ("overrides", "version", "name"),
    [
        (["variant=ctx_k9"], None, "ctx_k9"),
        (["variant=ctx_k9", "variant.top_k=6"], None, "ctx_k9-top_k-6"),
        (["variant=ctx_k9"], "2026-w48", "ctx_k9-2026-w48"),
        (["study=census", "study.name=scratch", "limit=2", "cache=read"], None, "ctx_k9"),
        (["prompt=strict"], None, "ctx_k9-prompt-strict"),
        (["chat=openai", "variant.chat.model=m1"], None, "ctx_k9-chat-openai-chat.model-m1"),
        (["variant.chat.base_url=http://127.0.0.1:1/v1"], None, "ctx_k9"),
        (["chat@judge.chat=ollama", "judge.chat.model=m"], None, "ctx_k9"),
    ],
)
def test_names_say_what_was_run(overrides: list[str], version: str | None, name: str) -> None:
    """Settings that shape the answers are in the name; where and how much to run is not."""
    assert run_name("ctx_k9", overrides, version, NEUTRAL) == name


def test_the_order_of_overrides_does_not_matter() -> None:
    """The same settings give the same folder."""
    words = ["variant.top_k=6", "prompt=strict"]

    assert run_name("v", words, None) == run_name("v", words[::-1], None)


@pytest.mark.parametrize(
    "text",
    [
        "qwen2.5:7b/k4",
        "a*b",
        "CON",
        "x.",
        "文字_k4",
        "圖片_k4",
        "Model",
        "a,b=c",
        "x" * 300,
        "..",
        "nul.txt",
    ],
)
def test_every_name_is_portable(text: str) -> None:
    """Folder names hold letters, digits, `.`, `_`, `-` only, and are not reserved names."""
    name = portable(text)

    assert re.fullmatch(r"[a-z0-9._-]{1,120}", name)
    assert name.split(".")[0] not in {"con", "nul"}
    assert not name.startswith(".")
    assert not name.endswith(".")


def test_no_two_texts_share_a_folder() -> None:
    """Names that differ by case, or in replaced characters only, get different folders."""
    texts = ["文字_k4", "圖片_k4", "model", "Model", "MODEL", "a:b", "a/b", "a-b"]

    assert len({portable(text) for text in texts}) == len(texts)


@pytest.mark.parametrize("name", ["", "a/b", "..", "a:b", " a", "x\x00"])
def test_study_names_that_cannot_be_folders(name: str) -> None:
    """A study's name is used unchanged, so it must be a valid folder name."""
    with pytest.raises(ConfigError, match=r"study\.name="):
        study_folder(name)


def test_study_names_may_be_chinese() -> None:
    """`study.name=麻疹` writes to a folder of that name."""
    assert study_folder("麻疹") == "麻疹"
