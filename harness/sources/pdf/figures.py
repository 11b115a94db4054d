"""The figures of a PDF page: its marks, which of them form a picture or chart, and its rendering.

Marks are read from pdfium's list of page objects, in page coordinates. A figure is rendered as a
reader sees it.
"""

import ctypes
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium
from pypdfium2 import PdfBitmap, PdfiumError
from scipy.ndimage import label

from harness.sources.documents import (
    LONGEST_SIDE,
    MOST_PIXELS,
    Box,
    RawFigure,
    bounding_box,
    encode,
)
from harness.sources.pdf.text_lines import Span
from harness.text import sha256

RULE_THICKNESS = 2.5
"""Points: a thinner rectangle is a line."""
SLANT = 0.5
"""Points along both axes from which on a stroke counts as slanted."""
MOST_SEGMENTS = 200_000
"""Maximum of a page's paths that are read; a map with more is recognised by these."""
WHITE = (255, 255, 255)
CELL = 5.0
"""Points: marks less than about two cells apart belong to one region."""
MOST_CELLS = 400
"""Along one side of a page; on a larger page the cells are larger."""
SAME_EDGE = 1.0
"""Points by which two edges on one line may differ."""
FEWEST_BARS = 3
FEWEST_SLANTS = 12
"""Curved or slanted strokes that make a drawing; a box with round corners has eight."""
SMALLEST_DRAWING = (60.0, 40.0)
"""Points, width and height: anything smaller is an icon, a bullet or a tick."""
DRAWING_DPI = 170.0
BACKDROP = 0.85
"""Share of the page from which a mark is the background of the page, or a scan of it."""
FEWEST_LETTERS = 20
"""Letters from which a page counts as having text; a scan with a printed page number has none."""
FILLS = 0.85
"""Share of a region from which an image is the whole of it, and the rest is ornament."""
BLEED = 3.0
"""Points beyond the edge of the page; a mark that reaches further is trimmed: a header band."""
LARGEST_BAND = 0.2
"""Maximum share of the page that a trimmed decoration covers."""
MOST_ELONGATED = 8.0
LABEL_GAP = 16.0
"""Points around a chart within which a short line of text belongs to its axes."""
FRAMED_GAP = 6.0
LONGEST_TICK = 60.0
"""Points: a longer line beside a chart is the text of another column, not a tick of its axis."""
TITLE_GAP = 30.0
MARGIN = 4.0
TITLE = re.compile(
    r"\W*(fig(ure)?|chart|graph)\b|\W*[圖图図]\s*\w|\W*第.{1,12}[圖图図]", re.IGNORECASE
)

Point = tuple[float, float]


class MarkKind(Enum):
    """What a mark on a page is."""

    RULE = "rule"
    PLATE = "plate"
    """A filled or outlined rectangle: a bar, a table cell, a frame, a panel."""
    SHAPE = "shape"
    """Anything with a curve or a slanted stroke."""
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing drawn on a page."""

    kind: MarkKind
    box: Box
    slants: int = 0
    """Curved or slanted strokes."""
    dpi: float = 0.0
    """Of an image: pixels per inch, as it is placed on the page."""
    sha256: str = ""
    """Of an image's data in the file: equal for equal images, wherever they are placed."""


class OversizedError(Exception):
    """The page has an image that is too large to decode."""


