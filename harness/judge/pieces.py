"""Texts as sequences of small pieces, and how much of one text stands in another."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆"
STEM = 5
"""Characters kept of a Latin word: "increases" and "increased" are one piece."""

_CITATION = re.compile(r"\[\d+(?:\s*[,-]\s*\d+)*\]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TOKEN = re.compile(rf"[{CJK}]+|\d+(?:\.\d+)?|[^\W\d_{CJK}]+")
_FUNCTION_WORDS = frozenset(
    """a about after again all also an and any are as at be been before being between both but by
    can could did do does during each for from further had has have he her him his how however if
    in into is it its just may might more moreover most must my no not now of on once only or other
    our out over own same shall she should so some such than that the their them then there these
    they this those through to too under up very was we were what when where which while who whom
    whose will with would you your""".split()  # noqa: SIM905  a word list reads better as one
)


@lru_cache(maxsize=1024)
def pieces(text: str) -> tuple[str, ...]:
    """Return the pieces of a text in order: CJK bigrams, word stems, numbers by value.

    Width and case are evened out; function words and citation marks carry nothing. Remembered,
    as many claims are held against one text.

    >>> pieces("塔高27.0公尺，The Towers cost 1,200 [3]")
    ('塔高', '27', '公尺', 'tower', 'cost', '1200')
    """
    found: list[str] = []
    plain = unicodedata.normalize("NFKC", _CITATION.sub("", text)).casefold()
    for token in _TOKEN.findall(_THOUSANDS.sub("", plain)):
        if token[0].isdecimal():
            found.append(_by_value(token))
        elif re.match(f"[{CJK}]", token):
            found += [token[i : i + 2] for i in range(len(token) - 1)] or [token]
        elif token not in _FUNCTION_WORDS:
            found.append(token[:STEM])
    return tuple(found)


def numbers(found: Sequence[str]) -> frozenset[str]:
    """Return the pieces that are numbers."""
    return frozenset(piece for piece in found if piece[0].isdecimal())


def coverage(wanted: Sequence[str], present: Sequence[str], stretch: int | None = None) -> float:
    """Return the largest share of `wanted` that one stretch of `present` holds, 0 to 1.

    Args:
        wanted: Pieces of the claim; each counts once.
        present: Pieces of the premise, in order.
        stretch: Length of the stretch in pieces; None takes all of `present`.

    >>> coverage(["a", "b"], ["a", "x", "x", "b"], stretch=2)
    0.5
    """
    distinct = set(wanted)
    if not distinct:
        return 0.0
    length = len(present) if stretch is None else stretch
    hits = [(place, piece) for place, piece in enumerate(present) if piece in distinct]
    inside: Counter[str] = Counter()
    best = first = 0
    for place, piece in hits:
        inside[piece] += 1
        while hits[first][0] <= place - length:
            left = hits[first][1]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            first += 1
        best = max(best, len(inside))
    return best / len(distinct)


def _by_value(number: str) -> str:
    """Return 2.40 as 2.4 and 007 as 7."""
    whole, _, part = number.partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")
