"""How far two people agree on what is right, beyond what chance alone would bring."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Kappa(Generic[K]):
    """Two graders' agreement over what both called right or wrong."""

    n: int
    """What both called right or wrong."""
    agreed: int
    unclear: int
    """What both looked at and at least one could not decide: left out of all else."""
    right: tuple[float, float] | None
    """Base rates: the share that each called right; None where n is 0."""
    expected: float | None
    """Agreement that two graders with these base rates reach by chance."""
    kappa: float | None
    """Cohen's: (agreed / n - expected) / (1 - expected). None where chance alone agrees on all,
    as it does when both call everything right."""
    low: float | None
    high: float | None
    """95 % interval by the large-sample standard error; None where that is 0 or undefined."""
    disputed: tuple[K, ...]
    """What one called right and the other wrong, in the first grader's order."""


def kappa(first: Mapping[K, int | None], second: Mapping[K, int | None]) -> Kappa[K]:
    """Return how far two graders agree.

    Args:
        first: What is graded -> 1 right, 0 wrong, None unclear.
        second: The same by the other grader.

    >>> found = kappa({1: 1, 2: 1, 3: 0, 4: 0}, {1: 1, 2: 0, 3: 0, 4: 0})
    >>> found.agreed, found.right, found.expected, found.kappa, found.disputed
    (3, (0.5, 0.25), 0.5, 0.5, (2,))
    """
    shared = [key for key in first if key in second]
    clear = [key for key in shared if first[key] is not None and second[key] is not None]
    table = np.zeros((2, 2))
    for key in clear:
        table[int(first[key] or 0), int(second[key] or 0)] += 1
    n = len(clear)
    counts = {
        "n": n,
        "agreed": int(table.trace()),
        "unclear": len(shared) - n,
    }
    disputed = tuple(key for key in clear if first[key] != second[key])
    if not n:
        return Kappa(**counts, right=None, expected=None, kappa=None, low=None, high=None,
                     disputed=disputed)  # fmt: skip
    right = float(table[1].sum() / n), float(table[:, 1].sum() / n)
    expected = right[0] * right[1] + (1 - right[0]) * (1 - right[1])
    value, low, high = estimate(table) if expected < 1 else (None, None, None)
    return Kappa(**counts, right=right, expected=expected, kappa=value, low=low, high=high,
                 disputed=disputed)  # fmt: skip


def estimate(table: "np.typing.NDArray[np.float64]") -> tuple[float, float | None, float | None]:
    """Return kappa of a table of counts, and the ends of its interval."""
    from statsmodels.stats.inter_rater import cohens_kappa

    with np.errstate(invalid="ignore", divide="ignore"):
        found = cohens_kappa(table)
    ends = (float(found.kappa_low), float(found.kappa_upp))
    if not np.isfinite(ends).all() or ends[0] == ends[1]:
        return float(found.kappa), None, None
    return float(found.kappa), max(ends[0], -1.0), min(ends[1], 1.0)
