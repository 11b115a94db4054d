"""The event loop of all model calls, and how many requests an endpoint gets at once."""

import asyncio
import heapq
import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_loops: dict[int, asyncio.AbstractEventLoop] = {}
"""Process -> its event loop, which runs in a thread of its own.

One for all threads, so that they share limits and calls in flight, and so that a caller may be
inside an event loop itself (in a notebook, for example).
"""
_lock = threading.Lock()


def submit(coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
    """Start a coroutine on the shared event loop."""
    return asyncio.run_coroutine_threadsafe(coroutine, _shared_loop())


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the coroutine's result. Must not be called from the event loop itself."""
    future = submit(coroutine)
    try:
        return future.result()
    finally:
        stop(future)


def stop(future: "Future[T]") -> None:
    """Cancel what `submit` started, and wait until the event loop has done so.

    The interpreter may end after it (Ctrl-C), and a request that starts a thread then fails with
    a traceback.
    """
    if future.cancel():
        submit(asyncio.sleep(0)).result()


def _shared_loop() -> asyncio.AbstractEventLoop:
    with _lock:
        process = os.getpid()  # a forked process has the dictionary, but not the thread
        if process not in _loops:
            _loops[process] = asyncio.new_event_loop()
            thread = threading.Thread(target=_loops[process].run_forever, name="llm", daemon=True)
            thread.start()
        return _loops[process]


class AnswerTimes:
    """How long the latest answers of an endpoint took, and how long an attempt may take by that.

    An attempt that hangs would otherwise cost the whole time-out, which must be long enough for
    the longest call. An attempt cut short is followed by one with twice the time, and the last
    attempt has the whole time-out, so a call that takes longer than those before it is delayed but
    not lost.

    In a simulation of labels (0.8 s), claims (3 s) and long calls (30 s), one answer in a hundred
    six times slower, five times the slowest answer cut at most 0.2 % of the attempts needlessly in
    any order of the calls; five times the ninth decile cut 3 % where long calls followed labels.

    Args:
        timeout: Seconds, the maximum.
        least: Seconds that even the fastest endpoint gets.
    """

    ENOUGH = 20
    """Answers needed before anything is concluded: the first may have waited for the weights."""
    LATEST = 100
    """Answers that are considered; an early slow one is dropped in the end."""
    TIMES = 5.0

    def __init__(self, timeout: float, least: float) -> None:
        self.timeout = timeout
        self.least = least
        self._seconds: deque[float] = deque(maxlen=self.LATEST)

    def add(self, seconds: float) -> None:
        """Record how long an answer took, from sending."""
        self._seconds.append(seconds)

    def longest_attempt(self, failed: int) -> float:
        """Return the seconds for the next attempt of a call, given its failed attempts.

        >>> times = AnswerTimes(timeout=120.0, least=5.0)
        >>> for seconds in [3.0] * 19:
        ...     times.add(seconds)
        >>> times.longest_attempt(failed=0)
        120.0
        >>> times.add(0.2)
        >>> [times.longest_attempt(failed) for failed in (0, 1, 4)]
        [15.0, 30.0, 120.0]
        """
        if len(self._seconds) < self.ENOUGH:
            return self.timeout
        usual = max(self.least, self.TIMES * max(self._seconds))
        return min(self.timeout, usual * 2.0**failed)


class Pace:
    """The number of requests in flight: raised by quick answers, lowered on refusal.

    It starts low. Each answer that took at most a sixth of the time-out raises it by one, which
    doubles it in a round of answers, so requests that a server would queue wait in this process,
    where their time-out does not run. What was sent meanwhile may be queued twice as long: up to a
    third of the time-out.

    An endpoint that refuses (429) several requests in a row gets half, and from then on one more
    per round of answers.

    Args:
        most: The maximum.
        start: The number to start with.
        timeout: Seconds that an attempt may take.
    """

    def __init__(self, most: int, start: int, timeout: float) -> None:
        self.most = most
        self.limit = float(min(start, most))
        self.running = 0
        self._quick = timeout / 6
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._resume_at = 0.0
        self._refused_in_row = 0
        self._halved_at: float | None = None

    async def enter(self, again: bool) -> float:
        """Wait for a free place and return the time; retries come before first attempts."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (not again, next(self._order), turn))
        self._admit()
        try:
            await turn
            while (pause := self._resume_at - time.monotonic()) > 0:
                await asyncio.sleep(pause)
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()
            raise
        return time.monotonic()

    def leave(self) -> None:
        """Give the place back."""
        self.running -= 1
        self._admit()

    def succeeded(self, seconds: float) -> None:
        """Record an answer, and how long it took.

        While fewer requests are in flight than may be, it says nothing about a higher number.
        """
        self._refused_in_row = 0
        if seconds <= self._quick and self.running >= int(self.limit):
            more = 1.0 if self._halved_at is None else 1.0 / self.limit
            self.limit = min(float(self.most), self.limit + more)
            self._admit()

    def refused(self, entered: float, wait: float) -> None:
        """Lower by one; at a second refusal in a row halve, and pause all requests.

        A single refusal among answers says little. Halving happens once for all requests that
        were sent before it.

        Args:
            entered: When the request was sent.
            wait: Seconds that the endpoint asks to wait.
        """
        now = time.monotonic()
        self._refused_in_row += 1
        if self._refused_in_row == 1:
            self.limit = max(1.0, self.limit - 1.0)
            return
        self._resume_at = max(self._resume_at, now + wait)
        if self._halved_at is None or entered >= self._halved_at:
            self.limit = max(1.0, self.limit / 2)
            self._halved_at = now

    def _admit(self) -> None:
        while self._waiting and self.running < int(self.limit):
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                self.running += 1
                turn.set_result(None)
