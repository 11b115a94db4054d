"""Chat models: many requests at once, each sent once and cached as soon as it is answered."""

import asyncio
import queue
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from harness.errors import ContextOverflowError, EndpointError
from harness.llm.call_store import Calls
from harness.llm.concurrency import stop, submit
from harness.llm.endpoint import Endpoint, endpoint
from harness.llm.failures import RefusedError
from harness.llm.messages import (
    ADDED_LINES,
    FILLER,
    NEAR,
    Completion,
    Request,
    cached_completion,
    check_before,
    completion_payload,
    fewest_tokens,
    fills_a_window,
    has_fewer,
    ignores_format,
    longer,
    request_key,
    token_count,
    truncated,
)
from harness.llm.remote import PLACE, Remote, refuse_secrets

T = TypeVar("T")
Outcome = Completion | EndpointError
OnDone = Callable[[int, Outcome], None]
"""Called, in the thread of the caller, when a request is done: its index, its outcome."""

Group = dict[str, Request]
"""Key of the call -> request; they differ in their sample only."""


@dataclass
class Generator:
    """What makes an answer of passages: a chat model, or a reader without a language model."""

    @property
    def label(self) -> str:
        """A short name for tables."""
        raise NotImplementedError

    def identity(self) -> dict[str, object]:
        """Return everything about model and sampling that shapes a reply, as JSON values."""
        raise NotImplementedError


@dataclass
class Chat(Generator):
    """A chat model. A subclass implements `label`, `identity` and `ask`."""

    @property
    def width(self) -> int:
        """How many requests may be worked on at once."""
        return 8

    @property
    def samples_at_once(self) -> bool:
        """Whether requests that differ in their sample only may be sent as one."""
        return False

    async def ask(self, request: Request, calls: Calls) -> Completion:
        """Send the request, whether or not it is cached. Raises EndpointError."""
        raise NotImplementedError

    async def ask_samples(self, requests: Sequence[Request], calls: Calls) -> list[Completion]:
        """Answer the first request, and as many of the others as one call answers.

        The requests differ in their sample only. The tokens of the completions add up to those
        of the call. Raises EndpointError.
        """
        return [await self.ask(requests[0], calls)]

    def key(self, request: Request) -> str:
        """Return the key of the call: it changes with anything that may change the reply."""
        return request_key(self.identity(), request)

    def complete(self, request: Request, calls: Calls) -> Completion:
        """Answer one request, from the cache where it is there. Raises EndpointError."""
        (outcome,) = self.complete_all([request], calls)
        if isinstance(outcome, EndpointError):
            raise outcome
        return outcome

    def complete_all(
        self, requests: Sequence[Request], calls: Calls, on_done: OnDone | None = None
    ) -> list[Outcome]:
        """Answer many requests at once; failures are returned as values.

        The outcomes are in the order of the requests. Equal requests are sent once, and each
        completion is cached as soon as it arrives.
        """
        found: dict[int, Outcome] = {}

        def report(indices: Sequence[int], outcome: Outcome) -> None:
            for index in indices:
                found[index] = outcome
                if on_done is not None:
                    on_done(index, outcome)

        try:
            keys = [self.key(request) for request in requests]
        except EndpointError as error:  # the endpoint has to say which weights it has
            report(range(len(requests)), error)
            return [error] * len(requests)
        places: dict[str, list[int]] = {}
        for index, key in enumerate(keys):
            places.setdefault(key, []).append(index)
        for key, payload in calls.get_many(list(places)).items():
            report(places[key], cached_completion(key, payload))
        missing = {key: requests[at[0]] for key, at in places.items() if at[0] not in found}
        batch = _Batch(self, calls)
        batch.answer(missing, lambda key, outcome: report(places[key], outcome))
        return [found[index] for index in range(len(requests))]


