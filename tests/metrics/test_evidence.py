"""From verdict rows to arrays, joined by key, with a reason for all that is not there."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from harness.metrics import AXES, METRICS, MetricValue, assemble
from harness.records import Passage, Question, Response, Status, Verdict

Row = Callable[..., Verdict]
PASSAGE = Passage("d#1.1", "d", 1, "text", "文")


def with_passages(response: Response, count: int) -> Response:
    passages = tuple(Passage(f"d#1.{i + 1}", "d", 1, "text", "文") for i in range(count))
    return replace(response, passages=passages)


def claims(verdict: Row, check: str, count: int) -> list[Verdict]:
    return [verdict(check, item, text=f"claim {item}") for item in range(count)]


def test_rows_are_joined_by_key(question: Question, response: Response, verdict: Row) -> None:
    """Rows in any order land where item and passage say."""
    rows = [
        *claims(verdict, "claims_response", 2),
        verdict("response_in_passages", 1, 2, label=-1),
        verdict("response_in_passages", 0, 1, label=1),
        verdict("response_in_passages", 1, 0, label=0),
        verdict("response_in_passages", 0, 0, label=0),
        verdict("response_in_passages", 0, 2, label=0),
        verdict("response_in_passages", 1, 1, label=1),
        verdict("passage_useful", 2, label=1),
        verdict("passage_useful", 0, label=0),
        verdict("passage_useful", 1, label=0),
    ]

    known = assemble(with_passages(response, 3), question, reversed(rows))

    assert known.response_in_passages is not None
    assert known.response_in_passages.tolist() == [[0, 1, 0], [0, 1, -1]]
    assert known.response_in_passages.dtype == np.int8
    assert known.passage_useful is not None
    assert known.passage_useful.tolist() == [0, 0, 1]


def test_reverse_questions_give_two_arrays(
    question: Question, response: Response, verdict: Row
) -> None:
    """Similarity and flag of one row stay together, whatever the order of the rows."""
    rows = [
        verdict("reverse_question", 1, label=0, similarity=0.7),
        verdict("reverse_question", 0, label=1, similarity=0.2),
    ]

    known = assemble(response, question, rows)

    assert known.question_similarity is not None
    assert known.question_similarity.tolist() == [0.2, 0.7]
    assert known.noncommittal is not None
    assert known.noncommittal.tolist() == [1, 0]


def test_what_needs_no_judge_is_there(question: Question, response: Response) -> None:
    """Texts, accepted answers and costs come from the response and the question."""
    known = assemble(
        replace(with_passages(response, 2), generation_seconds=1.5, output_tokens=12),
        question,
        [],
    )

    assert known.response_text == known.reference_text == "射程18浬。"
    assert (known.answers, known.answerable) == ((("18浬",),), True)
    assert known.passages_returned == 2.0
    assert (known.generation_seconds, known.output_tokens) == (1.5, 12.0)
    assert known.missing["retrieval_seconds"] is Status.NOT_MEASURED
    assert known.missing["input_tokens"] is Status.NOT_MEASURED


def test_check_that_never_ran(question: Question, response: Response) -> None:
    """Without rows every judged field is missing, and the reason is that nothing was asked."""
    known = assemble(with_passages(response, 1), question, [])

    assert {known.missing[field] for field in AXES} == {Status.NOT_ASKED}


def test_labels_that_never_came(question: Question, response: Response, verdict: Row) -> None:
    """Claims alone say how many there are, not what became of them."""
    known = assemble(response, question, claims(verdict, "claims_response", 2))

    assert known.missing["response_in_reference"] is Status.NOT_ASKED


def test_failed_system_is_not_judged(question: Question, response: Response, verdict: Row) -> None:
    """Without a response every field that a judge fills is not_answered, and so are the costs."""
    failed = replace(with_passages(response, 1), response=None, error="timeout")

    known = assemble(failed, question, [verdict("passage_useful", 0, label=1)])

    assert all(known.missing[field] is Status.NOT_ANSWERED for field in AXES)
    assert known.missing["passages_returned"] is Status.NOT_ANSWERED
    assert METRICS["answer_match"].score(known) == MetricValue(0.0)
    assert METRICS["refusal"].score(known) == MetricValue(None, None, Status.NOT_ANSWERED)


def test_no_claims_is_a_count(question: Question, response: Response, verdict: Row) -> None:
    """A response without claims has arrays of length zero: NA no_claims, units 0."""
    rows = [
        verdict("claims_response", -1, error="no_claims"),
        verdict("response_in_context", -1, error="no_claims"),
    ]

    known = assemble(with_passages(response, 3), question, rows)

    assert known.response_in_context is not None
    assert known.response_in_context.shape == (0,)
    assert known.response_in_passages is not None
    assert known.response_in_passages.shape == (0, 3)
    assert METRICS["faithfulness"].score(known) == MetricValue(None, 0, Status.NO_CLAIMS)


def test_no_passages_is_a_count(question: Question, response: Response, verdict: Row) -> None:
    """Nothing retrieved: (claims, 0) and (0,); what needs them joined says no_passages."""
    rows = [
        *claims(verdict, "claims_reference", 2),
        verdict("passage_useful", -1, error="no_passages"),
        verdict("reference_in_context", -1, error="no_passages"),
    ]

    known = assemble(response, question, rows)

    assert known.reference_in_passages is not None
    assert known.reference_in_passages.shape == (2, 0)
    assert known.passage_useful is not None
    assert known.passage_useful.shape == (0,)
    assert METRICS["context_recall"].score(known).status is Status.NO_PASSAGES
    assert METRICS["claim_recall"].score(known).status is Status.NO_PASSAGES


def test_no_reverse_question_is_a_count(
    question: Question, response: Response, verdict: Row
) -> None:
    """A response that no question can be made of: ours NA, Ragas' 0.0 with the reason beside it."""
    rows = [verdict("reverse_question", -1, error="no_reverse_questions")]

    known = assemble(response, question, rows)

    reason = Status.NO_REVERSE_QUESTIONS
    assert METRICS["answer_relevancy"].score(known) == MetricValue(None, 0, reason)
    assert METRICS["answer_relevancy@ragas043"].score(known) == MetricValue(0.0, 0, reason)


