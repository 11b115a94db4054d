from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from harness.analysis import MetricFacts, RunFacts, StudyTable, analyse
from harness.analysis.results import Conclusion, MetricTrust, Trust
from harness.analysis.statistics.concordance import GradedScores, concordance
from harness.analysis.study_table import Measure, Options
from harness.analysis.trust import trust_of
from harness.records import Floats, Layer

Builder = Callable[..., StudyTable]
FAITHFULNESS = MetricFacts("faithfulness", Layer.GENERATION)
HALLUCINATION = MetricFacts("hallucination", Layer.GENERATION, higher_is_better=False)


def trust(
    values: Floats,
    right: Floats,
    facts: MetricFacts = FAITHFULNESS,
    clusters: NDArray[np.int64] | None = None,
) -> MetricTrust:
    """Compare (runs, questions) of scores with right and wrong."""
    measure = Measure(facts, values, np.full(values.shape, np.nan), False)
    return trust_of(measure, right, "grade", clusters)


def drawn(gap: float, n: int = 30, runs: int = 3) -> tuple[Floats, Floats]:
    random = np.random.default_rng(1)
    right = (random.random((runs, n)) < 0.6).astype(float)
    return random.normal(0, 1, (runs, n)) + gap * right, right


def test_the_article_s_table(article: StudyTable) -> None:
    """The published means of right and wrong answers, gaps and samples, to three digits."""
    rows = {row.metric: row for row in analyse(article).trust}
    expected = {
        "context_precision": (0.445, 0.450, -0.005, 31, 17),
        "context_recall": (0.783, 0.819, -0.036, 25, 14),
        "faithfulness": (0.617, 0.176, 0.441, 30, 17),
        "answer_relevancy": (0.579, 0.171, 0.408, 31, 17),
    }
    for metric, (right, wrong, gap, n_right, n_wrong) in expected.items():
        row = rows[metric]
        assert row.mean_right == pytest.approx(right, abs=6e-4), metric
        assert row.mean_wrong == pytest.approx(wrong, abs=6e-4), metric
        assert row.gap == pytest.approx(gap, abs=1.1e-3), metric
        assert (row.right, row.wrong) == (n_right, n_wrong)
        assert (row.missing_right, row.missing_wrong) == (31 - n_right, 17 - n_wrong)
        assert row.questions == 8
    verdicts = {metric: row.verdict for metric, row in rows.items()}
    assert verdicts == {
        "context_precision": Trust.NO_EVIDENCE,
        "context_recall": Trust.NO_EVIDENCE,
        "faithfulness": Trust.TRUSTED,
        "answer_relevancy": Trust.TRUSTED,
    }


def test_untrusted_metrics_never_win(article: StudyTable) -> None:
    """What cannot tell right from wrong is neither better nor worse in any contrast."""
    found = analyse(article)

    for contrast in found.contrasts:
        for metric in ("context_precision", "context_recall"):
            row = contrast.difference(metric)
            assert row is not None
            assert row.verdict in (Conclusion.NOT_TRUSTED, Conclusion.IDENTICAL_BY_CONSTRUCTION)
    untrusted = [f for f in found.findings if f.kind == "metric_not_trusted"]
    assert [f.metric for f in untrusted] == ["context_precision", "context_recall"]
    assert {f.names["verdict"] for f in untrusted} == {"no_evidence"}


def test_auc_is_the_mann_whitney_share() -> None:
    """The same as scipy's U over all pairs, ties counting half."""
    values, right = drawn(0.5)
    values = np.round(values)

    row = trust(values, right)

    good, bad = values[right == 1], values[right == 0]
    u = stats.mannwhitneyu(good, bad).statistic
    assert row.auc == pytest.approx(u / (good.size * bad.size))
    assert row.correlation == pytest.approx(stats.pearsonr(values.ravel(), right.ravel())[0])


