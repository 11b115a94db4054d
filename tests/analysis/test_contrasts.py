from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from harness.analysis import MetricFacts, Options, Primary, RunFacts, StudyTable, analyse
from harness.analysis.results import Attribution, Conclusion, Contrast, Difference, TestFamily
from harness.records import Layer

Builder = Callable[..., StudyTable]

FAITHFULNESS = MetricFacts("faithfulness", Layer.GENERATION)
RECALL = MetricFacts("context_recall", Layer.RETRIEVAL)
SECONDS = MetricFacts("seconds", Layer.COST, higher_is_better=False, bounded=False)
TOKENS = MetricFacts("input_tokens", Layer.COST, higher_is_better=False, bounded=False)
RETURNED = MetricFacts("passages_returned", Layer.COST, higher_is_better=None, bounded=False)
MOVED = "retrieval_moved"
HALLUCINATION = MetricFacts("hallucination", Layer.GENERATION, higher_is_better=False)
MANY = 24


def only(study: StudyTable, metric: str, options: Options = Options()) -> Difference:  # noqa: B008
    [contrast] = analyse(study, options).contrasts
    row = contrast.difference(metric)
    assert row is not None
    return row


def contrast(study: StudyTable) -> Contrast:
    [found] = analyse(study).contrasts
    return found


def test_means_rest_on_the_questions_scored_on_both_sides(study: Builder) -> None:
    """Two NA on one side: 0.9 over 2 of 4 is no better than 0.7 over 4 of 4."""
    table = study(metrics={FAITHFULNESS: {"P": [0.9, None, None, 0.9], "Q": [0.9, 0.5, 0.5, 0.9]}})

    found = analyse(table)

    p, q = found.means[0].cells
    assert (p.mean, p.scored, p.asked) == (pytest.approx(0.9), 2, 4)
    assert (q.mean, q.scored, q.asked) == (pytest.approx(0.7), 4, 4)
    assert found.means[0].common == ("q1", "q4")
    assert (p.common, q.common) == (pytest.approx(0.9), pytest.approx(0.9))
    assert (p.worst, p.best) == (pytest.approx(0.45), pytest.approx(0.95))
    assert p.statuses == {"no_claims": 2}
    row = only(table, "faithfulness")
    assert (row.mean, row.questions, row.ties) == (0.0, 2, 2)
    assert (row.dropped_left, row.dropped_right, row.dropped_both) == (("q2", "q3"), (), ())
    assert row.verdict is Conclusion.NO_EVIDENCE
    assert row.flips_with_missing


def test_na_is_not_zero_on_either_side(study: Builder) -> None:
    """1 and 1 with an NA between, against 0.7 throughout, is +0.3 on two questions."""
    table = study(metrics={FAITHFULNESS: {"Q": [0.7, 0.7, 0.7], "P": [1.0, None, 1.0]}})

    row = only(table, "faithfulness")

    assert (row.mean, row.questions) == (pytest.approx(0.3), 2)
    assert row.right_mean == 1.0


def test_failures_of_the_system_count_as_wrong(study: Builder) -> None:
    """6 right, 2 wrong and 2 without an answer is 6 of 10, the two named apart."""
    answers: list[str | None] = ["text"] * 8 + [None] * 2
    table = study(right={"P": [1] * 6 + [0] * 2 + [None] * 2}, answers={"P": answers})

    found = analyse(table)

    [row] = found.outcomes.rows
    assert (row.right, row.known, row.errors, row.share) == (6, 10, 2, 0.6)
    [finding] = [f for f in found.findings if f.kind == "system_errors"]
    assert finding.questions == ("q9", "q10")
    assert finding.numbers == {"errors": 2, "asked": 10}


