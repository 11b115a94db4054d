"""What a report is made of: sections of plain text and tables, for every form of output.

No text here is escaped, wrapped or coloured: each form of output does that. What it cannot show
(a link, a fold, a plot) it leaves out, and the text still reads well.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.analysis.results import Difference

Place = tuple[str, ...]
"""What a part of the report is about: `("section", key)`, `("contrast", left run, right run)`,
`("metric", name)`, `("question", id)`, `("sweep", factor)`; empty for nothing. A page links to
it."""


class Tone(StrEnum):
    """How a text is emphasised where colours are shown; it must read well without."""

    PLAIN = "plain"
    STRONG = "strong"
    GOOD = "good"
    BAD = "bad"
    CAUTION = "caution"
    MUTED = "muted"


class Fold(StrEnum):
    """Whether the blocks under a heading can be folded away, and whether they are at first."""

    NEVER = "never"
    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    text: str
    tone: Tone = Tone.PLAIN
    place: Place = ()
    """Where the text leads."""
    drawn: Difference | None = None
    """Whose mean and interval a page can draw beside the text, on a scale from -1 to 1."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; its first column names the row."""

    title: str
    number: bool = False
    """Aligned to the right."""
    long: bool = False
    """A list or text that may be broken over lines."""
    detail: bool = False
    """Where space is short, shown only to those who ask for every column."""
    bar: bool = False
    """A terminal draws what its cells have `drawn` as a bar, in place of their text."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with as many cells as there are columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: tuple[Cell, ...] = ()
    """The last row; it is not sorted with the others."""
    places: tuple[Place, ...] = ()
    """What each row is about; empty where nothing links to a row."""
    marked: frozenset[int] = frozenset()
    """Numbers of the rows to look at first."""

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.body), self.columns

    @property
    def body(self) -> tuple[tuple[Cell, ...], ...]:
        """The rows, the total among them."""
        return (*self.rows, self.total) if self.total else self.rows


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of the blocks that follow it, up to the next heading."""

    text: str
    place: Place = ()
    """What those blocks are about."""
    fold: Fold = Fold.NEVER
    note: str = ""
    """A summary of a folded part in a few characters."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    texts: tuple[str, ...]
    places: tuple[tuple[Place, ...], ...] = ()
    """By sentence: where its evidence is, then what else it names; empty without links."""


@dataclass(frozen=True, slots=True)
class Command:
    """A line to paste into a shell."""

    text: str


Block = Heading | Paragraph | Items | Command | Table


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report under one title."""

    key: str
    """The same in every language."""
    title: str
    blocks: tuple[Block, ...]
    aside: bool = False
    """It holds details that can be folded away."""


def text_table(columns: tuple[Column, ...], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of plain texts."""
    return Table(columns, tuple(tuple(map(Cell, row)) for row in rows))
