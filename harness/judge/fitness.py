"""Is a judge fit for use: what its model does with questions whose answers are known."""

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from harness.errors import ContextOverflowError, EndpointError
from harness.judge.cases import Job, Kind
from harness.judge.chat_judge import ChatJudge
from harness.llm import Calls, Chat, Message, OpenAIChat, RemoteChat, Request
from harness.records import Label, Status

FOLDER = Path(__file__).parent / "labelled"
LANGUAGES = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@dataclass(frozen=True, slots=True)
class Labelled:
    """One question to a judge, with the right answer."""

    job: Job
    labels: tuple[int, ...]
    """Of the job's claims, in their order."""


def labelled(language: str) -> tuple[Labelled, ...]:
    """Return the questions in a language; the order of the labels differs from one to the next.

    >>> found = labelled("en")
    >>> len(found), [int(label) for label in found[1].labels]
    (8, [-1, 0, 1])
    """
    rows = yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    found = []
    for number, row in enumerate(rows):
        turn = number % len(Label)
        labels = [Label.ENTAILED, Label.CONTRADICTED, Label.UNKNOWN]
        labels = labels[turn:] + labels[:turn]
        claims = tuple(row[label.name.lower()] for label in labels)
        found.append(Labelled(Job(Kind.ENTAILMENT, text=row["text"], items=claims), tuple(labels)))
    return tuple(found)


SIZES = (1024, 2048, 4096, 8192, 16384, 32768)
"""Tokens of the prompts that the window is tried with."""

EXPECTED = 8192
"""Tokens that a prompt of nine passages may well take: tried where no window is configured."""

CODE_WORD = "heron-4711"

TWICE = 3
"""Questions that are asked a second time."""

HELLO = Request((Message("user", "Reply with the one word: yes"),), max_tokens=256)

USED = ("usage", "prompt_tokens", "completion_tokens", "finish_reason")
"""Fields of a reply without which the harness sees less."""

GUESSING = 1 / 3
"""Right by chance, of three labels that are equally common."""

WANTED = 0.7
"""Accuracy that a judge should surely have."""

UNREAD = 0.2
"""Share of labels that may be missing."""


