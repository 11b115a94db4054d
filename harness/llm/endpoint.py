"""One HTTP endpoint: its client, attempts and deadlines."""

import asyncio
import atexit
import json
import logging
import os
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from harness.errors import ConfigError, EndpointError
from harness.llm.call_store import Calls
from harness.llm.concurrency import AnswerTimes, Pace, run
from harness.llm.failures import (
    EndpointFailure,
    RefusedError,
    ReplyError,
    read_failure,
    remedy,
)
from harness.llm.remote import Address
from harness.text import single_spaced

if TYPE_CHECKING:
    from openai import AsyncOpenAI

log = logging.getLogger(__name__)

T = TypeVar("T")

GIVEN_UP_AFTER = 3
"""Calls in a row that failed with all their retries; from then on each gets one attempt."""
REST_SECONDS = 1.0
"""How long calls fail without being sent once the endpoint is given up."""
LONGEST_BACKOFF = 20.0
LEAST_SECONDS = 5.0
"""For an attempt, however fast the endpoint is otherwise."""
RELOADING = 60.0
"""The same for a local server, which may unload the weights and load them again at any time."""
START = 8
"""Requests in flight at first."""
THROTTLED_PER_RETRY = 4
"""Being asked to slow down is not a fault, so it is accepted this many times as often."""
WARN_AFTER = 4
"""Times that a call is asked to slow down before the user is warned."""
LOOK_SECONDS = 1.0
"""How often the time limits of the attempts in flight are adjusted to the latest answers."""
NO_KEY = "none"
"""Sent where there is no key: local servers accept anything."""


class Endpoint:
    """One address: its client, its pace and its answer times. Lives on the shared event loop."""

    def __init__(self, address: Address, key: str) -> None:
        self.address = address
        start = 1 if address.loads_weights else START
        self.pace = Pace(address.concurrency, start, address.timeout)
        least = RELOADING if address.loads_weights else LEAST_SECONDS
        self.times = AnswerTimes(address.timeout, least)
        self.habits = habits(address)
        self.measuring = asyncio.Lock()
        """Held while it is found out how long a prompt may be."""
        self.in_flight: dict[asyncio.Event, int] = {}
        """Calls without a reply yet: set when it arrives -> tokens of the prompt, estimated."""
        self._key = key
        self._client: AsyncOpenAI | None = None
        self._attempts: dict[asyncio.Timeout, _Tries] = {}
        """Attempts in flight."""
        self._timer: asyncio.TimerHandle | None = None
        self._succeeded = 0
        """Calls that it has answered."""
        self._failed_in_row = 0
        self._given_up: tuple[EndpointError, float] | None = None
        self._warned = False
        """Whether the user was warned that the endpoint makes all requests wait."""

    async def post(
        self, path: str, body: dict[str, Any], read: Callable[[Any], T], calls: Calls
    ) -> tuple[T, float]:
        """Send, again where that helps; return what `read` makes of the JSON reply, and seconds.

        The seconds are those from sending to the last byte, of the attempt that succeeded.

        `read` raises LookupError, TypeError or ValueError for a reply that does not have the
        protocol's form; that counts as a failed attempt.

        Raises:
            RefusedError: The endpoint answered that it will not.
            EndpointError: No usable reply came, with what the user can do.
        """
        content = json.dumps(body).encode("ascii")  # UTF-8 cannot hold half a surrogate pair

        async def send() -> T:
            calls.about_to_send()
            return await _parsed(self._opened().post(path, cast_to=object, content=content), read)

        return await self._persist(send)

    async def fetch(self, path: str, read: Callable[[Any], T]) -> T:
        """Return what `read` makes of the JSON at `path`; raises as `post` does."""

        async def send() -> T:
            return await _parsed(self._opened().get(path, cast_to=object), read)

        return (await self._persist(send, learn=False))[0]

    async def close(self) -> None:
        """Close the client; the next request opens it again."""
        if self._client is not None:
            await self._client.close()
        self._client = None

    def _opened(self) -> "AsyncOpenAI":
        if self._client is None:
            from harness.llm.http_client import open_client

            self._client = open_client(self.address, self._key)
        return self._client

    async def _persist(
        self, send: Callable[[], Awaitable[T]], learn: bool = True
    ) -> tuple[T, float]:
        """Send until it succeeds or fails finally; `learn` from the time that the answer took."""
        self._opened()  # which imports openai: not part of the time of a call
        tries = _Tries(self.address.deadline, self._succeeded)
        while True:
            if self._given_up is not None and time.monotonic() < self._given_up[1]:
                raise type(self._given_up[0])(*self._given_up[0].args)
            tries.started = await self.pace.enter(again=tries.failed + tries.throttled > 0)
            try:
                value = await self._try(send, tries)
            except Exception as error:
                failure = read_failure(error, self._allowed(tries))
                if failure is None:
                    raise
                tries.count(failure)
                final = self._is_final(failure, tries)
                pause = 0.0 if final else self._pause(failure, tries)
            else:
                seconds = time.monotonic() - tries.started
                self._succeeded += 1
                self._failed_in_row = 0
                self._given_up = None
                if learn:
                    self.times.add(seconds)
                    self.pace.succeeded(seconds)
                return value, seconds
            finally:
                self.pace.leave()
            if final:
                # Not inside `except`: errors are kept as values, and would keep the replies alive.
                raise self._final(failure, tries)
            await asyncio.sleep(pause)

    async def _try(self, send: Callable[[], Awaitable[T]], tries: "_Tries") -> T:
        async with asyncio.timeout(self._allowed(tries)) as limit:
            self._attempts[limit] = tries
            if self._timer is None:
                self._adjust_limits()
            try:
                return await send()
            finally:
                del self._attempts[limit]

    def _adjust_limits(self) -> None:
        """Apply what the latest answers show to the attempts in flight, and again later."""
        self._timer = None
        loop = asyncio.get_running_loop()
        for limit, tries in self._attempts.items():
            if limit.expired():  # its attempt ends in this turn of the loop or the next
                continue
            left = tries.started + self._allowed(tries) - time.monotonic()
            limit.reschedule(loop.time() + max(0.0, left))
        if self._attempts:
            self._timer = loop.call_later(LOOK_SECONDS, self._adjust_limits)

    def _allowed(self, tries: "_Tries") -> float:
        """Return the seconds for an attempt: less than all only where a whole one can follow."""
        shortened = self.times.longest_attempt(tries.failed)
        if tries.failed < self._retries and tries.left - shortened >= self.address.timeout:
            return shortened
        return min(self.address.timeout, tries.left)

    @property
    def _retries(self) -> int:
        """How often a call is retried: not at all where several calls in a row have failed."""
        return 0 if self._failed_in_row >= GIVEN_UP_AFTER else self.address.retries

    def _pause(self, failure: EndpointFailure, tries: "_Tries") -> float:
        """Return how long to wait before the next attempt."""
        exponent = (tries.throttled if failure.throttled else tries.failed) - 1
        backoff = min(LONGEST_BACKOFF, self.address.backoff * 2.0**exponent)
        pause = backoff * random.uniform(0.5, 1.0) if failure.wait is None else failure.wait
        if failure.timed_out:
            self.pace.refused(tries.started, wait=0.0)
        if failure.throttled:
            self.pace.refused(tries.started, pause)
            if tries.throttled == WARN_AFTER and not self._warned:
                self._warned = True
                reason = self._without_key(failure)
                log.warning("%s keeps answering %s; waiting", self.address.base_url, reason)
        return pause

    def _is_final(self, failure: EndpointFailure, tries: "_Tries") -> bool:
        retries = self._retries
        if failure.unreachable and not self._succeeded:
            retries = min(retries, 1)
        return (
            not failure.retry
            or tries.failed > retries
            or tries.throttled > THROTTLED_PER_RETRY * retries
            or tries.left <= 0.0
        )

    def _without_key(self, failure: EndpointFailure) -> str:
        """Return the reason without the key: some endpoints send it back."""
        return failure.reason if self._key == NO_KEY else failure.reason.replace(self._key, "***")

    def _final(self, failure: EndpointFailure, tries: "_Tries") -> EndpointError:
        address = self.address
        reason = self._without_key(failure)
        what = f"{address.base_url} (model {address.model}): {reason}"
        message = f"{what}; {remedy(failure, address)}"
        if failure.retry:
            error = EndpointError(message)
            # Where all calls were refused all the time, the next one will be refused too.
            stuck = tries.throttled > WARN_AFTER and tries.after == self._succeeded
            down = stuck or (failure.unreachable and not self._succeeded)
            self._failed_in_row += GIVEN_UP_AFTER if down else 1
        else:
            error = RefusedError(message)
            error.reason, error.too_long = reason, failure.too_long
        if failure.hopeless or self._failed_in_row >= GIVEN_UP_AFTER:
            self._given_up = (error, time.monotonic() + REST_SECONDS)
        return error


