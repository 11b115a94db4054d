from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from harness.analysis import MetricFacts, RunFacts, StudyTable, analyse
from harness.analysis.results import Conclusion, MetricTrust, Trust
from harness.analysis.statistics.concordance import GradedScores, concordance
from harness.analysis.study_table import Measure
from harness.analysis.trust import trust_of
from harness.records import Floats, Layer

Builder = Callable[..., StudyTable]
FAITHFULNESS = MetricFacts("faithfulness", Layer.GENERATION)
HALLUCINATION = MetricFacts("hallucination", Layer.GENERATION, higher_is_better=False)


def trust(values: Floats, right: Floats, facts: MetricFacts = FAITHFULNESS) -> MetricTrust:
    """Compare (runs, questions) of scores with right and wrong."""
    measure = Measure(facts, values, np.full(values.shape, np.nan), False)
    return trust_of(measure, right, "grade")


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


def test_within_and_between_add_up() -> None:
    """Pairs of one run and pairs of two runs are all the pairs there are."""
    values, right = drawn(0.5)

    row = trust(values, right)

    assert row.auc_within is not None
    assert row.auc_between is not None
    assert row.auc is not None
    pairs = row.pairs_within + row.pairs_between
    assert pairs == row.right * row.wrong
    concordant = row.auc_within * row.pairs_within + row.auc_between * row.pairs_between
    assert concordant / pairs == pytest.approx(row.auc)


def test_good_useless_and_inverted_metrics() -> None:
    """Above, across and below a half; a metric of harm is turned round first."""
    values, right = drawn(1.5)
    assert trust(values, right).verdict is Trust.TRUSTED
    assert trust(-values, right).verdict is Trust.INVERTED
    assert trust(-values, right, HALLUCINATION).verdict is Trust.TRUSTED
    assert trust(drawn(0.0)[0], right).verdict is Trust.NO_EVIDENCE


def test_too_few_grades_say_nothing() -> None:
    """Under five questions, under three of a kind, or where one question decides it all."""
    values, right = drawn(1.5)
    assert trust(values[:, :4], right[:, :4]).verdict is Trust.TOO_FEW_GRADES
    lone = np.ones_like(right)
    lone[0, 0] = lone[1, 0] = 0
    assert trust(values, lone).verdict is Trust.TOO_FEW_GRADES
    lone[2, 0] = 0
    row = trust(values, lone)
    assert (row.verdict, row.low, row.high) == (Trust.TOO_FEW_GRADES, None, None)
    assert row.auc is not None


def test_nothing_graded_gives_na() -> None:
    """No pair, no AUC, no means; all right, no gap."""
    values, right = drawn(1.5)
    row = trust(values, np.full_like(right, np.nan))
    assert (row.auc, row.gap, row.mean_right, row.low, row.correlation) == (None,) * 5
    assert row.undefined == "no_scores"
    row = trust(values, np.ones_like(right))
    assert (row.mean_wrong, row.gap, row.auc, row.auc_within) == (None,) * 4
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
    assert (row.auc, row.high, row.verdict) == (1.0, 1.0, Trust.TRUSTED)
    assert row.low == pytest.approx(0.025 ** (1 / 8))

    row = trust(1 - right, right)
    assert (row.auc, row.low) == (0.0, 0.0)
    assert row.high == pytest.approx(1 - 0.025 ** (1 / 8))


def test_draws_between_repeats_say_nothing(study: Builder) -> None:
    """An answer that is right in half of its repeats is neither."""
    values, right = drawn(1.5)
    half = right.copy()
    half[0, :5] = 0.5

    row = trust(values, half)

    assert row.right + row.wrong == right.size - 5


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
