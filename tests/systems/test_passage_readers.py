import pytest

from harness.errors import ConfigError
from harness.systems import PromptTemplate
from tests.fakes import passages

PROMPT = PromptTemplate(language="ja", ja="資料：{passages}\n質問：{question}", en="{question}")


def test_slots_are_filled() -> None:
    """Passages come numbered in rank order, then the question."""
    (message,) = PROMPT.messages("何月？", passages("四月", "五月"))

    assert message.content == "資料：[1] 四月\n\n[2] 五月\n質問：何月？"


def test_braces_in_a_passage_are_no_slots() -> None:
    """Braces in a passage or question stay braces."""
    (message,) = PROMPT.messages("{passages}", passages("{question} {x} {}"))

    assert message.content == "資料：[1] {question} {x} {}\n質問：{passages}"


def test_only_the_text_in_use_is_a_factor() -> None:
    """A change of the English text leaves the factors of a Japanese run unchanged."""
    other = PromptTemplate(language="ja", ja=PROMPT.ja, en="Say: {question}")

    assert other.factors() == PROMPT.factors()
    assert other.sha256 == PROMPT.sha256


def test_a_missing_language_is_an_error() -> None:
    """A prompt without a text in the study's language is refused."""
    with pytest.raises(ConfigError, match="no text in 'zh_hant'"):
        _ = PromptTemplate(language="zh_hant", en="x").template
