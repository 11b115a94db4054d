"""When two texts are equal, per stated purpose; sentences, document names, and order.

Nothing here does I/O.
"""

import re
import unicodedata
from itertools import pairwise, zip_longest
from numbers import Real

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〆"
"""Han and kana, as the inside of a character class."""

RUN = 3
"""Characters that are looked at together."""

COVERED = 0.5
"""Share of a quote's character trigrams from which a passage holds the quote."""

ENDINGS = (".pdf", ".txt", ".md", ".markdown", ".csv", ".html", ".htm", ".docx")
"""Of files that a corpus is read from (a test holds them to those of `harness.sources`)."""


def covers(text: str, quote: str) -> bool:
    """Say whether a text holds half of a quote, by its runs of three characters.

    A shorter quote must be there as it is, and is no part of a longer number.

    >>> covers("The tower is 27 metres high.", "27 metres"), covers("The tower is high.", "27 m")
    (True, False)
    >>> covers("霧日最多為四月。", "四月"), covers("In 1927.", "27"), covers("Anything.", " ")
    (True, False, False)
    """
    if 0 < len(evened(quote)) < RUN:
        return stands(text, quote)
    wanted = trigrams(quote)
    return bool(wanted) and len(wanted & trigrams(text)) >= COVERED * len(wanted)


def stands(text: str, quote: str) -> bool:
    """Say whether a short quote stands in a text as it is, and as no part of a number.

    >>> [stands(text, "27") for text in ("2019 27", "４ ２７ 7", "1927", "27.5 m", "0.27", "2 7")]
    [True, True, False, False, False, False]
    >>> stands("四 月", "四月"), stands("In March.", "in")
    (True, True)
    """
    sought = evened(quote)
    gaps = [r"" if one.isdigit() and two.isdigit() else r"\s*" for one, two in pairwise(sought)]
    pattern = "".join(re.escape(one) + gap for one, gap in zip_longest(sought, gaps, fillvalue=""))
    before = r"(?<!\d)(?<!\d[.,])" if sought[0].isdigit() else ""
    after = r"(?!\d|[.,]\d)" if sought[-1].isdigit() else ""
    normal = unicodedata.normalize("NFKC", text).casefold()
    return re.search(before + pattern + after, normal) is not None


def stem(document: str) -> str:
    """Return a document's name as passages carry it, from that name or from its file's.

    >>> stem("corpus/麻疹 2024 #3.pdf"), stem("麻疹_2024_3"), stem("v2.0"), stem("tables.CSV")
    ('麻疹_2024_3', '麻疹_2024_3', 'v2.0', 'tables')
    """
    name = unicodedata.normalize("NFC", document).replace("\\", "/").rpartition("/")[2]
    bare = name.rpartition(".")[0] if name.lower().endswith(ENDINGS) else name
    return re.sub(r"[^\w.-]+", "_", bare).strip("_.")


def evened(text: str) -> str:
    """Return a text with blanks, width and case evened out.

    >>> evened("The Tower\\nis ２７ m")
    'thetoweris27m'
    """
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def trigrams(text: str) -> frozenset[str]:
    """Return a text's runs of three characters, evened out."""
    even = evened(text)
    return (
        frozenset(even[at : at + RUN] for at in range(max(1, len(even) - RUN + 1)))
        if even
        else frozenset()
    )


NaturalKey = tuple[tuple[int, int, str], ...]


def natural(name: str) -> NaturalKey:
    """Return a sort key that reads runs of digits as numbers.

    >>> sorted(["q10", "q2", "q1"], key=natural)
    ['q1', 'q2', 'q10']
    """
    parts = re.split(r"([0-9]+)", name)
    return tuple((0, int(p), p) if p[:1].isdecimal() else (1, 0, p) for p in parts if p)


def as_number(value: object) -> float | None:
    """Return a factor's value as a number, None where it is none; true and false are none.

    >>> as_number(4), as_number("4"), as_number(True)
    (4.0, None, None)
    """
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


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
