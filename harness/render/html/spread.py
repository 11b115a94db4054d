"""Two distributions a metric: the scores of right answers against those of wrong ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.results import Analysis, MetricTrust, Trust
from harness.records import Score
from harness.render.wording import Words

BINS = 20
SIDES = (("right", 1.0), ("wrong", 0.0))
WIDE, HIGH = 240.0, 40.0
"""Of one distribution, in the picture's own units."""

Outcomes = Mapping[tuple[str, str], float | None]
"""(run, question id) -> 1 right, 0 wrong; a share where repeats differ."""


@dataclass(frozen=True, slots=True)
class Bar:
    """So many scores in one bin."""

    x: float
    height: float
    count: int


@dataclass(frozen=True, slots=True)
class Side:
    """The scores of the right answers, or of the wrong ones."""

    name: str
    """right | wrong"""
    bars: tuple[Bar, ...]
    count: int
    mean: float | None
    at: float | None
    """Where the mean stands."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One metric."""

    place: str
    title: str
    verdict: str
    grey: bool
    sides: tuple[Side, Side]
    low: float
    high: float
    """The ends of the scale."""


def spreads(
    analysis: Analysis, scores: Mapping[str, Sequence[Score]], words: Words
) -> Iterator[Spread]:
    """Yield each metric that is held against right and wrong; none where there are no scores."""
    known = outcomes(analysis)
    values: dict[str, list[tuple[float, float]]] = {}
    for run, rows in scores.items():
        for row in rows:
            right = known.get((run, row.question_id))
            if row.value is not None and right in (0.0, 1.0):
                values.setdefault(row.metric, []).append((float(right or 0.0), row.value))
    for at, trust in enumerate(analysis.trust, 1):
        if trust.metric in values:
            yield spread(trust, f"metric-{at}", values[trust.metric], words)


def outcomes(analysis: Analysis) -> Outcomes:
    """Return what is known of each answer, by the rule that the trust table goes by."""
    by_people = any(row.graded_by == "grade" for row in analysis.trust)
    rule = "grade" if by_people else "answer_match"
    return {
        (row.run, question): cell if origin == rule else None
        for row in analysis.outcomes.rows
        for question, cell, origin in zip(
            analysis.outcomes.questions, row.cells, row.origins, strict=True
        )
    }


def spread(
    trust: MetricTrust, place: str, values: Sequence[tuple[float, float]], words: Words
) -> Spread:
    """Return one metric's picture."""
    found = [value for _, value in values]
    low, high = min(0.0, *found, 0.0), max(1.0, *found, 1.0)
    by_side = [(n, [v for right, v in values if right == code]) for n, code in SIDES]
    largest = max(max(counts_of(side, low, high)) / len(side) for _, side in by_side if side)
    sides = [side_of(name, side, low, high, largest) for name, side in by_side]
    return Spread(
        place=place,
        title=words.metric(trust.metric),
        verdict=words.get("trust", trust.verdict),
        grey=trust.verdict is not Trust.TRUSTED,
        sides=(sides[0], sides[1]),
        low=low,
        high=high,
    )


def side_of(name: str, values: Sequence[float], low: float, high: float, largest: float) -> Side:
    """Return one distribution, its bars as shares of its scores on one scale with the other's."""
    counts = counts_of(values, low, high)
    step = WIDE / BINS
    bars = tuple(
        Bar(round(at * step, 1), round(HIGH * count / len(values) / largest, 1), count)
        for at, count in enumerate(counts)
        if count
    )
    mean = sum(values) / len(values) if values else None
    at = None if mean is None else round(WIDE * (mean - low) / (high - low), 1)
    return Side(name, bars, len(values), mean, at)


def counts_of(values: Sequence[float], low: float, high: float) -> list[int]:
    """Return how many values fall into each bin; the highest value falls into the last.

    >>> counts_of([0.0, 0.04, 1.0], 0.0, 1.0)[:2], counts_of([1.0], 0.0, 1.0)[-1]
    ([2, 0], 1)
    """
    counts = [0] * BINS
    for value in values:
        counts[min(BINS - 1, int(BINS * (value - low) / (high - low)))] += 1
    return counts
