"""The table of one contrast: what changed in each metric, and what may be said of it."""

from collections.abc import Callable, Iterator, Sequence

from harness.analysis.results import Conclusion, Contrast, Difference
from harness.analysis.study_table import RIGHT
from harness.render.blocks import Block, Cell, Column, Line, Table, Tone
from harness.render.kinds import Kinds, title
from harness.render.quantities import (
    Number,
    count,
    interval,
    mean,
    probability,
    quantity,
    signed,
    signed_quantity,
)
from harness.render.sentences import ALPHA
from harness.render.wording import Words

NAMED = 4
"""Changed questions that are named in brief; of more there is the count."""

ROWS = 8
"""Metrics that have a row each in brief."""

FOLDED = {
    Conclusion.NO_EFFECT_POSSIBLE: "unchanged",
    Conclusion.IDENTICAL_BY_CONSTRUCTION: "identical",
    Conclusion.NOT_COMPARED: "not_compared",
}
"""Verdicts that need no row of numbers, and the line that names their metrics."""

LOUD = (Conclusion.BETTER, Conclusion.WORSE, Conclusion.DIFFERENT)
"""Verdicts that stand beside the metric's name in brief."""

COLUMNS = (
    *("metric", "change", "won_tied_lost", "questions", "dropped", "interval", "p", "least"),
    *("adjusted", "reading", "detectable", "needed", "changed"),
)
"""All that a metric's row can hold, from left to right."""

IN_FULL_ONLY = {"dropped", "reading", "detectable", "needed"}

TEXTS = {"metric", "reading", "changed"}
"""Columns that are not numbers."""

TONES = {
    Conclusion.BETTER: Tone.GOOD,
    Conclusion.WORSE: Tone.BAD,
    Conclusion.NOT_TRUSTED: Tone.MUTED,
}


def measured(contrast: Contrast, kinds: Kinds, words: Words, brief: bool) -> Iterator[Block]:
    """Yield the table of differences, and in a line each what needs no row of it."""
    if not brief:
        yield differences(contrast.differences, kinds, words, brief)
        return
    scored = [d for d in contrast.differences if d.metric not in kinds.unscored]
    spent = [d for d in scored if d.metric in kinds.costs]
    quality = [d for d in scored if d.metric not in kinds.costs]
    folded: dict[str, list[str]] = {}
    rows = []
    for row in quality:
        key = fold(row, len(quality) > ROWS)
        if key:
            folded.setdefault(key, []).append(words.metric(row.metric))
        else:
            rows.append(row)
    if rows:
        yield differences(rows, kinds, words, brief)
    for key, metrics in folded.items():
        yield Line(words.line(key, metrics=metrics))
    told = [cost(row, words) for row in spent if row.questions]
    if told:
        yield Line(words.line("costs", costs=told), Tone.MUTED)


def fold(row: Difference, many: bool) -> str:
    """Name the line that a metric goes to instead of having a row; empty where it has one.

    Where the metrics are many, those that no test sets apart share a line.
    """
    if row.verdict in FOLDED or not (row.won or row.lost):
        return FOLDED.get(row.verdict, "unchanged")
    dull = row.verdict in (Conclusion.NO_EVIDENCE, Conclusion.NOT_TRUSTED) and row.metric != RIGHT
    return "no_evidence" if many and dull and (row.p is None or row.p > ALPHA) else ""


def cost(row: Difference, words: Words) -> str:
    """Return one cost on both sides."""
    key = "cost_same" if row.left_mean == row.right_mean else "cost"
    metric = words.metric(row.metric)
    text = words.line(key, metric=metric, left=row.left_mean, right=row.right_mean)
    if row.verdict is Conclusion.DIFFERENT:
        return words.line("beyond_chance", cost=text, p=row.p_adjusted)
    return text


def differences(rows: Sequence[Difference], kinds: Kinds, words: Words, brief: bool) -> Table:
    """Return a row a metric; in full with what was dropped and what could be found."""
    keys = [key for key in COLUMNS if not brief or key not in IN_FULL_ONLY]
    columns = tuple(
        Column(
            words.get("columns", key), number=key not in TEXTS, long=key in ("metric", "changed")
        )
        for key in keys
    )
    cells = [cells_of(row, kinds, words, brief) for row in rows]
    return Table(columns, tuple(tuple(row[key] for key in keys) for row in cells))


def cells_of(row: Difference, kinds: Kinds, words: Words, brief: bool) -> dict[str, Cell]:
    """Return all that can stand in one metric's row, by column."""
    unbounded = row.metric in kinds.unbounded
    write = signed_quantity if unbounded else signed
    name = title(row.metric, kinds, words)
    if brief and row.verdict in LOUD:
        verdict = words.get("verdicts", row.verdict)
        name = words.line("with_verdict", metric=words.metric(row.metric), verdict=verdict)
    if row.primary:
        name = words.line("declared", metric=name)
    floor = row.p_floor if row.mcnemar is None else row.mcnemar.floor
    dropped = (row.dropped_left, row.dropped_right, row.dropped_both)
    too_few, none_needed = words.line("too_few"), words.line("no_difference")
    if row.verdict is Conclusion.NOT_TESTED:
        too_few = none_needed = words.get("verdicts", row.verdict)
    texts = {
        "metric": name,
        "change": write(row.mean),
        "won_tied_lost": f"{row.wins}/{row.ties}/{row.losses}",
        "questions": count(row.questions),
        "dropped": "/".join(str(len(side)) for side in dropped),
        "interval": interval(row.low, row.high, write),
        "p": probability(row.p),
        "least": probability(floor),
        "adjusted": probability(row.p_adjusted),
        "reading": reading(row, words),
        "detectable": or_why(row.detectable, quantity if unbounded else mean, too_few, words),
        "needed": or_why(row.questions_needed, count, none_needed, words),
        "changed": turned(row, words, NAMED if brief else words.listed),
    }
    tone = TONES.get(row.verdict, Tone.PLAIN)
    return {key: Cell(text, tone) for key, text in texts.items()}


def or_why(number: Number, write: Callable[[Number], str], reason: str, words: Words) -> str:
    """Write a number, or NA with the reason why there is none."""
    return words.line("na", reason=reason) if number is None else write(number)


def reading(row: Difference, words: Words) -> str:
    """Return what may be said of a difference, with what weakens it."""
    said = [words.get("verdicts", row.verdict)]
    if row.mean is None or row.verdict in FOLDED:
        return said[0]
    if row.under_one_verdict:
        said.append(words.line("under_one_verdict"))
    if row.flips_with_missing:
        said.append(words.line("flips_with_missing", worst=row.worst, best=row.best))
    elif row.worst != row.best:
        said.append(words.line("bounds", worst=row.worst, best=row.best))
    return "; ".join(said)


def turned(row: Difference, words: Words, most: int) -> str:
    """Return the questions that changed: + where the right-hand run is better, - where worse."""
    signs = [f"+{question}" for question in row.won] + [f"-{question}" for question in row.lost]
    if len(signs) > most:
        return words.line("changed_many", changed=len(signs), questions=row.questions)
    return " ".join(signs)
