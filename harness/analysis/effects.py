"""What each change of one factor does, over all pairs of runs that make it, and what is claimed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.analysis.changes import Design
from harness.analysis.contrasts import (
    NOT_TESTED,
    Clusters,
    MetricTest,
    Pairing,
    cluster_numbers,
    difference,
    fair_pairs,
    pair_tests,
    sign_flip_tests,
    what_flips,
)
from harness.analysis.findings import value_text
from harness.analysis.results import (
    BEYOND_CHANCE,
    FIXED_AT_ZERO,
    ActsOn,
    Attribution,
    Came,
    Change,
    Conclusion,
    Contrast,
    Difference,
    Effect,
    Family,
    MetricTrust,
    Outlook,
    TestFamily,
    Trust,
)
from harness.analysis.statistics.min_p import (
    GatedTest,
    false_discovery_rates,
    gated_min_p,
    sign_choices,
)
from harness.analysis.statistics.sign_flip import missing_differs, smallest_p
from harness.analysis.study_table import EVIDENCE, GOLD, RIGHT, Measure, Options, StudyTable
from harness.records import Floats

STEPS = (TestFamily.PRIMARY, TestFamily.FACTS, TestFamily.JUDGED)
"""In the order in which they may be claimed."""

DESCRIBED = (Conclusion.NOT_COMPARED, Conclusion.NOT_TESTED)
"""What has no p."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The pairs of runs that make one change."""

    change: Change
    acts_on: ActsOn
    contrasts: tuple[tuple[str, str], ...]
    """Left and right run of each pair, in the direction of the change."""
    members: tuple[tuple[int, bool], ...]
    """Number of the contrast, and whether it makes the change the other way round."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Everything that is compared."""

    effects: tuple[Effect, ...]
    contrasts: tuple[Contrast, ...]
    family: Family


def compare(
    study: StudyTable,
    design: Design,
    measures: Sequence[Measure],
    trust: Sequence[MetricTrust],
    options: Options,
) -> Comparison:
    """Compare every change of one factor, and every pair of runs that makes it, in every metric.

    What is claimed is claimed of a change. A pair is a detail of it: it is better or worse only
    where its change is. The baseline turns pairs round, and no change.
    """
    # what named evidence measures is a fact of retrieval, whatever it says about answers
    levels = {row.metric: row.verdict for row in trust if row.metric not in GOLD}
    clusters, questions = cluster_numbers(study, options), study.scores.questions
    pairs = fair_pairs(study, design, options)
    contrasts = [contrast for _, contrast in pairs]
    tests = pair_tests(study, pairs, measures, levels)
    pools = list(pools_of(design, contrasts))
    pooled = [[pooled_test(pool, column) for column in zip(*tests, strict=True)] for pool in pools]
    claimed, family = claims(pools, pooled, clusters, levels, options)
    effects = tuple(
        Effect(
            pool.change,
            pool.contrasts,
            pool.acts_on,
            tuple(difference(one, questions, clusters, options) for one in row),
        )
        for pool, row in zip(pools, claimed, strict=True)
    )
    flips = iter(sign_flip_tests([one.pairing for row in tests for one in row], clusters, options))
    tests = [[replace(one, test=next(flips)) for one in row] for row in tests]
    for pool, row, effect in zip(pools, claimed, effects, strict=True):
        for at, turned in pool.members:
            details = map(as_detail, tests[at], row, [turned] * len(row))
            found = [difference(one, questions, clusters, options) for one in details]
            found = list(map(no_more_than, found, effect.differences))
            contrasts[at] = replace(contrasts[at], differences=tuple(found))
    return Comparison(effects, tuple(contrasts), family)


def pools_of(design: Design, contrasts: Sequence[Contrast]) -> Iterator[Pool]:
    """Yield each change of one factor with the contrasts that make it, in the order found."""
    numbers = {(one.left, one.right): at for at, one in enumerate(contrasts)}
    for change, pairs in design.pools:
        sides = tuple((design.runs[at].name, design.runs[to].name) for at, to in pairs)
        members = tuple(
            (numbers[pair], False) if pair in numbers else (numbers[pair[::-1]], True)
            for pair in sides
        )
        kinds = {contrasts[at].attribution for at, _ in members}
        yield Pool(change, acts_on(change.factor, kinds), sides, members)


