"""Which metrics may be believed: can they tell right answers from wrong ones, here?

The questions are the sample, not the cells: eight questions under six variants are eight, not
forty-eight. So the interval of the AUC comes from leaving out one question at a time (a
jackknife on the logit scale, Student's t), which `tests/calibration` found to hold its level
at eight questions, where resampling them with replacement does not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.analysis.changes import Design
from harness.analysis.measures import Measure
from harness.analysis.results import MetricTrust, Trust
from harness.analysis.statistics.intervals import jackknife_error, t_quantile
from harness.analysis.study_table import ANSWER_MATCH, RIGHT, StudyTable
from harness.records import Floats, Layer

FEWEST_QUESTIONS = 5
FEWEST_OF_A_KIND = 3
"""Right answers, and wrong ones, below which nothing is said."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Scored answers that somebody called right or wrong."""

    scores: Floats
    """(cells,), turned so that higher is better."""
    right: NDArray[np.bool_]
    runs: NDArray[np.int64]
    questions: NDArray[np.int64]

    @property
    def good(self) -> Floats:
        """Scores of the right answers."""
        return self.scores[self.right]

    @property
    def bad(self) -> Floats:
        """Scores of the wrong answers."""
        return self.scores[~self.right]

    def of_run(self, run: int) -> "Cells":
        """Return the cells of one run."""
        own = self.runs == run
        return Cells(self.scores[own], self.right[own], self.runs[own], self.questions[own])


@dataclass(frozen=True, slots=True, eq=False)
class Concordance:
    """How often a right answer scores above a wrong one, ties counting half."""

    concordant: float
    pairs: int
    left_out: Floats
    """(questions,): the AUC without this question; nan where no pair is left."""

    @property
    def auc(self) -> float | None:
        """The share of concordant pairs; None without pairs."""
        return self.concordant / self.pairs if self.pairs else None


def metric_trust(study: StudyTable, measures: Sequence[Measure]) -> tuple[MetricTrust, ...]:
    """Hold every metric that judges answers against right and wrong.

    Of runs with equal factors the first stands for all: its answers are no new evidence twice.
    """
    graded = bool((study.right.origins == "grade").any())
    origin = "grade" if graded else ANSWER_MATCH
    right = np.where(study.right.origins == origin, study.right.values, np.nan)
    right[[later for _, later in Design(study.runs).repeats]] = np.nan
    return tuple(
        trust_of(measure, right, origin)
        for measure in measures
        if measure.facts.layer is not Layer.COST
        and measure.facts.higher_is_better is not None
        and measure.name not in ((RIGHT,) if graded else (RIGHT, ANSWER_MATCH))
    )


def trust_of(measure: Measure, right: Floats, origin: str) -> MetricTrust:
    """Hold one metric against (runs, questions) of right and wrong.

    Repeats count as right where most of them are; a draw says nothing.
    """
    known = ~np.isnan(right) & (right != 0.5)
    missing = known & np.isnan(measure.values)
    scored = known & ~np.isnan(measure.values)
    runs, questions = np.nonzero(scored)
    is_right = right[scored] > 0.5
    cells = Cells(measure.values[scored] * measure.direction, is_right, runs, questions)
    found = concordance(cells)
    within = [cells.of_run(run) for run in np.unique(runs).tolist()]
    pairs_within = sum(one.good.size * one.bad.size for one in within)
    concordant_within = sum(float(counted_below(one.good, one.bad).sum()) for one in within)
    low, high = auc_interval(found)
    values = measure.values[scored]
    means = [float(values[kind].mean()) if kind.any() else None for kind in (is_right, ~is_right)]
    linear = correlate(values, is_right.astype(float))
    return MetricTrust(
        metric=measure.name,
        verdict=verdict(cells, low, high),
        mean_right=means[0],
        mean_wrong=means[1],
        gap=means[0] - means[1] if means[0] is not None and means[1] is not None else None,
        right=int(is_right.sum()),
        wrong=int((~is_right).sum()),
        missing_right=int((missing & (right > 0.5)).sum()),
        missing_wrong=int((missing & (right < 0.5)).sum()),
        auc=found.auc,
        low=low,
        high=high,
        auc_within=share(concordant_within, pairs_within),
        auc_between=share(found.concordant - concordant_within, found.pairs - pairs_within),
        pairs_within=pairs_within,
        pairs_between=found.pairs - pairs_within,
        questions=np.unique(questions).size,
        graded_by=origin,
        correlation=linear.value,
        undefined=linear.undefined,
    )


