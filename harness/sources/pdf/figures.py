"""The figures of a PDF page: its pictures and charts, each rendered as a reader sees it."""

import ctypes
import re
from collections.abc import Sequence
from typing import Any

from harness.sources.documents import Found
from harness.sources.pdf.boxes import Box, Kind, Mark, around, has_size, is_figure, regions
from harness.sources.pdf.drawings import marks_of
from harness.sources.pdf.text_lines import Span
from harness.sources.pictures import LONGEST_SIDE, MOST_PIXELS, Picture, encode

DRAWING_DPI = 170.0
BACKDROP = 0.85
"""Share of the page from which on a mark is the page's own ground, or a scan of it."""
FEWEST_LETTERS = 20
"""Of a page with text; a scan that is stamped with a page number has none."""
FILLS = 0.85
"""Share of a region from which on an image is all of it, and the rest is ornament."""
BLEED = 3.0
"""Points beyond the edge of the page; what reaches further is trimmed there: a header band."""
LARGEST_BAND = 0.2
"""Share of the page that a trimmed decoration may cover."""
MOST_ELONGATED = 8.0
LABEL_GAP = 16.0
"""Points from a chart within which a short line of text belongs to its axes."""
FRAMED_GAP = 6.0
LONGEST_TICK = 60.0
"""Points of a line beside a chart that is a tick of its axis and no other column's text."""
TITLE_GAP = 30.0
MARGIN = 4.0
TITLE = re.compile(
    r"\W*(fig(ure)?|chart|graph)\b|\W*[圖图図]\s*\w|\W*第.{1,12}[圖图図]", re.IGNORECASE
)


def figures_of(page: Any, spans: Sequence[Span]) -> list[Found]:
    """Return the figures of a pypdfium2 page, from top to bottom.

    A table of rules is none, nor are a trimmed header band and the ground of the page. The
    scan of a whole page is one only where the page has no text.

    Args:
        page: The page, of a document that is open.
        spans: Its text.

    Raises:
        OversizedError: an image of the page is too large to decode, so nothing was rendered.
    """
    sheet = Box(*page.get_bbox())
    marks = [mark for mark in marks_of(page, MOST_PIXELS) if mark.box.clipped(sheet).has_extent]
    found = []
    has_text = sum(len(span.text.strip()) for span in spans) >= FEWEST_LETTERS
    groups = regions(_foreground(marks, sheet, has_text), sheet)
    for group in sorted(groups, key=_from_the_top):
        image = _only_image(group)
        if image is not None and image.raster is not None:
            box, kind, dpi, content = image.box, "image", image.raster.dpi, image.raster.sha256
        else:
            box, kind, dpi, content = around(m.box for m in group), "drawing", DRAWING_DPI, ""
        box = box.clipped(sheet)
        if not is_figure(group) or not _is_worth_a_look(box):
            continue
        if kind == "drawing":
            box = _with_labels(box, group, spans).grown(MARGIN).clipped(sheet)
        picture = render(page, box, dpi)
        if picture is not None:
            found.append(Found(picture, content or picture.sha256, kind, box))
    return found


def render(page: Any, box: Box, dpi: float) -> Picture | None:
    """Return what a reader sees within the box, on white; None where that is blank."""
    import pypdfium2.raw as pdfium
    from pypdfium2 import PdfBitmap

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
    """Leave out the ground of the page, its scan if there is text, and trimmed bands."""
    kept = [
        mark
        for mark in marks
        if mark.box.clipped(sheet).area < BACKDROP * sheet.area
        or (mark.kind is Kind.IMAGE and not has_text)
    ]
    inner = sheet.grown(BLEED)
    trimmed = [mark for mark in kept if mark.box.clipped(inner) != mark.box]
    bands = [around(m.box for m in group).clipped(sheet) for group in regions(trimmed, sheet)]
    bands = [band.grown(1.0) for band in bands if band.area < LARGEST_BAND * sheet.area]
    return [m for m in kept if not any(b.holds(m.box.clipped(sheet)) for b in bands)]


def _from_the_top(group: Sequence[Mark]) -> tuple[float, float]:
    box = around(mark.box for mark in group)
    return -box.top, box.left


def _only_image(group: Sequence[Mark]) -> Mark | None:
    """Return the image that fills the region, if one does."""
    whole = around(mark.box for mark in group)
    images = [m for m in group if m.kind is Kind.IMAGE and m.box.area >= FILLS * whole.area]
    return images[0] if len(images) == 1 else None


def _is_worth_a_look(box: Box) -> bool:
    longer, shorter = max(box.width, box.height), min(box.width, box.height)
    return has_size(box) and longer <= MOST_ELONGATED * shorter


def _with_labels(box: Box, group: Sequence[Mark], spans: Sequence[Span]) -> Box:
    """Return the box grown by the text around a chart: ticks, axis titles, its own title.

    A chart in a frame, or on a panel, has its labels inside; a frame around the bars alone has
    the ticks close to it.
    """
    framed = any(m.kind is Kind.PLATE and m.box.area >= FILLS * box.area for m in group)
    for _ in range(3):
        for line in spans:
            if _labels(line.box, box, framed):
                box = box.union(line.box)
    if framed:
        return box
    titles = [line.box for line in spans if TITLE.match(line.text) and _near(line.box, box)]
    return around([box, *titles[:1]])


def _labels(line: Box, chart: Box, framed: bool) -> bool:
    """Tell whether a line beside, above or below a chart is one of its labels."""
    if not line.clipped(chart.grown(FRAMED_GAP if framed else LABEL_GAP)).has_extent:
        return False
    centred = chart.left <= (line.left + line.right) / 2 <= chart.right
    return line.width <= (0.6 * chart.width if centred and not framed else LONGEST_TICK)


def _near(line: Box, chart: Box) -> bool:
    across = min(line.right, chart.right) - max(line.left, chart.left)
    apart = max(line.bottom - chart.top, chart.bottom - line.top)
    return across > 0 and apart <= TITLE_GAP
