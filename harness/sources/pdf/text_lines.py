"""The text of a PDF page: its lines, joined to paragraphs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium
from pypdfium2 import PdfiumError

from harness.sources.documents import Box, bounding_box
from harness.text import HAN_KANA, WITHOUT_BLANKS

HYPHEN = "\u00ad"
"""Replaces a hyphen at the end of a line; cleaning decides whether the word keeps it."""
WIDE_GAP = 1.5
"""Letter heights between two spans of one line: cells of a table, ticks of an axis."""
CELLS = 3
"""Spans from which a line is the row of a table."""
SAME_SIZE = 1.25
LEADING = 1.0
"""Letter heights between two lines of one paragraph."""
INDENT = 0.8
"""Letter heights by which the first line of a paragraph is indented."""
RAGGED = 0.8
"""Share of the longer line's length from which a line was broken because it was full."""
STARTS = re.compile(r"\s*([•●■◆○▪–—*・]|[-–]\s|[(（]?\d{1,3}[.)）、]\s|[①-⑳]|第.{1,4}[章節节])")
NUMBER = re.compile(r"\W*\d[\d.,%±–-]*\W*")
WIDE = re.compile(f"[{WITHOUT_BLANKS}]")
SPACED = re.compile(f"[{HAN_KANA}] [0-9A-Za-z]|[0-9A-Za-z] [{HAN_KANA}]")
CLOSED = re.compile(f"[{HAN_KANA}][0-9A-Za-z]|[0-9A-Za-z][{HAN_KANA}]")
BLANKS = re.compile(r"[ \t\u00a0]+")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text without a wide gap, and its place on the page."""

    box: Box
    text: str


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text, and its place on the page."""

    box: Box
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


def lines_of(textpage: Any) -> list[TextLine]:
    """Return the lines of a pypdfium2 text page, in the order of the file.

    Characters without a code in the file's fonts come as NUL.
    """
    lines: list[TextLine] = []
    codes: list[int] = []
    boxes: list[Box | None] = []
    for i in range(textpage.count_chars()):
        code = pdfium.FPDFText_GetUnicode(textpage, i)
        breaks = code in (0x0A, 0x0D)
        ends = code == 2 and pdfium.FPDFText_IsHyphen(textpage, i) == 1
        if not breaks:
            codes.append(ord(HYPHEN) if ends else code)
            boxes.append(None if ends or chr(code).isspace() else _box(textpage, i))
        if breaks or ends:
            lines += _line(codes, boxes)
            codes, boxes = [], []
    return lines + _line(codes, boxes)


def _box(textpage: Any, index: int) -> Box | None:
    try:
        return Box(*textpage.get_charbox(index))
    except PdfiumError:
        return None


def _line(codes: Sequence[int], boxes: Sequence[Box | None]) -> list[TextLine]:
    """Return a line as a list of one; empty if it has only blanks."""
    spans: list[Span] = []
    start = 0
    run: Box | None = None
    last: Box | None = None
    printed = [box for box in boxes if box is not None]
    # The glyphs of some fonts have no outline, and so no height.
    letter = max((box.height for box in printed), default=0.0)
    letter = letter if letter >= 1 else max((box.width for box in printed), default=0.0)
    for i, box in enumerate(boxes):
        if box is None:
            continue
        if run is None or last is None:
            run = box
        elif _gap(last, box) > WIDE_GAP * letter:
            spans.append(Span(run, _decoded(codes[start:i])))
            start, run = i, box
        else:
            run = run.union(box)
        last = box
    if run is None:
        return []
    spans.append(Span(run, _decoded(codes[start:])))
    return [TextLine(bounding_box(span.box for span in spans), tuple(spans))]


def _gap(left: Box, right: Box) -> float:
    across = max(left.left, right.left) - min(left.right, right.right)
    up = max(left.bottom, right.bottom) - min(left.top, right.top)
    return max(across, up)


def _decoded(codes: Sequence[int]) -> str:
    """Return UTF-16 code units as text; a surrogate without its other half is kept."""
    units = "".join(map(chr, codes))
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def flow(lines: Sequence[TextLine]) -> tuple[str, int]:
    """Return the text with the lines of each paragraph joined, and how many line breaks that took.

    Two lines are joined without a blank between Han or kana, else with one. Titles, list items and
    the rows of a table stay on separate lines, so a line break ends a paragraph, a title or a row.
    """
    pieces = [BLANKS.sub(" ", line.text).strip() for line in lines]
    whole = "\n".join(pieces)
    # Some authors type a blank between Han and Latin.
    spaced = len(SPACED.findall(whole)) > len(CLOSED.findall(whole))
    text = "".join(pieces[:1])
    joined = 0
    for before, after, piece in zip(lines, lines[1:], pieces[1:], strict=False):
        if text.endswith(HYPHEN) or _runs_on(before, after):
            joined += 1
            text += _seam(text[-1:], piece[:1], spaced) + piece
        else:
            text += "\n" + piece
    return text, joined


def _seam(last: str, first: str, spaced: bool) -> str:
    """Return what replaces a line break inside of a paragraph: a blank or nothing."""
    if last in (HYPHEN, "-") or (WIDE.match(last) and WIDE.match(first)):
        return ""
    mixed = WIDE.match(last) or WIDE.match(first)
    return "" if mixed and not (spaced and last.isalnum() and first.isalnum()) else " "


def _runs_on(before: TextLine, after: TextLine) -> bool:
    """Tell whether two lines are of one paragraph."""
    a, b = before.box, after.box
    height = max(a.height, b.height)
    below = 0 <= a.bottom - b.top + 0.5 * height <= (LEADING + 0.5) * height
    alike = max(a.height, b.height) <= SAME_SIZE * min(a.height, b.height)
    same_column = min(a.right, b.right) - max(a.left, b.left) > 0
    indented = b.left - a.left > INDENT * height and not STARTS.match(before.text)
    full = a.width >= RAGGED * max(a.width, b.width)
    return (
        below
        and alike
        and same_column
        and full
        and not indented
        and not _is_row(before)
        and not _is_row(after)
        and not STARTS.match(after.text)
    )


def _is_row(line: TextLine) -> bool:
    """Tell whether a line is the row of a table, or the ticks of an axis."""
    words = line.text.split()
    letters = [char for char in line.text if char.isalnum()]
    numbers = sum(NUMBER.fullmatch(word) is not None for word in words)
    digits = sum(char.isdigit() for char in letters)
    numeric = numbers >= 0.5 * len(words) and digits >= 0.25 * len(letters)
    return len(line.spans) >= CELLS or numeric
