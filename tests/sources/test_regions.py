import pytest

from harness.sources.documents import Box, bounding_box
from harness.sources.pdf.figures import Mark, MarkKind, is_figure, regions

PAGE = Box(0, 0, 600, 800)


def plates(*boxes: tuple[float, float, float, float]) -> list[Mark]:
    return [Mark(MarkKind.PLATE, Box(*box)) for box in boxes]


def test_bars_are_a_figure() -> None:
    """Upright bars start at one line and differ in height, horizontal ones in length."""
    assert is_figure(plates((0, 0, 20, 90), (30, 0, 50, 50), (60, 0, 80, 20)))
    assert is_figure(plates((0, 0, 90, 20), (0, 30, 50, 50), (0, 60, 20, 80)))


def test_table_is_not_a_figure() -> None:
    """Cells that share a line are equally long, whatever their widths, and rules are not bars."""
    header = plates((0, 100, 60, 115), (60, 100, 100, 115), (100, 100, 180, 115))
    rules = [Mark(MarkKind.RULE, Box(0, y, 180, y + 1)) for y in range(0, 100, 15)]

    assert not is_figure(header + rules)


@pytest.mark.parametrize(
    ("slants", "size", "expected"), [(12, 80, True), (11, 80, False), (90, 30, False)]
)
def test_drawing_needs_strokes_and_size(slants: int, size: float, expected: bool) -> None:
    """A dozen curved or slanted strokes make a drawing; round corners and icons do not."""
    assert is_figure([Mark(MarkKind.SHAPE, Box(0, 0, size, size), slants)]) is expected


def test_image_needs_size() -> None:
    """A flag in the cell of a table does not make it a figure."""
    assert is_figure([Mark(MarkKind.IMAGE, Box(0, 0, 100, 60))])
    assert not is_figure([Mark(MarkKind.IMAGE, Box(0, 0, 15, 10))])


def test_regions_keep_apart_what_stands_apart() -> None:
    """Two charts on a page are two regions; a frame joins everything inside it."""
    left, right = plates((50, 50, 100, 100), (300, 50, 350, 100))
    frame = Mark(MarkKind.PLATE, Box(40, 40, 400, 400))

    assert len(regions([left, right], PAGE)) == 2
    assert len(regions([left, right, frame], PAGE)) == 1


def test_regions_of_a_monstrous_page() -> None:
    """The grid does not grow with the page: 14,400 points cost no more than A4."""
    huge = Box(0, 0, 1e7, 1e7)

    assert len(regions(plates((0, 0, 10, 10), (9e6, 9e6, 9.1e6, 9.1e6)), huge)) == 2


def test_marks_outside_of_the_page_do_no_harm() -> None:
    """A mark beyond the edge is assigned to the cell at the edge."""
    assert len(regions(plates((-500, -500, -400, -400), (900, 900, 950, 950)), PAGE)) == 2


def test_box_arithmetic() -> None:
    """Union, intersection and growth, worked by hand."""
    a, b = Box(0, 0, 10, 10), Box(5, 5, 20, 8)

    assert bounding_box([a, b]) == Box(0, 0, 20, 10)
    assert a.clipped(b) == Box(5, 5, 10, 8)
    assert a.clipped(b).area == 15
    assert not a.clipped(Box(11, 0, 12, 1)).has_extent
    assert a.clipped(Box(11, 0, 12, 1)).area == 0
    assert a.grown(1).holds(a)
