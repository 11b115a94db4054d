"""What a judge would be asked, worked out before anything is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.judge import Case, ChatJudge, CustomCheck, OverlapJudge, PlannedCall
from harness.judge.checks import CheckKind
from harness.judge.contract import Job
from harness.llm import Calls
from tests.judge.conftest import ScriptedChat

Build = Callable[..., ChatJudge]
Other = Callable[..., Case]


def plan(
    judge: ChatJudge, cases: list[Case], folder: Path, *checks: str
) -> list[list[PlannedCall]]:
    return judge.planned_calls(cases, checks, Calls(folder, "read"))


def test_nothing_is_asked(chat_judge: Build, case: Case, tmp_path: Path) -> None:
    """Of claims and two passages three calls are planned, and none is sent."""
    judge = chat_judge()
    (rows,) = plan(judge, [case], tmp_path, "claims_response", "passage_useful")

    assert [row.check for row in rows] == ["claims_response", "passage_useful", "passage_useful"]
    assert all(row.exact and not row.known for row in rows)
    assert len({row.key for row in rows}) == 3
    assert judge.chat.asked == []


def test_claims_not_taken_are_reckoned(chat_judge: Build, case: Case, tmp_path: Path) -> None:
    """One call for each text that claims are checked against, however many claims there are."""
    (rows,) = plan(chat_judge(), [case], tmp_path, "response_in_passages")
    claims, *held = rows
    assert claims.exact
    assert [(row.check, row.exact) for row in held] == [("response_in_passages", False)] * 2


def test_known_claims_make_the_rest_exact(chat_judge: Build, case: Case, tmp_path: Path) -> None:
    """The keys that are then planned are those that are then asked."""
    judge = chat_judge()
    judge.judge([case], ["claims_response"], Calls(tmp_path))
    (rows,) = plan(judge, [case], tmp_path, "response_in_context")
    assert [(row.known, row.exact) for row in rows] == [(True, True), (False, True)]

    asked = judge.judge([case], ["response_in_context"], Calls(tmp_path))
    assert asked[0][-1].call == rows[-1].key


def test_claims_that_could_not_be_read_are_asked_for_again(
    chat_judge: Build, case: Case, tmp_path: Path
) -> None:
    """Replies that all stayed unreadable are not cached: they and what rests on them are asked."""
    judge = chat_judge(lambda _: "no JSON")
    judge.judge([case], ["claims_response"], Calls(tmp_path))
    (rows,) = plan(judge, [case], tmp_path, "response_in_context")
    assert [(row.check, row.known) for row in rows] == [
        ("claims_response", False),
        ("response_in_context", False),
    ]


def test_a_repair_that_was_not_asked_leaves_the_rest_reckoned(
    chat_judge: Build, case: Case, tmp_path: Path
) -> None:
    """A first reply alone, unreadable, does not tell what the claims will be."""

    judge = chat_judge(lambda _: "no JSON")
    job = Job(CheckKind.CLAIMS, case.question, case.response)
    judge.chat.complete(judge.request_for(job).request, Calls(tmp_path))

    (rows,) = plan(judge, [case], tmp_path, "response_in_context")
    assert [(row.known, row.exact) for row in rows] == [(True, True), (False, False)]


def test_equal_calls_have_one_key(chat_judge: Build, other: Other, tmp_path: Path) -> None:
    """Two variants that answer alike over other passages share their claims alone."""
    cases = [other(), other(passages=("別的。",))]
    first, second = plan(chat_judge(), cases, tmp_path, "response_in_context")
    assert first[0].key == second[0].key
    assert first[1].key != second[1].key


@dataclass
class AtOnce(ScriptedChat):
    """A model that gives several samples in one call."""

    @property
    def samples_at_once(self) -> bool:
        return True


def test_samples_are_one_call_where_the_model_can(
    chat_judge: Build, case: Case, tmp_path: Path
) -> None:
    """Three reverse questions are one call with three replies; with two known, one with one."""
    judge = replace(chat_judge(strictness=3), chat=AtOnce())
    (rows,) = plan(judge, [case], tmp_path, "reverse_question")
    assert [(row.known, row.replies, row.reply_tokens) for row in rows] == [(False, 3, 3 * 1024)]

    replace(judge, strictness=2).judge([case], ["reverse_question"], Calls(tmp_path))
    (rows,) = plan(judge, [case], tmp_path, "reverse_question")
    assert [(row.known, row.replies, row.reply_tokens) for row in rows] == [(False, 1, 1024)]

    judge.judge([case], ["reverse_question"], Calls(tmp_path))
    (rows,) = plan(judge, [case], tmp_path, "reverse_question")
    assert [(row.known, row.replies, row.reply_tokens) for row in rows] == [(True, 0, 0)]


def test_samples_are_a_call_each_elsewhere(chat_judge: Build, case: Case, tmp_path: Path) -> None:
    """A model that gives one reply a call is planned to be called for each."""
    (rows,) = plan(chat_judge(strictness=3), [case], tmp_path, "reverse_question")
    assert [row.replies for row in rows] == [1, 1, 1]
    assert len({row.key for row in rows}) == 3


def test_own_check_is_planned(chat_judge: Build, case: Case, tmp_path: Path) -> None:
    """A custom check is listed under its name."""
    dated = CustomCheck("dated", "Dated?", ("passage",), ("yes", "no"), "yes")
    (rows,) = chat_judge().planned_calls([case], [], Calls(tmp_path, "read"), [dated])
    assert [row.check for row in rows] == ["dated", "dated"]


def test_no_model_no_bill(case: Case) -> None:
    """The embedded judge plans nothing."""
    assert OverlapJudge().planned_calls([case], ["passage_useful"], Calls(None, "read")) == [[]]
