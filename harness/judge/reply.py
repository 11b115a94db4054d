"""A judge's reply, read as the JSON that was requested, or refused with the reason.

Nothing is padded, dropped or guessed: a reply that is truncated, contradicts itself or is
incomplete raises `UnreadableReply`, whose message can be quoted to the model. A request for a
repair contains that message, so another wording is another call key: recorded repairs are then
not found.

Of JSON Schema the part that our checks use: `type` (object, array, string, integer, number or
boolean, or one of them and null), `properties`, `required`, `additionalProperties: false`,
`items`, `minItems`, `maxItems`, `enum`, `maxLength`, `minimum`, `maximum`. Other keywords
(`title`, `description`) have no effect here.

What is accepted as what was asked for, and nothing else:

- a key in other case or width, or with spaces round it;
- "7", " 7 ", "７" and 7.0 for 7, never true or "7/10";
- a label in other case, with other gaps (`not useful`), quoted or with a full stop, or by a
  word of the same meaning (`MEANINGS`), where the whole value is that word, one label has
  that meaning and another one has the opposite;
- keys that were not asked for: kept, or left out under `additionalProperties: false`.

What the prompt itself contains, what the model thought and what it gives as an example are not
answers. Where a reply corrects itself, the corrected whole is the answer; a correction of a part,
or in prose, makes it unreadable.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.judge.json_repair import JsonRepairer
from harness.llm.thinking import split_thinking
from harness.records import Status
from harness.text import fold, shortened

Schema = Mapping[str, Any]

MEANINGS = (
    ("yes", "true", "1", "はい", "是", "對", "对"),
    ("no", "false", "0", "いいえ", "否"),
    ("entailed", "entailment", "entails", "含意", "蘊含", "蕴含"),
    ("contradicted", "contradiction", "contradicts", "矛盾"),
    ("unknown", "neutral", "neither", "不明", "未知", "中立"),
)
"""Words of one meaning, as they are compared: NFKC, case folded. The first two are opposites, and
so are the next two, to which the last belongs."""

_MEANING = {word: number for number, words in enumerate(MEANINGS) for word in words}
_OPPOSITES = ({0, 1}, {0, 1}, {2, 3}, {2, 3}, {2, 3})
_QUOTES = " \t\r\n\"'“”‘’「」`*"
_STOPS = ".。!"
_BETWEEN = re.compile(r"[\s_-]+")
_NUMBER = re.compile(r"[+-]?\d{1,40}(\.\d{0,40})?", re.ASCII)


class UnreadableReply(ValueError):  # noqa: N818  it is the reply that is at fault, not the program
    """A reply that does not answer the question; the message can be quoted to the model."""

    def __init__(self, message: str, status: Status = Status.JUDGE_UNPARSABLE) -> None:
        super().__init__(message)
        self.status = status
        """JUDGE_INCOMPLETE where something is missing or truncated, JUDGE_ECHO where the reply is
        a part of the prompt, else JUDGE_UNPARSABLE."""


def show(value: object) -> str:
    """Return a value as JSON, cut to 80 characters and free of what UTF-8 cannot hold.

    >>> show({"verdict": "maybe"})
    '{"verdict": "maybe"}'
    """
    written = json.dumps(value, ensure_ascii=False)
    return shortened(written, 80, "…").encode("utf-8", "replace").decode("utf-8")


def fit(value: object, schema: Schema, at: str = "") -> Any:
    """Return the value in the form of the schema; raise UnreadableReply where it does not fit.

    >>> fit({"Verdict": "Yes"}, {"type": "object", "properties": {"verdict": {"enum": [0, 1]}}})
    {'verdict': 1}
    """
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if value is None and "null" in kinds:
        return None
    if "enum" in schema:
        return _choose(value, schema["enum"], at)
    if "boolean" in kinds:
        return _choose(value, (False, True), at)
    for kind, fitted in _FITS.items():
        if kind in kinds:
            return fitted(value, schema, at)
    return value


def check_ids(items: Sequence[Mapping[str, Any]], ids: Sequence[int], at: str) -> list[Any]:
    """Return the items in the order of `ids`; raise where one is missing, doubled or unknown.

    >>> check_ids([{"id": 2}, {"id": 1}], [1, 2], "verdicts")
    [{'id': 1}, {'id': 2}]
    """
    by_id = {item.get("id"): item for item in items}
    if extra := [key for key in by_id if key not in ids]:
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


def _fit_object(value: object, schema: Schema, at: str) -> dict[str, Any]:
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
    number = _number(value, schema, at)
    if number != int(number):
        raise _misfit(value, "an integer", at)
    return int(number)


_FITS: dict[str, Callable[[object, Schema, str], Any]] = {
    "object": _fit_object,
    "array": _array,
    "string": _string,
    "number": _number,
    "integer": _integer,
}


def _as_number(value: object) -> int | float | None:
    """Return the number that a value is or spells; None for a truth value."""
    if isinstance(value, str):
        spelled = fold(value).strip()
        if not _NUMBER.fullmatch(spelled):
            return None
        return float(spelled) if "." in spelled else int(spelled)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _plain(value: object) -> str:
    """Return a scalar in the form in which it is compared: width, case, and 1 for 1.0."""
    number = _as_number(value)
    if number is not None and number == int(number):
        return str(int(number))
    word = fold(str(value)).strip(_QUOTES).rstrip(_QUOTES + _STOPS)
    return _BETWEEN.sub(" ", word)


def _choose(value: object, choices: Sequence[Any], at: str) -> Any:
    """Return the only choice that the value spells, or else means."""
    for choice in choices:
        if type(choice) is type(value) and choice == value:
            return choice
    found: list[Any] = []
    if isinstance(value, str | int | float):
        word = _plain(value)
        found = [choice for choice in choices if _plain(choice) == word]
        found = found or _meant(word, choices)
    if len(found) != 1:
        raise _misfit(value, "one of " + ", ".join(show(choice) for choice in choices), at)
    return found[0]


def _meant(word: str, choices: Sequence[Any]) -> list[Any]:
    """Return the choices of the word's meaning, if they are labels of such meanings.

    Digits have a meaning only beside numbers and truth values that are all 0 or 1: as labels of
    a custom check they may be a scale.
    """
    words = all(isinstance(choice, str) for choice in choices)
    scale = any(choice not in (0, 1) for choice in choices) and not words
    if word not in _MEANING or scale or (words and word.isdigit()):
        return []
    meanings = [
        None if words and choice.isdigit() else _MEANING.get(_plain(choice)) for choice in choices
    ]
    if not _OPPOSITES[_MEANING[word]] <= set(meanings):
        return []
    return [
        choice
        for choice, meaning in zip(choices, meanings, strict=True)
        if meaning == _MEANING[word]
    ]


LONGEST = 200_000
"""Characters of a reply that is read at all; a chain of thought of 32,000 tokens has 130,000."""

DEEPEST = 32
"""Levels of brackets; a schema of ours has four."""

WORK = 50_000
"""Characters that are read one token at a time because they are not plain JSON."""

_RESTART = 50
"""The cost of each opening bracket in `WORK`, in addition to its characters."""

_BRACKET = re.compile(r"[{\[｛［]")
_GOES_ON = re.compile(r"\s*+[,，]\s*+[{\[\"'“]")
_EXAMPLE = re.compile(
    r"(?<!\bthe )\bexample\b|\b(?:for instance|hypothetical(?:ly)?)\b|\be\.g\."
    r"|\b(?:would|could|might) look like\b|\bsample (?:reply|answer|response|output)\b"
    r"|\b(?:illustrati(?:ve|on)|placeholder|template|typical|suppose|imagine|something like)\b"
    r"|\b(?:reply|answer|response|output) (?:(?:might|could) be|should have)\b"
    r"|例如|例えば|たとえば|比如|譬如|仮に|假如|假設|假设|[範范示]例|例子|^例[：:]"
    r"|例を|見本|サンプル|もし|形式は|[舉举]例|示[範范]|[樣样範范]本|像[這这][樣样]|格式(?:如下|是|[為为])"
    r"|(?:回[覆答复]|答案)(?:可能|可以)",
    re.IGNORECASE | re.MULTILINE,
)
_INTRODUCED = re.compile(
    rf"(?:{_EXAMPLE.pattern}"
    r"|\b(?:cannot|can't|can not|(?:un|not )able to)\b.*\b(?:would|could|might|may) (?:be|read)\b)"
    r"[^.!?。！？\n]*\Z",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_NEAR = 400
"""Characters before a value in which it may be introduced as an example."""

_FENCE = re.compile(r"(?:\s|`{3,}\w*|[:：\"'`])*\Z")
_CALLED_EXAMPLE = re.compile(
    r"[\s`\"')]*\(?(?:(?:this|that|which|it|the above) )?(?:is|was|would be) (?:[\w-]+ ){0,4}"
    r"(?:example|illustration|placeholder|sample|template)\b"
    r"|[\s`」』]*(?:これは|上記は|以上は|という|は|這是|这是|以上|只是|僅為|仅为|是)[^。\n]{0,12}"
    r"(?:例(?!外)|見本|サンプル|示[範范]|[樣样範范]本)",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\b(?:correction|correct(?:ed|ing| myself)|errat(?:um|a)"
    r"|(?:up)?on (?:second thoughts?|reflection|(?:(?:closer|further) )?(?:review|inspection))"
    r"|(?:scratch|strike) that|redo (?:this|that|my)|revise my"
    r"|(?:verdict|label) is (?:incorrect|wrong)|my (?:mistake|bad|error)"
    r"|(?:edit|update|revised|amended)(?: \w+)?(?= ?:)"
    r"|i (?:was wrong|made (?:a mistake|an error)|retract|take (?:that|it) back)"
    r"|(?:ignore|disregard) (?:the|that|my|this)|should (?:have been|read)"
    r"|(?:claim|id|item|passage|verdict|label|answer) ?\d* should be)\b"
    r"|(?:^|[.!?\n}])\s*(?:(?:no,? wait|wait|actually|sorry(?! for)|oops|hmm+)\b|no[,.!])"
    r"|更正|訂正|订正|修正|改正|[說说写寫][錯错]|我[錯错]了|[應应][為为改]"
    r"|抱歉|不[對对](?:[，,。]|\Z)|[對对]不起|等等|收回|重新(?:[檢检]查|考[慮虑]|判[斷断])|失礼|見直し|いや、|間違[えい]|取り消|撤回|正しくは|申し訳|すみません",
    re.IGNORECASE,
)
SHORTEST = 5
"""Letters of a label that is sought in prose: shorter ones, such as no, are common words."""

_ITEM = (
    r"\b(?:claim|id|item|passage|verdict|label|first|second|third|last|one|both|all|it)\b"
    r"|\b[0-9]+\b|第"
)
"""Words that name one of the items asked about."""

REPEATED = "the reply repeats the prompt; expected an answer about the last object"

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_reply(
    text: str,
    schema: Schema,
    ids: Sequence[int] | None = None,
    printed: Callable[[object], bool] = lambda _: False,
) -> Any:
    """Return the value in a model's reply, in the form of the schema.

    Args:
        text: All that the model wrote: think block, prose and fences included.
        schema: JSON Schema, as far as this module supports it.
        ids: The `id`s asked about. The list whose items have an `id` in the schema must have
            exactly these, and is returned in this order.
        printed: Whether a value is part of the prompt: repeating it is no answer.

    Raises:
        UnreadableReply: Nothing fits, values that differ fit, or something is missing.

    >>> schema = {"type": "object", "properties": {"verdict": {"enum": [0, 1]}}}
    >>> read_reply('<think>{"verdict": 0}?</think>Sure: {"Verdict": "1"}', schema)
    {'verdict': 1}
    """
    if len(text) > LONGEST:
        raise UnreadableReply(f"the reply has {len(text)} characters; expected at most {LONGEST}")
    thinking, text = split_thinking(_unquoted(text))
    if thinking and not text:
        message = "the reply ends inside its think block; expected JSON after it"
        raise UnreadableReply(message, Status.JUDGE_INCOMPLETE)
    properties = schema.get("properties", {})
    fits: list[_Fit] = []
    problems: list[tuple[int, UnreadableReply]] = []
    end = 0
    partial = False
    for found in _find(text):
        lead, end = text[end : found.start], found.end
        value = _whole(found.value, properties)
        try:
            if printed(value):
                raise UnreadableReply(REPEATED, Status.JUDGE_ECHO)
            fitted = _fit(value, properties, schema, ids)
            if _INTRODUCED.search(_FENCE.sub("", lead[-_NEAR:])) or _CALLED_EXAMPLE.match(
                text, end
            ):
                raise UnreadableReply("the reply gives an example; expected an answer")
        except UnreadableReply as problem:
            if found.cut:
                problem.status = Status.JUDGE_INCOMPLETE
            problems.append((found.end - found.start, problem))
            partial = _is_part(value, properties) or bool(_CORRECTION.search(lead))
        else:
            fits.append(_Fit(fitted, lead))
            partial = False
    if not fits:
        raise max(problems, key=lambda problem: problem[0])[1]
    answer = _agreed(fits)
    if partial or _CORRECTION.search(text[end:]) or _relabels(text[end:], answer, properties):
        raise UnreadableReply("the reply corrects a part of itself; expected one whole answer")
    return answer


@dataclass(frozen=True, slots=True)
class _Fit:
    """A value that fits the schema."""

    value: Any
    lead: str
    """The text before it, up to the value before."""


def _agreed(fits: Sequence[_Fit]) -> Any:
    """Return the value on which all agree, or to which the others are corrected."""
    if any(fit.value != fits[0].value for fit in fits):
        fits = [fit for fit in fits if not _EXAMPLE.search(fit.lead)]
    value = fits[0].value if fits else None
    for one in fits:
        if one.value != value and not _CORRECTION.search(one.lead):
            value = None
            break
        value = one.value
    if value is None:
        raise UnreadableReply("the reply holds several answers that differ; expected one")
    return value


def _relabels(text: str, answer: Any, properties: Mapping[str, Any]) -> bool:
    """Return whether a text gives an item a label that the answer gives to none."""
    given = json.dumps(answer, ensure_ascii=False) if text.strip() else ""
    labels = [label for part in _asked(properties).values() for label in part.get("enum", ())]
    return bool(given) and any(
        re.search(rf"(?:{_ITEM})[^.。\n]{{0,40}}?\b{re.escape(label)}\b", text, re.IGNORECASE)
        for label in labels
        if isinstance(label, str) and len(label) >= SHORTEST and f'"{label}"' not in given
    )


def _is_part(value: Any, properties: Mapping[str, Any]) -> bool:
    """Return whether an object has a key of those asked for, or of their items."""
    asked = set(map(_plain, _asked(properties)))
    return isinstance(value, dict) and any(_plain(key) in asked for key in value)


def _asked(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schemas of the keys asked for, and of those of the items in their lists."""
    items = [part.get("items", {}).get("properties", {}) for part in properties.values()]
    return {key: part for keys in (properties, *items) for key, part in keys.items()}