def figures_of(page: Any, spans: Sequence[Span]) -> list[RawFigure]:
    """Return the figures of a pypdfium2 page, from top to bottom.

    Ruled tables, trimmed header bands and the background of the page are not figures. The scan of
    a whole page is one only if the page has no text.

    Args:
        page: The page of an open document.
        spans: Its text.

    Raises:
        OversizedError: an image of the page is too large to decode, so nothing was rendered.
    """
    sheet = Box(*page.get_bbox())
    marks = [mark for mark in marks_of(page) if mark.box.clipped(sheet).has_extent]
    found = []
    has_text = sum(len(span.text.strip()) for span in spans) >= FEWEST_LETTERS
    groups = regions(_foreground(marks, sheet, has_text), sheet)
    placed = [(bounding_box(mark.box for mark in group), group) for group in groups]
    for whole, group in sorted(placed, key=lambda each: (-each[0].top, each[0].left)):
        box, kind, dpi, content = whole, "drawing", DRAWING_DPI, ""
        images = [m for m in group if m.kind is MarkKind.IMAGE and m.box.area >= FILLS * whole.area]
        if len(images) == 1:  # the image fills the region
            box, kind, dpi, content = images[0].box, "image", images[0].dpi, images[0].sha256
        box = box.clipped(sheet)
        if not is_figure(group) or not _is_worth_a_look(box):
            continue
        if kind == "drawing":
            box = _with_labels(box, group, spans).grown(MARGIN).clipped(sheet)
        picture = render(page, box, dpi)
        if picture is not None:
            content = content or picture.content
            found.append(replace(picture, content=content, kind=kind, box=box))
    return found


def render(page: Any, box: Box, dpi: float) -> RawFigure | None:
    """Return what a reader sees within the box, on white; None if that is blank."""
    scale = min(max(dpi / 72, 1.0), LONGEST_SIDE / max(box.width, box.height))
    width, height = (max(round(side * scale), 1) for side in page.get_size())
    corners = [(x, y) for x in (box.left, box.right) for y in (box.bottom, box.top)]
    columns, rows = [], []
    for x, y in corners:
        column, row = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, column, row)
        columns.append(column.value)
        rows.append(row.value)
    wide, high = max(columns) - min(columns), max(rows) - min(rows)
    if wide < 1 or high < 1:
        return None
    bitmap = PdfBitmap.new_native(wide, high, pdfium.FPDFBitmap_BGR)
    bitmap.fill_rect((255, 255, 255, 255), 0, 0, wide, high)
    pdfium.FPDF_RenderPageBitmap(
        bitmap, page, -min(columns), -min(rows), width, height, 0, pdfium.FPDF_ANNOT
    )
    return encode(bitmap.to_pil())


def _foreground(marks: Sequence[Mark], sheet: Box, has_text: bool) -> list[Mark]:
    """Return the marks without the page's background, its scan if there is text, trimmed bands."""
    kept = [
        mark
        for mark in marks
        if mark.box.clipped(sheet).area < BACKDROP * sheet.area
        or (mark.kind is MarkKind.IMAGE and not has_text)
    ]
    inner = sheet.grown(BLEED)
    trimmed = [mark for mark in kept if mark.box.clipped(inner) != mark.box]
    bands = [bounding_box(m.box for m in group).clipped(sheet) for group in regions(trimmed, sheet)]
    bands = [band.grown(1.0) for band in bands if band.area < LARGEST_BAND * sheet.area]
    return [m for m in kept if not any(b.holds(m.box.clipped(sheet)) for b in bands)]


def _is_worth_a_look(box: Box) -> bool:
    longer, shorter = max(box.width, box.height), min(box.width, box.height)
    return has_size(box) and longer <= MOST_ELONGATED * shorter


def _with_labels(box: Box, group: Sequence[Mark], spans: Sequence[Span]) -> Box:
    """Return the box with the text around a chart included: ticks, axis titles, its own title.

    A chart in a frame, or on a panel, has its labels inside; a frame around the bars alone has
    the ticks close to it.
    """
    framed = any(m.kind is MarkKind.PLATE and m.box.area >= FILLS * box.area for m in group)
    for _ in range(3):
        for line in spans:
            if _labels(line.box, box, framed):
                box = box.union(line.box)
    if framed:
        return box
    titles = [line.box for line in spans if TITLE.match(line.text) and _near(line.box, box)]
    return bounding_box([box, *titles[:1]])


def _labels(line: Box, chart: Box, framed: bool) -> bool:
    """Tell whether a line beside, above or below a chart is one of its labels."""
    if not line.clipped(chart.grown(FRAMED_GAP if framed else LABEL_GAP)).has_extent:
        return False
    centred = chart.left <= (line.left + line.right) / 2 <= chart.right
    return line.width <= (0.6 * chart.width if centred and not framed else LONGEST_TICK)


