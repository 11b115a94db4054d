"""Chat models behind Ollama's native API, the only one that honours the context window."""

import base64
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from harness.errors import EndpointError
from harness.llm.call_store import Calls
from harness.llm.chat import RemoteChat
from harness.llm.concurrency import run
from harness.llm.endpoint import Endpoint, endpoint
from harness.llm.messages import Completion, Message, Request, completion
from harness.llm.remote import PLACE, keys

_digests: dict[tuple[str, str], str] = {}


@dataclass
class OllamaChat(RemoteChat):
    """A chat model behind Ollama.

    Its OpenAI-compatible paths accept `num_ctx` and ignore it, with status 200: every prompt is
    then truncated to about 4,096 tokens without a warning.
    """

    loads_weights: ClassVar[bool] = True

    base_url: str = field(default="http://localhost:11434", metadata=PLACE)
    context: int | None = 8192
    """Sent as `num_ctx`; None leaves it to the server."""
    digest: str | None = field(default=None, metadata=PLACE)
    """Of the weights that are meant: their cached replies are found without the server, and a
    server with other weights gets no request. None asks the server which weights it has."""
    think: bool | None = None
    """Whether a reasoning model reasons first; None leaves it to the model."""
    concurrency: int = field(default=4, metadata=PLACE)
    timeout: float = field(default=600.0, metadata=PLACE)
    deadline: float = field(default=1200.0, metadata=PLACE)

    def endpoint_identity(self) -> dict[str, object]:
        """Return the digest of the weights: the one that is set, else the one that is served.

        Raises EndpointError where the server has to report it and does not answer or does not have
        the model.
        """
        named = self.named("ollama")
        del named["base_url"]  # the same weights answer alike wherever they are
        digest = self.digest or self._found_digest()
        return {**named, "digest": digest, "context": self.context, "think": self.think}

    async def send(
        self, request: Request, place: Endpoint, calls: Calls, samples: int = 1
    ) -> list[Completion]:
        """Send to `/api/chat`; the schema is enforced by Ollama itself.

        Raises EndpointError, and sends nothing, where the server has other weights than `digest`.
        """
        if self.digest and self.digest != (served := await self._served_digest()):
            raise EndpointError(
                f"{self.base_url}: '{self.model}' has the digest {served} there, but "
                f"digest={self.digest} is set, so no request is sent; set the digest that is meant"
            )

        def read(reply: Any) -> Completion:
            return self.read_counted(reply, _read, calls)

        reply, seconds = await place.post("/api/chat", self._body(request), read, calls)
        return [replace(reply, seconds=seconds)]

    def usage(self, reply: Any) -> tuple[object, object]:
        """Return the two counts of a reply."""
        return reply.get("prompt_eval_count"), reply.get("eval_count")

    def _body(self, request: Request) -> dict[str, object]:
        options = {
            **self.sampling(request),
            "num_ctx": self.context,
            "num_predict": self.room(request),
        }
        body: dict[str, object] = {
            "model": self.model,
            "messages": [_message(message) for message in request.messages],
            "format": request.schema,
            "think": self.think,
        }
        return {
            **{name: value for name, value in body.items() if value is not None},
            "options": {name: value for name, value in options.items() if value is not None},
            "stream": False,
            # Newer servers then refuse a prompt that is too long instead of truncating it.
            "truncate": False,
            "shift": False,
            **self.extra,
        }

    def _found_digest(self) -> str:
        if found := _digests.get((self.base_url, self.model)):
            return found
        try:
            return run(self._served_digest())
        except EndpointError as error:
            raise EndpointError(
                f"{error}; or, to use cached replies without the server, set "
                f"{keys('digest', '<digest>')} to the one in run.json (in evaluations.jsonl)"
            ) from error

    async def _served_digest(self) -> str:
        """Return the digest that the server reports, requested once in this process."""
        place = (self.base_url, self.model)
        if place not in _digests:
            found: dict[str, str] = await endpoint(self.address()).fetch(
                "/api/tags",
                lambda reply: {m["name"]: m["digest"] for m in reply["models"]},
            )
            name = self.model if ":" in self.model else f"{self.model}:latest"
            if self.model not in found and name not in found:
                raise EndpointError(
                    f"{self.base_url}: the server has no model '{self.model}'; install it with"
                    f" `ollama pull {self.model}`; it has: {', '.join(sorted(found)) or 'none'}"
                )
            _digests[place] = found.get(self.model) or found[name]
        return _digests[place]


def _message(message: Message) -> dict[str, object]:
    plain: dict[str, object] = {"role": message.role, "content": message.content}
    if message.images:
        plain["images"] = [base64.b64encode(image).decode("ascii") for image in message.images]
    return plain


def _read(reply: dict[str, Any]) -> Completion:
    content = reply["message"].get("content") or ""
    if not isinstance(content, str):
        raise TypeError("the content is not text")
    read, written = reply.get("prompt_eval_count"), reply.get("eval_count")
    reasoning = reply["message"].get("thinking")
    reason, model = reply.get("done_reason"), reply.get("model")
    return completion(content, reason, read, written, reasoning, model)
