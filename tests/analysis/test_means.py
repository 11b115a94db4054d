from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.analysis import MetricFacts, RunFacts, StudyTable, analyse
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
    scores = {seconds: {"a": [1.0] * 8}, lost: {"a": [None] * 8}, blind: {"a": [0.5, 0.4] * 4}}

    found = analyse(study(metrics=scores, right={"a": [1, 1, 0, 0] * 2}))

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
