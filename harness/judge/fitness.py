"""Is a judge fit for use: how its model answers questions whose answers are known."""

import json
import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from harness.analysis.statistics.intervals import wilson_interval
from harness.errors import ContextOverflowError, EndpointError
from harness.judge.chat_judge import ChatJudge
from harness.judge.checks import CheckKind
from harness.judge.contract import Job
from harness.judge.prompt import language
from harness.llm import Calls, Chat, Message, OpenAIChat, RemoteChat, Request
from harness.llm.messages import FILLER
from harness.records import Label, Status

FOLDER = Path(__file__).parent / "labelled"
"""Questions with known answers: a file for each language, which a language may lack."""


def labelled(language: str) -> list[tuple[Job, list[Label]]]:
    """Return the questions in a language, each with the right labels of its claims.

    The order of the labels varies.

    >>> found = labelled("en")
    >>> len(found), [int(label) for label in found[1][1]]
    (8, [-1, 0, 1])
    """
    rows = yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    found = []
    for number, row in enumerate(rows):
        turn = number % len(Label)
        labels = [Label.ENTAILED, Label.CONTRADICTED, Label.UNKNOWN]
        labels = labels[turn:] + labels[:turn]
        claims = tuple(row[label.name.lower()] for label in labels)
        found.append((Job(CheckKind.ENTAILMENT, text=row["text"], items=claims), labels))
    return found


def labelled_languages() -> tuple[str, ...]:
    """Return the languages that have questions with known answers."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


SIZES = (1024, 2048, 4096, 8192, 16384, 32768)
"""Tokens of the prompts by which the context window is tested."""

EXPECTED = 8192
"""Tokens that a prompt of nine passages may need: tested where no window is configured."""

CODE_WORD = "heron-4711"

ASKED_TWICE = 3
"""Number of questions that are asked a second time."""

HELLO = Request((Message("user", "Reply with the one word: yes"),), max_tokens=256)

USED = ("usage", "prompt_tokens", "completion_tokens", "finish_reason")
"""Fields of a reply that the harness uses."""

GUESSING = 1 / 3
"""The accuracy of guessing, with three equally common labels."""

GOOD = 0.7
"""Accuracy that a judge should have beyond doubt."""

MOST_MISSING = 0.2
"""Largest share of labels that may be missing."""


class Level(IntEnum):
    """How far a judge can be used."""

    FIT = 0
    DOUBTFUL = 1
    UNFIT = 2


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one test of the judge."""

    name: str
    level: Level
    result: str
    advice: str = ""


def examine(judge: ChatJudge, calls: Calls) -> Iterator[Diagnosis]:
    """Yield one diagnosis after another; only the first where the endpoint does not answer.

    Accuracy is measured in the judge's language, or in all others where it has no questions
    with known answers.
    """
    answers = reachable(judge.chat, calls)
    yield answers
    if answers.level is Level.UNFIT:
        return
    if isinstance(judge.chat, OpenAIChat):
        yield protocol(judge.chat, calls)
    yield structured(judge.chat, calls)
    yield window(judge.chat, calls)
    code, known = language(judge.language), labelled_languages()
    measured = (code,) if code in known else known
    if code not in known:
        yield Diagnosis(
            f"accuracy ({code})",
            Level.DOUBTFUL,
            f"not measured: there are no questions with known answers in this language, "
            f"only in {', '.join(known)}",
            f"write harness/judge/labelled/{code}.yaml, or compare the judge with human grades",
        )
    for one in measured:
        yield from accuracy(replace(judge, language=one), calls)
    yield steady(replace(judge, language=measured[0]), calls)


def reachable(chat: Chat, calls: Calls) -> Diagnosis:
    """Ask for one word: does the endpoint answer, and does it have the model?"""
    try:
        reply = chat.complete(HELLO, calls)
    except EndpointError as error:
        return Diagnosis("reachable", Level.UNFIT, f"no: {error}", "fix this first")
    took = "" if reply.seconds is None else f" in {reply.seconds:.2f} s"
    return Diagnosis("reachable", Level.FIT, f"yes, {chat.label} answered{took}")