def test_two_runs_are_paired_by_question(study: Builder) -> None:
    """Paired standard error 0.164, not 0.250; two changes are what a coin does."""
    table = study(right={"Q": [0, 1, 0, 0, 0, 0, 1, 0], "P": [1, 1, 0, 1, 0, 0, 1, 0]})

    row = only(table, "right")

    assert row.mean == 0.25
    assert row.standard_error == pytest.approx(0.164, abs=5e-4)
    assert row.mcnemar is not None
    assert (row.mcnemar.p, row.mcnemar.discordant) == (0.5, 2)
    assert (row.p, row.verdict) == (0.5, Conclusion.NO_EVIDENCE)


def test_pairs_with_a_missing_side_are_left_out(study: Builder) -> None:
    """8 questions, one NA: n = 7, and whether zero is inside follows from the stored limits."""
    deltas = [0.0, 0.1, 0.3, 0.2, 0.25, 0.1, 0.135]
    table = study(
        metrics={
            FAITHFULNESS: {"P": [0.5] * 8, "Q": [*(0.5 + d for d in deltas), None]},
        }
    )

    row = only(table, "faithfulness")

    assert row.questions == 7
    assert row.dropped_right == ("q8",)
    assert row.low is not None
    assert row.high is not None


def test_all_missing_is_na_everywhere(study: Builder) -> None:
    """A metric without a single score is NA in every statistic, 0 in none."""
    table = study(metrics={FAITHFULNESS: {"P": [None, None], "Q": [None, None]}})

    row = only(table, "faithfulness")

    assert row.verdict is Conclusion.NOT_COMPARED
    nothing = (row.mean, row.left_mean, row.right_mean, row.low, row.high, row.p, row.p_adjusted)
    assert nothing == (None,) * 7
    assert (row.standard_error, row.detectable, row.questions_needed) == (None,) * 3
    cell = analyse(table).means[0].cells[0]
    assert (cell.mean, cell.low, cell.common, cell.units) == (None,) * 4
    assert not [f for f in analyse(table).findings if f.kind.startswith("nothing")]


def test_two_questions_of_one_wording_are_scored_apart(study: Builder) -> None:
    """Joined by id: two rows, and a warning that they share their text."""
    table = study(right={"P": [1, 0], "Q": [1, 1]})
    twin = [replace(question, question="何月最多？") for question in table.questions]

    found = analyse(replace(table, questions=tuple(twin)))

    assert found.outcomes.rows[0].cells == (1.0, 0.0)
    [finding] = [f for f in found.findings if f.kind == "same_wording"]
    assert finding.questions == ("q1", "q2")


def test_better_needs_its_evidence(study: Builder) -> None:
    """24 questions all up by a little are beyond chance; the direction is the metric's own."""
    random = np.random.default_rng(0)
    low = random.uniform(0.2, 0.4, MANY)
    declared = tuple(Primary("top_k", name) for name in ("faithfulness", "hallucination"))
    table = study(
        metrics={
            FAITHFULNESS: {"P": low, "Q": low + 0.3},
            HALLUCINATION: {"P": low, "Q": low + random.uniform(0.2, 0.4, MANY)},
            TOKENS: {"P": low, "Q": low + random.uniform(1, 2, MANY)},
        }
    )

    found = analyse(table, Options(primary=declared))

    rows = {d.metric: d for d in found.contrasts[0].differences}
    assert rows["faithfulness"].verdict is Conclusion.BETTER
    assert (rows["faithfulness"].wins, rows["faithfulness"].losses) == (MANY, 0)
    assert rows["hallucination"].verdict is Conclusion.WORSE
    assert (rows["hallucination"].wins, rows["hallucination"].losses) == (0, MANY)
    tokens = rows["input_tokens"]
    assert (tokens.verdict, tokens.p, tokens.worst) == (Conclusion.NOT_TESTED, None, None)
    assert tokens.low is not None
    # one choice of signs in 10,000 is as far out
    assert rows["faithfulness"].p_adjusted == 1e-4
    kinds = {(f.kind, f.metric) for f in found.findings}
    assert {("better", "faithfulness"), ("worse", "hallucination")} <= kinds
    # without a declared test, and without grades, nothing may be claimed
    explored = {d.metric: d for d in contrast(table).differences}
    assert explored["faithfulness"].verdict is Conclusion.SUGGESTED
    assert explored["faithfulness"].p_adjusted is None


