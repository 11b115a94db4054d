"""What counts against a judge, and what does not."""

from harness.account import lost
from harness.records import Score, Status


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
    cut = [scored("q2", Status.CONTEXT_OVERFLOW), scored("q2", Status.JUDGE_FAILED)]

    found = lost([*whole, *cut], {("q2", 0)})

    assert {score.status for score in found if score.question_id == "q1"} == of_the_judge
    assert [score.status for score in found if score.question_id == "q2"] == [Status.JUDGE_FAILED]
