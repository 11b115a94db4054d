"""Each sweep over one factor, in number order."""

from harness.analysis.results import Analysis, Curve
from harness.render.blocks import Block, Cell, Column, Heading, Section, Table
from harness.render.kinds import Kinds, kinds_of, title
from harness.render.quantities import mean, quantity
from harness.render.wording import Words

FIRST = 5
"""Metrics of a sweep that are shown in brief."""


def curves(analysis: Analysis, words: Words, brief: bool) -> Section | None:
    """Return each sweep as a table in number order; None where there is none."""
    if not analysis.curves:
        return None
    kinds = kinds_of(analysis)
    blocks: list[Block] = []
    for curve in analysis.curves:
        blocks.append(Heading(words.line("sweep", factor=curve.factor)))
        blocks.append(points(curve, kinds, words, brief))
    return Section("curves", words.get("headings", "curves"), tuple(blocks))


def points(curve: Curve, kinds: Kinds, words: Words, brief: bool) -> Table:
    """Return a row a value of the factor, a column a metric."""
    scored = [m for m in curve.points[0].means if any(p.scored[m] for p in curve.points)]
    metrics = scored[:FIRST] if brief else scored
    columns = (
        Column(curve.factor, number=True),
        Column(words.get("columns", "run")),
        *(Column(title(metric, kinds, words), number=True) for metric in metrics),
    )
    rows = []
    for point in curve.points:
        means = [
            (quantity if metric in kinds.unbounded else mean)(point.means[metric])
            + f" (n={point.scored[metric]})"
            for metric in metrics
        ]
        rows.append((Cell(quantity(point.value)), Cell(point.run), *(Cell(text) for text in means)))
    return Table(columns, tuple(rows))
