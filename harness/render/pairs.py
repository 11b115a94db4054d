"""Pairs of runs that are no contrast: what would separate them, and why some never meet."""

from collections.abc import Iterator

from harness.analysis.results import Analysis, Confounded
from harness.render.blocks import Block, Cell, Column, Command, Line, Section, Table
from harness.render.facts import StudyFacts
from harness.render.interactions import change
from harness.render.wording import Words

OFFERED = 5
"""Missing variants that are offered in brief."""


def pairs(analysis: Analysis, facts: StudyFacts, words: Words, brief: bool) -> Section:
    """Return the confounded pairs, the repeats and the runs that may not be compared."""
    blocks: list[Block] = [Line(summary(analysis, words))]
    if not brief:
        blocks += separated(analysis, words)
    blocks += offers(analysis, facts, words, brief)
    for left, right in analysis.repeats:
        blocks.append(Line(words.line("repeats", left=left, right=right)))
    for left, right, reason in analysis.incomparable:
        blocks.append(Line(words.line(f"incomparable_{reason}", left=left, right=right)))
    return Section("pairs", words.get("headings", "pairs"), tuple(blocks))


def summary(analysis: Analysis, words: Words) -> str:
    """Say how many pairs are confounded, and how many of those existing runs separate."""
    every = len(analysis.confounded)
    if not every:
        return words.line("pairs_none")
    done = sum(not pair.missing for pair in analysis.confounded)
    key = "separated_all" if done == every else "separated_some"
    return words.line(key, pairs=every, separated=done)


def separated(analysis: Analysis, words: Words) -> Iterator[Table]:
    """Yield the pairs that existing runs separate, and which runs those are."""
    keys = ("left", "right_run", "factors", "between_runs")
    rows = tuple(
        (
            Cell(pair.left),
            Cell(pair.right),
            Cell(words.list(change(one, words) for one in pair.changes)),
            Cell(words.list(pair.between)),
        )
        for pair in analysis.confounded
        if not pair.missing
    )
    if rows:
        yield Table(tuple(Column(words.get("columns", key)) for key in keys), rows)


def offers(
    analysis: Analysis, facts: StudyFacts, words: Words, brief: bool
) -> Iterator[Line | Command]:
    """Yield the pairs that nothing separates, each with the commands that would."""
    open_ = [pair for pair in analysis.confounded if pair.missing]
    shown = open_[:OFFERED] if brief else open_
    for pair in shown:
        yield from offer(pair, facts, words)
    if len(open_) > len(shown):
        yield Line(words.line("more_pairs", more=len(open_) - len(shown)))


def offer(pair: Confounded, facts: StudyFacts, words: Words) -> Iterator[Line | Command]:
    """Yield one pair and its commands."""
    lines = [run.words for run in pair.missing]
    key = "confounded" if all(lines) else "confounded_unwritable"
    factors = [change(one, words) for one in pair.changes]
    yield Line(words.line(key, left=pair.left, right=pair.right, factors=factors))
    for line in lines:
        if line:
            yield Command(command(line, facts))


def command(words: tuple[str, ...], facts: StudyFacts) -> str:
    """Return the line that collects a variant of this study.

    >>> command(("variant=ctx_k4", "prompt=strict"), StudyFacts("census", words=("study=census",)))
    'python -m harness.collect study=census variant=ctx_k4 prompt=strict'
    """
    return " ".join(("python -m harness.collect", *facts.words, *words))
