"""The scores that are NA: why, what they could have been, and what holds without them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from harness.analysis.results import MeanCell, MetricMeans
from harness.records import Status
from harness.render.blocks import Block, Cell, Column, Heading, Line, Table
from harness.render.quantities import NA, interval, mean
from harness.render.wording import Words

SPELT_OUT = 4
"""Metrics with gaps whose means over common questions are shown in brief."""


def with_gaps(metrics: Sequence[MetricMeans]) -> list[MetricMeans]:
    """Return the metrics that are scored somewhere, but not everywhere."""
    return [
        m
        for m in metrics
        if any(cell.scored for cell in m.cells) and any(c.scored < c.asked for c in m.cells)
    ]


def common_means(metrics: Sequence[MetricMeans], words: Words) -> Iterator[Line]:
    """Yield a line a metric with gaps: why, and its means over the questions all runs share.

    Where many have gaps, one line names them all.
    """
    gaps = with_gaps(metrics)
    told = [
        words.line(
            "na_some",
            metric=words.metric(metric.metric),
            missing=sum(cell.asked - cell.scored for cell in metric.cells),
            cells=sum(cell.asked for cell in metric.cells),
            reasons=reasons_of(metric.cells, words),
        )
        for metric in gaps
    ]
    if len(gaps) > SPELT_OUT:
        yield Line(words.parts([gaps_of_many(gaps, words), words.line("common_elsewhere")]))
        return
    for metric, text in zip(gaps, told, strict=True):
        yield Line(words.parts([text, over_common(metric, words)]))


def gaps_of_many(metrics: Sequence[MetricMeans], words: Words) -> str:
    """Return how many scores of each metric are missing, and why."""
    cells = [cell for metric in metrics for cell in metric.cells]
    told = [
        words.line(
            "na_of",
            metric=words.metric(metric.metric),
            missing=sum(cell.asked - cell.scored for cell in metric.cells),
        )
        for metric in metrics
    ]
    return words.line(
        "na_many",
        cells=sum(cell.asked for cell in metrics[0].cells),
        metrics=words.texts["joins"]["list"].join(told),
        reasons=reasons_of(cells, words),
    )


def over_common(metric: MetricMeans, words: Words) -> str:
    """Return a metric's means over the questions that every run has scored."""
    if not metric.common:
        return words.line("common_none")
    told = [words.line("common_mean", run=cell.run, mean=cell.common) for cell in metric.cells]
    return words.line(
        "common",
        common=len(metric.common),
        questions=metric.common,
        means=words.texts["joins"]["list"].join(told),
    )


def missing(metrics: Sequence[MetricMeans], words: Words) -> Iterator[Block]:
    """Yield the scores that are missing: why, and what they could have made of the mean."""
    gaps = with_gaps(metrics)
    if not gaps:
        return
    yield Heading(words.get("headings", "missing"))
    keys = ("metric", "run", "scored", "reason", "mean", "bounds", "common")
    numbers = {"scored", "mean", "bounds", "common"}
    columns = tuple(Column(words.get("columns", key), number=key in numbers) for key in keys)
    rows = [
        (
            Cell(words.metric(metric.metric)),
            Cell(cell.run),
            Cell(words.line("returned", returned=cell.scored, corpus=cell.asked)),
            Cell(reasons_of([cell], words)),
            Cell(mean(cell.mean)),
            Cell(bounds(cell)),
            Cell(mean(cell.common)),
        )
        for metric in gaps
        for cell in metric.cells
        if cell.scored < cell.asked
    ]
    yield Table(columns, tuple(rows))
    for metric in gaps:
        yield Line(f"{words.metric(metric.metric)}: {over_common(metric, words)}")


def bounds(cell: MeanCell) -> str:
    """Return between which means the missing scores leave the run."""
    if cell.worst is None or cell.best is None:
        return NA
    low, high = sorted((cell.worst, cell.best))
    return interval(low, high, mean)


def reasons_of(cells: Sequence[MeanCell], words: Words) -> str:
    """Return why scores are missing, with counts where there is more than one reason.

    A run that was asked nothing says so too: no reason must not read as no gap.
    """
    counts: Counter[str] = Counter()
    for cell in cells:
        counts.update(cell.statuses)
    if not counts:
        return words.get("statuses", Status.NOT_ASKED)
    if len(counts) == 1:
        return words.get("statuses", next(iter(counts)))
    return words.list(told(counts, words))


def told(counts: Mapping[str, int], words: Words) -> list[str]:
    """Return each reason with its count, the commonest first."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return [
        words.line("reasons", reason=words.get("statuses", status), count=count)
        for status, count in ordered
    ]
