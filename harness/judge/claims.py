"""The claims of a model's reply: repeats and echoes of the prompt are dropped and counted."""

import re
from collections.abc import Sequence

from harness.judge.jobs import JobAnswer
from harness.judge.overlap_judge import coverage, pieces
from harness.records import Status
from harness.text import HAN, KANA, claim_key

ECHO = 0.6
"""Share of a claim in the prompt's example from which it is an echo, if the text holds at most
half of that share."""

_KANA = re.compile(f"[{KANA}]")
_HAN = re.compile(f"[{HAN}]")
_LATIN = re.compile(r"[A-Za-z]")


def tidy(claims: Sequence[str], text: str, example: str) -> JobAnswer:
    """Return the claims without blanks, repeats and echoes, whose number is noted on the first.

    Args:
        claims: What the model gave.
        text: The text that was split into claims.
        example: The text of the prompt's examples.

    >>> tidy(["It is high.", "it is high"], "It is high.", "").texts
    ('It is high.',)
    """
    distinct: dict[str, str] = {}
    for claim in claims:
        if key := claim_key(claim):
            distinct.setdefault(key, claim.strip())
    kept = [claim for claim in distinct.values() if not _echo(claim, text, example)]
    echoes = len(distinct) - len(kept)
    if echoes and not kept:
        return JobAnswer(error=Status.JUDGE_ECHO, note=f"echo={echoes}: only the prompt's example")
    dropped = {"repeated": len(claims) - len(distinct), "echo": echoes}
    counts = [f"{name}={number} left out" for name, number in dropped.items() if number]
    notes = [_foreign(claim, text) for claim in kept]
    if counts and kept:
        notes[0] = "; ".join(filter(None, [*counts, notes[0]]))
    return JobAnswer(texts=tuple(kept), reasons=tuple(notes))


def _echo(claim: str, text: str, example: str) -> bool:
    wanted = pieces(claim)
    in_example = coverage(wanted, pieces(example))
    return in_example >= ECHO and coverage(wanted, pieces(text)) <= in_example / 2


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
