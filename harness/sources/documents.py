"""A corpus: documents of pages, pages of text and figures, raw and as they were read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.sources.pdf.boxes import Box
from harness.sources.pictures import Picture


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture or chart in a document."""

    id: str
    """`document#page.f1`: counted from 1, from the top of the page."""
    document: str
    page: int
    box: Box | None
    """Where it stands, in points; None in a file that has no pages."""
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
    """What reading it changed or left out, for the log: `controls_removed` and so on."""

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(figure for page in self.pages for figure in page.figures)


@dataclass(frozen=True, slots=True)
class Found:
    """A figure as a file has it."""

    picture: Picture
    content: str
    """Equal figures are equal here, wherever they stand."""
    kind: str = "image"
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page as a file has it: the text not yet cleaned, the figures from its top."""

    text: str
    found: tuple[Found, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """What reading it changed or left out."""
