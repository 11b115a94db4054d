"""A chart read by its printed words: axes, titles, and which value belongs to which label.

Values are paired with labels by position. What is drawn without a printed value, such as the
height of a bar or the course of a line, is not read at all. Pure.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import median_high

from harness.sources.documents import Box, bounding_box
from harness.text import WITHOUT_BLANKS

SAME_LINE = 0.7
"""Letter heights by which two words on one line, or in one column, may differ in position."""
NEXT_LINE = 1.2
"""Letter heights between the lines of one title."""
SET_SIDEWAYS = 1.5

_NUMBER = re.compile(r"[-–−+]?[$€£¥]?\d[\d,]*(\.\d+)?\s?([%％]|[a-zA-Z]{1,2}|[億亿万萬千兆])?")
_TICK_MARK = re.compile(r"^[-–—一]\s+(?=[$€£¥\d])")
_YEAR_OR_QUARTER = re.compile(r"(?:18|19|20)\d\d|Q[1-4]")
_RUN_TOGETHER = re.compile(rf"(?:{_YEAR_OR_QUARTER.pattern}){{2,}}")
_LABEL = re.compile(rf"{_NUMBER.pattern}|{_YEAR_OR_QUARTER.pattern}")
_WIDE = re.compile(f"[{WITHOUT_BLANKS}]")


@dataclass(frozen=True, slots=True)
class Word:
    """Words found together in a picture; the box in pixels, y upwards."""

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
        """Whether it may label an axis other than by name: a number, year or quarter."""
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
        """The number, without its unit."""
        return float(re.sub(r"[^\d.-]", "", re.sub("[–−]", "-", self.text)))


def split_labels(word: Word) -> list[Word]:
    """Return labels that were read as one word separately: `1990 2000 2010`, `Q2Q3`."""
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
    """Return the start and end of each label of a token without blanks."""
    if not _RUN_TOGETHER.fullmatch(token[0]):
        return [token.span()]
    start = token.start()
    return [(start + m.start(), start + m.end()) for m in _YEAR_OR_QUARTER.finditer(token[0])]


def without(words: Sequence[Word], taken: Sequence[Word]) -> list[Word]:
    """Return the words that are not taken, in order."""
    return [word for word in words if word not in taken]


def _grouped(
    words: Iterable[Word], belongs: Callable[[Word, list[Word]], bool]
) -> list[list[Word]]:
    """Add each word to the first group that it belongs to, else to a new one."""
    found: list[list[Word]] = []
    for word in words:
        group = next((group for group in found if belongs(word, group)), None)
        if group is None:
            found.append([word])
        else:
            group.append(word)
    return found


def groups(
    words: Sequence[Word], places: Sequence[Callable[[Word], float]], within: float
) -> list[list[Word]]:
    """Group words that share a position with the first word of the group."""
    return _grouped(
        words,
        lambda word, group: any(abs(place(word) - place(group[0])) <= within for place in places),
    )


def touching(words: Sequence[Word], letter: float) -> list[list[Word]]:
    """Group words with gaps of less than a letter from left to right."""
    return _grouped(
        sorted(words, key=lambda w: w.box.left),
        lambda word, block: word.box.left - bounding_box(w.box for w in block).right <= letter,
    )


def stacked(words: Sequence[Word], letter: float) -> list[list[Word]]:
    """Group lines placed under each other like the lines of one title."""

    def continues(word: Word, block: list[Word]) -> bool:
        last = block[-1].box
        return last.clipped(word.box).width > 0 and last.bottom - word.box.top <= NEXT_LINE * letter

    blocks = _grouped(sorted(words, key=lambda w: -w.y), continues)
    return sorted(blocks, key=lambda block: block[0].box.left)


def in_order(words: Sequence[Word], letter: float) -> list[Word]:
    """Return words in reading order: rows from the top, each from the left."""
    rows = groups(sorted(words, key=lambda w: -w.y), [lambda w: w.y], letter / 2)
    return [word for row in rows for word in sorted(row, key=lambda w: w.x)]


def joined(texts: Iterable[str]) -> str:
    """Return lines as one text, with no blank between Han or kana."""
    whole = ""
    for text in texts:
        apart = whole and text and not (_WIDE.match(whole[-1]) and _WIDE.match(text[0]))
        whole += f" {text}" if apart else text
    return whole


FEWEST_ON_AXIS = 3
FEWEST_UNEVEN = 4
"""Numbers that grow upwards in a column and form an axis, though not on a linear scale."""
MISFIT = 0.25
"""Steps of an axis by which a tick may deviate from the scale."""
MOST_IN_ORDER = 0.75
"""Share of an axis's numbers in order from which the others count as misread."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its title, possibly empty, and the labels along it."""

    title: str
    labels: tuple[str, ...]