def test_declared_tests_are_a_family_of_their_own(study: Builder) -> None:
    """What a study declared before collecting is not paid for by what it did not."""
    rows = {"P": [0.1] * 8, "Q": [0.2, 0.3, 0.25, 0.4, 0.35, 0.2, 0.3, 0.5]}
    table = study(metrics={FAITHFULNESS: rows, HALLUCINATION: rows, TOKENS: rows})

    declared = Options(primary=(Primary("top_k", "faithfulness"),))

    row = only(table, "faithfulness", declared)
    assert (row.family, row.p_adjusted, row.verdict) == (
        TestFamily.PRIMARY, 2 / 2**8, Conclusion.BETTER,
    )  # fmt: skip
    other = only(table, "hallucination", declared)
    assert (other.family, other.p_adjusted, other.q) == (TestFamily.EXPLORATORY, None, 2 / 2**8)
    family = analyse(table, declared).family
    assert (family.tests, family.primary, family.level, family.declared) == (1, 1, 0.05, True)


def test_identical_answers_say_that_no_effect_was_possible(study: Builder) -> None:
    """k = 9 and 12 over six passages: not "no effect", but none possible; tokens still differ."""
    passages = {name: [["a", "b"]] * 8 for name in ("P", "Q")}
    answers = {name: [f"answer {n}" for n in range(8)] for name in ("P", "Q")}
    table = study(
        right={"P": [1] * 8, "Q": [1] * 8},
        metrics={TOKENS: {"P": [1.0] * 8, "Q": [2, 3, 4, 5, 6, 7, 8, 9]}},
        passages=passages,
        answers=answers,
    )

    found = contrast(table)

    assert found.attribution is Attribution.NO_EFFECT_POSSIBLE
    right, tokens = found.differences
    assert (right.verdict, right.interval) == (Conclusion.NO_EFFECT_POSSIBLE, "construction")
    assert (tokens.verdict, tokens.mean) == (Conclusion.NOT_TESTED, 4.5)
    assert "no_effect_possible" in {f.kind for f in analyse(table).findings}


def test_same_passages_with_other_retrieval_scores_are_an_error(study: Builder) -> None:
    """Equal passages must have equal retrieval scores to the bit; if not, nothing else counts."""
    table = study(
        metrics={RECALL: {"P": [0.5, 0.5], "Q": [0.5, 0.5 + 1e-12]}},
        passages={"P": [["a"], ["b"]], "Q": [["a"], ["b"]]},
    )

    found = analyse(table)

    first = found.findings[0]
    assert (first.kind, first.severity.value) == ("retrieval_scores_differ", "error")
    assert (first.metric, first.questions) == ("context_recall", ("q2",))


def test_a_prompt_moves_no_passage(study: Builder) -> None:
    """Where only what acts after retrieval changed, other passages tell of something unnamed."""
    runs = {
        name: RunFacts(name, name, {"prompt": wording}, {"prompt.text": wording, "top_k": 4})
        for name, wording in (("P", "default"), ("Q", "strict"))
    }
    passages = {"P": [["a", "b"], ["c"], ["d"]], "Q": [["b", "a"], ["c"], ["e"]]}
    asked = {"right": {"P": [0, 0, 0], "Q": [1, 0, 0]}, "passages": passages}

    [found] = [f for f in analyse(study(runs=runs, **asked)).findings if f.kind == MOVED]

    assert (found.severity.value, found.factor, found.left, found.right, found.questions) == (
        "warning", "prompt", "P", "Q", ("q1", "q3"),
    )  # fmt: skip
    # by top_k they may
    assert MOVED not in {f.kind for f in analyse(study(**asked)).findings}


