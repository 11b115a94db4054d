"""How well scores separate right answers from wrong ones: AUC with its interval, and Pearson's r.

The questions are the sample, not the cells: eight questions under six variants are eight, not
forty-eight. So the interval of the AUC comes from leaving out one question at a time (a
jackknife on the logit scale, Student's t), which `tests/calibration` found to hold its level
at eight questions, where resampling them with replacement does not.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.analysis.statistics.intervals import jackknife_error, t_quantile
from harness.records import Floats


@dataclass(frozen=True, slots=True, eq=False)
class GradedScores:
    """Scores of things that are known to be right or wrong."""

    scores: Floats
    """(cells,), oriented so that higher is better."""
    right: NDArray[np.bool_]
    units: NDArray[np.int64]
    """The independent unit of each cell, numbered from 0: its question."""

    @property
    def good(self) -> Floats:
        """Scores of the right ones."""
        return self.scores[self.right]

    @property
    def bad(self) -> Floats:
        """Scores of the wrong ones."""
        return self.scores[~self.right]

    def where(self, chosen: NDArray[np.bool_]) -> "GradedScores":
        """Return the chosen cells."""
        return GradedScores(self.scores[chosen], self.right[chosen], self.units[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Concordance:
    """How often a right one scores above a wrong one, ties counting half."""

    concordant: float
    pairs: int
    left_out: Floats
    """(units,): the AUC without this unit; nan where no pair is left."""

    @property
    def auc(self) -> float | None:
        """The share of concordant pairs; None without pairs."""
        return self.concordant / self.pairs if self.pairs else None


def concordance(cells: GradedScores) -> Concordance:
    """Compare every right one with every wrong one, and again without each unit."""
    good, bad = cells.good, cells.bad
    good_units, bad_units = cells.units[cells.right], cells.units[~cells.right]
    size = int(cells.units.max(initial=-1)) + 1
    below = counted_below(good, bad)
    above = good.size - counted_below(bad, good)
    rights, wrongs = (np.bincount(units, minlength=size) for units in (good_units, bad_units))
    own = np.zeros(size)
    for q in np.flatnonzero((rights > 0) & (wrongs > 0)).tolist():
        own[q] = counted_below(good[good_units == q], bad[bad_units == q]).sum()
    concordant, pairs = float(below.sum()), good.size * bad.size
    lost = np.bincount(good_units, below, size) + np.bincount(bad_units, above, size) - own
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
    """Return the interval of the AUC over units; None where one unit decides it all."""
    auc, without = found.auc, found.left_out
    n = without.size
    if auc is None or n < 2 or np.isnan(without).any():
        return None, None
    if auc in (0.0, 1.0):
        # every pair alike: the exact binomial bound with a unit as one trial
        edge = (alpha / 2) ** (1 / n)
        return (edge, 1.0) if auc else (0.0, 1 - edge)
    half = t_quantile(1 - alpha / 2, n - 1) * jackknife_error(without) / (auc * (1 - auc))
    middle = math.log(auc / (1 - auc))
    return logistic(middle - half), logistic(middle + half)


def logistic(x: float) -> float:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return (1 + math.tanh(x / 2)) / 2


def pearson(scores: Floats, grades: Floats) -> float | None:
    """Return Pearson's correlation; None below two pairs, and where one side never varies.

    >>> pearson(np.array([1.0, 2, 4]), np.array([1.0, 2, 4])), pearson(np.ones(2), np.arange(2.0))
    (1.0, None)
    """
    if scores.size < 2 or np.ptp(scores) == 0 or np.ptp(grades) == 0:
        return None
    return round(float(np.corrcoef(scores, grades)[0, 1]), 15)
