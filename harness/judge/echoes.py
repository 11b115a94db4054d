"""Replies of a judge that are not answers: repetitions of the prompt, and empty claims.

An answer may be identical to a worked example; their subject distinguishes them: what an example
says about bridges and ferries is an answer only where the judge was asked about these.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.judge.contract import Job, JobAnswer
from harness.judge.overlap_judge import coverage, pieces
from harness.judge.prompt import JudgePrompt, inputs
from harness.judge.reply import REPEATED, UnreadableReply
from harness.records import Status
from harness.text import HAN, HIRAGANA, KANA, claim_key, fold, letters


def repeats_prompt(value: object, job: Job, prompt: JudgePrompt) -> bool:
    """Return whether a JSON value is part of the prompt and is not also the right answer."""
    return value in (*prompt.forms, inputs(job)) or any(
        value == given or (value == reply and _is_foreign(_texts(reply), given, job))
        for given, reply in prompt.examples
    )


def repeats_example(sentences: Iterable[str], job: Job, prompt: JudgePrompt) -> bool:
    """Return whether a reason or question is copied word for word from an example."""
    said = {letters(sentence): sentence for sentence in sentences}
    return any(
        (key := letters(row.get(name, ""))) in said and _is_foreign(said[key], given, job)
        for given, reply in prompt.examples
        for row in reply.get("verdicts", (reply,))
        for name in ("reason", "question")
    )


def _is_foreign(said: str, example: Mapping[str, Any], job: Job) -> bool:
    """Return whether a text names something in an example that is not in the job.

    "The text does not mention bicycles" is an answer where bicycles were asked about.
    """
    shared = set(pieces(said)) & set(pieces(_texts(example)))
    about = {piece for piece in shared if _PARTICLES.sub("", piece)}
    shown = "\n".join((job.question, job.text, job.reference, *job.items))
    return not about <= set(pieces(shown))


def _texts(value: Any) -> str:
    """Return all text in a JSON value, without its keys."""
    inside = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, str):
        return value
    return "\n".join(map(_texts, inside)) if isinstance(value, Mapping | list) else ""


def is_placeholder(text: str) -> bool:
    """Return whether a text only marks a place: "...", "string", "claim 1", but not a blank.

    >>> [is_placeholder(text) for text in ("...", "<claim 1>", "Claim one is true.", " ")]
    [True, True, False, False]
    """
    return bool(text.strip()) and _PLACEHOLDER.fullmatch(fold(text)) is not None


ECHO = 0.6
"""Share of a claim in the prompt's example from which it is an echo, if the text holds at most
half of that share."""

_PLACEHOLDER = re.compile(
    r"[\W_]*(?:(?:(?:(?:the|an?|your|first|second|short|brief|短い|[簡简]短的?|你的)[\W_]*|){2}"
    r"(?:claim|statement|question|reason|text|fact|主[張张]|質問文?|理由|[陳陈]述|[問问][题題句])"
    r"[\W_]*(?:[0-9a-c一二三]|one|two|(?:goes )?here)?|string)[\W_]*)?"
)
_NONE = re.compile(
    r"\W*(?:|none(?: of the above| (?:found|identified|made|detected))?|n\W{0,3}a|nil|null"
    r"|(?:there is )?nothing(?: to \w+)?|not applicable|empty(?: list)?"
    r"|(?:(?:there (?:are|is|were|was)(?:n't| not)?|(?:it|(?:the|this) (?:text|answer|response))"
    r" (?:\w+s|does(?: not|n't) \w+)) )?"
    r"(?:no|any|zero) (?:\w+ ){0,2}(?:claims?|statements?|facts?|assertions?)(?: to \w+)?"
    r"(?: (?:(?:are|is|were|was|can be|to be) )?"
    r"(?:made|found|present|identified|stated|detected|extracted))?"
    r"(?: here| (?:in|by) (?:the|this) (?:text|answer|response))?"
    r"|(?:(?:この)?(?:回答|文章|本文)には?)?(?:抽出できる|検証可能な|検証できる)?"
    r"(?:(?:主張|該当|特に|事実)(?:の|する)?(?:主張|事実)?[はが]?)?"
    r"(?:含まれてい?|見当たり|見つかり)?(?:なし|無し|ない|(?:あり|い)?ません(?:でした)?)"
    r"|(?:(?:文[中字]|原文|[該该此本這这](?:文|回[答覆应應]|答案))\w{0,2})?"
    r"(?:[無无没沒不]有?|[不未]?(?:包?含|提出))(?:任何)?(?:可\w{2,3}的|相[關关]|事[實实](?!\W*\Z))?"
    r"(?:[陳陈]述|主[張张]|事[實实]|[內内]容)?|不[適适]用|空)\W*"
)
"""A claim that there is no claim, folded."""

_YES_OR_NO = re.compile(
    r"\W*(?:(?:that(?:'s| is) )?(?:yes|yeah|no|never|correct|indeed|right|true|false)"
    r"|(?:it|they|he|she|there) (?:is|are|was|were|does|did|has|had)(?: ?n[o']t)?"
    r"|certainly|absolutely|of course|definitely"
    r"|はい|いいえ|ええ|そうです|その通りです|あります|有|是的?|不是?|對的?|对的?|[沒没]錯|没错|[沒没]有|否|正[確确])"
    r"\s*(?:[,.!;:、。]|\Z)"
)

_PARTICLES = re.compile(f"[{HIRAGANA}於在的是了為为由]")
_KANA = re.compile(f"[{KANA}]")
_HAN = re.compile(f"[{HAN}]")
_LATIN = re.compile(r"[A-Za-z]")


def tidy(claims: Sequence[str], question: str, text: str, example: str) -> JobAnswer:
    """Return the claims without blanks, repeats and echoes, whose number is noted on the first.

    Args:
        claims: What the model gave; "None" and its like are no claims.
        question: What was asked.
        text: The text that was split into claims.
        example: The text of the prompt's examples.

    Raises:
        UnreadableReply: There are only echoes of the prompt.

    >>> tidy(["It is high.", "it is high", "N/A"], "", "It is high.", "").texts
    ('It is high.',)
    """
    distinct: dict[str, str] = {}
    placeholders = 0
    for claim in claims:
        placeholders += is_placeholder(claim)
        if not is_placeholder(claim) and not _NONE.fullmatch(fold(claim)):
            distinct.setdefault(claim_key(claim), claim.strip())
    kept = [claim for claim in distinct.values() if not _echo(claim, question, text, example)]
    echoes = len(distinct) - len(kept)
    if not kept and (echoes or placeholders):
        raise UnreadableReply(REPEATED, Status.JUDGE_ECHO)
    dropped = {"repeated": len(claims) - len(distinct), "echo": echoes}
    counts = [f"{name}={number} left out" for name, number in dropped.items() if number]
    notes = [_foreign(claim, text) for claim in kept]
    if counts and kept:
        notes[0] = "; ".join(filter(None, [*counts, notes[0]]))
    return JobAnswer(texts=tuple(kept), reasons=tuple(notes))


def _echo(claim: str, question: str, text: str, example: str) -> bool:
    """Return whether a claim is the example's, or only repeats the question in its words."""
    wanted = pieces(claim)
    in_example = coverage(wanted, pieces(example))
    if in_example < ECHO or coverage(wanted, pieces(text)) > in_example / 2:
        return False
    # An answer without a word of its own chooses one of the question's: "In May, or in June?"
    own = _told(text) - _told(question) or _told(text)
    answers = _YES_OR_NO.match(fold(text)) or _told(claim) & own
    asked = f"{question}\n{text} never"  # which a claim may say for a plain no
    return not answers or not all(_is_asked(piece, asked) for piece in wanted)


def _is_asked(piece: str, asked: str) -> bool:
    """Return whether a piece of a claim, or another form of its word, is in a text."""
    if piece[0].isdecimal():
        return piece in pieces(asked)
    if piece[0].isascii():
        return any(piece[:4] == other[:4] for other in pieces(asked))
    return set(_PARTICLES.sub("", piece)) <= set(fold(asked))


def _told(text: str) -> set[str]:
    """Return the pieces of a text, and the month that they leave out as a function word."""
    return {*pieces(text), *re.findall(r"\bMay\b", text)}


def _foreign(claim: str, text: str) -> str | None:
    """Return a note where a claim is in another script than its text."""
    ours, theirs = _script(claim), _script(text)
    return f"language: {ours}, text {theirs}" if ours and theirs and ours != theirs else None


def _script(text: str) -> str | None:
    """Return kana, han or latin; None where there is too little text."""
    if _KANA.search(text):
        return "kana"
    han, latin = len(_HAN.findall(text)), len(_LATIN.findall(text))
    if han >= 4 and han * 4 >= latin:
        return "han"
    return "latin" if latin >= 12 and not han else None
