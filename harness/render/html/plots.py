"""The plots of the page as numbers: intervals, sweeps, and scores of right and wrong answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.analysis.means import mean_interval
from harness.analysis.results import Analysis, Curve, MetricTrust, Trust
from harness.analysis.study_table import RIGHT
from harness.records import Score
from harness.render.notation import mean, quantity
from harness.render.sections.metric_trust import metric_groups, metric_title
from harness.render.vocabulary import Words

MIDDLE = 120.0
"""Where a difference of zero is drawn; one of 1 reaches from there to the edge."""

LEFT, TOP, WIDE, HIGH = 34.0, 10.0, 220.0, 110.0
"""Where a sweep's plot lies in its picture, and how large it is."""

BINS = 20
SIDES = (("right", 1.0), ("wrong", 0.0))
HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT = 240.0, 40.0

ScoresByQuestion = Mapping[tuple[str, str], Mapping[str, float]]
"""(metric, run) -> question id -> score."""


def across(difference: float) -> float:
    """Return where a difference is drawn on the scale of intervals, at most at its edge.

    >>> across(-1.0), across(0.0), across(0.5), across(1.4)
    (4.0, 120.0, 178.0, 236.0)
    """
    return round(MIDDLE + max(-1.0, min(1.0, difference)) * (MIDDLE - 4), 1)


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One run of a sweep."""

    x: float
    y: float
    tick: str
    text: str
    """What a screen reader says, and what is shown when pointing at it."""


@dataclass(frozen=True, slots=True)
class SweepPlot:
    """One metric of one sweep."""

    title: str
    factor: str
    points: tuple[SweepPoint, ...]
    line: str
    """As the attribute `points` of a polyline."""
    band: str
    """As the attribute `points` of a polygon; empty where not every point has an interval."""
    grey: bool


def sweep_plots(
    analysis: Analysis, curve: Curve, scores: ScoresByQuestion, words: Words
) -> Iterator[SweepPlot]:
    """Yield a plot for each metric whose scores lie between 0 and 1."""
    groups = metric_groups(analysis)
    for metric in curve.points[0].means:
        if metric in groups.unbounded or metric in groups.costs:
            continue
        points = tuple(sweep_points(curve, metric))
        if len(points) < 2:
            continue
        yield SweepPlot(
            title=metric_title(metric, groups, words),
            factor=curve.factor,
            points=points,
            line=" ".join(f"{point.x},{point.y}" for point in points),
            band=band(curve, metric, scores),
            grey=metric in groups.doubted,
        )


def sweep_points(curve: Curve, metric: str) -> Iterator[SweepPoint]:
    """Yield the points that have a mean."""
    for point in curve.points:
        value = point.means[metric]
        if value is not None:
            tick = quantity(point.value)
            text = f"{curve.factor} {tick}: {mean(value)} (n={point.scored[metric]})"
            yield SweepPoint(from_left(curve, point.value), from_top(value), tick, text)


def from_left(curve: Curve, value: float) -> float:
    """Return where a value of the factor is drawn."""
    first, last = curve.points[0].value, curve.points[-1].value
    share = (value - first) / (last - first) if last > first else 0.5
    return round(LEFT + 12 + share * (WIDE - 24), 1)


def from_top(score: float) -> float:
    """Return where a score is drawn.

    >>> from_top(1.0), from_top(0.0)
    (10.0, 120.0)
    """
    return round(TOP + (1 - max(0.0, min(1.0, score))) * HIGH, 1)


def by_question(analysis: Analysis, scores: Mapping[str, Sequence[Score]]) -> ScoresByQuestion:
    """Return each run's scores, and right and wrong, by question; repeats are averaged."""
    single: dict[tuple[str, str], dict[str, list[float]]] = {}
    for run, rows in scores.items():
        for row in rows:
            if row.value is not None:
                of_run = single.setdefault((row.metric, run), {})
                of_run.setdefault(row.question_id, []).append(row.value)
    for outcome in analysis.outcomes.rows:
        cells = zip(analysis.outcomes.questions, outcome.cells, strict=True)
        single[RIGHT, outcome.run] = {q: [cell] for q, cell in cells if cell is not None}
    return {
        key: {question: sum(found) / len(found) for question, found in rows.items()}
        for key, rows in single.items()
    }


