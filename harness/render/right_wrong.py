"""The grid of right and wrong, question by question, and which questions say anything."""

from collections.abc import Sequence

from harness.analysis.results import Analysis, OutcomeRow, Outcomes
from harness.render.blocks import Block, Cell, Column, Line, Section, Table, Tone
from harness.render.quantities import count
from harness.render.wording import Words

RIGHT, WRONG, FAILED, UNKNOWN = "✓", "✗", "!", "⋅"
"""Signs that are one column wide in every terminal; an ordinary middle dot is two in some."""

WIDEST = 20
"""Questions that stand side by side; of more, so many of the informative ones are shown."""


def right_wrong(analysis: Analysis, words: Words, brief: bool) -> Section:
    """Return the grid with its totals and what it says."""
    grid = analysis.outcomes
    title = words.get("headings", "right_wrong")
    if not any(row.known for row in grid.rows):
        return Section("right_wrong", title, (Line(words.line("graded_nobody"), Tone.CAUTION),))
    many = len(grid.questions) > WIDEST
    shown = grid.informative[:WIDEST] if many and brief else grid.questions
    upright = many and not brief
    blocks: list[Block] = [by_question(grid, words) if upright else by_run(grid, shown, words)]
    blocks.append(Line(words.line("marks"), Tone.MUTED))
    if many and brief:
        blocks.append(
            Line(
                words.line(
                    "folded",
                    shown=len(shown),
                    questions=len(grid.questions),
                    right=len(grid.always_right),
                    wrong=len(grid.always_wrong),
                    unknown=len(grid.unknown),
                )
            )
        )
    blocks += told(grid, words)
    return Section("right_wrong", title, tuple(blocks))


def by_run(grid: Outcomes, shown: Sequence[str], words: Words) -> Table:
    """Return the grid with a row a run."""
    at = [grid.questions.index(question) for question in shown]
    columns = (
        Column(words.get("columns", "run")),
        Column(words.get("columns", "right"), number=True),
        *(Column(question) for question in shown),
    )
    rows = tuple(
        (
            Cell(row.run),
            Cell(total(row, words), Tone.STRONG),
            *(mark(row.cells[i], row.origins[i]) for i in at),
        )
        for row in grid.rows
    )
    return Table(columns, rows)


def by_question(grid: Outcomes, words: Words) -> Table:
    """Return the grid with a row a question, for many questions."""
    columns = (
        Column(words.get("columns", "question")),
        *(Column(row.run) for row in grid.rows),
    )
    rows = tuple(
        (Cell(question), *(mark(row.cells[i], row.origins[i]) for row in grid.rows))
        for i, question in enumerate(grid.questions)
    )
    totals = (
        Cell(words.get("columns", "right"), Tone.STRONG),
        *(Cell(total(row, words), Tone.STRONG) for row in grid.rows),
    )
    return Table(columns, (*rows, totals))


def mark(cell: float | None, origin: str) -> Cell:
    """Return the sign of one answer; a share over repeats is written out."""
    if cell is None:
        return Cell(UNKNOWN, Tone.MUTED)
    if origin == "error":
        return Cell(FAILED, Tone.CAUTION)
    if cell in (0.0, 1.0):
        return Cell(RIGHT, Tone.GOOD) if cell else Cell(WRONG, Tone.BAD)
    return Cell(f"{cell:.2f}")


def total(row: OutcomeRow, words: Words) -> str:
    """Return how many answers of a run are right, of how many known."""
    right = count(row.right) if row.right.is_integer() else f"{row.right:.2f}"
    return words.line("total", right=right, known=row.known)


def told(grid: Outcomes, words: Words) -> list[Line]:
    """Say which questions are informative, and which are not."""
    failed = [
        words.line("failed", run=row.run, errors=row.errors, asked=row.asked)
        for row in grid.rows
        if row.errors
    ]
    lines = [Line(words.parts(failed), Tone.CAUTION)] if failed else []
    if not grid.known or len(grid.rows) < 2:
        return lines
    lines.append(
        Line(
            words.line(
                "informative",
                informative=len(grid.informative),
                known=grid.known,
                questions=grid.informative,
            ),
            Tone.STRONG,
        )
        if grid.informative
        else Line(words.line("informative_none"), Tone.CAUTION)
    )
    for key, questions in (
        ("always_right", grid.always_right),
        ("always_wrong", grid.always_wrong),
        ("questions_unknown", grid.unknown),
    ):
        if questions:
            lines.append(Line(words.line(key, questions=questions)))
    return lines
