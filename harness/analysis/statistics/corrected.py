"""Shares of right answers, and differences of them, from the grades of a random sample.

The graded answers give the share; a metric's scores of the ungraded ones add what they know about
it, weighted by how well scores and grades go together, so a useless metric changes nothing
(prediction-powered inference; Angelopoulos and others, PPI++, 2023). Where the graded answers are
no random sample, the results are wrong.
"""

from dataclasses import dataclass

import numpy as np

from harness.analysis.statistics.intervals import ALIKE, CHANGED, pair_table_interval
from harness.records import Floats

ALPHA = 0.05
"""One minus the coverage of the intervals."""

ENOUGH = 20
"""Graded answers in a study from which its judge is worth correcting."""

FEWEST = 5
"""Graded answers, or pairs of them, below which nothing is corrected."""

WEIGHED = 8
"""Graded pairs below which a metric does not enter a difference: its weight would be chance."""

MIDDLES = (np.arange(100) + 0.5) / 100
"""Probabilities of equal weight, at which a distribution is represented by its quantiles."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, and the number of graded answers that would give it as precisely without a metric."""

    mean: float
    size: float


def corrected_mean(
    scores: Floats, grades: Floats, chances: Floats | None = None
) -> tuple[float, float, float] | tuple[None, None, None]:
    """Return the share of right answers with its interval: Jeffreys' at the effective size.

    Args:
        scores: (questions,) of a metric in [0, 1], nan where NA.
        grades: (questions,), 1 right, 0 wrong, nan where there is no grade; a random sample.
        chances: (questions,), the chance that each question had of being drawn first; None where
            they were equal.

    >>> [round(x, 3) for x in corrected_mean(np.full(8, 0.7), np.array([1] * 5 + [np.nan] * 3))]
    [1.0, 0.621, 1.0]
    """
    from scipy.special import betaincinv

    scored = ~np.isnan(scores)
    graded = scored & ~np.isnan(grades)
    if graded.sum() < FEWEST:
        return None, None, None
    weights = None if chances is None else drawn_weights(chances[graded], int(scored.sum()))
    found = prediction_powered(grades[graded], scores[graded], scores[scored & ~graded], weights)
    mean = min(max(found.mean, 0.0), 1.0)
    right, wrong = found.size * mean, found.size * (1 - mean)
    low, high = betaincinv(right + 0.5, wrong + 0.5, [ALPHA / 2, 1 - ALPHA / 2]).tolist()
    return mean, min(low, mean), max(high, mean)


def corrected_difference(
    deltas: Floats, guesses: Floats, chances: Floats | None, questions: int
) -> tuple[Estimate, tuple[float, float]]:
    """Return the mean difference over the changed questions, and an interval over all questions.

    The other questions have the same answer on both sides, so their difference is exactly 0.

    Args:
        deltas: (changed,) differences by grades of a random sample, nan where ungraded.
        guesses: (changed,) differences by a metric.
        chances: As for `corrected_mean`.
        questions: Number of all questions.

    >>> found, ends = corrected_difference(np.array([1.0, 0, 1, -1]), np.zeros(4), None, 12)
    >>> found.mean, [round(end, 2) for end in ends]
    (0.25, [-0.22, 0.37])
    """
    graded = ~np.isnan(deltas)
    y, changed = deltas[graded], deltas.size
    weights = None if chances is None else drawn_weights(chances[graded], changed)
    guesses = guesses if y.size >= WEIGHED else np.zeros(changed)
    found = prediction_powered(y, guesses[graded], guesses[~graded], weights)
    share = float(np.abs(y).mean())
    found = Estimate(min(max(found.mean, -1.0), 1.0), found.size)
    alike = not np.ptp(y)
    return found, difference_interval(found, share, alike, changed, questions)


