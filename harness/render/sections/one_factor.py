"""One variable at a time: what each contrast changed, and where the change can come from."""

from collections.abc import Callable, Iterator, Sequence

from harness.analysis.findings.contrast_findings import answer_changes, turned_answers
from harness.analysis.results import (
    BEYOND_CHANCE,
    Analysis,
    Attribution,
    Change,
    Conclusion,
    Contrast,
    Difference,
    PassageChange,
    TestFamily,
    Transition,
)
from harness.analysis.study_table import RIGHT, UNTESTED
from harness.render.blocks import (
    Block,
    Cell,
    Fold,
    Heading,
    Paragraph,
    Section,
    Table,
    Tone,
)
from harness.render.notation import (
    Number,
    count,
    interval,
    mean,
    probability,
    quantity,
    signed,
    signed_quantity,
)
from harness.render.sections.basis import view_of
from harness.render.sections.finding_sentences import ALPHA, chosen_parts
from harness.render.sections.metric_trust import metric_title
from harness.render.vocabulary import Words

MOST_IN_FULL = {True: 10, False: 100}
"""Contrasts with a table of their own, brief and in full; the others are a row each."""

NAMED = 4
"""Changed questions that are named in brief; of more there is the count."""

MOST_ROWS = 8
"""Metrics that have a row each in brief."""

SHARED_LINES = {
    Conclusion.NO_EFFECT_POSSIBLE: "unchanged",
    Conclusion.IDENTICAL_BY_CONSTRUCTION: "identical",
    Conclusion.NOT_COMPARED: "not_compared",
}
"""Verdicts that need no row of numbers, and the line that names their metrics."""

COLUMNS = (
    *("metric", "change", "won_tied_lost", "questions", "dropped", "interval", "p", "least"),
    *("adjusted", "reading", "detectable", "needed", "changed"),
)
"""All that a metric's row can hold, from left to right."""

IN_FULL_ONLY = ("dropped", "reading", "detectable", "needed")

DETAIL = ("won_tied_lost", "dropped", "p", "least", "detectable", "needed")
"""Columns that a page shows only on demand."""

OVERVIEW = {
    True: ("change", "p", "changed"),
    False: ("change", "interval", "questions", "p", "adjusted", "reading", "changed"),
}
"""Columns of the table with one row per contrast, brief and in full."""

TONES = {
    Conclusion.BETTER: Tone.GOOD,
    Conclusion.WORSE: Tone.BAD,
    Conclusion.NOT_TRUSTED: Tone.MUTED,
    Conclusion.NO_EFFECT_POSSIBLE: Tone.MUTED,
    Conclusion.IDENTICAL_BY_CONSTRUCTION: Tone.MUTED,
    Conclusion.NOT_COMPARED: Tone.MUTED,
}


def one_factor(analysis: Analysis, words: Words, brief: bool) -> Section:
    """Return every contrast in view, the first of them with all their metrics."""
    if not analysis.contrasts:
        view = view_of(analysis)
        none = words.line("view_none", view=view) if view else words.line("contrasts_none")
        return words.section("contrasts", (Paragraph(none, Tone.CAUTION),))
    blocks: list[Block] = list(how_to_read(analysis, words))
    first = analysis.contrasts[: MOST_IN_FULL[brief]]
    rest = analysis.contrasts[len(first) :]
    if not brief:
        blocks.append(Paragraph(words.line("detectable_note"), Tone.MUTED))
        blocks.append(overview(analysis.contrasts, analysis, words))
        if rest:
            blocks.append(Paragraph(words.line("more_contrasts", more=len(rest))))
    for contrast in first:
        right = contrast.difference(RIGHT)
        note = f"{words.metric(RIGHT)} {signed(right.mean)}" if right else ""
        place = ("contrast", contrast.left, contrast.right)
        blocks.append(Heading(contrast_title(contrast, words), place, Fold.CLOSED, note))
        blocks += explanation(contrast, analysis, words, brief)
        blocks += (
            brief_table(contrast, analysis, words)
            if brief
            else [difference_table(contrast.differences, analysis, words, brief)]
        )
    if rest and brief:
        blocks.append(Heading(words.get("headings", "more_contrasts")))
        blocks.append(Paragraph(words.line("more_contrasts", more=len(rest))))
        blocks.append(overview(rest, analysis, words, brief))
    return words.section("contrasts", blocks)


