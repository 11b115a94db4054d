"""How well scores separate right answers from wrong ones.

Among answers to one question: the share of (right, wrong) pairs in which the right one scores
higher, against shuffled grades. Over all answers: AUC with its interval, and Pearson's r.

The questions are the sample of the AUC, not the cells: eight questions under six variants are
eight, not forty-eight. So its interval comes from leaving out one question at a time (a
jackknife on the logit scale, Student's t), which `tests/calibration` found to hold its level
at eight questions, where resampling them with replacement does not.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.analysis.statistics.intervals import jackknife_error, t_quantile
from harness.analysis.statistics.sign_flip import sign_flip
from harness.records import Floats

EXACT_UP_TO = 5_000
"""Pairs of answers, and sets of grades left to place, up to which the distribution under
shuffled grades is counted out."""

FLIPS = 9_999
"""Random choices of signs where there are too many clusters to count all."""

FINEST = 60
"""Largest common denominator of shares right; finer ones are rounded to it."""


@dataclass(frozen=True, slots=True, eq=False)
class GradedScores:
    """Scores of things that are known to be right or wrong."""

    scores: Floats
    """(cells,), oriented so that higher is better."""
    right: Floats
    """(cells,): 1 right, 0 wrong, between them the share of its repeats that are right."""
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
    """Cells of one question, not all equally right."""

    ranks: NDArray[np.int64]
    """(cells,): twice the rank of each score, tied scores sharing their mean rank."""
    right: NDArray[np.int64]
    """(cells,): how many of `of` answers are right."""
    of: int
    unit: int

    @property
    def pairs(self) -> float:
        """Pairs of a right and a wrong answer in two cells, an answer in `of` as 1 / of."""
        total, squares = int(self.right.sum()), int((self.right**2).sum())
        return (self.of * (self.ranks.size - 1) * total - total**2 + squares) / self.of**2

    @property
    def excess(self) -> float:
        """Concordant pairs beyond half of all: the right one scores higher, ties count half."""
        return float((self.right * (self.ranks - self.ranks.mean())).sum()) / (2 * self.of)

    @property
    def variance(self) -> float:
        """Of the excess when the cells' grades are shuffled."""
        n = self.ranks.size
        return n**2 / (n - 1) * float(self.right.var() * self.ranks.var()) / (2 * self.of) ** 2

    @property
    def counts(self) -> list[int]:
        """How many cells have each grade, the lowest first."""
        return [int(count) for count in np.unique(self.right, return_counts=True)[1]]

    @property
    def arrangements(self) -> int:
        """In how many ways the cells' grades can be shuffled."""
        return math.factorial(self.ranks.size) // math.prod(map(math.factorial, self.counts))

    @property
    def least(self) -> int:
        """The smallest sum of rank times right, over all ways to shuffle."""
        return int(np.sort(self.right)[::-1] @ np.sort(self.ranks))

    @property
    def shuffled(self) -> Floats:
        """The probability of each sum of rank times right, from the least on, when shuffled."""
        levels = np.unique(self.right).tolist()
        most = int(np.sort(self.right) @ np.sort(self.ranks))
        # grades that are left -> in how many ways the others give each sum
        ways = {tuple(self.counts): np.eye(1, most + 1)[0]}
        for rank in self.ranks.tolist():
            following: dict[tuple[int, ...], Floats] = defaultdict(lambda: np.zeros(most + 1))
            for left, sums in ways.items():
                for at, level in enumerate(levels):
                    if left[at]:
                        rest = (*left[:at], left[at] - 1, *left[at + 1 :])
                        following[rest][level * rank :] += sums[: most + 1 - level * rank]
            ways = following
        [sums] = ways.values()
        return np.asarray(sums[self.least :] / sums.sum())


@dataclass(frozen=True, slots=True)
class Within:
    """How often the right one of two answers to the same question scores higher."""

    share: float | None
    """Of the pairs, ties counting half; None without pairs."""
    pairs: float
    """Pairs of a right and a wrong answer in two cells; repeats of a cell share its weight."""
    questions: int
    """Questions with such pairs."""
    p: float
    """One-sided: the chance of as high a share, or higher, if the score knew nothing."""
    p_below: float
    """The chance of as low a share, or lower."""
    floor: float
    """The smallest p that any scores could reach with these right and wrong answers."""


def within_questions(cells: GradedScores) -> Within:
    """Compare right with wrong answers to the same question.

    The test shuffles the cells' grades within each question: what makes a question easy, or its
    scores high, cannot count. Where questions come in clusters, the excess of a whole cluster
    changes sign instead, so that its questions count as one piece of evidence. Under both the
    runs' answers are exchangeable: a metric that favours a run for no reason is right by chance
    where that run is the better one.
    """
    found = list(same_question(cells))
    if cells.clusters is None:
        p, p_below = shuffle_p(found)
        floor = 1 / math.prod(one.arrangements for one in found)
    else:
        p, p_below, floor = cluster_p(found)
    pairs = sum(one.pairs for one in found)
    excess = sum(one.excess for one in found)
    return Within(
        share=0.5 + excess / pairs if pairs else None,
        pairs=pairs,
        questions=len(found),
        p=p,
        p_below=p_below,
        floor=floor,
    )


def same_question(cells: GradedScores) -> Iterator[SameQuestion]:
    """Yield each question whose cells are not all equally right."""
    shares = cells.right
    of = next(n for n in range(1, FINEST + 1) if n == FINEST or is_whole(n * shares))
    right = np.rint(of * shares).astype(np.int64)
    order = np.argsort(cells.questions, kind="stable")
    starts = np.flatnonzero(np.diff(cells.questions[order])) + 1
    for at in np.split(order, starts):
        if at.size and np.ptp(right[at]):
            scores = cells.scores[at]
            ranks = np.rint(2 * counted_below(scores, scores) + 1).astype(np.int64)
            yield SameQuestion(ranks, right[at], of, int(cells.units[at[0]]))


def is_whole(values: Floats) -> bool:
    """Return whether every value is a whole number, rounding apart."""
    return bool((np.abs(values - np.rint(values)) < 1e-9).all())


def shuffle_p(found: list[SameQuestion]) -> tuple[float, float]:
    """Return the chance of at least, and of at most, as many concordant pairs.

    Counted out up to `EXACT_UP_TO`; beyond it the normal distribution with the exact mean and
    variance.
    """
    pairs = sum(one.pairs * one.of for one in found)
    sets = sum(math.prod(count + 1 for count in one.counts) for one in found)
    if max(pairs, sets) > EXACT_UP_TO:
        from scipy.special import ndtr

        spread = math.sqrt(sum(one.variance for one in found))
        z = sum(one.excess for one in found) / (spread or 1.0)
        return float(ndtr(-z)), float(ndtr(z))
    chances, at = np.ones(1), 0
    for one in found:
        chances = np.convolve(chances, one.shuffled)
        at += int(one.right @ one.ranks) - one.least
    return round(float(chances[at:].sum()), 12), round(float(chances[: at + 1].sum()), 12)


def cluster_p(found: list[SameQuestion]) -> tuple[float, float, float]:
    """Return the same two chances by flipping the signs of clusters, and the smallest p.

    The chance against the direction of the data is 1 less the other: it is near 1 or a half.
    """
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
    """Compare every right one with every wrong one, and again without each unit.

    A cell that is partly right is neither.
    """
    right, wrong = cells.right == 1, cells.right == 0
    good, bad = cells.scores[right], cells.scores[wrong]
    good_units, bad_units = cells.units[right], cells.units[wrong]
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
