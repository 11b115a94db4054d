import pytest

from harness.judge.overlap_judge import coverage, pieces
from harness.text import sentences


def test_chinese_sentences_are_all_kept() -> None:
    """Stops of either width end a sentence, and the last needs none."""
    assert sentences("塔高27公尺。1931年啟用！真的嗎？是的") == [
        "塔高27公尺。",
        "1931年啟用！",
        "真的嗎？",
        "是的",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rate 1.05. Next 2.5!", ["Rate 1.05.", "Next 2.5!"]),
        ("See Fig. 3 by J. Smith et al. in the annex. Then go.", 2),
        ("他說：「是。」然後離開。", ["他說：「是。」", "然後離開。"]),
        ("It fell [1]. It rose.[2] End", ["It fell [1].", "It rose.[2]", "End"]),
        ("- one\n- two\n\n---\n1. three", ["one", "two", "three"]),
        ("What?No", ["What?No"]),
        ("本当？はい", ["本当？", "はい"]),
        ("27", ["27"]),
        ("", []),
        ("。！？", []),
    ],
)
def test_sentences(text: str, expected: list[str] | int) -> None:
    """Points in numbers, names and marks end nothing; list marks and rules say nothing."""
    found = sentences(text)
    assert (len(found) if isinstance(expected, int) else found) == expected


def test_sentences_hold_every_letter_and_digit() -> None:
    """Nothing that was said is lost between two sentences."""
    text = "A. 27.5 m (approx. 90 ft). 是嗎?是。\n* b) 第3章；「完」\nDr. No. 5"
    told = [c for c in text if c.isalnum()]
    assert [c for s in sentences(text) for c in s if c.isalnum()] == told


def test_pieces_even_out_what_means_the_same() -> None:
    """Width, case, thousands separators, trailing zeros and word endings do not tell apart."""
    assert pieces("１，２００ Increased 2.40") == pieces("1200 increases 2.4")


def test_coverage_looks_at_one_stretch() -> None:
    """Words scattered over a long premise do not add up to a claim."""
    scattered = ["a", *["x"] * 40, "b", *["x"] * 40, "c"]
    assert coverage(["a", "b", "c"], scattered, 30) == pytest.approx(1 / 3)
    assert coverage(["a", "b", "c"], scattered) == 1.0
    assert coverage([], scattered) == 0.0
