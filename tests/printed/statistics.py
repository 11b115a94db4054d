"""The statistics of the report once more, by other means: brute force, scipy and statsmodels.

Each function says which documented method it follows; none of them calls `harness`.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import brentq

Values = np.ndarray
Interval = tuple[float | None, float | None]
NONE: Interval = (None, None)
ALPHA, POWER = 0.05, 0.8
TINY = 1e-9


def mean(values: Values) -> float | None:
    return float(np.mean(values)) if len(values) else None


def mean_interval(values: Values, binary: bool, bounded: bool, cost: bool = False) -> Interval:
    """Jeffreys' interval for shares right, else Student's t, within [0, 1] or above 0 for costs.

    In [0, 1] half a question is added at 0 and at 1 where half of the scores or more are at one
    of them, and part of it from a quarter on.
    """
    n, center = len(values), np.mean(values) if len(values) else 0.0
    if n < 2:
        return NONE
    if binary and np.isin(values, (0.0, 1.0)).all():
        right = values.sum()
        low, high = stats.beta.ppf([0.025, 0.975], right + 0.5, n - right + 0.5)
    elif bounded:
        ties = max(tied(values), tied(1 - values))
        low, high = 0.5 + np.array(with_ties(values - 0.5, ties, 0.5))
    elif np.ptp(values) < TINY:
        return NONE
    else:
        low, high = stats.t.interval(0.95, n - 1, center, stats.sem(values))
    low, high = min(low, center), max(high, center)
    if bounded:
        return max(low, 0.0), min(high, 1.0)
    return (max(low, 0.0), high) if cost else (low, high)


def tied(values: Values) -> float:
    """From 0, where a quarter are 0, to 1, where half are; what is below 0.001 is 0 in part."""
    share = sum(max(0.0, 1 - abs(value) / 0.001) for value in values) / len(values)
    return min(1.0, max(0.0, 4 * share - 1))


def with_ties(values: Values, ties: float, size: float) -> tuple[float, float]:
    """Student's t over the values and `ties` more, half at `size` and half at -`size`.

    Where all are alike it reaches at least as far as up to 1 - 0.025^(1/n) of the questions could
    bring it: each by the smallest of the values, or by 1 where all are 0.
    """
    n, center = len(values), values.mean()
    weights = np.concatenate([np.ones(n), [ties / 2, ties / 2]])
    more = np.concatenate([values, [size, -size]])
    middle = np.average(more, weights=weights)
    variance = np.average((more - middle) ** 2, weights=weights)
    half = stats.t.ppf(0.975, n - 1) * math.sqrt(variance / (n - 1 + ties))
    unlike = abs(center) - np.abs(values - center).max()
    if size >= 0.5:
        unlike = max(unlike, 1 - np.abs(values).max() / 0.001)
    reach = (1 - 0.025 ** (1 / n)) * max(unlike, 0.0)
    return min(middle - half, center - reach), max(middle + half, center + reach)


def difference_interval(deltas: Values, binary: bool, bounded: bool, p: float | None) -> Interval:
    """The interval of a mean difference, by what the differences are like.

    Right or wrong: the posterior of P(gained) - P(lost) under Dirichlet(2/3, 2/3, 1/3) on gained,
    lost and unchanged. Else Student's t, with half a question more either way where ties rule: at
    the largest change, or at 0.5 where a bounded metric changed by less. It holds 0 where p is
    above 0.05; elsewhere the end next to 0 is the one that p implies, if t reaches beyond 0.
    """
    n = len(deltas)
    if n < 2 or not (bounded or deltas.any()):
        return NONE
    center, largest = deltas.mean(), np.abs(deltas).max()
    if binary and np.isin(deltas, (-1.0, 0.0, 1.0)).all():
        low, high = gains_less_losses(deltas[deltas > 0].sum(), -deltas[deltas < 0].sum(), n)
    else:
        low, high = with_ties(deltas, tied(deltas), max(largest, 0.5) if bounded else largest)
    low, high = min(low, center), max(high, center)
    if p is not None and p > ALPHA:
        low, high = min(low, 0.0), max(high, 0.0)
    elif p is not None and low <= 0 <= high:
        end = center * (1 - stats.norm.isf(ALPHA / 2) / stats.norm.isf(p / 2))
        low, high = (end, high) if center > 0 else (low, end)
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
    return two_sided_coin_p(int((deltas > 0).sum()), int((deltas < 0).sum()))


def two_sided_coin_p(one: int, other: int) -> float:
    return float(stats.binomtest(one, one + other).pvalue) if one + other else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(p_values, method="holm")[1]] if len(p_values) else []


def gated_min_p(
    rows: Sequence[Values], places: Sequence[tuple[Hashable, int]]
) -> list[float | None]:
    """p after step-down minP with gates, under all 2^n choices of signs; None behind a gate.

    A place is a change and a step. The changes that have a step 0 share the level equally; who
    passes leaves its share to the next step of its change that is still to pass, or to all that
    are open. Of the open tests the least p for its share is compared with the least under each
    choice of signs.
    """
    if not rows:
        return []
    signs = np.array(list(product((1.0, -1.0), repeat=len(rows[0]))))
    sums = np.abs(signs @ np.nan_to_num(np.array(rows)).T).round(9)
    counts = stats.rankdata(-sums, method="max", axis=0).astype(int)
    first = [change for change, step in places if step == 0]
    shares = {
        at: Fraction(1, len(set(first)) * first.count(change))
        for at, (change, step) in enumerate(places)
        if step == 0
    }
    adjusted: dict[int, float] = {}
    reached = 0.0
    while shares:
        # whole numbers, so that what is equal stays equal
        whole = math.lcm(*(share.numerator for share in shares.values()))
        ratios = {at: counts[:, at] * int(whole / share) for at, share in shares.items()}
        least = np.min(list(ratios.values()), axis=0)
        p = {at: float(np.mean(least <= own[0])) for at, own in ratios.items()}
        best = min(shares, key=lambda at: ratios[at][0])
        reached = max(reached, p[best])
        if reached > ALPHA:
            adjusted |= {at: max(reached, p[at]) for at in shares}
            break
        adjusted[best], left = reached, shares.pop(best)
        change, step = places[best]
        behind = {
            at: place[1]
            for at, place in enumerate(places)
            if place[0] == change and place[1] > step and at not in adjusted
        }
        heirs = [at for at in behind if behind[at] == min(behind.values())] or list(shares)
        for at in heirs:
            shares[at] = shares.get(at, Fraction()) + left / len(heirs)
    return [adjusted.get(at) for at in range(len(rows))]


@dataclass(frozen=True)
class Turned:
    """Questions that one change turned, the number by chance, and the chance of as many."""

    questions: list[str]
    expected: float
    p: float


def turned(grades: pd.DataFrame, wrong: Sequence[str], right: Sequence[str]) -> Turned:
    """Runs that are all wrong, and others all right: drawn from the known ones without return."""
    questions, chances = [], []
    for question, column in grades.items():
        known = column.dropna()
        if not {*wrong, *right} <= set(known.index):
            continue
        if (known[wrong] == 0).all() and (known[right] == 1).all():
            questions.append(str(question))
        zeros = stats.hypergeom(len(known), (known == 0).sum(), len(wrong)).pmf(len(wrong))
        ones = stats.hypergeom(len(known) - len(wrong), (known == 1).sum(), len(right))
        chances.append(float(zeros * ones.pmf(len(right))) if zeros else 0.0)
    several = np.poly1d([1.0])
    for chance in chances:
        several *= np.poly1d([chance, 1 - chance])
    return Turned(questions, sum(chances), float(several.c[::-1][len(questions) :].sum()))


def detectable(deltas: Values, level: float, binary: bool) -> float | None:
    """The smallest difference found at this level with 80 % power.

    By Student's t, but where all must lie on one side; for right and wrong the share of questions
    of which, with 80 % power, as many change as the exact test asks for.
    """
    n = len(deltas)
    if n < 2 or 2.0 ** (1 - n) > level or deltas.std() < TINY:
        return None
    if binary and np.isin(deltas, (-1.0, 0.0, 1.0)).all():
        fewest = changes_needed(level)
        return float(brentq(lambda d: stats.binom.sf(fewest - 1, n, d) - POWER, 0, 1, xtol=1e-12))
    factor = (stats.t.ppf(1 - level / 2, n - 1) + stats.t.ppf(POWER, n - 1)) / math.sqrt(n)
    if 2.0 ** (2 - n) > level:
        factor = max(factor, stats.norm.ppf(POWER ** (1 / n)))
    return float(factor * deltas.std(ddof=1))


def changes_needed(level: float) -> int:
    return next(n for n in range(1, 100) if 2.0 ** (1 - n) <= level)


def questions_needed(deltas: Values, level: float, binary: bool) -> int | None:
    """Questions for 80 % power by the normal formula with Guenther's correction.

    For right and wrong at least as many as the exact test needs where all changes go one way.
    """
    if len(deltas) < 2 or not deltas.mean():
        return None
    z = stats.norm.ppf(1 - level / 2)
    effect = deltas.mean() / deltas.std(ddof=1) if deltas.std() else math.inf
    by_size = ((z + stats.norm.ppf(POWER)) / effect) ** 2 + z**2 / 2
    needed = math.ceil(max(by_size, changes_needed(level), 2))
    if binary and np.isin(deltas, (-1.0, 0.0, 1.0)).all():
        fewest, share = changes_needed(level), abs(deltas.mean())
        while stats.binom.sf(fewest - 1, needed, share) < POWER:
            needed += 1
    return needed


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


@dataclass(frozen=True)
class Within:
    """Right against wrong answers to the same question."""

    share: float | None
    p: float | None
    pairs: float
    questions: int
    verdict: str


def within(scores: Values, right: Values, questions: Values) -> Within:
    """Every two cells of a question, one's share right times the other's share wrong.

    Against every way to shuffle the shares.
    """
    chances, concordant, pairs, count, fewest = {0.0: 1.0}, 0.0, 0.0, 0, 1.0
    for q in np.unique(questions):
        own, shares = scores[questions == q], right[questions == q]
        if np.ptp(shares) < TINY:
            continue
        above = (own[:, None] > own + TINY) + 0.5 * (np.abs(own[:, None] - own) <= TINY)
        np.fill_diagonal(above, 0.0)
        orders = [np.array(order) for order in set(permutations(shares.tolist()))]
        sums = [round(float(order @ above @ (1 - order)), 9) for order in orders]
        following: dict[float, float] = defaultdict(float)
        for (total, chance), one in product(chances.items(), sums):
            following[round(total + one, 9)] += chance / len(sums)
        concordant += float(shares @ above @ (1 - shares))
        pairs += float(shares.sum() * (1 - shares).sum() - shares @ (1 - shares))
        chances, fewest, count = following, fewest / len(sums), count + 1
    if not pairs:
        return Within(None, None, 0.0, 0, "not checkable")
    p = sum(chance for total, chance in chances.items() if total >= concordant - TINY)
    below = sum(chance for total, chance in chances.items() if total <= concordant + TINY)
    verdict = "trusted" if p <= ALPHA else "inverted" if below <= ALPHA else "no evidence"
    found = "too few grades" if fewest > ALPHA else verdict
    return Within(concordant / pairs, p, pairs, count, found)


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
