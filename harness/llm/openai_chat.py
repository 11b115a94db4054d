"""Chat models behind any endpoint that speaks the OpenAI protocol, Azure included."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeVar

from harness.errors import ConfigError
from harness.llm.call_store import Calls
from harness.llm.chat import RemoteChat
from harness.llm.concurrency import run
from harness.llm.endpoint import Endpoint, endpoint, habits
from harness.llm.failures import RefusedError
from harness.llm.messages import (
    Completion,
    Message,
    Request,
    completion,
    data_url,
    token_count,
)
from harness.llm.remote import PLACE

log = logging.getLogger(__name__)

T = TypeVar("T")

_PATH = "/chat/completions"
_LONG_NAME = "max_completion_tokens"
_ABOUT_FORM = re.compile(r"response.?format|json|schema|grammar|structured", re.IGNORECASE)


class Structured(Enum):
    """How a reply is made to follow its schema."""

    auto = "auto"
    """The first of the others that the endpoint accepts."""
    json_schema = "json_schema"
    json_object = "json_object"
    prose = "prose"
    """Not at all: only the prompt asks for it."""


_LADDER = (Structured.json_schema, Structured.json_object, Structured.prose)


@dataclass
class OpenAIChat(RemoteChat):
    """A chat model behind an OpenAI-compatible endpoint: OpenAI, vLLM, llama.cpp, LM Studio."""

    structured: Structured = Structured.auto

    def endpoint_identity(self) -> dict[str, object]:
        """Return address and model: the protocol does not report a hash of the weights."""
        return {**self.named("openai"), "structured": self.structured.value}

    @property
    def form(self) -> str:
        """The format that is configured, else the one that the endpoint accepts."""
        auto = self.structured is Structured.auto
        form = _accepted(habits(self.address())) if auto else self.structured
        return str(form.value)

    @property
    def samples_at_once(self) -> bool:
        """Whether the endpoint accepts `n`, or has not been tried yet."""
        return bool(habits(self.address()).get("n", True))

    async def ask_samples(self, requests: Sequence[Request], calls: Calls) -> list[Completion]:
        """Request all with `n`; where the endpoint refuses or ignores it, the first only."""
        first, samples = requests[0], len(requests)
        if samples > 1 and self.samples_at_once:
            try:
                found = await self.ask_for(samples, first, calls)
            except RefusedError:
                # Error texts differ: if the request is accepted without `n`, that was the cause.
                found = [await self.ask(first, calls)]
            if len(found) < samples:
                habits(self.address())["n"] = False
            # The call's tokens are counted once.
            others = [replace(other, input_tokens=0, output_tokens=0) for other in found[1:samples]]
            return [found[0], *others]
        return [await self.ask(first, calls)]

    async def send(
        self, request: Request, place: Endpoint, calls: Calls, samples: int = 1
    ) -> list[Completion]:
        """Send, with the strictest reply format that the endpoint accepts; it is then kept."""
        refusal: RefusedError | None = None
        for form in self._forms(request, place):
            try:
                body = self._body(form, request) | ({"n": samples} if samples > 1 else {})
                found, seconds = await self._post(body, place, _read, calls)
            except RefusedError as error:
                refusal = refusal or error
                if not _ABOUT_FORM.search(error.reason):
                    break
            else:
                if refusal is not None and place.habits.get("form") is not form:
                    place.habits["form"] = form
                    log.warning("%s: using %s from now on; %s", self.model, form.value, refusal)
                return [replace(each, seconds=seconds) for each in found]
        assert refusal is not None
        raise refusal

    def _forms(self, request: Request, place: Endpoint) -> tuple[Structured, ...]:
        if request.schema is None:
            return (Structured.prose,)
        if self.structured is not Structured.auto:
            return (self.structured,)
        return _LADDER[_LADDER.index(_accepted(place.habits)) :]

    def departures(self, request: Request, calls: Calls) -> dict[str, str]:
        """Send the request and return where the reply departs from the protocol: see `departures`.

        Raises EndpointError.
        """

        def read(reply: Any) -> tuple[Completion, dict[str, str]]:
            return _read(reply)[0], departures(reply)

        calls.about_to_ask(self.label)
        body, place = self._body(Structured.prose, request), endpoint(self.address())
        (_, found), _ = run(self._post(body, place, read, calls))
        return found

    async def _post(
        self,
        body: dict[str, object],
        place: Endpoint,
        read: Callable[[Any], T],
        calls: Calls,
    ) -> tuple[T, float]:
        """Send; newer models know `max_tokens` by another name only."""

        def counted(reply: Any) -> T:
            return self.read_counted(reply, read, calls)

        if place.habits.get(_LONG_NAME):
            body = _renamed(body)
        try:
            return await place.post(_PATH, body, counted, calls)
        except RefusedError as error:
            if "max_tokens" not in body or _LONG_NAME not in error.reason:
                raise
            place.habits[_LONG_NAME] = True
            return await place.post(_PATH, _renamed(body), counted, calls)

    def usage(self, reply: Any) -> tuple[object, object]:
        """Return the two counts of `usage`."""
        usage = reply.get("usage") or {}
        return usage.get("prompt_tokens"), usage.get("completion_tokens")

    def _body(self, form: Structured, request: Request) -> dict[str, object]:
        described = {"name": "answer", "schema": request.schema, "strict": True}
        formats: dict[Structured, dict[str, object]] = {
            Structured.json_schema: {"type": "json_schema", "json_schema": described},
            Structured.json_object: {"type": "json_object"},
        }
        body: dict[str, object] = {
            "model": self.model,
            "messages": [_message(message) for message in request.messages],
            **self.sampling(request),
            "max_tokens": self.room(request),
            "response_format": formats.get(form),
        }
        return {name: value for name, value in body.items() if value is not None} | self.extra


@dataclass
class AzureChat(OpenAIChat):
    """A chat model deployed on Azure: `model` is the name of the deployment.

    The key is in AZURE_OPENAI_API_KEY, or in the variable that `api_key_env` names.
    """

    base_url: str = field(default="", metadata=PLACE)
    """The resource, https://<resource>.openai.azure.com."""
    api_version: str = field(default="2024-10-21", metadata=PLACE)
    """The version of Azure's API."""

    def endpoint_identity(self) -> dict[str, object]:
        """Return resource, deployment and API version. Raises ConfigError where one is missing."""
        if not self.base_url:
            raise ConfigError(
                "chat=azure needs the resource and the deployment:"
                " set base_url=https://<resource>.openai.azure.com and model=<deployment>"
            )
        if not self.api_version:
            raise ConfigError("chat=azure needs api_version=<date>, for example 2024-10-21")
        named = {**self.named("azure"), "api_version": self.api_version}
        return {**named, "structured": self.structured.value}