def _near(line: Box, chart: Box) -> bool:
    apart = max(line.bottom - chart.top, chart.bottom - line.top)
    return line.clipped(chart).width > 0 and apart <= TITLE_GAP


def regions(marks: Sequence[Mark], page: Box) -> list[list[Mark]]:
    """Group the marks that touch or nearly touch, over the whole page.

    >>> page = Box(0, 0, 600, 800)
    >>> near = [Mark(MarkKind.RULE, Box(10, 10, 50, 11)), Mark(MarkKind.RULE, Box(10, 15, 50, 16))]
    >>> [len(group) for group in regions([*near, Mark(MarkKind.RULE, Box(10, 90, 50, 91))], page)]
    [2, 1]
    """
    cell = max(CELL, page.width / MOST_CELLS, page.height / MOST_CELLS)
    inked = np.zeros((int(page.height / cell) + 1, int(page.width / cell) + 1), dtype=bool)
    spans = [_cells(mark.box, page, cell, *inked.shape) for mark in marks]
    for span in spans:
        inked[span] = True
    labels, _ = label(inked, structure=np.ones((3, 3)))  # diagonals connect too
    groups: dict[int, list[Mark]] = {}
    for mark, (rows, columns) in zip(marks, spans, strict=True):
        groups.setdefault(int(labels[rows.start, columns.start]), []).append(mark)
    return list(groups.values())


def is_figure(marks: Sequence[Mark]) -> bool:
    """Tell whether the marks of a region form a figure, rather than the rules of a table.

    >>> boxes = [Box(x, 0, x + 20, height) for x, height in ((0, 90), (30, 50), (60, 20))]
    >>> is_figure([Mark(MarkKind.PLATE, box) for box in boxes])
    True
    >>> is_figure([Mark(MarkKind.PLATE, Box(x, 0, x + 20, 12)) for x in (0, 20, 40)])
    False
    """
    if any(mark.kind is MarkKind.IMAGE and has_size(mark.box) for mark in marks):
        return True
    shapes = [mark for mark in marks if mark.kind is MarkKind.SHAPE]
    slants = sum(mark.slants for mark in shapes)
    if slants >= FEWEST_SLANTS and has_size(bounding_box(mark.box for mark in shapes)):
        return True
    plates = [mark.box for mark in marks if mark.kind is MarkKind.PLATE]
    upright = [(box.bottom, box.width, box.height) for box in plates]
    lying = [(box.left, box.height, box.width) for box in plates]
    return _are_bars(upright) or _are_bars(lying)


def has_size(box: Box) -> bool:
    """Tell whether something is as large as a figure."""
    width, height = SMALLEST_DRAWING
    return box.width >= width and box.height >= height