def test_leaving_out_a_question_is_what_recomputing_without_it_gives() -> None:
    """The jackknife's shortcut against the long way."""
    values, right = drawn(0.5, n=6)
    questions = np.nonzero(np.ones_like(values, bool))[1]

    found = concordance(GradedScores(values.ravel(), right.ravel() > 0.5, questions))

    for q in range(6):
        others = np.delete(values, q, axis=1), np.delete(right, q, axis=1)
        assert found.left_out[q] == pytest.approx(trust(*others).auc)


def test_the_article_within_questions(article: StudyTable) -> None:
    """Four questions have right and wrong answers; with 31 pairs two metrics pass.

    The p values are those of all 20 * 15 * 6 * 20 = 36,000 ways to shuffle the labels (context
    recall: fewer, as it has NA).
    """
    rows = {row.metric: row for row in analyse(article).trust}

    within = {name: (round(row.within or 0, 2), row.within_pairs) for name, row in rows.items()}
    assert within == {
        "context_precision": (0.52, 31),
        "context_recall": (0.38, 25),
        "faithfulness": (0.79, 31),
        "answer_relevancy": (0.87, 31),
    }
    assert {row.within_questions for row in rows.values()} == {4}
    p = {name: row.within_p for name, row in rows.items()}
    assert p["faithfulness"] == pytest.approx(600 / 36_000)
    assert p["answer_relevancy"] == pytest.approx(129 / 36_000)
    assert p["context_precision"] == pytest.approx(0.476, abs=5e-4)
    assert p["context_recall"] == pytest.approx(0.843, abs=5e-4)


def test_easy_from_hard_is_not_right_from_wrong() -> None:
    """Scores that follow the question: AUC 0.80, and a half within questions.

    Twenty questions, half of them right in two of three runs and the others in one; every run
    has the same score on a question, 1 where it is easy and 0 where it is hard.
    """
    easy = np.repeat([1.0, 0.0], 10)
    right = np.array([easy, np.roll(easy, 5), easy])
    right[1] = 1 - right[0]

    row = trust(np.tile(easy, (3, 1)), right)

    assert row.auc == pytest.approx((20 * 20 + (20 * 10 + 10 * 20) / 2) / (30 * 30))
    assert (row.within, row.within_p, row.verdict) == (0.5, 1.0, Trust.NO_EVIDENCE)


@pytest.mark.parametrize("hard_is_higher", [0.0, 3.0])
def test_separation_within_questions_is_enough(hard_is_higher: float) -> None:
    """Right above wrong by 0.1 in every question, whatever level each question has."""
    random = np.random.default_rng(2)
    ease = random.normal(0, 1, 30)
    right = (random.random((6, 30)) < 1 / (1 + np.exp(-ease))).astype(float)

    row = trust(0.1 * right - hard_is_higher * ease, right)

    assert (row.within, row.verdict) == (1.0, Trust.TRUSTED)
    assert row.auc is not None
    assert (row.auc < 0.5) is (hard_is_higher > 0)


def test_one_bad_run_is_no_evidence() -> None:
    """0 in one run of six, 1 in all others, and right answers to two of thirteen questions.

    The AUC is above a half, as all four right answers are in other runs; within the questions
    that have them the run is wrong as others are: each right answer beats one of its 4 wrong
    ones and ties with three, 0.625 of 16 pairs.
    """
    values, right = np.ones((6, 13)), np.zeros((6, 13))
    values[0] = 0
    right[1:3, 0] = right[3:5, 1] = 1

    row = trust(values, right)

    assert (row.within, row.within_pairs, row.within_questions) == (0.625, 16, 2)
    # neither question has a right answer in the bad run: (4 of 6)**2
    assert row.within_p == pytest.approx(4 / 9)
    assert row.verdict is Trust.NO_EVIDENCE


