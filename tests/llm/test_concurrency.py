"""How many requests go out at once."""

import asyncio
import time
from collections.abc import Callable

import pytest
from harness.llm.concurrency import AnswerTimes, Pace

from harness.llm import Calls, OllamaChat, Request
from tests.stub_endpoint import StubEndpoint


def test_lone_refusal_narrows_by_one() -> None:
    """One refusal among answers costs one place, and nobody else waits."""
    pace = Pace(8)
    pace.throttled(time.monotonic(), wait=60.0)

    assert pace.limit == 7.0
    asyncio.run(asyncio.wait_for(pace.enter(again=False), timeout=1.0))


def test_volley_of_refusals_halves_once() -> None:
    """Eight refusals of requests sent together: one place, then half, then no more."""
    pace = Pace(8)
    sent = time.monotonic()
    for _ in range(8):
        pace.throttled(sent, wait=0.0)

    assert pace.limit == 3.5


def test_all_wait_where_refusals_come_in_a_row() -> None:
    """After two refusals without an answer between them, nobody sends until the time is over."""
    pace = Pace(8)
    for _ in range(2):
        pace.throttled(time.monotonic(), wait=0.05)
    started = time.monotonic()
    asyncio.run(pace.enter(again=False))

    assert time.monotonic() - started >= 0.04


def test_limit_stays_between_one_and_most() -> None:
    """Nothing brings it below one or above what was allowed."""
    pace = Pace(4)
    for _ in range(9):
        pace.throttled(time.monotonic() + 1, wait=0.0)
    assert pace.limit == 1.0

    for _ in range(99):
        pace.succeeded(1.0)
    assert pace.limit == 4.0


def test_success_widens_by_one_a_round() -> None:
    """From one, one answer gives two; from two, two more give nearly three."""
    pace = Pace(8)
    pace.limit = 1.0
    limits = []
    for _ in range(3):
        pace.succeeded(1.0)
        limits.append(round(pace.limit, 2))

    assert limits == [2.0, 2.5, 2.9]


def test_those_who_try_again_come_first() -> None:
    """A retry overtakes what has not been sent yet."""
    order: list[str] = []

    async def main() -> None:
        pace = Pace(1)
        await pace.enter(again=False)

        async def take(name: str, again: bool) -> None:
            await pace.enter(again)
            order.append(name)
            pace.leave()

        tasks = [asyncio.create_task(take(name, name == "retry")) for name in ("a", "b", "retry")]
        await asyncio.sleep(0)
        pace.leave()
        await asyncio.gather(*tasks)

    asyncio.run(main())

    assert order == ["retry", "a", "b"]


def test_cancelled_waiters_free_their_place() -> None:
    """A task that is cancelled, waiting or just admitted, holds up nobody."""

    async def main() -> int:
        pace = Pace(1)
        await pace.enter(again=False)
        waiting = [asyncio.create_task(pace.enter(again=False)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        pace.leave()  # admits the second, for the first is gone
        waiting[1].cancel()
        await asyncio.wait_for(waiting[2], timeout=1.0)
        return pace.running

    assert asyncio.run(main()) == 1


@pytest.mark.parametrize(("slots", "settles_at"), [(1, 1), (2, 2), (3, 3), (9, 4)])
def test_limit_climbs_only_while_throughput_does(slots: int, settles_at: int) -> None:
    """A server of n slots answers in 1 s up to n at once and in queue / n s beyond: n it is."""
    climb = Climb()
    limit = 1.0
    for _ in range(60):
        limit = climb.answered(limit, most=4, running=int(limit), seconds=max(1.0, limit / slots))

    assert limit == settles_at


def test_climb_counts_full_rounds_only() -> None:
    """While fewer are in flight than allowed, nothing is learnt of the server's width."""
    climb = Climb()

    assert [climb.answered(2.0, most=4, running=1, seconds=1.0) for _ in range(20)] == [2.0] * 20


def test_local_server_is_asked_one_at_a_time_at_first(
    calls: Calls, ask: Callable[..., Request]
) -> None:
    """Against Ollama concurrency starts at one."""
    with StubEndpoint(latency=0.01) as stub:
        chat = OllamaChat(base_url=stub.url, model="stub", concurrency=4)
        chat.complete_all([ask(str(i)) for i in range(3)], calls)

    assert stub.most_at_once == 1
