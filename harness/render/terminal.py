"""The report in brief, for a terminal: it reads well without colours.

Lines are broken here for any script, as rich alone breaks Chinese and Japanese anywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from unicodedata import east_asian_width

from rich.box import Box
from rich.cells import cell_len, chop_cells
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from harness.analysis.results import Analysis
from harness.render.blocks import (
    Block,
    Cell,
    Column,
    Command,
    Heading,
    Items,
    Paragraph,
    Section,
    Table,
    Tone,
)
from harness.render.notation import bar, one_line
from harness.render.sections import report_sections
from harness.render.sections.basis import StudyFacts
from harness.render.vocabulary import words

STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.GOOD: "green",
    Tone.BAD: "red",
    Tone.CAUTION: "yellow",
    Tone.MUTED: "dim",
}

RULE = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
"""A rule of hyphens under the headings: drawn lines are two columns wide in some terminals."""

GAP = 2
"""Columns of space between two columns of a table."""

LONGEST = 40
"""Columns that one name may take in a table."""

SHORT = 14
"""Columns up to which a heading stays on one line."""

NARROWEST = 14
"""Columns that a list in a table needs at least."""


NO_START = frozenset(
    "、。，．：；！？）」』】〉》〕］｝・ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ),.:;!?]}%"
)
"""Characters that no line may begin with."""

NO_END = frozenset("（「『【〈《〔［｛([{")
"""Characters that no line may end with."""

NO_BREAK = "\N{NO-BREAK SPACE}"


def terminal(
    analysis: Analysis, facts: StudyFacts, language: str = "en", width: int = 100
) -> RenderableType:
    """Return what a console of this width prints; KeyError for an unknown language."""
    sections = report_sections(analysis, facts, words(language), brief=True)
    return Group(*(part for one in sections for part in section(one, width)))


def section(part: Section, width: int) -> Iterator[RenderableType]:
    """Yield a section's title, its blocks, and an empty line."""
    title = one_line(part.title)
    yield Text(title, "bold")
    yield Text("=" * min(cell_len(title), width), "bold")
    for at, one in enumerate(part.blocks):
        if isinstance(one, Heading) and at:
            yield Text("")
        yield from block(one, width)
    yield Text("")


def block(one: Block, width: int) -> Iterator[RenderableType]:
    """Yield one block's lines."""
    match one:
        case Heading():
            yield from lines(one.text, "bold", width)
        case Paragraph():
            yield from lines(one.text, STYLES[one.tone], width)
        case Items():
            for text in one.texts:
                yield from lines(text, "", width, first="- ")
        case Command():
            # never broken, so that it can be copied
            yield Text("  " + one_line(one.text), no_wrap=True, overflow="ignore")
        case Table():
            for fitting in fit(with_bars(one), width):
                yield grid(fitting, width)


def lines(text: str, style: str, width: int, first: str = "") -> Iterator[Text]:
    """Yield a text in lines, the later ones indented as far as the first."""
    for line in wrap_columns(one_line(text), width - len(first)):
        yield Text(first + line, style, no_wrap=True)
        first = " " * len(first)


def fit(table: Table, width: int) -> list[Table]:
    """Return the table, or several that repeat its first column, each within the width."""
    sizes = [size(column, [row[i] for row in table.body]) for i, column in enumerate(table.columns)]
    parts: list[list[int]] = [[]]
    used = sizes[0]
    for at in range(1, len(sizes)):
        if used + GAP + sizes[at] > width and parts[-1]:
            parts.append([])
            used = sizes[0]
        parts[-1].append(at)
        used += GAP + sizes[at]
    return [
        Table(
            tuple(table.columns[i] for i in (0, *part)),
            tuple(tuple(row[i] for i in (0, *part)) for row in table.body),
        )
        for part in parts
    ]


def size(column: Column, cells: Sequence[Cell]) -> int:
    """Return how many columns of the terminal a column of the table needs at least."""
    body = width_of(cells, column)
    body = min(body, NARROWEST) if column.long else body
    return max(body, *map(cell_len, heading(column.title, body)))