def protocol(chat: OpenAIChat, calls: Calls) -> Diagnosis:
    """Compare a reply with the protocol: fields that are missing cannot be used."""
    name = "protocol"
    try:
        found = chat.departures(HELLO, calls)
    except EndpointError as error:
        return Diagnosis(name, Level.DOUBTFUL, f"unknown: {error}")
    if not found:
        return Diagnosis(name, Level.FIT, "a reply has the form that the openai package expects")
    wrong = "; ".join(f"{field}: {what}" for field, what in found.items())
    result = f"a reply departs from what the openai package expects: {wrong}"
    if not any(field.endswith(USED) for field in found):
        return Diagnosis(name, Level.FIT, result)
    advice = (
        "without usage no tokens are counted, so budget.tokens and budget.usd cannot be kept and a "
        "truncated prompt is not noticed; without finish_reason a truncated reply looks complete"
    )
    return Diagnosis(name, Level.DOUBTFUL, result, advice)


def structured(chat: Chat, calls: Calls) -> Diagnosis:
    """Ask for prose under a schema: only an endpoint that enforces it sends JSON."""
    form: dict[str, object] = {
        "type": "object",
        "properties": {"verdict": {"type": "string", "enum": ["lighthouse"]}},
        "required": ["verdict"],
        "additionalProperties": False,
    }
    words = "Greet me in one short sentence of plain text. Write no JSON."
    asked = Request((Message("user", words),), form, max_tokens=256)
    name, advice = "structured output", "more replies will need a repair, and more will be NA"
    try:
        text = chat.complete(asked, calls).text
    except EndpointError as error:
        return Diagnosis(name, Level.DOUBTFUL, f"unknown: {error}", advice)
    try:
        if json.loads(text) == {"verdict": "lighthouse"}:
            return Diagnosis(name, Level.FIT, "the schema is enforced")
        reply = "sends JSON of another form"
    except ValueError:
        reply = "accepts it and sends prose"
    result = f"this endpoint does not enforce the schema: it {reply}"
    return Diagnosis(name, Level.DOUBTFUL, result, advice)


def window(chat: Chat, calls: Calls) -> Diagnosis:
    """Put a word at the start of longer and longer prompts, and ask for it at the end."""
    context = chat.context if isinstance(chat, RemoteChat) else None
    most = min(context or EXPECTED, SIZES[-1])
    whole = 0
    for size in (*(size for size in SIZES if size < most), most):
        try:
            came_back = CODE_WORD in chat.complete(sentinel(size), calls).text
        except ContextOverflowError:
            came_back = False
        except EndpointError as error:
            return Diagnosis("window", Level.DOUBTFUL, f"unknown beyond {whole:,} tokens: {error}")
        if not came_back:
            return _too_small(size, whole, context)
        whole = size
    beyond = f" of {context:,} configured" if context and context > whole else ""
    return Diagnosis(
        "window", Level.FIT, f"a prompt of {whole:,} tokens{beyond} was read completely"
    )


def _too_small(size: int, whole: int, context: int | None) -> Diagnosis:
    known = f"{whole:,} tokens were read completely" if whole else "no shorter one was tried"
    result = f"the model did not see the start of a prompt of {size:,} tokens; {known}"
    advice = "give the model a larger context window on the server (num_ctx under chat=ollama)"
    if context is not None:
        result = f"context={context:,} is configured, but {result}"
    elif whole:
        advice += f", or set judge.chat.context={whole} so that longer prompts are NA"
    long = context is None and size > EXPECTED // 2
    return Diagnosis("window", Level.DOUBTFUL if long else Level.UNFIT, result, advice)


