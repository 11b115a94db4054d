"""What counts against a judge, and what does not."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import EndpointError
from harness.evaluate.evaluation import cut_cells
from harness.evaluate.request import Item, Wanted
from harness.evaluate.summary import Evaluation, RunOutcome, check_unread, key, told
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
        cells, cells, {key(cut)} if cut else (), left=False, failed=False, dropped=0
    )
    return Evaluation({"run": outcome}, Calls(None), failure, labels)


@pytest.mark.parametrize("status", Status)
def test_what_counts_against_a_judge(status: Status) -> None:
    """Its window, its replies and its echoes do; a spent budget and what it found do not."""
    of_the_judge = {
        Status.CONTEXT_OVERFLOW, Status.JUDGE_UNPARSABLE, Status.JUDGE_INCOMPLETE,
        Status.JUDGE_ECHO, Status.JUDGE_FAILED,
    }  # fmt: skip
    with pytest.raises(EndpointError) if status in of_the_judge else nullcontext():
        check_unread(done(scored("q1", status)), 0.2)


def test_a_cut_answer_is_out_of_the_count() -> None:
    """Neither among the failures nor among the cells that they are a share of."""
    cut = scored("q2", Status.CONTEXT_OVERFLOW)

    check_unread(done(scored("q1", Status.OK), cut, cut=cut), 0.2)
    with pytest.raises(EndpointError, match="no usable reply for 1 of 1 cells"):
        check_unread(done(scored("q1", Status.JUDGE_FAILED), cut, cut=cut), 0.9)


def test_a_judge_that_is_down_is_told_though_every_answer_was_cut() -> None:
    """There is no cell to be a share of, yet nothing came."""
    cut = scored("q1", Status.CONTEXT_OVERFLOW)

    with pytest.raises(EndpointError, match=r"for 9 of 10 labels .* mostly: nobody listens"):
        check_unread(done(cut, cut=cut, failure="nobody listens", labels=(9, 10)), 0.2)
    check_unread(done(cut, cut=cut, failure="one was long", labels=(1, 10)), 0.2)


def test_what_an_answer_that_was_cut_excuses() -> None:
    """Only what rests on the answer: its passages are as good as ever, and the judge's own."""
    response = Response("q1", 0, "ask", "ref", "text", "27 met", finish_reason="length")
    run = Run(Path("run"))
    cut = Item(run, Question("q1", "ask", "ref", "text"), response)
    whole = replace(cut, response=replace(response, question_id="q2", finish_reason="stop"))
    wanted = Wanted(("faithfulness", "context_recall", "context_precision"), ())

    assert cut_cells([cut, whole], wanted) == {("q1", 0, "faithfulness")}


def test_what_this_judge_cannot_give_is_named() -> None:
    """A metric that is NA throughout for that reason, and none that has a score."""
    cells = [scored("q1", Status.NOT_SUPPORTED_BY_JUDGE), scored("q2", Status.OK)]
    failed = replace(scored("q3", Status.NOT_ANSWERED), metric="dated")
    asked = [replace(cells[0], metric="dated"), failed, *cells]

    assert "not for this judge: dated; judge=chat asks a model" in told(done(*asked))
    assert "not for this judge" not in told(done(*cells))
