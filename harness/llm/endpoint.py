"""One HTTP endpoint: its connection, pace, deadlines and retries."""

import asyncio
import atexit
import logging
import os
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from harness.errors import ConfigError, EndpointError
from harness.llm.calls import Calls
from harness.llm.connection import Address, Connection, ReplyError
from harness.llm.failures import Failure, RefusedError, one_line, read_failure, remedy
from harness.llm.loop import run
from harness.llm.pace import Pace
from harness.llm.patience import Clock, Patience

log = logging.getLogger(__name__)

T = TypeVar("T")

GIVEN_UP_AFTER = 3
"""Calls in a row that failed with all their retries; from then on each gets one try."""
REST_SECONDS = 1.0
"""How long calls fail unsent once the endpoint is given up."""
LONGEST_BACKOFF = 20.0
LEAST_SECONDS = 5.0
"""For a try, however quick the endpoint is otherwise."""
RELOADING = 60.0
"""The same for a local server, which puts weights aside and loads them anew when it pleases."""
THROTTLED_PER_RETRY = 4
"""Being asked to slow down is no fault, so it is borne this many times as often."""
TOLD_AFTER = 4
"""Times that a call is asked to slow down until the user hears of it."""
NO_KEY = "none"
"""Sent where there is no key: local servers take anything."""


@dataclass(frozen=True, slots=True)
class Served(Generic[T]):
    """What a request brought."""

    value: T
    seconds: float
    """From sending to the last byte, of the try that succeeded."""


class Endpoint:
    """One address: its connection, pace and patience. Lives on the shared event loop."""

    def __init__(self, address: Address, key: str) -> None:
        self.address = address
        self.pace = Pace(address.concurrency, address.climbs)
        self.patience = Patience(address.timeout, RELOADING if address.climbs else LEAST_SECONDS)
        self.habits = habits(address)
        self._key = key
        self._connection = Connection(address.base_url, key)
        self._clocks: set[Clock] = set()
        self._succeeded = 0
        """Calls that it has answered."""
        self._failed_in_row = 0
        self._given_up: tuple[EndpointError, float] | None = None
        self._told = False
        """Whether it was said that the endpoint makes everybody wait."""

    async def post(
        self, path: str, body: dict[str, Any], read: Callable[[Any], T], calls: Calls
    ) -> Served[T]:
        """Send, again where that helps, and return what `read` makes of the JSON reply.

        `read` raises LookupError, TypeError or ValueError over a reply that is not of the
        protocol's form; that counts as a failed try.

        Raises:
            RefusedError: The endpoint answered that it will not.
            EndpointError: No usable reply came, with what the user can do.
        """

        async def send() -> T:
            calls.about_to_send()
            return _parsed(await self._connection.request("POST", path, body), read)

        return await self._persist(send)

    async def fetch(self, path: str, read: Callable[[Any], T]) -> T:
        """Return what `read` makes of the JSON at `path`; raises as `post` does."""

        async def send() -> T:
            return _parsed(await self._connection.request("GET", path), read)

        served: Served[T] = await self._persist(send)
        return served.value

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def _persist(self, send: Callable[[], Awaitable[T]]) -> Served[T]:
        tries = _Tries(self.address.deadline, self._succeeded)
        while True:
            self._raise_if_given_up()
            entered = await self.pace.enter(again=tries.any)
            clock = Clock(partial(self._allowed, tries), len(self._clocks))
            try:
                served = await self._try(send, clock)
            except Exception as error:
                failure = read_failure(error, clock.allowed())
                if failure is None:
                    raise
                tries.count(failure, clock.spent)
                if self._is_final(failure, tries):
                    raise self._final(failure, tries) from error
                pause = self._pause(failure, tries, entered)
            else:
                self._succeeded += 1
                self._failed_in_row = 0
                self._given_up = None
                self.pace.succeeded(served.seconds)
                self.patience.answered(served.seconds)
                return served
            finally:
                self.pace.leave()
            await asyncio.sleep(pause)

    async def _try(self, send: Callable[[], Awaitable[T]], clock: Clock) -> Served[T]:
        self._clocks.add(clock)
        started = time.perf_counter()
        try:
            async with clock:
                value = await send()
        finally:
            self._clocks.discard(clock)
        for other in self._clocks:
            other.another_answered()
        return Served(value, time.perf_counter() - started)

    def _allowed(self, tries: "_Tries") -> float:
        """Return how long a try may take: less than all only where a whole one can follow."""
        hurried = self.patience.seconds(tries.failed)
        if tries.failed < self._retries and tries.left - hurried >= self.address.timeout:
            return hurried
        return min(self.address.timeout, tries.left)

    @property
    def _retries(self) -> int:
        """How often a call is tried again: not at all where calls fail one after another."""
        return 0 if self._failed_in_row >= GIVEN_UP_AFTER else self.address.retries

    def _pause(self, failure: Failure, tries: "_Tries", entered: float) -> float:
        """Return how long to wait before the next try."""
        exponent = (tries.throttled if failure.throttled else tries.failed) - 1
        backoff = min(LONGEST_BACKOFF, self.address.backoff * 2.0**exponent)
        pause = backoff * random.uniform(0.5, 1.0) if failure.wait is None else failure.wait
        if failure.throttled:
            self.pace.throttled(entered, pause)
            if tries.throttled == TOLD_AFTER and not self._told:
                self._told = True
                log.warning(
                    "%s keeps answering %s; waiting for it",
                    self.address.base_url,
                    self._told_by(failure),
                )
        return pause

    def _is_final(self, failure: Failure, tries: "_Tries") -> bool:
        retries = self._retries
        if failure.unreachable and not self._succeeded:
            retries = min(retries, 1)
        return (
            not failure.retry
            or tries.failed > retries
            or tries.throttled > THROTTLED_PER_RETRY * retries
            or tries.left <= 0.0
        )

    def _told_by(self, failure: Failure) -> str:
        """Return what the endpoint said, without the key: some send it back."""
        return failure.said if self._key == NO_KEY else failure.said.replace(self._key, "***")

    def _final(self, failure: Failure, tries: "_Tries") -> EndpointError:
        address = self.address
        said = self._told_by(failure)
        message = f"{address.base_url} (model {address.model}): {said}; " + remedy(
            failure, address.model, address.key_variable
        )
        if failure.retry:
            error = EndpointError(message)
            # Who asked for patience all the while, of everybody, will not answer the next either.
            stuck = tries.throttled > TOLD_AFTER and tries.after == self._succeeded
            down = stuck or (failure.unreachable and not self._succeeded)
            self._failed_in_row += GIVEN_UP_AFTER if down else 1
        else:
            error = RefusedError(message)
            error.said, error.too_long = said, failure.too_long
        if failure.hopeless or self._failed_in_row >= GIVEN_UP_AFTER:
            self._given_up = (error, time.monotonic() + REST_SECONDS)
        return error

    def _raise_if_given_up(self) -> None:
        if self._given_up is not None and time.monotonic() < self._given_up[1]:
            raise type(self._given_up[0])(*self._given_up[0].args)


