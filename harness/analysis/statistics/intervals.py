"""Confidence intervals: of a mean, of a mean paired difference, of a share.

Student's t is right for ratios and seconds, wrong where most questions do not change: there it
covers too rarely, and its width may be zero. `tests/calibration` checks by simulation that every
rule here has its nominal coverage of 95 %.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from harness.records import Floats

CHANGED, ALIKE = 2 / 3, 1 / 3
"""Prior weights of a changed and of an unchanged cell of the table of pairs, in questions.

Dirichlet(1/2, 1/2, 1/2) covers 0.927 where a fifth of 20 questions changes either way; moving a
sixth of a question from the unchanged cell to each changed one covers at least 0.934 there and
for 8, 50 and 200 questions, whatever the shares (`tests/calibration`)."""


LEAST_CHANGE = 0.5
"""Of a score in [0, 1] of a question that changes: the most that a sample of few changes may not
show. With the largest observed change alone an MRR of which one question in seven rises is covered
0.85 of the time at 13 questions, with this 0.95."""

TIED = 1e-3
"""Difference from which a question is not tied, the last digit that is printed; below it, it is
tied in part, so that an interval does not jump where a difference moves by 1e-9."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a mean, and the rule that made it."""

    low: float | None
    high: float | None
    rule: str


NO_INTERVAL = Interval(None, None, "none")


def interval(
    deltas: Floats, binary: bool, bounded: bool, alpha: float = 0.05, p: float | None = None
) -> Interval:
    """Return an interval of the mean difference that is never of zero width.

    Args:
        deltas: (units,) differences of questions, or of clusters of questions, without nan.
        binary: Each score was right or wrong: without repeats the table of pairs is what counts.
        bounded: Scores lie in [0, 1].
        alpha: One minus the coverage.
        p: Of the sign-flip test of the same differences: the interval then holds 0 exactly where
            p is above alpha.

    >>> interval(np.array([0.0, 0.5, 0.5, 1.0]), binary=False, bounded=True)
    Interval(low=-0.149..., high=1.0, rule='t')
    >>> interval(np.zeros(8), binary=False, bounded=True)
    Interval(low=-0.369..., high=0.369..., rule='t_sparse')
    """
    n = deltas.size
    if n < 2 or not (bounded or deltas.any()):
        return NO_INTERVAL
    if binary and np.isin(deltas, (-1.0, 0.0, 1.0)).all():
        gained, lost = int((deltas > 0).sum()), int((deltas < 0).sum())
        low, high = pair_table_interval(gained, lost, n, alpha)
        rule = "dirichlet"
    else:
        ties = tied_weight(deltas)
        low, high = tied_interval(deltas, ties, LEAST_CHANGE if bounded else 0.0, alpha)
        rule = "t_sparse" if ties else "t"
    found = stretched_to(float(deltas.mean()), Interval(low, high, rule))
    if p is not None:
        found = agreeing(found, float(deltas.mean()), p, alpha)
    assert found.low is not None
    assert found.high is not None
    return replace(found, low=max(found.low, -1.0), high=min(found.high, 1.0)) if bounded else found


def agreeing(found: Interval, mean: float, p: float, alpha: float) -> Interval:
    """Return the interval with the end next to 0 moved to the side of it that the test allows.

    Where p rejects 0 the end is the one that p implies, mean (1 - z(alpha) / z(p)) (Altman and
    Bland, BMJ 2011).

    >>> agreeing(Interval(-0.1, 0.7, "t"), 0.3, 0.0078125, 0.05)
    Interval(low=0.078..., high=0.7, rule='t')
    """
    from scipy.special import ndtri

    assert found.low is not None
    assert found.high is not None
    if p > alpha:
        return stretched_to(0.0, found)
    if found.low <= 0.0 <= found.high:
        end = mean * max(1 - float(ndtri(alpha / 2) / ndtri(p / 2)), 0.01)  # not 0 at p = alpha
        return replace(found, low=end) if mean > 0 else replace(found, high=end)
    return found


def stretched_to(number: float | None, found: Interval) -> Interval:
    """Return the interval, made to reach a number: the observed mean, of which a prior may keep it
    short. It only ever grows, so it covers no less than it did.

    >>> stretched_to(-1.0, Interval(-0.9, 0.1, "dirichlet"))
    Interval(low=-1.0, high=0.1, rule='dirichlet')
    """
    if number is None or found.low is None or found.high is None:
        return found
    return Interval(min(found.low, number), max(found.high, number), found.rule)


def wilson_interval(hits: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; from 0 to 1 where nothing was counted.

    >>> [round(end, 3) for end in wilson_interval(15, 24)]
    [0.427, 0.788]
    """
    from statsmodels.stats.proportion import proportion_confint

    if not n:
        return 0.0, 1.0
    low, high = proportion_confint(hits, n, method="wilson")
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


def tied_weight(deltas: Floats) -> float:
    """Return how far ties rule the differences: 0 up to a quarter of ties, 1 from half on.

    >>> tied_weight(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]))
    0.5
    """
    ties = float(np.clip(1 - np.abs(deltas) / TIED, 0.0, 1.0).mean())
    return min(max(4 * ties - 1, 0.0), 1.0)


def tied_interval(deltas: Floats, ties: float, least: float, alpha: float) -> tuple[float, float]:
    """Return Student's interval, wider where a sample says little of the questions not in it.

    - Where ties rule, the few questions that change carry all of the spread: half a question is
      added at the largest change either way, `least` or more.
    - Where all changed alike, a share of the questions may not have changed, or by twice as much:
      the upper end of the exact binomial interval for 0 out of n. Where none changed at all, that
      share may have done anything, if there is a `least`.

    It moves with the differences: no rule takes over from another at a threshold.
    """
    n, mean = deltas.size, float(deltas.mean())
    largest = float(np.abs(deltas).max())
    size = max(largest, least)
    middle = float(deltas.sum()) / (n + ties)
    squares = float(((deltas - middle) ** 2).sum()) + ties * (size**2 + middle**2)
    half = t_quantile(1 - alpha / 2, n - 1) * math.sqrt(squares / (n + ties) / (n - 1 + ties))
    unseen = 1 - (alpha / 2) ** (1 / n)
    unlike = abs(mean) - float(np.abs(deltas - mean).max())
    if least:
        unlike = max(unlike, 1 - largest / TIED)
    reach = unseen * max(unlike, 0.0)
    return min(middle - half, mean - reach), max(middle + half, mean + reach)


@lru_cache(maxsize=4096)
def pair_table_interval(gained: int, lost: int, n: int, alpha: float) -> tuple[float, float]:
    """Return the posterior interval of P(gained) - P(lost) under a Dirichlet prior.

    The cells are gained, lost and unchanged.
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
