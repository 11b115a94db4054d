"""What is sent to a chat model, what comes back, and the key under which it is cached."""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

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
    """One question to a chat model. Equal requests to one model are sent once."""

    messages: tuple[Message, ...]
    schema: dict[str, object] | None = None
    """JSON schema of the reply; enforced where the endpoint can, so the prompt states it too."""
    max_tokens: int | None = None
    """Maximum length of the reply; None leaves it to the model's configuration."""
    sample: int = 0
    """Distinguishes requests that are otherwise equal and must be answered independently."""
    least_temperature: float = 0.0
    """Lower bound of the temperature: at 0, samples of one prompt would all be the same."""

    @property
    def tokens(self) -> int:
        """Tokens of the prompt, estimated rather too high than too low."""
        images = sum(len(message.images) for message in self.messages)
        texts = sum(estimate_tokens(m.content) + MESSAGE_TOKENS for m in self.messages)
        return texts + images * IMAGE_TOKENS

    @property
    def fewest_tokens(self) -> int:
        """Tokens that every tokenizer needs at least; images are not counted."""
        return sum(fewest_tokens(message.content) for message in self.messages)


@dataclass(frozen=True, slots=True)
class Completion:
    """The model's reply."""

    text: str
    """Empty where the endpoint sent no content; `reasoning` may then hold something."""
    finish_reason: str | None
    """stop | length (truncated at the token limit) | content_filter | ..., as the endpoint says."""
    input_tokens: int | None
    output_tokens: int | None
    seconds: float | None
    """From sending to the last byte, of the attempt that succeeded; kept when cached. None in a
    replayed recording: the load of that machine is not known."""
    call: str = ""
    """Key of the call in the call store."""
    remembered: bool = False
    """Whether it came from the cache."""
    reasoning: str | None = None


def token_count(value: object) -> int | None:
    """Return a number of tokens as a server reports it; None for anything else.

    >>> token_count(12), token_count("12"), token_count(-1), token_count(2**70)
    (12, None, None, None)
    """
    return value if type(value) is int and 0 <= value < 2**63 else None


def text_or_none(value: object) -> str | None:
    """Return a text as a server reports it; None for anything else."""
    return value if isinstance(value, str) else None


def call_key(content: Mapping[str, object]) -> str:
    """Return the SHA-256 of the content as canonical JSON.

    The content holds everything that may change the answer of a call.

    >>> call_key({"a": 1, "b": "x"}) == call_key({"b": "x", "a": 1})
    True
    """
    return hashlib.sha256(canonical(content).encode("ascii")).hexdigest()


def canonical(content: object) -> str:
    """Return the one JSON spelling of a value: keys sorted, no spaces, ASCII, no NaN."""
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


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


def completion_payload(completion: Completion) -> dict[str, object]:
    """Return what the call store keeps of a completion."""
    return {
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "input_tokens": completion.input_tokens,
        "output_tokens": completion.output_tokens,
        "seconds": completion.seconds,
        "reasoning": completion.reasoning,
    }


def cached_completion(key: str, payload: dict[str, object]) -> Completion:
    """Return the completion that the call store keeps under `key`."""
    return Completion(**payload, call=key, remembered=True)  # type: ignore[arg-type]


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
