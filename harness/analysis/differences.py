"""Every fair contrast in every metric: the difference, its p, and what may be said of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.analysis.factors import Pair
from harness.analysis.measures import Measure, named
from harness.analysis.options import Options
from harness.analysis.paired import (
    NO_INTERVAL,
    Interval,
    detectable,
    interval,
    questions_needed,
    standard_error,
)
from harness.analysis.permutation import SignFlip, mcnemar, sign_flip
from harness.analysis.results import Difference, Verdict
from harness.records import Floats, Layer

Clusters = NDArray[np.int64]
"""(questions,): the number of the cluster that each question is in."""

BY_CONSTRUCTION = Interval(None, None, "construction")
FIXED_AT_ZERO = {Verdict.NO_EFFECT_POSSIBLE, Verdict.IDENTICAL_BY_CONSTRUCTION}


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """One metric on both sides of a contrast, question by question."""

    measure: Measure
    at: Pair
    """The two runs, as rows of the measure."""
    asked: NDArray[np.bool_]
    """(questions,): asked on both sides."""

    @property
    def left(self) -> Floats:
        """(questions,), nan where NA or not asked on both sides."""
        return np.where(self.asked, self.measure.values[self.at[0]], np.nan)

    @property
    def right(self) -> Floats:
        """(questions,), nan where NA or not asked on both sides."""
        return np.where(self.asked, self.measure.values[self.at[1]], np.nan)

    @property
    def units(self) -> Floats:
        """(questions,): the smaller denominator of the two sides."""
        left, right = (self.measure.units[run] for run in self.at)
        return np.asarray(np.fmin(left, right))

    @property
    def deltas(self) -> Floats:
        """(questions,): right - left, nan where either is NA."""
        return self.right - self.left

    @property
    def scored(self) -> NDArray[np.bool_]:
        """(questions,): scored on both sides."""
        return ~np.isnan(self.deltas)


def tested(
    pairings: Sequence[Pairing], clusters: Clusters | None, options: Options
) -> list[SignFlip]:
    """Test every pairing by sign flips; questions of one cluster flip together."""
    rows = [pair.deltas if clusters is None else summed(pair.deltas, clusters) for pair in pairings]
    return sign_flip(rows, options.flips, options.seed)


def summed(deltas: Floats, clusters: Clusters) -> Floats:
    """Return the sum of the differences in each cluster, nan where none was scored."""
    scored = ~np.isnan(deltas)
    size = int(clusters.max()) + 1
    sums = np.bincount(clusters[scored], deltas[scored], size)
    return np.where(np.bincount(clusters[scored], minlength=size) > 0, sums, np.nan)


def units_of(deltas: Floats, clusters: Clusters | None) -> Floats:
    """Return the independent values behind a mean: questions, or clusters of questions.

    A cluster's value is the mean plus its summed deviation, scaled so that the values' mean is
    the mean over questions and their standard error the cluster-robust one.
    """
    scored = ~np.isnan(deltas)
    values = deltas[scored]
    if clusters is None or not values.size:
        return values
    mean = values.mean()
    sums = summed(deltas - mean, clusters)
    sums = sums[~np.isnan(sums)]
    return np.asarray(mean + sums * sums.size / values.size)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a pairing beside its scores."""

    test: SignFlip
    p_adjusted: float | None
    family: int
    """Tests in the family that this one belongs to."""
    primary: bool
    fixed: Verdict | None = None
    """The verdict, where something other than the test decides it."""


