"""What several runs show together: sweeps, interactions, counterfactuals, confounded pairs."""

from collections.abc import Iterator

from harness.analysis.results import Analysis, Curve
from harness.render.blocks import (
    Block,
    Column,
    Heading,
    Paragraph,
    Section,
    Table,
    Tone,
    text_table,
)
from harness.render.notation import (
    count,
    interval,
    mean,
    probability,
    quantity,
    signed,
    signed_quantity,
)
from harness.render.sections.finding_sentences import sentence
from harness.render.sections.metric_trust import metric_title
from harness.render.sections.one_factor import change_text
from harness.render.vocabulary import Words

SWEPT_IN_BRIEF = 5
"""Metrics of a sweep that are shown in brief."""

MOST_SPLIT = 100
"""Counterfactual pairs whose differences are listed."""


def sweeps(analysis: Analysis, words: Words, brief: bool) -> Section | None:
    """Return each sweep as a table in number order; None without sweeps."""
    if not analysis.curves:
        return None
    blocks: list[Block] = []
    for curve in analysis.curves:
        title = words.line("sweep", factor=curve.factor)
        blocks.append(Heading(title, ("sweep", curve.factor)))
        blocks.append(sweep(curve, analysis, words, brief))
    return words.section("curves", blocks)


def sweep(curve: Curve, analysis: Analysis, words: Words, brief: bool) -> Table:
    """Return one row per value of the factor, one column per metric."""
    scored = [m for m in curve.points[0].means if any(p.scored[m] for p in curve.points)]
    metrics = scored[:SWEPT_IN_BRIEF] if brief else scored
    columns = (
        Column(curve.factor, number=True),
        Column(words.get("columns", "run")),
        *(Column(metric_title(metric, analysis, words), number=True) for metric in metrics),
    )
    rows = []
    for point in curve.points:
        means = [
            (quantity if metric in analysis.unbounded else mean)(point.means[metric])
            + f" (n={point.scored[metric]})"
            for metric in metrics
        ]
        rows.append((quantity(point.value), point.run, *means))
    return text_table(columns, rows)


def interactions(analysis: Analysis, words: Words) -> Section | None:
    """Return one row per square of runs and metric; None where no square is complete."""
    rows = []
    for square in analysis.interactions:
        for row in square.differences:
            if row.mean is None:
                continue
            write = signed_quantity if row.metric in analysis.unbounded else signed
            rows.append(
                (
                    change_text(square.first, words),
                    change_text(square.second, words),
                    metric_title(row.metric, analysis, words),
                    write(row.mean),
                    count(row.questions),
                    interval(row.low, row.high, write),
                    probability(row.p),
                )
            )
    if not rows:
        return None
    keys = ("first", "second", "metric", "change", "questions", "interval", "p")
    table = text_table(words.columns(keys), rows)
    blocks = (table, Paragraph(words.line("exploratory"), Tone.MUTED))
    return words.section("interactions", blocks, aside=True)


def counterfactuals(analysis: Analysis, words: Words, brief: bool = False) -> Section | None:
    """Return the differences split into retrieval and generation; None where none is split.

    A row is a pair and metric: the difference and its two parts, which add up to it. In brief each
    pair has its first metric only, which is right and wrong where that is known.
    """
    rows = []
    split_up = [pair for pair in analysis.counterfactuals if pair.splits]
    for pair in split_up[:MOST_SPLIT]:
        for split in pair.splits[: 1 if brief else None]:
            write = signed_quantity if split.metric in analysis.unbounded else signed
            parts = map(write, (split.total, split.retrieval, split.generation))
            title = metric_title(split.metric, analysis, words)
            rows.append((pair.left, pair.right, title, *parts, count(split.questions)))
    if not rows:
        return None
    keys = (
        *("left", "right_run", "metric"),
        *("total", "from_retrieval", "from_generation", "questions"),
    )
    blocks: list[Block] = [text_table(words.columns(keys), rows)]
    if more := len(split_up[MOST_SPLIT:]):
        blocks.append(Paragraph(words.line("more", more=more)))
    return words.section("counterfactuals", blocks, aside=True)


def pairs(analysis: Analysis, words: Words, brief: bool) -> Section:
    """Return the confounded pairs, the repeats and the runs that may not be compared."""
    blocks: list[Block] = [Paragraph(separated_count(analysis, words))]
    if not brief:
        blocks += separated(analysis, words)
    for left, right in analysis.repeats:
        blocks.append(Paragraph(words.line("repeats", left=left, right=right)))
    apart = (found for found in analysis.findings if found.kind == "not_comparable")
    blocks += [Paragraph(sentence(found, words)) for found in apart]
    return words.section("pairs", blocks, aside=True)


def separated_count(analysis: Analysis, words: Words) -> str:
    """Say how many pairs are confounded, and how many of those existing runs separate."""
    every = len(analysis.confounded)
    if not every:
        return words.line("pairs_none")
    done = sum(not pair.missing for pair in analysis.confounded)
    key = "separated_all" if done == every else "separated_some"
    return words.line(key, pairs=every, separated=done)


def separated(analysis: Analysis, words: Words) -> Iterator[Table]:
    """Yield the confounded pairs, and which existing runs separate each."""
    rows = [
        (
            pair.left,
            pair.right,
            words.list(change_text(change, words) for change in pair.changes),
            words.line("unseparated") if pair.missing else words.list(pair.between),
        )
        for pair in analysis.confounded
    ]
    if rows:
        yield text_table(words.columns(("left", "right_run", "factors", "between_runs")), rows)
