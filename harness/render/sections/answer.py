"""The answer to the study's question, on the first screen: in words, and a row for each change."""

from collections.abc import Iterator, Sequence

from harness.analysis.results import (
    BEYOND_CHANCE,
    FIXED_AT_ZERO,
    FOUND,
    ActsOn,
    Analysis,
    Conclusion,
    Difference,
    Effect,
    TestFamily,
    Trust,
)
from harness.analysis.study_table import EVIDENCE, GOLD, RIGHT
from harness.render.blocks import Block, Cell, Column, Paragraph, Section, Table, Tone
from harness.render.notation import interval, signed, signed_percent, signed_quantity
from harness.render.sections.basis import StudyFacts, view_of
from harness.render.sections.one_factor import TONES, change_text
from harness.render.sections.what_next import first_step
from harness.render.vocabulary import Words

TOKENS, SECONDS = ("input_tokens", "output_tokens"), ("seconds",)
"""What a change costs: tokens where they were counted, else seconds."""

MOST_CHANGES = {True: 6, False: 30}
"""Changes that have a row, brief and in full; the others are counted."""

SUBJECTS = {RIGHT: "answers", EVIDENCE: "evidence"}
"""Metric -> the beginning of the keys of what is said of it."""


def answer(analysis: Analysis, facts: StudyFacts, words: Words, brief: bool) -> Section:
    """Return the question, the answer, a row for each change, its limits, and what to do next."""
    blocks: list[Block] = []
    if facts.question:
        blocks.append(Paragraph(facts.question, Tone.STRONG))
    if view := view_of(analysis):
        blocks.append(Paragraph(words.line("view", view=view), Tone.CAUTION))
    sentences = [
        *claimed(analysis, words),
        *expected(analysis, words),
        *turned(analysis, words),
        *leading(analysis, words),
    ]
    blocks.append(Paragraph(words.join("parts", sentences)))
    if analysis.effects:
        blocks += changes_table(analysis, words, brief)
    blocks.append(Paragraph(limits(analysis, facts, words), Tone.MUTED))
    blocks += first_step(analysis, facts, words)
    return Section("study", facts.study, tuple(blocks))


def claimed(analysis: Analysis, words: Words) -> Iterator[str]:
    """Yield which changes help and which harm, or why none can be said to."""
    if not analysis.effects:
        yield words.line("answer_one_run" if len(analysis.runs) < 2 else "answer_no_change")
        return
    right = [row for effect in analysis.effects if (row := effect.difference(RIGHT))]
    tested = [row for row in right if row.family is not TestFamily.NONE]
    if not right:
        yield words.line("answer_ungraded")
    elif not tested:
        yield words.line("answer_untested")
    elif not any(row.verdict is Conclusion.BETTER for row in right):
        yield words.line("answer_none", tested=len(tested))
    claims = [(effect, row) for effect in analysis.effects for row in effect.claims]
    for metric in dict.fromkeys([RIGHT, EVIDENCE, *(row.metric for _, row in claims)]):
        if metric in GOLD and metric != EVIDENCE:
            continue  # other measures of the evidence retrieved say the same again
        for verdict in BEYOND_CHANCE:
            found = [
                words.line("claim", change=change_text(effect.change, words), mean=row.mean)
                for effect, row in claims
                if row.metric == metric and row.verdict is verdict
            ]
            if found:
                key = f"{SUBJECTS.get(metric, 'quality')}_{verdict.value}"
                yield words.line(key, changes=found, metric=words.metric(metric))
    if any(found.kind == "nothing_can_be_significant" for found in analysis.findings):
        yield words.line("answer_impossible")


def expected(analysis: Analysis, words: Words) -> Iterator[str]:
    """Yield whether what the study expected came."""
    for outlook in analysis.outlooks:
        expectation, change = outlook.expected, outlook.change
        yield words.line(
            f"expected_{outlook.came}",
            metric=words.metric(expectation.metric),
            outcome=words.get("outcomes", expectation.outcome),
            change=expectation.factor if change is None else change_text(change, words),
        )


def turned(analysis: Analysis, words: Words) -> Iterator[str]:
    """Yield how often a change turned a question in all its pairs, beside what chance gives."""
    if analysis.credits:
        found = sum(len(credit.questions) for credit in analysis.credits)
        chance = sum(credit.expected for credit in analysis.credits)
        yield words.line("turned", turned=found, expected=chance)


def leading(analysis: Analysis, words: Words) -> Iterator[str]:
    """Yield which run has the most right answers, and how often chance makes one do that."""
    leader = analysis.leader
    if leader is None:
        return
    numbers = {"right": leader.right, "known": leader.known, "compared": leader.compared}
    if len(leader.runs) == leader.compared:
        yield words.line("leader_none", **numbers)
    else:
        names = {"runs": leader.runs, "tied": len(leader.runs), "chance": leader.chance}
        yield words.line("leader", **numbers, **names)


