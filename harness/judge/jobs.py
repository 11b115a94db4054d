"""From cases and checks to jobs, and from a model's answers back to verdicts."""

from collections.abc import Sequence
from dataclasses import replace

from harness.judge.cases import Case, Finding, Job, Kind
from harness.judge.checks import NOTHING, Check
from harness.judge.custom_checks import CustomCheck
from harness.records import Status, Verdict


def jobs(
    check: Check, case: Case, claims: Finding | None, samples: int, batch: bool
) -> tuple[Job, ...] | Finding:
    """Return what to ask, or the finding that there is nothing to ask.

    Args:
        check: The check to make.
        case: The response to make it on.
        claims: The claims that the check rests on; None for a check that needs none.
        samples: How many reverse questions to ask for.
        batch: Whether all passages are judged for usefulness in one job.
    """
    if blocked := _blocked(check, case, claims):
        return blocked
    texts = check.texts(case)
    if check.kind is Kind.CLAIMS:
        return (Job(check.kind, case.question, texts[0]),)
    if check.kind is Kind.REVERSE_QUESTION:
        return tuple(
            Job(check.kind, case.question, texts[0], sample=sample) for sample in range(samples)
        )
    if check.kind is Kind.USEFULNESS:
        groups = [texts] if batch else [(text,) for text in texts]
        return tuple(
            Job(check.kind, case.question, reference=case.reference, items=group)
            for group in groups
        )
    if check.own is not None:
        return _own_jobs(check.own, case)
    assert claims is not None
    return tuple(Job(check.kind, text=text, items=claims.texts) for text in texts)


def _own_jobs(own: CustomCheck, case: Case) -> tuple[Job, ...]:
    """Return the jobs of one's own check; what it does not look at cannot tell two jobs apart."""
    job = Job(
        Kind.OWN_CHECK,
        question=case.question if "question" in own.inputs else "",
        text=case.response if "response" in own.inputs else "",
        reference=case.reference if "reference" in own.inputs else "",
        items=case.passages if "passages" in own.inputs else (),
        own=own,
    )
    if own.of == "passages":
        return tuple(replace(job, items=(passage,)) for passage in case.passages)
    return (job,)


def _blocked(check: Check, case: Case, claims: Finding | None) -> Finding | None:
    if claims is not None and claims.error is not None:
        return claims
    if claims is not None and not claims.texts:
        return Finding(error=NOTHING[check.claims or ""], note=claims.note)
    if check.of in ("context", "passages") and not case.passages:
        return Finding(error=Status.NO_PASSAGES)
    rests_on_reference = check.of == "reference" or check.kind is Kind.USEFULNESS
    if rests_on_reference and not case.reference.strip():
        return Finding(error=Status.NO_REFERENCE_CLAIMS)
    if check.name in NOTHING and not check.texts(case)[0].strip():
        return Finding(error=NOTHING[check.name])
    return None


def settled(job: Job) -> Finding | None:
    """Return the finding that needs no judge: an empty text supports no claim."""
    if job.kind is Kind.ENTAILMENT and not job.text.strip():
        return _nothing_in(job, "the text is empty")
    if job.kind is Kind.USEFULNESS and not any(item.strip() for item in job.items):
        return _nothing_in(job, "the passage is empty")
    return None


def _nothing_in(job: Job, why: str) -> Finding:
    size = len(job.items)
    return Finding(labels=(0,) * size, reasons=(why,) * size)


def verdicts(
    judge: str, case: Case, check: Check, asked: Sequence[Job], found: Sequence[Finding]
) -> list[Verdict]:
    """Return the rows of one check on one case, from what was found for each of its jobs.

    A check that failed in all its jobs is one row with item -1; where some succeeded, each
    label that is missing has a row that says why.
    """
    failed = [finding for finding in found if finding.error is not None and not finding.labels]
    if len(failed) == len(found):
        return [_whole(judge, case, check, failed[0])]
    rows: list[Verdict] = []
    for place, (job, finding) in enumerate(zip(asked, found, strict=True)):
        size = len(finding.texts) if check.kind is Kind.CLAIMS else job.labels
        entails = check.kind is Kind.ENTAILMENT
        first = 0 if entails else place
        against = place if entails and check.of == "passages" else -1
        for index in range(size):
            rows.append(
                Verdict(
                    judge=judge,
                    question_id=case.question_id,
                    repeat=case.repeat,
                    check=check.name,
                    item=first + index,
                    against=against,
                    text=_text(check, job, finding, index),
                    label=finding.labels[index] if finding.labels else None,
                    similarity=finding.similarity,
                    reason=finding.reason(index) or finding.note,
                    error=finding.error,
                    call=finding.call,
                )
            )
    return rows or [_whole(judge, case, check, Finding(error=NOTHING[check.name]))]


def _whole(judge: str, case: Case, check: Check, finding: Finding) -> Verdict:
    """Return the one row of a check that yields nothing."""
    return Verdict(
        judge=judge,
        question_id=case.question_id,
        repeat=case.repeat,
        check=check.name,
        item=-1,
        reason=finding.note,
        error=finding.error,
        call=finding.call,
    )


def _text(check: Check, job: Job, finding: Finding, index: int) -> str | None:
    if check.kind is Kind.ENTAILMENT:
        return job.items[index]
    return finding.texts[index] if index < len(finding.texts) else None
