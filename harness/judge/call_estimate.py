"""The model calls that a judge would make, estimated before any is made."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from harness.judge.asking import JudgeRequest
from harness.judge.checks import Case, CheckKind, CustomCheck, checks_named
from harness.judge.jobs import Job, JobAnswer, answer_without_judge, jobs_for
from harness.llm import Calls, Chat
from harness.records import Status

CLAIMS_OF_TEXT = 2
"""Claims that are not known yet are estimated at this many times the tokens of their text."""


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
class Terms:
    """What a judge contributes to the estimate."""

    chat: Chat
    request_for: Callable[[Job], JudgeRequest]
    answer: Callable[[Sequence[Job], Calls], Sequence[JobAnswer]]
    """Answers from the call store alone."""
    samples: int
    batches: bool


def planned_calls(
    terms: Terms,
    cases: Sequence[Case],
    checks: Collection[str],
    calls: Calls,
    custom: Collection[CustomCheck] = (),
) -> list[list[PlannedCall]]:
    """Return the calls that each case needs, in the order of the cases; repairs not counted.

    Args:
        terms: How the judge asks.
        cases: The responses, all at once: identical calls have the same key.
        checks: Names of checks; those they rest on are added.
        calls: A store in mode `read`, so that no call is made.
        custom: Custom checks.
    """
    wanted = checks_named(checks, custom)
    plans: dict[tuple[int, str], tuple[Job, ...] | JobAnswer] = {}
    estimated: set[tuple[int, str]] = set()
    for check, (index, case) in product([c for c in wanted if not c.claims], enumerate(cases)):
        plans[index, check.name] = jobs_for(check, case, None, terms.samples, terms.batches)
    known_claims = _known_claims(terms, _to_ask(plans.values()), calls)
    for check, (index, case) in product([c for c in wanted if c.claims], enumerate(cases)):
        claims = plans[index, check.claims or ""]
        if isinstance(claims, tuple):
            (job,) = claims
            if job not in known_claims:
                estimated.add((index, check.name))
            claims = known_claims.get(job) or JobAnswer(texts=(job.text,) * CLAIMS_OF_TEXT)
        plans[index, check.name] = jobs_for(check, case, claims, terms.samples, terms.batches)
    requests = {job: terms.request_for(job).request for job in _to_ask(plans.values())}
    keys = {job: terms.chat.key(request) for job, request in requests.items()}
    known = calls.known(list(keys.values()))
    rows: list[list[PlannedCall]] = [[] for _ in cases]
    for (index, name), plan in plans.items():
        exact = (index, name) not in estimated
        asked = [job for job in (plan if isinstance(plan, tuple) else ()) if job in requests]
        for samples in _calls(asked, terms.chat.samples_at_once):
            missing = [job for job in samples if not (exact and keys[job] in known)]
            request = requests[samples[0]]
            rows[index].append(
                PlannedCall(
                    check=name,
                    key=keys[samples[0]],
                    known=not missing,
                    prompt_tokens=request.tokens,
                    reply_tokens=len(missing) * (request.max_tokens or 0),
                    exact=exact,
                    replies=len(missing),
                )
            )
    return rows


def _calls(jobs: Iterable[Job], samples_at_once: bool) -> list[list[Job]]:
    """Return the jobs of each call: samples of one prompt are one call where the model can."""
    calls: dict[Job, list[Job]] = {}
    for job in jobs:
        calls.setdefault(replace(job, sample=0) if samples_at_once else job, []).append(job)
    return list(calls.values())


def _to_ask(plans: Iterable[tuple[Job, ...] | JobAnswer]) -> list[Job]:
    """Return the jobs that need a model, each once."""
    asked = (job for plan in plans if isinstance(plan, tuple) for job in plan)
    return [job for job in dict.fromkeys(asked) if answer_without_judge(job) is None]


def _known_claims(terms: Terms, jobs: Sequence[Job], calls: Calls) -> dict[Job, JobAnswer]:
    """Return the known answers to those of the jobs that split a text into claims."""
    keys = {
        job: terms.chat.key(terms.request_for(job).request)
        for job in jobs
        if job.kind is CheckKind.CLAIMS
    }
    known = calls.known(list(keys.values()))
    remembered = [job for job, key in keys.items() if key in known]
    found = zip(remembered, terms.answer(remembered, calls), strict=True)
    # A failure means a reply that needs a repair, which has not been asked for yet.
    return {job: answer for job, answer in found if answer.error is not Status.JUDGE_FAILED}
