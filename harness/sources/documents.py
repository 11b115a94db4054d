"""A corpus as data: documents of pages, pages of text and figures; raw as read, then cleaned."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from harness.sources.pictures import Picture


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


def around(boxes: Iterable[Box]) -> Box:
    """Return the smallest rectangle that contains all boxes, of which there is at least one."""
    first, *rest = boxes
    for box in rest:
        first = first.union(box)
    return first


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
    """A figure as a reader of files returns it: not numbered yet."""

    picture: Picture
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
