"""A corpus as data: documents of pages, pages of text and figures, figures as pictures.

Text and figures are raw as read, then cleaned and numbered. A picture is what captioners take: RGB
on white, upright, limited in size, as PNG.
"""

import io
import struct
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InputError
from harness.text import sha256

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 50_000_000
"""A larger image is not decoded: a file of 200 bytes can declare billions of pixels."""
MOST_PAGES = 10_000
"""Of a PDF or text file; a file of a few kilobytes can declare a million pages."""
UNREADABLE = (OSError, ValueError, SyntaxError, EOFError, KeyError, TypeError, struct.error)
"""Exceptions that Pillow raises on damaged files."""
LONGEST_SIDE = 2000
"""Pixels; a larger picture is scaled down, since captioners do that anyway."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, y upwards: in points on a page, in pixels in a picture."""

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
        """False for what `clipped` returns of two rectangles that do not meet."""
        return self.width >= 0 and self.height >= 0

    @property
    def area(self) -> float:
        """Width times height; zero if the rectangle has no extent."""
        return max(self.width, 0.0) * max(self.height, 0.0)

    def union(self, other: "Box") -> "Box":
        """Return the smallest rectangle that contains both."""
        return Box(
            min(self.left, other.left),
            min(self.bottom, other.bottom),
            max(self.right, other.right),
            max(self.top, other.top),
        )

    def clipped(self, to: "Box") -> "Box":
        """Return the intersection of both; its area is zero if they do not meet."""
        return Box(
            max(self.left, to.left),
            max(self.bottom, to.bottom),
            min(self.right, to.right),
            min(self.top, to.top),
        )

    def holds(self, other: "Box") -> bool:
        """Tell whether the other rectangle is inside this one."""
        return self.union(other) == self

    def grown(self, by: float) -> "Box":
        """Return the rectangle with each edge moved outwards."""
        return Box(self.left - by, self.bottom - by, self.right + by, self.top + by)


def bounding_box(boxes: Iterable[Box]) -> Box:
    """Return the smallest rectangle that contains all boxes, of which there is at least one."""
    return reduce(Box.union, boxes)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture or chart in a document."""

    id: str
    """`document#page.f1`: counted from 1, from the top of the page."""
    document: str
    page: int
    box: Box | None
    """Its place on the page, in points; None in a file that has no pages."""
    png: bytes
    sha256: str
    """Of its pixels."""
    kind: str
    """image (as embedded) | drawing (a part of the page, rendered)"""


@dataclass(frozen=True, slots=True)
class Page:
    """One page, its text cleaned."""

    number: int
    """Counted from 1, as a reader counts."""
    text: str
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One file of the corpus."""

    name: str
    """The file's stem in NFC, safe as a part of passage ids; unique in a corpus."""
    sha256: str
    """Of the file's bytes."""
    pages: tuple[Page, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    """What reading the file changed or left out, for the log: `controls_removed` and so on."""

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(figure for page in self.pages for figure in page.figures)


@dataclass(frozen=True, slots=True)
class RawFigure:
    """A figure as a reader of files returns it: a picture, encoded once, and not numbered yet."""

    png: bytes
    sha256: str
    """Of size and RGB pixels: it does not depend on the PNG encoder."""
    content: str
    """Equal for equal figures, wherever they are placed."""
    kind: str = "image"
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as a reader of files returns it: text not cleaned yet, figures from the top."""

    text: str
    figures: tuple[RawFigure, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """What reading the page changed or left out."""


def check_pages(path: Path, pages: int) -> None:
    """Raise InputError where a document has more pages than are read."""
    if pages > MOST_PAGES:
        raise InputError(f"{path}: {pages:,} pages; at most {MOST_PAGES:,} are read, so split it")


def encode(image: "Image") -> RawFigure | None:
    """Return the image as a PNG, or None if it is blank: all of one colour."""
    rgb = _fitted(_on_white(image))
    if len(rgb.getcolors(2) or (0, 0)) == 1:
        return None
    size = f"{rgb.width}x{rgb.height}:".encode("ascii")
    buffer = io.BytesIO()
    rgb.save(buffer, format="PNG")
    digest = sha256(size + rgb.tobytes())
    return RawFigure(buffer.getvalue(), digest, content=digest)


def decode(data: bytes, name: str) -> "Image":
    """Decode the first frame of an image file, turned upright by its EXIF orientation.

    Raises:
        InputError: it is not an image, is damaged, or declares more than `MOST_PIXELS`.
    """
    from PIL import Image, ImageOps

    too_large = f"{name}: picture of more than {MOST_PIXELS:,} pixels; scale it down first"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            image = Image.open(io.BytesIO(data))
            if image.width * image.height > MOST_PIXELS:
                raise InputError(too_large)
            image.load()
        except Image.DecompressionBombError as error:
            raise InputError(too_large) from error
        except UNREADABLE as error:
            raise InputError(f"{name}: not a readable picture") from error
        try:
            return ImageOps.exif_transpose(image)
        except UNREADABLE:
            return image


def _on_white(image: "Image") -> "Image":
    """Return the image in RGB: transparency on white, deep greys scaled to 8 bits."""
    from PIL import Image

    if image.mode in {"I", "F"} or image.mode.startswith("I;16"):
        return _eight_bit(image).convert("RGB")
    if image.has_transparency_data:
        layers = image.convert("RGBA")
        white = Image.new("RGBA", layers.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, layers).convert("RGB")
    return image.convert("RGB")


def _eight_bit(image: "Image") -> "Image":
    """Return greys of more than 8 bits scaled so that the lightest is white."""
    import numpy as np
    from PIL import Image

    greys = np.nan_to_num(np.asarray(image, dtype=np.float64))
    lightest = max(float(greys.max(initial=0.0)), 1.0)
    return Image.fromarray((greys.clip(0.0) / lightest * 255.0).round().astype(np.uint8))


def _fitted(image: "Image") -> "Image":
    longest = max(image.size)
    if longest <= LONGEST_SIDE:
        return image
    width, height = (max(round(side * LONGEST_SIDE / longest), 1) for side in image.size)
    return image.resize((width, height))
