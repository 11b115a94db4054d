"""A JSON value held against a schema: what fits it without doubt, or what does not.

Of JSON Schema the part that our checks use: `type` (one or a list of object, array, string,
integer, number, boolean, null), `properties`, `required`, `additionalProperties: false`,
`items`, `minItems`, `maxItems`, `enum`, `maxLength`, `minimum`, `maximum`. Other keywords
(`title`, `description`) say nothing here.

What is taken for what was asked, and nothing else:

- a key in other case or width, or with spaces round it;
- "7", " 7 ", "７" and 7.0 for 7, never true or "7/10";
- a label in other case, with other gaps (`not useful`), quoted or with a full stop, or by a
  word of the same meaning (`MEANINGS`), where the whole value is that word and one label has
  that meaning;
- keys that were not asked for: kept, or left out under `additionalProperties: false`.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.records import Status

Schema = Mapping[str, Any]

MEANINGS = (
    ("yes", "true", "1", "はい", "是", "對", "对"),
    ("no", "false", "0", "いいえ", "否"),
    ("entailed", "entailment", "entails", "含意", "蘊含", "蕴含"),
    ("contradicted", "contradiction", "contradicts", "矛盾"),
    ("unknown", "neutral", "neither", "不明", "未知", "中立"),
)
"""Words of one meaning, as they are compared: NFKC, case folded."""

_MEANING = {word: number for number, words in enumerate(MEANINGS) for word in words}
_DECORATION = " \t\r\n\"'“”‘’「」`*.。!"
_BETWEEN = re.compile(r"[\s_-]+")
_NUMBER = re.compile(r"[+-]?\d{1,40}(\.\d{0,40})?", re.ASCII)


class UnreadableReply(ValueError):  # noqa: N818  it is the reply that is at fault, not the program
    """A reply that does not say what was asked; the message can be quoted to the model."""

    def __init__(self, message: str, status: Status = Status.JUDGE_UNPARSABLE) -> None:
        super().__init__(message)
        self.status = status
        """JUDGE_INCOMPLETE where something is missing or cut, else JUDGE_UNPARSABLE."""


def show(value: object) -> str:
    """Return a value as JSON, cut to 80 characters and free of what UTF-8 cannot hold.

    >>> show({"verdict": "maybe"})
    '{"verdict": "maybe"}'
    """
    written = json.dumps(value, ensure_ascii=False)
    shortened = written if len(written) <= 80 else written[:79] + "…"
    return shortened.encode("utf-8", "replace").decode("utf-8")


def fit(value: object, schema: Schema, at: str = "") -> Any:
    """Return the value as the schema wants it; raise UnreadableReply where it is something else.

    >>> fit({"Verdict": "Yes"}, {"type": "object", "properties": {"verdict": {"enum": [0, 1]}}})
    {'verdict': 1}
    """
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if value is None and "null" in kinds:
        return None
    if "enum" in schema:
        return _choose(value, schema["enum"], at)
    problem: UnreadableReply | None = None
    for kind in kinds:
        try:
            return _FITS[kind](value, schema, at)
        except UnreadableReply as found:
            problem = problem or found
    if problem:
        raise problem
    return value


def check_ids(items: Sequence[Mapping[str, Any]], ids: Sequence[int], at: str) -> list[Any]:
    """Return the items in the order of `ids`; raise where one is missing, doubled or not asked.

    >>> check_ids([{"id": 2}, {"id": 1}], [1, 2], "verdicts")
    [{'id': 1}, {'id': 2}]
    """
    by_id = {item.get("id"): item for item in items}
    asked = set(ids)
    if extra := [key for key in by_id if key not in asked]:
        raise UnreadableReply(f"{_name(at)} has the ids {show(extra)}, which were not asked for")
    counts = Counter(item.get("id") for item in items)
    if twice := [key for key, count in counts.items() if count > 1]:
        raise UnreadableReply(f"{_name(at)} has the ids {show(twice)} more than once")
    if missing := [key for key in ids if key not in by_id]:
        had = f"{len(by_id)} of {len(ids)} items"
        message = f"{_name(at)} has {had}: the ids {show(missing)} are missing"
        raise UnreadableReply(message, Status.JUDGE_INCOMPLETE)
    return [by_id[key] for key in ids]


def _misfit(value: object, expected: str, at: str) -> UnreadableReply:
    return UnreadableReply(f"{_name(at)} is {show(value)}; expected {expected}")


def _name(at: str) -> str:
    return f"`{at}`" if at else "the reply"


def _object(value: object, schema: Schema, at: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _misfit(value, "an object", at)
    properties = schema.get("properties", {})
    given = _with_asked_keys(value, properties, at)
    if missing := [key for key in schema.get("required", ()) if key not in given]:
        keys = ", ".join(f"`{key}`" for key in missing)
        raise UnreadableReply(f"{_name(at)} is {show(value)}; the key {keys} is missing")
    inside = f"{at}." if at else ""
    return {
        key: fit(entry, properties[key], inside + key) if key in properties else entry
        for key, entry in given.items()
        if key in properties or schema.get("additionalProperties", True)
    }


def _with_asked_keys(
    value: Mapping[str, Any], properties: Mapping[str, Any], at: str
) -> dict[str, Any]:
    asked = {_plain(key): key for key in properties}
    given: dict[str, Any] = {}
    for written, entry in value.items():
        key = written if written in properties else asked.get(_plain(written), written)
        if key in given and given[key] != entry:
            both = f"{show(given[key])} and {show(entry)}"
            raise UnreadableReply(f"{_name(at)} has the key `{key}` twice, with {both}")
        given[key] = entry
    return given


def _array(value: object, schema: Schema, at: str) -> list[Any]:
    if not isinstance(value, list):
        raise _misfit(value, "a list", at)
    fewest, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if len(value) < fewest:
        message = f"{_name(at)} has {len(value)} items; expected at least {fewest}"
        raise UnreadableReply(message, Status.JUDGE_INCOMPLETE)
    if len(value) > most:
        raise UnreadableReply(f"{_name(at)} has {len(value)} items; expected at most {most}")
    items = schema.get("items", {})
    return [fit(item, items, f"{at}[{number}]") for number, item in enumerate(value)]


def _string(value: object, schema: Schema, at: str) -> str:
    if not isinstance(value, str):
        raise _misfit(value, "a string", at)
    longest = schema.get("maxLength", len(value))
    if len(value) > longest:
        message = f"{_name(at)} has {len(value)} characters; expected at most {longest}"
        raise UnreadableReply(message)
    return value


def _number(value: object, schema: Schema, at: str) -> int | float:
    number = _as_number(value)
    if number is None:
        raise _misfit(value, "a number", at)
    low, high = schema.get("minimum", number), schema.get("maximum", number)
    if not low <= number <= high:
        raise _misfit(value, f"a number from {low} to {high}", at)
    return number


def _integer(value: object, schema: Schema, at: str) -> int:
    if (schema.get("minimum"), schema.get("maximum")) == (0, 1):
        return int(_choose(value, (0, 1), at))
    number = _number(value, schema, at)
    if number != int(number):
        raise _misfit(value, "an integer", at)
    return int(number)


def _boolean(value: object, _schema: Schema, at: str) -> bool:
    return bool(_choose(value, (False, True), at))


def _null(value: object, _schema: Schema, at: str) -> None:
    raise _misfit(value, "null", at)


_FITS: dict[str, Callable[[object, Schema, str], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "null": _null,
}


def _as_number(value: object) -> int | float | None:
    """Return the number that a value is or spells; a truth value is none."""
    if isinstance(value, str):
        spelled = unicodedata.normalize("NFKC", value).strip()
        if not _NUMBER.fullmatch(spelled):
            return None
        return float(spelled) if "." in spelled else int(spelled)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _plain(value: object) -> str:
    """Return a scalar as it is compared: one width, one case, nothing round it, 1 for 1.0."""
    number = _as_number(value)
    if number is not None and number == int(number):
        return str(int(number))
    word = unicodedata.normalize("NFKC", str(value)).casefold().strip(_DECORATION)
    return _BETWEEN.sub(" ", word)


def _choose(value: object, choices: Sequence[Any], at: str) -> Any:
    """Return the one choice that the value spells, or else means."""
    for choice in choices:
        if type(choice) is type(value) and choice == value:
            return choice
    found: list[Any] = []
    if isinstance(value, str | int | float):
        word = _plain(value)
        found = [choice for choice in choices if _plain(choice) == word]
        scale = any(isinstance(choice, int | float) and choice not in (0, 1) for choice in choices)
        if not found and word in _MEANING and not scale:
            meant = _MEANING[word]
            found = [choice for choice in choices if _MEANING.get(_plain(choice)) == meant]
    if len(found) != 1:
        raise _misfit(value, "one of " + ", ".join(show(choice) for choice in choices), at)
    return found[0]
