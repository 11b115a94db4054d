"""A text as the sentences it is made of, in Chinese, Japanese and English."""

import re

from harness.judge.pieces import CJK

_CLOSERS = r"[」』）】〉》)\]”’\"'*_]*(?:\s*\[\d+\])*"
_END = re.compile(
    rf"""
    (?: [。！？]+
      | ．(?!\d)
      | [!?]+ (?= {_CLOSERS} (?:\s | $ | [{CJK}]))
      | \.+ (?= {_CLOSERS} (?:\s | $ | [{CJK}]))
    ) {_CLOSERS} \s*
    | \s*\n\s*
    """,
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|Nos|Fig|Figs|Eq|vs|cf|al|etc|Jr|Sr|Inc|Ltd|Co|Vol|approx|ca)"
    r"|\b[A-Za-z]|^\s*\(?\d{1,3}|\b(?:e\.g|i\.e))\.$"
)
_MARK = re.compile(r"^(?:[-*•·●▪#>]+\s+|\(?\d{1,3}[.)、]\s+)+")


def sentences(text: str) -> list[str]:
    """Return the sentences in order; a last one without a stop is one too.

    Nothing is dropped but list marks and lines without a letter or digit. A point inside a
    number or after an abbreviation ends nothing.

    >>> sentences("塔高27.5公尺。1931年啟用！真的嗎？是的")
    ['塔高27.5公尺。', '1931年啟用！', '真的嗎？', '是的']
    >>> sentences("It cost 1.5 million, says Dr. Ames. Twice as much as planned.")
    ['It cost 1.5 million, says Dr. Ames.', 'Twice as much as planned.']
    """
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if "\n" not in end[0] and _ends_nothing(text, start, end):
            continue
        found.append(text[start : end.end()])
        start = end.end()
    found.append(text[start:])
    plain = (_MARK.sub("", sentence.strip()).strip() for sentence in found)
    return [sentence for sentence in plain if any(c.isalnum() for c in sentence)]


def _ends_nothing(text: str, start: int, end: re.Match[str]) -> bool:
    """Tell whether a point belongs to an abbreviation, an initial or a list number."""
    stopped = text[start : end.start()] + end[0].rstrip()
    if end.end() == len(text) or not stopped.endswith("."):
        return False
    following = text[end.end()]
    return following.islower() or _ABBREVIATION.search(stopped) is not None