def difference(
    pair: Pairing,
    questions: Sequence[str],
    clusters: Clusters | None,
    standing: Standing,
    options: Options,
) -> Difference:
    """Put one metric's change from left to right together."""
    measure, deltas, scored = pair.measure, pair.deltas, pair.scored
    values = deltas[scored]
    independent = units_of(deltas, clusters)
    n = independent.size
    binary = measure.binary and clusters is None
    if not measure.tested:
        span = NO_INTERVAL
    elif standing.fixed in FIXED_AT_ZERO and not values.any():
        span = BY_CONSTRUCTION
    else:
        span = interval(independent, binary, measure.facts.bounded, options.alpha)
    mean = float(values.mean()) if n else None
    spread = float(independent.std(ddof=1)) if n > 1 and measure.tested else None
    level = options.alpha / max(1, standing.family)
    better = deltas * measure.direction
    left, right = pair.left, pair.right
    no_left, no_right = (pair.asked & np.isnan(side) for side in (left, right))
    worst, best = missing_bounds(pair, pair.asked)
    whole = bool(np.isin(values, (-1.0, 0.0, 1.0)).all())
    return Difference(
        metric=measure.name,
        verdict=standing.fixed or verdict(mean, standing.p_adjusted, measure, options),
        mean=mean,
        left_mean=float(left[scored].mean()) if n else None,
        right_mean=float(right[scored].mean()) if n else None,
        questions=int(scored.sum()),
        won=named(questions, better > 0),
        lost=named(questions, better < 0),
        ties=int((better == 0).sum()),
        dropped_left=named(questions, no_left & ~no_right),
        dropped_right=named(questions, no_right & ~no_left),
        dropped_both=named(questions, no_left & no_right),
        standard_error=None if spread is None else standard_error(independent),
        low=span.low,
        high=span.high,
        interval=span.rule,
        p=standing.test.p,
        p_floor=standing.test.floor,
        p_rule=standing.test.rule,
        p_adjusted=standing.p_adjusted,
        primary=standing.primary,
        mcnemar=mcnemar(values) if measure.binary and whole and n else None,
        detectable=None if spread is None else detectable(spread, n, level, options.power),
        questions_needed=needed(mean, spread, level, options),
        worst=worst,
        best=best,
        flips_with_missing=flips(*missing_bounds(pair, pair.asked & ~(no_left & no_right))),
        under_one_verdict=under_one_verdict(pair),
    )


def verdict(
    mean: float | None, p_adjusted: float | None, measure: Measure, options: Options
) -> Verdict:
    """Say what the test allows: nothing is better without its evidence."""
    if mean is None or p_adjusted is None or p_adjusted > options.alpha:
        return Verdict.NO_EVIDENCE
    if measure.facts.layer is Layer.COST or measure.facts.higher_is_better is None:
        return Verdict.DIFFERENT
    return Verdict.BETTER if mean * measure.direction > 0 else Verdict.WORSE


def needed(mean: float | None, spread: float | None, level: float, options: Options) -> int | None:
    """Return how many questions would show the observed difference; None without one."""
    if mean is None or not spread:
        return None
    return questions_needed(mean, spread, level, options.power)


def missing_bounds(
    pair: Pairing, questions: NDArray[np.bool_]
) -> tuple[float | None, float | None]:
    """Return the difference over these questions with every NA at its worst and at its best for
    the right-hand run."""
    if not questions.any() or not pair.measure.facts.bounded:
        return None, None
    low, high = (0.0, 1.0) if pair.measure.direction > 0 else (1.0, 0.0)
    left, right = pair.left[questions], pair.right[questions]
    worst = np.nan_to_num(right, nan=low) - np.nan_to_num(left, nan=high)
    best = np.nan_to_num(right, nan=high) - np.nan_to_num(left, nan=low)
    return float(worst.mean()), float(best.mean())


def flips(worst: float | None, best: float | None) -> bool:
    """Say whether the sign is not the same at both bounds."""
    return worst is not None and best is not None and worst * best < 0


def under_one_verdict(pair: Pairing) -> bool:
    """Say whether one other verdict in one cell could make up the whole difference."""
    values, units = pair.deltas[pair.scored], pair.units[pair.scored]
    if not pair.measure.facts.bounded or not (units > 0).any():
        return False
    step = 1 / float(units[units > 0].min())
    return 0 < abs(float(values.sum())) <= step * (1 + 1e-9)
