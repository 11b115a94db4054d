"""What is sent to a chat model and comes back: its length in tokens, and its key in the cache.

A prompt that does not fit the context window is refused before it is sent, and a truncation by the
server is detected by the number of tokens that it reports.
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from harness.errors import ContextOverflowError
from harness.llm.thinking import split_thinking
from harness.text import sha256

IMAGE_TOKENS = 256
"""Allowed for an image. Models differ (85 to 1,600); this only has to catch hopeless cases."""

MESSAGE_TOKENS = 4
"""Allowed for what a chat template puts around a message."""

UNSTATED_ROOM = 512
"""Tokens kept for the reply where nothing says how long it may be."""

SMALLEST_WINDOW = 512
"""Tokens of the smallest context window of a chat model."""

COMMON_WINDOW = 1024
"""Tokens of the smallest one that is common."""

NEAR = 16
"""Tokens by which the count of a truncated prompt may differ from the window."""

FILLER = "This line is here to take room.\n"
ADDED_LINES = 20
"""Lines by which a prompt is made longer to find out whether the endpoint reads more of it."""

_PIECES = re.compile(r"[A-Za-z]+|[0-9]|\s+|[ -~]|[^\x00-\x7f]")
_CJK = re.compile(r"[⺀-鿿가-힣豈-﫿＀-￯\U00020000-\U0003ffff]")
_WORDS = re.compile(r"[A-Za-z]{2,}")


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
    generation: str = ""
    """Distinguishes requests that are sent again although their answers are cached: the model
    behind the same name may have changed."""
    least_temperature: float = 0.0
    """Lower bound of the temperature: at 0, samples of one prompt would all be the same."""

    @property
    def tokens(self) -> int:
        """Tokens of the prompt, estimated rather too high than too low."""
        images = sum(len(message.images) for message in self.messages)
        texts = sum(estimate_tokens(m.content) + MESSAGE_TOKENS for m in self.messages)
        return texts + images * IMAGE_TOKENS


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
    model: str | None = None
    """The model that replied, as the server names it."""
    cached_tokens: int | None = None
    """Tokens of the prompt that the server had in its own cache, where it reports them."""


def token_count(value: object) -> int | None:
    """Return a number of tokens as a server reports it; None for anything else.

    >>> token_count(12), token_count("12"), token_count(-1), token_count(2**70)
    (12, None, None, None)
    """
    return value if type(value) is int and 0 <= value < 2**63 else None


def completion(
    text: str, reason: object, read: object, written: object, reasoning: object, model: object
) -> Completion:
    """Return a reply as a server reports it, without what is not of the right type."""
    return Completion(
        text=text,
        finish_reason=reason if isinstance(reason, str) else None,
        input_tokens=token_count(read),
        output_tokens=token_count(written),
        seconds=0.0,
        reasoning=reasoning if isinstance(reasoning, str) else None,
        model=model if isinstance(model, str) and model else None,
    )


def call_key(content: Mapping[str, object]) -> str:
    """Return the SHA-256 of the content as canonical JSON.

    The content holds everything that may change the answer of a call.

    >>> call_key({"a": 1, "b": "x"}) == call_key({"b": "x", "a": 1})
    True
    """
    return sha256(canonical(content).encode("ascii"))


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
            "images": [sha256(image) for image in message.images],
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
    # Left out where they are not used: keys are older than they are.
    if request.least_temperature:
        content["least_temperature"] = request.least_temperature
    if request.generation:
        content["generation"] = request.generation
    return call_key(content)


def completion_payload(completion: Completion) -> dict[str, object]:
    """Return what the call store keeps of a completion."""
    payload = asdict(completion)
    del payload["call"], payload["remembered"]
    return payload


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


@lru_cache(maxsize=1024)
def estimate_tokens(text: str) -> int:
    """Return how many tokens `text` may take, estimated rather too high than too low.

    A Chinese, Japanese or Korean character counts one; a quarter of the characters, the
    usual rule of thumb, would let a prompt four times too long pass.

    >>> estimate_tokens("燈塔" * 1600)
    3200
    >>> estimate_tokens("The lighthouse is 27 metres high.")
    9
    """
    return sum(_piece_tokens(piece) for piece in _PIECES.findall(text))


@lru_cache(maxsize=1024)
def fewest_tokens(text: str) -> int:
    """Return how many tokens `text` takes at the very least.

    A token seldom spans two words, and no tokenizer in use packs Chinese tighter than two
    characters and a half a token: a model that reports less has not read all of it.

    >>> fewest_tokens("the lighthouse is high"), fewest_tokens("燈塔的高度")
    (4, 2)
    """
    return len(_WORDS.findall(text)) + int(len(_CJK.findall(text)) * 0.4)


def _piece_tokens(piece: str) -> int:
    if piece[0].isascii() and piece[0].isalpha():
        return -(-len(piece) // 6)
    if piece.isspace():
        return 1 if len(piece) > 1 else 0
    return 1 if len(piece.encode("utf-8", "surrogatepass")) < 4 else 2


def check_before(request: Request, room: int | None, context: int | None, model: str) -> None:
    """Raise ContextOverflowError where prompt and reply together exceed the window."""
    if context is None:
        return
    needed = request.tokens + (UNSTATED_ROOM if room is None else room)
    if needed > context:
        raise ContextOverflowError(
            f"{model}: the prompt takes about {request.tokens} tokens and the reply up to"
            f" {needed - request.tokens}, but the context window holds {context}"
            f" (context={context}); use fewer or shorter passages, or a wider window"
        )


def has_fewer(request: Request, reply: Completion) -> bool:
    """Return whether the endpoint counts fewer tokens than the prompt can possibly have.

    It has truncated the prompt, or a part of it was in its prompt cache and is not counted. Counts
    below any window are of the second kind.
    """
    read = (reply.input_tokens or 0) + (reply.cached_tokens or 0)
    # No text needs more than half a token a character; only below that are its words counted,
    # which would take a third of the client's time a call.
    texts = [message.content for message in request.messages]
    short = read >= SMALLEST_WINDOW - NEAR and 2 * read < sum(map(len, texts))
    return short and read < sum(map(fewest_tokens, texts))


def fills_a_window(request: Request, reply: Completion, context: int | None) -> bool:
    """Return whether the count is that of a common window, where more was to be expected.

    Windows are powers of two; some servers keep half of the configured one (`context`).
    """
    read = reply.input_tokens or 0
    power = 1 << max(0, read.bit_length() - 1)
    near = any(abs(read - window) <= NEAR for window in (power, 2 * power, (context or 0) // 2))
    return near and read >= COMMON_WINDOW - NEAR and request.tokens >= 1.1 * read


def ignores_format(reply: Completion, form: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a reply shows that the endpoint accepts a format and does not enforce it.

    An object that is not valid JSON may be a damaged one, so it shows nothing.

    >>> reply = Completion("It is entailed.", "stop", 9, 4, 0.1)
    >>> [ignores_format(reply, form, {}) for form in ("json_schema", "json_object", "prose")]
    [True, True, False]
    """
    text = split_thinking(reply.text)[1].strip()
    if form == "prose" or reply.finish_reason == "length" or not text:
        return False
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return not text.startswith("{")
    required = schema.get("required", ()) if form == "json_schema" else ()
    return not (isinstance(found, dict) and found.keys() >= set(required))