class Level(IntEnum):
    """How far a judge can be used."""

    FIT = 0
    DOUBTFUL = 1
    UNFIT = 2


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was tried."""

    name: str
    level: Level
    said: str
    """What came of it."""
    advice: str = ""


def examine(judge: ChatJudge, languages: Sequence[str], calls: Calls) -> Iterator[Point]:
    """Yield what was found, one thing after another; nothing more where nobody answers."""
    answers = reachable(judge.chat, calls)
    yield answers
    if answers.level is Level.UNFIT:
        return
    if isinstance(judge.chat, OpenAIChat):
        yield protocol(judge.chat, calls)
    yield structured(judge.chat, calls)
    yield window(judge.chat, calls)
    for language in languages:
        yield from accuracy(replace(judge, language=language), calls)
    yield steady(judge, languages[0], calls)


def reachable(chat: Chat, calls: Calls) -> Point:
    """Ask for a word: is the endpoint there, and the model on it."""
    try:
        reply = chat.complete(HELLO, calls)
    except EndpointError as error:
        return Point("reachable", Level.UNFIT, f"no: {error}", "mend this first")
    took = "" if reply.seconds is None else f" in {reply.seconds:.2f} s"
    return Point("reachable", Level.FIT, f"yes, {chat.label} answered{took}")


def protocol(chat: OpenAIChat, calls: Calls) -> Point:
    """Hold a reply against the protocol: what it leaves out cannot be used."""
    name = "protocol"
    try:
        found = chat.departures(HELLO, calls)
    except EndpointError as error:
        return Point(name, Level.DOUBTFUL, f"not known: {error}")
    if not found:
        return Point(name, Level.FIT, "a reply is of the form that the openai package expects")
    wrong = "; ".join(f"{field}: {what}" for field, what in found.items())
    said = f"a reply departs from what the openai package expects: {wrong}"
    if not any(field.endswith(USED) for field in found):
        return Point(name, Level.FIT, said)
    advice = (
        "without usage no tokens are counted, so neither budget.tokens nor money holds and a cut "
        "prompt goes unseen; without finish_reason a cut reply looks whole"
    )
    return Point(name, Level.DOUBTFUL, said, advice)


def structured(chat: Chat, calls: Calls) -> Point:
    """Ask for prose under a schema: only an endpoint that enforces it sends JSON."""
    form: dict[str, object] = {
        "type": "object",
        "properties": {"verdict": {"type": "string", "enum": ["lighthouse"]}},
        "required": ["verdict"],
        "additionalProperties": False,
    }
    words = "Greet me in one short sentence of plain text. Write no JSON."
    asked = Request((Message("user", words),), form, max_tokens=256)
    name, advice = "structured output", "more replies will need a repair, and more stay NA"
    try:
        text = chat.complete(asked, calls).text
    except EndpointError as error:
        return Point(name, Level.DOUBTFUL, f"not known: {error}", advice)
    try:
        found = json.loads(text)
    except ValueError:
        said = "this endpoint does not enforce the schema: it took it and sent prose"
        return Point(name, Level.DOUBTFUL, said, advice)
    if found == {"verdict": "lighthouse"}:
        return Point(name, Level.FIT, "the schema is enforced")
    said = "this endpoint does not enforce the schema: it sends JSON, but of any form"
    return Point(name, Level.DOUBTFUL, said, advice)


def window(chat: Chat, calls: Calls) -> Point:
    """Put a word at the start of longer and longer prompts, and ask for it at their end."""
    context = chat.context if isinstance(chat, RemoteChat) else None
    most = min(context or EXPECTED, SIZES[-1])
    whole = 0
    for size in (*(size for size in SIZES if size < most), most):
        try:
            came_back = CODE_WORD in chat.complete(sentinel(size), calls).text
        except ContextOverflowError:
            came_back = False
        except EndpointError as error:
            return Point("window", Level.DOUBTFUL, f"not known beyond {whole:,} tokens: {error}")
        if not came_back:
            return _too_small(size, whole, context)
        whole = size
    beyond = f" of {context:,} configured" if context and context > whole else ""
    return Point("window", Level.FIT, f"a prompt of {whole:,} tokens{beyond} was read whole")


def _too_small(size: int, whole: int, context: int | None) -> Point:
    known = f"{whole:,} tokens were read whole" if whole else "no shorter one was tried"
    said = f"the start of a prompt of {size:,} tokens did not come back; {known}"
    advice = "give the model a wider window on the server (num_ctx under chat=ollama)"
    if context is None:
        level = Level.UNFIT if size <= EXPECTED // 2 else Level.DOUBTFUL
        if whole:
            advice += f", or set judge.chat.context={whole} so that what does not fit is NA"
        return Point("window", level, said, advice)
    return Point("window", Level.UNFIT, f"context={context:,} is configured, but {said}", advice)


def sentinel(size: int) -> Request:
    """Return a request of at most so many tokens, reply included, that asks for its first word."""
    first = f"The code word is {CODE_WORD}.\n"
    last = "Which code word stands at the very beginning? Reply with the code word alone."
    line = "This line is here to take room.\n"

    def request(lines: int) -> Request:
        return Request((Message("user", first + lines * line + last),), max_tokens=64)

    empty = request(0)
    assert empty.max_tokens is not None
    each = (request(100).tokens - empty.tokens) / 100
    return request(max(0, math.floor((size - empty.max_tokens - empty.tokens) / each)))


def accuracy(judge: ChatJudge, calls: Calls) -> Iterator[Point]:
    """Yield how often the labels are right, and how fast they came."""
    known = labelled(judge.language)
    asked, started = calls.asked, time.perf_counter()
    found = judge.answer([row.job for row in known], calls, lambda: None)
    seconds, asked = time.perf_counter() - started, calls.asked - asked
    pairs = [
        (given, label)
        for row, finding in zip(known, found, strict=True)
        for given, label in zip(finding.labels, row.labels, strict=bool(finding.labels))
    ]
    of = sum(len(row.labels) for row in known)
    right = sum(given == label for given, label in pairs)
    low, high = wilson(right, len(pairs))
    missing = of - len(pairs)
    if all(finding.error is Status.CONTEXT_OVERFLOW for finding in found):
        said = f"no label came for want of room: {found[0].note}"
        sent = any(finding.call for finding in found)
        advice = (
            "raise judge.reply_tokens, or switch the model's thinking off"
            if sent
            else "leave the judge more room: a larger judge.chat.context"
        )
        yield Point(f"accuracy ({judge.language})", Level.UNFIT, said, advice)
        return
    said = (
        f"{right} of {len(pairs)} right [{low:.2f}, {high:.2f}], guessing {GUESSING:.2f}; "
        + ", ".join(f"{label.name.lower()} {_hits(pairs, label)}" for label in Label)
        + (f"; {missing} of {of} without a label" if missing else "")
    )
    yield Point(f"accuracy ({judge.language})", *_judged(low, missing / of, said))
    pace = f"{asked} calls in {seconds:.1f} s, {asked / seconds * 60:.0f} a minute"
    yield Point(f"speed ({judge.language})", Level.FIT, pace)


def _hits(pairs: Sequence[tuple[int, int]], label: Label) -> str:
    given = [got for got, wanted in pairs if wanted == label]
    return f"{sum(got == label for got in given)}/{len(given)}"


def _judged(low: float, missing: float, said: str) -> tuple[Level, str, str]:
    if missing > UNREAD:
        return Level.UNFIT, said, "too few replies can be read: another model, or structured output"
    if low <= GUESSING:
        return Level.UNFIT, said, "it cannot be told from guessing: take a stronger model"
    if low < WANTED:
        return Level.DOUBTFUL, said, "compare it with human grades before you trust a metric of it"
    return Level.FIT, said, ""


def steady(judge: ChatJudge, language: str, calls: Calls) -> Point:
    """Ask a few questions twice."""
    asks = [replace(judge, language=language).ask(row.job) for row in labelled(language)[:TWICE]]
    rounds = [judge.chat.complete_all([ask.request for ask in asks], calls) for _ in range(2)]
    texts = [[getattr(reply, "text", None) for reply in replies] for replies in rounds]
    if all(text is None for round_ in texts for text in round_):
        return Point("same answer twice", Level.DOUBTFUL, "not known: no reply came")
    same = sum(a is not None and a == b for a, b in zip(*texts, strict=True))
    said = f"{same} of {TWICE} questions got the same reply twice"
    if same == TWICE:
        return Point("same answer twice", Level.FIT, said)
    advice = (
        "set temperature=0 and a seed; what is remembered stays, but another machine may differ"
    )
    return Point("same answer twice", Level.DOUBTFUL, said, advice)


def wilson(right: int, n: int) -> tuple[float, float]:
    """Return the ends of the 95 % Wilson interval of a share; all of [0, 1] where n is 0.

    >>> [round(end, 3) for end in wilson(24, 24)]
    [0.862, 1.0]
    """
    if not n:
        return 0.0, 1.0
    z = 1.959964
    share, widened = right / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / widened
    half = z / widened * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)