def test_equal_answers_that_are_judged_unequally_are_an_error(study: Builder) -> None:
    """The same answer to the same passages, scored 0.5 and 0.9: no factor did that."""
    same = {"P": [["a"], ["b"]], "Q": [["a"], ["b"]]}
    table = study(
        metrics={FAITHFULNESS: {"P": [0.5, 0.5], "Q": [0.9, 0.5]}},
        passages=same,
        answers={"P": ["x", "y"], "Q": ["x", "y"]},
    )

    found = analyse(table)

    assert found.findings[0].kind == "judged_unequally"
    assert found.findings[0].questions == ("q1",)
    assert only(table, "faithfulness").verdict is Conclusion.NO_EVIDENCE


def test_other_judges_are_not_compared(study: Builder) -> None:
    """Scores of two judges or prompts under one name are not one metric."""
    one = RunFacts("P", "P", leaves={"top_k": 1}, scored_by={"faithfulness": "h1"})
    two = RunFacts("Q", "Q", leaves={"top_k": 2}, scored_by={"faithfulness": "h2"})
    rows = {"P": [0.1, 0.2], "Q": [0.3, 0.4]}
    table = study(metrics={FAITHFULNESS: rows, TOKENS: rows}, runs={"P": one, "Q": two})

    row = only(table, "faithfulness")

    assert (row.verdict, row.p, row.questions) == (Conclusion.NOT_COMPARED, None, 2)
    assert only(table, "input_tokens").mean == pytest.approx(0.2)
    [finding] = [f for f in analyse(table).findings if f.kind == "judged_differently"]
    assert (finding.metric, finding.numbers) == ("faithfulness", {"others": 0})


def test_times_are_shown_and_not_tested(study: Builder) -> None:
    """All 24 questions slower by one second: +1, and no p.

    A declared test of it is named as not made.
    """
    low = list(range(MANY))
    more = [n + 1 for n in low]
    table = study(metrics={facts: {"P": low, "Q": more} for facts in (SECONDS, RETURNED, TOKENS)})
    declared = Primary("top_k", "seconds")

    found = analyse(table, Options(primary=(declared,)))

    rows = {row.metric: row for row in found.contrasts[0].differences}
    for metric in ("seconds", "passages_returned"):
        row = rows[metric]
        assert (row.verdict, row.mean, row.questions) == (Conclusion.NOT_TESTED, 1.0, MANY)
        assert (row.losses, row.wins) == ((MANY, 0) if metric == "seconds" else (0, MANY))
        assert (row.p, row.p_adjusted, row.low, row.standard_error) == (None,) * 4
        assert (row.interval, row.detectable, row.questions_needed) == ("none", None, None)
        assert row.family is TestFamily.NONE
    assert (found.family.tests, found.family.primary) == (0, 0)
    [undone] = [f for f in found.findings if f.kind == "primary_not_tested"]
    assert (undone.factor, undone.metric) == ("top_k", "seconds")


def test_interactions_of_times_are_left_out(study: Builder) -> None:
    """They would have nothing but an interval and a p, and those are not asked for."""
    runs = {
        f"{k}{prompt}": RunFacts(f"{k}{prompt}", "v", {"prompt": prompt}, {"top_k": k})
        for k in (4, 9)
        for prompt in ("default", "strict")
    }
    rows = {name: [1.0, 2.0] for name in runs}

    [one] = analyse(study(metrics={SECONDS: rows, TOKENS: rows}, runs=runs)).interactions

    assert [row.metric for row in one.differences] == ["input_tokens"]


