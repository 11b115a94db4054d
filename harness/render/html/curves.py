"""A sweep drawn: a metric's mean over the values of a factor, with the interval as a band."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.analysis.results import Analysis, Curve
from harness.render.kinds import kinds_of, title
from harness.render.quantities import mean, quantity
from harness.render.wording import Words

LEFT, TOP, WIDE, HIGH = 34.0, 10.0, 220.0, 110.0
"""Where the plot stands in its picture, and how large it is."""


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


def pictures(analysis: Analysis, curve: Curve, words: Words) -> Iterator[Picture]:
    """Yield a picture for each metric whose scores lie between 0 and 1."""
    kinds = kinds_of(analysis)
    for metric in curve.points[0].means:
        if metric in kinds.unbounded or metric in kinds.costs:
            continue
        points = list(points_of(curve, metric, words))
        if len(points) < 2:
            continue
        yield Picture(
            title=title(metric, kinds, words),
            factor=curve.factor,
            points=tuple(points),
            line=" ".join(f"{point.x},{point.y}" for point in points),
            band=band(analysis, curve, metric),
            grey=metric in kinds.doubted,
        )


def points_of(curve: Curve, metric: str, words: Words) -> Iterator[Point]:
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


def band(analysis: Analysis, curve: Curve, metric: str) -> str:
    """Return the outline of the intervals; empty where one of them rests on other questions.

    The mean of a run has an interval over all questions that it has scored; that is the
    interval of the curve's point too where these are the questions of the whole sweep.
    """
    means = next((row for row in analysis.means if row.metric == metric), None)
    if means is None:
        return ""
    cells = {cell.run: cell for cell in means.cells}
    upper, lower = [], []
    for point in curve.points:
        cell = cells.get(point.run)
        if cell is None or cell.low is None or cell.high is None:
            return ""
        if cell.scored != point.scored[metric] or cell.mean != point.means[metric]:
            return ""
        x = across(curve, point.value)
        upper.append(f"{x},{up(cell.high)}")
        lower.append(f"{x},{up(cell.low)}")
    return " ".join([*upper, *reversed(lower)])
