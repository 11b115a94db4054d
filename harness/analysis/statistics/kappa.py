"""How far two raters of the same items agree, beyond chance."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from harness.analysis.statistics.intervals import jackknife_error, t_quantile
from harness.records import Floats

K = TypeVar("K", bound=Hashable)
Span = tuple[float | None, float | None]
NO_SPAN: Span = (None, None)


@dataclass(frozen=True, slots=True)
class Kappa:
    """Two raters' agreement over what both gave a label: graders 1 or 0, judges -1, 0 or 1."""

    n: int
    """Items that both gave a label."""
    agreed: int
    unclear: int
    """Items that both looked at and at least one could not decide: left out of all else."""
    shares: Mapping[int, tuple[float, float]]
    """Base rates: label -> the share of the n that each gave it; empty where n is 0."""
    expected: float | None
    """Agreement that two raters with these base rates reach by chance."""
    kappa: float | None
    """Cohen's: (agreed / n - expected) / (1 - expected). None where chance alone agrees on all,
    as it does when both give everything the same label."""
    low: float | None
    high: float | None
    """95 % interval; None where it would have no width, or is undefined."""

    @property
    def right(self) -> tuple[float, float] | None:
        """The share that each called right (1); None where n is 0."""
        return self.shares.get(1, (0.0, 0.0)) if self.n else None


def kappa(
    first: Mapping[K, int | None],
    second: Mapping[K, int | None],
    unit: Callable[[K], Hashable] | None = None,
) -> Kappa:
    """Return how far two raters agree.

    Args:
        first: Item -> its label, None where the rater could not decide.
        second: The same by the other rater.
        unit: Item -> the unit that was sampled independently, such as its question: the
            interval then comes from leaving out one unit at a time. Without it each item is
            a unit, and the interval is the large-sample one.

    >>> found = kappa({1: 1, 2: 1, 3: 0, 4: 0}, {1: 1, 2: 0, 3: 0, 4: 0})
    >>> found.agreed, found.right, found.expected, found.kappa
    (3, (0.5, 0.25), 0.5, 0.5)
    """
    shared = [key for key in first if key in second]
    pairs = {
        key: (one, other)
        for key in shared
        if (one := first[key]) is not None and (other := second[key]) is not None
    }
    labels = sorted({label for pair in pairs.values() for label in pair})
    # one table per unit, so that any of them can be left out
    names = [0 if unit is None else unit(key) for key in pairs]
    tables = counted(list(pairs.values()), labels, names)
    whole = tables.sum(axis=0)
    n = len(pairs)
    rates = np.array([whole.sum(axis=1), whole.sum(axis=0)]).T / max(n, 1)
    value = float(cohen(whole)) if n else math.nan
    low, high = NO_SPAN
    if not math.isnan(value):
        low, high = large_sample(whole) if unit is None else leaving_one_out(tables)
    return Kappa(
        n=n,
        agreed=int(whole.trace()),
        unclear=len(shared) - n,
        shares={
            label: (one, other) for label, (one, other) in zip(labels, rates.tolist(), strict=True)
        },
        expected=float((rates[:, 0] * rates[:, 1]).sum()) if n else None,
        kappa=None if math.isnan(value) else value,
        low=low,
        high=high,
    )


def counted(
    pairs: Sequence[tuple[int, int]], labels: Sequence[int], units: Sequence[Hashable]
) -> Floats:
    """Return (units, labels, labels): how often the two raters gave which two labels."""
    place = {label: at for at, label in enumerate(labels)}
    number = {unit: at for at, unit in enumerate(dict.fromkeys(units))}
    tables = np.zeros((len(number), len(labels), len(labels)))
    for (one, other), unit in zip(pairs, units, strict=True):
        tables[number[unit], place[one], place[other]] += 1
    return tables


def cohen(tables: Floats) -> Floats:
    """Return Cohen's kappa of each (..., labels, labels) of counts, nan where undefined."""
    n = tables.sum(axis=(-2, -1))
    # n * n times what is observed, expected and possible: whole numbers, so nothing is rounded
    observed = np.trace(tables, axis1=-2, axis2=-1) * n
    expected = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
    possible = n * n
    found = np.full(n.shape, np.nan)
    np.divide(observed - expected, possible - expected, out=found, where=possible > expected)
    return found


def large_sample(table: Floats) -> Span:
    """Return the interval of one table's kappa where each item is a unit."""
    from statsmodels.stats.inter_rater import cohens_kappa

    with np.errstate(invalid="ignore", divide="ignore"):
        found = cohens_kappa(table)
    return within(float(found.kappa_low), float(found.kappa_upp))


def leaving_one_out(tables: Floats) -> Span:
    """Return the interval of kappa over units, each a table of counts: a jackknife with t.

    None where kappa is undefined without some unit.
    """
    units = len(tables)
    if units < 2:
        return NO_SPAN
    without = cohen(tables.sum(axis=0) - tables)
    half = t_quantile(0.975, units - 1) * jackknife_error(without)
    middle = float(cohen(tables.sum(axis=0)))
    return within(middle - half, middle + half)


def within(low: float, high: float) -> Span:
    """Return an interval clipped to [-1, 1]; None where it has no width or is undefined."""
    if not np.isfinite((low, high)).all() or high - low < 1e-12:
        return NO_SPAN
    return max(low, -1.0), min(high, 1.0)
