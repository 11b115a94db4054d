"""The mean of each metric in each run, with its interval and the questions it rests on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.analysis.results import Analysis, MeanCell, MetricMeans, RunSummary
from harness.records import Layer
from harness.render.blocks import Cell
from harness.render.kinds import Kinds, kinds_of, title
from harness.render.means import returned, saturated, says_how_much
from harness.render.missing import reasons_of
from harness.render.quantities import interval, mean, quantity
from harness.render.wording import Words


@dataclass(frozen=True, slots=True)
class Average:
    """One metric in one run."""

    mean: str
    interval: str
    scored: str
    """Questions scored of questions asked."""
    na: str
    """Why there is no mean; empty where there is one."""
    muted: bool
    """It says little: the index is saturated, or the metric is not trusted."""


@dataclass(frozen=True, slots=True)
class Row:
    """One metric over all runs."""

    title: str
    cells: tuple[Average, ...]
    grey: bool


def average_rows(metrics: Sequence[MetricMeans], analysis: Analysis, words: Words) -> Iterator[Row]:
    """Yield a row a metric that has a score in some run."""
    kinds = kinds_of(analysis)
    for metric in metrics:
        if metric.metric in kinds.unscored:
            continue
        cells = tuple(
            average(metric, cell, run, kinds, words)
            for cell, run in zip(metric.cells, analysis.runs, strict=True)
        )
        yield Row(title(metric.metric, kinds, words), cells, metric.metric in kinds.doubted)


def average(
    metric: MetricMeans, cell: MeanCell, run: RunSummary, kinds: Kinds, words: Words
) -> Average:
    """Return one cell."""
    if cell.mean is None:
        return Average("", "", "", words.line("na", reason=reasons_of([cell], words)), muted=True)
    write = mean if metric.bounded else quantity
    doubtful = metric.layer is Layer.RETRIEVAL and saturated(run)
    return Average(
        mean=("*" if doubtful else "") + write(cell.mean),
        interval="" if cell.low is None else interval(cell.low, cell.high, write),
        scored=f"({cell.scored}/{cell.asked})",
        na="",
        muted=doubtful or metric.metric in kinds.doubted,
    )


def passages_returned(
    metrics: Sequence[MetricMeans], analysis: Analysis, words: Words
) -> tuple[Cell, ...]:
    """Return how many passages came back in each run, where that bears on the scores."""
    if not says_how_much(metrics, analysis):
        return ()
    return tuple(returned(run, words) for run in analysis.runs)
