"""p values: the sign-flip test, and McNemar's exact test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.records import Floats

EXACT_UP_TO = 24
"""Changed questions for which every choice of signs is counted."""

BLOCK = 2_048
"""Rows, and sign flips, held in memory at a time."""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """A two-sided sign-flip test."""

    p: float | None
    floor: float | None
    """The smallest p that the number of questions and the rule allow."""
    rule: str
    """`exact`, `monte_carlo`, `bound`, or `none`."""


def sign_flip(rows: Sequence[Floats], flips: int, seed: int) -> list[SignFlip]:
    """Test each row of differences: exactly where few questions change, else by random signs.

    Args:
        rows: Each (units,), nan where a pair is missing; all of one length.
        flips: Random choices of signs where counting them all is too much. One set of signs
            serves every row.
        seed: Of the random signs.
    """
    found: dict[int, SignFlip] = {}
    many: list[int] = []
    for at, row in enumerate(rows):
        deltas = row[~np.isnan(row)]
        changed = deltas[deltas != 0]
        if not deltas.size:
            found[at] = SignFlip(None, None, "none")
        elif changed.size <= EXACT_UP_TO:
            found[at] = SignFlip(exact(changed), smallest_p(deltas.size), "exact")
        else:
            many.append(at)
    for start in range(0, len(many), BLOCK):
        block = many[start : start + BLOCK]
        deltas = np.nan_to_num(np.array([rows[at] for at in block]))
        for at, p in zip(block, monte_carlo(deltas, flips, seed), strict=True):
            found[at] = bounded_by_size(p, rows[at][~np.isnan(rows[at])], flips)
    return [found[at] for at in range(len(rows))]


def exact(changed: Floats) -> float:
    """Return the share of all 2**n choices of signs whose sum is as far from zero.

    The choices of two halves are sorted and met in the middle, so 24 questions cost no more
    than 2 * 2**12 sums.

    >>> exact(np.array([1.0, 1.0]))
    0.5
    """
    target = abs(float(changed.sum())) - slack(changed)
    if target <= 0:
        return 1.0
    half = changed.size // 2
    one, other = np.sort(all_sums(changed[:half])), all_sums(changed[half:])
    reached = one.size * other.size - int(np.searchsorted(one, target - other).sum())
    return 2.0 * reached / 2.0**changed.size


def all_sums(values: Floats) -> Floats:
    """Return the 2**n sums of the values with every choice of signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def monte_carlo(deltas: Floats, flips: int, seed: int) -> Floats:
    """Return (b + 1) / (m + 1) for each row of (tests, units)."""
    random = np.random.default_rng(seed)
    targets = np.abs(deltas.sum(axis=1)) - np.array([slack(row) for row in deltas])
    reached = np.zeros(len(deltas))
    for start in range(0, flips, BLOCK):
        size = min(BLOCK, flips - start)
        signs = random.integers(0, 2, (deltas.shape[1], size), dtype=np.int8) * 2.0 - 1.0
        reached += (np.abs(deltas @ signs) >= targets[:, None]).sum(axis=1)
    return (reached + 1) / (flips + 1)


def bounded_by_size(p: float, deltas: Floats, flips: int) -> SignFlip:
    """Replace a p that random signs cannot resolve by an upper bound of the exact one.

    A sum of random signs exceeds x standard deviations with at most 3.178 times the chance that
    a normal variable does (Bentkus and Dzindzalieta, 2015), so the bound never claims too much.
    """
    size = abs(float(deltas.sum())) / math.sqrt(float((deltas**2).sum()))
    bound, floor = tail_bound(size), tail_bound(math.sqrt(deltas.size))
    smallest = max(smallest_p(deltas.size), min(1 / (flips + 1), floor))
    if bound < 1 / (flips + 1):
        return SignFlip(bound, smallest, "bound")
    return SignFlip(float(p), smallest, "monte_carlo")


def tail_bound(size: float) -> float:
    """Return the most that P(|sum of signs| >= size standard deviations) can be."""
    from scipy.special import ndtr

    return 2 * 3.178 * float(ndtr(-size))


def slack(values: Floats) -> float:
    """Return by how much rounding may separate two sums that are equal."""
    return 1e-9 * float(np.abs(values).sum())


@dataclass(frozen=True, slots=True)
class McNemar:
    """The exact test on the questions whose right/wrong changed."""

    p: float
    floor: float
    """The smallest p that this many changed questions can reach: 2 / 2**discordant."""
    discordant: int


def mcnemar(deltas: Floats) -> McNemar:
    """Return the exact test on 0/1 pairs: are gains and losses as a fair coin would give?

    >>> mcnemar(np.array([0.0, -1.0, -1.0]))
    McNemar(p=0.5, floor=0.5, discordant=2)
    """
    gained, lost = int((deltas > 0).sum()), int((deltas < 0).sum())
    return McNemar(binomial_p(gained, lost), smallest_p(gained + lost), gained + lost)


def binomial_p(one: int, other: int) -> float:
    """Return the two-sided probability that a fair coin falls at least this unevenly.

    >>> binomial_p(6, 0)
    0.03125
    """
    from scipy.special import bdtr

    if one == other:
        return 1.0
    return min(1.0, 2 * float(bdtr(min(one, other), one + other, 0.5)))


def missing_differs(left: int, right: int, alpha: float = 0.05) -> bool:
    """Return whether the scores missing on one side only are more on one side than a coin gives.

    Where each score is as likely to be missing on either side, this holds in at most 5 of 100
    comparisons, and it takes six such scores at least.

    >>> missing_differs(6, 0), missing_differs(5, 0), missing_differs(12, 7)
    (True, False, False)
    """
    return binomial_p(left, right) <= alpha


def smallest_p(n: int) -> float:
    """Return the smallest two-sided sign-flip p with n questions.

    >>> smallest_p(8)
    0.0078125
    """
    return 2.0 ** (1 - n) if n else 1.0