def longer(request: Request) -> Request:
    """Return the request with `ADDED_LINES` before its text, after a line that no cache holds."""
    first, *rest = request.messages
    added = f"Reference {request_key({}, request)}.\n{ADDED_LINES * FILLER}"
    return Request((replace(first, content=added + first.content), *rest), max_tokens=16)


def truncated(request: Request, reply: Completion, model: str) -> ContextOverflowError:
    """Return the error for a prompt that the endpoint did not read completely."""
    return ContextOverflowError(
        f"{model}: the endpoint read {reply.input_tokens} tokens of a prompt of about"
        f" {request.tokens}: it truncated what exceeds its context window; widen the window on"
        " the server (num_ctx under chat=ollama), or use fewer or shorter passages"
    )


def check_ended(reply: Completion, room: int | None, model: str) -> None:
    """Raise ContextOverflowError where the window ended a reply that had tokens left.

    For models whose window is not part of their identity: a reply that a wider window would let
    go on must not be cached. It also finds a window wider than the model's own, which servers
    narrow.

    Args:
        reply: The completion.
        room: Tokens that it could take; None where only the window limited it.
        model: Named in the message.
    """
    written = reply.output_tokens
    filled = room is not None and (written is None or written >= room)
    if reply.finish_reason != "length" or filled:
        return
    raise ContextOverflowError(
        f"{model}: the reply reached the end of the context window after {reply.input_tokens}"
        f" tokens of prompt and {written} of reply; limit it (max_tokens=...), use fewer or shorter"
        " passages, or a wider window (context=...) where the model has one"
    )
