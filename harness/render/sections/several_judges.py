"""How far several judges of the same answers agree, and which findings hold under each."""

from collections.abc import Iterator
from itertools import groupby

from harness.analysis.results import Analysis, CheckAgreement, FindingByJudge, Judges, Reading
from harness.records import CLAIMS_OF
from harness.render.blocks import Block, Cell, Column, Heading, Paragraph, Section, Table, Tone
from harness.render.notation import count, interval, mean, percent
from harness.render.sections.finding_sentences import names_of
from harness.render.vocabulary import Words

MOST_ROWS = 10
"""Findings by judge that are shown in brief."""

ENTAILMENT = {1: "entailed", -1: "contradicted", 0: "unknown"}
USEFULNESS = {1: "useful", 0: "not_useful"}
ANSWERED = {1: "yes", 0: "no"}
"""Label -> the key of its word, of checks that are answered by yes or no."""


AGREEMENT = ("check", "matched", "questions", "same_label", "kappa", "interval", "given")
"""Columns of the table of how far two judges agree, one row per check."""


def several_judges(analysis: Analysis, words: Words, brief: bool) -> Section | None:
    """Return how the judges compare; None where only one has judged."""
    found = analysis.judges
    if found is None:
        return None
    lead, *others = found.names
    blocks: list[Block] = [Paragraph(words.line("judges", lead=lead, others=others))]
    pairs = [
        (pair, list(rows))
        for pair, rows in groupby(found.agreements, lambda row: (row.first, row.second))
    ]
    shown = [(pair, rows) for pair, rows in pairs if not brief or lead in pair]
    for (first, second), rows in shown:
        blocks.append(Heading(words.line("judges_agree", first=first, second=second)))
        columns = words.columns(AGREEMENT, long=("check", "given"))
        blocks.append(Table(columns, tuple(agreement_row(row, words) for row in rows)))
    if more := len(pairs) - len(shown):
        blocks.append(Paragraph(words.line("more_pairs", more=more)))
    blocks.append(Paragraph(words.line("judges_how"), Tone.MUTED))
    blocks.append(Heading(words.get("headings", "by_judge")))
    blocks += by_judge(found, [run.name for run in analysis.runs], words, brief)
    return words.section("judges", blocks)


def agreement_row(row: CheckAgreement, words: Words) -> tuple[Cell, ...]:
    """Return how far two judges agree on one check, with the reason for what is undefined."""
    texts = (
        words.get("agreed_checks", row.check),
        words.line("matched", n=row.n, first=row.first_labelled, second=row.second_labelled),
        count(row.questions),
        percent(row.share),
        mean(row.kappa),
        interval(row.low, row.high, mean),
        "; ".join(labels_given(row, words)),
    )
    tone = Tone.PLAIN if row.n else Tone.MUTED
    return tuple(Cell(text, tone) for text in texts)


def labels_given(row: CheckAgreement, words: Words) -> Iterator[str]:
    """Yield how often the two judges gave each label, and why there is no kappa.

    The share of label 0 is left out: it follows from the others.
    """
    shares = {label: both for label, both in row.shares.items() if label} or row.shares
    parts = [
        words.line(
            "label_shares",
            label=words.get("labels", label_key(row.check, label)),
            first=one,
            second=other,
        )
        for label, (one, other) in sorted(shares.items(), reverse=True)
    ]
    if parts:
        yield words.list(parts)
    if row.undefined is None:
        return
    if row.lacking is None:
        yield words.get("unmatched", row.undefined)
    else:
        reason = words.get("statuses", row.undefined)
        yield words.line("lacking", judge=row.lacking, reason=reason)


def label_key(check: str, label: int) -> str:
    """Return the key of the word for a label of a check."""
    of_claim = ENTAILMENT if check in CLAIMS_OF else ANSWERED
    return (USEFULNESS if check == "passage_useful" else of_claim).get(label, str(label))


def by_judge(found: Judges, every_run: list[str], words: Words, brief: bool) -> Iterator[Block]:
    """Yield which findings hold under which judges, and what they are compared over."""
    if not found.compared:
        yield Paragraph(words.line("compared_not"), Tone.CAUTION)
        return
    sizes = {name: len(getattr(found, name)) for name in ("runs", "questions", "metrics")}
    whole = {"of_runs": found.of_runs, "of_questions": found.of_questions}
    yield Paragraph(words.line("compared", **sizes, **whole))
    if apart := [name for name in found.names if name not in found.compared]:
        yield Paragraph(words.line("apart", judges=apart), Tone.CAUTION)
    left_out = [run for run in every_run if run not in found.runs]
    left_out += map(words.metric, found.uncommon)
    if left_out:
        yield Paragraph(words.line("uncommon", names=left_out))
    if found.findings:
        yield from judged_findings(found, words, brief)
    else:
        yield Paragraph(words.line("held_none", judges=found.compared))
    yield Paragraph(words.line("judge_free", free=found.free), Tone.MUTED)


def judged_findings(found: Judges, words: Words, brief: bool) -> Iterator[Block]:
    """Yield how many findings hold under every judge, and a row each."""
    some = sum(bool(claim.others) for claim in found.findings)
    numbers = {"claims": len(found.findings), "every": len(found.findings) - some, "some": some}
    yield Paragraph(words.line("held", judges=found.compared, **numbers), Tone.STRONG)
    shown = found.findings[: MOST_ROWS if brief else None]
    columns = (
        Column(words.get("columns", "about"), long=True),
        *(Column(name, long=True) for name in found.compared),
        Column(words.get("columns", "holds"), long=True),
    )
    yield Table(columns, tuple(finding_row(claim, words) for claim in shown))
    if len(found.findings) > len(shown):
        yield Paragraph(words.line("more_findings", more=len(found.findings) - len(shown)))


def finding_row(claim: FindingByJudge, words: Words) -> tuple[Cell, ...]:
    """Return one finding with what each judge's scores say of it, and the judges it holds under."""
    readings = [
        Cell(reading_text(claim, reading, words), Tone.PLAIN if reading.holds else Tone.MUTED)
        for reading in claim.readings
    ]
    if claim.others:
        holds = Cell(words.line("under_some", judges=claim.judges), Tone.CAUTION)
    else:
        holds = Cell(words.line("under_every"), Tone.GOOD)
    return (Cell(about(claim, words)), *readings, holds)


def about(claim: FindingByJudge, words: Words) -> str:
    """Return what a finding is about."""
    finding = claim.finding
    names = names_of(finding, words)
    if finding.factor is not None:
        return words.line("about_contrast", metric=names["metric"], change=names["change"])
    if finding.run is not None:
        return words.line("about_ranks", run=finding.run, k=finding.numbers["k"])
    return words.line("about_trust", metric=names["metric"])


def reading_text(claim: FindingByJudge, reading: Reading, words: Words) -> str:
    """Return what one judge's scores say of what a finding is about."""
    contrast = claim.finding.factor is not None
    if not reading.verdict:
        return words.get("labels", "yes" if reading.holds else "no")
    verdict = words.get("verdicts" if contrast else "trust", reading.verdict)
    if reading.number is None:
        return verdict
    if contrast:
        return words.line("reading_mean", verdict=verdict, mean=reading.number)
    return words.line("reading_within", verdict=verdict, within=reading.number)
