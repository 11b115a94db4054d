"""Chat models behind any endpoint that speaks the OpenAI protocol."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from harness.llm.calls import Calls
from harness.llm.chat import Completion, Message, Request, count, data_url, word
from harness.llm.remote_chat import RemoteChat

if TYPE_CHECKING:
    from harness.llm.endpoint import Endpoint, Served

log = logging.getLogger(__name__)

T = TypeVar("T")

_PATH = "/chat/completions"
_LONG_NAME = "max_completion_tokens"
_ABOUT_FORM = re.compile(r"response.?format|json|schema|grammar|structured", re.IGNORECASE)


class Structured(Enum):
    """How a reply is held to its schema."""

    auto = "auto"
    """The first of the others that the endpoint takes."""
    json_schema = "json_schema"
    json_object = "json_object"
    prose = "prose"
    """Not at all: the prompt alone asks for it."""


_LADDER = (Structured.json_schema, Structured.json_object, Structured.prose)


@dataclass
class OpenAIChat(RemoteChat):
    """A chat model behind an OpenAI-compatible endpoint: OpenAI, vLLM, llama.cpp, LM Studio."""

    structured: Structured = Structured.auto

    def endpoint_identity(self) -> dict[str, object]:
        """Return address and model: the protocol tells no hash of the weights."""
        return {**self.named("openai"), "structured": self.structured.value}

    @property
    def samples_at_once(self) -> bool:
        """Whether the endpoint takes `n`, or was not asked yet."""
        from harness.llm.endpoint import habits

        return bool(habits(self.address()).get("n", True))

    async def ask_samples(self, requests: Sequence[Request], calls: Calls) -> list[Completion]:
        """Ask for all with `n`; where the endpoint refuses or ignores it, for the first alone."""
        from harness.llm.endpoint import habits
        from harness.llm.failures import RefusedError

        first, wanted = requests[0], len(requests)
        if wanted > 1 and self.samples_at_once:
            try:
                found = await self.ask_for(wanted, first, calls)
            except RefusedError:
                # Endpoints differ in how they say it: one that takes the same without, means `n`.
                found = [await self.ask(first, calls)]
            if len(found) < wanted:
                habits(self.address())["n"] = False
            # The call's tokens are counted once.
            others = [replace(other, input_tokens=0, output_tokens=0) for other in found[1:wanted]]
            return [found[0], *others]
        return [await self.ask(first, calls)]

    async def send(
        self, request: Request, place: "Endpoint", calls: Calls, samples: int = 1
    ) -> list[Completion]:
        """Send, asking for the strictest form that the endpoint takes; it is then remembered."""
        from harness.llm.failures import RefusedError

        refusal: RefusedError | None = None
        for form in self._forms(request, place):
            try:
                completions = await self._send_as(form, request, place, calls, samples)
            except RefusedError as error:
                refusal = refusal or error
                if not _ABOUT_FORM.search(error.said):
                    break
            else:
                if refusal is not None and place.habits.get("form") is not form:
                    place.habits["form"] = form
                    log.warning("%s: asked for %s from now on; %s", self.model, form.value, refusal)
                return completions
        assert refusal is not None
        raise refusal

    def _forms(self, request: Request, place: "Endpoint") -> tuple[Structured, ...]:
        if request.schema is None:
            return (Structured.prose,)
        if self.structured is not Structured.auto:
            return (self.structured,)
        return _LADDER[_LADDER.index(place.habits.get("form", Structured.json_schema)) :]

    def departures(self, request: Request, calls: Calls) -> dict[str, str]:
        """Ask, and return where the reply departs from the protocol. Raises EndpointError."""
        from harness.llm.endpoint import endpoint
        from harness.llm.loop import run
        from harness.llm.protocol import departures

        def read(reply: Any) -> tuple[Completion, dict[str, str]]:
            return _read(reply)[0], departures(reply)

        async def ask() -> tuple[Completion, dict[str, str]]:
            body = self._body(Structured.prose, request)
            return (await self._post(body, endpoint(self.address()), read, calls)).value

        calls.about_to_ask(self.label)
        completion, found = run(ask())
        calls.answered(self.label, completion.input_tokens, completion.output_tokens)
        return found

    async def _send_as(
        self, form: Structured, request: Request, place: "Endpoint", calls: Calls, samples: int
    ) -> list[Completion]:
        body = self._body(form, request) | ({"n": samples} if samples > 1 else {})
        served = await self._post(body, place, _read, calls)
        return [replace(completion, seconds=served.seconds) for completion in served.value]

    async def _post(
        self,
        body: dict[str, object],
        place: "Endpoint",
        read: Callable[[Any], T],
        calls: Calls,
    ) -> "Served[T]":
        """Send; newer models know the room for a reply by another name only."""
        from harness.llm.failures import RefusedError

        if place.habits.get(_LONG_NAME):
            body = _renamed(body)
        try:
            return await place.post(_PATH, body, read, calls)
        except RefusedError as error:
            if "max_tokens" not in body or _LONG_NAME not in error.said:
                raise
            place.habits[_LONG_NAME] = True
            return await place.post(_PATH, _renamed(body), read, calls)

    def _body(self, form: Structured, request: Request) -> dict[str, object]:
        body: dict[str, object] = {
            "model": self.model,
            "messages": [_message(message) for message in request.messages],
            **self.sampling(request),
            "max_tokens": self.room(request),
            "response_format": _response_format(form, request.schema),
        }
        return {name: value for name, value in body.items() if value is not None} | self.extra


def _renamed(body: dict[str, object]) -> dict[str, object]:
    return {_LONG_NAME if name == "max_tokens" else name: body[name] for name in body}


def _response_format(
    form: Structured, schema: dict[str, object] | None
) -> dict[str, object] | None:
    if form is Structured.json_object:
        return {"type": "json_object"}
    if form is Structured.json_schema:
        described = {"name": "answer", "schema": schema, "strict": True}
        return {"type": "json_schema", "json_schema": described}
    return None


def _message(message: Message) -> dict[str, object]:
    if not message.images:
        return {"role": message.role, "content": message.content}
    parts: list[dict[str, object]] = [{"type": "text", "text": message.content}]
    parts += [{"type": "image_url", "image_url": {"url": data_url(i)}} for i in message.images]
    return {"role": message.role, "content": parts}


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _read(reply: dict[str, Any]) -> list[Completion]:
    """Return a completion for each choice; the tokens are those of all together."""
    usage = reply.get("usage") or {}
    if not reply["choices"]:
        raise ValueError("no choices")
    return [_completion(choice, usage) for choice in reply["choices"]]


def _completion(choice: dict[str, Any], usage: Mapping[str, Any]) -> Completion:
    message = choice["message"]
    return Completion(
        text=_text(message.get("content")),
        finish_reason=word(choice.get("finish_reason")),
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        seconds=0.0,
        reasoning=word(message.get("reasoning_content") or message.get("reasoning")),
    )