def _whole(value: Any, properties: Mapping[str, Any]) -> Any:
    """Return the value; a bare list is accepted for an object with one list."""
    if isinstance(value, list) and len(properties) == 1:
        return dict.fromkeys(properties, value)
    return value


def _fit(
    value: Any, properties: Mapping[str, Any], schema: Schema, ids: Sequence[int] | None
) -> Any:
    """Check a value against the schema and the ids."""
    fitted = fit(value, schema)
    if ids is None:
        return fitted
    items = {key: part.get("items", {}).get("properties", ()) for key, part in properties.items()}
    key = next(key for key, parts in items.items() if "id" in parts)
    return {**fitted, key: check_ids(fitted.get(key, []), ids, key)}


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What was read from an opening bracket of the text."""

    start: int
    end: int
    value: Any
    """None where it could not be read."""
    problem: UnreadableReply | None
    """Set where it is broken JSON; without a value and a problem it is prose."""
    cut: bool
    """Whether the text ended before the last bracket was closed."""
    work: int
    """Characters that were read one token at a time."""


def _find(text: str) -> list[_Attempt]:
    """Return the JSON values in a text, at least one."""
    found: list[_Attempt] = []
    pos, work = 0, WORK
    while bracket := _BRACKET.search(text, pos):
        pos = bracket.end()
        attempt = _read(text, bracket.start())
        work -= _RESTART + attempt.work
        if work < 0:
            raise UnreadableReply("the reply has too many brackets that open no JSON")
        if attempt.problem:
            raise attempt.problem
        if attempt.value is not None:
            pos = attempt.end
            found += [attempt] if _may_answer(attempt.value) else []
    if not found:
        said = f"it begins {show(text.strip()[:60])}" if text.strip() else "it is empty"
        raise UnreadableReply(f"the reply holds no JSON object: {said}")
    return found


def _may_answer(value: Any) -> bool:
    """Return whether a value is more than a citation in prose, such as [1] and [2, 3]."""
    items = value if isinstance(value, list) else ()
    return isinstance(value, dict) or any(isinstance(item, dict | str) for item in items)


def _read(text: str, start: int) -> _Attempt:
    """Read the value that opens at `start`: unchanged if it is JSON, else repaired."""
    repairer = JsonRepairer(text, start)
    value, end, problem = None, start, None
    try:
        value, end = _decode(text, start) or _decode_repaired(repairer) or (None, start)
        if _may_answer(value) and _GOES_ON.match(text, end):
            raise UnreadableReply(f"the JSON goes on with {show(text[end : end + 40])}")
    except UnreadableReply as found:
        value, problem = None, found
    return _Attempt(start, end, value, problem, repairer.cut, repairer.pos - start)


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


def _decode_repaired(repairer: JsonRepairer) -> tuple[Any, int] | None:
    """Return the value that the repairer reads and its end; None where that is prose."""
    repaired = repairer.run()
    decoded = _decode(repaired, 0) if repaired else None
    if decoded:
        return decoded[0], repairer.pos
    if repairer.cut:
        message = f"the reply is cut, it ends with {show(repairer.text[-40:])}"
        raise UnreadableReply(message, Status.JUDGE_INCOMPLETE)
    if repaired or repairer.keyed:
        near = show(repairer.text[repairer.pos : repairer.pos + 40])
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
