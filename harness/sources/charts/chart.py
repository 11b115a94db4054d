"""What the words found in a chart are: axes, titles, and which value belongs to which label.

Values are paired with labels by position. What is drawn without a printed value, the
height of a bar or the course of a line, is not read at all. Pure.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from harness.sources.charts.words import (
    NEXT_LINE,
    SAME_LINE,
    Word,
    groups,
    in_order,
    joined,
    middle,
    split,
    stacked,
    touching,
    without,
)
from harness.sources.pdf.boxes import Box, around

FEWEST_ON_AXIS = 3
FEWEST_UNEVEN = 4
"""Numbers that grow upwards in a column and make an axis, though not on a linear scale."""
MISFIT = 0.25
"""Steps of an axis by which a tick may miss its place."""
MOST_IN_ORDER = 0.75
"""Share of an axis's numbers from which on the others are misread."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its title, empty where there is none, and the labels along it."""

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

    >>> from harness.sources.pdf.boxes import Box
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
    """Tell whether a word stands at the left of a vertical axis, close by, as its title does."""
    axis = around(tick.box for tick in column)
    letter = middle(tick.box.height for tick in column)
    return 0 <= axis.left - word.box.right <= 2 * letter and axis.bottom <= word.y <= axis.top


def below(words: Sequence[Word], feet: Sequence[Word], letter: float) -> list[Word]:
    """Find the title of the horizontal axis: short words right under its labels."""
    row = around(word.box for word in feet)
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
    """Give each title to the vertical axis it stands next to."""
    titles: list[tuple[float, str]] = []
    for block in touching(sideways, letter):
        lines = groups(sorted(block, key=lambda w: w.x), [lambda w: w.x], SAME_LINE * letter)
        text = [word.text for line in lines for word in sorted(line, key=lambda w: w.y)]
        titles.append((around(word.box for word in block).left, joined(text)))
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
    """Put the horizontal axis together; a number out of order among many was misread."""
    labels = list(feet)
    if all(word.is_number for word in feet):
        rising = _rising(feet)
        labels = rising if len(rising) >= MOST_IN_ORDER * len(feet) else labels
    titles = dict.fromkeys(word.text for word in in_order(title, letter))
    return Axis(joined(titles), tuple(dict.fromkeys(word.text for word in labels)))


def _rising(numbers: Sequence[Word]) -> list[Word]:
    """Return the longest run of numbers, others left out, that grows from left to right."""
    runs: list[list[Word]] = []
    for number in numbers:
        before = [run for run in runs if run[-1].value < number.value]
        runs.append([*max(before, key=len, default=[]), number])
    return max(runs, key=len, default=[])


WIDE_TITLE = 0.15
"""Share of the picture's width from which on words above a chart are its title."""
TITLE_HEIGHT = 0.25
"""Share of the picture's height, from the top, in which a title stands."""
LARGEST_GAP = 1.6
"""Usual gaps between the labels of an axis; where more are missing it is none."""
ACROSS = 0.3
"""Share of the picture's width that the labels of a horizontal axis go across."""
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
    """The words of a picture, sorted by what they are."""

    titles: tuple[str, ...]
    vertical: tuple[Axis, ...]
    """From left to right; labels from the bottom upwards."""
    horizontal: Axis | None
    values: tuple[tuple[str, tuple[str, ...]], ...]
    """A label with the values printed at it."""
    others: tuple[str, ...]
    """Legends, remarks and whatever else, in reading order."""


