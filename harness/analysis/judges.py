"""What holds under every judge, and what only under one: the same questions put to each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.analysis.common import CommonPart, common_part, judged
from harness.analysis.contrasts import contrasts
from harness.analysis.doubts import about_trust
from harness.analysis.factors import Design
from harness.analysis.findings import strongest_first
from harness.analysis.judged import CheckAgreement, Claim, Judges, Reading
from harness.analysis.kind import SIDES
from harness.analysis.matching import agreements
from harness.analysis.measures import measures
from harness.analysis.options import Options
from harness.analysis.ranks import BY_JUDGE, deeper_ranks, retrieval_facts
from harness.analysis.results import (
    Analysis,
    Contrast,
    Finding,
    MetricTrust,
    Severity,
    Trust,
)
from harness.analysis.statements import claims
from harness.analysis.tables import StudyTable
from harness.analysis.trust import metric_trust
from harness.analysis.view import shown_by

USEFUL = "passage_useful"
"""The check that ranks by a judge rest on."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one judge's scores say of the common part."""

    contrasts: Mapping[tuple[str, str], Contrast]
    trust: Mapping[str, MetricTrust]
    findings: Mapping[tuple[object, ...], Finding]
    """By what they say (`saying`), those that rest on the judge."""


def judged_by_several(
    analysis: Analysis, tables: Mapping[str, StudyTable], options: Options
) -> Analysis:
    """Return the analysis with what other judges say of the same answers; as it is without any.

    Args:
        analysis: Of the first of the tables.
        tables: Judge -> the study by this judge, over the runs it has scored.
        options: Those of the analysis.
    """
    if len(tables) < 2:
        return analysis
    common = common_part(tables)
    # the run that stands in for a repeat of it
    options = replace(options, baseline=analysis.baseline)
    lead = next(iter(tables.values()))
    said: dict[str, Said] = {}
    for judge, study in common.tables.items():
        if not said and study.scores.values.shape == lead.scores.values.shape:
            # the first judge's common part is the whole, which was analysed already
            said[judge] = said_by(study, analysis.contrasts, analysis.trust, common, options)
        else:
            said[judge] = analysed(study, common, options)
    one = next(iter(common.tables.values()), None)
    found = Judges(
        names=tuple(tables),
        agreements=agreements({judge: study.verdicts for judge, study in tables.items()}),
        compared=tuple(common.tables),
        runs=tuple(run.name for run in one.runs) if one else (),
        questions=tuple(question.id for question in one.questions) if one else (),
        metrics=common.metrics,
        of_runs=len(lead.runs),
        of_questions=len(lead.questions),
        uncommon=common.uncommon,
        claims=tuple(compared(said)),
        free=sum(rests_on_none(finding, judged(lead)) for finding in analysis.findings),
    )
    findings = strongest_first([*analysis.findings, *about_judges(found)])
    return replace(analysis, judges=found, findings=findings)


def analysed(study: StudyTable, common: CommonPart, options: Options) -> Said:
    """Return what one judge's scores say of the common part, in tests that are one family."""
    design = Design(study.runs)
    baseline = options.baseline if options.baseline in [run.name for run in study.runs] else None
    tested = measures(study)
    trust = metric_trust(study, tested)
    believed = {row.metric: row.verdict for row in trust}
    pairs, _ = contrasts(study, design, tested, believed, replace(options, baseline=baseline))
    return said_by(study, pairs, trust, common, options)


def said_by(
    study: StudyTable,
    pairs: Sequence[Contrast],
    trust: Sequence[MetricTrust],
    common: CommonPart,
    options: Options,
) -> Said:
    """Return what contrasts and trust say, as far as it rests on the judge and is in view."""
    ranked = all(says_useful(one) for one in common.tables.values())
    findings = [
        *(finding for pair in pairs for finding in claims(pair)),
        *(about_trust(row) for row in trust if row.verdict is not Trust.TOO_FEW_GRADES),
        *deeper_ranks(study, retrieval_facts(study)),
    ]
    return Said(
        {(pair.left, pair.right): pair for pair in pairs},
        {row.metric: row for row in trust},
        {
            saying(finding): finding
            for finding in findings
            if shown_by(finding, options)
            and (ranked if by_judged_ranks(finding) else finding.metric in common.metrics)
        },
    )