def test_check_that_failed_as_a_whole(question: Question, response: Response, verdict: Row) -> None:
    """Unreadable claims make all that rests on them NA with that reason; so does a lone check."""
    unread = assemble(
        response, question, [verdict("claims_response", -1, error="judge_unparsable")]
    )
    unlabelled = assemble(
        response,
        question,
        [
            *claims(verdict, "claims_response", 2),
            verdict("response_in_reference", -1, error="context_overflow"),
        ],
    )

    assert METRICS["precision"].score(unread).status is Status.JUDGE_UNPARSABLE
    assert METRICS["precision"].score(unlabelled).status is Status.CONTEXT_OVERFLOW


def test_failure_without_a_reason(question: Question, response: Response, verdict: Row) -> None:
    """A check that failed and does not say why has failed."""
    rows = [*claims(verdict, "claims_response", 1), verdict("response_in_reference", -1)]

    assert (
        assemble(response, question, rows).missing["response_in_reference"] is Status.JUDGE_FAILED
    )
    none = assemble(response, question, [verdict("claims_response", -1)])
    assert none.missing["response_in_reference"] is Status.JUDGE_FAILED


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ({"label": None, "error": "budget"}, Status.BUDGET),
        ({"label": None, "error": None}, Status.JUDGE_INCOMPLETE),
    ],
)
def test_one_missing_label_takes_the_array(
    question: Question,
    response: Response,
    verdict: Row,
    second: dict[str, object],
    expected: Status,
) -> None:
    """A label that could not be had makes the array missing with its error, never a zero."""
    rows = [
        *claims(verdict, "claims_response", 2),
        verdict("response_in_reference", 0, label=1),
        verdict("response_in_reference", 1, **second),
    ]

    known = assemble(response, question, rows)

    assert known.response_in_reference is None
    assert known.missing["response_in_reference"] is expected


def test_two_verdicts_for_five_claims(question: Question, response: Response, verdict: Row) -> None:
    """Claims without a verdict are not taken as supported: NA, never 0.8 or 0.5."""
    rows = [
        *claims(verdict, "claims_response", 5),
        verdict("response_in_context", 0, label=1),
        verdict("response_in_context", 1, label=0),
    ]

    known = assemble(with_passages(response, 1), question, rows)

    assert METRICS["faithfulness"].score(known) == MetricValue(None, None, Status.JUDGE_INCOMPLETE)
    assert METRICS["faithfulness@ragas043"].score(known).value is None


def test_label_of_no_kind(question: Question, response: Response, verdict: Row) -> None:
    """A label outside the set reaches the metric as what it is, however large, and is NA there."""
    rows = [verdict("passage_useful", 0, label=1), verdict("passage_useful", 1, label=258)]

    known = assemble(with_passages(response, 2), question, rows)

    assert METRICS["context_precision"].score(known).status is Status.JUDGE_UNPARSABLE


