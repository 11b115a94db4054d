"""A sweep over one numeric factor, read as a curve."""

from collections.abc import Sequence

import numpy as np

from harness.analysis.changes import Design
from harness.analysis.means import mean_of
from harness.analysis.measures import Measure
from harness.analysis.results import Curve, CurvePoint
from harness.text import as_number

SHORTEST = 3
"""Two runs are a contrast, not a curve."""


def curves(design: Design, measures: Sequence[Measure]) -> tuple[Curve, ...]:
    """Find the sets of at least three runs that differ in one numeric factor only."""
    found: list[tuple[str, dict[int, float]]] = []
    for (left, right), change in design.contrasts:
        values = as_number(change.left), as_number(change.right)
        if values[0] is None or values[1] is None:
            continue
        points = {left: values[0], right: values[1]}
        for factor, sweep in found:
            if factor == change.factor and sweep.keys() & points.keys():
                sweep.update(points)
                break
        else:
            found.append((change.factor, points))
    return tuple(
        curve(factor, sweep, design, measures) for factor, sweep in found if len(sweep) >= SHORTEST
    )


def curve(
    factor: str, sweep: dict[int, float], design: Design, measures: Sequence[Measure]
) -> Curve:
    """Put a sweep in number order, each metric over the questions that every run has scored."""
    runs = sorted(sweep, key=lambda at: sweep[at])
    points = []
    common = {m.name: ~np.isnan(m.values[runs]).any(axis=0) for m in measures}
    for at in runs:
        points.append(
            CurvePoint(
                sweep[at],
                design.runs[at].name,
                {m.name: mean_of(m.values[at][common[m.name]]) for m in measures},
                {name: int(mask.sum()) for name, mask in common.items()},
            )
        )
    return Curve(factor, tuple(points))
