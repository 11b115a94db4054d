"""What a judge would be asked, before anything is."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from harness.judge.asking import Ask
from harness.judge.cases import Case, Finding, Job, Kind
from harness.judge.checks import checks_named
from harness.judge.custom_checks import CustomCheck
from harness.judge.jobs import jobs, settled
from harness.llm import Calls, Chat
from harness.records import Status

CLAIMS_OF_TEXT = 2
"""Claims not taken yet are reckoned to take so many times the tokens of their text."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One call that a check on a case needs."""

    check: str
    key: str
    """Equal for calls that are the same, and so are asked once."""
    known: bool
    """Whether the call store holds the answer, and all of it."""
    prompt_tokens: int
    """Estimated rather too high."""
    reply_tokens: int
    """At most."""
    exact: bool
    """False where it rests on claims not taken yet: this call at most, its prompt reckoned."""
    replies: int = 1
    """How many it is to bring: the samples that are not known yet."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a judge brings to the reckoning."""

    chat: Chat
    ask: Callable[[Job], Ask]
    answer: Callable[[Sequence[Job], Calls], Sequence[Finding]]
    """Answers from the store alone."""
    samples: int
    batches: bool


def planned(
    terms: Terms,
    cases: Sequence[Case],
    checks: Collection[str],
    calls: Calls,
    own: Collection[CustomCheck] = (),
) -> list[list[Planned]]:
    """Return the calls that each case needs, in the order of the cases; repairs not counted.

    Args:
        terms: See there.
        cases: The responses, all at once: calls that are the same have the same key.
        checks: Names of checks; those they rest on are added.
        calls: A store in mode `read`, so that nothing is asked.
        own: Checks of one's own.
    """
    wanted = checks_named(checks, own)
    plans: dict[tuple[int, str], tuple[Job, ...] | Finding] = {}
    reckoned: set[tuple[int, str]] = set()
    for check, (index, case) in product([c for c in wanted if not c.claims], enumerate(cases)):
        plans[index, check.name] = jobs(check, case, None, terms.samples, terms.batches)
    taken = _claims_taken(terms, _unsettled(plans.values()), calls)
    for check, (index, case) in product([c for c in wanted if c.claims], enumerate(cases)):
        claims = plans[index, check.claims or ""]
        if isinstance(claims, tuple):
            (job,) = claims
            if job not in taken:
                reckoned.add((index, check.name))
            claims = taken.get(job) or Finding(texts=(job.text,) * CLAIMS_OF_TEXT)
        plans[index, check.name] = jobs(check, case, claims, terms.samples, terms.batches)
    requests = {job: terms.ask(job).request for job in _unsettled(plans.values())}
    keys = {job: terms.chat.key(request) for job, request in requests.items()}
    known = calls.known(list(keys.values()))
    rows: list[list[Planned]] = [[] for _ in cases]
    for (index, name), plan in plans.items():
        exact = (index, name) not in reckoned
        asked = [job for job in (plan if isinstance(plan, tuple) else ()) if job in requests]
        for samples in _calls(asked, terms.chat.samples_at_once):
            missing = [job for job in samples if not (exact and keys[job] in known)]
            request = requests[samples[0]]
            rows[index].append(
                Planned(
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


def _calls(asked: Iterable[Job], samples_at_once: bool) -> list[list[Job]]:
    """Return the jobs of each call: samples of one prompt are one, where the model can."""
    calls: dict[Job, list[Job]] = {}
    for job in asked:
        calls.setdefault(replace(job, sample=0) if samples_at_once else job, []).append(job)
    return list(calls.values())


def _unsettled(plans: Iterable[tuple[Job, ...] | Finding]) -> list[Job]:
    """Return the jobs that need a model, each once."""
    asked = (job for plan in plans if isinstance(plan, tuple) for job in plan)
    return [job for job in dict.fromkeys(asked) if settled(job) is None]


def _claims_taken(terms: Terms, asked: Sequence[Job], calls: Calls) -> dict[Job, Finding]:
    """Return what is known of the claims, for those of the jobs that took them."""
    keys = {job: terms.chat.key(terms.ask(job).request) for job in asked if job.kind is Kind.CLAIMS}
    known = calls.known(list(keys.values()))
    remembered = [job for job, key in keys.items() if key in known]
    found = zip(remembered, terms.answer(remembered, calls), strict=True)
    # A reply that was to be repaired, and was not: its repair is still to be asked for.
    return {job: finding for job, finding in found if finding.error is not Status.JUDGE_FAILED}
