"""Right answers under each change of a factor, by grades of a random sample and by a metric.

Where two runs gave the same text the difference is exactly 0, known and free. Also which grades
would decide a change, and with what chance each question is drawn for grading.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from harness.analysis.changes import UNKNOWN, Codes, Design, Pair, drawable, fingerprints
from harness.analysis.results import (
    Change,
    CorrectedDifference,
    MetricTrust,
    Outlook,
    Trust,
)
from harness.analysis.statistics.corrected import (
    FEWEST,
    Estimate,
    corrected_difference,
    difference_interval,
)
from harness.analysis.study_table import ANSWER_MATCH, Measure, StudyTable, asked_mask
from harness.records import Floats, Layer

ALPHA = 0.05
"""The level that the exact test of changed questions must be able to reach."""

UNDECIDED = 9.0
"""How much more often the questions that could decide most are drawn than those that decide
nothing: each keeps a tenth of a chance, so that all estimates remain possible."""


@dataclass(frozen=True)
class ChangedAnswers:
    """The pairs of runs of one change, question by question."""

    study: StudyTable
    change: Change
    pairs: Sequence[Pair]
    answers: Codes
    """As `Fingerprints.answers`."""

    @cached_property
    def sides(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(pairs,): the left runs, and the right runs."""
        left, right = np.array(self.pairs).T
        return left, right

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """(pairs, questions): asked on both sides."""
        were_asked = asked_mask(self.study)
        left, right = self.sides
        return np.asarray(were_asked[left] & were_asked[right])

    @cached_property
    def moved(self) -> NDArray[np.bool_]:
        """(pairs, questions): the answers differ. Two failures are equal: both are wrong."""
        left, right = self.sides
        failed, known = self.failed, self.answers != UNKNOWN
        same = (self.answers[left] == self.answers[right]) & known[left]
        return np.asarray(self.asked & ~same & ~(failed[left] & failed[right]))

    @property
    def failed(self) -> NDArray[np.bool_]:
        """(runs, questions): the system failed, which is wrong without a grade."""
        return np.asarray(self.study.right.origins == "error")

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """(questions,): the answers of some pair differ."""
        return np.asarray(self.moved.any(axis=0))

    @property
    def questions(self) -> int:
        """Number of questions asked on both sides of a pair."""
        return int(self.asked.any(axis=0).sum())

    def differences(self, values: Floats) -> Floats:
        """Return (questions,): the mean over the pairs of right - left, 0 where nothing moved.

        Args:
            values: (runs, questions), nan where unknown.
        """
        left, right = self.sides
        deltas = np.where(self.moved, values[right] - values[left], 0.0)
        return np.asarray(deltas.sum(axis=0) / np.maximum(self.asked.sum(axis=0), 1))

    @cached_property
    def chances(self) -> Floats:
        """(questions,): the least chance of being drawn; nan where an answer is ungraded."""
        left, right = self.sides
        drawn = np.where(self.failed, np.inf, self.study.right.drawn)
        pairs = np.where(self.moved, np.minimum(drawn[left], drawn[right]), np.inf)
        return np.asarray(pairs.min(axis=0))

    @property
    def ungraded(self) -> int:
        """Number of different answers of the changed questions that nobody graded."""
        runs = np.unique(self.sides)
        lacking = np.isnan(self.study.right.drawn) & (self.answers != UNKNOWN)
        return sum(
            len({int(code) for code in self.answers[runs, at][lacking[runs, at]]})
            for at in np.flatnonzero(self.changed)
        )


def corrected_differences(
    study: StudyTable, design: Design, measures: Sequence[Measure], trust: Sequence[MetricTrust]
) -> tuple[CorrectedDifference, ...]:
    """Return one row per change of a factor; none where nothing says what is right."""
    if np.isnan(study.right.values).all():
        return ()
    metric = predictor(study, measures, trust)
    return tuple(corrected(answers, metric) for answers in changed_answers(study, design))


def changed_answers(study: StudyTable, design: Design) -> list[ChangedAnswers]:
    """Return each change of a factor with all pairs of runs that differ in it alone."""
    found: dict[tuple[str, frozenset[str]], tuple[Change, list[Pair]]] = {}
    for pair, change in design.contrasts:
        key = change.factor, frozenset({repr(change.left), repr(change.right)})
        first, pairs = found.setdefault(key, (change, []))
        pairs.append(pair if first.left == change.left else pair[::-1])
    answers = fingerprints(study).answers
    return [ChangedAnswers(study, change, pairs, answers) for change, pairs in found.values()]