@dataclass(slots=True)
class _Tries:
    """What one call has had so far."""

    left: float
    """Seconds of the endpoint's time until the deadline."""
    after: int
    """Calls that the endpoint had answered before it."""
    failed: int = 0
    throttled: int = 0

    @property
    def any(self) -> bool:
        return self.failed + self.throttled > 0

    def count(self, failure: Failure, spent: float) -> None:
        self.left -= spent
        if failure.throttled:
            self.throttled += 1
        else:
            self.failed += 1


_endpoints: dict[tuple[Address, str], Endpoint] = {}
_habits: dict[tuple[str, str], dict[str, Any]] = {}
_warned: set[str] = set()
"""Variables that were named and are not set."""


def endpoint(address: Address) -> Endpoint:
    """Return the endpoint at the address, the same one for all who ask in this process.

    Raises ConfigError where the key cannot be sent.
    """
    key = os.environ.get(address.key_variable or "", "").strip() or NO_KEY
    if address.api_key_env and key == NO_KEY and address.api_key_env not in _warned:
        _warned.add(address.api_key_env)
        log.warning("%s is not set: %s is sent no key", address.api_key_env, address.base_url)
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"the environment variable {address.key_variable} holds what no key can be: a line "
            "break, or a letter beyond ASCII"
        )
    if (address, key) not in _endpoints:
        _endpoints[address, key] = Endpoint(address, key)
    return _endpoints[address, key]


def habits(address: Address) -> dict[str, Any]:
    """Return what was learnt of how the endpoint wants to be asked, for this process."""
    return _habits.setdefault((address.base_url, address.model), {})


@atexit.register
def _close_at_exit() -> None:
    if _endpoints:
        run(close_all())


async def close_all() -> None:
    """Close every endpoint; the next use opens it again."""
    while _endpoints:
        await _endpoints.popitem()[1].close()


def _parsed(reply: Any, read: Callable[[Any], T]) -> T:
    try:
        return read(reply)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ReplyError(one_line(str(reply), 120)) from error
