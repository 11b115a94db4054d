"""Findings about several judges of the same answers."""

from collections.abc import Iterator

from harness.analysis.findings.kinds import SIDES, Finding
from harness.analysis.results import CheckAgreement, Judges


def judge_findings(judges: Judges) -> Iterator[Finding]:
    """Yield how far the judges agree, and which findings hold under which judges."""
    for row in judges.findings:
        finding = row.finding
        everywhere = not row.others
        yield Finding(
            "under_every_judge" if everywhere else "under_some_judges",
            numbers={"k": finding.numbers["k"]} if "k" in finding.numbers else {},
            names={
                **{side: finding.names[side] for side in SIDES if side in finding.names},
                "said": finding.names.get("verdict", finding.kind),
            },
            groups={"judges": row.judges} | ({} if everywhere else {"others": row.others}),
            questions=finding.questions,
            factor=finding.factor,
            left=finding.left,
            right=finding.right,
            run=finding.run,
            metric=finding.metric,
        )
    for agreement in judges.agreements:
        yield agreement_finding(agreement)


def agreement_finding(row: CheckAgreement) -> Finding:
    """Return how far two judges agree on one check."""
    return Finding(
        "judges_agreement",
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
        names={
            "first": row.first,
            "second": row.second,
            "check": row.check,
            **undefined_kappa(row),
        },
    )


def undefined_kappa(row: CheckAgreement) -> dict[str, str]:
    """Return why two judges' kappa is undefined, as names of a finding."""
    if row.undefined is None:
        return {}
    if row.lacking is None:
        return {"unmatched": row.undefined}
    return {"status": row.undefined, "lacking": row.lacking}
