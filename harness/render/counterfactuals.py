"""Pairs in which retrieval and generation both changed: which of the two made the difference."""

from harness.analysis.results import Analysis, Counterfactual
from harness.render.blocks import Block, Cell, Column, Command, Line, Section, Table
from harness.render.facts import StudyFacts
from harness.render.kinds import kinds_of, title
from harness.render.pairs import command
from harness.render.quantities import count, signed, signed_quantity
from harness.render.wording import Words

OFFERED = {True: 3, False: 10}
"""Pairs whose missing runs are offered, brief and in full."""

RECORDED = "recorded"
"""The note on a run whose replies are replayed, so that no other prompt can be answered."""

KEYS = ("left", "right_run", "metric", "total", "from_retrieval", "from_generation", "questions")


def counterfactuals(
    analysis: Analysis, facts: StudyFacts, words: Words, brief: bool = False
) -> Section | None:
    """Return the differences that are split, and the runs that would split the others.

    In brief each pair has its first metric only, which is right and wrong where that is known.
    """
    if not analysis.counterfactuals:
        return None
    blocks: list[Block] = []
    rows = [
        row for pair in analysis.counterfactuals for row in rows_of(pair, analysis, words, brief)
    ]
    if rows:
        numbers = KEYS[3:]
        columns = tuple(Column(words.get("columns", key), number=key in numbers) for key in KEYS)
        blocks.append(Table(columns, tuple(rows)))
    open_ = [pair for pair in analysis.counterfactuals if pair.missing]
    if open_ and any(RECORDED in run.notes for run in analysis.runs):
        blocks.append(Line(words.line("crossed_recorded", pairs=len(open_))))
        open_ = []
    offered = OFFERED[brief]
    for pair in open_[:offered]:
        blocks.append(Line(words.line("crossed", left=pair.left, right=pair.right)))
        blocks += [Command(command(run.words, facts)) for run in pair.missing]
    if len(open_) > offered:
        key = "more_pairs" if brief else "more"
        blocks.append(Line(words.line(key, more=len(open_) - offered)))
    return Section("counterfactuals", words.get("headings", "counterfactuals"), tuple(blocks))


def rows_of(
    pair: Counterfactual, analysis: Analysis, words: Words, brief: bool
) -> list[tuple[Cell, ...]]:
    """Return a row a metric: the difference and its two parts, which add up to it."""
    kinds = kinds_of(analysis)
    rows = []
    for split in pair.splits[:1] if brief else pair.splits:
        write = signed_quantity if split.metric in kinds.unbounded else signed
        texts = (
            pair.left,
            pair.right,
            title(split.metric, kinds, words),
            write(split.total),
            write(split.retrieval),
            write(split.generation),
            count(split.questions),
        )
        rows.append(tuple(Cell(text) for text in texts))
    return rows