def sentinel(size: int) -> Request:
    """Return a request of at most `size` tokens, reply included, that asks for its first word."""
    first = f"The code word is {CODE_WORD}.\n"
    last = "Which code word stands at the very beginning? Reply with the code word alone."

    def request(lines: int) -> Request:
        return Request((Message("user", first + lines * FILLER + last),), max_tokens=64)

    empty = request(0)
    assert empty.max_tokens is not None
    each = (request(100).tokens - empty.tokens) / 100
    return request(max(0, math.floor((size - empty.max_tokens - empty.tokens) / each)))


def accuracy(judge: ChatJudge, calls: Calls) -> Iterator[Diagnosis]:
    """Yield how often the labels are right, and how fast the judge is."""
    known = labelled(judge.language)
    asked, started = calls.asked, time.perf_counter()
    found = judge.answer([job for job, _ in known], calls, lambda: None)
    seconds, asked = time.perf_counter() - started, calls.asked - asked
    pairs = [
        (given, label)
        for (_, labels), answer in zip(known, found, strict=True)
        for given, label in zip(answer.labels, labels, strict=bool(answer.labels))
    ]
    of = sum(len(labels) for _, labels in known)
    given = Counter(label for _, label in pairs)
    right = Counter(label for answer, label in pairs if answer == label)
    low, high = wilson_interval(right.total(), len(pairs))
    missing = of - len(pairs)
    if all(answer.error is Status.CONTEXT_OVERFLOW for answer in found):
        result = f"no reply fitted the token limit: {found[0].note}"
        sent = any(answer.call for answer in found)
        advice = (
            "raise judge.reply_tokens, or switch the model's thinking off"
            if sent
            else "give the judge a larger judge.chat.context"
        )
        yield Diagnosis(f"accuracy ({judge.language})", Level.UNFIT, result, advice)
        return
    result = (
        f"{right.total()} of {len(pairs)} right [{low:.2f}, {high:.2f}], guessing {GUESSING:.2f}; "
        + ", ".join(f"{label.name.lower()} {right[label]}/{given[label]}" for label in Label)
        + (f"; {missing} of {of} without a label" if missing else "")
    )
    yield Diagnosis(f"accuracy ({judge.language})", *_level(low, missing / of, result))
    pace = f"{asked} calls in {seconds:.1f} s, {asked / seconds * 60:.0f} a minute"
    yield Diagnosis(f"speed ({judge.language})", Level.FIT, pace)


def _level(low: float, missing: float, result: str) -> tuple[Level, str, str]:
    if missing > MOST_MISSING:
        return Level.UNFIT, result, "too few replies can be read: take another model or endpoint"
    if low <= GUESSING:
        return Level.UNFIT, result, "no better than guessing: take a stronger model"
    if low < GOOD:
        return Level.DOUBTFUL, result, "compare it with human grades before you trust its metrics"
    return Level.FIT, result, ""


def steady(judge: ChatJudge, calls: Calls) -> Diagnosis:
    """Ask a few questions twice: does the model repeat its answers?"""
    requests = [judge.request_for(job).request for job, _ in labelled(judge.language)[:ASKED_TWICE]]
    rounds = [judge.chat.complete_all(requests, calls) for _ in range(2)]
    texts = [[getattr(reply, "text", None) for reply in replies] for replies in rounds]
    if all(text is None for round_ in texts for text in round_):
        return Diagnosis("same answer twice", Level.DOUBTFUL, "unknown: there was no reply")
    same = sum(a is not None and a == b for a, b in zip(*texts, strict=True))
    result = f"{same} of {ASKED_TWICE} questions got the same reply twice"
    if same == ASKED_TWICE:
        return Diagnosis("same answer twice", Level.FIT, result)
    advice = (
        "set temperature=0 and a seed; what is remembered stays, but another machine may differ"
    )
    return Diagnosis("same answer twice", Level.DOUBTFUL, result, advice)
