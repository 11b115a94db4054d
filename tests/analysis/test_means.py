from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from harness.analysis import MetricFacts, Options, RunFacts, StudyTable, analyse
from harness.analysis.means import mean_interval
from harness.records import Layer

Builder = Callable[..., StudyTable]
RECALL = MetricFacts("context_recall", Layer.RETRIEVAL)


def run(name: str, k: object, prompt: str = "default") -> RunFacts:
    return RunFacts(name, name, {"prompt": prompt}, {"top_k": k})


def test_a_sweep_is_one_curve_in_number_order(study: Builder) -> None:
    """k = 2, 4, 9, 10, 16, never 10 before 2, over the questions that all have scored."""
    ks = (10, 16, 2, 9, 4)
    rows = {f"k{k}": [k / 100, None if k == 9 else 1.0] for k in ks}
    table = study(metrics={RECALL: rows}, runs={f"k{k}": run(f"k{k}", k) for k in ks})

    [curve] = analyse(table).curves

    assert curve.factor == "top_k"
    assert [point.value for point in curve.points] == [2, 4, 9, 10, 16]
    assert [point.means["context_recall"] for point in curve.points] == pytest.approx(
        [0.02, 0.04, 0.09, 0.10, 0.16]
    )
    assert {point.scored["context_recall"] for point in curve.points} == {1}


def test_sweeps_under_two_prompts_are_two_curves(study: Builder) -> None:
    """What else differs keeps them apart; two runs are a contrast and no curve."""
    runs = {
        f"{prompt}{k}": run(f"{prompt}{k}", k, prompt)
        for prompt in ("default", "strict")
        for k in (2, 4, 9)
        if (prompt, k) != ("strict", 9)
    }
    table = study(right={name: [1, 0] for name in runs}, runs=runs)

    [curve] = analyse(table).curves

    assert [point.run for point in curve.points] == ["default2", "default4", "default9"]


def test_a_point_has_the_interval_of_its_mean(study: Builder) -> None:
    """Of right and wrong it is that of a share, over the questions that every run has scored."""
    runs = {f"k{k}": run(f"k{k}", k) for k in (2, 4, 9)}
    table = study(right={name: [1, 1, 1, 0] for name in runs}, runs=runs)

    [curve] = analyse(table).curves

    for point in curve.points:
        span = point.intervals["right"]
        assert (span.low, span.high) == pytest.approx((0.283, 0.971), abs=0.001)
        assert span.rule == "jeffreys"


def test_names_make_no_curve(study: Builder) -> None:
    """Three prompts have no order."""
    runs = {name: run(name, 4, name) for name in ("default", "strict", "brief")}

    assert analyse(study(right={name: [1] for name in runs}, runs=runs)).curves == ()


def test_metrics_that_are_shown_in_their_own_way(study: Builder) -> None:
    """Costs, metrics that are not bounded, that are not trusted, and that no run has scored."""
    seconds = MetricFacts("seconds", Layer.COST, False, bounded=False)
    lost = MetricFacts("faithfulness", Layer.GENERATION)
    blind = MetricFacts("relevancy", Layer.GENERATION)
    scores = {
        seconds: {"a": [1.0] * 8, "b": [1.0] * 8},
        lost: {"a": [None] * 8, "b": [None] * 8},
        blind: {"a": [0.5, 0.4] * 4, "b": [0.4, 0.5] * 4},
    }

    found = analyse(study({"a": [1, 1, 0, 0] * 2, "b": [0, 0, 1, 1] * 2}, scores))

    assert (found.costs, found.unbounded, found.unscored) == (
        {"seconds"},
        {"seconds"},
        {"faithfulness"},
    )
    assert found.doubted == {"relevancy"}


@pytest.mark.parametrize("higher", [True, False, None])
def test_means_and_contrasts_agree_on_the_worst(study: Builder, higher: bool | None) -> None:
    """One of two scores is NA: 0 is the worst, and 1 where lower is better."""
    facts = MetricFacts("refusal", Layer.GENERATION, higher)
    found = analyse(study(metrics={facts: {"a": [0.5, 0.5], "b": [0.5, None]}}))

    cell = found.means[0].cells[1]
    row = found.contrasts[0].difference("refusal")
    assert row is not None
    ends = (0.75, 0.25) if higher is False else (0.25, 0.75)
    assert (cell.worst, cell.best) == ends
    assert (row.worst, row.best) == (ends[0] - 0.5, ends[1] - 0.5)


