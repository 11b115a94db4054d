"""What every judge is: discrete questions in, verdicts out; it never scores.

Cases and checks become jobs, the judge answers each distinct job, and its answers become verdicts.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, product

from harness.judge.checks import Case, Check, CheckKind, CustomCheck, checks_named
from harness.llm import Calls
from harness.metrics.evidence import NOTHING
from harness.records import Status, Verdict

OnDone = Callable[[int, int], None]
"""Called as work proceeds with the number of questions answered, and the number known so far."""


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


Plans = dict[tuple[int, str], tuple[Job, ...] | JobAnswer]
"""Index of the case and name of the check -> its jobs, or the answer where nothing is to ask."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call that a check on a case needs."""

    check: str
    key: str
    """Equal for identical calls, which are made once."""
    known: bool
    """Whether the call store holds the complete answer."""
    prompt_tokens: int
    """An estimate that is rather too high."""
    reply_tokens: int
    """At most."""
    exact: bool
    """False where it rests on claims that are not known yet: then an upper bound."""
    replies: int = 1
    """Number of replies: the samples that are not known yet."""


@dataclass(frozen=True, slots=True)
class JudgeAccuracy:
    """How often a judge agreed with human labels, on one data set."""

    check: str
    """entailment | usefulness"""
    labels: str
    """The data set and its annotators."""
    language: str
    n: int
    accuracy: float
    low: float
    high: float
    """Ends of the 95 % Wilson interval."""
    majority: float
    """The accuracy of always giving the most common label."""
    auc: float
    """0.5 is chance."""

    def __str__(self) -> str:
        return (
            f"{self.check} ({self.language}): {self.accuracy:.2f} right [{self.low:.2f}, "
            f"{self.high:.2f}], n={self.n}, always the commoner label {self.majority:.2f}, "
            f"AUC {self.auc:.2f}; {self.labels}"
        )


@dataclass
class Judge:
    """A judge. A subclass gives `label`, `identity` and `answer`; the rest follows."""

    batch_passages = False
    """Whether all passages of a question are judged for usefulness in one call."""

    @property
    def label(self) -> str:
        """The text of the judge column."""
        raise NotImplementedError

    @property
    def accuracies(self) -> tuple[JudgeAccuracy, ...]:
        """How well it agrees with human labels, where that was measured."""
        return ()

    @property
    def samples(self) -> int:
        """Number of reverse questions for each response."""
        return 1

    def identity(self) -> dict[str, object]:
        """Return everything that can change a label, as JSON values."""
        raise NotImplementedError

    def answer(
        self, jobs: Sequence[Job], calls: Calls, tick: Callable[[], None]
    ) -> list[JobAnswer]:
        """Return the answer to each job, in order. `tick` is called as each is done."""
        raise NotImplementedError

    def planned_calls(
        self,
        cases: Sequence[Case],
        checks: Collection[str],
        calls: Calls,
        custom: Collection[CustomCheck] = (),
    ) -> list[list[PlannedCall]]:
        """Return the model calls that each case needs; none where the judge asks no model."""
        return [[] for _ in cases]

    def judge(
        self,
        cases: Sequence[Case],
        checks: Collection[str],
        calls: Calls,
        on_done: OnDone | None = None,
        custom: Collection[CustomCheck] = (),
    ) -> list[list[Verdict]]:
        """Return the verdicts on each case, in the order of the cases.

        Give all cases at once: equal questions are found before any is asked. First the texts
        are split into claims and everything is asked that needs no claims, then the rest.
        """
        wanted = checks_named(checks, custom)
        plans: Plans = {}
        found: dict[Job, JobAnswer] = {}
        for rests_on_claims in (False, True):
            wave = [check for check in wanted if bool(check.claims) is rests_on_claims]
            self.add_plans(plans, wave, cases, found)
            self._answer(jobs_of(plans), found, calls, on_done)
        return [
            [
                row
                for check in wanted
                for row in verdict_rows(self.label, case, check, plans[i, check.name], found)
            ]
            for i, case in enumerate(cases)
        ]

    def add_plans(
        self,
        plans: Plans,
        checks: Iterable[Check],
        cases: Sequence[Case],
        found: Mapping[Job, JobAnswer],
    ) -> None:
        """Add the jobs of these checks to `plans`, where the claims that they rest on are planned.

        Args:
            plans: What is planned so far.
            checks: The checks to add.
            cases: The responses to make them on.
            found: The answers to the jobs for the claims.
        """
        for check, (index, case) in product(checks, enumerate(cases)):
            claims = plans.get((index, check.claims or ""))
            if isinstance(claims, tuple):
                claims = found[claims[0]]
            plans[index, check.name] = jobs_for(
                check, case, claims, self.samples, self.batch_passages
            )

    def _answer(
        self,
        jobs: Iterable[Job],
        found: dict[Job, JobAnswer],
        calls: Calls,
        on_done: OnDone | None,
    ) -> None:
        """Add to `found` the answers to jobs that it lacks."""
        for job in jobs:
            if job not in found and (answer := answer_without_judge(job)) is not None:
                found[job] = answer
        new = [job for job in jobs if job not in found]
        done = count(len(found) + 1)

        def tick() -> None:
            if on_done is not None:
                on_done(next(done), len(found) + len(new))

        found.update(zip(new, self.answer(new, calls, tick), strict=True))