def _are_bars(plates: list[tuple[float, float, float]]) -> bool:
    """Tell whether rectangles, each (base, thickness, length), look like the bars of a chart.

    Bars start at one line, are equally thick and differ in length; the cells of a table that
    share a line are equally long.
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


def marks_of(page: Any) -> list[Mark]:
    """Return the visible marks of a pypdfium2 page, those outside of it included, clipped and moved
    from their forms to the page.

    Raises:
        OversizedError: an image declares more than `MOST_PIXELS`.
    """
    kinds = [pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING]
    marks: list[Mark] = []
    drawn: Iterable[Mark]
    left = MOST_SEGMENTS
    for thing in page.get_objects(filter=kinds):
        try:
            bounds = Box(*thing.get_bounds())
        except PdfiumError:
            continue
        matrices = _containers(thing)
        clip = _clip(thing)
        if thing.type == pdfium.FPDF_PAGEOBJ_PATH:
            left -= pdfium.FPDFPath_CountSegments(thing)
            drawn = _strokes(thing) if left > 0 and _is_visible(thing) else ()
        else:
            drawn = (Mark(MarkKind.PLATE, bounds),)
            if thing.type == pdfium.FPDF_PAGEOBJ_IMAGE:
                drawn = (_image(thing, bounds, matrices),)
        for mark in drawn:
            box = mark.box if clip is None else mark.box.clipped(clip)
            placed = _transformed(box, matrices)
            if box.has_extent and math.isfinite(placed.area):
                marks.append(replace(mark, box=placed))
    return marks


def _image(image: Any, bounds: Box, matrices: list[Any]) -> Mark:
    width, height = image.get_px_size()
    if width * height > MOST_PIXELS:
        raise OversizedError
    placed = _transformed(bounds, matrices)
    longer = max(placed.width, placed.height)
    dpi = max(width, height) / longer * 72 if longer > 0 else 0.0
    content = sha256(bytes(image.get_data()))
    return Mark(MarkKind.IMAGE, bounds, dpi=dpi, sha256=content)


def _transformed(box: Box, matrices: list[Any]) -> Box:
    corners = [(x, y) for x in (box.left, box.right) for y in (box.bottom, box.top)]
    return _bounds([_moved(corner, matrices) for corner in corners])


def _containers(thing: Any) -> list[Any]:
    """Return the matrices of the forms that contain a page object, innermost first."""
    matrices = []
    while (thing := thing.container) is not None:
        matrices.append(thing.get_matrix())
    return matrices


def _moved(point: Point, matrices: Iterable[Any]) -> Point:
    x, y = point
    for m in matrices:
        x, y = m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f
    return x, y


def _bounds(points: list[Point]) -> Box:
    xs, ys = zip(*points, strict=True)
    return Box(min(xs), min(ys), max(xs), max(ys))


def _clip(thing: Any) -> Box | None:
    """Return the bounds of the area inside the clip paths of a page object, if it has any."""
    path = pdfium.FPDFPageObj_GetClipPath(thing)
    clip: Box | None = None
    for i in range(max(pdfium.FPDFClipPath_CountPaths(path), 0) if path else 0):
        segments = range(max(pdfium.FPDFClipPath_CountPathSegments(path, i), 0))
        points = [_point(pdfium.FPDFClipPath_GetPathSegment(path, i, j)) for j in segments]
        if points:
            bounds = _bounds(points)
            clip = bounds if clip is None else clip.clipped(bounds)
    return clip


def _is_visible(path: Any) -> bool:
    """Tell whether a path is drawn at all; a white rectangle without an outline is not."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    if stroke.value or not fill.value:
        return bool(stroke.value)
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    pdfium.FPDFPageObj_GetFillColor(path, red, green, blue, alpha)
    return (red.value, green.value, blue.value) != WHITE and alpha.value > 0


def _strokes(path: Any) -> Iterator[Mark]:
    """Yield a mark for each part of a path that is drawn without lifting the pen."""
    matrices = [path.get_matrix()]
    points: list[Point] = []
    slants = curves = 0
    for i in range(pdfium.FPDFPath_CountSegments(path)):
        segment = pdfium.FPDFPath_GetPathSegment(path, i)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        point = _moved(_point(segment), matrices)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            yield from _mark(points, slants + curves // 3)
            points, slants, curves = [], 0, 0
        elif kind == pdfium.FPDF_SEGMENT_BEZIERTO:
            curves += 1
        elif points:
            across, up = (abs(a - b) for a, b in zip(point, points[-1], strict=True))
            slants += across > SLANT and up > SLANT
        points.append(point)
    yield from _mark(points, slants + curves // 3)


def _mark(points: list[Point], slants: int) -> Iterator[Mark]:
    if len(points) < 2:
        return
    box = _bounds(points)
    thin = min(box.width, box.height) <= RULE_THICKNESS
    yield Mark(MarkKind.SHAPE if slants else MarkKind.RULE if thin else MarkKind.PLATE, box, slants)


def _point(segment: Any) -> Point:
    x, y = ctypes.c_float(), ctypes.c_float()
    pdfium.FPDFPathSegment_GetPoint(segment, x, y)
    return x.value, y.value