def departures(reply: object) -> dict[str, str]:
    """Return where a chat reply does not follow the protocol: field -> what is wrong.

    The protocol is that of the types of the openai package. The harness itself is more tolerant,
    but it cannot use what is missing: without `usage` no tokens are counted, and without
    `finish_reason` a truncated reply looks complete.

    >>> departures({"choices": []})["id"]
    'Field required'
    """
    from openai.types.chat import ChatCompletion
    from pydantic import ValidationError

    try:
        completion = ChatCompletion.model_validate(reply, strict=True)
    except ValidationError as error:
        return {".".join(map(str, each["loc"])): each["msg"] for each in error.errors()}
    return {} if completion.usage is not None else {"usage": "missing"}


def _accepted(habits: Mapping[str, Any]) -> Structured:
    """Return the strictest format that the endpoint has not refused so far."""
    return Structured(habits.get("form", Structured.json_schema))


def _renamed(body: dict[str, object]) -> dict[str, object]:
    return {_LONG_NAME if name == "max_tokens" else name: body[name] for name in body}


def _message(message: Message) -> dict[str, object]:
    if not message.images:
        return {"role": message.role, "content": message.content}
    parts: list[dict[str, object]] = [{"type": "text", "text": message.content}]
    parts += [{"type": "image_url", "image_url": {"url": data_url(i)}} for i in message.images]
    return {"role": message.role, "content": parts}


def _joined(parts: str | list[dict[str, Any]]) -> str:
    """Return the text of a content that may consist of parts."""
    if isinstance(parts, str):
        return parts
    return "".join(part["text"] for part in parts if part.get("type") == "text")


def _read(reply: dict[str, Any]) -> list[Completion]:
    """Return a completion for each choice; the tokens are those of all together."""
    usage, found = reply.get("usage") or {}, []
    details = usage.get("prompt_tokens_details")
    cached = token_count(details.get("cached_tokens")) if isinstance(details, dict) else None
    for choice in reply["choices"]:
        message = choice["message"]
        text = message.get("content")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        if text is not None and not isinstance(text, str):
            thoughts = [part["thinking"] for part in text if part.get("type") == "thinking"]
            reasoning = reasoning or "".join(map(_joined, thoughts))
            text = _joined(text)
        read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
        reason, model = choice.get("finish_reason"), reply.get("model")
        each = completion(text or "", reason, read, written, reasoning, model)
        found.append(replace(each, cached_tokens=cached))
    if not found:
        raise ValueError("no choices")
    return found
