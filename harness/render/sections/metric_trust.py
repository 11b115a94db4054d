"""Which metrics can tell right answers from wrong ones, and how well the judge does."""

from dataclasses import asdict

from harness.analysis.results import Analysis, MetricTrust, Trust
from harness.render.blocks import Block, Cell, Fold, Heading, Items, Paragraph, Section, Table, Tone
from harness.render.facts import StudyFacts
from harness.render.quantities import count, interval, mean, signed
from harness.render.sections.metric_groups import metric_groups
from harness.render.vocabulary import Words

TONES = {
    Trust.TRUSTED: Tone.GOOD,
    Trust.NO_EVIDENCE: Tone.MUTED,
    Trust.INVERTED: Tone.BAD,
    Trust.TOO_FEW_GRADES: Tone.MUTED,
}

CONCLUSIONS = {
    "believed": (Trust.TRUSTED,),
    "not_believed": (Trust.NO_EVIDENCE, Trust.INVERTED),
}
"""What the table comes to, and by which verdicts."""


def metric_trust(
    analysis: Analysis, facts: StudyFacts, words: Words, brief: bool
) -> Section | None:
    """Return the table of metrics against right and wrong, in full with the judge's agreement.

    None where nothing was graded and no agreement was measured.
    """
    unscored = metric_groups(analysis).unscored if brief else ()
    checked = [row for row in analysis.trust if row.metric not in unscored]
    blocks: list[Block] = list(against_right(checked, words, brief)) if checked else []
    if facts.judge is not None and facts.agreement and not brief:
        if not checked:
            blocks.append(Paragraph(words.line("trust_none")))
        sentences = tuple(words.line("agreement", **asdict(row)) for row in facts.agreement)
        title = words.line("agreements", labels=len(sentences))
        blocks += [Heading(title, fold=Fold.CLOSED), Items(sentences)]
    if not blocks:
        return None
    return Section("trust", words.get("headings", "trust"), tuple(blocks))


def against_right(checked: list[MetricTrust], words: Words, brief: bool) -> list[Block]:
    """Return the table, what it comes to, and who graded."""
    numbers = ["mean_right", "mean_wrong", "gap", "answers", "auc", "interval"]
    numbers += [] if brief else ["within", "between"]
    columns = words.columns(("metric", *numbers, "verdict"), numbers, long=("metric",))
    rows = tuple(trust_row(row, words, brief) for row in checked)
    places = tuple(("metric", row.metric) for row in checked)
    blocks: list[Block] = [Table(columns, rows, places=places)]
    for key, verdicts in CONCLUSIONS.items():
        metrics = [words.metric(row.metric) for row in checked if row.verdict in verdicts]
        if metrics:
            blocks.append(Paragraph(words.line(key, metrics=metrics), Tone.STRONG))
    graders = list(dict.fromkeys(row.graded_by for row in checked))
    origin = words.list(words.get("origins", name) for name in graders)
    blocks.append(Paragraph(words.line("trust_source", origin=origin), Tone.MUTED))
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
        mean(row.auc),
        interval(row.low, row.high, mean),
    ]
    if not brief:
        texts += [mean(row.auc_within), mean(row.auc_between)]
    plain = Tone.MUTED if tone is Tone.MUTED else Tone.PLAIN
    return (*(Cell(text, plain) for text in texts), Cell(verdict, tone))
