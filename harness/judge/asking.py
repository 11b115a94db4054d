"""Asking until a reply can be read: more room, one repair, one fresh call, then the reason."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness.errors import BudgetError, ContextOverflowError, EndpointError
from harness.judge.contract import JobAnswer
from harness.judge.prompt import harmless
from harness.judge.reply import UnreadableReply
from harness.llm import Calls, Chat, Completion, Message, Outcome, Request
from harness.records import Status

MORE_ROOM = 4
"""A truncated reply is requested again with this many times the tokens."""

FRESH = 1000
"""Added to the sample index of the fresh call: beyond any number of samples."""

KEPT = 500
"""Characters of an unreadable reply that are kept with the reason."""

QUOTED = 4000
"""Characters of an unreadable reply, its last ones, that are sent back for a repair."""


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A request, and how its reply is read."""

    request: Request
    read: Callable[[Completion], JobAnswer]
    """Raises UnreadableReply."""
    repair: Callable[[str], str]
    """Error -> the message that asks the model to correct its reply."""


@dataclass(frozen=True, slots=True)
class _Trouble:
    """A request without a usable answer."""

    request: Request
    status: Status
    message: str
    completion: Completion | None = None

    @property
    def answer(self) -> JobAnswer:
        if self.completion is None:
            return JobAnswer(error=self.status, note=self.message)
        raw = self.completion.text[:KEPT]
        note = f"{self.message}; reply ({self.completion.finish_reason}): {raw}"
        return JobAnswer(error=self.status, note=note, call=self.completion.call)


def ask_until_read(
    chat: Chat, requests: Sequence[JudgeRequest], calls: Calls, tick: Callable[[], None]
) -> list[JobAnswer]:
    """Return an answer for each, in order; where there is none, it holds the reason.

    Prompts with a common beginning are sent one after another, for servers with a prefix cache.
    A failure of the endpoint is final: the endpoint has retried it already. The replies of a
    request that none of them answers are deleted from the cache, so that it can be asked again.
    """
    found: dict[int, JobAnswer | _Trouble] = {}
    order = sorted(
        range(len(requests)),
        key=lambda index: [turn.content for turn in requests[index].request.messages],
    )
    sent = [(index, requests[index].request) for index in order]
    repaired: set[int] = set()
    unread: dict[int, list[str]] = {}  # keys of the calls

    def read(place: int, outcome: Outcome) -> None:
        """Read a reply as it arrives, while others are in flight."""
        index, request = sent[place]
        if index not in found:
            tick()
        found[index] = answer = _read(requests[index], request, outcome)
        if isinstance(answer, _Trouble) and answer.completion is not None:
            unread.setdefault(index, []).append(answer.completion.call)

    chat.complete_all([request for _, request in sent], calls, read)
    for how, again in _ROUNDS:
        sent = [
            (index, another)
            for index in order
            if isinstance(trouble := found[index], _Trouble)
            and (another := again(requests[index], trouble))
        ]
        if sent:
            repaired.update(index for index, _ in sent)
            calls.repairs[how] += len(sent)
            chat.complete_all([request for _, request in sent], calls, read)
    if repaired:
        calls.repairs["replies"] += len(repaired)
    results = [found[index] for index in range(len(requests))]
    calls.forget(
        key
        for index, result in enumerate(results)
        if isinstance(result, _Trouble) and result.completion is not None
        for key in unread[index]
    )
    return [result.answer if isinstance(result, _Trouble) else result for result in results]


def status_of(error: EndpointError) -> Status:
    """Return why there is no label where a call failed."""
    if isinstance(error, ContextOverflowError):
        return Status.CONTEXT_OVERFLOW
    return Status.BUDGET if isinstance(error, BudgetError) else Status.JUDGE_FAILED


def _read(ask: JudgeRequest, request: Request, outcome: Outcome) -> JobAnswer | _Trouble:
    if isinstance(outcome, EndpointError):
        return _Trouble(request, status_of(outcome), str(outcome))
    # Half a surrogate pair can be neither sent back nor written to a table.
    outcome = replace(outcome, text=outcome.text.encode("utf-8", "replace").decode("utf-8"))
    if outcome.finish_reason == "length":
        message = f"truncated at {request.max_tokens} tokens"
        return _Trouble(request, Status.CONTEXT_OVERFLOW, message, outcome)
    if not outcome.text.strip():
        return _Trouble(request, Status.JUDGE_UNPARSABLE, _empty(outcome), outcome)
    try:
        return ask.read(outcome)
    except UnreadableReply as error:
        return _Trouble(request, error.status, str(error), outcome)


def _empty(completion: Completion) -> str:
    if not completion.reasoning:
        return "the reply is empty"
    return (
        "the reply is empty, all text is in the reasoning field: switch off the server's "
        "reasoning parser or the model's thinking"
    )


def _more_room(_: JudgeRequest, trouble: _Trouble) -> Request | None:
    if not _is_truncated(trouble):
        return None
    return replace(trouble.request, max_tokens=MORE_ROOM * (trouble.request.max_tokens or 0))


def _repair(ask: JudgeRequest, trouble: _Trouble) -> Request | None:
    reply = trouble.completion
    if reply is None or _is_truncated(trouble) or not reply.text.strip():
        return None
    quoted = harmless(reply.text[-QUOTED:])
    turns = (Message("assistant", quoted), Message("user", ask.repair(harmless(trouble.message))))
    return replace(trouble.request, messages=(*trouble.request.messages, *turns))


def _fresh(ask: JudgeRequest, trouble: _Trouble) -> Request | None:
    if trouble.completion is None:
        return None
    sample = ask.request.sample + FRESH
    return replace(ask.request, sample=sample, max_tokens=trouble.request.max_tokens)


def _is_truncated(trouble: _Trouble) -> bool:
    return trouble.completion is not None and trouble.completion.finish_reason == "length"


_ROUNDS = (("more_room", _more_room), ("repair", _repair), ("fresh", _fresh))
"""The attempts after an unusable reply, in order, by the names under which they are counted."""
