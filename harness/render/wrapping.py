"""Lines of a given width in any script: rich alone breaks Chinese and Japanese anywhere."""

from collections.abc import Iterator
from unicodedata import east_asian_width

from rich.cells import cell_len, chop_cells

NO_START = frozenset(
    "、。，．：；！？）」』】〉》〕］｝・ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ),.:;!?]}%"
)
"""Characters that no line may begin with."""

NO_END = frozenset("（「『【〈《〔［｛([{")
"""Characters that no line may end with."""

NO_BREAK = "\N{NO-BREAK SPACE}"


def wrapped(text: str, width: int) -> list[str]:
    """Return the text in lines of at most so many columns; a wide character takes two.

    >>> wrapped("q1 turned right", 9)
    ['q1 turned', 'right']
    >>> wrapped("八題之中，四題有變化。", 10)
    ['八題之中，', '四題有變', '化。']
    """
    lines: list[str] = []
    line = ""
    for piece in pieces(text):
        if cell_len((line + piece).rstrip()) <= width:
            line += piece
            continue
        if line.strip():
            lines.append(line.rstrip())
        *full, line = chop_cells(piece, width) if cell_len(piece.rstrip()) > width else [piece]
        lines += full
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def pieces(text: str) -> Iterator[str]:
    """Yield what must stay on one line; spaces belong to the piece before them."""
    start = 0
    for at in range(1, len(text)):
        if may_break(text[at - 1], text[at]):
            yield text[start:at]
            start = at
    yield text[start:]


def may_break(before: str, after: str) -> bool:
    """Say whether a line may end between two characters."""
    if after.isspace() or NO_BREAK in (before, after) or before in NO_END or after in NO_START:
        return False
    return before.isspace() or wide(before) or wide(after)


def wide(character: str) -> bool:
    """Say whether a character takes two columns."""
    return east_asian_width(character) in "WF"
