"""What an evaluation came to, told in a few lines: cells, calls, repairs."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.config.command import folded
from harness.errors import EndpointError
from harness.llm import Calls
from harness.records import LOST, Score, Status

FAILED = LOST - {Status.BUDGET}
"""Reasons that lie with the judge and its endpoint, so that another judge may do better."""

UNSUPPORTED = Status.NOT_SUPPORTED_BY_JUDGE

WAYS = {"more_room": "with more room", "repair": "told what was wrong", "fresh": "afresh"}
"""How a reply that cannot be used is asked for again, in words."""


Cell = tuple[str, int, str]
"""Question, repeat and metric."""


def key(score: Score) -> Cell:
    """Return which cell a score stands in."""
    return score.question_id, score.repeat, score.metric


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What an evaluation came to in one run."""

    stands: Sequence[Score]
    """What the judge has been asked so far, and what needed no judge."""
    brought: Sequence[Score]
    """What this evaluation came to by itself, also where former scores stand."""
    cut: Collection[Cell]
    """Those that are NA as the answer itself ended for want of room, whoever judges."""
    left: bool
    """Whether labels under other settings stayed, as too little came to replace them."""
    failed: bool
    """Whether it was the judge that failed there, and not the budget that was spent."""
    dropped: int
    """Labels under other settings that went, and were not asked for anew."""

    @property
    def judged(self) -> list[Score]:
        """The cells that hang on the judge: it was asked for them, and no answer was cut."""
        asked = (score for score in self.brought if score.judge is not None)
        return [score for score in asked if key(score) not in self.cut]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was done."""

    runs: Mapping[str, RunOutcome]
    calls: Calls
    """The account of the model calls."""
    failure: str = ""
    """What was said of most labels that the judge's endpoint or replies did not bring."""
    labels: tuple[int, int] = (0, 0)
    """Labels that did not come for such reasons, and all that were asked for."""

    @property
    def judged(self) -> list[Score]:
        """The cells that hang on the judge."""
        return [score for outcome in self.runs.values() for score in outcome.judged]


def told(done: Evaluation) -> str:
    """Say how many cells of each run are scored, what was asked and what had to be repaired."""
    lines = [f"{run}: {cells(outcome.stands)}" for run, outcome in done.runs.items()]
    lines += [*beyond(done), *asked(done.calls), *repaired(done.calls)]
    lines += [*stayed(done), *spent_up(done)]
    return "\n".join(map(folded, lines))


def beyond(done: Evaluation) -> Iterator[str]:
    """Yield which of the metrics asked for this judge cannot give; nothing where it can all."""
    statuses: dict[str, set[str]] = {}
    for score in done.judged:
        statuses.setdefault(score.metric, set()).add(score.status)
    if never := [
        name for name, all_ in statuses.items() if UNSUPPORTED in all_ and Status.OK not in all_
    ]:
        yield f"not for this judge: {', '.join(never)}; judge=chat asks a model"


def stayed(done: Evaluation) -> Iterator[str]:
    """Yield how many former scores stand for want of new ones, and what went for good."""
    kept: Counter[str] = Counter()
    withheld = 0
    for outcome in done.runs.values():
        if outcome.left:
            continue
        stands = {key(score): score.value for score in outcome.stands}
        for score in outcome.brought:
            value = stands.get(key(score))
            if score.status in LOST and value is not None:
                kept[score.status] += 1
            withheld += value is None and score.value is not None
    if kept:
        counts = ", ".join(f"{count} {reason}" for reason, count in sorted(kept.items()))
        yield f"kept: {kept.total()} scores of an earlier evaluation, as none came anew ({counts})"
    if withheld:
        yield (
            f"withheld: {withheld} scores, as the claims came out otherwise than those that former "
            "labels rest on; evaluate the metrics that rest on them together"
        )
    for run, outcome in done.runs.items():
        if outcome.left:
            yield f"{run}: left as it was, as too few labels came to replace what was said before"
    if dropped := sum(outcome.dropped for outcome in done.runs.values()):
        yield (
            f"dropped: {dropped} labels under the judge's former settings that this "
            "evaluation did not ask for anew"
        )


def spent_up(done: Evaluation) -> Iterator[str]:
    """Yield that the budget ended the evaluation, and how to go on; nothing where it did not."""
    missing = [score for score in done.judged if score.status is Status.BUDGET]
    if missing:
        budget = done.calls.budget
        limits = {name: getattr(budget, name) for name in ("calls", "tokens", "usd", "minutes")}
        set_to = [f"budget.{name}={most:g}" for name, most in limits.items() if most is not None]
        yield (
            f"budget spent: {len(missing)} of {len(done.judged)} cells were not asked to the end "
            "(calls that were on their way were paid for); "
            f"raise {' or '.join(set_to)} and give the same command again, which asks only these"
        )


def cells(scores: Sequence[Score]) -> str:
    """Say how many cells were scored, and count the NA by reason."""
    reasons = Counter(score.status for score in scores if score.value is None)
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    scored = f"{len(scores) - reasons.total()} of {len(scores)} cells scored"
    return f"{scored} (NA: {counts})" if counts else scored


def asked(calls: Calls) -> Iterator[str]:
    """Yield what was asked and what was remembered; nothing where no model was."""
    if calls.asked or calls.remembered:
        read = sum(tokens[0] for tokens in calls.tokens.values())
        written = sum(tokens[1] for tokens in calls.tokens.values())
        spent = f" ({calls.sent} requests, {read:,} + {written:,} tokens{paid(calls)})"
        yield f"calls: {calls.asked} asked{spent if calls.asked else ''}, {calls.remembered} known"


def paid(calls: Calls) -> str:
    """Say what the calls cost, where the price of every model is known."""
    prices = calls.budget.prices
    if not calls.tokens or set(calls.tokens) - set(prices):
        return ""
    return ", " + format(calls.spent.usd(prices), ".2f") + " USD"


def repaired(calls: Calls) -> Iterator[str]:
    """Yield how many replies could not be used as they came; nothing where all could."""
    if count := calls.repairs["replies"]:
        ways = ", ".join(f"{n} {said}" for way, said in WAYS.items() if (n := calls.repairs[way]))
        yield f"replies asked again: {count} ({ways})"


def check_unread(done: Evaluation, most: float) -> None:
    """Raise EndpointError where more than this share of the cells asked for came to nothing.

    A cell counts also where an earlier score stands in it; so does a run whose labels could not
    be replaced. A budget that is spent is no failure: it ends the evaluation as it was asked to.
    """
    failed, asked_for = sum(score.status in FAILED for score in done.judged), len(done.judged)
    what = "cells"
    if not asked_for:  # every answer was cut, so labels are all there is
        (failed, asked_for), what = done.labels, "labels"
    if failed > most * asked_for or any(outcome.failed for outcome in done.runs.values()):
        raise EndpointError(
            f"the judge gave no usable reply for {failed} of {asked_for} {what} "
            f"(most_unread={most:g} is allowed); "
            + (f"mostly: {done.failure}" if done.failure else "see python -m harness.doctor")
        )