def how_to_read(analysis: Analysis, words: Words) -> Iterator[Paragraph]:
    """Yield how to read the numbers below, and how many tests they are corrected for."""
    yield Paragraph(words.line("legend"), Tone.MUTED)
    tests = analysis.family
    key = "family_declared" if tests.declared else "family"
    lines = [words.line(key, tests=tests.tests, primary=tests.primary, alpha=tests.alpha)]
    yield Paragraph(words.join("parts", lines), Tone.MUTED)
    numbers = {"clusters": analysis.clusters, "questions": len(analysis.questions)}
    clustered = analysis.clusters is not None
    yield Paragraph(words.line("clusters" if clustered else "independent", **numbers), Tone.MUTED)
    if any(metric.metric in UNTESTED for metric in analysis.means):
        yield Paragraph(words.line("untested"), Tone.MUTED)
    if analysis.doubted:
        yield Paragraph(words.line("not_trusted_note"), Tone.MUTED)


def contrast_title(contrast: Contrast, words: Words) -> str:
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


def change_text(change: Change, words: Words) -> str:
    """Return one factor with its value on either side."""
    values = words.join("arrow", (words.value(change.left), words.value(change.right)))
    return f"{change.factor} {values}"


def explanation(
    contrast: Contrast, analysis: Analysis, words: Words, brief: bool
) -> Iterator[Paragraph]:
    """Yield where the changes can have come from, and which answers turned."""
    clauses = [words.get("attribution", contrast.attribution)]
    if contrast.attribution is Attribution.RETRIEVAL_CHANGED:
        clauses.append(passage_counts(contrast.passages, words))
    yield Paragraph(words.join("clauses", clauses))
    if contrast.change.leaves and not brief:
        yield Paragraph(words.line("leaves", leaves=contrast.change.leaves), Tone.MUTED)
    right = contrast.difference(RIGHT)
    if right is not None and contrast.attribution is not Attribution.NO_EFFECT_POSSIBLE:
        yield Paragraph(answers_changed(contrast, right, analysis, words))
    if contrast.transitions and not brief:
        cells = words.join("cells", (transition(row, words) for row in contrast.transitions))
        yield Paragraph(words.line("transition", transitions=cells))


def answers_changed(contrast: Contrast, right: Difference, analysis: Analysis, words: Words) -> str:
    """Return which answers one contrast turned, and whether chance would do as much."""
    groups = turned_answers(contrast, right, analysis.outcomes)
    numbers = answer_changes(right, groups)
    _, *template = words.texts["kinds"]["answers_changed"]
    parts = chosen_parts(template, {"alpha": analysis.family.alpha, **numbers, **groups})
    shown = parts if numbers["discordant"] else parts[:1]
    return words.join("parts", (words.fill(part, groups, numbers) for part in shown))


def passage_counts(passages: PassageChange, words: Words) -> str:
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


def overview(
    contrasts: Sequence[Contrast],
    analysis: Analysis,
    words: Words,
    brief: bool = False,
    keys: Sequence[str] = (),
) -> Table:
    """Return one row per contrast: right and wrong only, in these columns of `COLUMNS`."""
    keys = keys or OVERVIEW[brief]
    rows = []
    for contrast in contrasts:
        right = contrast.difference(RIGHT)
        cells = cells_of(right, analysis, words, brief) if right else {}
        place = ("contrast", contrast.left, contrast.right)
        rows.append(
            (
                Cell(change_text(contrast.change, words), place=place),
                Cell(words.join("arrow", (contrast.left, contrast.right))),
                *(cells.get(key, Cell("")) for key in keys),
            )
        )
    columns = words.columns(("factor", "runs", *keys), long=("factor", "runs"))
    return Table(columns, tuple(rows))


def brief_table(contrast: Contrast, analysis: Analysis, words: Words) -> Iterator[Block]:
    """Yield the table of differences, and in a line each what needs no row of it."""
    scored = [d for d in contrast.differences if d.metric not in analysis.unscored]
    spent = [d for d in scored if d.metric in analysis.costs]
    quality = [d for d in scored if d.metric not in analysis.costs]
    shared: dict[str, list[str]] = {}
    rows = []
    for row in quality:
        if key := shared_line(row, many=len(quality) > MOST_ROWS):
            shared.setdefault(key, []).append(words.metric(row.metric))
        else:
            rows.append(row)
    if rows:
        yield difference_table(rows, analysis, words, brief=True)
    for key, metrics in shared.items():
        yield Paragraph(words.line(key, metrics=metrics))
    costs = [cost(row, words) for row in spent if row.questions]
    if costs:
        yield Paragraph(words.line("costs", costs=costs), Tone.MUTED)


