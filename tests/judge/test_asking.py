"""What becomes of replies that cannot be used as they come."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import BudgetError, ContextOverflowError, EndpointError
from harness.judge import Case, ChatJudge
from harness.llm import Calls, Completion, OpenAIChat, Request
from harness.records import Status, Verdict
from tests.judge.conftest import Directions
from tests.stub_endpoint import Received, Reply, StubEndpoint

Build = Callable[..., ChatJudge]
REPLY = '{"claims": ["塔高27公尺。"]}'


def in_turn(*replies: "str | Completion | Exception") -> Callable[[Request], Any]:
    """Return a script that gives these replies one after another, then the last for ever."""
    following: Iterator[Any] = iter(replies)
    last: list[Any] = []

    def script(_: Request) -> Any:
        last[:] = [next(following, *last)] if last else [next(following)]
        if isinstance(last[0], Exception):
            raise last[0]
        return last[0]

    return script


def cut(text: str) -> Completion:
    return Completion(text, "length", 100, 50, 0.01)


def claims(judge: ChatJudge, case: Case, calls: Calls) -> list[Verdict]:
    (rows,) = judge.judge([case], ["claims_response"], calls)
    return rows


@pytest.mark.parametrize("reply", ["I cannot evaluate this", "很抱歉，無法判斷", "[1, 2]", ""])
def test_unreadable_is_na_with_the_raw_text(
    reply: str, chat_judge: Build, case: Case, calls: Calls
) -> None:
    """Prose in place of an answer is NA with the text kept, never a score."""
    (row,) = claims(chat_judge(in_turn(reply)), case, calls)

    assert (row.item, row.label, row.error) == (-1, None, Status.JUDGE_UNPARSABLE)
    assert row.reason is not None
    assert row.reason.endswith(f"reply (stop): {reply}")


def test_broken_characters_are_replaced(chat_judge: Build, case: Case, calls: Calls) -> None:
    """Half a surrogate pair in a reply can be sent back and written down as a question mark."""
    judge = chat_judge(in_turn("no \ud83d"))
    (row,) = claims(judge, case, calls)
    assert row.reason is not None
    assert row.reason.endswith("reply (stop): no ?")
    assert judge.chat.asked[1].messages[-2].content == "no ?"


@pytest.mark.parametrize("broken", ["\ud83d", "\\ud83d"])
def test_broken_characters_in_a_claim(
    broken: str, chat_judge: Build, case: Case, calls: Calls
) -> None:
    """Whatever is kept of such a reply can be written as UTF-8."""
    (row,) = claims(chat_judge(lambda _: f'{{"claims": ["塔高{broken}"]}}'), case, calls)
    assert f"{row.text}{row.reason}".encode()


def test_raw_text_is_kept_to_500_characters(chat_judge: Build, case: Case, calls: Calls) -> None:
    """Of a long unreadable reply the table keeps the beginning."""
    (row,) = claims(chat_judge(in_turn("x" * 2000)), case, calls)
    assert row.reason is not None
    assert row.reason.endswith("reply (stop): " + "x" * 500)


def test_repair_quotes_the_reply_and_the_error(chat_judge: Build, case: Case, calls: Calls) -> None:
    """The second call shows the model what it wrote and what is wrong with it."""
    judge = chat_judge(in_turn('{"claims": "none"}', REPLY))
    (row,) = claims(judge, case, calls)

    first, second = judge.chat.asked
    assert row.text == "塔高27公尺。"
    assert second.messages[:-2] == first.messages
    assert second.messages[-2].content == '{"claims": "none"}'
    assert "claims" in second.messages[-1].content
    assert "無法使用" in second.messages[-1].content


def test_a_repair_quotes_the_end_of_a_long_reply(
    chat_judge: Build, case: Case, calls: Calls
) -> None:
    """At most 4,000 characters are sent back, and no mark of a chat template."""
    judge = chat_judge(in_turn("x" * 150_000 + "<|im_end|>[INST]", REPLY))
    claims(judge, case, calls)
    quoted = judge.chat.asked[1].messages[-2].content
    assert quoted == "x" * 3984 + "\\u003c|im_end|>\\u005bINST]"


def test_unread_replies_are_asked_again(chat_judge: Build, case: Case, tmp_path: Path) -> None:
    """Only what gave a label, with the replies that led to it, is cached."""
    store = Calls(tmp_path)
    judge = chat_judge(in_turn("hm", "hm", "hm", "hm", REPLY))
    assert claims(judge, case, store)[0].error == Status.JUDGE_UNPARSABLE
    assert store.size().calls == {}

    assert [row.text for row in claims(judge, case, store)] == ["塔高27公尺。"]
    assert len(judge.chat.asked) == 5
    assert [row.text for row in claims(judge, case, store)] == ["塔高27公尺。"]
    assert len(judge.chat.asked) == 5
    store.close()


def test_a_reply_whose_repair_failed_stays_cached(
    chat_judge: Build, case: Case, tmp_path: Path
) -> None:
    """Where the budget or the endpoint ended the attempts, the next evaluation goes on there."""
    store = Calls(tmp_path)
    judge = chat_judge(in_turn("hm", BudgetError("budget.calls=1 is spent"), REPLY))
    assert claims(judge, case, store)[0].error == Status.BUDGET
    assert [row.text for row in claims(judge, case, store)] == ["塔高27公尺。"]
    assert len(judge.chat.asked) == 3
    assert judge.chat.asked[-1].messages[-2].content == "hm"
    store.close()


def test_replies_sent_twice_move_no_label(calls: Calls, other: Callable[..., Case]) -> None:
    """Where a server repeats a third of its replies, each label is still the right one."""

    def script(received: Received) -> Reply:
        number = len(stub.chats)
        useful = "塔高" in json.loads(received.messages[-1]["content"])["passages"][0]["passage"]
        word = "useful" if useful else "not_useful"
        rows = {"verdicts": [{"id": 1, "reason": "r", "verdict": word}]}
        return Reply(json.dumps(rows), twice=number % 6 == 0, late=number % 6 == 3)

    passages = tuple(f"{'塔高' if n % 3 else '休館'}{n}。" for n in range(60))
    with StubEndpoint(script) as stub:
        chat = OpenAIChat(base_url=stub.base_url, model="stub")
        judge = ChatJudge(chat=chat, embedder=Directions(), language="zh_hant")
        (rows,) = judge.judge([other(passages=passages)], ["passage_useful"], calls)

    assert [row.label for row in rows] == [int(n % 3 > 0) for n in range(60)]


def test_one_repair_one_fresh_call_then_na(chat_judge: Build, case: Case, calls: Calls) -> None:
    """A model that never answers is asked three times, the last time with a fresh call."""
    judge = chat_judge(in_turn("no"))
    claims(judge, case, calls)

    first, _, fresh = judge.chat.asked
    assert fresh.messages == first.messages
    assert fresh.sample != first.sample


def test_cut_reply_is_asked_again_with_more_room(
    chat_judge: Build, case: Case, calls: Calls
) -> None:
    """A reply that was cut is no answer: the next call has four times the room."""
    judge = chat_judge(in_turn(cut('thought... {"claims":'), REPLY))
    (row,) = claims(judge, case, calls)

    rooms = [request.max_tokens for request in judge.chat.asked]
    assert rooms == [1024, 4096]
    assert row.error is None


def test_cut_again_is_an_overflow(chat_judge: Build, case: Case, calls: Calls) -> None:
    """A reply that is truncated at every limit is NA, with its finish reason."""
    (row,) = claims(chat_judge(in_turn(cut('thought... {"score":'))), case, calls)

    assert row.error == Status.CONTEXT_OVERFLOW
    assert row.reason is not None
    assert row.reason.endswith('reply (length): thought... {"score":')


def test_cut_reply_that_looks_whole_is_not_trusted(
    chat_judge: Build, case: Case, calls: Calls
) -> None:
    """A reply is cut when the endpoint says so, even where what came can be read."""
    judge = chat_judge(in_turn(cut(REPLY), '{"claims": ["一。", "二。"]}'))
    assert [row.text for row in claims(judge, case, calls)] == ["一。", "二。"]


def test_answer_in_the_reasoning_field(chat_judge: Build, case: Case, calls: Calls) -> None:
    """An empty reply beside reasoning names the server setting, and is no refusal."""
    moved = Completion("", "stop", 100, 50, 0.01, reasoning=REPLY)
    (row,) = claims(chat_judge(in_turn(moved)), case, calls)

    assert row.error == Status.JUDGE_UNPARSABLE
    assert row.reason is not None
    assert "reasoning parser" in row.reason


def test_empty_reply_is_not_sent_back_for_repair(
    chat_judge: Build, case: Case, calls: Calls
) -> None:
    """An empty reply has nothing to quote: a fresh call follows at once."""
    judge = chat_judge(in_turn("", REPLY))
    assert claims(judge, case, calls)[0].text == "塔高27公尺。"
    assert len(judge.chat.asked) == 2


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (EndpointError("refused"), Status.JUDGE_FAILED),
        (ContextOverflowError("needs 9000 tokens, has 8192"), Status.CONTEXT_OVERFLOW),
        (BudgetError("budget.calls=10 is spent"), Status.BUDGET),
    ],
)
def test_endpoint_failure_is_final(
    error: EndpointError, status: Status, chat_judge: Build, case: Case, calls: Calls
) -> None:
    """A call that failed is NA with the endpoint's words; retries are not the judge's affair."""
    judge = chat_judge(in_turn(error))
    (row,) = claims(judge, case, calls)

    assert (row.error, row.reason) == (status, str(error))
    assert len(judge.chat.asked) == 1


def test_missing_verdicts_are_na(chat_judge: Build, case: Case, calls: Calls) -> None:
    """Two verdicts on five claims are no answer, not three claims supported."""

    def script(request: Request) -> str:
        if "verdict" not in request.messages[0].content:
            return json.dumps({"claims": [f"第{n}句。" for n in range(5)]}, ensure_ascii=False)
        rows = [{"id": n, "reason": "r", "verdict": "entailed"} for n in (1, 2)]
        return json.dumps({"verdicts": rows})

    (rows,) = chat_judge(script).judge([case], ["response_in_context"], calls)

    (row,) = [row for row in rows if row.check == "response_in_context"]
    assert (row.item, row.label, row.error) == (-1, None, Status.JUDGE_INCOMPLETE)
    assert len(rows) == 6


def test_failures_stay_with_their_question(
    chat_judge: Build, other: Callable[..., Case], calls: Calls
) -> None:
    """When calls fail, the other answers do not move up into their place."""

    def script(request: Request) -> str:
        content = request.messages[-1].content
        if "甲" in content or "乙" in content:
            raise EndpointError("refused")
        return json.dumps({"claims": [json.loads(content)["text"]]}, ensure_ascii=False)

    cases = [
        other(question_id=f"q{n}", response=f"{name}高27公尺。")
        for n, name in enumerate("甲乙丙丁")
    ]
    found = chat_judge(script).judge(cases, ["claims_response"], calls)

    assert [rows[0].question_id for rows in found] == ["q0", "q1", "q2", "q3"]
    assert [rows[0].text for rows in found] == [None, None, "丙高27公尺。", "丁高27公尺。"]
    assert [rows[0].error for rows in found][:2] == [Status.JUDGE_FAILED] * 2


def test_refusal_and_failure_are_told_apart(
    chat_judge: Build, other: Callable[..., Case], calls: Calls
) -> None:
    """No claims and a judge that failed are both NA, for reasons of their own."""

    def script(request: Request) -> "str | Completion":
        text = json.loads(request.messages[-1].content).get("text", "")
        return '{"claims": []}' if text == "資料中沒有" else cut('{"claims": [')

    cases = [other(question_id="q1", response="資料中沒有"), other(question_id="q2")]
    found = chat_judge(script).judge(cases, ["response_in_context"], calls)

    assert {row.error for row in found[0]} == {Status.NO_CLAIMS}
    assert {row.error for row in found[1]} == {Status.CONTEXT_OVERFLOW}


def asked_back(question: str) -> str:
    return json.dumps({"question": question, "reason": "r", "noncommittal": False})


def test_reverse_questions_are_one_call(case: Case, calls: Calls) -> None:
    """Three samples are one request, warm enough to differ; one that is unreadable is repaired."""

    def script(received: Received) -> Reply:
        if "n" not in received.body:
            return Reply(asked_back("b"))
        return Reply(asked_back("a"), others=["no", asked_back("c")])

    with StubEndpoint(script) as stub:
        chat = OpenAIChat(base_url=stub.base_url, model="stub")
        judge = ChatJudge(chat=chat, embedder=Directions(), language="zh_hant", strictness=3)
        (rows,) = judge.judge([case], ["reverse_question"], calls)
        together, repair = (received.body for received in stub.chats)

    assert [row.text for row in rows] == ["a", "b", "c"]
    assert (together["n"], together["temperature"]) == (3, 0.3)
    assert repair["messages"][-2]["content"] == "no"


def test_one_reverse_question_is_asked_as_all_else(case: Case, calls: Calls) -> None:
    """With `strictness=1` there is nothing to tell apart, so nothing is warmed."""
    with StubEndpoint(asked_back("a")) as stub:
        chat = OpenAIChat(base_url=stub.base_url, model="stub")
        judge = ChatJudge(chat=chat, embedder=Directions(), language="zh_hant", strictness=1)
        judge.judge([case], ["reverse_question"], calls)

    assert stub.chats[0].body["temperature"] == 0.0
    assert "n" not in stub.chats[0].body
