"""Faults of an endpoint: retried where that helps, and one line where it does not."""

import asyncio
import json
import time
from collections.abc import Callable

import pytest

from harness.errors import ContextOverflowError, EndpointError
from harness.llm import Calls, OpenAIChat, Request, endpoint
from harness.llm.concurrency import AnswerTimes
from harness.llm.failures import read_failure
from harness.llm.remote import Address
from tests.stub_endpoint import Received, Reply, StubEndpoint

MakeChat = Callable[..., OpenAIChat]
MakeRequest = Callable[..., Request]

LIMITED = Reply(status=429, headers={"Retry-After": "0.1"}, error="slow down")


@pytest.mark.parametrize(
    "fault",
    [
        Reply(status=500),
        Reply(status=503, headers={"Retry-After": "0.02"}),
        Reply(status=503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        Reply(status=503, headers={"Retry-After": "soon"}),
        Reply(status=429, headers={"retry-after-ms": "20"}),
        LIMITED,
        Reply("cut in the middle", cut=True),
        Reply(raw=b'{"choices": ['),
        Reply(raw=b'{"error": {"message": "overloaded"}}'),
        Reply(raw=b'{"choices": []}'),
        Reply(raw=b"<html>bad gateway</html>", headers={"Content-Type": "text/html"}),
        Reply(raw=b"null"),
        Reply(raw=b"[" * 100_000),
        Reply(raw=b'{"choices": [{"message": {"content": "\xff"}}]}'),
        Reply(raw=b'{"choices": [{"message": {"content": 27}}]}'),
        Reply(status=503, headers={"Retry-After": "Mon, 01 Jan 99999 00:00:00 GMT"}),
    ],
    ids=[
        "500",
        "503",
        "date",
        "word",
        "ms",
        "429",
        "cut",
        "half",
        "error",
        "empty",
        "html",
        "null",
        "deep",
        "no UTF-8",
        "number",
        "far",
    ],
)
def test_passing_fault_is_retried(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, fault: Reply
) -> None:
    """A temporary fault costs a second request and does not show in the outcome."""
    with StubEndpoint([fault, "27 metres"]) as stub:
        completion = chat_at(stub).complete(ask(), calls)

    assert completion.text == "27 metres"
    assert (calls.asked, calls.sent) == (1, 2)


def test_spent_quota_is_no_overflow(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """A limit on tokens a day mentions tokens, and has nothing to do with the context window."""
    quota = Reply(
        status=429, headers={"Retry-After": "9999"}, error="Rate limit exceeded: tokens per day"
    )
    with StubEndpoint(quota) as stub:
        (outcome,) = chat_at(stub).complete_all([ask()], calls)

    assert isinstance(outcome, EndpointError)
    assert not isinstance(outcome, ContextOverflowError)


def test_retry_after_is_honoured(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """The endpoint gets no request for as long as it asks."""
    with StubEndpoint([LIMITED, "ok"]) as stub:
        chat_at(stub).complete(ask(), calls)
        first, second = stub.chats

    assert second.at - first.at >= 0.1


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens": "12"}, {"completion_tokens": [9]}, {"prompt_tokens": 9.5}, {}]
)
def test_invalid_counts_are_none(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, usage: dict[str, object]
) -> None:
    """Tokens and reasons of another type than the protocol's count as missing."""
    choice = {"message": {"content": "27 metres"}, "finish_reason": {"reason": "stop"}}
    reply = "\ufeff" + json.dumps({"choices": [choice], "usage": usage})
    with StubEndpoint(Reply(raw=reply.encode())) as stub:
        completion = chat_at(stub).complete(ask(), calls)

    assert completion.text == "27 metres"
    assert (completion.finish_reason, completion.input_tokens) == (None, None)
    assert completion.output_tokens is None


def test_error_that_nests_too_deep(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """An error text that cannot be parsed is shown unchanged."""
    reply = Reply(status=400, raw=b"[" * 100_000)
    with StubEndpoint(reply) as stub, pytest.raises(EndpointError, match=r"HTTP 400: \[\[\["):
        chat_at(stub).complete(ask(), calls)


def test_retries_are_bounded(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """A fault that stays ends in an error that names address, model, fault and remedy."""
    with (
        StubEndpoint(Reply(status=500, error="out of memory")) as stub,
        pytest.raises(EndpointError) as raised,
    ):
        chat_at(stub, retries=2).complete(ask(), calls)

    assert len(stub.chats) == 3
    assert "\n" not in str(raised.value)
    for part in (
        stub.base_url,
        "(model stub)",
        "HTTP 500",
        "out of memory",
        "run the same command",
    ):
        assert part in str(raised.value)


def test_failures_are_not_stored(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """A failed call is sent again by the next run, and the text of the failure is not stored."""
    with StubEndpoint([Reply(status=500), "ok"]) as stub:
        chat = chat_at(stub, retries=0)
        with pytest.raises(EndpointError):
            chat.complete(ask(), calls)

        assert calls.size().calls == {}
        assert chat.complete(ask(), calls).text == "ok"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_refusals_are_not_retried(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, status: int
) -> None:
    """A request that the endpoint refuses is not sent again."""
    with (
        StubEndpoint(Reply(status=status)) as stub,
        pytest.raises(EndpointError, match=f"HTTP {status}: scripted failure"),
    ):
        chat_at(stub).complete(ask(), calls)

    assert len(stub.chats) == 1


def test_exhausted_credit_is_not_waited_for(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """A Retry-After of an hour is a quota used up: the call ends at once and says so."""
    with (
        StubEndpoint(Reply(status=429, headers={"Retry-After": "3600"})) as stub,
        pytest.raises(EndpointError, match=r"HTTP 429.*answers are cached"),
    ):
        chat_at(stub).complete(ask(), calls)

    assert len(stub.chats) == 1


@pytest.fixture
def long_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that is given up is not tried again during the test."""
    monkeypatch.setattr("harness.llm.endpoint.REST_SECONDS", 600.0)


@pytest.mark.usefixtures("long_rest")
def test_connection_refused(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """An endpoint that is not there is one line with the remedy, after one retry."""
    with StubEndpoint() as stub:
        pass
    outcomes = chat_at(stub, concurrency=4).complete_all([ask(str(i)) for i in range(40)], calls)

    assert {str(outcome) for outcome in outcomes} == {
        f"{stub.base_url} (model stub): connection refused; start the server, or correct base_url"
    }
    assert calls.sent <= 2 * 7


@pytest.mark.usefixtures("long_rest")
def test_wrong_key_is_not_tried_a_thousand_times(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """After a refusal that would meet every other call too, the rest fail without being sent."""
    with StubEndpoint(Reply(status=401, error="bad key")) as stub:
        chat = chat_at(stub, concurrency=4)
        outcomes = chat.complete_all([ask(str(i)) for i in range(200)], calls)

    assert all("bad key" in str(outcome) for outcome in outcomes)
    assert len(stub.chats) <= 10


@pytest.mark.usefixtures("long_rest")
def test_endpoint_that_dies_is_given_up(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """After a few calls in a row that failed, the rest fail without being sent."""

    def script(received: Received) -> Reply:
        alive = len(stub.chats) <= 2
        return Reply("ok") if alive else Reply(status=500)

    with StubEndpoint(script) as stub:
        chat = chat_at(stub, concurrency=1, retries=1)
        outcomes = chat.complete_all([ask(str(i)) for i in range(100)], calls)

    assert sum(isinstance(outcome, EndpointError) for outcome in outcomes) == 98
    assert len(stub.chats) < 20
    assert calls.size().calls == {"chat stub": 2}


def test_endpoint_that_refuses_all_requests_is_given_up(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, caplog: pytest.LogCaptureFixture
) -> None:
    """The calls in flight retry, with one warning; those after them fail without being sent."""
    with StubEndpoint(Reply(status=429, error="slow down")) as stub:
        chat = chat_at(stub, concurrency=1, retries=1, backoff=0.001)
        outcomes = chat.complete_all([ask(str(i)) for i in range(20)], calls)

    assert all(isinstance(outcome, EndpointError) for outcome in outcomes)
    assert len(stub.chats) <= 12  # five attempts for each call in flight
    assert caplog.text.count("keeps answering HTTP 429: slow down; waiting") == 1


def test_given_up_endpoint_gets_another_chance(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that was given up is tried again a little later."""
    monkeypatch.setattr("harness.llm.endpoint.REST_SECONDS", 0.05)
    with StubEndpoint([Reply(status=401), "ok"]) as stub:
        chat = chat_at(stub)
        assert isinstance(chat.complete_all([ask()], calls)[0], EndpointError)
        time.sleep(0.06)

        assert chat.complete(ask(), calls).text == "ok"


def test_deadline_holds_over_all_tries(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """A server that hangs costs the deadline and no more, and each attempt is counted."""
    with StubEndpoint(Reply(hang=True)) as stub:
        chat = chat_at(stub, timeout=0.4, deadline=1.0)
        started = time.perf_counter()
        with pytest.raises(EndpointError, match="no reply within"):
            chat.complete(ask(), calls)
        seconds = time.perf_counter() - started

    assert seconds >= 1.0
    assert 1 <= calls.sent <= 3  # on a busy machine an attempt may end late


def test_hang_is_tried_again(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """A request that hangs is sent again, and the second attempt is answered."""
    with StubEndpoint([Reply(hang=True), "ok"]) as stub:
        assert chat_at(stub, timeout=0.4).complete(ask(), calls).text == "ok"


def test_limits_are_adjusted_while_an_attempt_is_being_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The limit of an attempt that has run out, and is closing its connection, is left alone."""
    monkeypatch.setattr(endpoint, "LOOK_SECONDS", 0.001)
    errors: list[object] = []

    async def hangs() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)

    async def attempt() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, found: errors.append(found))
        address = Address("http://127.0.0.1:9/v1", "stub", timeout=0.01)
        place = endpoint.Endpoint(address, endpoint.NO_KEY)
        with pytest.raises(TimeoutError):
            await place._try(hangs, endpoint._Tries(left=0.01, after=0, started=time.monotonic()))
        await asyncio.sleep(0.005)

    asyncio.run(attempt())

    assert not errors


@pytest.mark.slow
def test_a_long_queue_causes_no_time_out(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """A server with one slot and 80 waiting calls, 16 s of work with a time-out of 10 s."""
    with StubEndpoint("ok", latency=0.2, slots=1) as stub:
        chat = chat_at(stub, concurrency=80, timeout=10.0, retries=0)
        outcomes = chat.complete_all([ask(str(i)) for i in range(80)], calls)

    assert [getattr(outcome, "text", outcome) for outcome in outcomes] == ["ok"] * 80
    assert calls.sent == 80
    assert stub.most_at_once == 1


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """An attempt gets a tenth of a second once twenty calls are answered."""
    monkeypatch.setattr(AnswerTimes, "TIMES", 0.0)
    monkeypatch.setattr("harness.llm.endpoint.LEAST_SECONDS", 0.1)
    monkeypatch.setattr("harness.llm.endpoint.LOOK_SECONDS", 0.02)


@pytest.mark.usefixtures("quick")
def test_hanging_requests_do_not_cost_the_whole_time_out(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """Of 60 calls three hang at first, two of them sent before anything is known: all answer."""
    hung: set[str] = set()

    def script(received: Received) -> Reply:
        hangs = received.prompt in ("0", "1", "40") and received.prompt not in hung
        hung.add(received.prompt)
        return Reply("ok", hang=hangs)

    with StubEndpoint(script) as stub:  # an hour is longer than any test runs
        chat = chat_at(stub, timeout=3600.0, deadline=14400.0)
        outcomes = chat.complete_all([ask(str(i)) for i in range(60)], calls)

    assert [getattr(outcome, "text", outcome) for outcome in outcomes] == ["ok"] * 60
    assert calls.sent >= 63


@pytest.mark.usefixtures("quick")
def test_a_longer_call_of_another_kind_is_answered(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """After 30 labels a call that takes many times longer is cut off, retried and answered."""

    def script(received: Received) -> Reply:
        return Reply("ok", delay=0.5 if received.prompt == "long" else 0.0)

    with StubEndpoint(script) as stub:
        chat = chat_at(stub, concurrency=2)
        chat.complete_all([ask(str(i)) for i in range(30)], calls)
        assert chat.complete(ask("long"), calls).text == "ok"

    assert calls.sent >= 32


@pytest.mark.usefixtures("quick")
def test_the_last_attempt_has_the_whole_time_out(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """A call that never answers is cut off early except for the last time."""

    def script(received: Received) -> Reply:
        return Reply("ok", hang=received.prompt == "lost")

    with StubEndpoint(script) as stub:
        chat = chat_at(stub, concurrency=2, retries=1, timeout=0.6)
        chat.complete_all([ask(str(i)) for i in range(30)], calls)
        with pytest.raises(EndpointError, match=r"no reply within 0\.6 s"):
            chat.complete(ask("lost"), calls)

    assert calls.sent >= 32


def test_throttling_lowers_concurrency_and_success_raises_it(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """An endpoint that accepts two at a time answers all, and is not flooded."""

    def script(received: Received) -> Reply:
        over = stub.serving > 2
        return LIMITED if over else Reply("ok", delay=0.02)

    with StubEndpoint(script) as stub:
        chat = chat_at(stub, concurrency=8)
        outcomes = chat.complete_all([ask(str(i)) for i in range(30)], calls)

    assert [getattr(outcome, "text", outcome) for outcome in outcomes] == ["ok"] * 30
    assert len(stub.chats) < 60


def test_key_comes_from_the_named_variable_and_goes_nowhere_else(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is sent to the endpoint, and an error that quotes it has it masked."""
    monkeypatch.setenv("MY_KEY", "sk-secret-123")
    refusal = Reply(status=401, error="Incorrect API key provided: sk-secret-123")
    with StubEndpoint(refusal) as stub:
        chat = chat_at(stub, api_key_env="MY_KEY")
        with pytest.raises(EndpointError, match=r"provided: \*\*\*; is .* MY_KEY set") as raised:
            chat.complete(ask(), calls)

    assert stub.chats[0].headers["authorization"] == "Bearer sk-secret-123"
    assert "sk-secret" not in str(raised.value)
    assert "sk-secret" not in str(chat.identity())


def test_absent_key_is_fine_for_a_local_server(
    calls: Calls,
    chat_at: MakeChat,
    ask: MakeRequest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A server without a key gets a placeholder, with a warning where a key was configured."""
    monkeypatch.delenv("ABSENT_KEY", raising=False)
    with StubEndpoint() as stub:
        chat_at(stub, api_key_env="ABSENT_KEY").complete(ask(), calls)

    assert f"ABSENT_KEY is not set: no key is sent to {stub.base_url}" in caplog.text

    assert stub.chats[0].headers["authorization"] == "Bearer none"


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "too warm", "code": 1}},
        {"error": "too warm"},
        {"detail": "too warm"},
        {"message": "too warm"},
        "too warm",
    ],
    ids=["openai", "ollama", "fastapi", "flat", "word"],
)
def test_servers_say_it_in_several_places(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, error: object
) -> None:
    """An error shows the server's own words, wherever it puts them."""
    reply = Reply(status=400, raw=json.dumps(error).encode())
    with (
        StubEndpoint(reply) as stub,
        pytest.raises(EndpointError, match=r"HTTP 400: too warm;"),
    ):
        chat_at(stub).complete(ask(), calls)


def test_a_bug_is_not_a_failure_of_the_endpoint() -> None:
    """An error of our own keeps its traceback, and is not retried."""
    assert read_failure(ZeroDivisionError(), seconds=1.0) is None
