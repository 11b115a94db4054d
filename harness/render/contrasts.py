"""One variable at a time: what each fair contrast did, and where it can have come from."""

from collections.abc import Iterator, Sequence

from harness.analysis.results import (
    Analysis,
    Attribution,
    Contrast,
    PassageChange,
    Transition,
)
from harness.analysis.study_table import RIGHT, UNTESTED
from harness.render.blocks import Block, Cell, Column, Heading, Line, Section, Table, Tone
from harness.render.differences import NAMED, measured, turned
from harness.render.interactions import change
from harness.render.kinds import kinds_of
from harness.render.opening import view_of
from harness.render.quantities import probability, signed
from harness.render.sentences import answers_changed
from harness.render.wording import Words

IN_FULL = {True: 10, False: 100}
"""Contrasts with a table of their own, brief and in full; the others are a row each."""


def contrasts(analysis: Analysis, words: Words, brief: bool) -> Section:
    """Return every fair contrast in view, the first of them with all their metrics."""
    blocks: list[Block] = []
    view = view_of(analysis)
    if not analysis.contrasts:
        none = words.line("view_none", view=view) if view else words.line("contrasts_none")
        blocks.append(Line(none, Tone.CAUTION))
    else:
        blocks += family(analysis, words)
    kinds = kinds_of(analysis)
    full = analysis.contrasts[: IN_FULL[brief]]
    for contrast in full:
        blocks.append(Heading(header(contrast, words)))
        blocks += said_of(contrast, words, brief, analysis.family.alpha)
        blocks += measured(contrast, kinds, words, brief)
    rest = analysis.contrasts[len(full) :]
    if rest:
        blocks.append(Heading(words.get("headings", "more_contrasts")))
        blocks.append(Line(words.line("more_contrasts", more=len(rest))))
        blocks.append(in_short(rest, words))
    return Section("contrasts", words.get("headings", "contrasts"), tuple(blocks))


def family(analysis: Analysis, words: Words) -> Iterator[Line]:
    """Yield how to read the numbers below, and how many tests they are corrected for."""
    yield Line(words.line("legend"), Tone.MUTED)
    tests = analysis.family
    lines = [words.line("family", tests=tests.tests, alpha=tests.alpha)]
    if tests.primary:
        lines.append(words.line("primary", primary=tests.primary))
    yield Line(words.parts(lines), Tone.MUTED)
    if analysis.clusters is not None:
        numbers = {"clusters": analysis.clusters, "questions": len(analysis.questions)}
        yield Line(words.line("clusters", **numbers), Tone.MUTED)
    if any(metric.metric in UNTESTED for metric in analysis.means):
        yield Line(words.line("untested"), Tone.MUTED)
    if kinds_of(analysis).doubted:
        yield Line(words.line("not_trusted_note"), Tone.MUTED)


def header(contrast: Contrast, words: Words) -> str:
    """Return the one change, and the two runs that make it."""
    change = contrast.change
    return words.line(
        "contrast",
        factor=change.factor,
        left_value=words.value(change.left),
        right_value=words.value(change.right),
        left=contrast.left,
        right=contrast.right,
    )


def said_of(contrast: Contrast, words: Words, brief: bool, alpha: float) -> Iterator[Line]:
    """Yield where the changes can have come from, and which answers turned."""
    told = [words.get("attribution", contrast.attribution)]
    if contrast.attribution is Attribution.RETRIEVAL_CHANGED:
        told.append(split(contrast.passages, words))
    yield Line(words.texts["joins"]["clauses"].join(told))
    if contrast.change.leaves and not brief:
        yield Line(words.line("leaves", leaves=contrast.change.leaves), Tone.MUTED)
    right = contrast.difference(RIGHT)
    if right is not None and contrast.attribution is not Attribution.NO_EFFECT_POSSIBLE:
        yield Line(answers_changed(right, words, alpha))
    if contrast.transitions and not brief:
        told = [transition(row, words) for row in contrast.transitions]
        yield Line(words.line("transition", transitions=words.texts["joins"]["list"].join(told)))


def split(passages: PassageChange, words: Words) -> str:
    """Return for how many questions the passages are changed, reordered, the same."""
    counts = {name: getattr(passages, name) for name in ("changed", "reordered", "same", "unknown")}
    return words.list(
        words.line(f"passages_{name}", questions=count) for name, count in counts.items() if count
    )


def transition(row: Transition, words: Words) -> str:
    """Return which questions went from one state of evidence and answer to another."""
    names = {
        (True, True): "evidence_right",
        (True, False): "evidence_wrong",
        (False, True): "missing_right",
        (False, False): "missing_wrong",
    }
    left = words.line(names[row.left_evidence, row.left_right])
    right = words.line(names[row.right_evidence, row.right_right])
    return words.line("transition_cell", left=left, right=right, questions=row.questions)


def in_short(contrasts: Sequence[Contrast], words: Words) -> Table:
    """Return a row a contrast: right and wrong only."""
    keys = ("factor", "runs", "change", "p", "changed")
    columns = tuple(
        Column(
            words.get("columns", key), number=key in ("change", "p"), long=key in ("factor", "runs")
        )
        for key in keys
    )
    rows = []
    for contrast in contrasts:
        right = contrast.difference(RIGHT)
        rows.append(
            (
                Cell(change(contrast.change, words)),
                Cell(f"{contrast.left} -> {contrast.right}"),
                Cell(signed(right.mean if right else None)),
                Cell(probability(right.p if right else None)),
                Cell(turned(right, words, NAMED) if right else ""),
            )
        )
    return Table(columns, tuple(rows))