def tick_columns(numbers: Sequence[Word], letter: float) -> list[list[Word]]:
    """Find the vertical axes: numbers above each other, evenly apart in value and place."""
    edges = [lambda w: w.box.right, lambda w: w.box.left, lambda w: w.x]
    columns = groups(sorted(numbers, key=lambda w: -w.y), edges, SAME_LINE * letter)
    axes = [sorted(column, key=lambda w: w.y) for column in columns]
    return sorted(
        (axis for axis in axes if len(_on_scale(axis)) >= FEWEST_ON_AXIS),
        key=lambda axis: axis[0].x,
    )


def _on_scale(column: Sequence[Word]) -> list[Word]:
    """Return the ticks of a vertical axis, from the bottom, that agree on one scale."""
    even = evenly_apart(column, lambda w: w.y)
    if len(even) >= FEWEST_ON_AXIS:
        return even
    grows = all(a.value < b.value for a, b in pairwise(column))
    return list(column) if grows and len(column) >= FEWEST_UNEVEN else []


def evenly_apart(ticks: Sequence[Word], place: Callable[[Word], float]) -> list[Word]:
    """Return the ticks that agree on one linear scale; a misread one does not.

    >>> read = {"0": 0, "1": 10, "21": 20, "3": 30}
    >>> ticks = [Word(text, Box(0, y, 9, y)) for text, y in read.items()]
    >>> [tick.text for tick in evenly_apart(ticks, lambda w: w.y)]
    ['0', '1', '3']
    """
    best: list[Word] = []
    usual = Counter(tick.decimals for tick in ticks).most_common(1)[0][0]
    ticks = [tick for tick in ticks if tick.decimals <= usual]
    for first, last in combinations(ticks, 2):
        run, rise = place(last) - place(first), last.value - first.value
        if not run or not rise:
            continue
        step = abs(rise) / max(len(ticks) - 1, 1)
        on_line = [
            tick
            for tick in ticks
            if abs(first.value + (place(tick) - place(first)) * rise / run - tick.value)
            <= MISFIT * step
        ]
        best = max(best, on_line, key=len)
    return best


def is_beside(word: Word, column: Sequence[Word]) -> bool:
    """Tell whether a word is close to the left of a vertical axis, like its title."""
    axis = bounding_box(tick.box for tick in column)
    letter = median_high(tick.box.height for tick in column)
    return 0 <= axis.left - word.box.right <= 2 * letter and axis.bottom <= word.y <= axis.top


def below(words: Sequence[Word], feet: Sequence[Word], letter: float) -> list[Word]:
    """Find the title of the horizontal axis: short words right under its labels."""
    row = bounding_box(word.box for word in feet)
    under = [
        word
        for word in words
        if not word.is_label
        and word.y < row.bottom
        and row.bottom - word.box.top <= 2 * NEXT_LINE * letter
        and row.left <= word.box.left
        and word.box.width <= row.width
    ]
    nearest = max((word.y for word in under), default=0.0)
    return [word for word in under if nearest - word.y <= SAME_LINE * letter]


def vertical(
    columns: Sequence[list[Word]], sideways: Sequence[Word], beside: Sequence[Word], letter: float
) -> tuple[Axis, ...]:
    """Return the vertical axes, each with the titles next to it."""
    titles: list[tuple[float, str]] = []
    for block in touching(sideways, letter):
        lines = groups(sorted(block, key=lambda w: w.x), [lambda w: w.x], SAME_LINE * letter)
        text = [word.text for line in lines for word in sorted(line, key=lambda w: w.y)]
        titles.append((bounding_box(word.box for word in block).left, joined(text)))
    titles += [(word[0].box.left, joined(w.text for w in word)) for word in stacked(beside, letter)]
    axes = [Axis("", tuple(word.text for word in _on_scale(c))) for c in columns]
    for left, title in titles:
        if not columns:
            axes.append(Axis(title, ()))
            continue
        nearest = min(range(len(columns)), key=lambda i: abs(columns[i][0].x - left))
        axes[nearest] = Axis(joined([axes[nearest].title, title]), axes[nearest].labels)
    return tuple(axes)


