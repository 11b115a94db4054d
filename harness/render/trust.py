"""Which metrics can tell right answers from wrong ones."""

from harness.analysis.results import Analysis, MetricTrust, Trust
from harness.render.blocks import Block, Cell, Column, Line, Section, Table, Tone
from harness.render.kinds import kinds_of
from harness.render.quantities import count, interval, mean, signed
from harness.render.wording import Words

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


def trust(analysis: Analysis, words: Words, brief: bool) -> Section | None:
    """Return the table of metrics against right and wrong; None where nothing was graded."""
    unscored = kinds_of(analysis).unscored if brief else ()
    checked = [row for row in analysis.trust if row.metric not in unscored]
    if not checked:
        return None
    keys = ["mean_right", "mean_wrong", "gap", "answers", "auc", "interval"]
    keys += [] if brief else ["within", "between"]
    columns = (
        Column(words.get("columns", "metric"), long=True),
        *(Column(words.get("columns", key), number=True) for key in keys),
        Column(words.get("columns", "verdict")),
    )
    rows = tuple(row_of(row, words, brief) for row in checked)
    blocks: list[Block] = [Table(columns, rows)]
    for key, verdicts in CONCLUSIONS.items():
        metrics = [words.metric(row.metric) for row in checked if row.verdict in verdicts]
        if metrics:
            blocks.append(Line(words.line(key, metrics=metrics), Tone.STRONG))
    graders = list(dict.fromkeys(row.graded_by for row in checked))
    origin = words.list(words.get("origins", name) for name in graders)
    blocks.append(Line(words.line("trust_source", origin=origin), Tone.MUTED))
    return Section("trust", words.get("headings", "trust"), tuple(blocks))


def row_of(row: MetricTrust, words: Words, brief: bool) -> tuple[Cell, ...]:
    """Return one metric's line."""
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
