"""From cases and checks to jobs for a judge, and from its answers back to verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.judge.checks import NOTHING, Case, Check, CheckKind, CustomCheck
from harness.records import Status, Verdict


@dataclass(frozen=True, slots=True)
class Job:
    """One question to the judge. Jobs that are equal are answered once."""

    kind: CheckKind
    question: str = ""
    text: str = ""
    """The text that is split, checked against, or asked back about."""
    reference: str = ""
    items: tuple[str, ...] = ()
    """Claims or passages: each gets one label."""
    sample: int = 0
    custom: CustomCheck | None = None
    """The question and its answers, for a custom check."""

    @property
    def labels(self) -> int:
        """Number of labels of the answer; 1 where it has texts instead."""
        return len(self.items) if self.kind in (CheckKind.ENTAILMENT, CheckKind.USEFULNESS) else 1


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """The answer to a job: texts for claims, labels for items, both for a reverse question."""

    texts: tuple[str, ...] = ()
    labels: tuple[int, ...] = ()
    similarity: float | None = None
    reasons: tuple[str | None, ...] = ()
    """One for each text or label; empty where the judge gives none."""
    error: Status | None = None
    """Why there is no answer, or no similarity."""
    note: str | None = None
    """With an error: what happened, and what the model wrote. Else: what was dropped."""
    call: str | None = None
    """Key of the model call."""

    def reason(self, item: int) -> str | None:
        """Return the reason given for an item, if any."""
        return self.reasons[item] if item < len(self.reasons) else None


def jobs_for(
    check: Check, case: Case, claims: JobAnswer | None, samples: int, batch: bool
) -> tuple[Job, ...] | JobAnswer:
    """Return the jobs of a check on a case, or the answer where there is nothing to ask.

    Args:
        check: The check to make.
        case: The response to make it on.
        claims: The claims that the check rests on; None for a check that needs none.
        samples: How many reverse questions to ask for.
        batch: Whether all passages are judged for usefulness in one job.
    """
    if known := _nothing_to_ask(check, case, claims):
        return known
    texts = check.texts(case)
    if check.kind is CheckKind.CLAIMS:
        return (Job(check.kind, case.question, texts[0]),)
    if check.kind is CheckKind.REVERSE_QUESTION:
        return tuple(
            Job(check.kind, case.question, texts[0], sample=sample) for sample in range(samples)
        )
    if check.kind is CheckKind.USEFULNESS:
        groups = [texts] if batch else [(text,) for text in texts]
        return tuple(
            Job(check.kind, case.question, reference=case.reference, items=group)
            for group in groups
        )
    if check.custom is not None:
        return _custom_jobs(check.custom, case)
    assert claims is not None
    return tuple(Job(check.kind, text=text, items=claims.texts) for text in texts)


def _custom_jobs(custom: CustomCheck, case: Case) -> tuple[Job, ...]:
    """Return the jobs of a custom check; only its inputs are part of them."""
    job = Job(
        CheckKind.CUSTOM_CHECK,
        question=case.question if "question" in custom.inputs else "",
        text=case.response if "response" in custom.inputs else "",
        reference=case.reference if "reference" in custom.inputs else "",
        items=case.passages if "passages" in custom.inputs else (),
        custom=custom,
    )
    if custom.of == "passages":
        return tuple(replace(job, items=(passage,)) for passage in case.passages)
    return (job,)


def _nothing_to_ask(check: Check, case: Case, claims: JobAnswer | None) -> JobAnswer | None:
    if claims is not None and claims.error is not None:
        return claims
    if claims is not None and not claims.texts:
        return JobAnswer(error=NOTHING[check.claims or ""], note=claims.note)
    if check.of in ("context", "passages") and not case.passages:
        return JobAnswer(error=Status.NO_PASSAGES)
    rests_on_reference = check.of == "reference" or check.kind is CheckKind.USEFULNESS
    if rests_on_reference and not case.reference.strip():
        return JobAnswer(error=Status.NO_REFERENCE_CLAIMS)
    if check.name in NOTHING and not check.texts(case)[0].strip():
        return JobAnswer(error=NOTHING[check.name])
    return None


def answer_without_judge(job: Job) -> JobAnswer | None:
    """Return the answer where it is known without asking: an empty text supports no claim."""
    if job.kind is CheckKind.ENTAILMENT and not job.text.strip():
        return _nothing_in(job, "the text is empty")
    if job.kind is CheckKind.USEFULNESS and not any(item.strip() for item in job.items):
        return _nothing_in(job, "the passage is empty")
    return None


def _nothing_in(job: Job, why: str) -> JobAnswer:
    size = len(job.items)
    return JobAnswer(labels=(0,) * size, reasons=(why,) * size)


def verdict_rows(
    judge: str, case: Case, check: Check, jobs: Sequence[Job], answers: Sequence[JobAnswer]
) -> list[Verdict]:
    """Return the rows of one check on one case, from the answers to its jobs.

    A check that failed in all its jobs is one row with item -1; where some succeeded, each
    label that is missing has a row that says why.
    """
    failed = [answer for answer in answers if answer.error is not None and not answer.labels]
    if len(failed) == len(answers):
        return [_whole(judge, case, check, failed[0])]
    rows: list[Verdict] = []
    for place, (job, answer) in enumerate(zip(jobs, answers, strict=True)):
        size = len(answer.texts) if check.kind is CheckKind.CLAIMS else job.labels
        entails = check.kind is CheckKind.ENTAILMENT
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
                    text=_text(check, job, answer, index),
                    label=answer.labels[index] if answer.labels else None,
                    similarity=answer.similarity,
                    reason=answer.reason(index) or answer.note,
                    error=answer.error,
                    call=answer.call,
                )
            )
    return rows or [_whole(judge, case, check, JobAnswer(error=NOTHING[check.name]))]


def _whole(judge: str, case: Case, check: Check, answer: JobAnswer) -> Verdict:
    """Return the single row of a check without labels."""
    return Verdict(
        judge=judge,
        question_id=case.question_id,
        repeat=case.repeat,
        check=check.name,
        item=-1,
        reason=answer.note,
        error=answer.error,
        call=answer.call,
    )


def _text(check: Check, job: Job, answer: JobAnswer, index: int) -> str | None:
    if check.kind is CheckKind.ENTAILMENT:
        return job.items[index]
    return answer.texts[index] if index < len(answer.texts) else None
