from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.analysis import Options, RunFacts, StudyTable, analyse
from harness.analysis.results import MissingRun

Builder = Callable[..., StudyTable]


def run(name: str, k: int, prompt: str, passages_from: str | None = None) -> RunFacts:
    """Return a run; one that was given its passages has the top_k of the run that found them."""
    return RunFacts(
        name,
        name.partition("-")[0],
        {"prompt": prompt},
        {"top_k": k, "prompt.text": prompt, "passages_from": passages_from},
        overrides=(f"passages_from={passages_from}",)
        if passages_from
        else ("variant.chat.seed=1",),
        inactive=frozenset({"passages_from"} if passages_from else ()),
    )


def test_the_missing_cells_are_commands(study: Builder) -> None:
    """Each side's generator on the other side's passages."""
    runs = {"a": run("a", 4, "default"), "b": run("b", 9, "strict")}

    [one] = analyse(study(right={"a": [1], "b": [0]}, runs=runs)).counterfactuals

    assert (one.left, one.right, one.crossed) == ("a", "b", (None, None))
    assert one.missing == (
        MissingRun(("variant=a", "variant.chat.seed=1", "passages_from=b")),
        MissingRun(("variant=b", "variant.chat.seed=1", "passages_from=a")),
    )
    assert one.splits == ()


def test_the_parts_add_up_to_the_total(study: Builder) -> None:
    """4 right with all old, 6 with new passages, 1 with the new prompt, 3 with both: +2 and -3."""
    runs = {
        "a": run("a", 4, "default"),
        "a-new": run("a-new", 9, "default", "b"),
        "b-old": run("b-old", 4, "strict", "a"),
        "b": run("b", 9, "strict"),
    }
    right = {
        name: [1] * count + [0] * (8 - count)
        for name, count in zip(runs, (4, 6, 1, 3), strict=True)
    }

    found = analyse(study(right=right, runs=runs))

    [one] = found.counterfactuals
    assert one.crossed == ("a-new", "b-old")
    assert one.missing == ()
    [split] = one.splits
    assert (split.metric, split.questions) == ("right", 8)
    assert (split.total, split.retrieval, split.generation) == pytest.approx(
        (-1 / 8, 2 / 8, -3 / 8)
    )


def test_questions_that_one_corner_lacks_are_left_out(study: Builder) -> None:
    """Nothing in common, no split."""
    runs = {
        "a": run("a", 4, "default"),
        "a-new": run("a-new", 9, "default", "b"),
        "b-old": run("b-old", 4, "strict", "a"),
        "b": run("b", 9, "strict"),
    }
    right: dict[str, list[int | None]] = {"a": [1, None], "a-new": [None, 1], "b-old": [1, 1]}

    [one] = analyse(study(right={**right, "b": [1, 1]}, runs=runs)).counterfactuals

    assert one.splits == ()


def test_a_run_that_was_given_its_passages_is_no_side(study: Builder) -> None:
    """a's generator on b's passages differs from c in both parts, and is no pair of its own."""
    runs = {
        "a": run("a", 4, "default"),
        "b": run("b", 9, "default"),
        "a-new": run("a-new", 9, "default", "b"),
        "c": run("c", 20, "strict"),
    }

    found = analyse(study(right={name: [1] for name in runs}, runs=runs)).counterfactuals

    assert [(one.left, one.right) for one in found] == [("a", "c"), ("b", "c")]


def test_a_run_that_retrieves_alike_is_a_crossing(study: Builder) -> None:
    """ctx_k9 is ctx_k4's generator on what ctx_k9_strict retrieves: it need not be run again.

    A run that was given just those passages comes first.
    """
    runs = {
        "k4": run("k4", 4, "default"),
        "k9": run("k9", 9, "default"),
        "k9_strict": run("k9_strict", 9, "strict"),
    }
    right = {name: [1, 0] for name in runs}

    [one] = analyse(study(right=right, runs=runs)).counterfactuals

    assert (one.left, one.right, one.crossed) == ("k4", "k9_strict", ("k9", None))
    assert one.missing == (
        MissingRun(("variant=k9_strict", "variant.chat.seed=1", "passages_from=k4")),
    )

    runs["k4-given"] = run("k4-given", 9, "default", "k9_strict")
    right["k4-given"] = [1, 1]
    [one] = analyse(study(right=right, runs=runs)).counterfactuals
    assert one.crossed == ("k4-given", None)


def test_a_view_shows_its_own_pairs(study: Builder) -> None:
    """A baseline or a factor keeps the pairs that contain it."""
    runs = {
        "a": run("a", 4, "default"),
        "b": run("b", 9, "strict"),
        "c": replace(run("c", 4, "brief"), leaves={"top_k": 4, "index.contents": "ctx"}),
    }
    table = study(right={name: [1] for name in runs}, runs=runs)

    def shown(**asked: str) -> list[tuple[str, str]]:
        return [(one.left, one.right) for one in analyse(table, Options(**asked)).counterfactuals]

    assert shown() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert shown(baseline="a") == [("a", "b"), ("a", "c")]
    assert shown(factor="top_k") == [("a", "b"), ("b", "c")]


def test_two_retrieval_factors_are_no_counterfactual(study: Builder) -> None:
    """Only where both parts changed is there something to split."""
    one = RunFacts("a", "a", {}, {"top_k": 4, "index.contents": "text"})
    two = RunFacts("b", "b", {}, {"top_k": 9, "index.contents": "ctx"})

    assert (
        analyse(study(right={"a": [1], "b": [0]}, runs={"a": one, "b": two})).counterfactuals == ()
    )
