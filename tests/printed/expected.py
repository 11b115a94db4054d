"""What the report must say, worked out from `Facts`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pandas as pd

from tests.printed import statistics as s
from tests.printed.facts import METRICS, RIGHT, UNTESTED, Facts, as_array, deltas

Number = float | int | None


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
class Difference:
    """One measure from left to right."""

    measure: str
    paired: pd.Series
    left: pd.Series
    right: pd.Series
    verdict: str
    interval: s.Interval
    p: float | None
    floor: float | None
    adjusted: float | None
    detectable: float | None
    needed: int | None
    bounds: s.Interval
    hangs: bool

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
        no_left, no_right = self.left.isna(), self.right.isna()
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

    def tested(self, measure: str) -> bool:
        return measure not in UNTESTED

    @cached_property
    def family(self) -> dict[tuple[str, str, str], tuple[float, float]]:
        """(left, right, measure) -> p, and p after Holm over all that are tested."""
        found = {}
        for contrast in self.facts.contrasts:
            for measure in filter(self.tested, self.facts.measures):
                values = self.facts.values(measure)
                paired = as_array(deltas(values.loc[contrast.left], values.loc[contrast.right]))
                p = s.sign_flip_p(paired)
                if p is not None:
                    found[contrast.left, contrast.right, measure] = p
        adjusted = s.holm(list(found.values()))
        both = dict(zip(found, zip(found.values(), adjusted, strict=True), strict=True))
        return both | {(right, left, m): told for (left, right, m), told in both.items()}

    @property
    def tests(self) -> int:
        return len(self.family) // 2

    @cached_property
    def smallest_possible_p(self) -> float:
        rows = [self.difference(left, right, m) for left, right, m in self.family]
        return min(2.0 ** (1 - len(row.paired)) for row in rows)

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

    @cache  # noqa: B019 - one object a test
    def difference(self, left: str, right: str, measure: str) -> Difference:
        """Return one measure of one contrast."""
        values, known = self.facts.values(measure), METRICS[measure]
        both = self.facts.asked.loc[left] & self.facts.asked.loc[right]
        one, other = values.loc[left][both], values.loc[right][both]
        paired = deltas(one, other)
        array = as_array(paired)
        p, adjusted = self.family.get((left, right, measure), (None, None))
        fixed = self.fixed(left, right, measure, array)
        constructed = fixed in ("no effect possible", "identical by construction")
        interval, binary = s.NONE, self.facts.binary(measure)
        if self.tested(measure) and not constructed:
            interval = s.difference_interval(array, binary, known.bounded, p)
        level = s.ALPHA / max(1, self.tests)
        worst, best = bounds(one, other, known.higher_is_better is False, known.bounded)
        some = ~(one.isna() & other.isna())
        part = bounds(one[some], other[some], known.higher_is_better is False, known.bounded)
        dropped = [int((side.isna() & some).sum()) for side in (one, other)]
        if None not in (*part, *interval) and s.two_sided_coin_p(*dropped) <= s.ALPHA:
            for value in (0.0, 1.0):
                filled = other[some].fillna(value) - one[some].fillna(1 - value)
                reach = s.difference_interval(as_array(filled), binary, known.bounded, None)
                interval = min(interval[0], reach[0]), max(interval[1], reach[1])
        return Difference(
            measure, paired, one, other,
            verdict=fixed or self.verdict(measure, array, adjusted),
            interval=interval,
            p=p,
            floor=s.least_p(len(array)) if self.tested(measure) else None,
            adjusted=adjusted,
            detectable=s.detectable(array, level, binary) if self.tested(measure) else None,
            needed=s.questions_needed(array, level, binary) if self.tested(measure) else None,
            bounds=(worst, best),
            hangs=part[0] is not None and part[1] is not None and part[0] * part[1] < 0,
        )  # fmt: skip

    def fixed(self, left: str, right: str, measure: str, array: np.ndarray) -> str | None:
        """Return the verdict that the design decides, None where the test does."""
        known = METRICS[measure]
        if not len(array):
            return "not compared"
        if not self.tested(measure):
            return "not tested"
        if known.layer == "cost":
            return None
        attribution = self.attribution(left, right)
        constructed = None
        if attribution == "no_effect_possible":
            constructed = "no effect possible"
        elif attribution == "generation" and known.layer == "retrieval":
            constructed = "identical by construction"
        if constructed is not None:
            return "no evidence" if array.any() else constructed
        return "not trusted" if measure in self.doubted else None

    def verdict(self, measure: str, array: np.ndarray, adjusted: float | None) -> str:
        known = METRICS[measure]
        if adjusted is None or adjusted > s.ALPHA:
            return "no evidence"
        if known.layer == "cost" or known.higher_is_better is None:
            return "different"
        return "better" if (array.mean() > 0) == known.higher_is_better else "worse"

    @cached_property
    def pairs_by_change(self) -> dict[tuple[str, str, str], list[tuple[str, str]]]:
        """Return (factor, value, value) -> the runs before and after, for every pair that differs.

        A change is named as the report reads its first pair of runs.
        """
        found: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
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

    def turned_by(self, change: tuple[str, str, str], way: str) -> s.Turned:
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
