"""Does one factor's effect depend on another's value: the difference of differences."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness.analysis.contrasts import cluster_numbers
from harness.analysis.differences import Pairing, Standing, difference, tested
from harness.analysis.factors import Design
from harness.analysis.measures import Measure, asked
from harness.analysis.options import Options
from harness.analysis.results import Interaction, Verdict
from harness.analysis.squares import Corners, squares
from harness.analysis.tables import StudyTable


def interactions(
    study: StudyTable, design: Design, measures: Sequence[Measure], options: Options
) -> tuple[Interaction, ...]:
    """Work out every complete 2 x 2, and name what the incomplete ones lack.

    They are exploratory: none is called beyond chance, each has its interval and p. `UNTESTED`
    metrics have neither and are left out.
    """
    measures = [measure for measure in measures if measure.tested]
    found = squares(design)
    were_asked = asked(study)
    complete = [square for square in found if None not in square.corners]
    pairings = [
        effect_of_first(measure, square.corners, were_asked)
        for square in complete
        for measure in measures
    ]
    clusters = cluster_numbers(study, options)
    names = [question.id for question in study.questions]
    tests = tested(pairings, clusters, options)
    rows = [
        difference(
            pair, names, clusters, Standing(test, None, 1, False, Verdict.NO_EVIDENCE), options
        )
        for pair, test in zip(pairings, tests, strict=True)
    ]
    runs = [run.name for run in study.runs]
    step = len(measures)
    return tuple(
        Interaction(
            square.first,
            square.second,
            tuple(None if at is None else runs[at] for at in square.corners),
            tuple(rows[at * step : (at + 1) * step]),
            square.missing,
        )
        for at, square in enumerate(found)
    )


def effect_of_first(measure: Measure, corners: Corners, were_asked: NDArray[np.bool_]) -> Pairing:
    """Pair first's effect where second is at its left value with that at its right value."""
    at = [corner for corner in corners if corner is not None]
    base, first, second, both = (measure.values[i] for i in at)
    units = np.fmin.reduce(measure.units[at], axis=0)
    effects = Measure(
        # a difference of differences reaches from -2 to 2
        facts=replace(measure.facts, bounded=False),
        values=np.stack([first - base, both - second]),
        units=np.stack([units, units]),
        binary=False,
    )
    return Pairing(effects, (0, 1), np.asarray(were_asked[at].all(axis=0)))
