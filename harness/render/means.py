"""The mean of each metric in each run, with the questions that it rests on."""

from collections.abc import Iterator, Sequence

from harness.analysis.results import Analysis, MetricMeans, RunSummary
from harness.records import Layer
from harness.render.blocks import Block, Cell, Column, Heading, Line, Section, Table, Tone
from harness.render.kinds import Kinds, kinds_of, title
from harness.render.missing import common_means, missing, reasons_of
from harness.render.quantities import interval, mean, quantity
from harness.render.wording import Words


def means(analysis: Analysis, words: Words, brief: bool) -> Section:
    """Return the tables of means: scores, what is missing from them, and costs."""
    quality = [m for m in analysis.means if m.layer is not Layer.COST]
    costs = [m for m in analysis.means if m.layer is Layer.COST]
    blocks: list[Block] = []
    if quality:
        blocks += table_of(quality, analysis, words, brief)
        blocks += notes(quality, analysis, words)
        blocks += common_means(quality, words) if brief else missing(quality, words)
    if not brief:
        blocks += corrected(quality, words)
    if costs:
        blocks.append(Heading(words.get("headings", "costs")))
        blocks += table_of(costs, analysis, words, brief)
    return Section("means", words.get("headings", "means"), tuple(blocks))


def table_of(
    metrics: Sequence[MetricMeans], analysis: Analysis, words: Words, brief: bool
) -> Iterator[Block]:
    """Yield a row a run, a column a metric; a metric that is NA throughout is one line."""
    kinds = kinds_of(analysis)
    full = [m for m in metrics if m.metric not in kinds.unscored]
    retrieval = says_how_much(full, analysis)
    columns = [Column(words.get("columns", "run"))]
    if retrieval:
        columns.append(Column(words.get("columns", "returned"), number=True))
    columns += [Column(title(m.metric, kinds, words), number=True) for m in full]
    rows = []
    for i, run in enumerate(analysis.runs):
        row = [Cell(run.name)]
        if retrieval:
            row.append(returned(run, words))
        row += [mean_cell(m, i, analysis, kinds, words, brief) for m in full]
        rows.append(tuple(row))
    if full:
        yield Table(tuple(columns), tuple(rows))
    yield from unscored(metrics, kinds, words)


def unscored(metrics: Sequence[MetricMeans], kinds: Kinds, words: Words) -> Iterator[Line]:
    """Yield a line a metric that is NA in every run, with the reasons."""
    for metric in metrics:
        if metric.metric in kinds.unscored:
            reasons = reasons_of(metric.cells, words)
            name = words.metric(metric.metric)
            yield Line(words.line("na_everywhere", metric=name, reasons=reasons))


def says_how_much(metrics: Sequence[MetricMeans], analysis: Analysis) -> bool:
    """Say whether a table of these metrics needs to tell how many passages came back."""
    layers = {metric.layer for metric in metrics}
    some = any(saturated(run) for run in analysis.runs)
    return Layer.RETRIEVAL in layers or (some and Layer.COST not in layers)


def returned(run: RunSummary, words: Words) -> Cell:
    """Return how many passages came back, of how many in the index."""
    if run.k_returned is None or run.corpus_size is None:
        return Cell(quantity(run.k_returned))
    text = words.line("returned", returned=run.k_returned, corpus=run.corpus_size)
    return Cell("*" + text, Tone.CAUTION) if saturated(run) else Cell(text)


def saturated(run: RunSummary) -> bool:
    """Say whether a run retrieves so much of its index that retrieval scores say little."""
    return run.saturated


def mean_cell(
    metric: MetricMeans, at: int, analysis: Analysis, kinds: Kinds, words: Words, brief: bool
) -> Cell:
    """Return one run's mean with n of n; in full also its interval."""
    cell, run = metric.cells[at], analysis.runs[at]
    if cell.mean is None:
        if brief:
            return Cell(words.line("na_cell", scored=cell.scored, asked=cell.asked), Tone.MUTED)
        return Cell(words.line("na", reason=reasons_of([cell], words)), Tone.MUTED)
    write = mean if metric.bounded else quantity
    text = write(cell.mean)
    star = "*" if metric.layer is Layer.RETRIEVAL and saturated(run) else ""
    if not brief and cell.low is not None:
        text += " " + interval(cell.low, cell.high, write)
    tone = Tone.MUTED if star or metric.metric in kinds.doubted else Tone.PLAIN
    return Cell(words.line("scored", mean=star + text, scored=cell.scored, asked=cell.asked), tone)


def notes(metrics: Sequence[MetricMeans], analysis: Analysis, words: Words) -> Iterator[Line]:
    """Yield what the signs in the table mean, where they stand in it."""
    yield Line(words.line("n_of_n"), Tone.MUTED)
    if any(saturated(run) for run in analysis.runs):
        yield Line(words.line("saturated"), Tone.MUTED)
    if kinds_of(analysis).doubted & {m.metric for m in metrics}:
        yield Line(words.line("not_trusted_note"), Tone.MUTED)


def corrected(metrics: Sequence[MetricMeans], words: Words) -> Iterator[Block]:
    """Yield the means with the graded answers' error taken off, where they were worked out."""
    rows = [
        (
            Cell(words.metric(metric.metric)),
            Cell(cell.run),
            Cell(mean(cell.mean)),
            Cell(mean(cell.corrected)),
            Cell(interval(cell.corrected_low, cell.corrected_high, mean)),
        )
        for metric in metrics
        for cell in metric.cells
        if cell.corrected is not None
    ]
    if rows:
        yield Heading(words.get("headings", "corrected"))
        keys = ("metric", "run", "mean", "corrected", "interval")
        columns = tuple(
            Column(words.get("columns", key), number=key not in keys[:2]) for key in keys
        )
        yield Table(columns, tuple(rows))
