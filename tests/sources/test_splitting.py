import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sources.passages import CLOSING, count_cut_numbers, head, split

REPORT = "「第一段講人口。彰化縣的發生率最高，為1.05。\n第二段講月份，四月最多，共十二例。」"
LETTERS = st.text("漢字かなab XY12305.,%$ \n。，、！？；：）」』(「", max_size=100)


def test_sentences_keep_their_own_stop() -> None:
    """Three sentences, none beginning with a stop, and 1.05 whole in the second."""
    pieces = split(REPORT, 20)

    assert pieces == [
        "「第一段講人口。",
        "彰化縣的發生率最高，為1.05。",
        "第二段講月份，四月最多，共十二例。」",
    ]
    assert count_cut_numbers(REPORT, pieces) == 0


def test_cut_numbers_are_counted() -> None:
    """Pieces that begin or end inside a number are counted, as the default splitter cuts them."""
    assert count_cut_numbers("率為1.05。", ["率為1.", "05。"]) == 2
    assert count_cut_numbers("共12,345例，3.5%", ["共12,", "345例，3.5", "%"]) == 3
    assert count_cut_numbers("in 2005. 12 of", ["in 2005.", "12 of"]) == 0


@pytest.mark.parametrize(
    "number", ["1.05", "12,345", "3.5%", "18.0", "$10.8", "1,234,567.89", "１．０５", "12:30"]
)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_numbers_are_never_cut(number: str, size: int) -> None:
    """However small the pieces are, a number is in one of them."""
    assert any(number in piece for piece in split(f"漢字漢字{number}漢字，漢字", size))


def test_english_is_cut_at_sentences() -> None:
    """A sentence ends at its stop, but not at the number of a list item or dot leaders."""
    text = "It rose. It fell again! 1. First item\nTotal ...... 12.5 3.0"

    assert split(text, 24) == ["It rose. It fell again!", "1. First item", "Total ...... 12.5 3.0"]


def test_long_sentence_is_cut_at_commas() -> None:
    """A sentence that is too long is cut at the next best places: ；, then ，and 、."""
    assert split("甲甲甲，乙乙乙；丙丙丙、丁丁丁。", 9) == ["甲甲甲，乙乙乙；", "丙丙丙、丁丁丁。"]
    assert split("甲甲甲，乙乙乙。", 5) == ["甲甲甲，", "乙乙乙。"]


def test_overlap_repeats_whole_pieces() -> None:
    """A passage may begin with the last sentence of the one before."""
    pieces = split("一二三。四五六。七八九。", 8, overlap=4)

    assert pieces == ["一二三。四五六。", "四五六。七八九。"]
    assert count_cut_numbers("一二三。四五六。七八九。", pieces, 4) == 0


@given(LETTERS, st.integers(1, 30))
def test_nothing_is_lost_and_nothing_begins_wrong(text: str, size: int) -> None:
    """Everything but blanks is kept in order, and no later piece begins with a stop."""
    pieces = split(text, size)

    assert re.sub(r"\s", "", "".join(pieces)) == re.sub(r"\s", "", text)
    assert not [piece for piece in pieces[1:] if re.match(f"[{CLOSING}]", piece)]
    assert count_cut_numbers(text, pieces) == 0


@given(LETTERS, st.integers(2, 30))
def test_overlap_cuts_no_numbers(text: str, size: int) -> None:
    """Overlap does not make a piece begin inside a number."""
    assert count_cut_numbers(text, split(text, size, size // 2), size // 2) == 0


def test_head_ends_at_a_sentence() -> None:
    """The beginning of a text ends at the last sentence that fits, else at a comma."""
    assert head(REPORT, 1000) == REPORT
    assert head("一二三四。五六七八。九", 10) == "一二三四。五六七八。"
    assert head("一二三四五六，七八九十。", 8) == "一二三四五六，"
    assert head("一二三", 0) == ""
    assert head("1234567", 5) == ""
