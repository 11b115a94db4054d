from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.analysis import MetricFacts, RunFacts, StudyTable, analyse, study_table
from harness.analysis.findings.run_findings import model_family
from harness.analysis.results import Transition
from harness.records import EvidencePlace, Layer, Passage, Question, Response, Verdict

Builder = Callable[..., StudyTable]


def useful(question: str, item: int, label: int | None, run: str = "judge") -> Verdict:
    return Verdict(run, question, 0, "passage_useful", item, label=label)


def with_k(table: StudyTable, **ks: int) -> StudyTable:
    cells = {
        (run, q): tuple(replace(r, k_requested=ks[run]) for r in rows)
        for (run, q), rows in table.responses.items()
    }
    return replace(table, responses=cells)


def test_the_first_useful_rank_by_the_judge(study: Builder) -> None:
    """hit@k from one run; a question whose passages were not all judged is left out."""
    table = study(
        right={"deep": [1, 1, 1]},
        passages={"deep": [["a", "b", "c"], ["a", "b"], ["a", "b"]]},
    )
    verdicts = (
        *(useful("q1", at, label) for at, label in enumerate([0, 0, 1])),
        *(useful("q2", at, 0) for at in range(2)),
        useful("q3", 0, 1),
        useful("q3", 1, None),
    )

    [facts] = analyse(replace(table, verdicts={"deep": verdicts})).retrieval

    assert (facts.run, facts.source, facts.questions) == ("deep", "judge", ("q1", "q2"))
    assert facts.first_useful == (3, None)
    assert facts.hits == (0.0, 0.0, 0.5)


def test_a_smaller_k_would_have_missed(study: Builder) -> None:
    """Rank 3 in the run with k = 3, and k = 2 is used elsewhere: q1 would have been missed."""
    table = with_k(
        study(
            right={"deep": [1], "short": [0]},
            passages={"deep": [["a", "b", "c"]], "short": [["a", "b"]]},
        ),
        deep=3,
        short=2,
    )
    rows = tuple(useful("q1", at, int(at == 2)) for at in range(3))

    [finding] = [
        f
        for f in analyse(replace(table, verdicts={"deep": rows})).findings
        if f.kind == "deeper_rank"
    ]

    assert (finding.run, finding.questions) == ("deep", ("q1",))
    assert finding.numbers == {"k": 2, "k_returned": 3}
    assert finding.names == {"source": "judge"}


def gold_study() -> StudyTable:
    """q1's evidence is found by P and not by Q; q2's by both; q3 names none; q4 failed in P."""
    gold, other = (
        Passage("d#1.1", "d", 1, "text", "the answer"),
        Passage("d#2.1", "d", 2, "text", "x"),
    )
    place = EvidencePlace("d", 1, "the answer")

    def answer(question: str, found: Passage, text: str | None = "text") -> Response:
        return Response(question, 0, "ask", "ref", "text", text, (other, found))

    return study_table(
        [
            RunFacts("P", "P", leaves={"top_k": 1}),
            RunFacts("Q", "Q", leaves={"top_k": 2}, refused=frozenset({"q1", "q2", "q5"})),
        ],
        [
            *(Question(f"q{n}", "ask", "ref", "text", evidence=(place,)) for n in (1, 2, 4)),
            Question("q3", "ask", "ref", "text"),
            Question("q5", "ask", "ref", "none", answerable=False),
            Question("q6", "ask", "ref", "none", answerable=False),
        ],
        [],
        {},
        {
            "P": [
                answer("q1", gold),
                answer("q2", gold),
                answer("q3", gold),
                answer("q4", gold, None),
                answer("q5", gold),
                answer("q6", gold),
            ],
            "Q": [
                answer("q1", other),
                *(answer(q, gold) for q in ("q2", "q3", "q4", "q5", "q6")),
            ],
        },
        {("P", "q1", 0): 1, ("P", "q2", 0): 1, ("Q", "q1", 0): 0, ("Q", "q2", 0): 0},
    )


def test_evidence_and_answers_move_together_or_not() -> None:
    """q1 lost its evidence and its answer, q2 only its answer: refused with the evidence there."""
    found = analyse(gold_study())

    assert found.contrasts[0].transitions == (
        Transition(True, True, False, False, ("q1",)),
        Transition(True, True, True, False, ("q2",)),
    )
    [refused] = [f for f in found.findings if f.kind == "refused_despite_evidence"]
    assert (refused.run, refused.questions) == ("Q", ("q2",))
    assert [facts.source for facts in found.retrieval] == ["gold", "gold"]
    assert found.retrieval[0].first_useful == (2, 2)


def test_correct_and_wrong_refusals_are_counted_apart() -> None:
    """q5 has no answer in the corpus, so its refusal is correct; q1 and q2 have one."""
    [found] = [f for f in analyse(gold_study()).findings if f.kind == "refusals"]

    assert (found.run, found.questions) == ("Q", ("q1", "q2", "q5"))
    assert found.numbers == {"correct_count": 1, "wrong_count": 2}
    assert found.groups == {"correct": ("q5",), "wrong": ("q1", "q2")}


