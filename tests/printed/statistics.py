"""The statistics of the report once more, by other means: brute force, scipy and statsmodels.

Each function says which documented method it follows; none of them calls `harness`.
"""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy import stats

Values = np.ndarray
Interval = tuple[float | None, float | None]
NONE: Interval = (None, None)
ALPHA, POWER = 0.05, 0.8
TINY = 1e-9


def mean(values: Values) -> float | None:
    return float(np.mean(values)) if len(values) else None


def mean_interval(values: Values, binary: bool, bounded: bool, cost: bool = False) -> Interval:
    """Jeffreys' interval for shares right, else Student's t, within [0, 1] or above 0 for costs."""
    n = len(values)
    if n < 2:
        return NONE
    constant = np.ptp(values) < TINY
    if binary or (bounded and constant):
        right = values.sum()
        low, high = stats.beta.ppf([0.025, 0.975], right + 0.5, n - right + 0.5)
        return min(low, values.mean()), max(high, values.mean())
    if constant:
        return NONE
    low, high = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
    if bounded:
        return max(low, 0.0), min(high, 1.0)
    return (max(low, 0.0), high) if cost else (low, high)


def difference_interval(deltas: Values, binary: bool, bounded: bool) -> Interval:
    """The interval of a mean difference, by what the differences are like.

    Right or wrong: the posterior of P(gained) - P(lost) under Dirichlet(2/3, 2/3, 1/3) on gained,
    lost and unchanged. All alike: up to 1 - 0.025^(1/n) of the questions may do anything. Half or
    more unchanged: Student's t with half a question more at the largest change either way. Else
    Student's t.
    """
    n = len(deltas)
    if n < 2:
        return NONE
    if binary:
        low, high = gains_less_losses(deltas[deltas > 0].sum(), -deltas[deltas < 0].sum(), n)
        return min(low, deltas.mean()), max(high, deltas.mean())
    if np.ptp(deltas) < TINY:
        if not bounded:
            return NONE
        share = 1 - 0.025 ** (1 / n)
        middle = (1 - share) * deltas[0]
        return max(middle - share, -1.0), min(middle + share, 1.0)
    center, spread = deltas.mean(), stats.sem(deltas)
    if 2 * (np.abs(deltas) < TINY).sum() >= n:
        largest = np.abs(deltas).max()
        more = np.concatenate([np.repeat(deltas, 2), [largest, -largest]])  # halves of questions
        center, spread = more.mean(), math.sqrt(more.var() / n)
    low, high = stats.t.interval(0.95, n - 1, center, spread)
    return (max(low, -1.0), min(high, 1.0)) if bounded else (low, high)


def gains_less_losses(gained: float, lost: float, n: int) -> tuple[float, float]:
    """Quantiles of that posterior over 200 x 200 equally likely cells, as it is documented."""
    alpha = gained + 2 / 3, lost + 2 / 3, n - gained - lost + 1 / 3
    middles = (np.arange(200) + 0.5) / 200
    changing = stats.beta.ppf(middles, alpha[0] + alpha[1], alpha[2])
    upward = stats.beta.ppf(middles, alpha[0], alpha[1])
    grid = (changing[:, None] * (2 * upward[None, :] - 1)).ravel()
    return float(np.quantile(grid, 0.025)), float(np.quantile(grid, 0.975))


def sign_flip_p(deltas: Values) -> float | None:
    """The share of all choices of signs whose sum is as far from zero: every one is tried."""
    if not len(deltas):
        return None
    changed = deltas[deltas != 0]
    assert len(changed) <= 16, "too many to try them all"
    every = list(product((1.0, -1.0), repeat=len(changed)))
    signs = np.array(every).reshape(len(every), len(changed))
    return float((np.abs(signs @ changed) >= abs(changed.sum()) - TINY).mean())


def least_p(n: int) -> float | None:
    return 2.0 ** (1 - n) if n else None


def mcnemar_p(deltas: Values) -> float:
    gained, lost = int((deltas > 0).sum()), int((deltas < 0).sum())
    return float(stats.binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(p_values, method="holm")[1]] if len(p_values) else []


def detectable(deltas: Values, level: float) -> float | None:
    """The smallest difference that Student's t finds at this level with 80 % power."""
    n = len(deltas)
    if n < 2 or 2.0 ** (1 - n) > level:
        return None
    factor = stats.t.ppf(1 - level / 2, n - 1) + stats.t.ppf(POWER, n - 1)
    return float(factor * stats.sem(deltas))


def questions_needed(deltas: Values, level: float) -> int | None:
    """Questions for 80 % power by the normal formula with Guenther's correction."""
    if len(deltas) < 2 or not deltas.std() or not deltas.mean():
        return None
    z = stats.norm.ppf(1 - level / 2)
    effect = deltas.mean() / deltas.std(ddof=1)
    by_size = ((z + stats.norm.ppf(POWER)) / effect) ** 2 + z**2 / 2
    return math.ceil(max(by_size, 1 - math.log2(level), 2))


def auc(good: Values, bad: Values) -> float | None:
    """The chance that a right answer scores above a wrong one, ties half: every pair."""
    if not len(good) or not len(bad):
        return None
    above = good[:, None] > bad[None, :] + TINY
    equal = np.abs(good[:, None] - bad[None, :]) <= TINY
    return float((above + 0.5 * equal).mean())


def auc_interval(scores: Values, right: Values, questions: Values) -> Interval:
    """A jackknife over questions on the logit scale, Student's t; at 0 or 1 the exact bound."""
    whole = auc(scores[right], scores[~right])
    names = np.unique(questions)
    without = [
        auc(scores[right & (questions != q)], scores[~right & (questions != q)]) for q in names
    ]
    n = len(names)
    if whole is None or n < 2 or None in without:
        return NONE
    if whole in (0.0, 1.0):
        edge = 0.025 ** (1 / n)
        return (edge, 1.0) if whole else (0.0, 1 - edge)
    rest = np.array(without, float)
    spread = math.sqrt((n - 1) / n * ((rest - rest.mean()) ** 2).sum())
    half = stats.t.ppf(0.975, n - 1) * spread / (whole * (1 - whole))
    middle = math.log(whole / (1 - whole))
    return tuple(1 / (1 + math.exp(-x)) for x in (middle - half, middle + half))  # type: ignore[return-value]


def corrected(scores: Values, grades: Values) -> tuple[float, float, float] | None:
    """The share right by prediction-powered inference, Jeffreys' interval at what it is worth."""
    graded = ~np.isnan(grades) & ~np.isnan(scores)
    other = np.isnan(grades) & ~np.isnan(scores)
    y, f, g = grades[graded], scores[graded], scores[other]
    n, m = len(y), len(g)
    if n < 5:
        return None
    middle, worth, weight = y.mean(), float(n), 0.0
    if m and np.ptp(f) > 0 and np.ptp(y) > 0:
        weight = np.cov(y, f)[0, 1] / f.var(ddof=1) / (1 + n / m)
        weight = min(max(weight, 0.0), 1.0)
    if weight:
        variance = (y - weight * f).var(ddof=1) / n + weight**2 * f.var(ddof=1) / m
        worth = max(0.8 * n, (n - 2) * y.var(ddof=1) / n / variance)
        middle = min(max(middle + weight * (g.mean() - f.mean()), 0.0), 1.0)
    right, wrong = worth * middle + 0.5, worth * (1 - middle) + 0.5
    low, high = stats.beta(right, wrong).ppf([0.025, 0.975])
    return middle, min(low, middle), max(high, middle)
