"""The axes of a chart: the labels that stand along them, and their titles. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from harness.sources.boxes import around
from harness.sources.words import (
    NEXT_LINE,
    SAME_LINE,
    Word,
    groups,
    in_order,
    joined,
    middle,
    stacked,
    touching,
)

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

    >>> from harness.sources.boxes import Box
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