@dataclass(slots=True)
class _Tries:
    """The attempts of one call so far."""

    left: float
    """Seconds until the deadline."""
    after: int
    """Calls that the endpoint had answered before it."""
    failed: int = 0
    throttled: int = 0
    started: float = 0.0
    """When the latest attempt was sent, by `time.monotonic()`."""

    def count(self, failure: EndpointFailure) -> None:
        self.left -= time.monotonic() - self.started
        if failure.throttled:
            self.throttled += 1
        else:
            self.failed += 1


_endpoints: dict[tuple[Address, str], Endpoint] = {}
_habits: dict[tuple[str, str], dict[str, Any]] = {}
_warned: set[str] = set()
"""Variables that were named and are not set."""


def endpoint(address: Address) -> Endpoint:
    """Return the endpoint at the address, the same one for all callers in this process.

    Raises ConfigError where the key cannot be sent.
    """
    key = os.environ.get(address.key_variable or "", "").strip() or NO_KEY
    if address.api_key_env and key == NO_KEY and address.api_key_env not in _warned:
        _warned.add(address.api_key_env)
        log.warning("%s is not set: no key is sent to %s", address.api_key_env, address.base_url)
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"the environment variable {address.key_variable} does not hold a valid key: it has a"
            " line break or a character beyond ASCII"
        )
    if (address, key) not in _endpoints:
        _endpoints[address, key] = Endpoint(address, key)
    return _endpoints[address, key]


def habits(address: Address) -> dict[str, Any]:
    """Return what was found out about the endpoint's dialect, for this process."""
    return _habits.setdefault((address.base_url, address.model), {})


@atexit.register
def _close_at_exit() -> None:
    while _endpoints:
        run(_endpoints.popitem()[1].close())


async def _parsed(reply: Awaitable[object], read: Callable[[Any], T]) -> T:
    """Return what `read` makes of a reply. Raises ReplyError where it is of another form."""
    try:
        found = await reply
        # The client gives the text where the content type is not JSON, which some servers forget.
        found = json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"invalid JSON ({single_spaced(str(error), 120)})") from error
    try:
        return read(found)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ReplyError(single_spaced(str(found), 120)) from error