def band(curve: Curve, metric: str, scores: ScoresByQuestion) -> str:
    """Return the outline of the 95 % intervals; empty where a point has none.

    Each is computed over the questions that every run of the sweep has scored, as the points
    are; where the scores at hand do not make the point's mean, nothing is drawn.
    """
    of_runs = [scores.get((metric, point.run), {}) for point in curve.points]
    common = sorted(set.intersection(*(set(found) for found in of_runs)))
    binary = all(found[q] in (0.0, 1.0) for found in of_runs for q in common)
    upper, lower = [], []
    for point, found in zip(curve.points, of_runs, strict=True):
        row = np.array([found[question] for question in common])
        here, span = point.means[metric], mean_interval(row, binary, bounded=True)
        if here is None or span.low is None or span.high is None:
            return ""
        if not np.isclose(row.mean(), here):
            return ""
        x = from_left(curve, point.value)
        upper.append(f"{x},{from_top(span.high)}")
        lower.append(f"{x},{from_top(span.low)}")
    return " ".join([*upper, *reversed(lower)])


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """The scores in one bin."""

    x: float
    height: float
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """The scores of the right answers, or of the wrong ones."""

    name: str
    """right | wrong"""
    bars: tuple[HistogramBar, ...]
    count: int
    mean: float | None
    at: float | None
    """Where the mean is drawn."""


@dataclass(frozen=True, slots=True)
class DistributionPlot:
    """One metric's scores of right answers above those of wrong ones."""

    title: str
    verdict: str
    grey: bool
    sides: tuple[Histogram, ...]
    low: float
    high: float
    """The ends of the scale."""


def distributions(
    analysis: Analysis, scores: Mapping[str, Sequence[Score]], words: Words
) -> Iterator[DistributionPlot]:
    """Yield each metric that is compared with right and wrong, and has scores."""
    known = outcomes(analysis)
    values: dict[str, list[tuple[float, float]]] = {}
    for run, rows in scores.items():
        for row in rows:
            right = known.get((run, row.question_id))
            if row.value is not None and right in (0.0, 1.0):
                values.setdefault(row.metric, []).append((float(right or 0.0), row.value))
    for trust in analysis.trust:
        if trust.metric in values:
            yield distribution(trust, values[trust.metric], words)


def outcomes(analysis: Analysis) -> Mapping[tuple[str, str], float | None]:
    """Return (run, question id) -> right, as known by the rule that the trust table goes by."""
    by_people = any(row.graded_by == "grade" for row in analysis.trust)
    rule = "grade" if by_people else "answer_match"
    return {
        (row.run, question): cell if origin == rule else None
        for row in analysis.outcomes.rows
        for question, cell, origin in zip(
            analysis.outcomes.questions, row.cells, row.origins, strict=True
        )
    }


def distribution(
    trust: MetricTrust, values: Sequence[tuple[float, float]], words: Words
) -> DistributionPlot:
    """Return one metric's plot; both sides are shares of their own scores, on one scale."""
    found = [value for _, value in values]
    low, high = min(0.0, *found, 0.0), max(1.0, *found, 1.0)
    by_side = {name: [v for right, v in values if right == code] for name, code in SIDES}
    largest = max(max(bin_counts(side, low, high)) / len(side) for side in by_side.values() if side)
    return DistributionPlot(
        title=words.metric(trust.metric),
        verdict=words.get("trust", trust.verdict),
        grey=trust.verdict is not Trust.TRUSTED,
        sides=tuple(histogram(name, side, low, high, largest) for name, side in by_side.items()),
        low=low,
        high=high,
    )


def histogram(
    name: str, values: Sequence[float], low: float, high: float, largest: float
) -> Histogram:
    """Return one side's bars and the place of its mean."""
    step = HISTOGRAM_WIDTH / BINS
    bars = tuple(
        HistogramBar(
            round(at * step, 1), round(HISTOGRAM_HEIGHT * count / len(values) / largest, 1), count
        )
        for at, count in enumerate(bin_counts(values, low, high))
        if count
    )
    mean = sum(values) / len(values) if values else None
    at = None if mean is None else round(HISTOGRAM_WIDTH * (mean - low) / (high - low), 1)
    return Histogram(name, bars, len(values), mean, at)


def bin_counts(values: Sequence[float], low: float, high: float) -> list[int]:
    """Return how many values fall into each bin; the highest value falls into the last.

    >>> bin_counts([0.0, 0.04, 1.0], 0.0, 1.0)[:2], bin_counts([1.0], 0.0, 1.0)[-1]
    ([2, 0], 1)
    """
    counts = [0] * BINS
    for value in values:
        counts[min(BINS - 1, int(BINS * (value - low) / (high - low)))] += 1
    return counts