def horizontal(feet: Sequence[Word], title: Sequence[Word], letter: float) -> Axis:
    """Return the horizontal axis; a number out of order among many counts as misread."""
    labels = list(feet)
    if all(word.is_number for word in feet):
        rising = _rising(feet)
        labels = rising if len(rising) >= MOST_IN_ORDER * len(feet) else labels
    titles = dict.fromkeys(word.text for word in in_order(title, letter))
    return Axis(joined(titles), tuple(dict.fromkeys(word.text for word in labels)))


def _rising(numbers: Sequence[Word]) -> list[Word]:
    """Return the longest subsequence of numbers that grows from left to right."""
    runs: list[list[Word]] = []
    for number in numbers:
        before = [run for run in runs if run[-1].value < number.value]
        runs.append([*max(before, key=len, default=[]), number])
    return max(runs, key=len, default=[])


WIDE_TITLE = 0.15
"""Share of the picture's width from which words above a chart are its title."""
TITLE_HEIGHT = 0.25
"""Share of the picture's height, from the top, in which a title is looked for."""
LARGEST_GAP = 1.6
"""Usual gaps between the labels of an axis; with larger gaps, a row is not an axis."""
ACROSS = 0.3
"""Share of the picture's width that the labels of a horizontal axis span."""
TWO_ROWS = 2.5
"""Letter heights between the years and the quarters under an axis."""
TIGHT = 0.6
"""Usual gaps below which the topmost name is the heading of the others."""
FEWEST_VALUES = 2
FEWEST_PAIRED = 1 / 3
"""Share of the labels that must have a value, before stray numbers count as values."""

_KEY = re.compile(r"^[-–—→×★☆◆●○■□▲△•·*=~+\s]+")


@dataclass(frozen=True, slots=True)
class Chart:
    """The words of a picture, by their part in the chart."""

    titles: tuple[str, ...]
    vertical: tuple[Axis, ...]
    """From left to right; labels from the bottom upwards."""
    horizontal: Axis | None
    values: tuple[tuple[str, tuple[str, ...]], ...]
    """Each label with the values printed at it."""
    others: tuple[str, ...]
    """Legends, remarks and anything else, in reading order."""


def read_chart(found: Iterable[Word]) -> Chart:
    """Return the words of a picture sorted by their positions.

    >>> words = [Word("West", Box(0, 0, 40, 10)), Word("East", Box(60, 0, 100, 10))]
    >>> words += [Word("12", Box(10, 50, 30, 60)), Word("7.5", Box(70, 20, 90, 30))]
    >>> words += [Word("South", Box(120, 0, 160, 10))]
    >>> read_chart(words).values
    (('West', ('12',)), ('East', ('7.5',)))
    """
    words = [part for word in found for part in split_labels(word)]
    if not words:
        return Chart((), (), None, (), ())
    letter = median_high(word.letter for word in words)
    sheet = bounding_box(word.box for word in words)
    sideways = [word for word in words if word.is_sideways]
    level = without(words, sideways)
    numbers = [word for word in level if word.is_number]
    pairs = _paired(_row_names(level, letter), numbers, lambda word: -word.y, letter)
    columns: list[list[Word]] = []
    feet: list[Word] = []
    second: list[Word] = []
    if not pairs:
        columns = tick_columns(numbers, letter)
        marks = without(level, [tick for column in columns for tick in column])
        feet = _feet(marks, letter, sheet, bool(columns))
        second = _second_row(without(marks, feet), feet, letter)
        values = [w for w in without(marks, [*feet, *second]) if w.is_number]
        pairs = _paired(feet, values, lambda word: word.x, letter)
    paired = [word for name, values in pairs for word in (name, *values)]
    plot = [*feet, *second, *paired, *(tick for column in columns for tick in column)]
    rest = without(level, plot)
    title = below(rest, feet, letter) if feet else []
    beside = [word for word in rest if any(is_beside(word, column) for column in columns)]
    rest = without(rest, [*title, *beside])
    titles = _titles(rest, plot, sheet)
    return Chart(
        titles=tuple(joined(w.text for w in block) for block in stacked(titles, letter)),
        vertical=vertical(columns, sideways, beside, letter) if plot else (),
        horizontal=horizontal([*second, *feet], title, letter) if feet else None,
        values=tuple((name.text, tuple(word.text for word in values)) for name, values in pairs),
        others=_others(in_order(without(rest, titles), letter), [] if plot else sideways),
    )


