"""Which labels of a judge stand, once it was asked again: what was read never gives way to NA."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from harness.metrics.metric import AXES
from harness.records import LOST, Status, Verdict

Checks = Mapping[str, Sequence[Verdict]]
"""Check -> its rows on one response."""

CLAIMS = {
    Status.NO_CLAIMS: "claims_response",
    Status.NO_REFERENCE_CLAIMS: "claims_reference",
}
RESTS_ON = {
    check: CLAIMS[axis] for check, axes in AXES.items() for axis in axes if axis in CLAIMS
} | {claims: claims for claims in CLAIMS.values()}
"""Check -> the check whose claims its items count."""

TOGETHER = (
    "the claims came out otherwise than those that other labels rest on; evaluate the metrics that "
    "rest on them together"
)


def standing(before: Iterable[Verdict], now: Iterable[Verdict]) -> list[Verdict]:
    """Return what stands of the checks in `now`, response by response, in its order.

    The rows of a check stand together: the new ones, but the former ones where of these more
    were read. Labels of different claims are never mixed: new claims replace others with all
    that rests on them, or, where that would cost a label, not at all.

    Args:
        before: What one judge said under the settings of now.
        now: What it said when asked again.
    """
    was = by_response(before)
    return [
        row
        for response, asked in by_response(now).items()
        for rows in _standing(was.get(response, {}), asked).values()
        for row in rows
    ]


def by_response(verdicts: Iterable[Verdict]) -> dict[tuple[str, int], dict[str, list[Verdict]]]:
    """Return (question, repeat) -> check -> rows."""
    found: defaultdict[tuple[str, int], dict[str, list[Verdict]]] = defaultdict(dict)
    for verdict in verdicts:
        checks = found[verdict.question_id, verdict.repeat]
        checks.setdefault(verdict.check, []).append(verdict)
    return found


def read(rows: Sequence[Verdict]) -> float:
    """Return the share of a check's rows that the judge could be read for; 0 where none is."""
    return sum(row.error not in LOST for row in rows) / len(rows) if rows else 0.0


def _standing(was: Checks, now: Checks) -> dict[str, Sequence[Verdict]]:
    found = {
        check: was[check] if read(was.get(check, ())) > read(rows) else rows
        for check, rows in now.items()
    }
    for claims in CLAIMS.values():
        if _alike(was.get(claims, ()), now.get(claims, ())):
            continue
        family = [check for check in {**now, **was} if RESTS_ON.get(check) == claims]
        costs = any(read(was.get(check, ())) > read(now.get(check, ())) for check in family)
        for check in now.keys() & set(family):
            found[check] = was.get(check, _withheld(now, family, check)) if costs else now[check]
    return found


def _alike(was: Sequence[Verdict], now: Sequence[Verdict]) -> bool:
    """Say whether labels on the one may stand beside labels on the other."""
    if not read(was) or not read(now):
        return True
    return [(row.item, row.text) for row in was] == [(row.item, row.text) for row in now]


def _withheld(now: Checks, family: Iterable[str], check: str) -> Sequence[Verdict]:
    """Return the one row of a check whose new labels count claims that do not stand."""
    rows = [row for name in family for row in now.get(name, ()) if row.error in LOST]
    first = now[check][0]
    error = rows[0].error if rows else Status.JUDGE_INCOMPLETE
    about = (first.judge, first.question_id, first.repeat, check)
    return [Verdict(*about, -1, reason=TOGETHER, error=error)]
