"""What the report must say, worked out from `Facts`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import pandas as pd
from scipy import stats

from tests.printed import statistics as s
from tests.printed.facts import METRICS, RIGHT, UNTESTED, Facts, as_array, deltas

Number = float | int | None
Change = tuple[str, str, str]
"""A factor and its values before and after."""

EVIDENCE = ("gold_recall", "gold_precision", "gold_mrr", "gold_ndcg")
GATES = ("primary", "facts", "judged")
"""The families in which something is claimed, in their order."""


@dataclass(frozen=True)
class Trust:
    """One metric against right and wrong."""

    good: np.ndarray
    bad: np.ndarray
    auc: float | None
    interval: s.Interval
    within: s.Within
    questions: int
    mixed: int

    @property
    def gap(self) -> float | None:
        one, other = s.mean(self.good), s.mean(self.bad)
        return None if one is None or other is None else one - other


@dataclass(frozen=True)
class Sides:
    """One measure on both sides of a pair of runs or of a change, and what the design decides."""

    measure: str
    left: pd.Series
    right: pd.Series
    paired: pd.Series
    binary: bool
    fixed: str | None

    @property
    def compared(self) -> bool:
        return self.fixed not in ("not_compared", "not_tested")

    @property
    def p(self) -> float | None:
        return s.sign_flip_p(as_array(self.paired)) if self.compared else None


@dataclass(frozen=True)
class Claim:
    """What a test may say; a level is what the strongest test of a family must fall under."""

    family: str = "none"
    adjusted: float | None = None
    q: float | None = None
    level: float = s.ALPHA


@dataclass(frozen=True)
class Difference:
    """One measure from left to right."""

    sides: Sides
    claim: Claim
    verdict: str
    interval: s.Interval
    detectable: float | None
    needed: int | None
    bounds: s.Interval
    hangs: bool

    @property
    def measure(self) -> str:
        return self.sides.measure

    @property
    def paired(self) -> pd.Series:
        return self.sides.paired

    @property
    def p(self) -> float | None:
        return self.sides.p

    @property
    def floor(self) -> float | None:
        return s.least_p(len(self.paired)) if self.sides.compared else None

    @property
    def error(self) -> float | None:
        known = len(self.paired) > 1 and self.measure not in UNTESTED
        return float(self.paired.sem()) if known else None

    @property
    def change(self) -> float | None:
        return s.mean(as_array(self.paired))

    @property
    def better(self) -> pd.Series:
        """The differences, positive where the right-hand run is better."""
        return -self.paired if METRICS[self.measure].higher_is_better is False else self.paired

    def questions(self, sign: int) -> list[str]:
        """Return the questions on which the right-hand run is better (1), worse (-1), equal (0)."""
        return [str(q) for q, value in self.better.items() if np.sign(value) == sign]

    @property
    def dropped(self) -> tuple[int, int, int]:
        no_left, no_right = self.sides.left.isna(), self.sides.right.isna()
        sides = (no_left & ~no_right, no_right & ~no_left, no_left & no_right)
        return tuple(int(side.sum()) for side in sides)  # type: ignore[return-value]

    @property
    def whole(self) -> bool:
        """Each question was plainly won, lost or kept, so that McNemar's test speaks of it."""
        return bool(self.paired.isin([-1.0, 0.0, 1.0]).all()) and len(self.paired) > 0


