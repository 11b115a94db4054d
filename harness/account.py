"""What an evaluation came to, told in a few lines: cells, calls, repairs."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from harness.errors import EndpointError
from harness.llm import Calls
from harness.records import Score, Status

WIDTH = 100
"""Columns of what is printed, but of a command to be pasted."""

FAILED = (Status.JUDGE_UNPARSABLE, Status.JUDGE_INCOMPLETE, Status.JUDGE_FAILED)
"""Reasons that lie with the judge and its endpoint, so that another judge may do better."""

UNREAD = (*FAILED, Status.BUDGET)
"""Reasons for which the same answers may have a score another time."""

WAYS = {"more_room": "with more room", "repair": "told what was wrong", "fresh": "afresh"}
"""How a reply that cannot be used is asked for again, in words."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was done."""

    scores: Mapping[str, Sequence[Score]]
    """Run -> what the judge has been asked so far, and what needed no judge."""
    brought: Mapping[str, Sequence[Score]]
    """Run -> what this evaluation came to by itself, also where former scores stand."""
    left: Sequence[str]
    """Runs whose labels under other settings stayed, as too little came to replace them."""
    dropped: int
    """Labels under other settings that went, and were not asked for anew."""
    calls: Calls
    """The account of the model calls."""
    failure: str = ""
    """What was said of most labels that the judge's endpoint or replies did not bring."""


def told(done: Evaluation) -> str:
    """Say how many cells of each run are scored, what was asked and what had to be repaired."""
    lines = [f"{run}: {cells(found)}" for run, found in done.scores.items()]
    lines += [*asked(done.calls), *repaired(done.calls), *stayed(done), *spent_up(done)]
    return "\n".join(map(folded, lines))


def stayed(done: Evaluation) -> Iterator[str]:
    """Yield how many former scores stand for want of new ones, and what went for good."""
    kept: Counter[str] = Counter()
    withheld = 0
    for run in done.brought.keys() - done.left:
        stands = {key(score): score.value for score in done.scores[run]}
        for score in done.brought[run]:
            value = stands.get(key(score))
            if score.status in UNREAD and value is not None:
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
    for run in done.left:
        yield f"{run}: left as it was, as too few labels came to replace what the judge had said"
    if done.dropped:
        yield (
            f"dropped: {done.dropped} labels under the judge's former settings that this "
            "evaluation did not ask for anew"
        )


def key(score: Score) -> tuple[str, int, str]:
    """Return which cell a score stands in."""
    return score.question_id, score.repeat, score.metric


def spent_up(done: Evaluation) -> Iterator[str]:
    """Yield that the budget ended the evaluation, and how to go on; nothing where it did not."""
    missing = [score for score in judged(done) if score.status is Status.BUDGET]
    if missing:
        budget = done.calls.budget
        limits = {name: getattr(budget, name) for name in ("calls", "tokens", "usd", "minutes")}
        set_to = [f"budget.{name}={most:g}" for name, most in limits.items() if most is not None]
        yield (
            f"budget spent: {len(missing)} of {len(judged(done))} cells were not asked to the end; "
            f"raise {' or '.join(set_to)} and give the same command again, which asks only these"
        )


def judged(done: Evaluation) -> list[Score]:
    """Return the cells that a judge was asked for in this evaluation."""
    return [score for score in chain(*done.brought.values()) if score.judge is not None]


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


def toll(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return calls and repairs over the records of evaluations, each counted once.

    A record covers all runs of its evaluation and lies beside each of them.

    >>> one = {"ended": "12:00", "runs": ["a", "b"], "calls": {"sent": 4}, "repairs": {"fresh": 1}}
    >>> toll([one, one])
    {'evaluations': 1, 'calls': {'sent': 4}, 'repairs': {'fresh': 1}}
    """
    found = {json.dumps(record, sort_keys=True): record for record in records}.values()
    return {
        "evaluations": len(found),
        **{part: dict(sum_of(record[part] for record in found)) for part in ("calls", "repairs")},
    }


def sum_of(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """Return the sums of counts by name; a sum of 0 stays."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total


def folded(line: str) -> str:
    """Return a line in as many as the width takes; what holds no blank stays whole."""
    return textwrap.fill(
        line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def check_unread(done: Evaluation, most: float) -> None:
    """Raise EndpointError where more than this share of the cells asked for came to nothing.

    A cell counts also where an earlier score stands in it; so does a run whose labels could not
    be replaced. A budget that is spent is no failure: it ends the evaluation as it was asked to.
    """
    cells_asked = judged(done)
    failed = [score for score in cells_asked if score.status in FAILED]
    if done.left or (cells_asked and len(failed) / len(cells_asked) > most):
        raise EndpointError(
            f"the judge gave no usable reply for {len(failed)} of {len(cells_asked)} cells "
            f"(most_unread={most:g} is allowed); "
            + (f"mostly: {done.failure}" if done.failure else "see python -m harness.doctor")
        )


def share_unread(scores: Sequence[Score]) -> float:
    """Return the share of cells that could not be read; 0 of none."""
    return sum(score.status in UNREAD for score in scores) / len(scores) if scores else 0.0
