"""All fair contrasts of a study, metric by metric: differences, their tests and conclusions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.analysis.changes import (
    Design,
    Pair,
    attribute,
    compare_passages,
    evidence_retrieved,
    fingerprints,
    reverse,
    transitions,
)
from harness.analysis.results import (
    FIXED_AT_ZERO,
    NOT_TRUSTED,
    Attribution,
    Conclusion,
    Contrast,
    Difference,
    TestFamily,
    Trust,
)
from harness.analysis.statistics.intervals import (
    NO_INTERVAL,
    Interval,
    interval,
    standard_error,
    stretched_to,
)
from harness.analysis.statistics.sample_size import detectable, questions_needed
from harness.analysis.statistics.sign_flip import (
    SignFlip,
    mcnemar,
    missing_differs,
    sign_flip,
)
from harness.analysis.study_table import (
    Measure,
    Options,
    RunFacts,
    StudyTable,
    asked_mask,
    names_where,
)
from harness.records import Floats, Layer

Clusters = NDArray[np.int64]
"""(questions,): the number of the cluster that each question is in."""

BY_CONSTRUCTION = Interval(None, None, "construction")
NOT_TESTED = SignFlip(None, None, "none")


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


@dataclass(frozen=True, slots=True, eq=False)
class MetricTest:
    """The test of one pairing, and what may be concluded from it."""

    pairing: Pairing
    fixed: Conclusion | None = None
    """The conclusion, where something other than the test decides it."""
    test: SignFlip = NOT_TESTED
    p_adjusted: float | None = None
    q: float | None = None
    family: TestFamily = TestFamily.NONE
    level: float = 0.05
    """The p value that it must not exceed, were it the strongest of its family."""


def pair_tests(
    study: StudyTable,
    pairs: Sequence[tuple[Pair, Contrast]],
    measures: Sequence[Measure],
    trust: Mapping[str, Trust],
) -> list[list[MetricTest]]:
    """Pair each metric on both sides of each contrast, before anything is tested."""
    were_asked = asked_mask(study)
    return [
        [
            MetricTest(
                pairing := Pairing(measure, at, were_asked[at[0]] & were_asked[at[1]]),
                fixed_conclusion(
                    pairing, contrast.attribution, trust, *map(study.runs.__getitem__, at)
                ),
            )
            for measure in measures
        ]
        for at, contrast in pairs
    ]


def fair_pairs(study: StudyTable, design: Design, options: Options) -> list[tuple[Pair, Contrast]]:
    """List the contrasts without their differences, with the baseline, if any, on the left."""
    names, questions = study.scores.runs, study.scores.questions
    prints, were_asked = fingerprints(study), asked_mask(study)
    evidence = evidence_retrieved(study)
    found = []
    for (left, right), change in design.contrasts:
        if names[right] == options.baseline:
            left, right, change = right, left, reverse(change)  # noqa: PLW2901
        both = were_asked[left] & were_asked[right]
        passages = compare_passages(prints, left, right, questions, both)
        contrast = Contrast(
            left=names[left],
            right=names[right],
            change=change,
            differences=(),
            passages=passages,
            attribution=attribute(passages, change.factor),
            transitions=transitions(study, evidence, left, right),
        )
        found.append(((left, right), contrast))
    return found


def fixed_conclusion(
    pairing: Pairing,
    attribution: Attribution,
    trust: Mapping[str, Trust],
    left: RunFacts,
    right: RunFacts,
) -> Conclusion | None:
    """Return the conclusion where the design decides it, whatever a test says."""
    name, layer = pairing.measure.name, pairing.measure.facts.layer
    same_judge = left.scored_by.get(name) == right.scored_by.get(name)
    asked = attribution is not Attribution.FROM_CACHE
    if not (same_judge and asked and pairing.scored.any()):
        return Conclusion.NOT_COMPARED
    if not pairing.measure.tested or layer is Layer.COST or left.partial or right.partial:
        return Conclusion.NOT_TESTED
    fixed = None
    if attribution is Attribution.NO_EFFECT_POSSIBLE:
        fixed = Conclusion.NO_EFFECT_POSSIBLE
    elif layer is Layer.RETRIEVAL and attribution is Attribution.GENERATION:
        fixed = Conclusion.IDENTICAL_BY_CONSTRUCTION
    if fixed is not None:
        # where it differs nevertheless, the data contradict themselves and prove nothing
        return Conclusion.NO_EVIDENCE if np.nan_to_num(pairing.deltas).any() else fixed
    if trust.get(name) in NOT_TRUSTED:
        return Conclusion.NOT_TRUSTED
    return None


def cluster_numbers(study: StudyTable, options: Options) -> Clusters | None:
    """Return each question's cluster number; None where no two questions are in one cluster."""
    names = [options.cluster(question.id) for question in study.questions]
    found, numbers = np.unique(names, return_inverse=True)
    return numbers.astype(np.int64) if found.size < len(names) else None


def sign_flip_tests(
    pairings: Sequence[Pairing], clusters: Clusters | None, options: Options
) -> list[SignFlip]:
    """Test every pairing by sign flips; questions of one cluster flip together."""
    rows = [what_flips(pair, clusters) for pair in pairings]
    return sign_flip(rows, options.flips, options.seed)


def what_flips(pair: Pairing, clusters: Clusters | None) -> Floats:
    """Return the differences whose signs flip: of questions, or their sums in clusters."""
    return pair.deltas if clusters is None else cluster_sums(pair.deltas, clusters)


