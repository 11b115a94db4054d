from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.analysis import (
    KINDS,
    Finding,
    MetricFacts,
    Options,
    Primary,
    RunFacts,
    StudyTable,
    analyse,
    as_json,
    value_text,
)
from harness.analysis.findings import strongest_first
from harness.records import Layer
from harness.render import sentence, words

Builder = Callable[..., StudyTable]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "none"), (4, "4"), (["a", None], "a, none"), ({"a": 1}, "a=1"), ("ctx", "ctx")],
)
def test_values_are_shown_as_text(value: object, text: str) -> None:
    """A factor's value fits into a sentence."""
    assert value_text(value) == text


def test_undefined_numbers_become_null() -> None:
    """JSON has no NaN."""
    finding = Finding("informative", {"a": float("nan"), "b": None, "c": 0.5})

    [row] = as_json([finding])

    assert row["numbers"] == {"a": None, "b": None, "c": 0.5}
    assert row["contrast"] is None


def test_claims_come_first() -> None:
    """Among findings of one weight, what is beyond chance comes before facts of the design."""
    kinds = ("credit", "better", "worse", "under_every_judge")
    mixed = [Finding(kind) for kind in ("deeper_rank", *kinds)]

    assert [finding.kind for finding in strongest_first(mixed)] == [
        "better",
        "worse",
        "under_every_judge",
        "credit",
        "deeper_rank",
    ]


def test_runs_over_another_corpus_are_named(study: Builder) -> None:
    """They are never compared, and the report says why."""
    table = study(right={"P": [1], "Q": [0]})
    apart = replace(table, runs=(table.runs[0], replace(table.runs[1], corpus="other")))

    found = analyse(apart)

    assert found.incomparable == ((("Q",), ("P",), "unknown_corpus"),)


def test_one_line_stands_for_a_group_of_runs(study: Builder) -> None:
    """Two runs over a corpus, two over another, two of a system that names none: two lines, of
    which the baseline's remains in a view."""
    table = study(right={name: [1] for name in "PQRSTU"})
    corpora = dict(zip("PQRSTU", ("", "a", "a", "b", "b", ""), strict=True))
    runs = tuple(replace(run, corpus=corpora[run.name]) for run in table.runs)
    found = analyse(replace(table, runs=runs))

    lines = [(f.groups, f.names) for f in found.findings if f.kind == "not_comparable"]
    assert lines == [
        ({"runs": ("Q", "R"), "others": ("S", "T")}, {"reason": "corpus"}),
        ({"runs": ("Q", "R"), "others": ("P", "U")}, {"reason": "unknown_corpus"}),
    ]
    narrowed = analyse(replace(table, runs=runs), Options(baseline="T")).incomparable
    assert narrowed == found.incomparable[:1]
    shown = sentence(next(f for f in found.findings if f.names == lines[1][1]), words("en"))
    assert shown == (
        "Not compared, because the corpus of the latter is not known: Q, R with P, U. Add the "
        "method documents() to the system to name it."
    )


def test_quantised_metrics_are_marked(study: Builder) -> None:
    """With at most three claims a cell, 0, 1/3, 1/2 ... are all a score can be."""
    metric = MetricFacts("faithfulness", Layer.GENERATION)
    table = study(metrics={metric: {"P": [0.5, 1.0], "Q": [1.0, 0.5]}})
    table.scores.units[:] = 2

    found = analyse(table)

    assert found.means[0].cells[0].coarse == 2
    [finding] = [f for f in found.findings if f.kind == "quantised"]
    assert finding.numbers == {"coarse": 4, "cells": 4, "units": 2.0}


def test_only_scored_cells_are_called_coarse(study: Builder) -> None:
    """An NA cell rests on no units at all, and is not one of the coarse ones."""
    metric = MetricFacts("faithfulness", Layer.GENERATION)
    table = study(metrics={metric: {"P": [0.5, None, None], "Q": [1.0, 0.5, None]}})
    table.scores.units[:] = [[[2], [0], [0]], [[2], [3], [0]]]

    found = analyse(table)

    assert [(cell.coarse, cell.scored) for cell in found.means[0].cells] == [(1, 1), (2, 2)]
    assert [cell.units for cell in found.means[0].cells] == [2.0, 2.5]
    [finding] = [f for f in found.findings if f.kind == "quantised"]
    assert finding.numbers == {"coarse": 3, "cells": 3, "units": 2.0}


def test_every_kind_says_what_it_means() -> None:
    """Each kind is a sentence, and none carries a number twice."""
    for name, kind in KINDS.items():
        assert kind.meaning.endswith("."), name
        assert len(set(kind.numbers)) == len(kind.numbers), name