def test_questions_of_one_document_count_together(study: Builder) -> None:
    """Eight questions on two documents are two clusters, and two coin flips reach p = 0.5."""
    rows = {"P": [0.2] * 8, "Q": [0.5, 0.6, 0.7, 0.5, 0.3, 0.4, 0.5, 0.3]}
    table = study(metrics={FAITHFULNESS: rows})
    clusters = {f"q{n}": "one" if n <= 4 else "two" for n in range(1, 9)}

    free, tied = (
        only(table, "faithfulness"),
        only(table, "faithfulness", Options(clusters=clusters)),
    )

    assert analyse(table).clusters is None
    assert analyse(table, Options(clusters=clusters)).clusters == 2
    assert (free.p, tied.p) == (2 / 2**8, 0.5)
    assert tied.mean == free.mean == pytest.approx(0.275)
    # cluster means 0.375 and 0.175: half their distance is the standard error
    assert tied.standard_error == pytest.approx(0.1)
    assert tied.questions == 8


def test_a_question_without_a_cluster_is_its_own(study: Builder) -> None:
    """Clusters of one give the plain standard error."""
    rows = {"P": [0.2] * 4, "Q": [0.5, 0.6, 0.7, None]}
    table = study(metrics={FAITHFULNESS: rows})

    tied = only(table, "faithfulness", Options(clusters={"q9": "other"}))

    assert tied.standard_error == pytest.approx(only(table, "faithfulness").standard_error)
    assert (
        only(
            study(metrics={FAITHFULNESS: {"P": [None], "Q": [0.1]}}),
            "faithfulness",
            Options(clusters={"q9": "other"}),
        ).mean
        is None
    )


def test_a_partial_run_is_compared_on_what_it_was_asked(study: Builder) -> None:
    """Questions that were not asked are neither wrong nor dropped as NA."""
    half = RunFacts("Q", "Q", leaves={"top_k": 9}, asked=frozenset({"q1", "q2"}), partial=True)
    table = study(
        metrics={FAITHFULNESS: {"P": [0.1, 0.2, 0.3], "Q": [0.2, 0.3, None]}}, runs={"Q": half}
    )

    row = only(table, "faithfulness")

    assert (row.questions, row.dropped_right) == (2, ())
    assert analyse(table).means[0].cells[1].asked == 2
    [finding] = [f for f in analyse(table).findings if f.kind == "partial_run"]
    assert finding.numbers == {"asked": 2, "questions": 3}


def test_a_difference_of_one_verdict_is_marked(study: Builder) -> None:
    """Half of a two-claim answer is one verdict: that alone could make the whole difference."""
    table = study(metrics={FAITHFULNESS: {"P": [0.5, 1.0], "Q": [1.0, 1.0]}})
    table.scores.units[:] = 2

    assert only(table, "faithfulness").under_one_verdict
    table.scores.units[:] = 4
    assert not only(table, "faithfulness").under_one_verdict


def test_answer_match_is_not_tested_twice(study: Builder) -> None:
    """Where right/wrong is `answer_match` alone, it is compared once; beside grades, separately."""
    match = MetricFacts("answer_match", Layer.OVERALL)
    rows = {"P": [0.0, 1.0], "Q": [1.0, 1.0]}

    assert [d.metric for d in contrast(study(metrics={match: rows})).differences] == ["right"]
    graded = study(right={"P": [1, 1], "Q": [1, 0]}, metrics={match: rows})
    assert [d.metric for d in contrast(graded).differences] == ["right", "answer_match"]


def test_repeats_give_fractions_and_no_mcnemar(study: Builder) -> None:
    """Half a question right fits no table of 0/1 pairs."""
    table = study(right={"P": [0, 0], "Q": [1, 1]})
    table.right.values[1, 0] = 0.5

    row = only(table, "right")

    assert row.mcnemar is None
    assert row.interval == "t"
    [finding] = [f for f in analyse(table).findings if f.kind == "answers_changed"]
    assert finding.numbers["p"] == row.p


def test_two_of_three_repeats_are_a_third_more(study: Builder) -> None:
    """One of 3 repeats right against 2 of 3, on 8 questions: +1/3, and p and interval agree."""
    table = study(right={"P": [0] * 8, "Q": [1] * 8})
    table.right.values[:] = [[1 / 3] * 8, [2 / 3] * 8]

    row = only(table, "right")

    assert row.mean == pytest.approx(1 / 3)
    assert (row.mcnemar, row.p, row.interval) == (None, 2 / 2**8, "t")
    # up to 0.36942 of the questions may be otherwise
    assert (row.low, row.high) == pytest.approx((0.63058 / 3, 1.36942 / 3), abs=1e-5)


