"""How many requests an endpoint is given at once, and whose turn it is."""

import asyncio
import heapq
import itertools
import time


class Pace:
    """The number of requests in flight: lowered when the endpoint asks for less, raised again.

    Args:
        most: Never more than this.
        climbs: Start at one and rise only while the endpoint then answers more in the same
            time, as is right for a local server with one to four slots.
    """

    def __init__(self, most: int, climbs: bool = False) -> None:
        self.most = most
        self.limit = 1.0 if climbs else float(most)
        self.running = 0
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._resume_at = 0.0
        self._halved_at = 0.0
        self._refused_in_row = 0
        self._climb = Climb() if climbs else None

    async def enter(self, again: bool) -> float:
        """Wait for a free place and return the time; those who try again come first."""
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
        """Widen after an answer that took so long: by about one for each round of answers."""
        self._refused_in_row = 0
        if self._climb is not None:
            self.limit = self._climb.answered(self.limit, self.most, self.running, seconds)
        else:
            self.limit = min(float(self.most), self.limit + 1.0 / self.limit)
        self._admit()

    def throttled(self, entered: float, wait: float) -> None:
        """Narrow by one; at a second refusal in a row halve, and let all wait.

        A lone refusal among answers is the endpoint's mood. Halving happens once for all
        requests that were sent before it.
        """
        now = time.monotonic()
        self._refused_in_row += 1
        if self._refused_in_row == 1:
            self.limit = max(1.0, self.limit - 1.0)
            return
        self._resume_at = max(self._resume_at, now + wait)
        if entered >= self._halved_at:
            self.limit = max(1.0, self.limit / 2)
            self._halved_at = now

    def _admit(self) -> None:
        while self._waiting and self.running < int(self.limit):
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                self.running += 1
                turn.set_result(None)


class Climb:
    """Raises a limit one by one, and steps back when that brought no more answers a second."""

    GAIN = 1.1
    """A wider limit must answer this many times as much, or it is not worth its queue."""
    ROUNDS = 3

    def __init__(self) -> None:
        self._settled = False
        self._best = 0.0
        self._seconds: list[float] = []

    def answered(self, limit: float, most: int, running: int, seconds: float) -> float:
        """Note how long an answer took with `running` in flight; return the limit from now on."""
        if self._settled or running < int(limit):
            return limit
        self._seconds.append(seconds)
        if len(self._seconds) < self.ROUNDS * int(limit):
            return limit
        # The median, for the first call may have waited for the weights to be loaded.
        rate = int(limit) / max(sorted(self._seconds)[len(self._seconds) // 2], 1e-9)
        self._seconds = []
        if rate < self._best * self.GAIN:
            self._settled = True
            return max(1.0, limit - 1)
        self._best = rate
        self._settled = limit >= most
        return min(float(most), limit + 1)