def test_mean_relevancy_with_and_without_refusals(study: Builder) -> None:
    """Of 0.9, 0.7 and a refused 0 the mean is 0.5333, and 0.8 without the refusal; where all
    scored questions are refused it is NA, and where none is there is nothing to compare."""
    relevancy = MetricFacts("answer_relevancy", Layer.GENERATION)
    faithfulness = MetricFacts("faithfulness", Layer.GENERATION)
    rows = {"a": [0.9, 0.7, 0.0], "b": [None, None, 0.0], "c": [0.9, 0.7, None]}
    refused = {"a": {"q3"}, "b": {"q3"}, "c": {"q3"}}
    runs = {
        name: RunFacts(name, name, leaves={"top_k": k}, refused=frozenset(refused[name]))
        for k, name in enumerate(rows)
    }
    table = study(metrics={relevancy: rows, faithfulness: rows}, runs=runs)

    found = [f for f in analyse(table).findings if f.kind == "mean_without_refusals"]

    assert [(f.run, f.metric, f.questions) for f in found] == [
        ("a", "answer_relevancy", ("q3",)),
        ("b", "answer_relevancy", ("q3",)),
    ]
    assert found[0].numbers == {
        "mean": pytest.approx(1.6 / 3),
        "scored": 3,
        "without": pytest.approx(0.8),
        "scored_without": 2,
    }
    assert found[1].numbers == {"mean": 0.0, "scored": 1, "without": None, "scored_without": 0}


def test_unanswerable_questions_that_were_answered() -> None:
    """Only a refusal is right there: P answers both, Q refuses one."""
    findings = [f for f in analyse(gold_study()).findings if f.kind == "answered_unanswerable"]

    assert [(f.run, f.questions) for f in findings] == [("P", ("q5", "q6")), ("Q", ("q6",))]
    assert findings[1].numbers == {"answered": 1, "unanswerable": 2}


def test_who_decided_what_refuses_is_said_once() -> None:
    """Of 11 answers (one question failed in P) the judge decided none; without refusals and
    unanswerable questions nothing rests on it."""
    [found] = [f for f in analyse(gold_study()).findings if f.kind == "refusals_recognised"]

    assert found.numbers == {"decided": 11, "judged": 0}


def test_metrics_of_harm_are_worst_at_one(study: Builder) -> None:
    """Both of two claims hallucinated beside a right answer; neutral metrics have no worst."""
    harm = MetricFacts("hallucination", Layer.GENERATION, higher_is_better=False)
    refusal = MetricFacts("refusal", Layer.GENERATION, higher_is_better=None)
    table = study(right={"P": [1, 1]}, metrics={harm: {"P": [1.0, 0.0]}, refusal: {"P": [0, 1]}})
    table.scores.units[:] = 2

    [finding] = [f for f in analyse(table).findings if f.kind == "one_cell"]

    assert (finding.metric, finding.questions) == ("hallucination", ("q1",))


def test_a_judge_of_the_generator_s_family_is_named(article: StudyTable) -> None:
    """llama3.1 is both judge and generator of all six runs."""
    found = [f for f in analyse(article).findings if f.kind == "judge_of_same_family"]

    assert len(found) == 6
    assert found[0].names == {"generator": "llama3.1", "judge": "llama3.1"}
    other = replace(article, runs=tuple(replace(run, judge="gpt-5") for run in article.runs))
    assert not [f for f in analyse(other).findings if f.kind == "judge_of_same_family"]


def test_another_model_than_the_one_requested_is_named(study: Builder) -> None:
    """A run whose server names other models has a warning with both names."""
    run = RunFacts("P", "P", generator="asked", other_models=("a", "b"))

    found = analyse(study(right={"P": [1, 0]}, runs={"P": run})).findings

    [finding] = [f for f in found if f.kind == "another_model"]
    assert (finding.run, finding.names) == ("P", {"generator": "asked", "answered": "a, b"})


@pytest.mark.parametrize(
    ("model", "name"),
    [("Qwen/Qwen2.5-Coder-1.5B", "qwen"), ("gpt", "gpt"), ("gpt-4o-mini", "gpt"), ("o3", "o")],
)
def test_families_are_the_names_without_sizes(model: str, name: str) -> None:
    """Owner, version and tag are left off."""
    assert model_family(model) == name


def test_trusted_and_untested_metrics_are_named(article: StudyTable, study: Builder) -> None:
    """Each metric is trusted, not trusted, or not graded enough."""
    trusted = [f.metric for f in analyse(article).findings if f.kind == "metric_trusted"]
    assert trusted == ["faithfulness", "answer_relevancy"]

    faithfulness = MetricFacts("faithfulness", Layer.GENERATION)
    table = study(right={"P": [1, 0]}, metrics={faithfulness: {"P": [0.5, 0.1]}})
    [finding] = [f for f in analyse(table).findings if f.kind == "too_few_grades"]
    none = {"within_pairs": 0, "within_questions": 0}
    assert finding.numbers == {**none, "right": 1, "wrong": 1, "questions": 2}
