"""The grid of right and wrong with a row a question, and what kind of question it is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.analysis.results import Analysis
from harness.records import Question
from harness.render.right_wrong import FAILED, RIGHT, UNKNOWN, WRONG, mark, total
from harness.render.wording import Words

SPOKEN = {RIGHT: "right", WRONG: "wrong", FAILED: "failed", UNKNOWN: "unknown"}
"""Sign -> the key of the word that a screen reader says."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One answer."""

    sign: str
    spoken: str
    """A key of the words' `html`; empty where the sign is a number."""
    tone: str


@dataclass(frozen=True, slots=True)
class Row:
    """One question."""

    place: str
    id: str
    text: str
    source: str
    """text | image | both | none, or empty where nobody told."""
    kind: str
    """informative | always_right | always_wrong | unknown"""
    marks: tuple[Mark, ...]
    """In the order of the runs."""


def grid_rows(analysis: Analysis, questions: Mapping[str, Question]) -> Iterator[Row]:
    """Yield the questions in natural order."""
    grid = analysis.outcomes
    kinds = dict.fromkeys(grid.questions, "unknown")
    for kind in ("informative", "always_right", "always_wrong"):
        kinds |= dict.fromkeys(getattr(grid, kind), kind)
    for at, question in enumerate(grid.questions):
        known = questions.get(question)
        yield Row(
            place=f"question-{at + 1}",
            id=question,
            text=known.question if known else "",
            source=known.source if known else "",
            kind=kinds[question],
            marks=tuple(mark_of(row.cells[at], row.origins[at]) for row in grid.rows),
        )


def mark_of(cell: float | None, origin: str) -> Mark:
    """Return one answer's sign with the word for it."""
    sign = mark(cell, origin)
    return Mark(sign.text, SPOKEN.get(sign.text, ""), sign.tone.value)


def grid_totals(analysis: Analysis, words: Words) -> tuple[str, ...]:
    """Return how many answers of each run are right."""
    return tuple(total(row, words) for row in analysis.outcomes.rows)
