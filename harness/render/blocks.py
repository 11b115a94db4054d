"""What a report is made of: sections of plain text and tables, for every form of output.

No text here is escaped, wrapped or coloured; whoever prints a block sees to that.
"""

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """What a text is, for those who see colours; it must read well without."""

    PLAIN = "plain"
    STRONG = "strong"
    GOOD = "good"
    BAD = "bad"
    CAUTION = "caution"
    MUTED = "muted"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; its first column names the row."""

    title: str
    number: bool = False
    """Aligned to the right."""
    long: bool = False
    """A list or text that may be broken over lines."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with as many cells as there are columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), self.columns


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a part of a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A line to paste into a shell."""

    text: str


Block = Heading | Line | Items | Command | Table


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report under one title."""

    key: str
    """The same in every language."""
    title: str
    blocks: tuple[Block, ...]