def acts_on(factor: str, attributions: set[Attribution]) -> ActsOn:
    """Return where a change acts, from where its pairs of runs differ."""
    if Attribution.RETRIEVAL_CHANGED in attributions:
        return ActsOn.CAPTIONING if factor.partition(".")[0] == "captioner" else ActsOn.RETRIEVAL
    if attributions == {Attribution.NO_EFFECT_POSSIBLE}:
        return ActsOn.NOTHING
    if attributions <= {Attribution.GENERATION, Attribution.NO_EFFECT_POSSIBLE}:
        return ActsOn.GENERATION
    return ActsOn.UNKNOWN


def pooled_test(pool: Pool, tests: Sequence[MetricTest]) -> MetricTest:
    """Return one metric of a change: per question the mean over the pairs that may be compared.

    Args:
        pool: The change.
        tests: Of this metric, for every contrast of the study.
    """
    members = [(tests[at], turned) for at, turned in pool.members]
    usable = [one for one in members if one[0].fixed not in DESCRIBED] or members
    fixed = dict.fromkeys(one.fixed for one, _ in usable)
    # one pair that may claim something is enough, and an untrusted metric never may
    decided = next((c for c in (Conclusion.NOT_TRUSTED, None) if c in fixed), next(iter(fixed)))
    if len(usable) == 1 and not usable[0][1]:
        return MetricTest(usable[0][0].pairing, decided)
    lefts = np.stack([one.pairing.right if turned else one.pairing.left for one, turned in usable])
    rights = np.stack([one.pairing.left if turned else one.pairing.right for one, turned in usable])
    no_left, no_right = np.isnan(lefts), np.isnan(rights)
    lost = (no_left & ~no_right).any(axis=0), (no_right & ~no_left).any(axis=0)
    if missing_differs(int((lost[0] & ~lost[1]).sum()), int((lost[1] & ~lost[0]).sum())):
        # the pairs that are complete would hide which scores are missing
        lefts, rights = np.where(lost[0], np.nan, lefts), np.where(lost[1], np.nan, rights)
    complete = ~np.isnan(rights - lefts)
    # a question that no pair has complete keeps the one side that it has
    one_sided = ~complete.any(axis=0) & (np.isnan(lefts).all(axis=0) | np.isnan(rights).all(axis=0))
    counted = complete | one_sided
    measure = usable[0][0].pairing.measure
    units = np.fmin.reduce([one.pairing.units for one, _ in usable])
    values = np.stack([mean_where(lefts, counted), mean_where(rights, counted)])
    asked = np.any([one.pairing.asked for one, _ in usable], axis=0)
    binary = measure.binary and len(usable) == 1
    pooled = Measure(measure.facts, values, np.stack([units, units]), binary)
    return MetricTest(Pairing(pooled, (0, 1), asked), decided)


def mean_where(values: Floats, counted: NDArray[np.bool_]) -> Floats:
    """Return (questions,): the mean over the pairs that count and are not nan, nan without any."""
    known = counted & ~np.isnan(values)
    sums, counts = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
    means: Floats = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    # equal means must stay equal whatever the number of the pairs
    return np.round(means, 12) if len(values) > 1 else means


