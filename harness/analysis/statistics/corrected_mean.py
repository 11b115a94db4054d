"""Means of a judge's scores, corrected for the error that human grades reveal."""

from dataclasses import dataclass

import numpy as np

from harness.analysis.statistics.intervals import t_quantile
from harness.records import Floats

ENOUGH = 20
"""Graded answers in a study from which its judge is worth correcting."""

FEWEST = 5
"""Graded answers of a run below which its own mean is not corrected."""


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """The share of right answers that a judge's scores and the graded subset together imply."""

    mean: float | None
    low: float | None = None
    high: float | None = None


def corrected_mean(scores: Floats, grades: Floats, alpha: float = 0.05) -> CorrectedMean:
    """Estimate the share of right answers by prediction-powered inference.

    The graded answers give the share; the scores of the ungraded ones add what they know about
    it, weighted by how well scores and grades go together (Angelopoulos and others, 2023), so
    a useless judge changes nothing.

    Args:
        scores: (questions,) of a metric in [0, 1], nan where NA.
        grades: (questions,), 1 right, 0 wrong, nan where nobody graded.
        alpha: One minus the coverage.

    >>> corrected_mean(np.full(9, 0.7), np.array([1, 1, 0, 1, 0, 1, 1, np.nan, np.nan]))
    CorrectedMean(mean=0.714..., low=0.26..., high=1.0)
    """
    graded = ~np.isnan(grades) & ~np.isnan(scores)
    other = np.isnan(grades) & ~np.isnan(scores)
    y, f, g = grades[graded], scores[graded], scores[other]
    n = y.size
    if n < FEWEST:
        return CorrectedMean(None)
    weight = 0.0
    if g.size and np.ptp(f) > 0:
        slope = float(np.cov(y, f)[0, 1]) / float(f.var(ddof=1))
        weight = min(max(slope / (1 + n / g.size), 0.0), 1.0)
    mean = float(y.mean())
    variance = float((y - weight * f).var(ddof=1)) / n
    if weight:
        mean += weight * (float(g.mean()) - float(f.mean()))
        variance += weight**2 * float(f.var(ddof=1)) / g.size
    half = t_quantile(1 - alpha / 2, n - 1) * variance**0.5
    return CorrectedMean(*(min(max(x, 0.0), 1.0) for x in (mean, mean - half, mean + half)))
