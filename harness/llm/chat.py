"""What is asked of a chat model, and what comes back."""

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.errors import EndpointError
from harness.llm.calls import Calls
from harness.llm.keys import call_key
from harness.llm.tokens import IMAGE_TOKENS, MESSAGE_TOKENS, estimate_tokens, fewest_tokens


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: str
    """system | user | assistant"""
    content: str
    images: tuple[bytes, ...] = ()
    """PNG, JPEG, GIF or WebP files."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a chat model. Equal requests to one model are asked once."""

    messages: tuple[Message, ...]
    schema: dict[str, object] | None = None
    """JSON schema of the reply; enforced where the endpoint can, so the prompt says it too."""
    max_tokens: int | None = None
    """Room for the reply; None leaves it to the model's configuration."""
    sample: int = 0
    """Tells apart requests that are alike and shall be answered independently."""
    least_temperature: float = 0.0
    """A model that is set colder is asked at this: at 0 samples of one prompt would be the same."""

    @property
    def tokens(self) -> int:
        """Tokens of the prompt, estimated rather too high than too low."""
        images = sum(len(message.images) for message in self.messages)
        texts = sum(estimate_tokens(m.content) + MESSAGE_TOKENS for m in self.messages)
        return texts + images * IMAGE_TOKENS

    @property
    def fewest_tokens(self) -> int:
        """Tokens that no tokenizer can do without; images are not counted."""
        return sum(fewest_tokens(message.content) for message in self.messages)


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model replied."""

    text: str
    """Empty where the endpoint sent no content; `reasoning` may then hold something."""
    finish_reason: str | None
    """stop | length (cut for want of room) | content_filter | ..., as the endpoint says."""
    input_tokens: int | None
    output_tokens: int | None
    seconds: float | None
    """From sending to the last byte, of the try that succeeded; kept when remembered. None in a
    recording that is replayed: how busy that machine was, nobody knows."""
    call: str = ""
    """Key of the call in the store."""
    remembered: bool = False
    reasoning: str | None = None


def count(told: object) -> int | None:
    """Return a number of tokens as a server tells it; None for what is no such number.

    >>> count(12), count("12"), count(-1), count(2**70)
    (12, None, None, None)
    """
    return told if type(told) is int and 0 <= told < 2**63 else None


def word(told: object) -> str | None:
    """Return a text as a server tells it; None for what is no text."""
    return told if isinstance(told, str) else None


Outcome = Completion | EndpointError
OnDone = Callable[[int, Outcome], None]
"""Told, in the thread that asked, of each request as it is done: its index, its outcome."""


@dataclass
class Chat:
    """A chat model. A subclass gives `label`, `identity` and `ask`; the rest follows."""

    @property
    def label(self) -> str:
        """A short name for tables."""
        raise NotImplementedError

    @property
    def width(self) -> int:
        """How many requests may be on their way at once."""
        return 8

    def identity(self) -> dict[str, object]:
        """Return everything about model and sampling that shapes a reply, as JSON values."""
        raise NotImplementedError

    @property
    def samples_at_once(self) -> bool:
        """Whether requests that differ in their sample alone may be asked as one."""
        return False

    async def ask(self, request: Request, calls: Calls) -> Completion:
        """Ask the endpoint, whatever is remembered. Raises EndpointError."""
        raise NotImplementedError

    async def ask_samples(self, requests: Sequence[Request], calls: Calls) -> list[Completion]:
        """Answer the first of the requests, and of the others as many as one call answers.

        The requests differ in their sample alone. Summed over the completions, tokens are those
        that the call took. Raises EndpointError.
        """
        return [await self.ask(requests[0], calls)]

    def key(self, request: Request) -> str:
        """Return the key of the call: it changes with anything that may change the reply."""
        return request_key(self.identity(), request)

    def complete(self, request: Request, calls: Calls) -> Completion:
        """Answer one request, from memory where it was asked before. Raises EndpointError."""
        (outcome,) = self.complete_all([request], calls)
        if isinstance(outcome, EndpointError):
            raise outcome
        return outcome

    def complete_all(
        self, requests: Sequence[Request], calls: Calls, on_done: OnDone | None = None
    ) -> list[Outcome]:
        """Answer many requests at once; failures come back as values.

        The outcomes stand in the order of the requests. Equal requests are asked once, and
        each completion is stored the moment it arrives.
        """
        from harness.llm.dispatch import complete_all

        return complete_all(self, requests, calls, on_done)


def request_key(identity: dict[str, object], request: Request) -> str:
    """Return the SHA-256 of everything that may change the reply.

    >>> ask = Request((Message("user", "How high?"),))
    >>> request_key({"model": "a"}, ask) == request_key({"model": "b"}, ask)
    False
    """
    messages = [
        {
            "role": message.role,
            "content": message.content,
            "images": [hashlib.sha256(image).hexdigest() for image in message.images],
        }
        for message in request.messages
    ]
    content: dict[str, object] = {
        "identity": identity,
        "messages": messages,
        "schema": request.schema,
        "max_tokens": request.max_tokens,
        "sample": request.sample,
    }
    if request.least_temperature:  # left out where it is not used: keys are older than it
        content["least_temperature"] = request.least_temperature
    return call_key(content)


def data_url(image: bytes) -> str:
    """Return the image as the `data:` URL that vision endpoints read."""
    return f"data:{_media_type(image)};base64,{base64.b64encode(image).decode('ascii')}"


def _media_type(image: bytes) -> str:
    if image.startswith(b"\xff\xd8"):
        return "image/jpeg"
    if image.startswith(b"GIF8"):
        return "image/gif"
    if image[8:12] == b"WEBP":
        return "image/webp"
    return "image/png"


def payload(completion: Completion) -> dict[str, object]:
    """Return what the store keeps of a completion."""
    return {
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "input_tokens": completion.input_tokens,
        "output_tokens": completion.output_tokens,
        "seconds": completion.seconds,
        "reasoning": completion.reasoning,
    }


def remembered(key: str, kept: dict[str, object]) -> Completion:
    """Return the completion that the store kept under `key`."""
    return Completion(**kept, call=key, remembered=True)  # type: ignore[arg-type]
