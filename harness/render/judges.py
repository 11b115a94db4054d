"""What several judges say of the same answers: how far they agree, and what holds under each."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from harness.analysis.judges import ABOUT_CLAIMS
from harness.analysis.results import Analysis, CheckAgreement, FindingByJudge, Judges, Reading
from harness.render.blocks import Block, Cell, Column, Heading, Line, Section, Table, Tone
from harness.render.quantities import count, interval, mean, percent
from harness.render.sentences import names_of
from harness.render.wording import Words

ROWS = 10
"""Findings by judge that are shown in brief."""

ENTAILMENT = {1: "entailed", -1: "contradicted", 0: "unknown"}
USEFULNESS = {1: "useful", 0: "not_useful"}
ANSWERED = {1: "yes", 0: "no"}
"""Label -> its word, of checks that are answered by yes or no."""


def judges(analysis: Analysis, words: Words, brief: bool) -> Section | None:
    """Return what the judges say together; None where but one has judged."""
    found = analysis.judges
    if found is None:
        return None
    lead, *others = found.names
    blocks: list[Block] = [Line(words.line("judges", lead=lead, others=others))]
    pairs = [
        (pair, list(rows))
        for pair, rows in groupby(found.agreements, lambda row: (row.first, row.second))
    ]
    shown = [(pair, rows) for pair, rows in pairs if not brief or lead in pair]
    for (first, second), rows in shown:
        blocks.append(Heading(words.line("judges_agree", first=first, second=second)))
        blocks.append(agreement(rows, words))
    if more := len(pairs) - len(shown):
        blocks.append(Line(words.line("more_pairs", more=more)))
    blocks.append(Line(words.line("judges_how"), Tone.MUTED))
    blocks.append(Heading(words.get("headings", "by_judge")))
    blocks += by_judge(found, words, brief)
    return Section("judges", words.get("headings", "judges"), tuple(blocks))


def agreement(rows: Sequence[CheckAgreement], words: Words) -> Table:
    """Return a row a check of how far two judges agree."""
    numbers = ("matched", "questions", "same_label", "kappa", "interval")
    columns = (
        Column(words.get("columns", "check"), long=True),
        *(Column(words.get("columns", key), number=True) for key in numbers),
        Column(words.get("columns", "given"), long=True),
    )
    return Table(columns, tuple(agreed(row, words) for row in rows))


def agreed(row: CheckAgreement, words: Words) -> tuple[Cell, ...]:
    """Return how far two judges agree on one check; what is undefined, with its reason."""
    first, second = row.labelled
    texts = (
        words.get("agreed_checks", row.check),
        words.line("matched", n=row.n, first=first, second=second),
        count(row.questions),
        percent(row.agreed / row.n if row.n else None),
        mean(row.kappa),
        interval(row.low, row.high, mean),
        "; ".join(given(row, words)),
    )
    tone = Tone.PLAIN if row.n else Tone.MUTED
    return tuple(Cell(text, tone) for text in texts)


def given(row: CheckAgreement, words: Words) -> Iterator[str]:
    """Yield which labels the two judges gave how often, and why there is no kappa.

    How often neither label of a kind was given (0) follows from the others.
    """
    written = labels(row.check)
    shares = {label: both for label, both in row.shares.items() if label} or row.shares
    told = [
        words.line(
            "label_shares",
            label=words.get("labels", written.get(label, str(label))),
            first=one,
            second=other,
        )
        for label, (one, other) in sorted(shares.items(), reverse=True)
    ]
    if told:
        yield words.list(told)
    if row.undefined is None:
        return
    if row.lacking is None:
        yield words.get("unmatched", row.undefined)
    else:
        reason = words.get("statuses", row.undefined)
        yield words.line("lacking", judge=row.lacking, reason=reason)


def labels(check: str) -> dict[int, str]:
    """Return what the labels of a check are called."""
    if check in ABOUT_CLAIMS:
        return ENTAILMENT
    return USEFULNESS if check == "passage_useful" else ANSWERED


def by_judge(found: Judges, words: Words, brief: bool) -> Iterator[Block]:
    """Yield which findings hold under which judges, and over what they are compared."""
    if not found.compared:
        yield Line(words.line("compared_not"), Tone.CAUTION)
        return
    numbers = {
        "runs": len(found.runs),
        "of_runs": found.of_runs,
        "questions": len(found.questions),
        "of_questions": found.of_questions,
        "metrics": len(found.metrics),
    }
    yield Line(words.line("compared", **numbers))
    if apart := [name for name in found.names if name not in found.compared]:
        yield Line(words.line("apart", judges=apart), Tone.CAUTION)
    if found.uncommon:
        yield Line(words.line("uncommon", metrics=map(words.metric, found.uncommon)))
    if found.findings:
        yield from claims(found, words, brief)
    else:
        yield Line(words.line("held_none", judges=found.compared))
    yield Line(words.line("judge_free", free=found.free), Tone.MUTED)


def claims(found: Judges, words: Words, brief: bool) -> Iterator[Block]:
    """Yield how many findings hold under every judge, and a row each."""
    everywhere = sum(not claim.others for claim in found.findings)
    numbers = {
        "claims": len(found.findings),
        "every": everywhere,
        "some": len(found.findings) - everywhere,
    }
    yield Line(words.line("held", judges=found.compared, **numbers), Tone.STRONG)
    shown = found.findings[: ROWS if brief else None]
    columns = (
        Column(words.get("columns", "about"), long=True),
        *(Column(name, long=True) for name in found.compared),
        Column(words.get("columns", "holds"), long=True),
    )
    yield Table(columns, tuple(row_of(claim, words) for claim in shown))
    if len(found.findings) > len(shown):
        yield Line(words.line("more_findings", more=len(found.findings) - len(shown)))


def row_of(claim: FindingByJudge, words: Words) -> tuple[Cell, ...]:
    """Return one finding with what each judge's scores say, and under whom it holds."""
    said = [
        Cell(told(claim, reading, words), Tone.PLAIN if reading.holds else Tone.MUTED)
        for reading in claim.readings
    ]
    if claim.others:
        holds = Cell(words.line("under_some", judges=claim.judges), Tone.CAUTION)
    else:
        holds = Cell(words.line("under_every"), Tone.GOOD)
    return (Cell(about(claim, words)), *said, holds)


def about(claim: FindingByJudge, words: Words) -> str:
    """Return what a finding is about."""
    finding = claim.finding
    names = names_of(finding, words)
    if finding.left is not None:
        return words.line("about_contrast", metric=names["metric"], change=names["change"])
    if finding.run is not None:
        return words.line("about_ranks", run=finding.run, k=finding.numbers["k"])
    return words.line("about_trust", metric=names["metric"])


def told(claim: FindingByJudge, reading: Reading, words: Words) -> str:
    """Return what one judge's scores say of what a finding is about."""
    contrast = claim.finding.left is not None
    if not reading.verdict:
        return words.get("labels", "yes" if reading.holds else "no")
    verdict = words.get("verdicts" if contrast else "trust", reading.verdict)
    if reading.number is None:
        return verdict
    if contrast:
        return words.line("reading_mean", verdict=verdict, mean=reading.number)
    return words.line("reading_auc", verdict=verdict, auc=reading.number)