def predictor(
    study: StudyTable, measures: Sequence[Measure], trust: Sequence[MetricTrust]
) -> Measure | None:
    """Return the metric that predicts grades: `answer_match`, else the best trusted of answers."""
    known = {measure.name: measure for measure in measures}
    aucs = {row.metric: row.auc or 0.0 for row in trust if row.verdict is Trust.TRUSTED}
    for name in [ANSWER_MATCH, *sorted(aucs, key=lambda name: -aucs[name])]:
        measure = known.get(name)
        if measure is None or measure.facts.layer is Layer.RETRIEVAL or not measure.facts.bounded:
            continue
        if not np.isnan(measure.values).all():
            return measure
    return None


def corrected(answers: ChangedAnswers, metric: Measure | None) -> CorrectedDifference:
    """Return the row of one change."""
    changed, chances = answers.changed, answers.chances[answers.changed]
    right = answers.study.right
    grades = np.where(np.isnan(right.drawn) & ~answers.failed, np.nan, right.values)
    deltas = answers.differences(grades)[changed]
    guesses = np.zeros(deltas.size)
    if metric is not None:
        guesses = np.nan_to_num(answers.differences(metric.values)[changed])
    complete = not np.isnan(chances).any()
    if not complete:
        deltas = np.where(chances > 0, deltas, np.nan)
    graded = int((~np.isnan(deltas)).sum())
    mean = low = high = None
    questions = answers.questions
    share = float(np.abs(deltas[~np.isnan(deltas)]).mean()) if graded else 0.0
    found = Estimate(0.0, 0.0)
    if not deltas.size and questions > 1:
        mean, (low, high) = 0.0, difference_interval(found, 0.0, True, 0, questions)
    elif graded and (complete or graded >= FEWEST):
        drawn = None if complete else chances
        found, (low, high) = corrected_difference(deltas, guesses, drawn, questions)
        mean = found.mean * deltas.size / questions
    else:
        # the present estimate is then that of the rule that decides right or wrong elsewhere
        rough = np.nan_to_num(answers.differences(right.values)[changed])
        share = float(np.abs(rough).mean()) if rough.size else 0.0
        found = Estimate(float(rough.mean()) if rough.size else 0.0, 0.0)
    outlook, needed = grades_needed(answers, found, share, graded, (low, high))
    return CorrectedDifference(
        change=answers.change,
        contrasts=tuple(
            (answers.study.runs[left].name, answers.study.runs[right].name)
            for left, right in answers.pairs
        ),
        questions=questions,
        changed=int(changed.sum()),
        graded=graded,
        metric=None if metric is None else metric.name,
        mean=mean,
        low=low,
        high=high,
        outlook=outlook,
        needed=needed,
    )


def grades_needed(
    answers: ChangedAnswers,
    found: Estimate,
    share: float,
    graded: int,
    ends: tuple[float | None, float | None],
) -> tuple[Outlook, int | None]:
    """Return whether more grades would decide a change, and how many, at the present estimate.

    Where fewer questions changed than the exact test needs, all in one direction, nothing can be
    learnt whatever the interval is.

    Args:
        answers: Of the change.
        found: The estimate over the changed questions.
        share: The mean of the absolute differences among them.
        graded: Number of changed questions that it rests on.
        ends: Of its interval.
    """
    low, high = ends
    changed, questions = int(answers.changed.sum()), answers.questions
    if 2.0 ** (1 - changed) > ALPHA:
        return Outlook.EQUAL, None
    if low is not None and high is not None and (low > 0 or high < 0):
        return Outlook.DECIDED, None

    def decides(count: int, mean: float, moved: float) -> bool:
        worth = found.size / graded if graded else 1.0
        size = changed if count == changed else count * min(worth, changed / count)
        low, high = difference_interval(Estimate(mean, size), moved, False, changed, questions)
        return low > 0 or high < 0

    if not answers.ungraded or not decides(changed, found.mean, share):
        return Outlook.QUESTIONS, None
    few, enough = graded, changed
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if decides(middle, found.mean, share) else (middle, enough)
    each = answers.ungraded / (changed - graded)
    return Outlook.GRADES, math.ceil(each * (enough - graded))


def chances_to_be_drawn(
    study: StudyTable, design: Design, rows: Sequence[CorrectedDifference]
) -> dict[str, float]:
    """Return question id -> its chance of being the first to be drawn for grading.

    Questions with the same answer in all runs are left out. The more changes a question may
    decide, the higher its chance.

    Args:
        study: The table that the rows are from.
        design: Its design.
        rows: As `corrected_differences` returns them; none before anything is known.
    """
    of_all = drawable(study)
    deciding = np.zeros(of_all.size)
    for answers, row in zip_longest(changed_answers(study, design), rows):
        if row is None or row.outlook is Outlook.GRADES:
            deciding += answers.changed
    weights = of_all * (1 + UNDECIDED * deciding / max(deciding.max(initial=0.0), 1.0))
    return {
        study.questions[at].id: float(weights[at] / weights.sum())
        for at in np.flatnonzero(of_all).tolist()
    }