@dataclass
class RemoteChat(Remote, Chat):
    """A chat model behind a server. A subclass implements `endpoint_identity` and `send`."""

    temperature: float | None = 0.0
    """None is not sent: some models accept no temperature."""
    top_p: float | None = None
    seed: int | None = 0
    max_tokens: int | None = None
    """Maximum length of a reply where the request does not say."""
    context: int | None = field(default=None, metadata=PLACE)
    """The context window in tokens, prompt and reply together; None where it is not known."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Sent unchanged with the rest: reasoning_effort, cache_prompt and similar."""

    def __post_init__(self) -> None:
        refuse_secrets(self.extra)

    @property
    def width(self) -> int:
        """As many as the endpoint may get, and some that wait for a retry."""
        return self.concurrency + self.concurrency // 2 + 1

    def identity(self) -> dict[str, object]:
        """Return the endpoint and the sampling. Raises ConfigError where no model is named."""
        sampling = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "extra": dict(self.extra),
        }
        return {**self.endpoint_identity(), **sampling}

    def endpoint_identity(self) -> dict[str, object]:
        """Return what identifies the model: the hash of its weights, else host and name."""
        raise NotImplementedError

    @property
    def form(self) -> str:
        """How a reply is made to follow its schema: json_schema, json_object or prose."""
        return "json_schema"

    def room(self, request: Request) -> int | None:
        """Return how many tokens the reply may take."""
        return request.max_tokens if request.max_tokens is not None else self.max_tokens

    def sampling(self, request: Request) -> dict[str, object]:
        """Return how the reply is drawn; each sample has its own seed."""
        warm, seed = self.temperature, self.seed
        return {
            "temperature": None if warm is None else max(warm, request.least_temperature),
            "top_p": self.top_p,
            "seed": None if seed is None else seed + request.sample,
        }

    async def send(
        self, request: Request, place: Endpoint, calls: Calls, samples: int = 1
    ) -> list[Completion]:
        """Send the request in this protocol and read the reply, or replies.

        Args:
            request: The first of the samples, if there are more.
            place: Where to send it.
            calls: The account; every reply is counted there by `read_counted`.
            samples: How many to request at once; more than one only where `samples_at_once`.
        """
        raise NotImplementedError

    def read_counted(self, reply: Any, read: Callable[[Any], T], calls: Calls) -> T:
        """Return what `read` makes of a reply; its tokens are billed even if it cannot be used."""
        read_tokens, written = map(token_count, self.usage(reply))
        if read_tokens is None:
            found = read(reply)  # an unusable reply says nothing about what the server reports
            calls.answered(self.label, None, written)
            return found
        calls.answered(self.label, read_tokens, written)
        return read(reply)

    def usage(self, reply: Any) -> tuple[object, object]:
        """Return the tokens of prompt and reply, as a reply in this protocol states them."""
        raise NotImplementedError

    async def ask(self, request: Request, calls: Calls) -> Completion:
        """Send the request. Raises EndpointError; ContextOverflowError where it cannot fit."""
        return (await self.ask_for(1, request, calls))[0]

    async def ask_for(self, samples: int, request: Request, calls: Calls) -> list[Completion]:
        """Request a number of replies; some servers send only one. Raises as `ask` does."""
        check_before(request, self.room(request), self.context, self.label)
        place, arrived = endpoint(self.address()), asyncio.Event()
        place.in_flight[arrived] = request.tokens
        try:
            completions = await self.send(request, place, calls, samples)
        except RefusedError as error:
            if not error.too_long:
                raise
            raise ContextOverflowError(
                f"{error} (the prompt takes about {request.tokens} tokens)"
            ) from error
        finally:
            del place.in_flight[arrived]
            arrived.set()
        await self.check_read(request, completions[0], calls)
        if request.schema is not None:
            form, schema = self.form, request.schema
            ignored = sum(ignores_format(each, form, schema) for each in completions)
            calls.formatted(form, len(completions), ignored)
        return completions

    async def check_read(self, request: Request, reply: Completion, calls: Calls) -> None:
        """Raise ContextOverflowError where the endpoint has truncated the prompt.

        Servers truncate what is too long and answer as if nothing had happened; only the number of
        tokens that they report shows it. Where it leaves a doubt, a longer prompt decides, of
        those in flight the longest: a server that truncates does not read more of it.
        """
        place, read = endpoint(self.address()), reply.input_tokens or 0
        habits = place.habits
        if self.context is not None and read >= self.context:
            raise truncated(request, reply, self.label)
        fewer, fills = has_fewer(request, reply), fills_a_window(request, reply, self.context)
        if not (fewer or fills):
            habits["has_read"] = max(read, habits.get("has_read", 0))
            return
        async with place.measuring:  # so that requests at once are decided by one longer prompt
            if fewer and habits.get("counts_new_only"):
                return
            if not fewer:
                longest = max(place.in_flight, key=place.in_flight.__getitem__, default=None)
                if longest and place.in_flight[longest] > request.tokens:
                    await longest.wait()
                if habits.get("has_read", 0) > read + NEAR:
                    return
            if abs(read - habits.get("truncates_at", 0)) > NEAR:
                calls.about_to_ask(self.label)
                (more,) = await self.send(longer(request), place, calls)
                if (more.input_tokens or 0) - read >= fewest_tokens(ADDED_LINES * FILLER) / 2:
                    habits["counts_new_only" if fewer else "has_read"] = more.input_tokens
                    return
                habits["truncates_at"] = read
        raise truncated(request, reply, self.label)


