"""Each metric in each run: its mean, how many questions it rests on, which scores are missing.

Also, in full, the ranks behind the retrieval metrics, and what each metric measures.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.analysis.results import (
    Analysis,
    CorrectedDifference,
    MeanCell,
    MetricMeans,
    RetrievalFacts,
    RunSummary,
)
from harness.metrics import METRICS
from harness.records import Layer, Status
from harness.render.blocks import (
    Block,
    Cell,
    Column,
    Fold,
    Heading,
    Paragraph,
    Section,
    Table,
    Tone,
    text_table,
)
from harness.render.notation import NA, interval, mean, quantity, signed
from harness.render.sections.metric_trust import metric_title
from harness.render.sections.one_factor import change_text
from harness.render.vocabulary import Words

SPELT_OUT = 4
"""Metrics with missing scores whose means over common questions are shown in brief."""

DIRECTIONS: dict[bool | None, str] = {True: "higher", False: "lower", None: "neither"}


def averages(analysis: Analysis, words: Words, brief: bool) -> Section:
    """Return the tables of means: scores, what is missing from them, and costs."""
    quality = [m for m in analysis.means if m.layer is not Layer.COST]
    costs = [m for m in analysis.means if m.layer is Layer.COST]
    blocks: list[Block] = []
    if quality:
        blocks += means_table(quality, analysis, words, brief)
        blocks += legend(quality, analysis, words)
        blocks += common_means(quality, words) if brief else missing(quality, words)
    if not brief:
        blocks += corrected(quality, words)
        blocks += corrected_differences(analysis.corrected, words)
    if costs:
        blocks.append(Heading(words.get("headings", "costs")))
        blocks += means_table(costs, analysis, words, brief)
    return words.section("means", blocks)


def means_table(
    metrics: Sequence[MetricMeans], analysis: Analysis, words: Words, brief: bool
) -> Iterator[Block]:
    """Yield the means, in full one row per metric and in brief one row per run.

    A metric that is NA in every run is a line.
    """
    scored = [m for m in metrics if m.metric not in analysis.unscored]
    titles = [metric_title(m.metric, analysis, words) for m in scored]
    rows = [
        [mean_cell(m, i, run, analysis, words, brief) for i, run in enumerate(analysis.runs)]
        for m in scored
    ]
    if shows_returned(scored, analysis):
        titles.insert(0, words.get("columns", "returned"))
        rows.insert(0, [returned(run, words) for run in analysis.runs])
    names = [run.name for run in analysis.runs]
    if scored and brief:
        across = [list(column) for column in zip(*rows, strict=True)]
        yield grid(words.get("columns", "run"), titles, names, across)
    elif scored:
        yield grid(words.get("columns", "metric"), names, titles, rows)
    for m in metrics:
        if m.metric in analysis.unscored:
            reasons = reasons_of(m.cells, words)
            yield Paragraph(
                words.line("na_everywhere", metric=words.metric(m.metric), reasons=reasons)
            )


def grid(corner: str, heads: Sequence[str], names: Sequence[str], rows: list[list[Cell]]) -> Table:
    """Return a table whose rows have names; a name is muted where all of its row is."""
    columns = (Column(corner), *(Column(head, number=True) for head in heads))
    named = [
        (Cell(name, Tone.MUTED if {cell.tone for cell in row} == {Tone.MUTED} else Tone.PLAIN), row)
        for name, row in zip(names, rows, strict=True)
    ]
    return Table(columns, tuple((name, *row) for name, row in named))


def shows_returned(metrics: Sequence[MetricMeans], analysis: Analysis) -> bool:
    """Say whether the number of passages returned bears on these metrics."""
    layers = {metric.layer for metric in metrics}
    some = any(run.saturated for run in analysis.runs)
    return Layer.RETRIEVAL in layers or (some and Layer.COST not in layers)


def returned(run: RunSummary, words: Words) -> Cell:
    """Return how many passages came back, of how many in the index."""
    if run.k_returned is None or run.corpus_size is None:
        return Cell(quantity(run.k_returned))
    text = words.line("returned", returned=run.k_returned, corpus=run.corpus_size)
    return Cell("*" + text, Tone.CAUTION) if run.saturated else Cell(text)


def mean_cell(
    metric: MetricMeans, at: int, run: RunSummary, analysis: Analysis, words: Words, brief: bool
) -> Cell:
    """Return one run's mean with the questions scored of those asked; in full its interval too."""
    cell = metric.cells[at]
    if cell.mean is None:
        if brief:
            return Cell(words.line("na_cell", scored=cell.scored, asked=cell.asked), Tone.MUTED)
        return Cell(words.line("na", reason=reasons_of([cell], words)), Tone.MUTED)
    write = mean if metric.bounded else quantity
    star = "*" if metric.layer is Layer.RETRIEVAL and run.saturated else ""
    text = star + write(cell.mean)
    if not brief and cell.low is not None:
        text += " " + interval(cell.low, cell.high, write)
    tone = Tone.MUTED if star or metric.metric in analysis.doubted else Tone.PLAIN
    return Cell(words.line("scored", mean=text, scored=cell.scored, asked=cell.asked), tone)