def read_chart(found: Iterable[Word]) -> Chart:
    """Sort the words of a picture by where they stand.

    >>> words = [Word("West", Box(0, 0, 40, 10)), Word("East", Box(60, 0, 100, 10))]
    >>> words += [Word("12", Box(10, 50, 30, 60)), Word("7.5", Box(70, 20, 90, 30))]
    >>> words += [Word("South", Box(120, 0, 160, 10))]
    >>> read_chart(words).values
    (('West', ('12',)), ('East', ('7.5',)))
    """
    words = [part for word in found for part in split(word)]
    if not words:
        return Chart((), (), None, (), ())
    letter = middle(word.letter for word in words)
    sheet = around(word.box for word in words)
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
    held = [word for name, numbers in pairs for word in (name, *numbers)]
    plot = [*feet, *second, *held, *(tick for column in columns for tick in column)]
    rest = without(level, plot)
    title = below(rest, feet, letter) if feet else []
    beside = [word for word in rest if any(is_beside(word, column) for column in columns)]
    rest = without(rest, [*title, *beside])
    titles = _titles(rest, plot, sheet)
    return Chart(
        titles=tuple(joined(w.text for w in block) for block in stacked(titles, letter)),
        vertical=vertical(columns, sideways, beside, letter) if plot else (),
        horizontal=horizontal([*second, *feet], title, letter) if feet else None,
        values=tuple((name.text, tuple(word.text for word in held)) for name, held in pairs),
        others=_others(in_order(without(rest, titles), letter), [] if plot else sideways),
    )


def _titles(words: Sequence[Word], plot: Sequence[Word], sheet: Box) -> list[Word]:
    """Find the title of a chart: long words above all that is plotted."""
    highest = max((word.y for word in plot), default=sheet.top)
    lowest = max(highest, sheet.top - TITLE_HEIGHT * sheet.height)
    wide = WIDE_TITLE * sheet.width
    return [w for w in words if w.y > lowest and w.box.width >= wide and not w.is_number]


def _row_names(level: Sequence[Word], letter: float) -> list[Word]:
    """Find the names of rows at the left: of lying bars, or of a table."""
    names = [word for word in level if not word.is_number]
    edges = [lambda w: w.box.right, lambda w: w.box.left]
    numbers = [word for word in level if word.is_number]
    best: list[Word] = []
    for group in groups(names, edges, SAME_LINE * letter):
        box = around(word.box for word in group)
        right = [n for n in numbers if n.box.left > box.left and box.bottom <= n.y <= box.top]
        if len(group) >= FEWEST_ON_AXIS and 2 * len(right) > len(numbers):
            best = max(best, group, key=len)
    best.sort(key=lambda w: -w.y)
    while len(best) > 2 and best[0].y - best[1].y < TIGHT * _usual_gap(best):
        del best[0]
    return best


def _usual_gap(names: Sequence[Word]) -> float:
    return middle(a.y - b.y for a, b in pairwise(names))


def _feet(level: Sequence[Word], letter: float, sheet: Box, has_ticks: bool) -> list[Word]:
    """Find the lowest row of labels that goes across the picture evenly, from left to right."""
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
                or (has_numbers and max(gaps) <= LARGEST_GAP * middle(gaps))
            )
        ):
            return labels
    return []


def _second_row(level: Sequence[Word], feet: Sequence[Word], letter: float) -> list[Word]:
    """Find a row of labels right above the lowest: the years over the quarters."""
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
    """Give each value to the nearest name, if that is no further than half way to the next."""
    order = sorted(names, key=place)
    gaps = [place(b) - place(a) for a, b in pairwise(order)]
    if not gaps or len(values) < FEWEST_VALUES:
        return []
    reach = middle(gaps) / 2
    held: dict[int, list[Word]] = {}
    for value in values:
        nearest = min(range(len(order)), key=lambda i: abs(place(order[i]) - place(value)))
        if abs(place(order[nearest]) - place(value)) <= reach:
            held.setdefault(nearest, []).append(value)
    if len(held) < max(FEWEST_VALUES, FEWEST_PAIRED * len(order)):
        return []
    return [(order[i], in_order(held[i], letter)) for i in sorted(held)]


def _others(words: Sequence[Word], columns: Sequence[Word]) -> tuple[str, ...]:
    """Return each text once, without the key of the legend that was read as a sign.

    Columns are read as vertical writing is: from the right.
    """
    order = [*words, *sorted(columns, key=lambda w: -w.x)]
    texts = (word.text if word.is_number else _KEY.sub("", word.text) for word in order)
    return tuple(dict.fromkeys(text for text in texts if text))
