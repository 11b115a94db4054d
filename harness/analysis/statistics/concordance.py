"""How well scores separate right answers from wrong ones.

Among answers to one question: the share of (right, wrong) pairs in which the right one scores
higher, against shuffled labels. Over all answers: AUC with its interval, and Pearson's r.

The questions are the sample of the AUC, not the cells: eight questions under six variants are
eight, not forty-eight. So its interval comes from leaving out one question at a time (a
jackknife on the logit scale, Student's t), which `tests/calibration` found to hold its level
at eight questions, where resampling them with replacement does not.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.analysis.statistics.intervals import jackknife_error, t_quantile
from harness.analysis.statistics.sign_flip import sign_flip
from harness.records import Floats

EXACT_UP_TO = 5_000
"""(right, wrong) pairs up to which the distribution under shuffled labels is counted out."""

FLIPS = 9_999
"""Random choices of signs where there are too many clusters to count all."""


@dataclass(frozen=True, slots=True, eq=False)
class GradedScores:
    """Scores of things that are known to be right or wrong."""

    scores: Floats
    """(cells,), oriented so that higher is better."""
    right: NDArray[np.bool_]
    questions: NDArray[np.int64]
    """The question of each cell, numbered from 0."""
    clusters: NDArray[np.int64] | None = None
    """The cluster of questions of each cell, numbered from 0; None where questions are
    independent."""

    @property
    def units(self) -> NDArray[np.int64]:
        """The independent unit of each cell: its cluster, else its question."""
        return self.questions if self.clusters is None else self.clusters


@dataclass(frozen=True, slots=True, eq=False)
class SameQuestion:
    """The right and the wrong answers to one question."""

    concordant: float
    """Pairs in which the right one scores higher, ties counting half."""
    rights: int
    wrongs: int
    ranks: NDArray[np.int64]
    """(answers,): twice the rank of each score, tied scores sharing their mean rank."""
    unit: int

    @property
    def pairs(self) -> int:
        """(right, wrong) pairs."""
        return self.rights * self.wrongs

    @property
    def excess(self) -> float:
        """Concordant pairs beyond half of all."""
        return self.concordant - self.pairs / 2

    @property
    def variance(self) -> float:
        """Of the concordant pairs under shuffled labels."""
        n = self.ranks.size
        return self.pairs / n * float((self.ranks / 2).var(ddof=1))

    @property
    def shuffled(self) -> Floats:
        """(2 pairs + 1,): the probability of 0, 1/2, 1, ... concordant pairs, shuffled labels."""
        counts = np.zeros((self.rights + 1, int(self.ranks.sum()) + 1))
        counts[0, 0] = 1
        for rank in self.ranks.tolist():
            counts[1:, rank:] += counts[:-1, :-rank].copy()
        lowest = self.rights * (self.rights + 1)
        sums = counts[-1, lowest : lowest + 2 * self.pairs + 1]
        return np.asarray(sums / sums.sum())


@dataclass(frozen=True, slots=True)
class Within:
    """How often the right one of two answers to the same question scores higher."""

    concordant: float
    pairs: int
    questions: int
    """Questions with right and wrong answers."""
    p: float
    """One-sided: the chance of as many concordant pairs, or more, if the score knew nothing."""
    p_below: float
    """The chance of as few, or fewer."""
    floor: float
    """The smallest p that any scores could reach with these right and wrong answers."""

    @property
    def share(self) -> float | None:
        """The share of concordant pairs; None without pairs."""
        return self.concordant / self.pairs if self.pairs else None


def within_questions(cells: GradedScores) -> Within:
    """Compare right with wrong answers to the same question.

    The test shuffles right and wrong within each question: what makes a question easy, or its
    scores high, cannot count. Where questions come in clusters, the excess of a whole cluster
    changes sign instead, so that its questions count as one piece of evidence.
    """
    found = list(same_question(cells))
    if cells.clusters is None:
        p, p_below = shuffle_p(found)
        floor = math.prod(1 / math.comb(one.ranks.size, one.rights) for one in found)
    else:
        p, p_below, floor = cluster_p(found)
    return Within(
        concordant=sum(one.concordant for one in found),
        pairs=sum(one.pairs for one in found),
        questions=len(found),
        p=p,
        p_below=p_below,
        floor=floor,
    )


def same_question(cells: GradedScores) -> Iterator[SameQuestion]:
    """Yield each question that has right and wrong answers."""
    order = np.argsort(cells.questions, kind="stable")
    starts = np.flatnonzero(np.diff(cells.questions[order])) + 1
    for at in np.split(order, starts):
        right, scores = cells.right[at], cells.scores[at]
        rights = int(right.sum())
        if 0 < rights < at.size:
            ranks = np.rint(2 * counted_below(scores, scores) + 1).astype(np.int64)
            concordant = (int(ranks[right].sum()) - rights * (rights + 1)) / 2
            unit = int(cells.units[at[0]])
            yield SameQuestion(concordant, rights, at.size - rights, ranks, unit)


def shuffle_p(found: list[SameQuestion]) -> tuple[float, float]:
    """Return the chance of at least, and of at most, as many concordant pairs.

    Counted out up to `EXACT_UP_TO` pairs; beyond them the normal distribution with the exact
    mean and variance.
    """
    if sum(one.pairs for one in found) > EXACT_UP_TO:
        from scipy.special import ndtr

        z = sum(one.excess for one in found) / math.sqrt(sum(one.variance for one in found))
        return float(ndtr(-z)), float(ndtr(z))
    chances = np.ones(1)
    for one in found:
        chances = np.convolve(chances, one.shuffled)
    at = round(2 * sum(one.concordant for one in found))
    return round(float(chances[at:].sum()), 12), round(float(chances[: at + 1].sum()), 12)


def cluster_p(found: list[SameQuestion]) -> tuple[float, float, float]:
    """Return the same two chances by flipping the signs of clusters, and the smallest p."""
    units = np.array([one.unit for one in found], np.int64)
    excess = np.bincount(units, [one.excess for one in found]).astype(np.float64)
    sums = excess[np.unique(units)]
    [test] = sign_flip([sums], FLIPS, seed=0)
    tail = 0.5 if test.p is None else test.p / 2
    above = tail if sums.sum() > 0 else 1 - tail
    return above, 1 - above, 2.0**-sums.size


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
    good, bad = cells.scores[cells.right], cells.scores[~cells.right]
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