def legend(metrics: Sequence[MetricMeans], analysis: Analysis, words: Words) -> Iterator[Paragraph]:
    """Yield what the signs in the table mean, where it has them."""
    yield Paragraph(words.line("n_of_n"), Tone.MUTED)
    if any(run.saturated for run in analysis.runs):
        yield Paragraph(words.line("saturated"), Tone.MUTED)
    if analysis.doubted & {m.metric for m in metrics}:
        yield Paragraph(words.line("not_trusted_note"), Tone.MUTED)


def corrected(metrics: Sequence[MetricMeans], words: Words) -> Iterator[Block]:
    """Yield the share right that scores and human grades imply, where it could be estimated."""
    rows = [
        (
            words.metric(metric.metric),
            cell.run,
            mean(cell.mean),
            mean(cell.corrected),
            interval(cell.corrected_low, cell.corrected_high, mean),
        )
        for metric in metrics
        for cell in metric.cells
        if cell.corrected is not None
    ]
    if rows:
        keys = ("metric", "run", "mean", "corrected", "interval")
        yield Heading(words.get("headings", "corrected"))
        yield text_table(words.columns(keys), rows)
        yield Paragraph(words.line("corrected_how"), Tone.MUTED)


def corrected_differences(changes: Sequence[CorrectedDifference], words: Words) -> Iterator[Block]:
    """Yield right answers by change of a factor, where people graded a random sample of them."""
    rows = [
        (
            change_text(row.change, words),
            signed(row.mean),
            interval(row.low, row.high, signed),
            words.line("returned", returned=row.changed, corpus=row.questions),
            str(row.graded),
            NA if row.metric is None else words.metric(row.metric),
            words.line(
                f"prospect_{row.prospect}",
                needed=row.needed,
                equal=row.questions - row.changed,
                questions=row.questions,
            ),
        )
        for row in changes
    ]
    if any(row.graded for row in changes):
        keys = ("factor", "total", "interval", "changed", "graded", "metric", "prospect")
        yield Heading(words.get("headings", "corrected_differences"))
        yield text_table(words.columns(keys, long=keys[-1:]), rows)
        yield Paragraph(words.line("corrected_differences_how"), Tone.MUTED)


def with_gaps(metrics: Sequence[MetricMeans]) -> list[MetricMeans]:
    """Return the metrics that are scored somewhere, but not everywhere."""
    return [
        m
        for m in metrics
        if any(cell.scored for cell in m.cells) and any(c.scored < c.asked for c in m.cells)
    ]


def common_means(metrics: Sequence[MetricMeans], words: Words) -> Iterator[Paragraph]:
    """Yield one line per metric with missing scores: why, and its means over common questions.

    Where many have missing scores, one line names them all.
    """
    gaps = with_gaps(metrics)
    if len(gaps) > SPELT_OUT:
        texts = [many_gaps(gaps, words), words.line("common_elsewhere")]
        yield Paragraph(words.join("parts", texts))
        return
    for metric in gaps:
        text = words.line(
            "na_some",
            metric=words.metric(metric.metric),
            missing=missing_in(metric),
            cells=sum(cell.asked for cell in metric.cells),
            reasons=reasons_of(metric.cells, words),
        )
        yield Paragraph(words.join("parts", [text, over_common(metric, words)]))


def many_gaps(metrics: Sequence[MetricMeans], words: Words) -> str:
    """Say how many scores of each metric are missing, and why."""
    counts = [
        words.line("na_of", metric=words.metric(metric.metric), missing=missing_in(metric))
        for metric in metrics
    ]
    return words.line(
        "na_many",
        cells=sum(cell.asked for cell in metrics[0].cells),
        metrics=words.join("list", counts),
        reasons=reasons_of([cell for metric in metrics for cell in metric.cells], words),
    )