def test_no_direction_in_one_embedding(
    question: Question, response: Response, verdict: Row
) -> None:
    """A reverse question without a similarity takes the similarities, not the flags."""
    rows = [
        verdict("reverse_question", 0, label=0, similarity=0.5),
        verdict("reverse_question", 1, label=0, error="zero_vector"),
    ]

    known = assemble(response, question, rows)

    assert known.missing["question_similarity"] is Status.ZERO_VECTOR
    assert known.noncommittal is not None


def test_two_rows_in_one_place(question: Question, response: Response, verdict: Row) -> None:
    """Two labels for one claim, as from two judges, are a fault and not a choice."""
    rows = [verdict("passage_useful", 0, label=1), verdict("passage_useful", 0, label=0)]

    with pytest.raises(ValueError, match="passage_useful: two rows at item 0, against -1"):
        assemble(with_passages(response, 1), question, rows)


@pytest.mark.parametrize(("item", "against"), [(2, 0), (0, 1), (0, -1)])
def test_row_beside_the_array(
    question: Question, response: Response, verdict: Row, item: int, against: int
) -> None:
    """A label for a claim or passage that is not there is a fault."""
    rows = [
        *claims(verdict, "claims_response", 2),
        verdict("response_in_passages", item, against, label=1),
    ]

    with pytest.raises(ValueError, match="response_in_passages: no such claim or passage"):
        assemble(with_passages(response, 1), question, rows)


def test_claims_with_a_gap(question: Question, response: Response, verdict: Row) -> None:
    """Claims are numbered from 0 without a gap."""
    rows = [verdict("claims_response", 0, text="a"), verdict("claims_response", 2, text="c")]

    with pytest.raises(ValueError, match="claims_response: items are not 0 to 1"):
        assemble(response, question, rows)


def test_a_cut_answer_is_not_scored() -> None:
    """An answer that ran out of room is NA wherever the answer counts; retrieval still counts."""
    response = Response("q1", 0, "?", "27.", "text", "It is 2", (PASSAGE,), finish_reason="length")
    question = Question("q1", "?", "27.", "text", answers=(("27",),))
    useful = Verdict("j", "q1", 0, "passage_useful", 0, label=1)

    evidence = assemble(response, question, [useful])

    for name in ("answer_match", "faithfulness", "answer_relevancy"):
        assert METRICS[name].score(evidence) == MetricValue(None, None, Status.CONTEXT_OVERFLOW)
    assert METRICS["context_precision"].score(evidence).value == 1.0


def test_nothing_is_retrieved_for_a_question_without_an_answer() -> None:
    """Where the corpus holds no answer, no passage could be useful: NA, not zero."""
    response = Response("q1", 0, "?", "Not said.", "none", "Not said.", (PASSAGE,))
    question = Question("q1", "?", "Not said.", "none", answerable=False)
    useless = Verdict("j", "q1", 0, "passage_useful", 0, label=0)

    found = METRICS["context_precision"].score(assemble(response, question, [useless]))

    assert (found.value, found.status) == (None, Status.NO_REFERENCE_CLAIMS)


def test_refusal_and_cut_reply_have_two_reasons(
    question: Question, response: Response, verdict: Row
) -> None:
    """No claims, and claims that could not be read, have different reasons."""
    refused = assemble(response, question, [verdict("claims_response", -1, error="no_claims")])
    cut = assemble(response, question, [verdict("claims_response", -1, error="judge_unparsable")])

    assert METRICS["faithfulness"].score(refused).status is Status.NO_CLAIMS
    assert METRICS["faithfulness"].score(cut).status is Status.JUDGE_UNPARSABLE


def test_apology_instead_of_verdicts(question: Question, response: Response, verdict: Row) -> None:
    """Three claims and a reply that is no verdict: NA, never 1.0."""
    rows = [verdict("claims_response", item, text="句") for item in range(3)]
    rows.append(verdict("response_in_context", -1, error="judge_unparsable"))

    scored = METRICS["faithfulness"].score(assemble(response, question, rows))

    assert (scored.value, scored.status) == (None, Status.JUDGE_UNPARSABLE)


def test_a_passage_without_a_label(question: Question, response: Response, verdict: Row) -> None:
    """Passages are counted as they were returned; one without a label makes the metric NA."""
    passages = tuple(Passage(f"d#1.{i}", "d", 1, "text", "甲") for i in (1, 2))
    rows = [verdict("passage_useful", 0, label=1)]

    known = assemble(replace(response, passages=passages), question, rows)

    assert METRICS["context_precision"].score(known).status is Status.JUDGE_INCOMPLETE
