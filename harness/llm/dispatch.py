"""Many requests at once: folded, joined, remembered, each stored as it arrives."""

import asyncio
import queue
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace

from harness.errors import EndpointError
from harness.llm.calls import Calls
from harness.llm.chat import Chat, OnDone, Outcome, Request, payload, remembered
from harness.llm.leases import LEASE_SECONDS
from harness.llm.loop import submit

Group = dict[str, Request]
"""Key of the call -> request; they differ in their sample alone."""

POLL_SECONDS = 0.05
"""How often a call that another process has on its way is looked for."""


def complete_all(
    chat: Chat, requests: Sequence[Request], calls: Calls, on_done: OnDone | None = None
) -> list[Outcome]:
    """Answer the requests, in order; see `Chat.complete_all`."""
    found: dict[int, Outcome] = {}

    def report(indices: Sequence[int], outcome: Outcome) -> None:
        for index in indices:
            found[index] = outcome
            if on_done is not None:
                on_done(index, outcome)

    try:
        keys = [chat.key(request) for request in requests]
    except EndpointError as error:  # the endpoint must say which weights it has, and does not
        report(range(len(requests)), error)
        return [error] * len(requests)
    places: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        places.setdefault(key, []).append(index)
    for key, kept in calls.get_many(list(places)).items():
        report(places[key], remembered(key, kept))
    missing = {key: requests[at[0]] for key, at in places.items() if at[0] not in found}
    _await_all(_Batch(chat, calls), missing, lambda key, outcome: report(places[key], outcome))
    return [found[index] for index in range(len(requests))]


def groups(chat: Chat, requests: Mapping[str, Request]) -> list[Group]:
    """Return the requests, those together that one call may answer: samples of one prompt."""
    if not chat.samples_at_once:
        return [{key: request} for key, request in requests.items()]
    found: dict[str, Group] = {}
    for key, request in requests.items():
        first = chat.key(replace(request, sample=0)) if request.sample else key
        found.setdefault(first, {})[key] = request
    return list(found.values())


def _await_all(
    batch: "_Batch", missing: Mapping[str, Request], report: Callable[[str, Outcome], None]
) -> None:
    """Report each outcome in this thread; leaving by an exception cancels what is running."""
    if not missing:
        return
    running = submit(batch.run(missing))
    running.add_done_callback(batch.over)
    try:
        for _ in missing:
            arrived = batch.arrived.get()
            if isinstance(arrived, BaseException):
                raise arrived
            report(*arrived)
    finally:
        running.cancel()


class _Batch:
    """The missing calls of one `complete_all`, worked on by a few tasks."""

    def __init__(self, chat: Chat, calls: Calls) -> None:
        self.chat = chat
        self.calls = calls
        self.leases = calls.new_leases()
        self.arrived: queue.SimpleQueue[tuple[str, Outcome] | BaseException] = queue.SimpleQueue()

    def over(self, future: "Future[None]") -> None:
        """Pass on what broke the batch."""
        error = asyncio.CancelledError() if future.cancelled() else future.exception()
        if error is not None:
            self.arrived.put(error)

    async def run(self, requests: Mapping[str, Request]) -> None:
        """Answer the calls, those first that nobody else has on their way."""
        todo = deque(groups(self.chat, requests))
        elsewhere: deque[Group] = deque()
        mine: deque[Group] = deque()

        async def work() -> None:
            while mine or todo or elsewhere:
                if mine:
                    todo.extend(await self._ask(mine.popleft()))
                    continue
                if todo:
                    # A few at a time: one transaction for many, and other processes find the rest.
                    some = [todo.popleft() for _ in range(min(self.chat.width, len(todo)))]
                else:
                    some = [elsewhere.popleft()]
                    await asyncio.sleep(POLL_SECONDS)
                taken, others = self._take(some)
                mine.extend(taken)
                elsewhere.extend(others)

        tasks = [asyncio.create_task(work()) for _ in range(min(self.chat.width, len(requests)))]
        beating = asyncio.create_task(self._renew_leases())
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in (*tasks, beating):
                task.cancel()
            self.leases.release_all()

    def _take(self, some: Sequence[Group]) -> tuple[list[Group], list[Group]]:
        """Return what is to be asked here, and what another thread or process has on its way.

        What has been answered meanwhile has arrived.
        """
        keys = [key for group in some for key in group]
        taken = self.leases.take(keys)
        known = self.calls.get_many(keys)
        for key, kept in known.items():
            self.arrived.put((key, remembered(key, kept)))
        self.leases.release(taken & known.keys())
        left = [{key: group[key] for key in group if key not in known} for group in some]
        mine = [{key: group[key] for key in group if key in taken} for group in left]
        others = [{key: group[key] for key in group if key not in taken} for group in left]
        return [*filter(None, mine)], [*filter(None, others)]

    async def _ask(self, group: Group) -> list[Group]:
        """Ask for a group; return those of it that were not answered, to be asked one by one."""
        try:
            self.calls.about_to_ask(self.chat.label)
            completions = await self.chat.ask_samples(list(group.values()), self.calls)
        except EndpointError as error:
            self.leases.release(group)
            for key in group:
                self.arrived.put((key, error))
            return []
        for key, completion in zip(group, completions, strict=False):
            read, written = completion.input_tokens, completion.output_tokens
            self.calls.answered(self.chat.label, read, written)
            self.calls.put(key, f"chat {self.chat.label}", payload(completion))
            self.arrived.put((key, replace(completion, call=key)))
        return [{key: group[key]} for key in list(group)[len(completions) :]]

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 4)
            self.leases.renew()
