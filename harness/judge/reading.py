"""What a judge wrote, read as the JSON it was asked for, or refused with the reason.

Nothing is padded, dropped or guessed: a reply that is cut, contradicts itself or leaves
something out raises `UnreadableReply`, whose message can be quoted to the model.
"""

import json
import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.judge.fitting import Schema, UnreadableReply, check_ids, fit, show
from harness.judge.mending import Mender
from harness.records import Status

__all__ = ["UnreadableReply", "check_ids", "read_reply"]

LONGEST = 200_000
"""Characters of a reply that is read at all; a chain of thought of 32,000 tokens has 130,000."""

DEEPEST = 32
"""Levels of brackets; a schema of ours has four."""

WORK = 50_000
"""Characters read one token at a time, because they are no plain JSON."""

_RESTART = 50
"""What each bracket to start from costs of `WORK`, beside the characters."""

_THOUGHTS = "(?:think|thinking|thought|reasoning)"
_MARK = re.compile(rf"[{{\[｛［]|<(/?){_THOUGHTS}>", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf"</{_THOUGHTS}>", re.IGNORECASE)
_GOES_ON = re.compile(r"\s*+[,，]\s*+[{\[\"'“]")
_EXAMPLE = re.compile(r"\bexample\b|\be\.g\.|例如|例えば|[範范示]例|例子|^例[：:]", re.I | re.M)
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_reply(text: str, schema: Schema, ids: Sequence[int] | None = None) -> Any:
    """Return the value in a model's reply, as the schema wants it.

    Args:
        text: All that the model wrote: think block, prose and fences included.
        schema: See `harness.judge.fitting`.
        ids: The `id`s asked about. The list whose items have an `id` by the schema must bring
            exactly these, and comes back in this order.

    Raises:
        UnreadableReply: Nothing fits, values that differ fit, or something is missing.

    >>> schema = {"type": "object", "properties": {"verdict": {"enum": [0, 1]}}}
    >>> read_reply('<think>{"verdict": 0}?</think>Sure: {"Verdict": "1"}', schema)
    {'verdict': 1}
    """
    if len(text) > LONGEST:
        raise UnreadableReply(f"the reply has {len(text)} characters; expected at most {LONGEST}")
    text = _unquoted(text)
    fits: list[Any] = []
    examples: list[bool] = []
    misfits: list[tuple[int, UnreadableReply]] = []
    before = 0
    for found in _find(text):
        try:
            fits.append(_fit(found.value, schema, ids))
            examples.append(_EXAMPLE.search(text[before : found.start]) is not None)
        except UnreadableReply as problem:
            if found.cut:
                problem.status = Status.JUDGE_INCOMPLETE
            misfits.append((found.end - found.start, problem))
        before = found.end
    if not fits:
        raise max(misfits, key=lambda misfit: misfit[0])[1]
    if any(value != fits[0] for value in fits):
        fits = [value for value, example in zip(fits, examples, strict=True) if not example]
    if not fits or any(value != fits[0] for value in fits):
        raise UnreadableReply("the reply holds several answers that differ; expected one")
    return fits[0]


def _fit(value: Any, schema: Schema, ids: Sequence[int] | None) -> Any:
    """Hold a value against the schema; a bare list may stand for an object of that one list."""
    properties = schema.get("properties", {})
    if isinstance(value, list) and len(properties) == 1:
        value = dict.fromkeys(properties, value)
    fitted = fit(value, schema)
    if ids is None:
        return fitted
    key = next(key for key, part in properties.items() if "id" in _item_keys(part))
    return {**fitted, key: check_ids(fitted.get(key, []), ids, key)}


