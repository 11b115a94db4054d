"""How long an endpoint may take over one request."""

import asyncio
import time
from collections.abc import Callable

import pytest
from harness.llm.patience import Clock, Patience

from harness.errors import EndpointError
from harness.llm import Calls, OpenAIChat, Request
from tests.stub_endpoint import Received, Reply, StubEndpoint

MakeChat = Callable[..., OpenAIChat]
MakeRequest = Callable[..., Request]


def after(*seconds: float, timeout: float = 120.0) -> Patience:
    """What is known after answers that took so long."""
    patience = Patience(timeout, least=5.0)
    for each in seconds:
        patience.answered(each)
    return patience


def test_nothing_is_usual_before_enough_answers() -> None:
    """A first call that loads weights, and 19 quick ones after it, leave the whole time-out."""
    assert after().seconds(failed=0) == 120.0
    assert after(*[0.2] * 19).seconds(failed=0) == 120.0
    assert after(60.0, *[0.2] * 19).seconds(failed=0) == 120.0


def test_five_times_the_slowest() -> None:
    """With answers of up to 3 s a try has 15 s, the next 30 s, and never more than the time-out."""
    patience = after(*[0.2] * 50, 3.0)

    assert [patience.seconds(failed) for failed in range(5)] == [15.0, 30.0, 60.0, 120.0, 120.0]


def test_never_less_than_some_seconds() -> None:
    """A quick endpoint may still stall for a moment; a time-out that is shorter holds."""
    assert after(*[0.001] * 100).seconds(failed=0) == 5.0
    assert after(*[0.001] * 100, timeout=2.0).seconds(failed=0) == 2.0


def test_a_slow_start_is_forgotten() -> None:
    """What took a minute a hundred answers ago is not usual any more."""
    assert after(60.0, *[1.0] * 99).seconds(failed=0) == 120.0
    assert after(60.0, *[1.0] * 100).seconds(failed=0) == 5.0


def test_a_queue_counts_as_time_taken() -> None:
    """One call at a time of 3 s, a hundred waiting: after 20 answers the last took 60 s."""
    assert after(*[3.0 * place for place in range(1, 21)]).seconds(failed=0) == 120.0


def test_clock_starts_anew_until_all_before_are_answered() -> None:
    """With two requests ahead, two answers move the deadline and a third does not."""

    async def main() -> list[float]:
        clock = Clock(lambda: 10.0, ahead=2)
        deadlines = []
        async with clock:
            for _ in range(4):
                deadlines.append(clock.deadline)
                await asyncio.sleep(0.002)
                clock.another_answered()
        return deadlines

    first, second, third, fourth = asyncio.run(main())

    assert first < second < third == fourth


def test_clock_rings_at_the_deadline_that_was_moved() -> None:
    """An answer to another request puts the time-out off, and then it comes."""

    async def wait(clock: Clock) -> None:
        async with clock:
            await asyncio.sleep(0.2)
            clock.another_answered()
            await asyncio.sleep(10.0)

    async def main() -> tuple[float, float]:
        clock = Clock(lambda: 1.0, ahead=1)
        first = clock.deadline
        with pytest.raises(TimeoutError):
            await wait(clock)
        return first, asyncio.get_running_loop().time()

    first, rang = asyncio.run(main())
    assert first + 0.1 < rang < first + 9.0


def test_clock_follows_what_is_allowed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that hangs since before anything was usual ends once something is."""
    allowed = [60.0]

    async def wait() -> None:
        async with Clock(lambda: allowed[0], ahead=0):
            await asyncio.sleep(0.05)
            allowed[0] = 0.1
            await asyncio.sleep(10.0)

    monkeypatch.setattr(Clock, "LOOK", 0.02)
    started = time.perf_counter()
    with pytest.raises(TimeoutError):
        asyncio.run(wait())

    assert 0.1 <= time.perf_counter() - started < 5.0


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A try is given a tenth of a second once twenty calls are answered."""
    monkeypatch.setattr(Patience, "TIMES", 0.0)
    monkeypatch.setattr("harness.llm.endpoint.LEAST_SECONDS", 0.1)
    monkeypatch.setattr(Clock, "LOOK", 0.02)


@pytest.mark.usefixtures("quick")
def test_hangs_cost_little_of_the_time_out(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """Of 60 calls three hang at first, two of them sent before anything was usual: all answer."""
    hung: set[str] = set()

    def script(received: Received) -> Reply:
        hangs = received.prompt in ("0", "1", "40") and received.prompt not in hung
        hung.add(received.prompt)
        return Reply("ok", hang=hangs)

    started = time.perf_counter()
    with StubEndpoint(script) as stub:
        outcomes = chat_at(stub).complete_all([ask(str(i)) for i in range(60)], calls)

    assert [getattr(outcome, "text", outcome) for outcome in outcomes] == ["ok"] * 60
    assert calls.sent >= 63
    assert time.perf_counter() - started < 30.0  # where the time-out is 120


@pytest.mark.usefixtures("quick")
def test_a_long_call_of_another_kind_is_late_at_worst(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """After 30 labels a call that takes many times as long is cut, given more, and answered."""

    def script(received: Received) -> Reply:
        return Reply("ok", delay=0.5 if received.prompt == "long" else 0.0)

    with StubEndpoint(script) as stub:
        chat = chat_at(stub, concurrency=2)
        chat.complete_all([ask(str(i)) for i in range(30)], calls)
        assert chat.complete(ask("long"), calls).text == "ok"

    assert calls.sent >= 32


@pytest.mark.usefixtures("quick")
def test_the_last_try_has_the_whole_time_out(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """A call that never answers is cut short but for the last time."""

    def script(received: Received) -> Reply:
        return Reply("ok", hang=received.prompt == "lost")

    with StubEndpoint(script) as stub:
        chat = chat_at(stub, concurrency=2, retries=1, timeout=0.6)
        chat.complete_all([ask(str(i)) for i in range(30)], calls)
        started = time.perf_counter()
        with pytest.raises(EndpointError, match=r"no reply within 0\.6 s"):
            chat.complete(ask("lost"), calls)

    assert time.perf_counter() - started >= 0.7
    assert calls.sent >= 32
