"""What counts against a judge, and what does not."""

from dataclasses import replace
from pathlib import Path

from harness.account import key, lost
from harness.evaluation import Item, Wanted, cut_cells
from harness.records import Question, Response, Score, Status
from harness.store import Run


def scored(question: str, status: Status) -> Score:
    value = 1.0 if status is Status.OK else None
    return Score(question, 0, "faithfulness", value, None, status, "chat")


def test_what_a_judge_lost() -> None:
    """Its window, its replies and its echoes count; what it found, and answers cut, do not."""
    of_the_judge = {
        Status.CONTEXT_OVERFLOW, Status.JUDGE_UNPARSABLE, Status.JUDGE_INCOMPLETE,
        Status.JUDGE_ECHO, Status.JUDGE_FAILED, Status.BUDGET,
    }  # fmt: skip
    whole = [scored("q1", status) for status in Status]
    cut = scored("q2", Status.CONTEXT_OVERFLOW)

    found = lost([*whole, cut], {key(cut)})

    assert {score.status for score in found} == of_the_judge
    assert {score.question_id for score in found} == {"q1"}


def test_what_an_answer_that_was_cut_excuses() -> None:
    """Only what rests on the answer: its passages are as good as ever, and the judge's own."""
    response = Response("q1", 0, "ask", "ref", "text", "27 met", finish_reason="length")
    run = Run(Path("run"))
    cut = Item(run, Question("q1", "ask", "ref", "text"), response)
    whole = replace(cut, response=replace(response, question_id="q2", finish_reason="stop"))
    wanted = Wanted(("faithfulness", "context_recall", "context_precision"), ())

    assert cut_cells([cut, whole], wanted) == {("q1", 0, "faithfulness")}