def shared_line(row: Difference, many: bool) -> str:
    """Return the line that names a metric instead of a row; empty where it has a row.

    Where the metrics are many, those without evidence of a difference share a line.
    """
    if row.verdict in SHARED_LINES or not (row.won or row.lost):
        return SHARED_LINES.get(row.verdict, "unchanged")
    dull = row.verdict in (Conclusion.NO_EVIDENCE, Conclusion.NOT_TRUSTED) and row.metric != RIGHT
    return "no_evidence" if many and dull and (row.p is None or row.p > ALPHA) else ""


def cost(row: Difference, words: Words) -> str:
    """Return one cost on both sides."""
    key = "cost_same" if row.left_mean == row.right_mean else "cost"
    metric = words.metric(row.metric)
    return words.line(key, metric=metric, left=row.left_mean, right=row.right_mean)


def difference_table(
    rows: Sequence[Difference], analysis: Analysis, words: Words, brief: bool
) -> Table:
    """Return one row per metric; in full with what was dropped and what could be found."""
    keys = [key for key in COLUMNS if not brief or key not in IN_FULL_ONLY]
    columns = words.columns(keys, long=("metric", "changed"), detail=DETAIL)
    cells = [cells_of(row, analysis, words, brief) for row in rows]
    return Table(columns, tuple(tuple(row[key] for key in keys) for row in cells))


def cells_of(row: Difference, analysis: Analysis, words: Words, brief: bool) -> dict[str, Cell]:
    """Return all that a difference's row can hold, by column."""
    unbounded = row.metric in analysis.unbounded
    write = signed_quantity if unbounded else signed
    floor = row.p_floor if row.mcnemar is None else row.mcnemar.floor
    dropped = (row.dropped_left, row.dropped_right, row.dropped_both)
    too_few, none_needed = words.line("too_few"), words.line("no_difference")
    if row.verdict is Conclusion.NOT_TESTED:
        too_few = none_needed = words.get("verdicts", row.verdict)
    texts = {
        "metric": row_title(row, analysis, words, brief),
        "change": write(row.mean),
        "won_tied_lost": f"{row.wins}/{row.ties}/{row.losses}",
        "questions": count(row.questions),
        "dropped": "/".join(str(len(side)) for side in dropped),
        "interval": interval(row.low, row.high, write),
        "p": probability(row.p),
        "least": probability(floor),
        "adjusted": probability(row.p_adjusted),
        "reading": reading(row, words),
        "detectable": or_why(
            row.detectable,
            quantity if unbounded else mean,
            too_few if row.won or row.lost else none_needed,
            words,
        ),
        "needed": or_why(row.questions_needed, count, none_needed, words),
        "changed": turned(row, words, NAMED if brief else words.listed),
    }
    doubted = row.metric in analysis.doubted
    tone = Tone.MUTED if doubted and not brief else TONES.get(row.verdict, Tone.PLAIN)
    drawn = None if unbounded or row.mean is None else row
    return {
        key: Cell(text, tone, drawn=drawn if key == "interval" else None)
        for key, text in texts.items()
    }


def row_title(row: Difference, analysis: Analysis, words: Words, brief: bool) -> str:
    """Return a metric's name, in brief with a verdict that must not be overlooked."""
    name = metric_title(row.metric, analysis, words)
    if brief and row.verdict in BEYOND_CHANCE:
        verdict = words.get("verdicts", row.verdict)
        name = words.line("with_verdict", metric=words.metric(row.metric), verdict=verdict)
    return words.line("primary", metric=name) if row.family is TestFamily.PRIMARY else name


def or_why(number: Number, write: Callable[[Number], str], reason: str, words: Words) -> str:
    """Write a number, or NA with the reason."""
    return words.line("na", reason=reason) if number is None else write(number)


def reading(row: Difference, words: Words) -> str:
    """Return what may be said of a difference, with what weakens it."""
    parts = [words.get("verdicts", row.verdict)]
    if row.mean is None or row.verdict in SHARED_LINES:
        return parts[0]
    if row.under_one_verdict:
        parts.append(words.line("under_one_verdict"))
    if row.flips_with_missing:
        parts.append(words.line("flips_with_missing", worst=row.worst, best=row.best))
    elif row.worst != row.best:
        parts.append(words.line("bounds", worst=row.worst, best=row.best))
    return "; ".join(parts)


def turned(row: Difference, words: Words, most: int) -> str:
    """Return the questions that changed: + where the right-hand run is better, - where worse."""
    signs = [f"+{question}" for question in row.won] + [f"-{question}" for question in row.lost]
    if len(signs) > most:
        return words.line("changed_many", changed=len(signs), questions=row.questions)
    return " ".join(signs)