class _Batch:
    """The calls of one `complete_all` that are not cached, sent by a few tasks."""

    def __init__(self, chat: Chat, calls: Calls) -> None:
        self.chat = chat
        self.calls = calls
        self.arrived: queue.SimpleQueue[tuple[str, Outcome] | BaseException] = queue.SimpleQueue()

    def answer(
        self, missing: Mapping[str, Request], report: Callable[[str, Outcome], None]
    ) -> None:
        """Report each outcome in this thread; an exception here cancels what is in flight."""
        if not missing:
            return
        running = submit(self._send_all(missing))
        running.add_done_callback(self._end)
        try:
            for _ in missing:
                arrived = self.arrived.get()
                if isinstance(arrived, BaseException):
                    raise arrived
                report(*arrived)
        finally:
            stop(running)

    def _end(self, future: "Future[None]") -> None:
        """Pass on the exception that ended the batch."""
        error = asyncio.CancelledError() if future.cancelled() else future.exception()
        if error is not None:
            self.arrived.put(error)

    async def _send_all(self, requests: Mapping[str, Request]) -> None:
        waiting = deque(self._groups(requests))

        async def work() -> None:
            while waiting:
                waiting.extend(await self._send(waiting.popleft()))

        tasks = [asyncio.create_task(work()) for _ in range(min(self.chat.width, len(requests)))]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    def _groups(self, requests: Mapping[str, Request]) -> list[Group]:
        """Group the requests that one call may answer: samples of one prompt."""
        if not self.chat.samples_at_once:
            return [{key: request} for key, request in requests.items()]
        found: dict[str, Group] = {}
        for key, request in requests.items():
            first = self.chat.key(replace(request, sample=0)) if request.sample else key
            found.setdefault(first, {})[key] = request
        return list(found.values())

    async def _send(self, group: Group) -> list[Group]:
        """Send a group; return the requests it left unanswered, to be sent one by one."""
        in_flight = self.calls.in_flight
        while running := [in_flight[key] for key in group if key in in_flight]:
            await running[0].wait()  # another thread of this process has sent it
        known = self.calls.get_many(list(group))  # it, or another process, has stored it since
        for key, payload in known.items():
            self.arrived.put((key, cached_completion(key, payload)))
        group = {key: request for key, request in group.items() if key not in known}
        if not group:
            return []
        done = asyncio.Event()
        in_flight.update(dict.fromkeys(group, done))
        try:
            return await self._send_now(group)
        finally:
            for key in group:
                del in_flight[key]
            done.set()

    async def _send_now(self, group: Group) -> list[Group]:
        requests, label = list(group.values()), self.chat.label
        try:
            self.calls.about_to_ask(label, prompt := requests[0].tokens)
            try:
                completions = await self.chat.ask_samples(requests, self.calls)
            finally:
                self.calls.ended(label, prompt)
        except EndpointError as error:
            for key in group:
                self.arrived.put((key, error))
            return []
        for key, completion in zip(group, completions, strict=False):
            self.calls.put(key, f"chat {label}", completion_payload(completion))
            self.arrived.put((key, replace(completion, call=key)))
        return [{key: group[key]} for key in list(group)[len(completions) :]]
