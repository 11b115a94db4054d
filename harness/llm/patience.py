"""How long an endpoint may take over one request."""

import asyncio
from collections import deque
from collections.abc import Callable
from types import TracebackType


class Patience:
    """How long a try may take: the whole time-out, or less once answers show what is usual.

    A request that hangs would else cost the whole time-out, which must be long enough for the
    longest call there is. A try cut short is followed by one that gets twice as long, and the last
    one gets the whole time-out, so that a call of another kind than those before is late at worst.

    In a simulation of labels (0.8 s), claims (3 s) and long calls (30 s), one answer in a hundred
    six times as late, five times the slowest cut 0.2 % of the tries in vain or fewer, whatever came
    after what; five times the ninth decile cut 3 % where long calls followed on labels.

    Args:
        timeout: Seconds, the most there is.
        least: Seconds that even the quickest endpoint gets.
    """

    ENOUGH = 20
    """Answers before which nothing is usual: the first may have waited for weights to be loaded."""
    LATEST = 100
    """Answers that are looked at; an early one that was slow is forgotten in the end."""
    TIMES = 5.0

    def __init__(self, timeout: float, least: float) -> None:
        self.timeout = timeout
        self.least = least
        self._took: deque[float] = deque(maxlen=self.LATEST)

    def answered(self, seconds: float) -> None:
        """Note how long an answer took, from sending; queueing at the server is in it."""
        self._took.append(seconds)

    def seconds(self, failed: int) -> float:
        """Return what a try may take of a call of which so many tries failed.

        >>> patience = Patience(timeout=120.0, least=5.0)
        >>> for seconds in [3.0] * 19:
        ...     patience.answered(seconds)
        >>> patience.seconds(failed=0)
        120.0
        >>> patience.answered(0.2)
        >>> patience.seconds(failed=0), patience.seconds(failed=1), patience.seconds(failed=4)
        (15.0, 30.0, 120.0)
        """
        if len(self._took) < self.ENOUGH:
            return self.timeout
        usual = max(self.least, self.TIMES * max(self._took))
        return min(self.timeout, usual * 2.0**failed)


class Clock:
    """The time that the endpoint has had for one request.

    A server that serves few at a time lets requests queue, and says nothing of it. So the
    clock starts anew with every answer to another request, until as many were answered as
    were in flight before this one: from then on it is this one's turn.

    Args:
        allowed: Tells how many seconds it may have; asked anew as answers to others arrive.
        ahead: How many requests were in flight before.
    """

    LOOK = 1.0
    """Seconds after which it is asked at the latest whether the time is over."""

    def __init__(self, allowed: Callable[[], float], ahead: int) -> None:
        self.allowed = allowed
        self.ahead = ahead
        self._loop = asyncio.get_running_loop()
        self._timeout = asyncio.timeout(None)
        self.started = self._loop.time()

    @property
    def deadline(self) -> float:
        """When its time is over, by the loop's clock."""
        return self.started + self.allowed()

    @property
    def spent(self) -> float:
        """Seconds since its turn began."""
        return self._loop.time() - self.started

    async def __aenter__(self) -> None:
        """Raise TimeoutError within the block at the deadline."""
        await self._timeout.__aenter__()
        self._look()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the clock."""
        self._timer.cancel()
        await self._timeout.__aexit__(kind, error, traceback)

    def another_answered(self) -> None:
        """Start anew where this one may still have been queueing.

        The timer is left alone: moving those of all in flight at each answer would cost more than
        the answer.
        """
        if self.ahead > 0:
            self.ahead -= 1
            self.started = self._loop.time()

    def _look(self) -> None:
        """End the block where its time is over, else look again."""
        now = self._loop.time()
        if now < self.deadline:
            self._timer = self._loop.call_at(min(self.deadline, now + self.LOOK), self._look)
        else:
            self._timeout.reschedule(now)