def _item_keys(part: Schema) -> Collection[str]:
    keys: Collection[str] = part.get("items", {}).get("properties", ())
    return keys


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What stands behind an opening bracket of the text."""

    start: int
    end: int
    value: Any
    """None where it could not be read."""
    problem: UnreadableReply | None
    """Set where it was meant as JSON but cannot be read; else, without a value, it is prose."""
    cut: bool
    """Whether the text ended before the last bracket was closed."""
    work: int
    """Characters that were read one token at a time."""


def _find(text: str) -> list[_Attempt]:
    """Return the JSON values outside of think blocks, at least one.

    What stands before a `</think>` that was not opened is thought too: some chat templates
    open the block in the prompt.
    """
    found: list[_Attempt] = []
    pos, work = 0, WORK
    while mark := _MARK.search(text, pos):
        pos = mark.end()
        if mark[1]:
            found = []
        elif mark[0][0] == "<":
            message = "the reply ends inside its think block; expected JSON after it"
            unended = UnreadableReply(message, Status.JUDGE_INCOMPLETE)
            pos = _thought_end(text, pos, unended).end()
        else:
            attempt = _read(text, mark.start())
            work -= _RESTART + attempt.work
            if work < 0:
                raise UnreadableReply("the reply has too many brackets that open no JSON")
            if attempt.problem:
                pos = _thought_end(text, pos, attempt.problem).start()
            elif attempt.value is not None:
                pos = attempt.end
                found += [attempt] if _may_answer(attempt.value) else []
    if not found:
        said = f"it begins {show(text.strip()[:60])}" if text.strip() else "it is empty"
        raise UnreadableReply(f"the reply holds no JSON object: {said}")
    return found


def _thought_end(text: str, pos: int, problem: UnreadableReply) -> re.Match[str]:
    """Return the next `</think>`; raise the problem where none follows that would excuse it."""
    end = _THOUGHT_ENDS.search(text, pos)
    if end is None:
        raise problem
    return end


def _may_answer(value: Any) -> bool:
    """Whether a value is more than a citation in prose, as [1] and [2, 3] are."""
    items = value if isinstance(value, list) else ()
    return isinstance(value, dict) or any(isinstance(item, dict | str) for item in items)


def _read(text: str, start: int) -> _Attempt:
    """Read the value that opens at `start`: as it stands if that is JSON, else mended."""
    mender = Mender(text, start)
    value, end, problem = None, start, None
    try:
        value, end = _decode(text, start) or _decode_mended(mender) or (None, start)
        if _may_answer(value) and _GOES_ON.match(text, end):
            raise UnreadableReply(f"the JSON goes on with {show(text[end : end + 40])}")
    except UnreadableReply as found:
        value, problem = None, found
    return _Attempt(start, end, value, problem, mender.cut, mender.pos - start)


def _decode(text: str, start: int) -> tuple[Any, int] | None:
    """Return the JSON value at `start` and its end; None where there is none."""
    try:
        value, end = _JSON.raw_decode(text, start)
    except RecursionError:
        raise _too_deep() from None
    except UnreadableReply:
        raise
    except ValueError:
        return None
    level = [value]
    for _ in range(DEEPEST):
        if any(isinstance(entry, str) and _SURROGATE.search(entry) for entry in level):
            raise UnreadableReply("the reply holds half a surrogate pair, which is no character")
        level = [inner for entry in level for inner in _inside(entry)]
        if not level:
            return value, end
    raise _too_deep()


def _decode_mended(mender: Mender) -> tuple[Any, int] | None:
    """Return the value that the mender reads and its end; None where that is prose."""
    mended = mender.run()
    decoded = _decode(mended, 0) if mended else None
    if decoded:
        return decoded[0], mender.pos
    if mender.cut:
        message = f"the reply is cut, it ends with {show(mender.text[-40:])}"
        raise UnreadableReply(message, Status.JUDGE_INCOMPLETE)
    if mended or mender.keyed:
        near = show(mender.text[mender.pos : mender.pos + 40])
        raise UnreadableReply(f"the reply cannot be read as JSON from {near} on")
    return None


def _inside(entry: Any) -> Iterable[Any]:
    if isinstance(entry, dict):
        return (*entry, *entry.values())
    return entry if isinstance(entry, list) else ()


def _too_deep() -> UnreadableReply:
    return UnreadableReply(f"the reply nests more than {DEEPEST} levels of brackets")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as a dict; a key may come twice only with the same value."""
    entries = dict(pairs)
    for key, value in pairs if len(entries) < len(pairs) else ():
        if value != entries[key]:
            both = f"{show(value)} and {show(entries[key])}"
            raise UnreadableReply(f"the key {show(key)} is there twice, with {both}")
    return entries


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise UnreadableReply(f"{written[:40]} is no number that can be counted with")
    return number


_JSON = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_finite, parse_constant=_finite, strict=False
)


def _unquoted(text: str) -> str:
    """Return the text that a reply quotes as a whole, if it is JSON inside a JSON string."""
    stripped = text.strip()
    if stripped.startswith('"'):
        try:
            inner = json.loads(stripped, strict=False)
        except ValueError:
            return text
        return str(inner)
    return text
