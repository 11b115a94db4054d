"""How many requests an endpoint gets at once, and how long an attempt may take."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import mode

import pytest

from harness.llm import Calls, OllamaChat, Request
from harness.llm.concurrency import AnswerTimes, Pace
from tests.stub_endpoint import StubEndpoint

NOW = math.inf
"""A request sent now: it belongs to the current round."""


def answered(pace: Pace, seconds: Callable[[int], float], answers: int) -> list[int]:
    """Return the number in flight after each answer; `seconds` gives its time by that number."""
    numbers = []
    for _ in range(answers):
        pace.running = int(pace.limit)
        pace.succeeded(NOW, seconds(pace.running))
        numbers.append(int(pace.limit))
    return numbers


class TestRaising:
    """The number is raised while that brings more answers per second."""

    def test_fast_endpoint_gets_all_that_is_allowed(self) -> None:
        """Where answers take 1 s however many are in flight: 4, 16, 64, 80 after 4 + 16 + 64."""
        numbers = answered(Pace(80, start=4, timeout=120.0), lambda running: 1.0, 100)

        assert numbers == [4] * 3 + [16] * 16 + [64] * 64 + [80] * 17

    def test_slower_endpoint_is_tried_with_twice_as_many(self) -> None:
        """Where answers take 3 s however many are in flight: 4, 8, 16, 20 after 4 + 8 + 16."""
        numbers = answered(Pace(20, start=4, timeout=120.0), lambda running: 3.0, 40)

        assert numbers == [4] * 3 + [8] * 8 + [16] * 16 + [20] * 13

    @pytest.mark.parametrize(("slots", "most"), [(1, 1), (2, 2), (4, 4), (9, 4)])
    def test_local_server_gets_as_many_as_it_has_slots(self, slots: int, most: int) -> None:
        """A server with n slots answers in 1 s up to n at once, and in queue / n s beyond."""
        numbers = answered(Pace(4, start=1, timeout=600.0), lambda n: max(1.0, n / slots), 60)

        assert mode(numbers) == most

    def test_one_at_a_time_with_a_hundred_waiting(self) -> None:
        """3 s each, one at a time: 8 are tried now and then, so no request waits over 24 s."""
        numbers = answered(Pace(100, start=4, timeout=120.0), lambda running: 3.0 * running, 400)

        assert max(numbers) == 8
        assert numbers.count(8) / len(numbers) < 0.2

    def test_trials_become_rare(self) -> None:
        """A higher number that brought nothing is tried again after 2, 4, 8 ... rounds."""
        numbers = answered(Pace(100, start=4, timeout=120.0), lambda running: 3.0 * running, 1000)
        starts = [at for at in range(1, 1000) if numbers[at] > numbers[at - 1]]
        pauses = [after - before for before, after in pairwise(starts)]

        assert pauses == sorted(pauses)
        assert len(starts) < 9

    def test_endpoint_that_becomes_faster_is_given_more(self) -> None:
        """A server that queued and no longer does gets more, up to what is allowed."""
        pace = Pace(32, start=4, timeout=120.0)
        answered(pace, lambda running: 3.0 * running, 100)

        assert answered(pace, lambda running: 1.0, 400)[-1] == 32

    def test_not_where_answers_take_a_third_of_the_time_out(self) -> None:
        """Answers of 41 s with a time-out of 120 s: twice as many in a queue could reach it."""
        assert answered(Pace(64, start=4, timeout=120.0), lambda running: 41.0, 40)[-1] == 4

    def test_only_full_rounds_count(self) -> None:
        """While fewer are in flight than allowed, nothing is learnt about the endpoint."""
        pace = Pace(64, start=4, timeout=120.0)
        for _ in range(40):
            pace.running = 3
            pace.succeeded(NOW, 1.0)

        assert pace.limit == 4.0

    def test_earlier_requests_do_not_count(self) -> None:
        """An answer to a request sent before the last change says nothing about the new number."""
        pace = Pace(64, start=4, timeout=120.0)
        sent = time.monotonic()
        answered(pace, lambda running: 3.0, 4)
        for _ in range(40):
            pace.running = 8
            pace.succeeded(sent, 3.0)

        assert pace.limit == 8.0

    def test_local_server_gets_one_request_at_first(
        self, calls: Calls, ask: Callable[..., Request]
    ) -> None:
        """Ollama gets one request at a time until three are answered."""
        with StubEndpoint(latency=0.01) as stub:
            chat = OllamaChat(base_url=stub.url, model="stub", concurrency=4)
            chat.complete_all([ask(str(i)) for i in range(3)], calls)

        assert stub.most_at_once == 1


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
            pace.succeeded(NOW, 1.0)
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
