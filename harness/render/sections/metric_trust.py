"""What can be trusted: which metrics tell right answers from wrong ones, and what is doubtful.

Also how well the judge does, which answers rest on wrong captions, and how a metric that is not
trusted is called in a table.
"""

from collections.abc import Mapping, Sequence

from harness.analysis.results import NOT_TRUSTED, UNCHECKED, Analysis, MetricTrust, Trust
from harness.analysis.suspects import OnWrongCaption
from harness.render.blocks import (
    Block,
    Cell,
    Fold,
    Heading,
    Items,
    Paragraph,
    Section,
    Table,
    Tone,
    text_table,
)
from harness.render.notation import count, interval, mean, probability, signed
from harness.render.sections.basis import StudyFacts
from harness.render.vocabulary import Words

TONES = {
    Trust.TRUSTED: Tone.GOOD,
    Trust.NO_EVIDENCE: Tone.MUTED,
    Trust.INVERTED: Tone.BAD,
    **dict.fromkeys(UNCHECKED, Tone.MUTED),
}

CONCLUSIONS = {
    "believed": (Trust.TRUSTED,),
    "not_believed": NOT_TRUSTED,
}
"""Line that sums up the table -> the verdicts that it counts."""

MOST_SUSPECTS = 50
"""Doubtful verdicts that are shown."""


def metric_title(metric: str, analysis: Analysis, words: Words) -> str:
    """Return a metric's name as a heading, marked where the metric is not trusted."""
    name = words.metric(metric)
    return words.line("not_trusted", metric=name) if metric in analysis.doubted else name


def metric_trust(
    analysis: Analysis, facts: StudyFacts, words: Words, brief: bool
) -> Section | None:
    """Return the table of metrics against right and wrong, in full with the judge's agreement.

    None where nothing was graded and no agreement was measured.
    """
    unscored = analysis.unscored if brief else ()
    checked = [row for row in analysis.trust if row.metric not in unscored]
    blocks: list[Block] = list(against_right(checked, words, brief)) if checked else []
    if facts.judge is not None and facts.agreement and not brief:
        if not checked:
            blocks.append(Paragraph(words.line("trust_none")))
        sentences = tuple(words.line("agreement", **row) for row in facts.agreement)
        title = words.line("agreements", labels=len(sentences))
        blocks += [Heading(title, fold=Fold.CLOSED), Items(sentences)]
        blocks.append(Paragraph(words.line("agreement_checks"), Tone.MUTED))
    if not blocks:
        return None
    return words.section("trust", blocks)


def against_right(checked: list[MetricTrust], words: Words, brief: bool) -> list[Block]:
    """Return the table, the lines that sum it up, and who graded."""
    numbers = ["mean_right", "mean_wrong", "gap", "answers", "within", "p"]
    numbers += [] if brief else ["within_pairs", "auc", "interval"]
    columns = words.columns(("metric", *numbers, "verdict"), long=("metric",))
    rows = tuple(trust_row(row, words, brief) for row in checked)
    places = tuple(("metric", row.metric) for row in checked)
    blocks: list[Block] = [Table(columns, rows, places=places)]
    for key, verdicts in CONCLUSIONS.items():
        metrics = [words.metric(row.metric) for row in checked if row.verdict in verdicts]
        if metrics:
            blocks.append(Paragraph(words.line(key, metrics=metrics), Tone.STRONG))
    graders = list(dict.fromkeys(row.graded_by for row in checked))
    origin = words.list(words.get("origins", name) for name in graders)
    notes = [words.line("trust_source", origin=origin)]
    if not brief:
        notes.append(words.line("trust_auc"))
    if mixed := max(row.mixed for row in checked):
        notes.append(words.line("trust_mixed", mixed=mixed))
    blocks += [Paragraph(note, Tone.MUTED) for note in notes]
    return blocks


def trust_row(row: MetricTrust, words: Words, brief: bool) -> tuple[Cell, ...]:
    """Return one metric's row."""
    tone = TONES[row.verdict]
    verdict = words.get("trust", row.verdict)
    if row.undefined is not None:
        verdict += f" ({words.get('undefined', row.undefined)})"
    texts = [
        words.metric(row.metric),
        mean(row.mean_right),
        mean(row.mean_wrong),
        signed(row.gap),
        f"{count(row.right)}/{count(row.wrong)}",
        mean(row.within),
        probability(row.within_p),
    ]
    if not brief:
        texts += [count(row.within_pairs), mean(row.auc), interval(row.low, row.high, mean)]
    plain = Tone.MUTED if tone is Tone.MUTED else Tone.PLAIN
    return (*(Cell(text, plain) for text in texts), Cell(verdict, tone))


def suspects(analysis: Analysis, words: Words) -> Section | None:
    """Return the verdicts that a person should look at."""
    if not analysis.suspects:
        return None
    rows = [
        (row.run, row.question_id, row.check, row.text, words.get("suspect", row.reason))
        for row in analysis.suspects[:MOST_SUSPECTS]
    ]
    keys = ("run", "question", "check", "claim", "doubt")
    blocks: list[Block] = [text_table(words.columns(keys, long=keys[3:]), rows)]
    if more := len(analysis.suspects) - len(rows):
        blocks.append(Paragraph(words.line("more", more=more)))
    return words.section("suspects", blocks)


def wrong_captions(found: Mapping[str, Sequence[OnWrongCaption]], words: Words) -> Section | None:
    """Return the answers that rest on a caption graded wrong, on nothing else first; None if none.

    Args:
        found: Run -> its answers on wrong captions.
        words: The report's language.
    """
    answers = [(run, answer) for run, rows in found.items() for answer in rows]
    if not answers:
        return None
    answers.sort(key=lambda pair: not pair[1].only)
    sentences = tuple(
        words.line(
            "wrong_caption_only" if answer.only else "wrong_caption_partly",
            run=run,
            question=answer.question_id,
            figures=answer.figures,
            claims=len(answer.claims),
            supported=answer.supported,
        )
        for run, answer in answers
    )
    note = Paragraph(words.line("wrong_caption_note"), Tone.MUTED)
    return words.section("wrong_captions", (Items(sentences), note))
