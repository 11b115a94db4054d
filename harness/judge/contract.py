"""What every judge is: discrete questions in, verdicts out. It never scores."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product

from harness.judge.call_estimate import Planned
from harness.judge.cases import Case, Finding, Job
from harness.judge.checks import Check, checks_named
from harness.judge.custom_checks import CustomCheck
from harness.judge.jobs import jobs, settled, verdicts
from harness.llm import Calls
from harness.records import Verdict

OnDone = Callable[[int, int], None]
"""Told as work proceeds: how many questions are answered, and how many are known so far."""


@dataclass(frozen=True, slots=True)
class Measured:
    """How often a judge agreed with labels that people gave."""

    check: str
    """entailment | usefulness"""
    labels: str
    """The data set, and who labelled it."""
    language: str
    n: int
    accuracy: float
    low: float
    high: float
    """Ends of the 95 % Wilson interval."""
    majority: float
    """What calling everything by the commoner label would reach."""
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

    @property
    def label(self) -> str:
        """What is written in the judge column."""
        raise NotImplementedError

    @property
    def measured(self) -> tuple[Measured, ...]:
        """How well it agrees with people, where that was measured."""
        return ()

    @property
    def samples(self) -> int:
        """How many reverse questions are asked for."""
        return 1

    @property
    def batches(self) -> bool:
        """Whether all passages of a question are judged for usefulness at once."""
        return False

    def identity(self) -> dict[str, object]:
        """Return everything that shapes a label, as JSON values."""
        raise NotImplementedError

    def answer(self, asked: Sequence[Job], calls: Calls, tick: Callable[[], None]) -> list[Finding]:
        """Return a finding for each job, in order. `tick` is called as each is done."""
        raise NotImplementedError

    def planned(
        self,
        cases: Sequence[Case],
        checks: Collection[str],
        calls: Calls,
        own: Collection[CustomCheck] = (),
    ) -> list[list[Planned]]:
        """Return the model calls that each case needs; none where no model is asked."""
        return [[] for _ in cases]

    def judge(
        self,
        cases: Sequence[Case],
        checks: Collection[str],
        calls: Calls,
        on_done: OnDone | None = None,
        own: Collection[CustomCheck] = (),
    ) -> list[list[Verdict]]:
        """Return the verdicts on each case, in the order of the cases; `own` adds checks.

        Give all cases at once: equal questions are found before any is asked. First the
        claims are taken and everything is asked that does not need them, then the rest.
        """
        wanted = checks_named(checks, own)
        plans: dict[tuple[int, str], tuple[Job, ...] | Finding] = {}
        found: dict[Job, Finding] = {}
        for rests_on_claims in (False, True):
            wave = [check for check in wanted if bool(check.claims) is rests_on_claims]
            for check, (index, case) in product(wave, enumerate(cases)):
                claims = plans.get((index, check.claims or ""))
                if isinstance(claims, tuple):
                    claims = found[claims[0]]
                plans[index, check.name] = jobs(check, case, claims, self.samples, self.batches)
            asked = [job for plan in plans.values() if isinstance(plan, tuple) for job in plan]
            self._answer(dict.fromkeys(asked), found, calls, on_done)
        return [
            [
                row
                for check in wanted
                for row in self._rows(check, case, plans[i, check.name], found)
            ]
            for i, case in enumerate(cases)
        ]

    def _answer(
        self,
        asked: Iterable[Job],
        found: dict[Job, Finding],
        calls: Calls,
        on_done: OnDone | None,
    ) -> None:
        """Put into `found` what is not in it yet."""
        for job in asked:
            if job not in found and (finding := settled(job)) is not None:
                found[job] = finding
        new = [job for job in asked if job not in found]
        done = count(len(found) + 1)

        def tick() -> None:
            if on_done is not None:
                on_done(next(done), len(found) + len(new))

        found.update(zip(new, self.answer(new, calls, tick), strict=True))

    def _rows(
        self,
        check: Check,
        case: Case,
        plan: tuple[Job, ...] | Finding,
        found: Mapping[Job, Finding],
    ) -> list[Verdict]:
        if isinstance(plan, Finding):
            return verdicts(self.label, case, check, (), (plan,))
        return verdicts(self.label, case, check, plan, [found[job] for job in plan])
