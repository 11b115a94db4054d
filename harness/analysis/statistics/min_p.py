"""Westfall and Young's step-down minP by sign flips, with gates from one family to the next.

One set of signs is drawn for all tests, so that tests of the same questions pay once for what
they share. P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing (1993); weights that
a passed test hands on: F. Bretz and others, Biometrical Journal 53 (2011), 894-913.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.records import Floats

ALL_SIGNS_UP_TO = 14
"""Units for which all 2**(n - 1) choices of signs are taken; a sign and its opposite are one."""

SLACK = 1e-9
"""By how much rounding may separate two ratios that are equal."""


@dataclass(frozen=True, slots=True)
class GatedTest:
    """Where a test stands in the order of claims."""

    change: int
    """Number of the change that it is about."""
    step: int
    """0 for the primary test; a test of a later step is made once one of an earlier step of the
    same change has passed."""


def sign_choices(units: int, flips: int, seed: int) -> Floats:
    """Return (units, choices) of -1 and 1, the first all 1: all of them, or `flips` random ones.

    >>> sign_choices(2, 9_999, 0).T.tolist()
    [[1.0, 1.0], [1.0, -1.0]]
    """
    if units <= ALL_SIGNS_UP_TO:
        numbers = np.arange(2 ** max(0, units - 1))
        bits = (numbers >> np.arange(units - 1, -1, -1)[:, None]) & 1
        return np.asarray(1.0 - 2.0 * bits[:units], np.float64)
    signs = np.random.default_rng(seed).integers(0, 2, (units, flips + 1), dtype=np.int8)
    signs[:, 0] = 1
    found: Floats = np.where(signs > 0, 1.0, -1.0)
    return found


def as_extreme(rows: Floats, signs: Floats) -> NDArray[np.int32]:
    """Return (tests, choices): choices of signs whose sum is as far from zero as with this one.

    The first column over the number of choices is each test's p.

    Args:
        rows: (tests, units) of differences, 0 where a unit has none.
        signs: (units, choices).
    """
    counts = np.empty((len(rows), signs.shape[1]), np.int32)
    for at, row in enumerate(rows):
        # sums that are equal but for rounding must count as equal
        size = np.abs(row).sum() or 1.0
        sums = np.round(np.abs(row @ signs) / size, 9)
        counts[at] = sums.size - np.searchsorted(np.sort(sums), sums)
    return counts


def gated_min_p(rows: Floats, tests: Sequence[GatedTest], signs: Floats, alpha: float) -> Floats:
    """Return (tests,): p adjusted for all the tests, nan behind a gate that did not open.

    The changes share the level equally. A test that passes hands its share on to the next step of
    its change or, where that has none, to the tests still open. Among those open, the smallest p
    for its share is compared with the smallest under every choice of signs. With one step this is
    the step-down minP procedure.

    Args:
        rows: (tests, units), 0 where a unit has no difference.
        tests: As many.
        signs: (units, choices), as `sign_choices` returns them.
        alpha: The chance of any false claim.
    """
    adjusted = np.full(len(tests), np.nan)
    shares = first_shares(tests)
    if not shares:
        return adjusted
    counts: dict[int, NDArray[np.int32]] = {}
    reached = 0.0
    while shares:
        opened = list(shares)
        new = [at for at in opened if at not in counts]
        counts |= zip(new, as_extreme(rows[new], signs), strict=True)
        ratios = np.stack([counts[at] / shares[at] for at in opened])
        least = ratios.min(axis=0) * (1 - SLACK)
        alone = [float((least <= own).mean()) for own in ratios[:, 0]]
        first = int(np.argmin(ratios[:, 0]))
        reached = max(reached, alone[first])
        if reached > alpha:
            adjusted[opened] = np.maximum(reached, alone)
            break
        adjusted[opened[first]] = reached
        shares = handed_on(opened[first], shares, tests, adjusted)
    return adjusted


def first_shares(tests: Sequence[GatedTest]) -> dict[int, float]:
    """Return test -> its share of the level before any has passed: the primary ones only."""
    primary = [at for at, test in enumerate(tests) if test.step == 0]
    changes = [tests[at].change for at in primary]
    return {at: 1 / len(set(changes)) / changes.count(tests[at].change) for at in primary}


def handed_on(
    passed: int, shares: dict[int, float], tests: Sequence[GatedTest], adjusted: Floats
) -> dict[int, float]:
    """Return the shares after a test has passed."""
    left = {at: share for at, share in shares.items() if at != passed}
    later = [
        (test.step, at)
        for at, test in enumerate(tests)
        if test.change == tests[passed].change
        and test.step > tests[passed].step
        and np.isnan(adjusted[at])
    ]
    following = [at for step, at in later if step == min(later)[0]] or list(left)
    for at in following:
        left[at] = left.get(at, 0.0) + shares[passed] / len(following)
    return left


def false_discovery_rates(p_values: Sequence[float]) -> list[float]:
    """Return Benjamini and Hochberg's q of each p, in the order given.

    >>> false_discovery_rates([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    order = np.argsort(p_values, kind="stable")[::-1]
    size = len(p_values)
    ranked = np.asarray(p_values)[order] * size / np.arange(size, 0, -1)
    found = np.empty(size)
    found[order] = np.minimum.accumulate(ranked)
    return [float(q) for q in np.minimum(found, 1.0)]