@given(st.integers(0, 2**32 - 1), st.integers(0, 7), st.permutations(range(4)))
def test_swapping_runs_within_a_question_changes_nothing(
    seed: int, question: int, order: list[int]
) -> None:
    """So leaving out untrusted metrics does not favour any contrast (an independent filter)."""
    random = np.random.default_rng(seed)
    values = random.integers(0, 4, (4, 8)) / 3
    values[random.random((4, 8)) < 0.1] = np.nan
    right = random.integers(0, 2, (4, 8)).astype(float)
    swapped, swapped_right = values.copy(), right.copy()
    swapped[:, question] = values[order, question]
    swapped_right[:, question] = right[order, question]

    for clusters in (None, np.arange(8) // 2):
        before, after = (
            trust(values, right, clusters=clusters),
            trust(swapped, swapped_right, clusters=clusters),
        )
        kept = ("verdict", "within", "within_p", "within_pairs", "auc")
        for name in kept:
            assert getattr(before, name) == getattr(after, name), name


def test_questions_of_a_document_are_one_piece_of_evidence() -> None:
    """Ten questions of two documents: p is 1/4, where ten independent ones give 1/1024."""
    right = np.tile([[1.0], [0.0]], (1, 10))

    alone = trust(right, right)
    assert (alone.within_p, alone.verdict) == (2.0**-10, Trust.TRUSTED)
    together = trust(right, right, clusters=np.repeat([0, 1], 5))
    assert (together.within_p, together.verdict) == (0.25, Trust.TOO_FEW_GRADES)
    ten = trust(1 - right, right, clusters=np.arange(10))
    assert ten.verdict is Trust.INVERTED


def test_clusters_reach_the_trust_table(study: Builder) -> None:
    """`cluster=` makes a document of several questions one unit here too."""
    right = {"P": [1] * 6, "Q": [0] * 6}
    table = study(
        right, {FAITHFULNESS: {name: list(map(float, row)) for name, row in right.items()}}
    )
    clusters = {f"q{n}": f"document {n % 2}" for n in range(1, 7)}

    assert [row.within_p for row in analyse(table).trust] == [2.0**-6]
    found = analyse(table, Options(clusters=clusters))
    assert [row.within_p for row in found.trust] == [0.25]


def test_good_useless_and_inverted_metrics() -> None:
    """Above, across and below a half; a metric of harm is turned round first."""
    values, right = drawn(1.5)
    assert trust(values, right).verdict is Trust.TRUSTED
    assert trust(-values, right).verdict is Trust.INVERTED
    assert trust(-values, right, HALLUCINATION).verdict is Trust.TRUSTED
    assert trust(drawn(0.0)[0], right).verdict is Trust.NO_EVIDENCE


def test_too_few_grades_say_nothing() -> None:
    """Where not even perfect scores could be told from chance.

    One of six right: p is 1/6 at best. With another question that has one of four: 1/24.
    """
    right = np.zeros((6, 2))
    right[0] = 1
    right[4:, 1] = np.nan

    alone = trust(right, right[:, :1].repeat(2, axis=1) * [1, np.nan])
    assert (alone.within, alone.within_pairs, alone.verdict) == (1.0, 5, Trust.TOO_FEW_GRADES)
    row = trust(right, right)
    assert (row.within_p, row.within_pairs, row.verdict) == (
        pytest.approx(1 / 24),
        8,
        Trust.TRUSTED,
    )


def test_without_both_answers_to_a_question_nothing_can_be_checked() -> None:
    """Every question is right in both runs or wrong in both: pairs of two questions only."""
    right = np.tile([0.0, 1.0], (2, 4))

    row = trust(right, right)

    assert (row.verdict, row.within, row.within_p) == (Trust.NOT_CHECKABLE, None, None)
    assert (row.within_pairs, row.within_questions, row.auc) == (0, 0, 1.0)


def test_nothing_graded_gives_na() -> None:
    """No pair, no AUC, no means; all right, no gap."""
    values, right = drawn(1.5)
    row = trust(values, np.full_like(right, np.nan))
    assert (row.auc, row.gap, row.mean_right, row.low, row.correlation) == (None,) * 5
    assert row.undefined == "no_scores"
    row = trust(values, np.ones_like(right))
    assert (row.mean_wrong, row.gap, row.auc, row.within) == (None,) * 4
    assert row.undefined == "no_wrong"


def test_the_reason_for_no_correlation_is_the_true_one() -> None:
    """Scores of 0.25 and 0.143 are not constant: every answer is right, or every one is wrong."""
    values = np.array([[0.25] * 6, [0.143] * 6])
    right, mixed = np.ones_like(values), np.tile([0.0, 1.0], (2, 3))

    assert trust(values, right).undefined == "no_wrong"
    assert trust(values, 1 - right).undefined == "no_right"
    assert trust(values, mixed).undefined is None
    assert trust(np.full_like(values, 0.25), mixed).undefined == "constant"


def test_a_perfect_metric_is_not_a_certainty() -> None:
    """Eight of eight questions separated: the exact bound, 0.025 ** (1/8) = 0.63."""
    right = np.tile([0.0, 1.0], (2, 4))

    row = trust(right * 0.9, right)
    assert (row.auc, row.high) == (1.0, 1.0)
    assert row.low == pytest.approx(0.025 ** (1 / 8))

    row = trust(1 - right, right)
    assert (row.auc, row.low) == (0.0, 0.0)
    assert row.high == pytest.approx(1 - 0.025 ** (1 / 8))


def test_repeats_of_both_kinds_are_neither_right_nor_wrong() -> None:
    """Three repeats of nine questions, one answer wrong: 8 cells right, none wrong, one mixed.

    The mixed cell's score is a mean over right and wrong answers, so no mean holds it.
    """
    right = np.ones((1, 9))
    right[0, 0] = 2 / 3
    values = np.array([[0.5, *[0.9] * 8]])

    row = trust(values, right)

    assert (row.right, row.wrong, row.mixed, row.questions) == (8, 0, 1, 9)
    assert row.mean_right == pytest.approx(0.9)
    assert row.mean_wrong is None
    assert trust(values * np.nan, right).mixed == 0


def test_repeats_add_to_what_can_be_checked() -> None:
    """Two runs, each question right in 2 of 3 repeats of one and in 1 of 3 of the other.

    No cell is right throughout, yet in six of six questions the score follows the share.
    """
    shares = np.tile([[2 / 3, 1 / 3], [1 / 3, 2 / 3]], 3)

    row = trust(shares, shares)

    assert (row.mixed, row.mean_right, row.within_questions) == (12, None, 6)
    # of the 2/3 * 2/3 + 1/3 * 1/3 pairs of a question the first part agrees
    assert (row.within, row.within_pairs) == (pytest.approx(4 / 5), pytest.approx(6 * 5 / 9))
    assert (row.within_p, row.verdict) == (2.0**-6, Trust.TRUSTED)


def test_answer_match_stands_in_where_nobody_graded(study: Builder) -> None:
    """The table says so; answer_match itself and costs are not tested."""
    match = MetricFacts("answer_match", Layer.OVERALL)
    seconds = MetricFacts("seconds", Layer.COST, None, bounded=False)
    refusal = MetricFacts("refusal", Layer.GENERATION, None)
    rows = {"P": [0.0, 1.0], "Q": [1.0, 1.0]}
    metrics = {match: rows, FAITHFULNESS: rows, seconds: rows, refusal: rows}

    [row] = analyse(study(metrics=metrics)).trust
    assert (row.metric, row.graded_by, row.verdict) == (
        "faithfulness",
        "answer_match",
        Trust.TOO_FEW_GRADES,
    )

    graded = analyse(study(right={"P": [0, 1], "Q": [1, 1]}, metrics=metrics))
    assert [row.metric for row in graded.trust] == ["answer_match", "faithfulness"]
    assert {row.graded_by for row in graded.trust} == {"grade"}


def test_a_run_given_again_is_no_new_evidence(study: Builder) -> None:
    """The second of two runs with equal factors is left out: 2 right and 1 wrong, not 4 and 2."""
    right = {"P": [1, 1, 0], "again": [1, 1, 0]}
    values = {"P": [0.9, 0.8, 0.1], "again": [0.9, 0.8, 0.1]}
    alike = {name: RunFacts(name, name, leaves={"top_k": 4}) for name in right}

    [found] = analyse(study(right, {FAITHFULNESS: values}, runs=alike)).trust

    assert (found.right, found.wrong) == (2, 1)
