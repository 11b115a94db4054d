"""Corrected differences, the grades that would decide a change, and the chances to be drawn."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from harness.analysis import MetricFacts, RunFacts, StudyTable, analyse
from harness.analysis.changes import Design
from harness.analysis.corrections import (
    chances_to_be_drawn,
    changed_answers,
    corrected_differences,
)
from harness.analysis.results import CorrectedDifference, Prospect
from harness.analysis.statistics.intervals import pair_table_interval
from harness.analysis.study_table import measures, with_draws
from harness.analysis.trust import metric_trust
from harness.records import Layer

Builder = Callable[..., StudyTable]
MATCH = MetricFacts("answer_match", Layer.OVERALL)
FAITH = MetricFacts("faithfulness", Layer.GENERATION)


def rows(study: StudyTable) -> tuple[CorrectedDifference, ...]:
    compared = measures(study)
    trust = metric_trust(study, compared)
    return corrected_differences(study, Design(study.runs), compared, trust)


def texts(changed: int, questions: int) -> dict[str, list[str | None]]:
    """Two runs whose answers to the first questions differ."""
    same: list[str | None] = [f"same {n}" for n in range(questions)]
    other: list[str | None] = [f"new {n}" for n in range(changed)]
    return {"P": same, "Q": other + same[changed:]}


def drawn(study: StudyTable, questions: Sequence[int]) -> StudyTable:
    return with_draws(study, {f"q{n}": 1 / 8 for n in questions})


def test_equal_answers_differ_by_nothing(study: Builder) -> None:
    """Four of twenty answers changed, all graded: 3 gained, 1 lost, the others exactly 0."""
    grades = {"P": [0, 0, 0, 1] + [None] * 16, "Q": [1, 1, 1, 0] + [None] * 16}

    (row,) = rows(study(right=grades, answers=texts(4, 20)))

    assert (row.questions, row.changed, row.graded) == (20, 4, 4)
    assert row.mean == pytest.approx(2 / 20)
    assert (row.low, row.high) == pytest.approx(pair_table_interval(3, 1, 20, 0.05))
    assert row.contrasts == (("P", "Q"),)
    assert row.prospect is Prospect.EQUAL
    assert row.metric is None


def test_only_a_random_sample_is_used(study: Builder) -> None:
    """Five of eight changed answers graded: nothing is estimated unless they were drawn."""
    known = [1] * 5 + [None] * 15
    table = study(right={"P": [0] * 5 + [None] * 15, "Q": known}, answers=texts(8, 20))

    (unknown,) = rows(table)
    (row,) = rows(drawn(table, range(1, 9)))
    (few,) = rows(drawn(table, range(2, 9)))

    assert (unknown.mean, unknown.low, unknown.graded) == (None, None, 0)
    assert row.mean == pytest.approx(8 / 20)
    assert (row.graded, few.graded) == (5, 4)
    assert few.mean is None
    assert row.low is not None
    assert 0 < row.low < 8 / 20
    assert row.prospect is Prospect.DECIDED


def test_a_metric_speaks_for_the_ungraded(study: Builder) -> None:
    """`answer_match` on all changed pairs moves the estimate towards what it says of the rest."""
    random = np.random.default_rng(3)
    left, right = random.integers(0, 2, 40), random.integers(0, 2, 40)
    scores = {"P": left.tolist(), "Q": right.tolist()}
    half = {name: [*row[:20], *[None] * 20] for name, row in scores.items()}
    table = drawn(study(right=half, metrics={MATCH: scores}, answers=texts(40, 40)), range(1, 21))

    (row,) = rows(table)

    deltas = right - left
    assert row.metric == "answer_match"
    assert row.mean is not None
    assert abs(row.mean - deltas.mean()) < abs(deltas[:20].mean() - deltas.mean())


def test_the_best_trusted_metric_is_used(study: Builder) -> None:
    """Without `answer_match` it is a trusted metric of answers, never one of retrieval."""
    grades = {"P": [1, 0] * 8, "Q": [0, 1] * 8}
    scores = {name: [0.9 if right else 0.1 for right in row] for name, row in grades.items()}
    recall = MetricFacts("context_recall", Layer.RETRIEVAL)
    absent = {name: [None] * 16 for name in grades}

    (row,) = rows(study(right=grades, metrics={recall: scores, MATCH: absent, FAITH: scores}))
    (none,) = rows(study(right=grades, metrics={recall: scores}))

    assert (row.metric, none.metric) == ("faithfulness", None)


def test_failures_are_known_without_a_grade(study: Builder) -> None:
    """A failure is wrong: beside a right answer it counts, beside a failure it is equal."""
    answers: dict[str, list[str | None]] = {"P": [None, None, "a"], "Q": ["new", None, "a"]}

    (row,) = rows(study(right={"P": [None] * 3, "Q": [1, None, None]}, answers=answers))

    assert (row.changed, row.graded) == (1, 1)
    assert row.mean == pytest.approx(1 / 3)


def test_a_change_of_several_pairs_is_one_row(study: Builder) -> None:
    """Both pairs of strict against default, whichever stands first; a question is their mean."""
    facts = {
        name: RunFacts(name, name, {"prompt": prompt}, {"top_k": k})
        for name, prompt, k in (
            ("A", "default", 4),
            ("B", "strict", 4),
            ("C", "strict", 9),
            ("D", "default", 9),
        )
    }
    answers = {"A": ["x", "x"], "B": ["y", "x"], "C": ["z", "x"], "D": ["x", "x"]}
    grades = {"A": [0, 0], "B": [1, 0], "C": [0, 0], "D": [0, 0]}
    table = study(right=grades, runs=facts, answers=answers)

    prompt = next(row for row in rows(table) if row.change.factor == "prompt")

    assert prompt.contrasts == (("A", "B"), ("D", "C"))
    assert (prompt.change.left, prompt.questions, prompt.changed) == ("default", 2, 1)
    assert prompt.mean == pytest.approx(1 / 4)


def test_nothing_is_learnt_where_answers_are_equal(study: Builder) -> None:
    """Below six changed answers no test could show a difference; with none it is exactly 0."""
    (five,) = rows(study(right={"P": [0] * 13, "Q": [1] * 5 + [0] * 8}, answers=texts(5, 13)))
    (six,) = rows(study(right={"P": [0] * 13, "Q": [1] * 6 + [0] * 7}, answers=texts(6, 13)))
    (two,) = rows(study(right={"P": [1] * 13, "Q": [None] * 13}, answers=texts(2, 13)))
    (none,) = rows(study(right={"P": [1] * 13, "Q": [None] * 13}, answers=texts(0, 13)))

    assert (five.prospect, six.prospect) == (Prospect.EQUAL, Prospect.DECIDED)
    assert (two.prospect, two.needed) == (Prospect.EQUAL, None)
    assert none.prospect is Prospect.EQUAL
    assert (none.mean, none.low) == (0.0, pair_table_interval(0.0, 0.0, 13, 0.05)[0])


def test_grades_that_would_decide(study: Builder) -> None:
    """12 of 20 answers changed, 5 of them graded, 4 gained: more grades would decide it.

    If 8 in 10 of the changed ones gain, grades of one pair after another narrow the interval
    until it leaves 0; each pair has one ungraded text, the old answers being graded.
    """
    known = [1, 0, 1, 0, 1] + [None] * 15
    table = study(right={"P": [0] * 20, "Q": known}, answers=texts(12, 20))

    (row,) = rows(drawn(table, range(1, 6)))

    assert row.prospect is Prospect.GRADES
    assert row.needed is not None
    assert 1 <= row.needed <= 7


def test_grades_that_would_not_decide(study: Builder) -> None:
    """As many gained as lost: not even all grades would decide it; nor where all are graded."""
    known = [1, 0, 1, 0, 1, 0] + [None] * 14
    mixed = {"P": [0, 1, 0, 1, 0, 1] + [None] * 14, "Q": known}

    (row,) = rows(drawn(study(right=mixed, answers=texts(12, 20)), range(1, 7)))
    (whole,) = rows(study(right={"P": [0, 1] * 5, "Q": [1, 0] * 5}))

    assert (row.prospect, row.needed) == (Prospect.QUESTIONS, None)
    assert whole.prospect is Prospect.QUESTIONS


def test_without_grades_the_rule_gives_the_estimate(study: Builder) -> None:
    """Ten of 13 changed answers match where they did not: some of the 20 grades would decide it."""
    scores = {"P": [0] * 13, "Q": [1] * 10 + [0] * 3}

    (row,) = rows(study(metrics={MATCH: scores}, answers=texts(10, 13)))

    assert (row.mean, row.graded, row.prospect) == (None, 0, Prospect.GRADES)
    assert row.needed is not None
    assert 2 <= row.needed <= 20
    assert rows(study(metrics={FAITH: scores})) == ()


def test_a_single_question_has_no_interval(study: Builder) -> None:
    """One question that did not change: no difference is estimated."""
    (row,) = rows(study(right={"P": [1], "Q": [1]}, answers=texts(0, 1)))

    assert (row.mean, row.low, row.prospect) == (None, None, Prospect.EQUAL)


def test_changed_questions_are_drawn_the_deciding_ones_first(study: Builder) -> None:
    """Equal answers have no chance; what could decide a change has ten times that of the rest."""
    answers: dict[str, list[str | None]] = {
        "P": ["a"] * 13,
        "Q": ["b"] * 10 + ["a"] * 3,
        "R": ["b"] * 10 + ["c"] + ["a"] * 2,
    }
    scores = {"P": [0] * 13, "Q": [1] * 10 + [0] * 3, "R": [1] * 10 + [0] * 3}
    table = study(metrics={MATCH: scores}, answers=answers)
    found = rows(table)

    chances = chances_to_be_drawn(table, Design(table.runs), found)

    # Q against R differ on q11 only, which decides nothing there; the other two changes are open
    assert {row.prospect for row in found} == {Prospect.GRADES, Prospect.EQUAL}
    assert set(chances) == {f"q{n}" for n in range(1, 12)}
    assert sum(chances.values()) == pytest.approx(1)
    assert chances["q1"] == pytest.approx(10 / (10 * 10 + 5.5))
    assert chances["q11"] == pytest.approx(5.5 / (10 * 10 + 5.5))


def test_a_study_of_one_run_draws_from_all_questions(study: Builder) -> None:
    """There is no difference to learn about: each question has the same chance."""
    table = study(right={"P": [1, 0, None, None]})

    chances = chances_to_be_drawn(table, Design(table.runs), ())

    assert chances == dict.fromkeys(("q1", "q2", "q3", "q4"), 0.25)


def test_means_are_corrected_by_a_random_sample_only(study: Builder) -> None:
    """Eleven of 14 graded in each run: used where drawn, unless equal answers are ungraded."""
    scores = {"P": [0.5] * 14, "Q": [0.5] * 14}
    grades = {"P": [1, 0] * 5 + [1] + [None] * 3, "Q": [1] * 11 + [None] * 3}

    def corrected(table: StudyTable) -> list[float | None]:
        return [cell.corrected for cell in analyse(table).means[0].cells]

    table = study(right=grades, metrics={FAITH: scores})
    equal = study(right=grades, metrics={FAITH: scores}, answers=texts(13, 14))
    chances = {f"q{n}": 1 / 14 for n in range(1, 12)}

    assert corrected(table) == [None, None]
    assert corrected(with_draws(table, chances)) == [pytest.approx(6 / 11), 1.0]
    assert corrected(with_draws(equal, chances)) == [None, None]


def test_the_analysis_has_the_rows(study: Builder) -> None:
    """They are part of every analysis, after what was drawn is known."""
    table = study(right={"P": [0, 0, 1], "Q": [1, 1, 1]})

    assert analyse(table).corrected == rows(table)
    (answers,) = changed_answers(table, Design(table.runs))
    assert answers.ungraded == 0


def test_one_grade_covers_one_text_of_one_question(study: Builder) -> None:
    """A text that two runs gave needs one grade; the same text on another question one more."""
    texts_of: dict[str, list[str | None]] = {"P": ["no", "no"], "Q": ["a", "b"], "R": ["a", "no"]}
    table = study(right={name: [None, None] for name in texts_of}, answers=texts_of)

    first, _, last = changed_answers(table, Design(table.runs))

    assert [answers.ungraded for answers in (first, last)] == [4, 2]
