"""Where a quote stands: names of documents and texts, evened out so that spellings meet.

Nothing here does I/O.
"""

import re
import unicodedata
from itertools import pairwise, zip_longest

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