def _titles(words: Sequence[Word], plot: Sequence[Word], sheet: Box) -> list[Word]:
    """Find the title of a chart: long words above everything that is plotted."""
    highest = max((word.y for word in plot), default=sheet.top)
    lowest = max(highest, sheet.top - TITLE_HEIGHT * sheet.height)
    wide = WIDE_TITLE * sheet.width
    return [w for w in words if w.y > lowest and w.box.width >= wide and not w.is_number]


def _row_names(level: Sequence[Word], letter: float) -> list[Word]:
    """Find the names of rows at the left: of horizontal bars, or of a table."""
    names = [word for word in level if not word.is_number]
    edges = [lambda w: w.box.right, lambda w: w.box.left]
    numbers = [word for word in level if word.is_number]
    best: list[Word] = []
    for group in groups(names, edges, SAME_LINE * letter):
        box = bounding_box(word.box for word in group)
        right = [n for n in numbers if n.box.left > box.left and box.bottom <= n.y <= box.top]
        if len(group) >= FEWEST_ON_AXIS and 2 * len(right) > len(numbers):
            best = max(best, group, key=len)
    best.sort(key=lambda w: -w.y)
    while len(best) > 2 and best[0].y - best[1].y < TIGHT * median_high(
        a.y - b.y for a, b in pairwise(best)
    ):
        del best[0]
    return best


def _feet(level: Sequence[Word], letter: float, sheet: Box, has_ticks: bool) -> list[Word]:
    """Find the lowest row of evenly spaced labels across the picture, from left to right."""
    has_numbers = has_ticks or sum(word.is_number for word in level) >= FEWEST_VALUES
    rows = groups(sorted(level, key=lambda w: w.y), [lambda w: w.y], SAME_LINE * letter)
    for row in rows:
        numbers = [word for word in row if word.is_number]
        even = evenly_apart(numbers, lambda w: w.x) if numbers else []
        labels = sorted(numbers if len(even) > len(row) / 2 else row, key=lambda w: w.x)
        across = labels[-1].x - labels[0].x
        gaps = [b.x - a.x for a, b in pairwise(labels)]
        if (
            len(labels) >= FEWEST_ON_AXIS
            and across >= ACROSS * sheet.width
            and (
                all(word.is_label for word in labels)
                or (has_numbers and max(gaps) <= LARGEST_GAP * median_high(gaps))
            )
        ):
            return labels
    return []


def _second_row(level: Sequence[Word], feet: Sequence[Word], letter: float) -> list[Word]:
    """Find a row of labels right above the lowest one: the years over the quarters."""
    if not feet:
        return []
    top = max(word.y for word in feet)
    labels = [word for word in level if word.is_label]
    near = [word for word in labels if 0 < word.y - top <= TWO_ROWS * letter]
    rows = groups(near, [lambda w: w.y], SAME_LINE * letter)
    return [word for row in rows if len(row) >= FEWEST_ON_AXIS for word in row]


def _paired(
    names: Sequence[Word], values: Sequence[Word], place: Callable[[Word], float], letter: float
) -> list[tuple[Word, list[Word]]]:
    """Pair each value with the nearest name, if within half of the usual gap between names."""
    order = sorted(names, key=place)
    gaps = [place(b) - place(a) for a, b in pairwise(order)]
    if not gaps or len(values) < FEWEST_VALUES:
        return []
    reach = median_high(gaps) / 2
    values_of: dict[int, list[Word]] = {}
    for value in values:
        nearest = min(range(len(order)), key=lambda i: abs(place(order[i]) - place(value)))
        if abs(place(order[nearest]) - place(value)) <= reach:
            values_of.setdefault(nearest, []).append(value)
    if len(values_of) < max(FEWEST_VALUES, FEWEST_PAIRED * len(order)):
        return []
    return [(order[i], in_order(values_of[i], letter)) for i in sorted(values_of)]


def _others(words: Sequence[Word], columns: Sequence[Word]) -> tuple[str, ...]:
    """Return each text once, without a legend's key that was read as a sign.

    Columns are read like vertical writing: from the right.
    """
    order = [*words, *sorted(columns, key=lambda w: -w.x)]
    texts = (word.text if word.is_number else _KEY.sub("", word.text) for word in order)
    return tuple(dict.fromkeys(text for text in texts if text))
