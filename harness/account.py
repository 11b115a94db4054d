"""What an evaluation came to, told in a few lines: cells, calls, repairs."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from harness.errors import EndpointError
from harness.llm import Calls
from harness.records import Score, Status

WIDTH = 100
"""Columns of what is printed, but of a command to be pasted."""

UNREAD = (Status.JUDGE_UNPARSABLE, Status.JUDGE_INCOMPLETE, Status.JUDGE_FAILED)
"""Reasons that lie with the judge and its endpoint, so that another judge may do better."""

WAYS = {"more_room": "with more room", "repair": "told what was wrong", "fresh": "afresh"}
"""How a reply that cannot be used is asked for again, in words."""


def told(scores: Mapping[str, Sequence[Score]], calls: Calls) -> str:
    """Say how many cells of each run are scored, what was asked and what had to be repaired."""
    lines = [f"{run}: {cells(found)}" for run, found in scores.items()]
    return "\n".join(folded(line) for line in [*lines, *asked(calls), *repaired(calls)])


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


def check_unread(scores: Mapping[str, Sequence[Score]], most: float) -> None:
    """Raise EndpointError where the judge left more than this share of its cells unscored."""
    judged = [score for score in chain(*scores.values()) if score.judge is not None]
    unread = [score for score in judged if score.status in UNREAD]
    if judged and len(unread) / len(judged) > most:
        raise EndpointError(
            f"the judge gave no usable reply for {len(unread)} of {len(judged)} cells, which are "
            f"NA now (most_unread={most:g} is allowed); python -m harness.doctor tells what ails it"
        )
