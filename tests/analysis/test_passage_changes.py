from collections.abc import Callable
from dataclasses import replace

import numpy as np

from harness.analysis import RunFacts, StudyRows, StudyTable, analyse, study_table
from harness.analysis.passage_changes import attribute, compare_passages, fingerprints
from harness.analysis.results import Attribution, PassageChange, PassageComparison
from harness.records import Passage, Question, Response

Builder = Callable[..., StudyTable]


def compare(table: StudyTable) -> PassageChange:
    everything = np.ones(len(table.questions), bool)
    return compare_passages(fingerprints(table), 0, 1, [q.id for q in table.questions], everything)


def test_same_reordered_changed_unknown(study: Builder) -> None:
    """Order counts, and a side that failed or names no passages says nothing."""
    table = study(
        passages={
            "P": [["a", "b"], ["a", "b"], ["a", "b"], [], ["a"]],
            "Q": [["a", "b"], ["b", "a"], ["a", "c"], [], ["a"]],
        },
        answers={"P": ["x", "x", "x", "x", None], "Q": ["x", "y", "z", "x", "x"]},
    )

    found = compare(table)

    assert list(found.by_question.values()) == [
        PassageComparison.SAME,
        PassageComparison.REORDERED,
        PassageComparison.CHANGED,
        PassageComparison.UNKNOWN,
        PassageComparison.UNKNOWN,
    ]
    assert (found.same, found.reordered, found.changed, found.unknown) == (1, 1, 1, 2)
    assert found.identical_responses == ("q1", "q4")


def test_repeats_that_agree_count_once() -> None:
    """One answer and three equal ones to the same passages are the same."""
    passages = (Passage("d#1.1", "d", 1, "text", "a"),)
    rows = [Response("q1", n, "ask", "reference", "text", "x", passages) for n in range(3)]
    table = study_table(
        StudyRows(
            [RunFacts("P", "P"), RunFacts("Q", "Q", leaves={"top_k": 2})],
            [Question("q1", "ask", "reference", "text")],
            [],
            {},
            {"P": rows, "Q": rows[:1]},
        )
    )

    assert compare(table).by_question == {"q1": PassageComparison.SAME}
    assert compare(table).identical_responses == ("q1",)


def test_repeats_that_differ_are_compared_one_by_one() -> None:
    """Two of three answers alike is not one of three alike."""
    rows = [Response("q1", n, "ask", "reference", "text", "x") for n in range(3)]
    two = [*rows[:2], replace(rows[2], response="y")]
    one = [rows[0], *(replace(row, response="y") for row in rows[1:])]
    table = study_table(
        StudyRows(
            [RunFacts("P", "P"), RunFacts("Q", "Q", leaves={"top_k": 2})],
            [Question("q1", "ask", "reference", "text")],
            [],
            {},
            {"P": two, "Q": one},
        )
    )

    assert compare(table).identical_responses == ()


def test_passages_without_text_go_by_their_ids() -> None:
    """Some systems tell only the names of what they retrieved."""

    def answer(name: str) -> Response:
        return Response("q1", 0, "ask", "ref", "text", "x", (Passage(name, "d", 1, "text", ""),))

    table = study_table(
        StudyRows(
            [RunFacts("P", "P"), RunFacts("Q", "Q", leaves={"top_k": 2})],
            [Question("q1", "ask", "reference", "text")],
            [],
            {},
            {"P": [answer("d#1.1")], "Q": [answer("d#1.2")]},
        )
    )

    assert compare(table).changed == 1


def test_attribution(study: Builder) -> None:
    """Generation where every passage is the same; no effect where every answer is, too."""
    same = {"P": [["a"], ["b"]], "Q": [["a"], ["b"]]}
    answers = {"P": ["x", "y"], "Q": ["x", "y"]}

    assert attribute(compare(study(passages=same))) is Attribution.GENERATION
    assert attribute(compare(study(passages=same, answers=answers))) is (
        Attribution.NO_EFFECT_POSSIBLE
    )
    assert attribute(compare(study(answers=answers))) is Attribution.NO_EFFECT_POSSIBLE
    other = {**same, "Q": [["a"], ["c"]]}
    assert attribute(compare(study(passages=other, answers=answers))) is (
        Attribution.RETRIEVAL_CHANGED
    )
    assert attribute(compare(study(passages={**same, "Q": [["a"], []]}))) is Attribution.UNKNOWN


def test_runs_that_share_no_question_are_not_attributed(study: Builder) -> None:
    """Nothing in common, nothing to say."""
    one = RunFacts("P", "P", leaves={"top_k": 1}, asked=frozenset({"q1"}))
    two = RunFacts("Q", "Q", leaves={"top_k": 2}, asked=frozenset({"q2"}))

    [contrast] = analyse(
        study(right={"P": [1, None], "Q": [None, 0]}, runs={"P": one, "Q": two})
    ).contrasts

    assert contrast.attribution is Attribution.UNKNOWN
    assert contrast.differences[0].questions == 0
    assert contrast.differences[0].worst is None