def missing_in(metric: MetricMeans) -> int:
    """Return how many scores of a metric are missing."""
    return sum(cell.asked - cell.scored for cell in metric.cells)


def over_common(metric: MetricMeans, words: Words) -> str:
    """Say what a metric's means are over the questions that every run has scored."""
    if not metric.common:
        return words.line("common_none")
    means = [words.line("common_mean", run=cell.run, mean=cell.common) for cell in metric.cells]
    return words.line(
        "common",
        common=len(metric.common),
        questions=metric.common,
        means=words.join("list", means),
    )


def missing(metrics: Sequence[MetricMeans], words: Words) -> Iterator[Block]:
    """Yield the scores that are missing: why, and between which means they leave the run."""
    gaps = with_gaps(metrics)
    if not gaps:
        return
    keys = ("metric", "run", "scored", "reason", "mean", "bounds", "common")
    rows = [
        (
            words.metric(metric.metric),
            cell.run,
            words.line("returned", returned=cell.scored, corpus=cell.asked),
            reasons_of([cell], words),
            mean(cell.mean),
            bounds(cell),
            mean(cell.common),
        )
        for metric in gaps
        for cell in metric.cells
        if cell.scored < cell.asked
    ]
    yield Heading(words.get("headings", "missing"), fold=Fold.CLOSED)
    yield text_table(words.columns(keys), rows)
    for metric in gaps:
        yield Paragraph(f"{words.metric(metric.metric)}: {over_common(metric, words)}")


def bounds(cell: MeanCell) -> str:
    """Return between which means the missing scores leave the run."""
    if cell.worst is None or cell.best is None:
        return NA
    low, high = sorted((cell.worst, cell.best))
    return interval(low, high, mean)


def reasons_of(cells: Sequence[MeanCell], words: Words) -> str:
    """Return why scores are missing, with counts where there is more than one reason.

    A run that was asked nothing has a reason too: no reason would read as no missing score.
    """
    counts: Counter[str] = Counter()
    for cell in cells:
        counts.update(cell.statuses)
    if not counts:
        return words.get("statuses", Status.NOT_ASKED)
    if len(counts) == 1:
        return words.get("statuses", next(iter(counts)))
    return words.list(
        words.line("reasons", reason=words.get("statuses", status), count=count)
        for status, count in counts.most_common()
    )


def retrieval(analysis: Analysis, words: Words) -> Section | None:
    """Return the rank of each run's first useful passage, question by question."""
    if not analysis.retrieval:
        return None
    keys = ("run", "first_rank", "hits")
    rows = []
    for row in analysis.retrieval:
        hits = (words.line("hits", k=k, hit=hit) for k, hit in enumerate(row.hits, 1))
        rows.append((row.run, ranks(row, words), words.list(hits)))
    sources = dict.fromkeys(words.get("sources", row.source) for row in analysis.retrieval)
    blocks = (
        text_table(words.columns(keys, long=keys[1:]), rows),
        Paragraph(words.line("useful_by", sources=sources), Tone.MUTED),
    )
    return words.section("retrieval", blocks, aside=True)


def ranks(row: RetrievalFacts, words: Words) -> str:
    """Return each question with the rank of its first useful passage."""
    return words.list(
        words.line(
            "rank", question=question, rank=words.line("rank_none") if at is None else str(at)
        )
        for question, at in zip(row.questions, row.first_useful, strict=True)
    )


def definitions(analysis: Analysis, words: Words) -> Section:
    """Return what each metric measures, under the spelling that the command line knows."""
    rows = [
        (
            words.metric(metric.metric),
            metric.metric,
            words.get("layers", metric.layer.value),
            words.get("directions", DIRECTIONS[metric.higher_is_better]),
            meaning(metric.metric, words),
        )
        for metric in analysis.means
    ]
    columns = words.columns(("metric", "name", "layer", "direction", "meaning"))
    return words.section("reading", (text_table(columns, rows),), aside=True)


def meaning(metric: str, words: Words) -> str:
    """Return what a metric measures: translated, else the first line of its docstring."""
    meanings, base = words.texts["meanings"], metric.partition("@")[0]
    described = METRICS[metric].about if metric in METRICS else ""
    return meanings.get(metric) or meanings.get(base) or described
