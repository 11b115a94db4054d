from collections.abc import Callable

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
