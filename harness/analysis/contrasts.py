"""All fair contrasts of a study, tested as one family: differences, p values and conclusions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.analysis.changes import Design, Pair, reverse
from harness.analysis.measures import Measure, asked, named
from harness.analysis.passage_changes import (
    attribute,
    compare_passages,
    evidence_retrieved,
    fingerprints,
    transitions,
)
from harness.analysis.results import (
    Attribution,
    Change,
    Contrast,
    Difference,
    Family,
    PassageChange,
    Trust,
    Verdict,
)
from harness.analysis.statistics.intervals import (
    NO_INTERVAL,
    Interval,
    detectable,
    interval,
    questions_needed,
    standard_error,
)
from harness.analysis.statistics.sign_flip import SignFlip, holm, mcnemar, sign_flip
from harness.analysis.study_table import Options, Primary, StudyTable
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


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """One fair contrast before it is tested."""

    pair: Pair
    change: Change
    asked: NDArray[np.bool_]
    """(questions,): asked on both sides."""
    passages: PassageChange
    attribution: Attribution


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One metric of one contrast before it is tested."""

    drawn: int
    pair: Pairing
    comparable: bool
    """The same judge and prompts scored both sides."""
    primary: bool


def contrasts(
    study: StudyTable,
    design: Design,
    measures: Sequence[Measure],
    trust: Mapping[str, Trust],
    options: Options,
) -> tuple[tuple[Contrast, ...], Family]:
    """Compare every pair of runs that isolates one factor, in every metric.

    Each test is one of a family, the declared ones or all others; `UNTESTED` metrics have their
    difference and no test.
    """
    drawn = draw(study, design, options)
    cells = [
        Cell(
            at,
            Pairing(measure, one.pair, one.asked),
            judged_alike(study, one.pair, measure.name),
            measure.tested and Primary(one.change.factor, measure.name) in options.primary,
        )
        for at, one in enumerate(drawn)
        for measure in measures
    ]
    clusters = cluster_numbers(study, options)
    standings, family = judge_family(cells, drawn, clusters, trust, options)
    names = [question.id for question in study.questions]
    rows: list[list[Difference]] = [[] for _ in drawn]
    for cell, standing in zip(cells, standings, strict=True):
        rows[cell.drawn].append(difference(cell.pair, names, clusters, standing, options))
    runs, evidence = [run.name for run in study.runs], evidence_retrieved(study)
    built = tuple(
        Contrast(
            left=runs[one.pair[0]],
            right=runs[one.pair[1]],
            change=one.change,
            differences=tuple(differences),
            passages=one.passages,
            attribution=one.attribution,
            transitions=transitions(study, evidence, *one.pair),
        )
        for one, differences in zip(drawn, rows, strict=True)
    )
    return built, family


def draw(study: StudyTable, design: Design, options: Options) -> list[Drawn]:
    """List the fair pairs with what became of their passages; the baseline stands on the left."""
    names = [run.name for run in study.runs]
    prints, were_asked = fingerprints(study), asked(study)
    questions = [question.id for question in study.questions]
    found = []
    for (left, right), change in design.contrasts:
        if names[right] == options.baseline:
            left, right, change = right, left, reverse(change)  # noqa: PLW2901
        both = were_asked[left] & were_asked[right]
        passages = compare_passages(prints, left, right, questions, both)
        found.append(Drawn((left, right), change, both, passages, attribute(passages)))
    return found


def judge_family(
    cells: Sequence[Cell],
    drawn: Sequence[Drawn],
    clusters: Clusters | None,
    trust: Mapping[str, Trust],
    options: Options,
) -> tuple[list[Standing], Family]:
    """Test all cells but `UNTESTED` ones; Holm over the declared ones and over all others apart.

    What is not tested is in neither family.
    """
    none = SignFlip(None, None, "none")
    flips = [
        flip if cell.comparable and cell.pair.measure.tested else none
        for cell, flip in zip(
            cells, tested([c.pair for c in cells], clusters, options), strict=True
        )
    ]
    adjusted: dict[int, float] = {}
    sizes = {}
    for primary in (True, False):
        p_values = {
            at: flip.p
            for at, (cell, flip) in enumerate(zip(cells, flips, strict=True))
            if flip.p is not None and cell.primary is primary
        }
        adjusted |= zip(p_values, holm(list(p_values.values())), strict=True)
        sizes[primary] = len(p_values)
    standings = [
        Standing(
            flip,
            adjusted.get(at),
            sizes[cell.primary],
            cell.primary,
            fixed_verdict(drawn[cell.drawn], cell, trust),
        )
        for at, (cell, flip) in enumerate(zip(cells, flips, strict=True))
    ]
    floors = [flip.floor for flip in flips if flip.floor is not None]
    family = Family(sum(sizes.values()), sizes[True], options.alpha, min(floors, default=None))
    return standings, family


def judged_alike(study: StudyTable, pair: Pair, metric: str) -> bool:
    """Say whether the same judge and prompts scored both sides in this metric."""
    left, right = (study.runs[at].scored_by.get(metric) for at in pair)
    return left == right


def fixed_verdict(one: Drawn, cell: Cell, trust: Mapping[str, Trust]) -> Verdict | None:
    """Return the verdict where the design decides it and no test may."""
    facts = cell.pair.measure.facts
    layer = facts.layer
    if not cell.comparable or not cell.pair.scored.any():
        return Verdict.NOT_COMPARED
    if not cell.pair.measure.tested:
        return Verdict.NOT_TESTED
    if layer is Layer.COST:
        return None
    fixed = None
    if one.attribution is Attribution.NO_EFFECT_POSSIBLE:
        fixed = Verdict.NO_EFFECT_POSSIBLE
    elif layer is Layer.RETRIEVAL and one.attribution is Attribution.GENERATION:
        fixed = Verdict.IDENTICAL_BY_CONSTRUCTION
    if fixed is not None:
        # where it differs all the same the data contradict themselves, and prove nothing
        return Verdict.NO_EVIDENCE if np.nan_to_num(cell.pair.deltas).any() else fixed
    if trust.get(facts.name) in (Trust.NO_EVIDENCE, Trust.INVERTED):
        return Verdict.NOT_TRUSTED
    return None


def cluster_numbers(study: StudyTable, options: Options) -> Clusters | None:
    """Number the clusters that questions are drawn in; None where each is its own."""
    if not options.clusters:
        return None
    names = [options.clusters.get(q.id, f"question {q.id}") for q in study.questions]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)