def width_of(cells: Sequence[Cell], column: Column) -> int:
    """Return how many columns of the terminal the cells take when none is broken."""
    texts = (one_line(cell.text) if column.long else named(cell.text) for cell in cells)
    return max(map(cell_len, texts), default=0)


def heading(title: str, body: int) -> list[str]:
    """Return a heading in lines that are hardly wider than the cells below it."""
    title = one_line(title)
    longest = max(cell_len(piece.rstrip()) for piece in pieces(title))
    return wrap_columns(title, min(max(body, longest, min(cell_len(title), SHORT)), LONGEST))


def with_bars(table: Table) -> Table:
    """Return the table with bars in place of the intervals in its columns of bars."""
    columns = [at for at, column in enumerate(table.columns) if column.bar]
    ends = [abs(end) for row in table.rows for at in columns for end in ends_of(row[at])]
    most = max(ends, default=0.0)
    rows = [list(row) for row in table.rows]
    for row in rows:
        for at in columns:
            if most and (found := ends_of(row[at])):
                low, middle, high = found
                row[at] = replace(row[at], text=bar(low, middle, high, most))
    return replace(table, rows=tuple(map(tuple, rows)))


def ends_of(cell: Cell) -> tuple[float, float, float] | tuple[()]:
    """Return the lower end, mean and upper end of the cell's interval; empty without one."""
    row = cell.drawn
    if row is None or row.mean is None:
        return ()
    return (
        row.mean if row.low is None else row.low,
        row.mean,
        row.mean if row.high is None else row.high,
    )


def named(text: str) -> str:
    """Return a cell's text on one line, cut where it is long."""
    line = one_line(text)
    if cell_len(line) <= LONGEST:
        return line
    return wrap_columns(line, LONGEST - 3)[0] + "..."


def grid(table: Table, width: int) -> Grid:
    """Return the table as rich draws it."""
    columns = [(column, [row[i] for row in table.body]) for i, column in enumerate(table.columns)]
    sizes = [size(*column) for column in columns]
    spare = max(width - sum(sizes) - GAP * (len(sizes) - 1), 0)
    drawn = Grid(box=RULE, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for i, (column, cells) in enumerate(columns):
        if column.long:
            room = max(width_of(cells, column), cell_len(one_line(column.title)))
            wider = min(max(room - sizes[i], 0), spare)
            sizes[i], spare = sizes[i] + wider, spare - wider
        title = heading(column.title, sizes[i])
        drawn.add_column(
            Text("\n".join(title), "bold"),
            justify="right" if column.number else "left",
            width=sizes[i],
        )
    for row in table.body:
        shown = (
            "\n".join(wrap_columns(one_line(cell.text), room)) if column.long else named(cell.text)
            for cell, column, room in zip(row, table.columns, sizes, strict=True)
        )
        tones = (STYLES[cell.tone] for cell in row)
        drawn.add_row(*(Text(*text, no_wrap=True) for text in zip(shown, tones, strict=True)))
    return drawn


def wrap_columns(text: str, width: int) -> list[str]:
    """Return the text in lines of at most `width` columns; a wide character takes two.

    >>> wrap_columns("q1 turned right", 9)
    ['q1 turned', 'right']
    >>> wrap_columns("八題之中，四題有變化。", 10)
    ['八題之中，', '四題有變', '化。']
    """
    lines: list[str] = []
    line = ""
    for piece in pieces(text):
        if cell_len((line + piece).rstrip()) <= width:
            line += piece
            continue
        if line.strip():
            lines.append(line.rstrip())
        *full, line = chop_cells(piece, width) if cell_len(piece.rstrip()) > width else [piece]
        lines += full
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def pieces(text: str) -> Iterator[str]:
    """Yield what must stay on one line; spaces belong to the piece before them."""
    start = 0
    for at in range(1, len(text)):
        if may_break(text[at - 1], text[at]):
            yield text[start:at]
            start = at
    yield text[start:]


def may_break(before: str, after: str) -> bool:
    """Say whether a line may end between two characters."""
    if after.isspace() or NO_BREAK in (before, after) or before in NO_END or after in NO_START:
        return False
    return before.isspace() or wide(before) or wide(after)


def wide(character: str) -> bool:
    """Say whether a character takes two columns."""
    return east_asian_width(character) in "WF"