def test_equal_differences_are_worse_in_the_interval_too(study: Builder) -> None:
    """8 questions, all 0.05 lower: p = 2 / 2 ** 8, and the same where one moves by 1e-9."""
    found = []
    for last in (0.45, 0.45 + 1e-9):
        rows = {"P": [0.5] * 8, "Q": [0.45] * 7 + [last]}
        declared = Options(primary=(Primary("top_k", "faithfulness"),))
        row = only(study(metrics={FAITHFULNESS: rows}), "faithfulness", declared)
        assert (row.p, row.verdict) == (2 / 2**8, Conclusion.WORSE)
        found.append((row.low, row.high))

    assert found[0] == pytest.approx((-0.06847, -0.03153), abs=1e-5)
    assert found[0] == pytest.approx(found[1], abs=1e-8)


def test_what_can_be_detected_in_right_and_wrong_is_exact(study: Builder) -> None:
    """12 questions: NA where no answer changed; else 6 must change, all one way.

    P(at least 6 of 12 change) is 0.8 where each changes with a probability of 0.57794.
    """
    none = only(study(right={"P": [1] * 12, "Q": [1] * 12}), "right")
    one = only(study(right={"P": [0] * 12, "Q": [1] + [0] * 11}), "right")

    assert (none.detectable, none.questions_needed) == (None, None)
    assert one.detectable == pytest.approx(0.57794, abs=1e-5)
    # a spread of 0.28868: ((1.95996 + 0.84162) x 0.28868 / 0.08333) ** 2 + 1.95996 ** 2 / 2
    assert one.questions_needed == 97


def test_scores_missing_on_one_side_leave_it_open(study: Builder) -> None:
    """Six low scores lost on the right only: (4 x 0 + 6 x (x - 0.2)) / 10 for x from 0 to 1.

    The interval goes from the lower end of the one to the upper end of the other: ties rule by
    0.6, so the best case is 0.48 x 10 / 10.6 = 0.45283, squares 4 x 0.20505 + 6 x 0.12053 + 0.6 x
    (0.64 + 0.20505) = 2.05041, half 2.26216 x sqrt(2.05041 / 10.6 / 9.6) = 0.32111.
    """
    left = [0.9] * 4 + [0.2] * 6
    lost = [0.9] * 4 + [None] * 6
    table = study(metrics={FAITHFULNESS: {"P": left, "Q": lost}})

    row = only(table, "faithfulness")

    assert row.missing_differs
    assert (row.mean, row.worst, row.best) == pytest.approx((0.0, -0.12, 0.48))
    assert row.low is not None
    assert row.high is not None
    assert row.low < -0.12
    assert row.high == pytest.approx(0.45283 + 0.32111, abs=1e-4)
    assert row.undecided
    five = study(metrics={FAITHFULNESS: {"P": left[:9], "Q": lost[:9]}})
    assert not only(five, "faithfulness").missing_differs
    tokens = study(metrics={TOKENS: {"P": left, "Q": lost}})
    assert only(tokens, "input_tokens").missing_differs
    assert only(tokens, "input_tokens").high is None
    assert not only(tokens, "input_tokens").undecided


def test_clusters_of_one_question_are_questions(study: Builder) -> None:
    """Where each question has a document of its own, right and wrong stay a table of pairs."""
    table = study(right={"P": [0] * 8, "Q": [1] * 4 + [0] * 4})
    clusters = {f"q{n}": f"document {n}" for n in range(1, 9)}

    row = only(table, "right", Options(clusters=clusters))

    assert row.interval == "dirichlet"
    assert analyse(table, Options(clusters=clusters)).clusters is None
