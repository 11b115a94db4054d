"""The grid of right and wrong, question by question, and which questions tell runs apart."""

from collections.abc import Iterator, Mapping, Sequence

from harness.analysis.results import Analysis, OutcomeRow, Outcomes
from harness.records import Question
from harness.render.blocks import Block, Cell, Column, Paragraph, Section, Table, Tone
from harness.render.notation import count
from harness.render.vocabulary import Words
from harness.text import shortened

RIGHT, WRONG, FAILED, UNKNOWN = "✓", "✗", "!", "⋅"
"""Signs that are one column wide in every terminal; an ordinary middle dot is two in some."""

SIGN_NAMES = {RIGHT: "right", WRONG: "wrong", FAILED: "failed", UNKNOWN: "unknown"}
"""Sign -> the key of the word that a screen reader says."""

WIDEST = 20
"""Questions that are shown side by side; of more, this many of the informative ones."""

MOST_CELLS = 10_000
"""Cells of a grid with one row per question; of more, the first informative questions."""

LONGEST = 60
"""Characters of a question's wording in the grid."""


def right_wrong(
    analysis: Analysis, words: Words, brief: bool, questions: Mapping[str, Question] | None = None
) -> Section:
    """Return the grid with its totals and what follows from it.

    Args:
        analysis: What the report says.
        words: The report's language.
        brief: Leave out the questions that tell nothing where there are many.
        questions: Their wordings by id, for a grid with one row per question.
    """
    grid = analysis.outcomes
    if not any(row.known for row in grid.rows):
        graded = Paragraph(words.line("graded_nobody"), Tone.CAUTION)
        return words.section("right_wrong", (graded,))
    many = len(grid.questions) > WIDEST
    if questions is not None or (many and not brief):
        shown: Sequence[str] = grid.questions
        if questions is not None and len(grid.rows) * len(shown) > MOST_CELLS:
            shown = (grid.informative or shown)[: MOST_CELLS // len(grid.rows)]
        table = by_question(grid, shown, questions or {}, words)
    else:
        shown = grid.informative[:WIDEST] if many else grid.questions
        table = by_run(grid, shown, words)
    signs = [words.line("marks"), *([words.line("informative_mark")] if table.marked else [])]
    blocks: list[Block] = [table, Paragraph(words.join("parts", signs), Tone.MUTED)]
    if len(shown) < len(grid.questions):
        kinds = {"right": grid.always_right, "wrong": grid.always_wrong, "unknown": grid.unknown}
        sizes = {"shown": len(shown), "questions": len(grid.questions)}
        left_out = {name: len(questions) for name, questions in kinds.items()}
        blocks.append(Paragraph(words.line("folded", **sizes, **left_out)))
    blocks += conclusions(grid, words)
    return words.section("right_wrong", blocks)


def by_run(grid: Outcomes, shown: Sequence[str], words: Words) -> Table:
    """Return the grid with one row per run."""
    at = [grid.questions.index(question) for question in shown]
    columns = (
        *words.columns(("run", "right")),
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


def by_question(
    grid: Outcomes, shown: Sequence[str], questions: Mapping[str, Question], words: Words
) -> Table:
    """Return the grid with one row per question, each a link to its answers."""
    sources = bool(questions)
    keys = ("question", "source") if sources else ("question",)
    columns = (*words.columns(keys, long=("question",)), *(Column(row.run) for row in grid.rows))
    rows = []
    at = {name: i for i, name in enumerate(grid.questions)}
    for name in shown:
        i = at[name]
        known = questions.get(name)
        cells = [Cell(titled(name, known), place=("question", name))]
        if sources:
            cells.append(Cell(words.get("question_sources", known.source) if known else ""))
        rows.append((*cells, *(mark(row.cells[i], row.origins[i]) for row in grid.rows)))
    informative = set(grid.informative)
    return Table(
        columns,
        tuple(rows),
        total=(
            Cell(words.get("columns", "right"), Tone.STRONG),
            *([Cell("")] if sources else []),
            *(Cell(total(row, words), Tone.STRONG) for row in grid.rows),
        ),
        marked=frozenset(i for i, name in enumerate(shown) if name in informative),
    )


def titled(name: str, question: Question | None) -> str:
    """Return a question's id with its wording, cut where it is long."""
    if question is None or question.question == name:
        return name
    return f"{name} {shortened(question.question, LONGEST)}"


def mark(cell: float | None, origin: str) -> Cell:
    """Return the sign of one answer; a share over repeats is written out."""
    if cell is None:
        return Cell(UNKNOWN, Tone.MUTED)
    if origin == "error":
        return Cell(FAILED, Tone.CAUTION)
    if cell in (0.0, 1.0):
        return Cell(RIGHT, Tone.GOOD) if cell else Cell(WRONG, Tone.BAD)
    return Cell(f"{cell:.2f}")


def marks(grid: Outcomes) -> dict[tuple[str, str], Cell]:
    """Return (run, question id) -> the sign of its answer."""
    return {(run, name): mark(cell, origin) for run, name, cell, origin in answers_of(grid)}


def answers_of(grid: Outcomes) -> Iterator[tuple[str, str, float | None, str]]:
    """Yield each answer as (run, question id, right or wrong, who says so)."""
    for row in grid.rows:
        for question, cell, origin in zip(grid.questions, row.cells, row.origins, strict=True):
            yield row.run, question, cell, origin


def total(row: OutcomeRow, words: Words) -> str:
    """Return how many of the run's known answers are right."""
    right = count(row.right) if row.right.is_integer() else f"{row.right:.2f}"
    return words.line("total", right=right, known=row.known)


def conclusions(grid: Outcomes, words: Words) -> Iterator[Paragraph]:
    """Yield which questions the system failed on, which are informative, and which are not."""
    failed = [
        words.line("failed", run=row.run, errors=row.errors, asked=row.asked)
        for row in grid.rows
        if row.errors
    ]
    if failed:
        yield Paragraph(words.join("parts", failed), Tone.CAUTION)
    if not grid.known or len(grid.rows) < 2:
        return
    if grid.informative:
        numbers = {"informative": len(grid.informative), "known": grid.known}
        text = words.line("informative", questions=grid.informative, **numbers)
        yield Paragraph(text, Tone.STRONG)
    elif not grid.partly_right:
        yield Paragraph(words.line("informative_none"), Tone.CAUTION)
    for key, questions in (
        ("always_right", grid.always_right),
        ("always_wrong", grid.always_wrong),
        ("questions_partly", grid.partly_right),
        ("questions_unknown", grid.unknown),
    ):
        if questions:
            yield Paragraph(words.line(key, questions=questions))
