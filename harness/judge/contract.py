"""What every judge is: discrete questions in, verdicts out; it never scores."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product

from harness.judge.call_estimate import PlannedCall
from harness.judge.checks import Case, Check, CustomCheck, checks_named
from harness.judge.jobs import Job, JobAnswer, answer_without_judge, jobs_for, verdict_rows
from harness.llm import Calls
from harness.records import Verdict

OnDone = Callable[[int, int], None]
"""Called as work proceeds with the number of questions answered, and the number known so far."""


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

    @property
    def batches(self) -> bool:
        """Whether all passages of a question are judged for usefulness in one call."""
        return False

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
        plans: dict[tuple[int, str], tuple[Job, ...] | JobAnswer] = {}
        found: dict[Job, JobAnswer] = {}
        for rests_on_claims in (False, True):
            wave = [check for check in wanted if bool(check.claims) is rests_on_claims]
            for check, (index, case) in product(wave, enumerate(cases)):
                claims = plans.get((index, check.claims or ""))
                if isinstance(claims, tuple):
                    claims = found[claims[0]]
                plans[index, check.name] = jobs_for(check, case, claims, self.samples, self.batches)
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

    def _rows(
        self,
        check: Check,
        case: Case,
        plan: tuple[Job, ...] | JobAnswer,
        found: Mapping[Job, JobAnswer],
    ) -> list[Verdict]:
        if isinstance(plan, JobAnswer):
            return verdict_rows(self.label, case, check, (), (plan,))
        return verdict_rows(self.label, case, check, plan, [found[job] for job in plan])