def changes_table(analysis: Analysis, words: Words, brief: bool) -> Iterator[Block]:
    """Yield one row for each change, those that claim something first."""
    effects = sorted(analysis.effects, key=lambda effect: not effect.claims)
    shown = effects[: MOST_CHANGES[brief]]
    trusted = {row.metric for row in analysis.trust if row.verdict is Trust.TRUSTED}
    trusted -= set(GOLD)
    rows = [cells_of_change(effect, analysis, trusted, words) for effect in shown]
    kept = [key for key in rows[0] if any(key in row for row in rows)]
    columns = tuple(
        Column(
            words.get("columns", key),
            number=key in ("right", "tokens", "seconds"),
            long=key == "factor_change",
            bar=key == "interval",
        )
        for key in kept
    )
    yield Table(columns, tuple(tuple(row[key] for key in kept) for row in rows))
    if more := len(effects) - len(shown):
        yield Paragraph(words.line("more_changes", more=more), Tone.MUTED)


def cells_of_change(
    effect: Effect, analysis: Analysis, trusted: set[str], words: Words
) -> dict[str, Cell]:
    """Return what is said of one change, by column."""
    cells = {"factor_change": Cell(change_text(effect.change, words))}
    right, evidence = effect.difference(RIGHT), effect.difference(EVIDENCE)
    if right is not None:
        tone = TONES.get(right.verdict, Tone.PLAIN)
        cells["right"] = Cell(signed(right.mean), tone)
        drawn = right if right.mean is not None else None
        cells["interval"] = Cell(interval(right.low, right.high), tone, drawn=drawn)
        cells["verdict"] = Cell(verdict_word(right, words), tone)
    if evidence is not None:
        cells["evidence"] = graded_cell(evidence, words)
    if trusted:
        rows = [row for row in effect.differences if row.metric in trusted]
        cells["quality"] = quality(rows, words)
    cells |= costs(effect, words)
    tone = Tone.MUTED if effect.acts_on is ActsOn.NOTHING else Tone.PLAIN
    cells["acts_on"] = Cell(words.get("acts_on", effect.acts_on), tone)
    return cells


def verdict_word(row: Difference, words: Words) -> str:
    """Return the verdict in a word or two."""
    short = {
        Conclusion.NO_EFFECT_POSSIBLE: "no_effect",
        Conclusion.NO_EVIDENCE: "not_shown",
    }
    return words.get("verdicts", short.get(row.verdict, row.verdict))


def graded_cell(row: Difference, words: Words) -> Cell:
    """Return a difference, with its verdict where there is one to speak of."""
    if row.verdict in FIXED_AT_ZERO:
        return Cell(words.line("same"), Tone.MUTED)
    text = signed(row.mean)
    if row.verdict in FOUND:
        text += " " + words.get("verdicts", row.verdict)
    return Cell(text, TONES.get(row.verdict, Tone.PLAIN))


def quality(rows: Sequence[Difference], words: Words) -> Cell:
    """Return how many trusted metrics are better and worse; a hyphen where none is."""
    parts = []
    for verdict in BEYOND_CHANCE:
        if found := [words.metric(row.metric) for row in rows if row.verdict is verdict]:
            word = words.get("verdicts", verdict)
            parts.append(word if len(found) == 1 else f"{word} ({len(found)})")
    return Cell(words.list(parts) if parts else "-", Tone.PLAIN if parts else Tone.MUTED)


def costs(effect: Effect, words: Words) -> dict[str, Cell]:
    """Return by how much a change raises or lowers the cost of an answer."""
    for key, metrics in (("tokens", TOKENS), ("seconds", SECONDS)):
        rows = [effect.difference(metric) for metric in metrics]
        known = [row for row in rows if row is not None and row.left_mean is not None]
        before = sum(row.left_mean or 0.0 for row in known)
        change = sum(row.mean or 0.0 for row in known)
        if before:
            return {key: Cell(signed_percent(change / before))}
        if known:
            return {key: Cell(signed_quantity(change))}
    return {}


def limits(analysis: Analysis, facts: StudyFacts, words: Words) -> str:
    """Return in one line what limits the answer: questions, graders, judge, metrics."""
    grid = analysis.outcomes
    parts = [words.line("limit_questions", questions=len(analysis.questions), runs=len(grid.rows))]
    known, asked = sum(row.known for row in grid.rows), sum(row.asked for row in grid.rows)
    if known:
        origins = [words.get("origins", origin) for origin in grid.origins]
        parts.append(words.line("limit_graded", known=known, cells=asked, origins=origins))
    if facts.judge is not None:
        measured = "limit_judge" if facts.agreement else "limit_judge_unmeasured"
        parts.append(words.line(measured, judge=facts.judge))
    trusted = [row.metric for row in analysis.trust if row.verdict is Trust.TRUSTED]
    if judged := [words.metric(metric) for metric in trusted if metric not in (RIGHT, *GOLD)]:
        parts.append(words.line("limit_trusted", metrics=judged))
    if analysis.doubted:
        metrics = [
            words.metric(row.metric) for row in analysis.trust if row.metric in analysis.doubted
        ]
        parts.append(words.line("limit_untrusted", metrics=metrics))
    return words.line("limits", limits=words.join("cells", parts))
