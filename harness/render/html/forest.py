"""The contrasts as rows of a forest plot: one a metric, with its interval on a common scale."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.results import Analysis, Conclusion, Contrast, Difference
from harness.analysis.study_table import RIGHT
from harness.render.blocks import Cell, Line
from harness.render.contrasts import header, said_of
from harness.render.differences import cells_of
from harness.render.kinds import Kinds, kinds_of
from harness.render.quantities import signed
from harness.render.wording import Words

IN_FULL = 100
"""Contrasts with a part of their own."""

WIDTH, MIDDLE = 240.0, 120.0
"""Of a plot, in its own units; a difference of 1 reaches from the middle to the edge."""

GREY = {
    Conclusion.NOT_TRUSTED,
    Conclusion.NO_EFFECT_POSSIBLE,
    Conclusion.IDENTICAL_BY_CONSTRUCTION,
    Conclusion.NOT_COMPARED,
}
TONES = {Conclusion.BETTER: "good", Conclusion.WORSE: "bad"}


@dataclass(frozen=True, slots=True)
class Interval:
    """A difference on the scale of the plot; None where nothing can be drawn."""

    at: float
    low: float | None
    high: float | None
    tone: str


@dataclass(frozen=True, slots=True)
class Row:
    """One contrast and metric."""

    cells: Mapping[str, Cell]
    """By column, as `harness.render.differences` writes them."""
    plot: Interval | None
    grey: bool
    metric: str
    order: float
    """What a reader may sort by: the difference."""


@dataclass(frozen=True, slots=True)
class Part:
    """One contrast with all its metrics."""

    place: str
    title: str
    said: tuple[Line, ...]
    rows: tuple[Row, ...]
    """Right and wrong, and the metrics of quality."""
    costs: tuple[Row, ...]
    right: Row | None
    in_short: str
    """The difference in right answers, for the folded line."""


def contrast_parts(analysis: Analysis, words: Words) -> Iterator[Part]:
    """Yield the contrasts in full, in the order of the analysis."""
    kinds = kinds_of(analysis)
    for at, contrast in enumerate(analysis.contrasts[:IN_FULL], 1):
        yield part(contrast, f"contrast-{at}", kinds, words, analysis.family.alpha)


def part(contrast: Contrast, place: str, kinds: Kinds, words: Words, alpha: float) -> Part:
    """Return one contrast."""
    quality = [row for row in contrast.differences if row.metric not in kinds.costs]
    costs = [row for row in contrast.differences if row.metric in kinds.costs]
    right = contrast.difference(RIGHT)
    return Part(
        place=place,
        title=header(contrast, words),
        said=tuple(said_of(contrast, words, False, alpha)),
        rows=rows_of(quality, kinds, words),
        costs=rows_of(costs, kinds, words),
        right=None if right is None else rows_of([right], kinds, words)[0],
        in_short="" if right is None else f"{words.metric(RIGHT)} {signed(right.mean)}",
    )


def rows_of(rows: Sequence[Difference], kinds: Kinds, words: Words) -> tuple[Row, ...]:
    """Return the rows that compare something, and those that could not last."""
    made = [
        Row(
            cells=cells_of(row, kinds, words, brief=False),
            plot=None if row.metric in kinds.unbounded else interval_of(row, kinds),
            grey=is_grey(row, kinds),
            metric=row.metric,
            order=0.0 if row.mean is None else row.mean,
        )
        for row in rows
        if row.metric not in kinds.unscored
    ]
    return tuple(made)


def is_grey(row: Difference, kinds: Kinds) -> bool:
    """Say whether a row must not be read as an effect."""
    return row.verdict in GREY or row.metric in kinds.doubted


def interval_of(row: Difference, kinds: Kinds) -> Interval | None:
    """Return a difference of scores as it is drawn."""
    if row.mean is None:
        return None
    ends = [None if end is None else place(end) for end in (row.low, row.high)]
    tone = "grey" if is_grey(row, kinds) else TONES.get(row.verdict, "plain")
    return Interval(place(row.mean), ends[0], ends[1], tone)


def place(value: float) -> float:
    """Return where a difference stands on the scale; what lies beyond stands at its edge.

    >>> place(-1.0), place(0.0), place(0.5), place(1.4)
    (4.0, 120.0, 178.0, 236.0)
    """
    return round(MIDDLE + max(-1.0, min(1.0, value)) * (MIDDLE - 4), 1)