def cluster_sums(deltas: Floats, clusters: Clusters) -> Floats:
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
    sums = cluster_sums(deltas - mean, clusters)
    sums = sums[~np.isnan(sums)]
    return np.asarray(mean + sums * sums.size / values.size)


def difference(
    tested: MetricTest, questions: Sequence[str], clusters: Clusters | None, options: Options
) -> Difference:
    """Return one metric's change from left to right, with its interval, test and bounds."""
    pair = tested.pairing
    measure, deltas, scored = pair.measure, pair.deltas, pair.scored
    values = deltas[scored]
    independent = units_of(deltas, clusters)
    n = independent.size
    whole = measure.binary and bool(np.isin(values, (-1.0, 0.0, 1.0)).all())
    pairs = whole and clusters is None
    mean = float(values.mean()) if n else None
    spread = float(independent.std(ddof=1)) if n > 1 and measure.tested else None
    level = tested.level
    better = deltas * measure.direction
    left, right = pair.left, pair.right
    no_left, no_right = (pair.asked & np.isnan(side) for side in (left, right))
    worst, best = missing_bounds(pair, pair.asked)
    # only cells that are NA on one side make the sides unequal
    scored_once = pair.asked & ~(no_left & no_right)
    lowest, highest = missing_bounds(pair, scored_once)
    if not measure.tested:
        span = NO_INTERVAL
    elif tested.fixed in FIXED_AT_ZERO and not values.any():
        span = BY_CONSTRUCTION
    else:
        p, bounded = tested.test.p, measure.facts.bounded
        span = interval(independent, pairs, bounded, options.alpha, p)
        one_sided = int((no_left & ~no_right).sum()), int((no_right & ~no_left).sum())
        if bounded and missing_differs(*one_sided):
            for filled in with_missing(pair, scored_once):
                reach = interval(units_of(filled, clusters), pairs, bounded, options.alpha)
                span = stretched_to(reach.low, stretched_to(reach.high, span))
    found = Difference(
        metric=measure.name,
        verdict=tested.fixed or Conclusion.NO_EVIDENCE,
        mean=mean,
        left_mean=float(left[scored].mean()) if n else None,
        right_mean=float(right[scored].mean()) if n else None,
        questions=int(scored.sum()),
        won=names_where(questions, better > 0),
        lost=names_where(questions, better < 0),
        ties=int((better == 0).sum()),
        dropped_left=names_where(questions, no_left & ~no_right),
        dropped_right=names_where(questions, no_right & ~no_left),
        dropped_both=names_where(questions, no_left & no_right),
        standard_error=None if spread is None else standard_error(independent),
        low=span.low,
        high=span.high,
        interval=span.rule,
        p=tested.test.p,
        p_floor=tested.test.floor,
        p_rule=tested.test.rule,
        p_adjusted=tested.p_adjusted,
        q=tested.q,
        family=tested.family,
        mcnemar=mcnemar(values) if whole and n else None,
        detectable=detectable(spread, n, level, options.power, pairs) if spread else None,
        questions_needed=questions_needed(mean, spread, level, options.power, pairs)
        if mean is not None and spread is not None
        else None,
        worst=worst,
        best=best,
        flips_with_missing=lowest is not None and highest is not None and lowest * highest < 0,
        under_one_verdict=under_one_verdict(pair),
    )
    if tested.fixed is not None:
        return found
    return replace(found, verdict=conclusion(found, measure.direction, options.alpha))


def conclusion(row: Difference, direction: int, alpha: float) -> Conclusion:
    """Return the conclusion that the test of a difference allows."""
    if row.p_adjusted is not None and row.p_adjusted <= alpha:
        if row.undecided:
            return Conclusion.CANNOT_TELL
        return Conclusion.BETTER if (row.mean or 0.0) * direction > 0 else Conclusion.WORSE
    suggested = row.q is not None and row.q <= alpha
    return Conclusion.SUGGESTED if suggested else Conclusion.NO_EVIDENCE


def missing_bounds(
    pair: Pairing, questions: NDArray[np.bool_]
) -> tuple[float | None, float | None]:
    """Return the difference over these questions if every NA were at its worst, and at its best,
    for the right-hand run."""
    if not questions.any() or not pair.measure.facts.bounded:
        return None, None
    worst, best = with_missing(pair, questions)
    return float(np.nanmean(worst)), float(np.nanmean(best))


def with_missing(pair: Pairing, questions: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the differences with every NA at its worst, and at its best, for the right-hand run.

    Both are (questions,), nan where a question is not among these.
    """
    low, high = pair.measure.extremes
    worst = np.nan_to_num(pair.right, nan=low) - np.nan_to_num(pair.left, nan=high)
    best = np.nan_to_num(pair.right, nan=high) - np.nan_to_num(pair.left, nan=low)
    return np.where(questions, worst, np.nan), np.where(questions, best, np.nan)


def under_one_verdict(pair: Pairing) -> bool:
    """Return whether one other verdict in one cell could account for the whole difference."""
    values, units = pair.deltas[pair.scored], pair.units[pair.scored]
    if not pair.measure.facts.bounded or not (units > 0).any():
        return False
    step = 1 / float(units[units > 0].min())
    return 0 < abs(float(values.sum())) <= step * (1 + 1e-9)
