"""Cut text into passages where a reader of Chinese, Japanese or English would."""

import re
from collections.abc import Sequence

CLOSING = "。．，、！？；：）】》〉」』”’ー々％‰°)\\]}»›,.!?;:%"
"""What no passage begins with, as the inside of a regular expression's brackets."""
_OPENING = "(（「『《〈【\\[{«‹“‘$€£¥+−–-"
_MARKS = "\u0300-\u036f\u200d\u3099\u309a\ufe00-\ufe0f"
_REST = rf"[{CLOSING}]*+\s*+(?![{CLOSING}])"
"""Closing marks and blanks that stay with what is before them."""
SEPARATORS = (
    # The end of a sentence or a line; not the stop of "1." at the head of an item, nor leaders.
    rf"[。！？]{_REST}|\n{_REST}"
    rf"|(?<=[\w%\"'”’)\]])(?<!\b\d)(?<!\b\d\d)[.!?]{{1,3}}+[”’\"')\]]*+\s++(?![{CLOSING}])",
    rf"[；;]{_REST}",
    rf"(?:(?<!\d)[，,、：:]|[，,、：:](?!\d)){_REST}",
    rf"\s++(?![{CLOSING}])",
    # At last between any two characters, but not after a digit and not before a closing mark.
    rf"(?<![\d.,，．:：/{_OPENING}])(?!\s*+[{CLOSING}{_MARKS}])(?=.)",
)
"""Regular expressions, from the best place to cut to the worst."""
NUMBER = re.compile(r"\d+(?:[.,，．]\d+)*(?:\s?[%％‰])?")


def split(text: str, size: int, overlap: int = 0) -> list[str]:
    """Cut a text into pieces of at most `size` characters, at the best places there are.

    A piece is longer only where there is no place to cut, as in a run of digits.

    >>> split("第一段講人口。彰化縣的發生率最高，為1.05。", 20)
    ['第一段講人口。', '彰化縣的發生率最高，為1.05。']
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=list(SEPARATORS),
        is_separator_regex=True,
        keep_separator="end",
        chunk_size=size,
        chunk_overlap=overlap,
    )
    return splitter.split_text(text)


def head(text: str, size: int) -> str:
    """Return the beginning of a text, cut at the last good place within `size` characters.

    >>> head("第一段講人口。彰化縣的發生率最高，為1.05。", 20)
    '第一段講人口。彰化縣的發生率最高，'
    """
    if len(text) <= size:
        return text
    for separator in SEPARATORS:
        ends = [match.end() for match in re.finditer(separator, text[: size + 1])]
        good = [end for end in ends if size / 2 <= end <= size]
        if good:
            return text[: good[-1]].rstrip()
    return ""


def count_cut_numbers(text: str, pieces: Sequence[str], overlap: int = 0) -> int:
    """Count the pieces of a text, in its order, that begin or end inside of a number.

    >>> count_cut_numbers("最高，為1.05。", ["最高，為1.", "05。"])
    2
    """
    inside = {at for number in NUMBER.finditer(text) for at in range(*number.span())[1:]}
    cut = end = 0
    for piece in pieces:
        start = text.index(piece, max(end - overlap, 0))
        end = start + len(piece)
        cut += start in inside or end in inside
    return cut
