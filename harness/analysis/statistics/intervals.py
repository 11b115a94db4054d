"""Confidence intervals: of a mean, of a mean paired difference, of a share.

Student's t is right for ratios and seconds, wrong where most questions do not change: there it
covers too rarely, and its width may be zero. `tests/calibration` checks by simulation that every
rule here has its nominal coverage of 95 %.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from harness.records import Floats

CHANGED, ALIKE = 2 / 3, 1 / 3
"""Prior weights of a changed and of an unchanged cell of the table of pairs, in questions.

Dirichlet(1/2, 1/2, 1/2) covers 0.927 where a fifth of 20 questions changes either way; moving a
sixth of a question from the unchanged cell to each changed one covers at least 0.934 there and
for 8, 50 and 200 questions, whatever the shares (`tests/calibration`)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a mean, and the rule that made it."""

    low: float | None
    high: float | None
    rule: str


NO_INTERVAL = Interval(None, None, "none")


def interval(deltas: Floats, binary: bool, bounded: bool, alpha: float = 0.05) -> Interval:
    """Return an interval of the mean difference that is never of zero width.

    Args:
        deltas: (units,) differences of questions, or of clusters of questions, without nan.
        binary: Each score was right or wrong, so the table of pairs is what counts.
        bounded: Scores lie in [0, 1].
        alpha: One minus the coverage.

    >>> interval(np.array([0.0, 0.5, 0.5, 1.0]), binary=False, bounded=True)
    Interval(low=-0.149..., high=1.0, rule='t')
    >>> interval(np.zeros(8), binary=False, bounded=True)
    Interval(low=-0.369..., high=0.369..., rule='unchanged')
    """
    n = deltas.size
    if n < 2:
        return NO_INTERVAL
    if binary:
        # rounded, so that equal thirds of repeats are worked out once
        gained, lost = (round(float(side.clip(min=0).sum()), 9) for side in (deltas, -deltas))
        found = Interval(*pair_table_interval(gained, lost, n, alpha), "dirichlet")
        return stretched_to(float(deltas.mean()), found)
    if np.ptp(deltas) <= tolerance(deltas):
        return unchanged(float(deltas[0]), n, alpha) if bounded else NO_INTERVAL
    sparse = 2 * np.count_nonzero(np.abs(deltas) <= tolerance(deltas)) >= n
    low, high = sparse_interval(deltas, alpha) if sparse else t_interval(deltas, alpha)
    rule = "t_sparse" if sparse else "t"
    return Interval(max(low, -1.0), min(high, 1.0), rule) if bounded else Interval(low, high, rule)


def stretched_to(mean: float, found: Interval) -> Interval:
    """Return the interval, made to reach the observed mean where its prior keeps it short of it.

    It only ever grows, so it covers no less than it did.

    >>> stretched_to(-1.0, Interval(-0.9, 0.1, "dirichlet"))
    Interval(low=-1.0, high=0.1, rule='dirichlet')
    """
    if found.low is None or found.high is None:
        return found
    return Interval(min(found.low, mean), max(found.high, mean), found.rule)


def wilson_interval(hits: int, n: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return Wilson's interval of a share; from 0 to 1 where nothing was counted.

    >>> [round(end, 3) for end in wilson_interval(15, 24)]
    [0.427, 0.788]
    """
    from statsmodels.stats.proportion import proportion_confint

    if not n:
        return 0.0, 1.0
    low, high = proportion_confint(hits, n, alpha, method="wilson")
    return float(low), float(high)


def t_interval(values: Floats, alpha: float) -> tuple[float, float]:
    """Return Student's interval of the mean."""
    half = t_quantile(1 - alpha / 2, values.size - 1) * standard_error(values)
    return float(values.mean()) - half, float(values.mean()) + half


def jackknife_error(without: Floats) -> float:
    """Return the standard error of an estimate from what it is without each unit, one at a time.

    >>> jackknife_error(np.array([0.25, 0.5, 0.75]))
    0.288...
    """
    n = without.size
    return math.sqrt((n - 1) / n * float(((without - without.mean()) ** 2).sum()))


def sparse_interval(deltas: Floats, alpha: float) -> tuple[float, float]:
    """Return Student's interval after adding half a question at the largest change either way.

    Where most questions do not change, the few that do carry all of the spread, and a sample
    that happens to miss them looks far too sure.
    """
    n = deltas.size
    largest = float(np.abs(deltas).max())
    mean = float(deltas.sum()) / (n + 1)
    variance = (float((deltas**2).sum()) + largest**2) / (n + 1) - mean**2
    half = t_quantile(1 - alpha / 2, n - 1) * math.sqrt(variance / n)
    return mean - half, mean + half


def unchanged(change: float, n: int, alpha: float) -> Interval:
    """Return what n equal changes allow: up to this share of questions may do anything.

    The share is the upper end of the exact binomial interval for 0 out of n.
    """
    share = 1 - (alpha / 2) ** (1 / n)
    middle = (1 - share) * change
    return Interval(max(middle - share, -1.0), min(middle + share, 1.0), "unchanged")


@lru_cache(maxsize=4096)
def pair_table_interval(gained: float, lost: float, n: int, alpha: float) -> tuple[float, float]:
    """Return the posterior interval of P(gained) - P(lost) under a Dirichlet prior.

    The cells are gained, lost and unchanged. Repeats give fractions of a question, which count
    as that much of one.
    """
    from scipy.special import betaincinv

    up, down, alike = gained + CHANGED, lost + CHANGED, n - gained - lost + ALIKE
    middles = (np.arange(200) + 0.5) / 200
    changing = betaincinv(up + down, alike, middles)
    upward = betaincinv(up, down, middles)
    # changing and upward are independent, so their grid of equal weights is the posterior
    grid = np.multiply.outer(changing, 2 * upward - 1).ravel()
    low, high = np.quantile(grid, [alpha / 2, 1 - alpha / 2])
    return float(low), float(high)


def standard_error(values: Floats) -> float:
    """Return the standard error of the mean."""
    return float(values.std(ddof=1)) / math.sqrt(values.size)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: int) -> float:
    """Return a quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def tolerance(values: Floats) -> float:
    """Return how far apart two numbers may be that were meant to be equal."""
    return 1e-12 * max(1.0, float(np.abs(values).max(initial=0.0)))
