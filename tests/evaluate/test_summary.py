"""The summary of an evaluation, and the failures that count against a judge."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import EndpointError
from harness.evaluate.evaluation import EvaluationRequest, RunResponse, cut_cells
from harness.evaluate.merge import cell_key
from harness.evaluate.summary import Evaluation, RunOutcome, check_unread, summary
from harness.llm import Calls
from harness.records import Question, Response, Score, Status
from harness.store import Run


def scored(question: str, status: Status) -> Score:
    value = 1.0 if status is Status.OK else None
    return Score(question, 0, "faithfulness", value, None, status, "chat")


def done(
    *cells: Score, cut: Score | None = None, failure: str = "", labels: tuple[int, int] = (0, 0)
) -> Evaluation:
    outcome = RunOutcome(
        cells, cells, {cell_key(cut)} if cut else (), unchanged=False, failed=False, dropped=0
    )
    return Evaluation({"run": outcome}, Calls(None), failure, *labels)


@pytest.mark.parametrize("status", Status)
def test_what_counts_against_a_judge(status: Status) -> None:
    """Lost labels count against a judge; a spent budget and NA that it found do not."""
    of_the_judge = {
        Status.CONTEXT_OVERFLOW, Status.JUDGE_UNPARSABLE, Status.JUDGE_INCOMPLETE,
        Status.JUDGE_ECHO, Status.JUDGE_FAILED, Status.ZERO_VECTOR,
    }  # fmt: skip
    with pytest.raises(EndpointError) if status in of_the_judge else nullcontext():
        check_unread(done(scored("q1", status)), 0.2)


def test_a_cut_answer_is_out_of_the_count() -> None:
    """A truncated answer counts neither as a failure nor as a cell that was asked for."""
    cut = scored("q2", Status.CONTEXT_OVERFLOW)

    check_unread(done(scored("q1", Status.OK), cut, cut=cut), 0.2)
    with pytest.raises(EndpointError, match="no usable reply for 1 of 1 cells"):
        check_unread(done(scored("q1", Status.JUDGE_FAILED), cut, cut=cut), 0.9)


def test_a_judge_that_is_down_is_reported_though_every_answer_was_cut() -> None:
    """Where no cell is left to count, the share of failed labels decides."""
    cut = scored("q1", Status.CONTEXT_OVERFLOW)

    with pytest.raises(EndpointError, match=r"for 9 of 10 labels .* mostly: connection refused"):
        check_unread(done(cut, cut=cut, failure="connection refused", labels=(9, 10)), 0.2)
    check_unread(done(cut, cut=cut, failure="one was long", labels=(1, 10)), 0.2)


def test_what_an_answer_that_was_cut_excuses() -> None:
    """A truncated answer excuses NA of the metrics on the answer, not of those on its passages."""
    response = Response("q1", 0, "ask", "ref", "text", "27 met", finish_reason="length")
    run = Run(Path("run"))
    cut = RunResponse(run, Question("q1", "ask", "ref", "text"), response)
    whole = replace(cut, response=replace(response, question_id="q2", finish_reason="stop"))
    request = EvaluationRequest(("faithfulness", "context_recall", "context_precision"), ())

    assert cut_cells([cut, whole], request) == {("q1", 0, "faithfulness")}


def test_what_this_judge_cannot_give_is_named() -> None:
    """A metric that this judge can score nowhere is named; one that has a score is not."""
    cells = [scored("q1", Status.NOT_SUPPORTED_BY_JUDGE), scored("q2", Status.OK)]
    failed = replace(scored("q3", Status.NOT_ANSWERED), metric="dated")
    asked = [replace(cells[0], metric="dated"), failed, *cells]

    assert "not supported by this judge: dated; judge=chat calls a model" in summary(done(*asked))
    assert "not supported by this judge" not in summary(done(*cells))
