"""Rectangles on a page, and which of the marks drawn there make up a figure. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

CELL = 5.0
"""Points: marks less than about two cells apart belong to one region."""
MOST_CELLS = 400
"""Along one side of a page; beyond it the cells grow with the page."""
RULE_THICKNESS = 2.5
SAME_EDGE = 1.0
"""Points by which two edges may differ and still be one line."""
FEWEST_BARS = 3
FEWEST_SLANTS = 12
"""Curved or slanted strokes that make a drawing; a box with round corners has eight."""
SMALLEST_DRAWING = (60.0, 40.0)
"""Points, width and height: what is smaller is an icon, a bullet or a tick."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in points, y upwards from the bottom of the page."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def has_extent(self) -> bool:
        """False for what `clipped` leaves of two rectangles that do not meet."""
        return self.width >= 0 and self.height >= 0

    @property
    def area(self) -> float:
        """Square points; zero where nothing is left of the rectangle."""
        return max(self.width, 0.0) * max(self.height, 0.0)

    def union(self, other: "Box") -> "Box":
        """Return the smallest rectangle that holds both."""
        return Box(
            min(self.left, other.left),
            min(self.bottom, other.bottom),
            max(self.right, other.right),
            max(self.top, other.top),
        )

    def clipped(self, to: "Box") -> "Box":
        """Return what both share; its area is zero where that is nothing."""
        return Box(
            max(self.left, to.left),
            max(self.bottom, to.bottom),
            min(self.right, to.right),
            min(self.top, to.top),
        )

    def holds(self, other: "Box") -> bool:
        return self.union(other) == self

    def grown(self, by: float) -> "Box":
        return Box(self.left - by, self.bottom - by, self.right + by, self.top + by)


class Kind(Enum):
    """What a mark on a page is."""

    RULE = "rule"
    PLATE = "plate"
    """A filled or outlined rectangle: a bar, a table cell, a frame, a panel."""
    SHAPE = "shape"
    """Anything with a curve or a slanted stroke."""
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Raster:
    """The pixels of an image mark."""

    dpi: float
    """Pixels an inch, as it is placed on the page."""
    sha256: str
    """Of the data in the file: equal images are equal wherever they stand."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing drawn on a page."""

    kind: Kind
    box: Box
    slants: int = 0
    """Curved or slanted strokes."""
    raster: Raster | None = None


def around(boxes: Iterable[Box]) -> Box:
    """Return the smallest rectangle that holds all, of which there is at least one."""
    first, *rest = boxes
    for box in rest:
        first = first.union(box)
    return first


def regions(marks: Sequence[Mark], page: Box) -> list[list[Mark]]:
    """Group the marks that touch or nearly touch, over the whole page.

    >>> page = Box(0, 0, 600, 800)
    >>> near = [Mark(Kind.RULE, Box(10, 10, 50, 11)), Mark(Kind.RULE, Box(10, 15, 50, 16))]
    >>> [len(group) for group in regions([*near, Mark(Kind.RULE, Box(10, 90, 50, 91))], page)]
    [2, 1]
    """
    import numpy as np

    cell = max(CELL, page.width / MOST_CELLS, page.height / MOST_CELLS)
    inked = np.zeros((int(page.height / cell) + 1, int(page.width / cell) + 1), dtype=bool)
    spans = [_cells(mark.box, page, cell, *inked.shape) for mark in marks]
    for span in spans:
        inked[span] = True
    labels = _components(inked.tolist())
    groups: dict[int, list[Mark]] = {}
    for mark, (across_rows, across_columns) in zip(marks, spans, strict=True):
        groups.setdefault(labels[across_rows.start][across_columns.start], []).append(mark)
    return list(groups.values())


def is_figure(marks: Sequence[Mark]) -> bool:
    """Tell whether the marks of a region draw something, rather than rule a table.

    >>> bars = [Mark(Kind.PLATE, Box(x, 0, x + 20, h)) for x, h in ((0, 90), (30, 50), (60, 20))]
    >>> is_figure(bars)
    True
    >>> is_figure([Mark(Kind.PLATE, Box(x, 0, x + 20, 12)) for x in (0, 20, 40)])
    False
    """
    if any(mark.kind is Kind.IMAGE and has_size(mark.box) for mark in marks):
        return True
    shapes = [mark for mark in marks if mark.kind is Kind.SHAPE]
    slants = sum(mark.slants for mark in shapes)
    if slants >= FEWEST_SLANTS and has_size(around(mark.box for mark in shapes)):
        return True
    plates = [mark.box for mark in marks if mark.kind is Kind.PLATE]
    upright = [(box.bottom, box.width, box.height) for box in plates]
    lying = [(box.left, box.height, box.width) for box in plates]
    return _are_bars(upright) or _are_bars(lying)


def has_size(box: Box) -> bool:
    """Tell whether something is large enough to be looked at."""
    width, height = SMALLEST_DRAWING
    return box.width >= width and box.height >= height


def _are_bars(plates: list[tuple[float, float, float]]) -> bool:
    """Tell whether some plates, each (base, thickness, length), look like the bars of a chart.

    Bars stand on one line, are equally thick and differ in length; the cells of a table
    that share a line are equally long.
    """
    lengths: dict[tuple[int, int], set[int]] = {}
    for base, thickness, length in plates:
        key = (round(base / SAME_EDGE), round(thickness / 2.0))
        lengths.setdefault(key, set()).add(round(length / SAME_EDGE))
    return any(len(distinct) >= FEWEST_BARS for distinct in lengths.values())


def _cells(box: Box, page: Box, cell: float, rows: int, columns: int) -> tuple[slice, slice]:
    """Return the rows and columns of the page's grid that a box covers, at least one each."""

    def span(low: float, high: float, cells: int) -> slice:
        first = min(max(int(low / cell), 0), cells - 1)
        return slice(first, min(max(int(high / cell), first), cells - 1) + 1)

    return (
        span(box.bottom - page.bottom, box.top - page.bottom, rows),
        span(box.left - page.left, box.right - page.left, columns),
    )


def _components(inked: list[list[bool]]) -> list[list[int]]:
    """Number the connected parts of a grid, diagonals included; 0 where nothing is inked."""
    labels = [[0] * len(row) for row in inked]
    count = 0
    for y, row in enumerate(inked):
        for x, ink in enumerate(row):
            if not ink or labels[y][x]:
                continue
            count += 1
            labels[y][x] = count
            stack = [(y, x)]
            while stack:
                at, column = stack.pop()
                for i in range(max(at - 1, 0), min(at + 2, len(inked))):
                    for j in range(max(column - 1, 0), min(column + 2, len(row))):
                        if inked[i][j] and not labels[i][j]:
                            labels[i][j] = count
                            stack.append((i, j))
    return labels
