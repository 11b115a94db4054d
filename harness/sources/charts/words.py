"""Words found in a picture: how they are taken apart, grouped and put in reading order. Pure."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.sources.pdf.boxes import Box

SAME_LINE = 0.7
"""Letter heights by which the places of two words on one line, or in one column, may differ."""
NEXT_LINE = 1.2
"""Letter heights between the lines of one title."""
SET_SIDEWAYS = 1.5

_NUMBER = re.compile(r"[-–−+]?[$€£¥]?\d[\d,]*(\.\d+)?\s?([%％]|[a-zA-Z]{1,2}|[億亿万萬千兆])?")
_TICK_MARK = re.compile(r"^[-–—一]\s+(?=[$€£¥\d])")
_YEAR_OR_QUARTER = re.compile(r"(?:18|19|20)\d\d|Q[1-4]")
_RUN_TOGETHER = re.compile(rf"(?:{_YEAR_OR_QUARTER.pattern}){{2,}}")
_LABEL = re.compile(rf"{_NUMBER.pattern}|{_YEAR_OR_QUARTER.pattern}")
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff01-\uff60]")


@dataclass(frozen=True, slots=True)
class Word:
    """Words that stand together in a picture; the box in pixels, y upwards."""

    text: str
    box: Box

    @property
    def x(self) -> float:
        return (self.box.left + self.box.right) / 2

    @property
    def y(self) -> float:
        return (self.box.bottom + self.box.top) / 2

    @property
    def is_number(self) -> bool:
        return _NUMBER.fullmatch(self.text) is not None

    @property
    def is_label(self) -> bool:
        """True of what an axis is labelled with beside names: numbers, years, quarters."""
        return _LABEL.fullmatch(self.text) is not None

    @property
    def is_sideways(self) -> bool:
        return len(self.text) > 2 and self.box.height > SET_SIDEWAYS * self.box.width

    @property
    def letter(self) -> float:
        """The height of its letters."""
        return self.box.width if self.is_sideways else self.box.height

    @property
    def decimals(self) -> int:
        return len(re.sub(r"^[^.]*\.?|\D+$", "", self.text))

    @property
    def value(self) -> float:
        """What a number says, its unit left out."""
        return float(re.sub(r"[^\d.-]", "", re.sub("[–−]", "-", self.text)))


def split(word: Word) -> list[Word]:
    """Take apart labels that were read as one: `1990 2000 2010`, `Q2Q3`."""
    text = _TICK_MARK.sub("", word.text.strip())
    parts = [part for token in re.finditer(r"\S+", text) for part in _labels_in(token)]
    if len(parts) < 2 or not all(_LABEL.fullmatch(text[a:b]) for a, b in parts):
        return [Word(text, word.box)] if any(map(str.isalnum, text)) else []
    each, box = word.box.width / len(text), word.box
    return [
        Word(text[a:b], Box(box.left + a * each, box.bottom, box.left + b * each, box.top))
        for a, b in parts
    ]


def _labels_in(token: re.Match[str]) -> list[tuple[int, int]]:
    """Return where the labels of a token without blanks begin and end."""
    if not _RUN_TOGETHER.fullmatch(token[0]):
        return [token.span()]
    start = token.start()
    return [(start + m.start(), start + m.end()) for m in _YEAR_OR_QUARTER.finditer(token[0])]


def without(words: Sequence[Word], taken: Sequence[Word]) -> list[Word]:
    return [word for word in words if word not in taken]


def groups(
    words: Sequence[Word], places: Sequence[Callable[[Word], float]], within: float
) -> list[list[Word]]:
    """Group words that stand at one of the places of the group's first word."""
    groups: list[list[Word]] = []
    for word in words:
        for group in groups:
            if any(abs(place(word) - place(group[0])) <= within for place in places):
                group.append(word)
                break
        else:
            groups.append([word])
    return groups


def touching(words: Sequence[Word], letter: float) -> list[list[Word]]:
    """Group words that stand less than a letter apart from left to right."""
    blocks: list[list[Word]] = []
    for word in sorted(words, key=lambda w: w.box.left):
        if blocks and word.box.left - max(w.box.right for w in blocks[-1]) <= letter:
            blocks[-1].append(word)
        else:
            blocks.append([word])
    return blocks


def stacked(words: Sequence[Word], letter: float) -> list[list[Word]]:
    """Group lines that stand under each other as the lines of one title do."""
    blocks: list[list[Word]] = []
    for word in sorted(words, key=lambda w: -w.y):
        for block in blocks:
            last = block[-1].box
            across = min(last.right, word.box.right) - max(last.left, word.box.left)
            if across > 0 and last.bottom - word.box.top <= NEXT_LINE * letter:
                block.append(word)
                break
        else:
            blocks.append([word])
    return sorted(blocks, key=lambda block: block[0].box.left)


def in_order(words: Sequence[Word], letter: float) -> list[Word]:
    """Return words in reading order: rows from the top, each from the left."""
    rows = groups(sorted(words, key=lambda w: -w.y), [lambda w: w.y], letter / 2)
    return [word for row in rows for word in sorted(row, key=lambda w: w.x)]


def joined(texts: Iterable[str]) -> str:
    """Put lines together, with no blank between Han or kana."""
    whole = ""
    for text in texts:
        apart = whole and text and not (_WIDE.match(whole[-1]) and _WIDE.match(text[0]))
        whole += f" {text}" if apart else text
    return whole


def middle(numbers: Iterable[float]) -> float:
    """Return the median of some numbers, of an even count the upper of the two in the middle."""
    order = sorted(numbers)
    return order[len(order) // 2]
