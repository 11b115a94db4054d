"""The marks drawn on a PDF page, in page coordinates, from pdfium's list of page objects."""

import ctypes
import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from harness.sources.documents import Box

RULE_THICKNESS = 2.5
"""Points: a thinner rectangle is a line."""

SLANT = 0.5
"""Points along both axes from which on a stroke counts as slanted."""
MOST_SEGMENTS = 200_000
"""Maximum of a page's paths that are read; a map with more is recognised by these."""
WHITE = (255, 255, 255)

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
class Raster:
    """The pixels of an image mark."""

    dpi: float
    """Pixels per inch, as the image is placed on the page."""
    sha256: str
    """Of the data in the file: equal for equal images, wherever they are placed."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing drawn on a page."""

    kind: MarkKind
    box: Box
    slants: int = 0
    """Curved or slanted strokes."""
    raster: Raster | None = None


class OversizedError(Exception):
    """The page has an image that is too large to decode."""


def marks_of(page: Any, most_pixels: int) -> list[Mark]:
    """Return the visible marks of a pypdfium2 page, those outside of it included.

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
            drawn = (Mark(MarkKind.PLATE, bounds),)
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
    return Mark(MarkKind.IMAGE, bounds, raster=Raster(dpi, content))


def _placed(drawn: Iterable[Mark], clip: Box | None, matrices: list[Any]) -> Iterator[Mark]:
    """Yield the marks clipped, and moved from their form to the page."""
    for mark in drawn:
        box = mark.box if clip is None else mark.box.clipped(clip)
        placed = _transformed(box, matrices)
        if box.has_extent and math.isfinite(placed.area):
            yield replace(mark, box=placed)


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
    """Tell whether a path is drawn at all; a white rectangle without an outline is not."""
    import pypdfium2.raw as pdfium

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    if stroke.value or not fill.value:
        return bool(stroke.value)
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    pdfium.FPDFPageObj_GetFillColor(path, red, green, blue, alpha)
    return (red.value, green.value, blue.value) != WHITE and alpha.value > 0


def _strokes(path: Any) -> Iterator[Mark]:
    """Yield a mark for each part of a path that is drawn without lifting the pen."""
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
    yield Mark(MarkKind.SHAPE if slants else MarkKind.RULE if thin else MarkKind.PLATE, box, slants)


def _point(segment: Any) -> Point:
    import pypdfium2.raw as pdfium

    x, y = ctypes.c_float(), ctypes.c_float()
    pdfium.FPDFPathSegment_GetPoint(segment, x, y)
    return x.value, y.value