def concordance(cells: Cells) -> Concordance:
    """Compare every right answer with every wrong one, and again without each question."""
    good, bad = cells.good, cells.bad
    asked_good, asked_bad = cells.questions[cells.right], cells.questions[~cells.right]
    size = int(cells.questions.max(initial=-1)) + 1
    below = counted_below(good, bad)
    above = good.size - counted_below(bad, good)
    rights, wrongs = (np.bincount(asked, minlength=size) for asked in (asked_good, asked_bad))
    own = np.zeros(size)
    for q in np.flatnonzero((rights > 0) & (wrongs > 0)).tolist():
        own[q] = counted_below(good[asked_good == q], bad[asked_bad == q]).sum()
    concordant, pairs = float(below.sum()), good.size * bad.size
    lost = np.bincount(asked_good, below, size) + np.bincount(asked_bad, above, size) - own
    lost_pairs = rights * bad.size + wrongs * good.size - rights * wrongs
    left_out = np.full(size, np.nan)
    np.divide(concordant - lost, pairs - lost_pairs, out=left_out, where=pairs > lost_pairs)
    present = rights + wrongs > 0
    return Concordance(concordant, pairs, left_out[present])


def counted_below(values: Floats, others: Floats) -> Floats:
    """Return how many of the others lie below each value, ties counting half."""
    ordered = np.sort(others)
    lower = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(lower / 2.0)


def auc_interval(found: Concordance, alpha: float = 0.05) -> tuple[float | None, float | None]:
    """Return the interval of the AUC over questions; None where one question decides it all."""
    auc, without = found.auc, found.left_out
    n = without.size
    if auc is None or n < 2 or np.isnan(without).any():
        return None, None
    if auc in (0.0, 1.0):
        # every pair alike: the exact binomial bound with a question as one trial
        edge = (alpha / 2) ** (1 / n)
        return (edge, 1.0) if auc else (0.0, 1 - edge)
    half = t_quantile(1 - alpha / 2, n - 1) * jackknife_error(without) / (auc * (1 - auc))
    middle = math.log(auc / (1 - auc))
    return logistic(middle - half), logistic(middle + half)


def logistic(x: float) -> float:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return (1 + math.tanh(x / 2)) / 2


def verdict(cells: Cells, low: float | None, high: float | None) -> Trust:
    """Say what the interval allows."""
    rights, wrongs = int(cells.right.sum()), int((~cells.right).sum())
    few = np.unique(cells.questions).size < FEWEST_QUESTIONS
    if low is None or high is None or few or min(rights, wrongs) < FEWEST_OF_A_KIND:
        return Trust.TOO_FEW_GRADES
    if low > 0.5:
        return Trust.TRUSTED
    return Trust.INVERTED if high < 0.5 else Trust.NO_EVIDENCE


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r, how many pairs it rests on, or why there is none."""

    value: float | None
    pairs: int
    undefined: str | None = None
    """`no_scores`, or `constant` where one side never varies."""


def correlate(scores: Floats, grades: Floats) -> Correlation:
    """Return Pearson's correlation over the pairs in which both sides are known.

    >>> correlate(np.array([1, 2, np.nan, 4]), np.array([1.0, 2, 3, 4]))
    Correlation(value=1.0, pairs=3, undefined=None)
    >>> correlate(np.ones(4), np.array([0.0, 1, 0, 1]))
    Correlation(value=None, pairs=4, undefined='constant')
    """
    both = ~np.isnan(scores) & ~np.isnan(grades)
    x, y = scores[both], grades[both]
    if x.size < 2:
        return Correlation(None, x.size, "no_scores")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(None, x.size, "constant")
    return Correlation(round(float(np.corrcoef(x, y)[0, 1]), 15), x.size)


def share(part: float, whole: int) -> float | None:
    """Return the share, None of nothing."""
    return part / whole if whole else None
