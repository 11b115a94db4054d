"""A sweep drawn: a metric's mean over the values of a factor, with the interval as a band."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.analysis.means import mean_interval
from harness.analysis.results import Analysis, Curve
from harness.analysis.study_table import RIGHT
from harness.records import Score
from harness.render.kinds import kinds_of, title
from harness.render.quantities import mean, quantity
from harness.render.wording import Words

LEFT, TOP, WIDE, HIGH = 34.0, 10.0, 220.0, 110.0
"""Where the plot stands in its picture, and how large it is."""

Values = Mapping[tuple[str, str], Mapping[str, float]]
"""(metric, run) -> question id -> score."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run of the sweep."""

    x: float
    y: float
    tick: str
    text: str
    """What a reader hears or sees when pointing at it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One metric of one sweep."""

    title: str
    factor: str
    points: tuple[Point, ...]
    line: str
    """As the attribute `points` of a polyline."""
    band: str
    """As the attribute `points` of a polygon; empty where not every point has an interval."""
    grey: bool


def pictures(analysis: Analysis, curve: Curve, values: Values, words: Words) -> Iterator[Picture]:
    """Yield a picture for each metric whose scores lie between 0 and 1."""
    kinds = kinds_of(analysis)
    for metric in curve.points[0].means:
        if metric in kinds.unbounded or metric in kinds.costs:
            continue
        points = list(points_of(curve, metric))
        if len(points) < 2:
            continue
        yield Picture(
            title=title(metric, kinds, words),
            factor=curve.factor,
            points=tuple(points),
            line=" ".join(f"{point.x},{point.y}" for point in points),
            band=band(curve, metric, values),
            grey=metric in kinds.doubted,
        )


def points_of(curve: Curve, metric: str) -> Iterator[Point]:
    """Yield the points that have a mean."""
    for point in curve.points:
        found = point.means[metric]
        if found is not None:
            tick = quantity(point.value)
            told = f"{curve.factor} {tick}: {mean(found)} (n={point.scored[metric]})"
            yield Point(across(curve, point.value), up(found), tick, told)


def across(curve: Curve, value: float) -> float:
    """Return where a value of the factor stands from left to right."""
    first, last = curve.points[0].value, curve.points[-1].value
    share = (value - first) / (last - first) if last > first else 0.5
    return round(LEFT + 12 + share * (WIDE - 24), 1)


def up(score: float) -> float:
    """Return where a score stands from top to bottom.

    >>> up(1.0), up(0.0)
    (10.0, 120.0)
    """
    return round(TOP + (1 - max(0.0, min(1.0, score))) * HIGH, 1)


def by_question(analysis: Analysis, scores: Mapping[str, Sequence[Score]]) -> Values:
    """Return what each run scored on each question, the mean over repeats; right and wrong too."""
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


def band(curve: Curve, metric: str, values: Values) -> str:
    """Return the outline of the 95 % intervals; empty where a point has none.

    Each is worked out over the questions that every run of the sweep has scored, as the points
    are; where the scores at hand do not make the point's mean, nothing is drawn.
    """
    of_runs = [values.get((metric, point.run), {}) for point in curve.points]
    common = sorted(set.intersection(*(set(found) for found in of_runs)))
    binary = all(found[q] in (0.0, 1.0) for found in of_runs for q in common)
    upper, lower = [], []
    for point, found in zip(curve.points, of_runs, strict=True):
        row = np.array([found[question] for question in common])
        mean_here, span = point.means[metric], mean_interval(row, binary, bounded=True)
        if mean_here is None or span.low is None or span.high is None:
            return ""
        if not np.isclose(row.mean(), mean_here):
            return ""
        x = across(curve, point.value)
        upper.append(f"{x},{up(span.high)}")
        lower.append(f"{x},{up(span.low)}")
    return " ".join([*upper, *reversed(lower)])