def test_an_interval_holds_no_value_that_cannot_be(study: Builder) -> None:
    """Of 0, 0, 0 and 0.004 seconds t gives 0.001 - 0.0022: no mean of seconds is below zero. Of a
    metric that the installation does not know, it may be."""
    seconds = MetricFacts("retrieval_seconds", Layer.COST, False, bounded=False)
    unknown = MetricFacts("gone", Layer.OVERALL, None, bounded=False)
    rows = {"a": [0.0, 0.0, 0.0, 0.004], "b": [0.0] * 4, "c": [0.0] * 4}

    found = analyse(study(metrics={seconds: rows, unknown: rows}))

    cells = [metric.cells[0] for metric in found.means]
    assert cells[0].low == 0.0
    assert cells[1].low == pytest.approx(0.001 - 3.1824463 * 0.001)
    assert cells[0].high == cells[1].high == pytest.approx(0.001 + 3.1824463 * 0.001)
    intervals = found.curves[0].points[0].intervals
    assert (intervals["retrieval_seconds"].low, intervals["gone"].low) == (0.0, cells[1].low)


def test_who_leads_and_how_often_chance_makes_one_lead(study: Builder) -> None:
    """Three equal runs, two questions that one of them each answers: by shuffling, one run of
    three gets both in a third of the studies, and two runs get one each in the others."""
    lead = analyse(study(right={"P": [1, 1, 0], "Q": [0, 0, 0], "R": [0, 0, 0]})).leader

    assert lead is not None
    assert (lead.runs, lead.right, lead.known, lead.compared) == (("P",), 2.0, 3, 3)
    assert lead.chance == pytest.approx(1 / 3, abs=0.02)


def test_only_what_is_graded_in_every_run_leads(study: Builder) -> None:
    """A question that one run was not graded on, a partial run, and a single run do not count."""
    table = study(right={"P": [1, None, 1], "Q": [0, 1, 1]})
    lead = analyse(table).leader
    assert lead is not None
    assert (lead.runs, lead.right, lead.known) == (("P",), 2.0, 2)
    partial = replace(table, runs=(table.runs[0], replace(table.runs[1], partial=True)))
    assert analyse(partial).leader is None


def test_the_mean_of_a_metric_that_is_nearly_always_1() -> None:
    """9 x 1 and 0.5: half a question is added at 0 and at 1.

    Middle 10 / 11 = 0.90909; squares 9.25 + 0.5 - 11 x 0.90909 ** 2 = 0.65909; half 2.26216 x
    sqrt(0.65909 / 11 / 10) = 0.17511. Student's t alone ends at 0.83690.
    """
    found = mean_interval(np.array([1.0] * 9 + [0.5]), False, RECALL)

    assert (found.low, found.high) == pytest.approx((0.73398, 1.0), abs=1e-5)
    all_right = mean_interval(np.ones(10), False, RECALL)
    moved = mean_interval(np.array([1.0] * 9 + [1 - 1e-9]), False, RECALL)
    assert all_right.low == pytest.approx(moved.low, abs=1e-6)


@pytest.mark.parametrize("n", [30, 100])
def test_the_interval_of_a_metric_that_is_nearly_always_1_covers(n: int) -> None:
    """Nine of ten questions 1, the tenth anything: the true mean of 0.95 is held 95 times of 100;
    by Student's t 0.88 and 0.92 of the time."""
    random = np.random.default_rng(0)
    draws = np.where(random.random((1_000, n)) < 0.9, 1.0, random.random((1_000, n)))

    spans = [mean_interval(row, False, RECALL) for row in draws]

    held = np.mean([(s.low or 0.0) <= 0.95 <= (s.high or 0.0) for s in spans])
    assert held >= 0.93


def test_means_count_the_questions_of_one_document_together(study: Builder) -> None:
    """Two documents of four questions, 0.2 and 0.6: the units are two, and half their distance is
    the standard error; 12.7062 x 0.2 reaches beyond 0 and 1."""
    rows = {name: [0.2] * 4 + [0.6] * 4 for name in ("a", "b", "c")}
    table = study(metrics={RECALL: rows})
    clusters = {f"q{n}": "one" if n <= 4 else "two" for n in range(1, 9)}

    free = analyse(table)
    tied = analyse(table, Options(clusters=clusters))

    alone, together = (found.means[0].cells[0] for found in (free, tied))
    assert together.mean == alone.mean == pytest.approx(0.4)
    assert (together.low, together.high) == (0.0, 1.0)
    # 2.36462 x 0.21381 / sqrt(8)
    assert alone.low == pytest.approx(0.4 - 0.17875, abs=1e-5)
    [point] = [found.curves[0].points[0].intervals["context_recall"] for found in (tied,)]
    assert (point.low, point.high) == (0.0, 1.0)


def test_means_over_repeats_use_their_own_spread(study: Builder) -> None:
    """Shares right of repeats, 0.5 on each of 8 questions, are no four of eight."""
    table = study(right={"P": [0] * 8})
    table.right.values[:] = 0.5

    found = mean_interval(table.right.values[0], True, MetricFacts("right", Layer.OVERALL))

    # up to 0.36942 of the questions may be anything
    assert (found.low, found.high) == pytest.approx((0.13058, 0.86942), abs=1e-5)