def claims(
    pools: Sequence[Pool],
    pooled: Sequence[Sequence[MetricTest]],
    clusters: Clusters | None,
    trust: Mapping[str, Trust],
    options: Options,
) -> tuple[list[list[MetricTest]], Family]:
    """Test every change in every metric, and adjust what may be claimed for all of it."""
    families = [
        family
        for pool, row in zip(pools, pooled, strict=True)
        for family in families_of(pool, row, trust, options)
    ]
    tests = [one for row in pooled for one in row]
    flips = sign_flip_tests([one.pairing for one in tests], clusters, options)
    gated = {
        at: GatedTest(at // len(pooled[0]), STEPS.index(family))
        for at, family in enumerate(families)
        if family in STEPS
    }
    adjusted = adjusted_p([tests[at].pairing for at in gated], gated.values(), clusters, options)
    p_adjusted = dict(zip(gated, adjusted, strict=True))
    p_values = {
        at: p
        for at, family in enumerate(families)
        if family is not TestFamily.NONE and (p := flips[at].p) is not None
    }
    q = dict(zip(p_values, false_discovery_rates(list(p_values.values())), strict=True))
    primary = [at for at, family in enumerate(families) if family is TestFamily.PRIMARY]
    floors = [smallest_p(changed_units(tests[at].pairing.deltas, clusters)) for at in primary]
    family = Family(
        len(gated),
        len(primary),
        options.alpha,
        min(floors, default=None),
        bool(options.primary),
    )
    found = [
        replace(
            one,
            test=flips[at] if one.fixed not in DESCRIBED else NOT_TESTED,
            p_adjusted=p_adjusted.get(at),
            q=q.get(at),
            family=families[at],
            level=family.level if at in gated else options.alpha,
        )
        for at, one in enumerate(tests)
    ]
    rows = iter(found)
    return [[next(rows) for _ in row] for row in pooled], family


def changed_units(deltas: Floats, clusters: Clusters | None) -> int:
    """Return how many questions, or clusters of them, changed: the others have no sign to turn."""
    changed = np.flatnonzero(np.nan_to_num(deltas))
    return len(changed if clusters is None else np.unique(clusters[changed]))


def families_of(
    pool: Pool, row: Sequence[MetricTest], trust: Mapping[str, Trust], options: Options
) -> list[TestFamily]:
    """Return what each metric of a change may claim."""
    open_to_claims = {
        one.pairing.measure.name
        for one in row
        if one.fixed is None and one.pairing.measure.facts.higher_is_better is not None
    }
    if options.primary:
        chosen = {one.metric for one in options.primary if one.factor == pool.change.factor}
    elif EVIDENCE in open_to_claims and pool.acts_on in (ActsOn.RETRIEVAL, ActsOn.CAPTIONING):
        chosen = {EVIDENCE}
    else:
        chosen = {RIGHT}
    primary = chosen & open_to_claims
    found = []
    for one in row:
        name = one.pairing.measure.name
        if one.fixed is not None:
            found.append(TestFamily.NONE)
        elif name in primary:
            found.append(TestFamily.PRIMARY)
        elif not primary or name not in open_to_claims:
            found.append(TestFamily.EXPLORATORY)
        elif name == RIGHT or name in GOLD:
            found.append(TestFamily.FACTS)
        else:
            trusted = trust.get(name) is Trust.TRUSTED
            found.append(TestFamily.JUDGED if trusted else TestFamily.EXPLORATORY)
    return found


def adjusted_p(
    pairings: Sequence[Pairing],
    steps: Collection[GatedTest],
    clusters: Clusters | None,
    options: Options,
) -> list[float | None]:
    """Return each test's p adjusted for all of them; None where its gate did not open."""
    if not pairings:
        return []
    rows = [what_flips(pair, clusters) for pair in pairings]
    signs = sign_choices(len(rows[0]), options.flips, options.seed)
    adjusted = gated_min_p(np.nan_to_num(np.array(rows)), list(steps), signs, options.alpha)
    return [None if np.isnan(p) else float(p) for p in adjusted]


def as_detail(test: MetricTest, whole: MetricTest, turned: bool) -> MetricTest:
    """Return the test of a pair of runs with what its change leaves it to say.

    A pair that points the other way than its change says nothing.
    """
    if test.fixed in DESCRIBED or test.test.p is None:
        return replace(test, test=NOT_TESTED)
    own, of_change = (np.nansum(one.pairing.deltas) for one in (test, whole))
    if own * of_change * (-1 if turned else 1) <= 0:
        return replace(test, family=whole.family, level=whole.level)
    p_adjusted, q = (
        None if p is None else max(p, test.test.p) for p in (whole.p_adjusted, whole.q)
    )
    return replace(test, p_adjusted=p_adjusted, q=q, family=whole.family, level=whole.level)


def no_more_than(row: Difference, whole: Difference) -> Difference:
    """Return a pair's difference, which cannot tell where its change cannot."""
    undecided = whole.verdict is Conclusion.CANNOT_TELL and row.verdict in BEYOND_CHANCE
    return replace(row, verdict=Conclusion.CANNOT_TELL) if undecided else row


def outlooks(effects: Sequence[Effect], options: Options) -> Iterator[Outlook]:
    """Yield whether what the study expected came, change by change."""
    for expected in options.expect:
        to = None if expected.to is None else value_text(expected.to)
        found = [
            effect
            for effect in effects
            if effect.factor == expected.factor
            and to in (None, value_text(effect.change.right))
            and effect.difference(expected.metric) is not None
        ]
        for effect in found:
            row = effect.difference(expected.metric)
            yield Outlook(expected, effect.change, came(expected.outcome, row))
        if not found:
            yield Outlook(expected, None, Came.UNTESTED)


def came(outcome: str, row: Difference | None) -> Came:
    """Return whether a difference is what was expected of it."""
    if row is None or row.verdict in DESCRIBED:
        return Came.UNTESTED
    if row.verdict in FIXED_AT_ZERO:
        return Came.CAME if outcome == "same" else Came.OPPOSITE
    if row.verdict not in BEYOND_CHANCE:
        return Came.OPEN
    return Came.CAME if row.verdict.value == outcome else Came.OPPOSITE