def jobs_of(plans: Plans) -> list[Job]:
    """Return the jobs in `plans`, each once."""
    every = (job for plan in plans.values() if isinstance(plan, tuple) for job in plan)
    return list(dict.fromkeys(every))


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
    if check.kind in (CheckKind.CLAIMS, CheckKind.REVERSE_QUESTION):
        times = samples if check.kind is CheckKind.REVERSE_QUESTION else 1
        return tuple(Job(check.kind, case.question, texts[0], sample=n) for n in range(times))
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
        why = "the text is empty"
    elif job.kind is CheckKind.USEFULNESS and not any(item.strip() for item in job.items):
        why = "the passage is empty"
    else:
        return None
    size = len(job.items)
    return JobAnswer(labels=(0,) * size, reasons=(why,) * size)


def verdict_rows(
    judge: str,
    case: Case,
    check: Check,
    plan: tuple[Job, ...] | JobAnswer,
    found: Mapping[Job, JobAnswer],
) -> list[Verdict]:
    """Return the rows of one check on one case, from the answers to its jobs.

    A check that failed in all its jobs is one row with item -1; where some succeeded, each
    label that is missing has a row that says why.
    """
    about = (judge, case.question_id, case.repeat, check.name)
    answers = [plan] if isinstance(plan, JobAnswer) else [found[job] for job in plan]
    failed = [answer for answer in answers if answer.error is not None and not answer.labels]
    if isinstance(plan, JobAnswer) or len(failed) == len(answers):
        first = failed[0]
        return [Verdict(*about, -1, reason=first.note, error=first.error, call=first.call)]
    entails = check.kind is CheckKind.ENTAILMENT
    rows: list[Verdict] = []
    for place, (job, answer) in enumerate(zip(plan, answers, strict=True)):
        size = len(answer.texts) if check.kind is CheckKind.CLAIMS else job.labels
        texts, reasons = job.items if entails else answer.texts, answer.reasons
        rows += [
            Verdict(
                *about,
                item=index if entails else place + index,
                against=place if entails and check.of == "passages" else -1,
                text=texts[index] if index < len(texts) else None,
                label=answer.labels[index] if answer.labels else None,
                similarity=answer.similarity,
                reason=(reasons[index] if index < len(reasons) else None) or answer.note,
                error=answer.error,
                call=answer.call,
            )
            for index in range(size)
        ]
    return rows or [Verdict(*about, -1, error=NOTHING[check.name])]
