"""Everything that is compared, in one list: right/wrong first, then the metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.analysis.study_table import ANSWER_MATCH, RIGHT, UNTESTED, MetricFacts, StudyTable
from harness.records import Floats, Layer


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """One metric over all runs, or right/wrong as if it were one."""

    facts: MetricFacts
    values: Floats
    """(runs, questions), nan where NA."""
    units: Floats
    """(runs, questions), nan where unknown."""
    binary: bool

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.facts.name

    @property
    def tested(self) -> bool:
        """Whether a difference in it may be held against chance."""
        return self.name not in UNTESTED

    @property
    def direction(self) -> int:
        """-1 where lower is better, else 1."""
        return -1 if self.facts.higher_is_better is False else 1


def measures(study: StudyTable) -> tuple[Measure, ...]:
    """List what is compared.

    `answer_match` is left out where right/wrong is nothing else: one thing is tested once.
    """
    cube, right = study.scores, study.right
    found = []
    if not np.isnan(right.values).all():
        facts = MetricFacts(RIGHT, Layer.OVERALL)
        found.append(Measure(facts, right.values, np.full(right.values.shape, np.nan), True))
    graded = bool((right.origins == "grade").any())
    for at, facts in enumerate(cube.metrics):
        if facts.name != ANSWER_MATCH or graded or not found:
            values, units = cube.values[:, :, at], cube.units[:, :, at]
            found.append(Measure(facts, values, units, cube.binary[at]))
    return tuple(found)


def asked(study: StudyTable) -> NDArray[np.bool_]:
    """Return (runs, questions): which questions each run was asked."""
    return np.array(
        [
            [run.asked is None or question.id in run.asked for question in study.questions]
            for run in study.runs
        ],
        dtype=bool,
    ).reshape(len(study.runs), len(study.questions))


def named(names: Sequence[str], mask: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return the names at which the mask is true."""
    return tuple(names[at] for at in np.flatnonzero(mask).tolist())
