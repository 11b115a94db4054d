"""Many requests at once: folded, ordered, cached as they arrive, shared by threads."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import EndpointError, NotRecordedError
from harness.llm import Calls, OpenAIChat, Outcome, Request
from tests.stub_endpoint import Received, Reply, StubEndpoint

MakeChat = Callable[..., OpenAIChat]
MakeRequest = Callable[..., Request]

PROGRAM = """
import sys
from pathlib import Path
from harness.llm import *
calls = Calls(Path(sys.argv[1]))
chat = OpenAIChat(base_url=sys.argv[2], model="stub", concurrency=4)
asked = [Request((Message("user", f"q{i}"),)) for i in range(int(sys.argv[3]))]
print(*(outcome.text for outcome in chat.complete_all(asked, calls)))
"""


def echo(received: Received) -> str:
    return f"re: {received.prompt}"


def texts(outcomes: list[Outcome]) -> list[str]:
    return [getattr(outcome, "text", str(outcome)) for outcome in outcomes]


def test_outcomes_are_in_order_and_equal_requests_asked_once(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """Six requests of which three are distinct cost three calls, answered in order."""
    questions = ["a", "b", "a", "c", "b", "a"]
    with StubEndpoint(echo) as stub:
        outcomes = chat_at(stub).complete_all([ask(q) for q in questions], calls)

    assert texts(outcomes) == [f"re: {q}" for q in questions]
    assert sorted(received.prompt for received in stub.chats) == ["a", "b", "c"]
    assert calls.asked == 3


def test_eight_questions_eight_answers(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """The cache key holds the filled prompt, not the template."""
    requests = [ask(f"Answer the question. Question: {i}") for i in range(8)]
    with StubEndpoint(echo) as stub:
        chat = chat_at(stub)
        first = texts(chat.complete_all(requests, calls))
        second = texts(chat.complete_all(requests, calls))

    assert len(set(first)) == 8
    assert first == second
    assert len(stub.chats) == 8


def test_changed_prompt_is_asked_again(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """One changed word in the prompt sends all calls again; unchanged, none is sent."""
    with StubEndpoint(echo) as stub:
        chat = chat_at(stub)
        for prompt in ("Is it supported? {}", "Is it entailed? {}", "Is it entailed? {}"):
            chat.complete_all([ask(prompt.format(i)) for i in range(3)], calls)

    assert len(stub.chats) == 6


def test_other_reference_is_another_call(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """Two questions with the same wording and two references are two calls."""
    requests = [ask(f'{{"question": "When?", "reference": "{year}"}}') for year in (1931, 1932)]
    with StubEndpoint(echo) as stub:
        assert len(set(texts(chat_at(stub).complete_all(requests, calls)))) == 2


def test_samples_are_one_call(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """Requests that differ in their sample only are one call, its tokens counted once."""
    reply = Reply("a", others=["b", "c"], prompt_tokens=10, completion_tokens=7)
    requests = [ask(question, sample=i) for i in range(3) for question in ("p", "q")]
    with StubEndpoint(reply) as stub:
        outcomes = chat_at(stub).complete_all(requests, calls)

    assert texts(outcomes) == ["a", "a", "b", "b", "c", "c"]
    assert [received.body["n"] for received in stub.chats] == [3, 3]
    assert (calls.asked, calls.sent, calls.tokens) == (2, 2, {"stub": (20, 42)})


def test_each_sample_is_cached(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """A repetition sends nothing; two samples more are one call for these two only."""
    with StubEndpoint(Reply("a", others=["b", "c"])) as stub:
        chat = chat_at(stub)
        for _ in range(2):
            chat.complete_all([ask(sample=i) for i in range(3)], calls)
        more = chat.complete_all([ask(sample=i) for i in range(5)], calls)
        only = chat.complete_all([ask(sample=5)], calls)

    assert texts([*more, *only]) == ["a", "b", "c", "a", "b", "a"]
    assert [received.body.get("n") for received in stub.chats] == [3, 2, None]
    assert calls.size().calls == {"chat stub": 6}


def test_a_failed_call_fails_all_its_samples(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """None of them is cached, and the next run requests all of them again."""
    with StubEndpoint([Reply(status=500), Reply("a", others=["b"])]) as stub:
        chat = chat_at(stub, retries=0)
        failed = chat.complete_all([ask(sample=i) for i in range(2)], calls)
        again = chat.complete_all([ask(sample=i) for i in range(2)], calls)

    assert [isinstance(outcome, EndpointError) for outcome in failed] == [True, True]
    assert texts(again) == ["a", "b"]


def test_failures_are_values(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """One call that fails does not affect the others."""

    def script(received: Received) -> str | Reply:
        return Reply(status=422) if received.prompt == "b" else "ok"

    with StubEndpoint(script) as stub:
        a, b, c = chat_at(stub).complete_all([ask(q) for q in "abc"], calls)

    assert texts([a, c]) == ["ok", "ok"]
    assert isinstance(b, EndpointError)


def test_concurrency_is_kept_and_used(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """As many requests are in flight as allowed, and no more."""
    with StubEndpoint(latency=0.03) as stub:
        chat_at(stub, concurrency=5).complete_all([ask(str(i)) for i in range(20)], calls)

    assert stub.most_at_once == 5


def test_on_done_is_called_for_each_request(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """Progress is reported per request, repeated and cached ones too, in the calling thread."""
    done: dict[int, str] = {}
    threads = set()

    def on_done(index: int, outcome: Outcome) -> None:
        done[index] = texts([outcome])[0]
        threads.add(threading.get_ident())

    with StubEndpoint(echo) as stub:
        chat = chat_at(stub)
        chat.complete(ask("b"), calls)
        chat.complete_all([ask(q) for q in "abab"], calls, on_done)

    assert done == {0: "re: a", 1: "re: b", 2: "re: a", 3: "re: b"}
    assert threads == {threading.get_ident()}


def test_interrupted_batch_keeps_what_came(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """Ctrl-C passes through, cancels what is in flight, and loses no answer that arrived."""

    def interrupt(index: int, outcome: Outcome) -> None:
        if len(stub.chats) >= 6:
            raise KeyboardInterrupt

    with StubEndpoint(echo, latency=0.01) as stub:
        chat = chat_at(stub, concurrency=2)
        with pytest.raises(KeyboardInterrupt):
            chat.complete_all([ask(str(i)) for i in range(50)], calls, interrupt)
        stored = calls.size().calls["chat stub"]
        asked = len(stub.chats)
        again = chat.complete_all([ask(str(i)) for i in range(50)], calls)

    assert 4 <= stored <= asked < 20
    assert texts(again) == [f"re: {i}" for i in range(50)]
    assert len(stub.chats) <= 50 + 3


def test_threads_share_a_call_in_flight(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """Four threads that send the same request at the same time cost one call."""
    outcomes: list[str] = []
    with StubEndpoint(echo, latency=0.1) as stub:
        chat = chat_at(stub)

        def work() -> None:
            outcomes.append(chat.complete(ask("q"), calls).text)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert outcomes == ["re: q"] * 4
    assert len(stub.chats) == 1


def test_read_only_store_sends_nothing(tmp_path: Path, chat_at: MakeChat, ask: MakeRequest) -> None:
    """With cache=read cached calls are answered, and the others fail without being sent."""
    with StubEndpoint(echo) as stub:
        chat = chat_at(stub)
        chat.complete(ask("known"), Calls(tmp_path))
        reading = Calls(tmp_path, "read")
        known, unknown = chat.complete_all([ask("known"), ask("unknown")], reading)

    assert texts([known]) == ["re: known"]
    assert isinstance(unknown, NotRecordedError)
    assert len(stub.chats) == 1


def test_without_a_store_equal_requests_still_cost_one_call(
    chat_at: MakeChat, ask: MakeRequest
) -> None:
    """Equal requests of one batch are one call also without a cache; the next batch sends again."""
    with StubEndpoint(echo) as stub:
        chat = chat_at(stub)
        for _ in range(2):
            assert texts(chat.complete_all([ask("q")] * 3, Calls(None))) == ["re: q"] * 3

    assert len(stub.chats) == 2


def start(tmp_path: Path, stub: StubEndpoint, requests: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", PROGRAM, str(tmp_path), stub.base_url, str(requests)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_second_process_sends_nothing(tmp_path: Path) -> None:
    """The next process finds the calls of the one before in the cache."""
    with StubEndpoint(echo) as stub:
        outputs = {start(tmp_path, stub, 5).communicate()[0] for _ in range(2)}

    assert outputs == {"re: q0 re: q1 re: q2 re: q3 re: q4\n"}
    assert len(stub.chats) == 5


@pytest.mark.slow
def test_two_processes_at_once_share_the_cache(tmp_path: Path) -> None:
    """Two processes with the same forty calls may send one twice, and cache each once."""
    with StubEndpoint(echo, latency=0.05) as stub:
        processes = [start(tmp_path, stub, 40) for _ in range(2)]
        outputs = {process.communicate()[0] for process in processes}
        prompts = {received.prompt for received in stub.chats}

    assert len(outputs) == 1
    assert prompts == {f"q{i}" for i in range(40)}
    assert Calls(tmp_path).size().calls == {"chat stub": 40}


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
@pytest.mark.slow
def test_killed_process_loses_only_what_was_in_flight(tmp_path: Path) -> None:
    """After kill -9 half way, the rerun sends the calls that were not answered, and no more."""
    half_way = threading.Event()

    def script(received: Received) -> str:
        if len(stub.chats) == 12:
            half_way.set()
        return echo(received)

    with StubEndpoint(script, latency=0.03) as stub:
        victim = start(tmp_path, stub, 24)
        half_way.wait()
        os.kill(victim.pid, signal.SIGKILL)
        victim.communicate()
        asked = len(stub.chats)
        output = start(tmp_path, stub, 24).communicate()[0]

    assert output.split("re: ")[1:] == [f"q{i} " for i in range(23)] + ["q23\n"]
    assert 12 <= asked < 24
    assert len(stub.chats) <= 24 + 4
