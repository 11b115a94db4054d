"""Faults that other tools were reported for, where no other file here has them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.metrics import METRICS, PRESETS, assemble
from harness.metrics.evidence import Evidence
from harness.records import Passage, Question, Response, Status, Verdict

Row = Callable[..., Verdict]

QUESTION = Question("q1", "射程多少？", "射程18浬。", "text", answers=(("18浬",),))
RESPONSE = Response("q1", 0, "射程多少？", "射程18浬。", "text", response="射程18浬。")


def mean(scores: list[float | None]) -> tuple[float, int]:
    """The mean of what was scored, and how many that is."""
    there = [score for score in scores if score is not None]
    return sum(there) / len(there), len(there)


def test_row_without_any_judgement_is_no_zero(evidence: Callable[..., Evidence]) -> None:
    """Rows of .8, .8, NA, .6, .6 give 0.7 over 4 of 5, and the NA keeps its reason."""
    unread = Evidence(missing={"response_in_context": Status.JUDGE_UNPARSABLE})
    rows = [evidence(response_in_context=text) for text in ("EEEEN", "EEEEN", "EEENN", "EEENN")]

    scores = [METRICS["faithfulness"].score(known) for known in (*rows[:2], unread, *rows[2:])]

    total, scored = mean([one.value for one in scores])
    assert (round(total, 12), scored) == (0.7, 4)
    assert min(one.value for one in scores if one.value is not None) == 0.6
    assert scores[2].status is Status.JUDGE_UNPARSABLE


def test_all_four_are_na_where_no_reply_could_be_read() -> None:
    """A judge that gave no JSON for any check leaves four NA, each with the reason."""
    known = Evidence(
        missing=dict.fromkeys(
            (
                "passage_useful",
                "reference_in_context",
                "response_in_context",
                "question_similarity",
                "noncommittal",
            ),
            Status.JUDGE_UNPARSABLE,
        )
    )

    for name in PRESETS["ragas"]:
        scored = METRICS[name].score(known)
        assert (scored.value, scored.status) == (None, Status.JUDGE_UNPARSABLE)


def test_judge_trouble_is_no_bad_answer(evidence: Callable[..., Evidence]) -> None:
    """1.0, NA, 1.0 is 1.000 over 2 of 3, not 0.667."""
    good = evidence(response_in_context="EE")
    lost = Evidence(missing={"response_in_context": Status.JUDGE_FAILED})

    scores = [METRICS["faithfulness"].score(known).value for known in (good, lost, good)]

    assert mean(scores) == (1.0, 2)


def test_refusal_and_cut_reply_have_two_reasons(verdict: Row) -> None:
    """No claims to be made, and claims that could not be read, are told apart."""
    refused = assemble(RESPONSE, QUESTION, [verdict("claims_response", -1, error="no_claims")])
    cut = assemble(RESPONSE, QUESTION, [verdict("claims_response", -1, error="judge_unparsable")])

    assert METRICS["faithfulness"].score(refused).status is Status.NO_CLAIMS
    assert METRICS["faithfulness"].score(cut).status is Status.JUDGE_UNPARSABLE


def test_apology_instead_of_verdicts(verdict: Row) -> None:
    """Three claims and a reply that is no verdict: NA, never 1.0."""
    rows = [verdict("claims_response", item, text="句") for item in range(3)]
    rows.append(verdict("response_in_context", -1, error="judge_unparsable"))

    scored = METRICS["faithfulness"].score(assemble(RESPONSE, QUESTION, rows))

    assert (scored.value, scored.status) == (None, Status.JUDGE_UNPARSABLE)


def test_context_that_is_no_text(verdict: Row) -> None:
    """Passages are counted as they were returned; one without a label is never judged as empty
    text: the row is NA (the arithmetic of case K09, which is refused when it is written)."""
    passages = tuple(Passage(f"d#1.{i}", "d", 1, "text", "甲") for i in (1, 2))
    rows = [verdict("passage_useful", 0, label=1)]

    known = assemble(replace(RESPONSE, passages=passages), QUESTION, rows)

    assert METRICS["context_precision"].score(known).status is Status.JUDGE_INCOMPLETE


LABELS = st.one_of(st.none(), st.integers(-300, 300))
ERRORS = st.sampled_from([None, Status.JUDGE_UNPARSABLE, Status.BUDGET, Status.NOT_ANSWERED])


@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(st.data())
def test_whatever_the_judge_says(data: st.DataObject) -> None:
    """Any rows give a score within the metric's bounds, or NA with a reason."""
    passages = tuple(Passage(f"d#1.{i}", "d", 1, "text", "甲") for i in (1, 2))
    rows = []

    def add(check: str, item: int, against: int = -1, similarity: float | None = None) -> None:
        if data.draw(st.booleans()) or data.draw(st.booleans()):
            label = data.draw(st.one_of(st.sampled_from([0, 1]), LABELS))
            error = data.draw(ERRORS) if label is None else None
            rows.append(
                Verdict("j", "q1", 0, check, item, against, "句", label, similarity, error=error)
            )

    for side in ("response", "reference"):
        claims = data.draw(st.integers(0, 2))
        other = {"response": "reference", "reference": "response"}[side]
        rows += [Verdict("j", "q1", 0, f"claims_{side}", item) for item in range(claims)]
        for item in range(claims):
            add(f"{side}_in_context", item)
            add(f"{side}_in_{other}", item)
            for against in range(2):
                add(f"{side}_in_passages", item, against)
    for item in range(2):
        add("passage_useful", item)
    for item in range(data.draw(st.integers(0, 2))):
        cosine = data.draw(st.one_of(st.none(), st.floats(-1, 1), st.just(float("nan"))))
        label = data.draw(st.integers(-1, 2))
        rows.append(Verdict("j", "q1", 0, "reverse_question", item, -1, "？", label, cosine))

    known = assemble(replace(RESPONSE, passages=passages), QUESTION, rows)

    for metric in METRICS.values():
        scored = metric.score(known)
        if scored.value is None:
            assert scored.status is not Status.OK
        else:
            assert metric.bounds[0] <= scored.value <= metric.bounds[1]
            assert not np.isnan(scored.value)