class Expected:
    """The study's numbers."""

    def __init__(self, facts: Facts, read_as: Sequence[tuple[str, str]]) -> None:
        """Begin with the files, and with the run of each contrast that the report calls left."""
        self.facts = facts
        self.read_as = read_as
        pairs = {frozenset((one.left, one.right)) for one in facts.contrasts}
        assert sorted(map(sorted, pairs)) == sorted(map(sorted, read_as)), "not all the contrasts"
        self.trust = {m: self.held_against_right(m) for m in self.trusted_measures}

    # ------------------------------------------------------------------ means

    @cache  # noqa: B019
    def mean_of(self, metric: str, run: str) -> tuple[Number, s.Interval, int, int]:
        """Return a metric's mean in a run, its interval, and of how many of how many it is."""
        values = as_array(self.facts.values(metric).loc[run].dropna())
        known = METRICS[metric]
        binary, cost = self.facts.binary(metric), known.layer == "cost"
        interval = s.mean_interval(values, binary, known.bounded, cost)
        return s.mean(values), interval, len(values), int(self.facts.asked.loc[run].sum())

    def common(self, metric: str) -> list[str]:
        """Return the questions that every run has scored."""
        return [str(q) for q, column in self.facts.values(metric).items() if column.notna().all()]

    def bounds_of(self, metric: str, run: str) -> s.Interval:
        """Return between which means the NA scores leave a run."""
        values = self.facts.values(metric).loc[run][self.facts.asked.loc[run]]
        return float(values.fillna(0.0).mean()), float(values.fillna(1.0).mean())

    def returned(self, run: str) -> tuple[float, float, float]:
        """Return passages returned, of how many in the index, and the share: medians."""
        rows = self.facts.responses
        rows = rows[(rows["run"] == run) & ~rows["failed"]]
        share = (rows["k_returned"] / rows["corpus_size"]).median()
        return float(rows["k_returned"].median()), float(rows["corpus_size"].max()), float(share)

    @cache  # noqa: B019
    def corrected(self, metric: str, run: str) -> tuple[float, float, float] | None:
        people = self.facts.looked_at
        failed = self.facts.origin.loc[run] == "error"
        missing = self.facts.asked.loc[run] & ~people.loc[run] & ~failed
        grades = self.facts.right.where(people)
        if grades.notna().sum(axis=None) < 20 or missing.any():
            return None
        grades = grades.loc[run]
        return s.corrected(as_array(self.facts.values(metric).loc[run]), as_array(grades))

    # ------------------------------------------------------------------ trust

    @property
    def graded_by(self) -> str:
        return "grade" if (self.facts.origin == "grade").any(axis=None) else "answer_match"

    @property
    def trusted_measures(self) -> list[str]:
        """The metrics that judge answers; the rule that grades is not compared with itself."""
        own = {RIGHT} if self.graded_by == "grade" else {RIGHT, "answer_match"}
        return [
            m
            for m in self.facts.measures
            if METRICS[m].layer != "cost" and METRICS[m].higher_is_better is not None
            and m not in own
        ]  # fmt: skip

    def held_against_right(self, metric: str) -> Trust:
        right = self.facts.right.where(self.facts.origin == self.graded_by)
        values = self.facts.values(metric)
        cells = pd.DataFrame({"score": values.stack(), "right": right.stack()}).dropna()
        cells.index = cells.index.set_names(["run", "question"])
        cells = cells.reset_index()
        shares, questions = as_array(cells["right"]), cells["question"].to_numpy()
        scores = as_array(cells["score"])
        turned = -scores if METRICS[metric].higher_is_better is False else scores
        is_right, is_wrong = shares == 1, shares == 0
        one_kind = is_right | is_wrong
        interval = s.auc_interval(turned[one_kind], is_right[one_kind], questions[one_kind])
        whole = s.auc(turned[is_right], turned[is_wrong])
        return Trust(
            good=scores[is_right],
            bad=scores[is_wrong],
            auc=whole,
            interval=interval,
            within=s.within(turned, shares, questions),
            questions=len(set(questions)),
            mixed=int((~one_kind).sum()),
        )

    @cached_property
    def doubted(self) -> set[str]:
        return {m for m, t in self.trust.items() if t.within.verdict in ("no evidence", "inverted")}

    # ------------------------------------------------------------------ contrasts

    def attribution(self, left: str, right: str) -> str:
        changes = self.facts.passage_changes(left, right)
        asked = changes.total()
        texts = self.facts.texts
        alike = sum(
            texts.get((left, q)) is not None and texts.get((left, q)) == texts.get((right, q))
            for q in self.facts.questions
        )
        if changes["changed"] or changes["reordered"]:
            return "retrieval_changed"
        if alike == asked:
            return "no_effect_possible"
        return "generation" if changes["same"] == asked else "unknown"

    def pair(self, left: str, right: str, measure: str) -> Sides:
        """Return one measure of two runs, over the questions that both were asked."""
        values = self.facts.values(measure)
        both = self.facts.asked.loc[left] & self.facts.asked.loc[right]
        one, other = values.loc[left][both], values.loc[right][both]
        paired = deltas(one, other)
        fixed = self.fixed(left, right, measure, as_array(paired))
        return Sides(measure, one, other, paired, self.facts.binary(measure), fixed)

    def fixed(self, left: str, right: str, measure: str, array: np.ndarray) -> str | None:
        """Return the verdict that the design decides, None where the test does.

        What named evidence measures needs no trust.
        """
        known = METRICS[measure]
        if not len(array):
            return "not_compared"
        part = any(self.facts.said[run]["partial"] for run in (left, right))
        if known.layer == "cost" or part:
            return "not_tested"
        attribution = self.attribution(left, right)
        constructed = None
        if attribution == "no_effect_possible":
            constructed = "no_effect_possible"
        elif attribution == "generation" and known.layer == "retrieval":
            constructed = "identical_by_construction"
        if constructed is not None:
            return "no_evidence" if array.any() else constructed
        return "not_trusted" if measure in self.doubted and measure not in EVIDENCE else None

    @cache  # noqa: B019
    def pooled(self, change: Change, measure: str) -> Sides:
        """Return one measure of a change: question by question the mean over its pairs of runs.

        A question counts with the pairs that score it on both sides. Without any it counts as
        missing, on the one side that no pair has scored or on both.
        """
        pairs = [self.pair(*runs, measure) for runs in self.pairs_by_change[change]]
        pairs = [one for one in pairs if one.compared] or pairs
        asked = [q for q in self.facts.questions if any(q in one.left for one in pairs)]
        left, right, paired = {}, {}, {}
        for question in asked:
            cells = [
                (one.left[question], one.right[question]) for one in pairs if question in one.left
            ]
            whole = [cell for cell in cells if not np.isnan(cell).any()]
            if whole:
                paired[question] = round(
                    float(np.mean([after - before for before, after in whole])), 12
                )
            elif not np.isnan(cells).all(axis=0).any():
                cells = []
            for side, into in ((0, left), (1, right)):
                known = [cell[side] for cell in whole or cells if not math.isnan(cell[side])]
                into[question] = round(float(np.mean(known)), 12) if known else math.nan
        decided = [one.fixed for one in pairs]
        fixed = None if None in decided else decided[0]
        return Sides(
            measure,
            *(pd.Series(side, dtype=float) for side in (left, right, paired)),
            binary=len(pairs) == 1 and self.facts.binary(measure),
            fixed="not_trusted" if "not_trusted" in decided else fixed,
        )

    def acts_on(self, change: Change) -> str:
        where = {self.attribution(*pair) for pair in self.pairs_by_change[change]}
        if "retrieval_changed" in where:
            return "captioning" if change[0].split(".")[0] == "captioner" else "retrieval"
        if where == {"no_effect_possible"}:
            return "nothing"
        return "generation" if where <= {"generation", "no_effect_possible"} else "unknown"

    def families(self, change: Change) -> dict[str, str]:
        """Return measure -> what it may claim.

        First what the study declared. Where it declares nothing: evidence where retrieval acts
        and it is named, else right answers.
        """
        rows = {measure: self.pooled(change, measure) for measure in self.facts.measures}
        free = [
            measure
            for measure, row in rows.items()
            if row.fixed is None and METRICS[measure].higher_is_better is not None
        ]
        declared = [one for said in self.facts.said.values() for one in said["study"]["primary"]]
        retrieves = self.acts_on(change) in ("retrieval", "captioning")
        chosen = {"gold_ndcg" if retrieves and "gold_ndcg" in free else RIGHT}
        if declared:
            chosen = {one["metric"] for one in declared if one["factor"] == change[0]}
        first = chosen & set(free)
        found = {}
        for measure, row in rows.items():
            if row.fixed is not None:
                found[measure] = "none"
            elif measure in first:
                found[measure] = "primary"
            elif first and measure in {*EVIDENCE, RIGHT}:
                found[measure] = "facts"
            elif first and self.trust[measure].within.verdict == "trusted":
                found[measure] = "judged"
            else:
                found[measure] = "exploratory"
        return found

    @cached_property
    def claims(self) -> dict[tuple[Change, str], Claim]:
        """(change, measure) -> what it may claim, after correction for all that may be claimed."""
        found = {
            (change, measure): Claim(family)
            for change in self.pairs_by_change
            for measure, family in self.families(change).items()
        }
        rates = self.false_discovery_rates(found)
        gated = [key for key, claim in found.items() if claim.family in GATES]
        adjusted = s.gated_min_p(
            [as_array(self.pooled(*key).paired.reindex(self.facts.questions)) for key in gated],
            [(change, GATES.index(found[change, measure].family)) for change, measure in gated],
        )
        level = s.ALPHA / max(1, sum(claim.family == "primary" for claim in found.values()))
        return {
            key: Claim(claim.family, q=rates.get(key))
            if key not in gated
            else Claim(claim.family, adjusted[gated.index(key)], rates[key], level)
            for key, claim in found.items()
        }

    def false_discovery_rates(
        self, found: Mapping[tuple[Change, str], Claim]
    ) -> dict[tuple[Change, str], float]:
        """Return Benjamini and Hochberg's q of every test of a change that is not decided."""
        tests = [key for key, claim in found.items() if claim.family != "none"]
        rates = stats.false_discovery_control([self.pooled(*key).p for key in tests])
        return dict(zip(tests, map(float, rates), strict=True))

    @property
    def primaries(self) -> list[Difference]:
        return [self.effect(*key) for key, one in self.claims.items() if one.family == "primary"]

    @cache  # noqa: B019 - one object a test
    def effect(self, change: Change, measure: str) -> Difference:
        """Return one measure of a change."""
        return described(self.pooled(change, measure), self.claims[change, measure])

    @cache  # noqa: B019
    def difference(self, left: str, right: str, measure: str) -> Difference:
        """Return one measure of a pair of runs: it claims no more than its change does."""
        own = self.pair(left, right, measure)
        [(change, way)] = [
            (change, 1 if (left, right) in pairs else -1)
            for change, pairs in self.pairs_by_change.items()
            if (left, right) in pairs or (right, left) in pairs
        ]
        p, whole = own.p, self.claims[change, measure]
        if p is None:
            return described(own, Claim())
        agree = own.paired.sum() * self.pooled(change, measure).paired.sum() * way > 0
        adjusted, q = (
            max(p, one) if agree and one is not None else None for one in (whole.adjusted, whole.q)
        )
        told = described(own, Claim(whole.family, adjusted, q, whole.level))
        undecided = self.effect(change, measure).verdict == "cannot_tell"
        if undecided and told.verdict in ("better", "worse"):
            return replace(told, verdict="cannot_tell")
        return told

    @cached_property
    def pairs_by_change(self) -> dict[Change, list[tuple[str, str]]]:
        """Return (factor, value, value) -> the runs before and after, for every pair that differs.

        A change is named as the report reads its first pair of runs.
        """
        found: dict[Change, list[tuple[str, str]]] = {}
        for left, right in self.read_as:
            [(factor, (before, after))] = self.facts.differing(left, right).items()
            forwards, backwards = (
                (factor, str(one), str(other)) for one, other in ((before, after), (after, before))
            )
            if backwards in found:
                found[backwards].append((right, left))
            else:
                found.setdefault(forwards, []).append((left, right))
        return found

    def turned_by(self, change: Change, way: str) -> s.Turned:
        """Return what every pair of runs turned, and what shuffled runs turn."""
        before, after = (
            sorted(set(side)) for side in zip(*self.pairs_by_change[change], strict=True)
        )
        wrong, right = (before, after) if way == "won" else (after, before)
        return s.turned(self.facts.right, wrong, right)

    # ------------------------------------------------------------------ together

    def sweep(self, runs: Sequence[str], measure: str) -> tuple[list[Number], int]:
        """Return the means of a sweep's runs over the questions that all of them have scored."""
        values = self.facts.values(measure).loc[list(runs)].dropna(axis=1)
        means = [s.mean(as_array(values.loc[run])) for run in runs]
        return means, values.shape[1]

    def square(self, corners: Sequence[str], measure: str) -> pd.Series:
        """Return the first factor's effect at the second's right value less that at its left."""
        base, first, second, both = (self.facts.values(measure).loc[run] for run in corners)
        return ((both - second) - (first - base)).dropna()

    def square_interval(self, measure: str, effect: pd.Series) -> s.Interval:
        array = as_array(effect)
        p = s.sign_flip_p(array)
        return s.difference_interval(array, binary=False, bounded=False, p=p)

    def split(self, corners: Sequence[str], measure: str) -> tuple[float, float, float, int]:
        """Return a difference, what of it retrieval and generation made, and over how many.

        The corners are left, left's generator on right's passages, the other way, and right.
        """
        values = self.facts.values(measure).loc[list(corners)].dropna(axis=1)
        left, retrieved, generated, right = values.mean(axis=1)
        by_retrieval = ((retrieved - left) + (right - generated)) / 2
        by_generation = ((generated - left) + (right - retrieved)) / 2
        return right - left, by_retrieval, by_generation, values.shape[1]

    @cache  # noqa: B019
    def hits(self, run: str) -> list[float]:
        """Return the share of questions with evidence among the first k, for each k."""
        ranks = [math.inf if r is None else r for r in self.facts.first_useful[run].values()]
        rows = self.facts.responses
        rows = rows[(rows["run"] == run) & (rows["repeat"] == 0) & ~rows["failed"]]
        rows = rows[rows["question_id"].isin(self.facts.first_useful[run])]
        depth = int(rows["k_returned"].max())
        return [float(np.mean([rank <= k for rank in ranks])) for k in range(1, depth + 1)]

    def transitions(self, left: str, right: str) -> dict[tuple[bool, ...], list[str]]:
        """Return (evidence, right) before and after -> the questions of which all is known."""
        found: dict[tuple[bool, ...], list[str]] = {}
        for question in self.facts.questions:
            state: list[bool] = []
            for run in (left, right):
                held = self.facts.evidence_retrieved.get((run, question))
                value = self.facts.right.loc[run, question]
                if held is not None and value in (0, 1):
                    state += [held, bool(value)]
            if len(state) == 4:
                found.setdefault(tuple(state), []).append(question)
        return dict(sorted(found.items()))


