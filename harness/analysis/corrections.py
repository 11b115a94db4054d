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
from harness.analysis.results import Change, CorrectedDifference, MetricTrust, Prospect, Trust
from harness.analysis.statistics.corrected import (
    ALPHA,
    FEWEST,
    Estimate,
    corrected_difference,
    difference_interval,
)
from harness.analysis.statistics.sign_flip import smallest_p
from harness.analysis.study_table import ANSWER_MATCH, Measure, StudyTable, asked_mask
from harness.records import Floats, Layer

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
    def failed(self) -> NDArray[np.bool_]:
        """(runs, questions): the system failed, which is wrong without a grade."""
        return np.asarray(self.study.right.origins == "error")

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """(pairs, questions): asked on both sides."""
        left, right = asked_mask(self.study)[np.array(self.pairs).T]
        return np.asarray(left & right)

    @cached_property
    def moved(self) -> NDArray[np.bool_]:
        """(pairs, questions): the answers differ. Two failures are equal: both are wrong."""
        left, right = self.answers[np.array(self.pairs).T]
        failed = self.failed[np.array(self.pairs).T].all(axis=0)
        return np.asarray(self.asked & ~failed & ((left != right) | (left == UNKNOWN)))

    @property
    def changed(self) -> NDArray[np.bool_]:
        """(questions,): the answers of some pair differ."""
        return np.asarray(self.moved.any(axis=0))

    @property
    def questions(self) -> int:
        """Number of questions asked on both sides of a pair."""
        return int(self.asked.any(axis=0).sum())

    def differences(self, values: Floats) -> Floats:
        """Return (changed,): the mean over the pairs of right - left, 0 where nothing moved.

        Args:
            values: (runs, questions), nan where unknown.
        """
        left, right = values[np.array(self.pairs).T]
        total = np.where(self.moved, right - left, 0.0).sum(axis=0)
        return np.asarray(total[self.changed] / self.asked.sum(axis=0)[self.changed])

    @property
    def chances(self) -> Floats:
        """(changed,): the least chance of being drawn; nan where an answer is ungraded."""
        drawn = np.where(self.failed, np.inf, self.study.right.drawn)[np.array(self.pairs).T]
        return np.asarray(np.where(self.moved, drawn, np.inf).min(axis=(0, 1))[self.changed])

    @property
    def ungraded(self) -> int:
        """Number of different ungraded answers to the changed questions."""
        runs = np.unique(self.pairs)
        lacking = np.isnan(self.study.right.drawn) & (self.answers != UNKNOWN)
        answers = np.where(lacking & self.changed, self.answers, UNKNOWN)[runs]
        return sum(np.unique(texts[texts != UNKNOWN]).size for texts in answers.T)


def corrected_differences(
    study: StudyTable, design: Design, measures: Sequence[Measure], trust: Sequence[MetricTrust]
) -> tuple[CorrectedDifference, ...]:
    """Return one row per change of a factor; none where nothing says what is right."""
    if np.isnan(study.right.values).all():
        return ()
    metric = predictor(measures, trust)
    return tuple(corrected(answers, metric) for answers in changed_answers(study, design))


def changed_answers(study: StudyTable, design: Design) -> list[ChangedAnswers]:
    """Return each change of a factor with all pairs of runs that differ in it alone."""
    answers = fingerprints(study).answers
    return [ChangedAnswers(study, change, pairs, answers) for change, pairs in design.pools]


def predictor(measures: Sequence[Measure], trust: Sequence[MetricTrust]) -> Measure | None:
    """Return the metric that predicts grades: `answer_match`, else the best trusted of answers."""
    aucs = {row.metric: row.auc or 0.0 for row in trust if row.verdict is Trust.TRUSTED}
    aucs[ANSWER_MATCH] = math.inf
    known = [
        measure
        for measure in measures
        if measure.name in aucs
        and measure.facts.layer is not Layer.RETRIEVAL
        and not np.isnan(measure.values).all()
    ]
    return max(known, key=lambda measure: aucs[measure.name], default=None)


def corrected(answers: ChangedAnswers, metric: Measure | None) -> CorrectedDifference:
    """Return the row of one change."""
    chances, questions, right = answers.chances, answers.questions, answers.study.right
    grades = np.where(np.isnan(right.drawn) & ~answers.failed, np.nan, right.values)
    deltas = answers.differences(grades)
    guesses = np.zeros(deltas.size)
    if metric is not None:
        guesses = np.nan_to_num(answers.differences(metric.values))
    complete = not np.isnan(chances).any()
    if not complete:
        deltas = np.where(chances > 0, deltas, np.nan)
    graded, share = int((~np.isnan(deltas)).sum()), mean_size(deltas)
    found, mean, low, high = Estimate(0.0, 0.0), None, None, None
    if not deltas.size and questions > 1:
        mean, (low, high) = 0.0, difference_interval(found, 0.0, True, 0, questions)
    elif graded and (complete or graded >= FEWEST):
        drawn = None if complete else chances
        found, (low, high) = corrected_difference(deltas, guesses, drawn, questions)
        mean = found.mean * deltas.size / questions
    else:
        # the present estimate is then that of the rule that decides right or wrong elsewhere
        rough = np.nan_to_num(answers.differences(right.values))
        found, share = Estimate(float(rough.sum()) / max(rough.size, 1), 0.0), mean_size(rough)
    prospect, needed = grades_needed(answers, found, share, graded, (low, high))
    return CorrectedDifference(
        change=answers.change,
        contrasts=tuple(
            (answers.study.runs[left].name, answers.study.runs[right].name)
            for left, right in answers.pairs
        ),
        questions=questions,
        changed=deltas.size,
        graded=graded,
        metric=None if metric is None else metric.name,
        mean=mean,
        low=low,
        high=high,
        prospect=prospect,
        needed=needed,
    )


def mean_size(deltas: Floats) -> float:
    """Return the mean absolute difference of those that are known; 0 without any."""
    known = deltas[~np.isnan(deltas)]
    return float(np.abs(known).sum()) / max(known.size, 1)


def grades_needed(
    answers: ChangedAnswers,
    found: Estimate,
    share: float,
    graded: int,
    ends: tuple[float | None, float | None],
) -> tuple[Prospect, int | None]:
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
    if smallest_p(changed) > ALPHA:
        return Prospect.EQUAL, None
    if low is not None and high is not None and (low > 0 or high < 0):
        return Prospect.DECIDED, None

    def decides(count: int) -> bool:
        worth = found.size / graded if graded else 1.0
        size = changed if count == changed else min(count * worth, changed)
        low, high = difference_interval(
            Estimate(found.mean, size), share, False, changed, questions
        )
        return low > 0 or high < 0

    if not answers.ungraded or not decides(changed):
        return Prospect.QUESTIONS, None
    few, enough = graded, changed
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if decides(middle) else (middle, enough)
    each = answers.ungraded / (changed - graded)
    return Prospect.GRADES, math.ceil(each * (enough - graded))


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
        if row is None or row.prospect is Prospect.GRADES:
            deciding += answers.changed
    weights = of_all * (1 + UNDECIDED * deciding / max(deciding.max(initial=0.0), 1.0))
    return {
        study.questions[at].id: float(weights[at] / weights.sum())
        for at in np.flatnonzero(of_all).tolist()
    }
