"""Whether one factor's effect depends on another's: what complete squares of runs say."""

from harness.analysis.results import Analysis, Change
from harness.render.blocks import Block, Cell, Column, Line, Section, Table, Tone
from harness.render.kinds import kinds_of, title
from harness.render.quantities import count, interval, probability, signed, signed_quantity
from harness.render.wording import Words

KEYS = ("first", "second", "metric", "change", "questions", "interval", "p")


def interactions(analysis: Analysis, words: Words) -> Section | None:
    """Return a row a square and metric; None where no square is complete."""
    kinds = kinds_of(analysis)
    rows = []
    for square in analysis.interactions:
        for row in square.differences:
            if row.mean is None:
                continue
            write = signed_quantity if row.metric in kinds.unbounded else signed
            texts = (
                change(square.first, words),
                change(square.second, words),
                title(row.metric, kinds, words),
                write(row.mean),
                count(row.questions),
                interval(row.low, row.high, write),
                probability(row.p),
            )
            rows.append(tuple(Cell(text) for text in texts))
    if not rows:
        return None
    numbers = ("change", "questions", "interval", "p")
    columns = tuple(Column(words.get("columns", key), number=key in numbers) for key in KEYS)
    blocks: tuple[Block, ...] = (
        Table(columns, tuple(rows)),
        Line(words.line("exploratory"), Tone.MUTED),
    )
    return Section("interactions", words.get("headings", "interactions"), blocks)


def change(one: Change, words: Words) -> str:
    """Return one factor with its value on either side."""
    return f"{one.factor} {words.value(one.left)} -> {words.value(one.right)}"