def described(sides: Sides, claim: Claim) -> Difference:
    """Return a difference with its interval, its bounds and its verdict."""
    measure, left, right = sides.measure, sides.left, sides.right
    known, array, tested = METRICS[measure], as_array(sides.paired), measure not in UNTESTED
    interval = s.NONE
    if tested and sides.fixed not in ("no_effect_possible", "identical_by_construction"):
        interval = s.difference_interval(array, sides.binary, known.bounded, sides.p)
    lower = known.higher_is_better is False
    some = ~(left.isna() & right.isna())
    part = bounds(left[some], right[some], lower, known.bounded)
    uneven = s.two_sided_coin_p(*(int((side.isna() & some).sum()) for side in (left, right)))
    differs = None not in (*part, *interval) and uneven <= s.ALPHA
    if differs:
        for value in (0.0, 1.0):
            filled = as_array(right[some].fillna(value) - left[some].fillna(1 - value))
            reach = s.difference_interval(filled, sides.binary, known.bounded, None)
            interval = min(interval[0], reach[0]), max(interval[1], reach[1])
    hangs = part[0] is not None and part[1] is not None and part[0] * part[1] < 0
    verdict = sides.fixed or "no_evidence"
    if claim.adjusted is not None and claim.adjusted <= s.ALPHA:
        better = "worse" if (array.sum() < 0) != lower else "better"
        verdict = "cannot_tell" if differs and interval[0] <= 0 <= interval[1] else better
    elif claim.q is not None and claim.q <= s.ALPHA:
        verdict = "suggested"
    return Difference(
        sides,
        claim,
        verdict,
        interval,
        detectable=s.detectable(array, claim.level, sides.binary) if tested else None,
        needed=s.questions_needed(array, claim.level, sides.binary) if tested else None,
        bounds=bounds(left, right, lower, known.bounded),
        hangs=hangs,
    )


