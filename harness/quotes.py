"""Where a quote stands: names of documents and texts, evened out so that spellings meet.

Nothing here does I/O.
"""

import re
import unicodedata

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
    even = evened(quote)
    if 0 < len(even) < RUN:
        edges = ("(?<!\\d)" if even[0].isdigit() else "", "(?!\\d)" if even[-1].isdigit() else "")
        return re.search(re.escape(even).join(edges), evened(text)) is not None
    wanted = trigrams(quote)
    return bool(wanted) and len(wanted & trigrams(text)) >= COVERED * len(wanted)


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
