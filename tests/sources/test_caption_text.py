import pytest

from harness.sources.chart import Axis, Chart
from harness.sources.ocr import WORDINGS, Wording, caption_of

SCALE = Axis("Percent", ("0", "5", "10"))


def test_values_are_pairs_of_label_and_value() -> None:
    """The caption of a chart with printed values gives them, and does not say they are missing."""
    chart = Chart(
        ("Cases",), (SCALE,), Axis("Region", ("N", "S")), (("N", ("4.5", "1")), ("S", ("3",))), ()
    )

    assert caption_of(chart, WORDINGS["en"]) == (
        "Text in the figure (OCR): Cases. Vertical axis: Percent (0, 5, 10). "
        "Horizontal axis: Region. Values: N: 4.5, 1; S: 3."
    )


def test_missing_values_are_said() -> None:
    """If no values are printed the caption says so, in Chinese here."""
    chart = Chart((), (), Axis("", ("1900", "1910", "1920")), (), ("Golden Age",))

    assert caption_of(chart, WORDINGS["zh_hant"]) == (
        "圖中文字（OCR）：橫軸：1900、1910、1920。其他文字：Golden Age。"
        "圖上未標示數值，數值無法讀出。"
    )


def test_long_axes_are_told_by_their_ends() -> None:
    """Of more than fourteen labels only the first and the last are given."""
    chart = Chart(
        (), (), Axis("Income percentile", tuple(str(i) for i in range(5, 105, 5))), (), ()
    )

    assert "Income percentile (5 – 100)" in caption_of(chart, WORDINGS["en"])


@pytest.mark.parametrize("say", WORDINGS.values(), ids=WORDINGS)
def test_every_language_says_everything(say: Wording) -> None:
    """Every language gives all parts, and a picture without words has no caption in any."""
    chart = Chart(("T",), (SCALE,), Axis("X", ("p", "q")), (), ("O",))
    caption = caption_of(chart, say)

    for part in ("T", "Percent", "10", "X", "p", "q", "O", say.no_values):
        assert part in caption
    assert caption_of(Chart((), (), None, (), ()), say) == ""
