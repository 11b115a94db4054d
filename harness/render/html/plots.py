"""The plots of the page as numbers: intervals, sweeps, and scores of right and wrong answers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.analysis.results import Analysis, Curve, MetricTrust, Trust
from harness.records import Score
from harness.render.notation import mean, quantity
from harness.render.sections.metric_trust import metric_title
from harness.render.sections.right_wrong import answers_of
from harness.render.vocabulary import Words

MIDDLE = 120.0
"""Where a difference of zero is drawn; one of 1 reaches from there to the edge."""

LEFT, TOP, WIDE, HIGH = 34.0, 10.0, 220.0, 110.0
"""Where a sweep's plot lies in its picture, and how large it is."""

BINS = 20
SIDES = (("right", 1.0), ("wrong", 0.0))
HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT = 240.0, 40.0


def across(difference: float) -> float:
    """Return where a difference is drawn on the scale of intervals, at most at its edge.

    >>> across(-1.0), across(0.0), across(0.5), across(1.4)
    (4.0, 120.0, 178.0, 236.0)
    """
    return round(MIDDLE + max(-1.0, min(1.0, difference)) * (MIDDLE - 4), 1)


Plot = Mapping[str, Any]
"""What `plots.html.jinja` draws: name in the template -> value."""


def sweep_plots(analysis: Analysis, curve: Curve, words: Words) -> Iterator[Plot]:
    """Yield a plot for each metric whose scores lie between 0 and 1.

    `line` and `band` are the attribute `points` of a polyline and of a polygon; the band is empty
    where not every point has an interval. A point's `text` is what a screen reader says, and what
    is shown when pointing at it.
    """
    for metric in curve.points[0].means:
        if metric in analysis.unbounded or metric in analysis.costs:
            continue
        points = list(sweep_points(curve, metric))
        if len(points) < 2:
            continue
        yield {
            "title": metric_title(metric, analysis, words),
            "factor": curve.factor,
            "points": points,
            "line": " ".join(f"{point['x']},{point['y']}" for point in points),
            "band": band(curve, metric),
            "grey": metric in analysis.doubted,
        }


def sweep_points(curve: Curve, metric: str) -> Iterator[Plot]:
    """Yield the points that have a mean."""
    for point in curve.points:
        value = point.means[metric]
        if value is not None:
            tick = quantity(point.value)
            text = f"{curve.factor} {tick}: {mean(value)} (n={point.scored[metric]})"
            x, y = from_left(curve, point.value), from_top(value)
            yield {"x": x, "y": y, "tick": tick, "text": text}


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


def band(curve: Curve, metric: str) -> str:
    """Return the outline of the 95 % intervals; empty where a point has none."""
    upper, lower = [], []
    for point in curve.points:
        span = point.intervals[metric]
        if span.low is None or span.high is None:
            return ""
        x = from_left(curve, point.value)
        upper.append(f"{x},{from_top(span.high)}")
        lower.append(f"{x},{from_top(span.low)}")
    return " ".join([*upper, *reversed(lower)])


def distributions(
    analysis: Analysis, scores: Mapping[str, Sequence[Score]], words: Words
) -> Iterator[Plot]:
    """Yield each metric that is compared with right and wrong, and has scores."""
    rules = {row.graded_by for row in analysis.trust}
    cells = answers_of(analysis.outcomes)
    known = {(run, question): right for run, question, right, by in cells if by in rules}
    values: dict[str, list[tuple[float, float]]] = {}
    for run, rows in scores.items():
        for row in rows:
            right = known.get((run, row.question_id))
            if row.value is not None and right in (0.0, 1.0):
                values.setdefault(row.metric, []).append((float(right or 0.0), row.value))
    for trust in analysis.trust:
        if trust.metric in values:
            yield distribution(trust, values[trust.metric], words)


def distribution(trust: MetricTrust, values: Sequence[tuple[float, float]], words: Words) -> Plot:
    """Return one metric's plot: its scores of right answers above those of wrong ones.

    Both sides are shares of their own scores, on one scale from `low` to `high`.
    """
    found = [value for _, value in values]
    low, high = min(0.0, *found, 0.0), max(1.0, *found, 1.0)
    by_side = {name: [v for right, v in values if right == code] for name, code in SIDES}
    counts = {name: bin_counts(side, low, high) for name, side in by_side.items()}
    largest = max(max(counts[name]) / len(side) for name, side in by_side.items() if side)
    sides = []
    for name, side in by_side.items():
        middle = sum(side) / len(side) if side else None
        at = None if middle is None else round(HISTOGRAM_WIDTH * (middle - low) / (high - low), 1)
        bars = [
            {
                "x": round(place * HISTOGRAM_WIDTH / BINS, 1),
                "height": round(HISTOGRAM_HEIGHT * count / len(side) / largest, 1),
                "count": count,
            }
            for place, count in enumerate(counts[name])
            if count
        ]
        sides.append({"name": name, "bars": bars, "count": len(side), "mean": middle, "at": at})
    return {
        "title": words.metric(trust.metric),
        "verdict": words.get("trust", trust.verdict),
        "grey": trust.verdict is not Trust.TRUSTED,
        "sides": sides,
        "low": low,
        "high": high,
    }


def bin_counts(values: Sequence[float], low: float, high: float) -> list[int]:
    """Return how many values fall into each bin; the highest value falls into the last.

    >>> bin_counts([0.0, 0.04, 1.0], 0.0, 1.0)[:2], bin_counts([1.0], 0.0, 1.0)[-1]
    ([2, 0], 1)
    """
    bins = (BINS * (np.asarray(values, float) - low) / (high - low)).astype(int)
    return [int(count) for count in np.bincount(bins.clip(max=BINS - 1), minlength=BINS)]