def bounds(left: pd.Series, right: pd.Series, lower_is_better: bool, bounded: bool) -> s.Interval:
    """Return the mean difference with every NA at its worst and at its best for the right run."""
    if not bounded or not len(left):
        return s.NONE
    low, high = (1.0, 0.0) if lower_is_better else (0.0, 1.0)
    worst = right.fillna(low) - left.fillna(high)
    best = right.fillna(high) - left.fillna(low)
    return float(worst.mean()), float(best.mean())


def corners_of(found: Expected, first: str, second: str) -> list[str]:
    """Return the runs at (left, left), (right, left), (left, right), (right, right)."""
    factors = [text.split(" ", 1)[0] for text in (first, second)]
    values = [text.split(" ", 1)[1].split(" -> ") for text in (first, second)]

    def setting(run: str, factor: str) -> str:
        settings = found.facts.settings(run)
        return str({**settings["choices"], **settings["leaves"]}[factor])

    def fits(run: str, wanted: tuple[str, str]) -> bool:
        return all(setting(run, f) == v for f, v in zip(factors, wanted, strict=True))

    for base in found.facts.runs:
        corners = [base]
        for wanted in ((1, 0), (0, 1), (1, 1)):
            ends = (values[0][wanted[0]], values[1][wanted[1]])
            apart = {f for f, at in zip(factors, wanted, strict=True) if at}
            near = [
                run
                for run in found.facts.runs
                if fits(run, ends) and set(found.facts.differing(base, run)) == apart
            ]
            corners += near[:1]
        if fits(base, (values[0][0], values[1][0])) and len(corners) == 4:
            return corners
    raise AssertionError(f"no square of {first} and {second}")
