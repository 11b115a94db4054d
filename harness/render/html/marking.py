"""Texts in pieces: differences from another text, and wording that a passage shares with claims."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby

from harness.text import HAN_KANA, HANGUL

CJK = HAN_KANA + HANGUL
TOKEN = re.compile(rf"[{CJK}]|[^\W{CJK}]+|\s+|.", re.DOTALL)
"""A character of Chinese, Japanese or Korean, a word of another script, blanks, any one sign."""

LONGEST = 1_500
"""Tokens beyond which a text is compared by lines: the time grows with their square."""

ALIKE = 0.35
"""Share of common tokens below which marking the differences would not help."""

SHARED = {True: 8, False: 4}
"""Consecutive characters of CJK, or words, that two texts must have in common to share wording."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text and what it is: `same`, `added`, `gone`, or the mark of a claim."""

    text: str
    kind: str = "same"


def tokens(text: str) -> list[str]:
    """Return the text in pieces that a reader compares; joined they are the text.

    >>> tokens("q1 是27公尺。")
    ['q1', ' ', '是', '27', '公', '尺', '。']
    """
    return TOKEN.findall(text)


def text_changes(base: str, text: str) -> tuple[Piece, ...] | None:
    """Return `text` with what is only in it marked added, and what is only in `base` marked gone.

    None where the two have too little in common for marks to help.

    >>> [(p.kind, p.text) for p in text_changes("高27公尺。", "高約72公尺。")]
    [('same', '高'), ('gone', '27'), ('added', '約72'), ('same', '公尺。')]
    """
    left, right = tokens(base), tokens(text)
    if max(len(left), len(right)) > LONGEST:
        left, right = base.splitlines(keepends=True), text.splitlines(keepends=True)
    if max(len(left), len(right)) > LONGEST:
        return None
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    pieces: list[Piece] = []
    common = 0
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            common += d - c
            pieces.append(Piece("".join(right[c:d])))
            continue
        pieces += [Piece("".join(left[a:b]), "gone")] if b > a else []
        pieces += [Piece("".join(right[c:d]), "added")] if d > c else []
    if common < ALIKE * min(len(left), len(right)):
        return None
    return tuple(pieces)


def phrases(
    words: Sequence[str], starts: Container[str] | None = None
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield each run of consecutive words that is too long to be a coincidence, with its place.

    Blanks and signs do not count. With `starts`, only rows that begin with one of these words.
    """
    solid = [(at, word.casefold()) for at, word in enumerate(words) if word[0].isalnum()]
    for start, (_, first) in enumerate(solid):
        if starts is not None and first not in starts:
            continue
        need = SHARED[len(first) == 1 and "\u3040" <= first <= "\ufaff"]
        row = solid[start : start + need]
        if len(row) == need:
            yield tuple(word for _, word in row), row[0][0], row[-1][0]


@lru_cache(maxsize=10_000)
def wording(claim: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of words of a claim; cached, as a claim is compared with many passages."""
    return frozenset(row for row, _, _ in phrases(tokens(claim)))


def shared_wording(text: str, claims: Iterable[tuple[str, str]]) -> tuple[Piece, ...]:
    """Return the text with the wording that it shares with claims; (claim, kind) in order.

    Where two claims share the same words, the later one's kind is shown.

    >>> claims = [("tower is 27 metres tall", "entailed")]
    >>> marked = shared_wording("The tower is 27 metres high.", claims)
    >>> [(p.kind, p.text) for p in marked]
    [('same', 'The '), ('entailed', 'tower is 27 metres'), ('same', ' high.')]
    """
    known = [(wording(claim), kind) for claim, kind in claims]
    if not known:
        return (Piece(text),) if text else ()
    words = tokens(text)
    kinds = ["same"] * len(words)
    starts = {row[0] for rows, _ in known for row in rows}
    places = list(phrases(words, starts))
    for rows, kind in known:
        for row, first, last in places:
            if row in rows:
                kinds[first : last + 1] = [kind] * (last + 1 - first)
    pairs = zip(kinds, words, strict=True)
    return tuple(
        Piece("".join(word for _, word in group), kind)
        for kind, group in groupby(pairs, key=lambda pair: pair[0])
    )
