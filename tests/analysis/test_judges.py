"""What holds under every judge, and what only under one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from harness.analysis import (
    Analysis,
    MetricFacts,
    Options,
    Primary,
    RunFacts,
    StudyTable,
    analyse,
    as_json,
    judged_by_several,
    study_table,
)
from harness.records import Layer, Passage, Question, Response, Score, Verdict

LOW, HIGH = [0.1] * 20, [0.9] * 20
"""Twenty questions that all change give p = 2 / 2**20: beyond chance where it is declared."""

DECLARED = tuple(Primary("top_k", metric) for metric in ("faithfulness", "precision"))

FACTS = {
    "faithfulness": MetricFacts("faithfulness", Layer.GENERATION),
    "precision": MetricFacts("precision", Layer.OVERALL),
    "similarity": MetricFacts("similarity", Layer.OVERALL),
}
FREE = ("similarity",)
"""Metrics that need no judge."""

Rows = Mapping[str, Sequence[float | None]]
"""Run -> the values of q1, q2, ...; None is NA."""


def table(
    judge: str,
    metrics: Mapping[str, Rows],
    asked: Sequence[int] = range(20),
    right: Rows | None = None,
    verdicts: Mapping[str, Sequence[Verdict]] | None = None,
) -> StudyTable:
    """Return the runs of the first metric as a judge scored them, on these of 20 questions."""
    names = list(next(iter(metrics.values())))
    judged = {metric: judge for metric in metrics if metric not in FREE}
    questions = [Question(f"q{n}", f"ask {n}", "reference", "text") for n in range(1, 21)]

    def scored(run: str) -> list[Score]:
        return [
            Score(questions[at].id, 0, metric, rows[run][at], 8,
                  "no_claims" if rows[run][at] is None else "ok", judged.get(metric))
            for metric, rows in metrics.items()
            for at in (range(20) if metric in FREE else asked)
        ]  # fmt: skip

    def answered(run: str) -> list[Response]:
        return [
            Response(q.id, 0, q.question, q.reference, "text", f"{run} says {q.id}",
                     (Passage(f"{run}#1", "d", 1, "text", run),))
            for q in questions
        ]  # fmt: skip

    return study_table(
        [RunFacts(name, name, leaves={"top_k": ord(name)}, scored_by=judged) for name in names],
        questions,
        [FACTS[metric] for metric in metrics],
        {name: scored(name) for name in names},
        {name: answered(name) for name in names},
        {
            (name, questions[at].id, 0): int(value)
            for name, row in (right or {}).items()
            for at, value in enumerate(row)
            if value is not None
        },
        verdicts or {},
    )


def several(*tables: tuple[str, StudyTable], baseline: str | None = None) -> Analysis:
    """Analyse the first judge's table, and hold it against the others'."""
    options = Options(baseline=baseline, primary=DECLARED)
    return judged_by_several(analyse(tables[0][1], options), dict(tables), options)


def held(found: Analysis) -> dict[tuple[str, str | None], tuple[str, ...]]:
    """Return (kind, metric) -> the judges under whom that finding holds."""
    assert found.judges is not None
    return {(one.finding.kind, one.finding.metric): one.judges for one in found.judges.findings}


UP = {"P": LOW, "Q": HIGH}
DOWN = {"P": HIGH, "Q": LOW}


def test_one_judge_changes_nothing() -> None:
    """With one table the analysis is unchanged, and there is no agreement."""
    alone = analyse(table("A", {"faithfulness": UP}))

    assert judged_by_several(alone, {"A": table("A", {"faithfulness": UP})}, Options()) is alone
    assert alone.judges is None


def test_findings_of_all_and_of_one() -> None:
    """Both judges see precision rise; in faithfulness one sees a rise and the other a fall: that
    is one row with both readings."""
    found = several(
        ("A", table("A", {"faithfulness": UP, "precision": UP})),
        ("B", table("B", {"faithfulness": DOWN, "precision": UP})),
    )

    assert held(found) == {
        ("better", "faithfulness"): ("A",),
        ("better", "precision"): ("A", "B"),
    }
    assert found.judges is not None
    [better] = [one for one in found.judges.findings if one.others == ("B",)]
    assert [(one.judge, one.verdict, one.number) for one in better.readings] == [
        ("A", "better", pytest.approx(0.8)),
        ("B", "worse", pytest.approx(-0.8)),
    ]


def test_what_holds_stands_among_the_findings() -> None:
    """`findings.json` names the judges under whom each holds, and under whom it does not."""
    found = several(
        ("A", table("A", {"faithfulness": UP, "precision": UP})),
        ("B", table("B", {"faithfulness": DOWN, "precision": UP})),
    )

    rows = [row for row in as_json(found.findings) if "under" in str(row["kind"])]

    assert [(r["kind"], r["severity"], r["metric"], r["names"]) for r in rows] == [
        ("under_some_judges", "warning", "faithfulness",
         {"left_value": "80", "right_value": "81", "said": "better"}),
        ("under_every_judge", "finding", "precision",
         {"left_value": "80", "right_value": "81", "said": "better"}),
    ]  # fmt: skip
    assert rows[0]["groups"] == {"judges": ["A"], "others": ["B"]}
    assert rows[1]["groups"] == {"judges": ["A", "B"]}


def test_what_rests_on_no_judge_is_not_counted() -> None:
    """Human grades and a comparison of characters are the same under each judge."""
    grades = {"P": [0.0] * 20, "Q": [1.0] * 20}
    metrics = {"faithfulness": UP, "similarity": UP}
    same = {"faithfulness": {"P": LOW, "Q": LOW}, "similarity": UP}

    found = several(("A", table("A", metrics, right=grades)), ("B", table("B", same, right=grades)))

    assert found.judges is not None
    assert {metric for _, metric in held(found)} == {"faithfulness"}
    assert held(found)["better", "faithfulness"] == ("A",)
    free = [
        f.kind for f in found.findings if f.severity == "finding" and f.metric != "faithfulness"
    ]
    assert "better" in free
    assert found.judges.free == len(free)


def test_a_metric_that_one_judge_believes() -> None:
    """Under A right answers score above wrong ones, under B not: one row, whoever is first."""
    grades = {"P": [0.0, 1.0] * 10, "Q": [1.0, 0.0] * 10}
    telling = {"P": [0.1, 0.9] * 10, "Q": [0.9, 0.1] * 10}
    dull = {"P": [0.1, 0.9, 0.9, 0.1] * 5, "Q": [0.9, 0.1, 0.1, 0.9] * 5}

    tables = [
        ("A", table("A", {"faithfulness": telling}, right=grades)),
        ("B", table("B", {"faithfulness": dull}, right=grades)),
    ]

    for first, second in (tables, tables[::-1]):
        found = several(first, second)
        assert held(found) == {("metric_trusted", "faithfulness"): ("A",)}
        assert found.judges is not None
        readings = {one.judge: one.verdict for one in found.judges.findings[0].readings}
        assert readings == {"A": "trusted", "B": "no_evidence"}


def test_only_the_common_part_is_compared() -> None:
    """B scored q1 to q15 of P and Q, and not precision: A is asked the same once more.

    A's rise rests on q16 to q20, which B never saw: over the common part it is no finding.
    """
    late = {"P": [0.5] * 20, "Q": [0.5] * 15 + [0.9] * 5, "R": HIGH}
    found = several(
        ("A", table("A", {"faithfulness": late, "precision": {**UP, "R": LOW}})),
        ("B", table("B", {"faithfulness": UP}, asked=range(15))),
    )

    judges = found.judges
    assert judges is not None
    assert (judges.runs, judges.of_runs) == (("P", "Q"), 3)
    assert (judges.questions, judges.of_questions) == (tuple(f"q{n}" for n in range(1, 16)), 20)
    assert (judges.metrics, judges.uncommon) == (("faithfulness",), ("precision",))
    assert held(found) == {("better", "faithfulness"): ("B",)}
    assert [one.verdict for one in judges.findings[0].readings] == ["no_evidence", "better"]


@pytest.mark.parametrize(
    ("partly", "runs", "metrics", "questions"),
    [
        # B scored R with one metric of two: the run is left out, as it misses half of its cells
        ({"R": ("precision", range(20))}, "PQST", ("faithfulness", "precision"), 20),
        # ... and R with two questions only
        ({"R": ("faithfulness", range(2, 20))}, "PQST", ("faithfulness", "precision"), 20),
        # R and S with one metric each: without either run alone nothing is in common
        (
            {"R": ("precision", range(20)), "S": ("faithfulness", range(20))},
            "PQT", ("faithfulness", "precision"), 20,
        ),
        # every run but one without precision: the metric is left out
        ({run: ("precision", range(20)) for run in "QRST"}, "PQRST", ("faithfulness",), 20),
        # one question of one run: the question is left out
        ({"R": ("faithfulness", range(1))}, "PQRST", ("faithfulness", "precision"), 19),
    ],
)  # fmt: skip
def test_what_is_judged_in_part_is_left_out(
    partly: Mapping[str, tuple[str, range]],
    runs: str,
    metrics: tuple[str, ...],
    questions: int,
) -> None:
    """A run or a metric that a judge scored in part does not end the comparison of the others."""
    rows = {"P": LOW, "Q": HIGH, "R": HIGH, "S": HIGH, "T": HIGH}
    every = {"faithfulness": rows, "precision": rows}
    whole, second = table("A", every), table("B", every)
    statuses = second.scores.statuses.copy()
    values = second.scores.values.copy()
    for run, (metric, missing) in partly.items():
        cell = "PQRST".index(run), list(missing), list(every).index(metric)
        statuses[cell], values[cell] = "", np.nan
    second = replace(second, scores=replace(second.scores, statuses=statuses, values=values))

    found = several(("A", whole), ("B", second)).judges

    assert found is not None
    assert found.compared == ("A", "B")
    assert ("".join(found.runs), found.metrics, len(found.questions)) == (runs, metrics, questions)
    assert found.uncommon == tuple(metric for metric in every if metric not in metrics)
    assert {one.judges for one in found.findings} == {("A", "B")}


def test_judges_without_a_metric_in_common_compare_ranks_only() -> None:
    """No metric was scored by both: the runs are compared, and both metrics are named."""
    found = several(
        ("A", table("A", {"faithfulness": UP})), ("B", table("B", {"precision": UP}))
    ).judges

    assert found is not None
    assert (found.runs, found.metrics) == (("P", "Q"), ())
    assert found.uncommon == ("faithfulness", "precision")


def test_na_is_scored() -> None:
    """A refusal that both judges call NA belongs to the common part; a question never given to B
    does not."""
    gap = {"P": [None, *LOW[1:]], "Q": HIGH}

    found = several(
        ("A", table("A", {"faithfulness": gap})), ("B", table("B", {"faithfulness": gap}))
    )

    assert found.judges is not None
    assert len(found.judges.questions) == 20


def test_what_a_judge_cannot_score_is_left_out() -> None:
    """NA in all cells is no other opinion: the metric is named, and no finding is counted."""
    none = {"P": [None] * 20, "Q": [None] * 20}

    found = several(
        ("A", table("A", {"faithfulness": UP, "precision": UP})),
        ("B", table("B", {"faithfulness": UP, "precision": none})),
    )

    assert found.judges is not None
    assert found.judges.uncommon == ("precision",)
    assert held(found) == {("better", "faithfulness"): ("A", "B")}


def test_a_judge_of_one_run_is_compared_in_labels_only() -> None:
    """C scored one run, which is no contrast; A and B are compared all the same."""
    useful = [Verdict("?", "q1", 0, "passage_useful", 0, label=1)]
    found = several(
        ("A", table("A", {"faithfulness": UP}, verdicts={"P": useful})),
        ("C", table("C", {"faithfulness": {"P": LOW}}, verdicts={"P": useful})),
        ("B", table("B", {"faithfulness": UP})),
    )

    assert found.judges is not None
    assert (found.judges.names, found.judges.compared) == (("A", "C", "B"), ("A", "B"))
    assert held(found) == {("better", "faithfulness"): ("A", "B")}
    assert [(r.first, r.second, r.n) for r in found.judges.agreements if r.n] == [("A", "C", 1)]


def test_nothing_in_common_is_said() -> None:
    """Two judges of other runs: no finding is compared, and none is called unsupported."""
    found = several(
        ("A", table("A", {"faithfulness": UP})), ("B", table("B", {"faithfulness": {"P": LOW}}))
    )

    assert found.judges is not None
    assert (found.judges.compared, found.judges.findings) == ((), ())
    assert [f.kind for f in found.findings if "under" in f.kind] == []


def test_no_question_in_common_is_no_finding() -> None:
    """Two runs by both judges, but of other questions: nothing is compared, not 'nothing found'."""
    first = table("A", {"faithfulness": UP}, asked=range(10))
    second = table("B", {"faithfulness": UP}, asked=range(10, 20))

    found = several(("A", first), ("B", second)).judges

    assert found is not None
    assert (found.compared, found.findings) == ((), ())


def test_a_view_narrows_what_is_compared() -> None:
    """With a baseline the changes that it takes part in are compared alone."""
    three = {"P": LOW, "Q": HIGH, "R": HIGH}
    found = several(
        ("A", table("A", {"faithfulness": three})),
        ("B", table("B", {"faithfulness": three})),
        baseline="Q",
    )

    assert found.judges is not None
    [one] = found.judges.findings
    assert (one.finding.kind, one.finding.names) == (
        "better", {"left_value": "80", "right_value": "81"},
    )  # fmt: skip
    assert one.judges == ("A", "B")


def test_ranks_by_usefulness_rest_on_the_judge() -> None:
    """Without named evidence the first useful passage is what a judge calls so: A finds it at
    rank 2 of Q, beyond the k = 1 of P, and B at rank 1. A judge that was not asked says nothing."""
    two = tuple(Passage(f"d#{n}", "d", 1, "text", f"passage {n}") for n in (1, 2))

    def deep(judge: str, *labels: int) -> StudyTable:
        rows = [
            Verdict(judge, "q1", 0, "passage_useful", at, label=label)
            for at, label in enumerate(labels)
        ]
        made = table(judge, {"faithfulness": {"P": LOW, "Q": LOW}}, verdicts={"Q": rows})
        asked = {
            (run, question): tuple(
                replace(row, k_requested=k, passages=two[:k])
                for row in answers
                for k in ({"P": 1, "Q": 2}[run],)
            )
            for (run, question), answers in made.responses.items()
        }
        return replace(made, responses=asked)

    found = several(("A", deep("A", 0, 1)), ("B", deep("B", 1, 0)))

    assert held(found) == {("deeper_rank", None): ("A",)}
    [row] = [f for f in found.findings if f.kind == "under_some_judges"]
    assert (row.run, row.numbers, row.questions) == ("Q", {"k": 1}, ("q1",))

    unasked = several(("A", deep("A", 0, 1)), ("B", deep("B")))
    assert held(unasked) == {}
    assert [f.kind for f in unasked.findings if f.kind.startswith("under")] == []