def prediction_powered(y: Floats, f: Floats, g: Floats, weights: Floats | None = None) -> Estimate:
    """Return the mean of y in the population, by the predictions f of y and g of what is unknown.

    The size is n where y is constant or the predictions have no weight, else
    max(0.8 n, (n - 2) * variance of the mean of y / variance of the estimate).

    Args:
        y: (n,).
        f: (n,).
        g: (others,).
        weights: (n,), adding up to 1; None where they are equal. n is then Kish's effective number.
    """
    w = np.full(y.size, 1 / y.size) if weights is None else weights
    n = round(1 / float((w**2).sum()), 9)
    mean = float(np.average(y, weights=weights))
    if not g.size or not np.ptp(y) or not np.ptp(f):
        return Estimate(mean, n)

    def covariance(one: Floats, other: Floats) -> float:
        return float(w @ ((one - w @ one) * (other - w @ other))) * n / (n - 1)

    slope = covariance(y, f) / covariance(f, f)
    weight = min(max(slope / (1 + n / g.size), 0.0), 1.0)
    if not weight:
        return Estimate(mean, n)
    rest = y - weight * f
    variance = covariance(rest, rest) / n + weight**2 * covariance(f, f) / g.size
    mean += weight * (float(g.mean()) - float(w @ f))
    return Estimate(mean, max(0.8 * n, (n - 2) * covariance(y, y) / n / variance))


def drawn_weights(chances: Floats, population: int) -> Floats:
    """Return the weights of questions that were drawn one by one, without replacement.

    A question with chance p of being drawn first is in the sample with 1 - exp(-t p), at the t
    for which the weights, which are inverse to that, would add up to the population. They are
    scaled to add up to 1.

    >>> drawn_weights(np.array([0.1, 0.1, 0.3]), 6).round(2).tolist()
    [0.4, 0.4, 0.21]
    """
    from scipy.optimize import brentq

    n = chances.size
    if n >= population or not np.ptp(chances):
        return np.full(n, 1 / n)

    def inverse(log_time: float) -> Floats:
        return np.asarray(-1 / np.expm1(-np.exp(log_time) * chances))

    ends = np.log([0.1 / population / chances.max(), 50 / chances.min()])
    weights = inverse(brentq(lambda time: float(inverse(time).sum()) - population, *ends))
    return np.asarray(weights / weights.sum())


def difference_interval(
    found: Estimate, share: float, alike: bool, changed: int, questions: int
) -> tuple[float, float]:
    """Return the interval of the mean difference over all questions, never of zero width.

    It is that of `pair_table_interval` where every changed question is graded. Else it is the
    posterior of the share of changed questions times that of the mean among them.

    Args:
        found: Over the changed questions.
        share: The mean of the absolute differences among the graded ones.
        alike: These are all equal: up to the share of the exact binomial interval for 0 out of n
            may then do anything.
        changed: Number of questions whose answers differ.
        questions: Number of all questions.
    """
    from scipy.special import betaincinv

    mean, size = found.mean, found.size
    moved = size * max(share, abs(mean))
    gained, lost = (moved + size * mean) / 2, (moved - size * mean) / 2
    if size >= changed:
        ends = pair_table_interval(round(gained, 9), round(lost, 9), questions, ALPHA)
    else:
        up, down, rest = gained + 0.5, lost + 0.5, size - moved + ALIKE / 2
        if alike:
            strange = betaincinv(1, size, MIDDLES)
            middle = (1 - strange) * mean
            inner = np.concatenate([middle - strange, middle + strange]).clip(-1, 1)
        else:
            changing = betaincinv(up + down, rest, MIDDLES)
            upward = betaincinv(up, down, MIDDLES)
            inner = np.quantile(np.multiply.outer(changing, 2 * upward - 1), MIDDLES)
        changes = changed + 2 * CHANGED + ALIKE / 2
        shares = betaincinv(changes, questions - changed + ALIKE / 2, MIDDLES)
        low, high = np.quantile(np.multiply.outer(shares, inner), [ALPHA / 2, 1 - ALPHA / 2])
        ends = float(low), float(high)
    whole = mean * changed / questions
    return min(ends[0], whole), max(ends[1], whole)