def test_a_study_of_one_run_has_nothing_to_compare(study: Builder) -> None:
    """One run gives its grid and means, and no finding about differences."""
    found = analyse(study(right={"P": [1, 0]}))

    assert found.contrasts == ()
    assert found.family.tests == 0
    assert found.family.level == 0.05
    assert found.outcomes.unknown == ("q1", "q2")
    assert found.findings == ()


def test_a_declared_test_that_nobody_makes_is_named(study: Builder) -> None:
    """A declared test without runs, or with a misspelt metric, is reported."""
    table = study(right={"P": [1], "Q": [0]})
    promised = (Primary("top_k", "right"), Primary("top_k", "rigth"), Primary("prompt", "right"))

    found = analyse(table, Options(primary=promised)).findings

    named = [(f.factor, f.metric) for f in found if f.kind == "primary_not_tested"]
    assert named == [("top_k", "rigth"), ("prompt", "right")]


def test_a_pair_that_nothing_separates_is_named(study: Builder) -> None:
    """Two factors at once, and the words that make the run between."""
    one = RunFacts("P", "P", leaves={"top_k": 1, "index.contents": "text"})
    two = RunFacts("Q", "Q", leaves={"top_k": 2, "index.contents": "ctx"})

    found = analyse(study(right={"P": [1], "Q": [0]}, runs={"P": one, "Q": two})).findings

    [finding] = [f for f in found if f.kind == "confounded"]
    assert finding.groups == {
        "factors": ("top_k", "index.contents"),
        "words": ("variant=P variant.top_k=2",),
    }


def test_missing_cells_that_fall_on_one_side_are_a_warning(study: Builder) -> None:
    """Six NA on the right and none on the left happen once in 32 by chance; one and none often."""
    metric = MetricFacts("faithfulness", Layer.GENERATION)
    low = [0.1] * 20

    def warned(missing: int) -> bool:
        rows = {"P": low, "Q": [0.9] * (20 - missing) + [None] * missing}
        found = analyse(study(metrics={metric: rows})).findings
        return any(f.kind == "missing_not_at_random" for f in found)

    assert warned(6)
    assert not warned(1)


def test_what_is_missing_on_both_sides_is_no_warning(study: Builder) -> None:
    """Two refusals leave no claims on either side; a third on one side of three may turn the sign.

    q1 and q2 are NA on both sides. With q3 alike the rest is equal and nothing else is missing.
    With q3 NA on the right it was 0.5 and may be 0 to 1: a sum of -0.5 to +0.5 beside 0.
    """
    metric = MetricFacts("faithfulness", Layer.GENERATION)

    def warned(last: float | None) -> bool:
        rows = {"P": [None, None, 0.5, 0.5], "Q": [None, None, last, 0.5]}
        found = analyse(study(metrics={metric: rows}))
        row = found.contrasts[0].differences[0]
        assert row.flips_with_missing is (last is None)
        # with every NA, those on both sides too
        assert row.worst == (-0.5 if last else -2.5 / 4)
        return any(f.kind == "missing_not_at_random" for f in found.findings)

    assert not warned(0.5)
    assert warned(None)


def test_one_warning_stands_for_many_contrasts(study: Builder) -> None:
    """R lacks six scores that P, Q and S have: the first of three contrasts is named, two counted.

    In the view of S only one contrast is left to say it.
    """
    metric = MetricFacts("faithfulness", Layer.GENERATION)
    full = [0.1] * 20
    rows = {"P": full, "Q": full, "R": [0.1] * 14 + [None] * 6, "S": full}

    def warnings(options: Options) -> list[tuple[str | None, str | None, object]]:
        found = analyse(study(metrics={metric: rows}), options).findings
        return [
            (f.left, f.right, f.numbers["others"])
            for f in found
            if f.kind == "missing_not_at_random"
        ]

    assert warnings(Options()) == [("P", "R", 2)]
    assert warnings(Options(baseline="S")) == [("S", "R", 0)]


def test_a_difference_names_the_questions_that_turned(study: Builder) -> None:
    """Eleven questions better and one worse after the repair: the finding has both lists."""
    metric = MetricFacts("faithfulness", Layer.GENERATION)
    before, after = [0.1] * 12, [0.9] * 11 + [0.0]
    runs = {
        "old": RunFacts("old", "ctx", leaves={"version": None}),
        "new": RunFacts("new", "ctx", leaves={"version": "w48"}),
    }

    declared = Options(primary=(Primary("version", "faithfulness"),))
    found = analyse(study(metrics={metric: {"old": before, "new": after}}, runs=runs), declared)

    [better] = [f for f in found.findings if f.kind == "better"]
    assert (better.factor, better.names) == (
        "version", {"left_value": "none", "right_value": "w48"},
    )  # fmt: skip
    assert better.groups == {"won": tuple(f"q{n}" for n in range(1, 12)), "lost": ("q12",)}
