"""How many requests an endpoint gets at once, and how long an attempt may take."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence

from harness.llm import Calls, OllamaChat, Request
from harness.llm.concurrency import AnswerTimes, Pace, stop, submit
from tests.stub_endpoint import StubEndpoint


def answered(pace: Pace, seconds: Callable[[int], float], answers: int) -> list[int]:
    """Return the number in flight after each answer; `seconds` gives its time by that number."""
    numbers = []
    for _ in range(answers):
        pace.running = int(pace.limit)
        pace.succeeded(seconds(pace.running))
        numbers.append(int(pace.limit))
    return numbers


class TestRaising:
    """The number is raised while answers are quick."""

    def test_quick_answers_raise_it_to_the_maximum(self) -> None:
        """Where answers take 3 s however many are in flight: one more for each, up to 9."""
        numbers = answered(Pace(9, start=4, timeout=120.0), lambda running: 3.0, 8)

        assert numbers == [5, 6, 7, 8, 9, 9, 9, 9]

    def test_one_at_a_time_with_a_hundred_waiting(self) -> None:
        """A server that takes 3 s each, one after the other: no request waits for 40 s."""
        pace, sent, longest, now, free_at = Pace(100, 4, 120.0), list[float](), 0.0, 0.0, 0.0
        for _ in range(100):
            while len(sent) < int(pace.limit):
                sent.append(now)
            now = free_at = max(free_at, now) + 3.0
            pace.running = len(sent)
            longest = max(longest, now - sent[0])
            pace.succeeded(now - sent.pop(0))

        assert 20.0 < longest <= 40.0

    def test_not_where_answers_take_over_a_sixth_of_the_time_out(self) -> None:
        """Answers of 21 s with a time-out of 120 s: in a queue they could soon reach it."""
        assert answered(Pace(64, start=4, timeout=120.0), lambda running: 21.0, 40)[-1] == 4

    def test_only_where_all_places_are_taken(self) -> None:
        """While fewer are in flight than allowed, nothing is learnt about the endpoint."""
        pace = Pace(64, start=4, timeout=120.0)
        for _ in range(40):
            pace.running = 3
            pace.succeeded(1.0)

        assert pace.limit == 4.0

    def test_local_server_gets_one_request_at_first(
        self, calls: Calls, ask: Callable[..., Request]
    ) -> None:
        """Ollama gets no second request before the first, which loads the weights, is answered."""
        with StubEndpoint(latency=0.05) as stub:
            chat = OllamaChat(base_url=stub.url, model="stub", concurrency=4)
            chat.complete_all([ask(str(i)) for i in range(3)], calls)
            first, second, _ = stub.chats

        assert second.at - first.at >= 0.05


class TestRefusals:
    """The number is lowered where the endpoint refuses requests."""

    def test_single_refusal_lowers_by_one(self) -> None:
        """One refusal among answers costs one place, and no other request waits."""
        pace = Pace(8, start=8, timeout=120.0)
        pace.refused(time.monotonic(), wait=60.0)

        assert pace.limit == 7.0
        asyncio.run(asyncio.wait_for(pace.enter(again=False), timeout=10.0))

    def test_volley_of_refusals_halves_once(self) -> None:
        """Eight refusals of requests sent together: one place, then half, then no more."""
        pace = Pace(8, start=8, timeout=120.0)
        sent = time.monotonic()
        for _ in range(8):
            pace.refused(sent, wait=0.0)

        assert pace.limit == 3.5

    def test_all_wait_after_two_refusals_in_a_row(self) -> None:
        """After two refusals without an answer between them, no request is sent until then."""
        pace = Pace(8, start=8, timeout=120.0)
        for _ in range(2):
            pace.refused(time.monotonic(), wait=0.05)
        started = time.monotonic()
        asyncio.run(pace.enter(again=False))

        assert time.monotonic() - started >= 0.04

    def test_number_stays_between_one_and_the_maximum(self) -> None:
        """Nothing lowers it below one or raises it above what is allowed."""
        pace = Pace(4, start=4, timeout=120.0)
        for _ in range(9):
            pace.refused(time.monotonic() + 1, wait=0.0)
        assert pace.limit == 1.0

        answered(pace, lambda running: 1.0, 99)
        assert pace.limit == 4.0

    def test_then_it_is_raised_by_one_a_round(self) -> None:
        """From one, one answer gives two; from two, two more give nearly three."""
        pace = Pace(8, start=8, timeout=120.0)
        for _ in range(9):
            pace.refused(time.monotonic() + 1, wait=0.0)
        limits = []
        for _ in range(3):
            pace.running = int(pace.limit)
            pace.succeeded(1.0)
            limits.append(round(pace.limit, 2))

        assert limits == [2.0, 2.5, 2.9]


def test_retries_come_first() -> None:
    """A retry overtakes requests that have not been sent yet."""
    order: list[str] = []

    async def main() -> None:
        pace = Pace(1, start=1, timeout=120.0)
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
    """A task that is cancelled, waiting or just admitted, does not block the others."""

    async def main() -> int:
        pace = Pace(1, start=1, timeout=120.0)
        await pace.enter(again=False)
        waiting = [asyncio.create_task(pace.enter(again=False)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        pace.leave()  # admits the second, for the first is cancelled
        waiting[1].cancel()
        await asyncio.wait_for(waiting[2], timeout=10.0)
        return pace.running

    assert asyncio.run(main()) == 1


def after(seconds: Sequence[float], timeout: float = 120.0) -> AnswerTimes:
    """Return what is known after answers that took so long."""
    times = AnswerTimes(timeout, least=5.0)
    for each in seconds:
        times.add(each)
    return times


class TestAnswerTimes:
    """An attempt may take five times the slowest of the latest answers."""

    def test_nothing_is_concluded_from_few_answers(self) -> None:
        """A first call that loads weights, and 19 fast ones after it, leave the whole time-out."""
        assert after([]).longest_attempt(failed=0) == 120.0
        assert after([0.2] * 19).longest_attempt(failed=0) == 120.0
        assert after([60.0, *[0.2] * 19]).longest_attempt(failed=0) == 120.0

    def test_five_times_the_slowest(self) -> None:
        """With answers of up to 3 s: 15 s, the next attempt 30 s, and never over the time-out."""
        times = after([*[0.2] * 50, 3.0])

        assert [times.longest_attempt(failed) for failed in range(5)] == [15, 30, 60, 120, 120]

    def test_never_less_than_some_seconds(self) -> None:
        """A fast endpoint may still stall for a moment; a shorter time-out holds."""
        assert after([0.001] * 100).longest_attempt(failed=0) == 5.0
        assert after([0.001] * 100, timeout=2.0).longest_attempt(failed=0) == 2.0

    def test_slow_start_is_dropped(self) -> None:
        """An answer that took a minute counts for the hundred answers after it."""
        assert after([60.0, *[1.0] * 99]).longest_attempt(failed=0) == 120.0
        assert after([60.0, *[1.0] * 100]).longest_attempt(failed=0) == 5.0


def test_stop_waits_for_the_event_loop() -> None:
    """A step that blocks the loop, as an import does, ends before `stop` returns."""
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        go_on.wait()
        ended.set()
        await asyncio.sleep(3600)

    future = submit(work())
    begun.wait()
    stopping = threading.Thread(target=stop, args=[future])
    stopping.start()
    assert stopping.is_alive()
    go_on.set()
    stopping.join()

    assert ended.is_set()
    assert future.cancelled()