def saying(finding: Finding) -> tuple[object, ...]:
    """Return what a finding says, whatever its numbers: its subject, kind and direction."""
    mean = finding.numbers.get("mean")
    return (
        finding.kind,
        subject(finding),
        finding.names.get("verdict"),
        mean is not None and mean > 0,
        finding.numbers.get("k"),
    )


def subject(finding: Finding) -> tuple[str | None, ...]:
    """Return what a finding is about: a metric, in a contrast or in all runs, or a run."""
    return finding.left, finding.right, finding.run, finding.metric


def by_judged_ranks(finding: Finding) -> bool:
    """Say whether a finding rests on which passages a judge called useful."""
    return finding.kind == "deeper_rank" and finding.names["source"] == BY_JUDGE


def says_useful(study: StudyTable) -> bool:
    """Say whether the judge was asked which passages are useful, and said so of any."""
    labels = (v for rows in study.verdicts.values() for v in rows if v.check == USEFUL)
    return any(verdict.label is not None for verdict in labels)


def rests_on_none(finding: Finding, judged: list[str]) -> bool:
    """Say whether a finding was learnt from no judge: right and wrong, named evidence, costs."""
    return (
        finding.severity is Severity.FINDING
        and finding.metric not in judged
        and not by_judged_ranks(finding)
    )


def compared(said: Mapping[str, Said]) -> Iterator[Claim]:
    """Yield each finding of any judge with what all of them say, those of the first judge first."""
    first: dict[tuple[object, ...], Finding] = {}
    for own in said.values():
        for key, finding in own.findings.items():
            first.setdefault(key, finding)
    for key, finding in first.items():
        yield Claim(
            finding,
            tuple(
                Reading(judge, key in own.findings, *reading(finding, own))
                for judge, own in said.items()
            ),
        )


def reading(finding: Finding, own: Said) -> tuple[str, float | None]:
    """Return one judge's verdict on what a finding is about, and the number behind it."""
    metric = finding.metric or ""
    if finding.left is not None and finding.right is not None:
        contrast = own.contrasts.get((finding.left, finding.right))
        difference = contrast.difference(metric) if contrast else None
        return (difference.verdict.value, difference.mean) if difference else ("", None)
    trust = own.trust.get(metric)
    return (trust.verdict.value, trust.auc) if trust else ("", None)


def about_judges(found: Judges) -> Iterator[Finding]:
    """Yield how far the judges agree, and which findings hold under which of them."""
    for claim in found.claims:
        finding = claim.finding
        everywhere = not claim.others
        yield Finding(
            "under_every_judge" if everywhere else "under_some_judges",
            Severity.FINDING if everywhere else Severity.WARNING,
            numbers={"k": finding.numbers["k"]} if "k" in finding.numbers else {},
            names={
                **{side: finding.names[side] for side in SIDES if side in finding.names},
                "said": finding.names.get("verdict", finding.kind),
            },
            groups={"judges": claim.judges} | ({} if everywhere else {"others": claim.others}),
            questions=finding.questions,
            factor=finding.factor,
            left=finding.left,
            right=finding.right,
            run=finding.run,
            metric=finding.metric,
        )
    for row in found.agreements:
        yield agreed(row)


def agreed(row: CheckAgreement) -> Finding:
    """Return how far two judges agree on one check."""
    return Finding(
        "judges_agreement",
        Severity.NOTE,
        numbers={
            "n": row.n,
            "first_labelled": row.labelled[0],
            "second_labelled": row.labelled[1],
            "questions": row.questions,
            "agreed": row.agreed,
            "share": row.agreed / row.n if row.n else None,
            "kappa": row.kappa,
            "low": row.low,
            "high": row.high,
        },
        names={"first": row.first, "second": row.second, "check": row.check, **why(row)},
    )


def why(row: CheckAgreement) -> dict[str, str]:
    """Return why two judges' kappa is undefined, by the names that a sentence has for it."""
    if row.undefined is None:
        return {}
    if row.lacking is None:
        return {"unmatched": row.undefined}
    return {"status": row.undefined, "lacking": row.lacking}
