"""What is drawn on a PDF page, in page coordinates, by pdfium's list of page objects."""

import ctypes
import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from harness.sources.pdf.boxes import RULE_THICKNESS, Box, Kind, Mark, Raster

SLANT = 0.5
"""Points along both axes from which on a stroke counts as slanted."""
MOST_SEGMENTS = 200_000
"""Of a page's paths; a map of more strokes is recognised by these."""
WHITE = (255, 255, 255)

Point = tuple[float, float]


class OversizedError(Exception):
    """The page holds an image too large to decode."""


def marks_of(page: Any, most_pixels: int) -> list[Mark]:
    """List the visible marks of a pypdfium2 page, but for what lies outside of it.

    Raises:
        OversizedError: an image declares more than `most_pixels`.
    """
    import pypdfium2.raw as pdfium
    from pypdfium2 import PdfiumError

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
            drawn = (Mark(Kind.PLATE, bounds),)
            if thing.type == pdfium.FPDF_PAGEOBJ_IMAGE:
                drawn = (_image(thing, bounds, matrices, most_pixels),)
        marks += _placed(drawn, clip, matrices)
    return marks


def _image(image: Any, bounds: Box, matrices: list[Any], most_pixels: int) -> Mark:
    width, height = image.get_px_size()
    if width * height > most_pixels:
        raise OversizedError
    placed = _transformed(bounds, matrices)
    longer = max(placed.width, placed.height)
    dpi = max(width, height) / longer * 72 if longer > 0 else 0.0
    content = hashlib.sha256(bytes(image.get_data())).hexdigest()
    return Mark(Kind.IMAGE, bounds, raster=Raster(dpi, content))


def _placed(drawn: Iterable[Mark], clip: Box | None, matrices: list[Any]) -> Iterator[Mark]:
    """Clip the marks and move them from their form to the page."""
    for mark in drawn:
        box = mark.box if clip is None else mark.box.clipped(clip)
        placed = _transformed(box, matrices)
        if box.has_extent and math.isfinite(placed.area):
            yield replace(mark, box=placed)


def _transformed(box: Box, matrices: list[Any]) -> Box:
    corners = [(x, y) for x in (box.left, box.right) for y in (box.bottom, box.top)]
    return _bounds([_moved(corner, matrices) for corner in corners])


def _containers(thing: Any) -> list[Any]:
    """Return the matrices of the forms that hold a page object, innermost first."""
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
    """Return the bounds of what the clip paths of a page object let through, if it has any."""
    import pypdfium2.raw as pdfium

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
    """Tell whether a path is drawn at all; a white plate without an outline is not."""
    import pypdfium2.raw as pdfium

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    if stroke.value or not fill.value:
        return bool(stroke.value)
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    pdfium.FPDFPageObj_GetFillColor(path, red, green, blue, alpha)
    return (red.value, green.value, blue.value) != WHITE and alpha.value > 0


def _strokes(path: Any) -> Iterator[Mark]:
    """Yield a mark for each part of a path that was drawn without lifting the pen."""
    import pypdfium2.raw as pdfium

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
    yield Mark(Kind.SHAPE if slants else Kind.RULE if thin else Kind.PLATE, box, slants)


def _point(segment: Any) -> Point:
    import pypdfium2.raw as pdfium

    x, y = ctypes.c_float(), ctypes.c_float()
    pdfium.FPDFPathSegment_GetPoint(segment, x, y)
    return x.value, y.value
