"""How a new evaluation changes a judge's verdicts on a run: what is kept, replaced or dropped."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.errors import RunError
from harness.metrics.metric import AXES
from harness.records import LOST, Score, Status, Verdict
from harness.store import Run

MOST = 4
"""Settings that are named; a changed language alone changes half a dozen."""

LONGEST = 60
"""Characters of a value that is shown: of a hash or a wording the name of the setting must do."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What is no longer as it was when a judge labelled a run."""

    settings: tuple[str, ...]
    """`chat.temperature 0.0, now 0.7`"""
    reworded: frozenset[str]
    """Checks of one's own whose wording changed."""
    itself: bool
    """Whether more changed than such wordings."""

    def keeps(self, name: str) -> bool:
        """Say whether labels of this check, or scores of this metric, are still the judge's."""
        return not self.itself and name not in self.reworded

    def __str__(self) -> str:
        more = len(self.settings) - MOST
        return "; ".join(self.settings[:MOST]) + (f"; and {more} more" if more > 0 else "")


def changed_since(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> Changed:
    """Return how a judge's identity differs from the one recorded; in nothing where none is.

    A check of one's own that was not asked before, or is not now, is no difference.
    """
    before = now if before is None else before
    own, then = now.get("own", {}), before.get("own", {})
    reworded = {name for name in own if then.get(name, own[name]) != own[name]}
    itself = list(differing({**before, "own": {}}, {**now, "own": {}}))
    wordings = [
        line for name in sorted(reworded) for line in differing(then[name], own[name], f"{name}.")
    ]
    return Changed((*itself, *wordings), frozenset(reworded), bool(itself))


def differing(before: Mapping[str, Any], now: Mapping[str, Any], inside: str = "") -> Iterator[str]:
    """Yield each setting that differs, with both values where they are short.

    >>> list(differing({"chat": {"seed": 0, "top_p": 1}}, {"chat": {"seed": 7, "top_p": 1}}))
    ['chat.seed 0, now 7']
    """
    for name in dict.fromkeys([*before, *now]):
        then, value = before.get(name), now.get(name)
        if isinstance(then, Mapping) and isinstance(value, Mapping):
            yield from differing(then, value, f"{inside}{name}.")
        elif then != value:
            was, is_now = (json.dumps(each, ensure_ascii=False) for each in (then, value))
            long = max(len(was), len(is_now)) > LONGEST
            yield f"{inside}{name}" + ("" if long else f" {was}, now {is_now}")


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


T = TypeVar("T", Verdict, Score)

Scorer = Callable[[tuple[Verdict, ...]], Sequence[Score]]
"""What scores follow from verdicts."""


@dataclass(frozen=True, slots=True)
class RunLabels:
    """The labels and scores of a run, judge by judge."""

    verdicts: Sequence[Verdict]
    scores: Sequence[Score]
    judges: Mapping[str, Any]
    """Label in the judge column -> everything that shaped its labels."""

    def merged(
        self,
        judge: str,
        identity: Mapping[str, Any],
        changed: Changed,
        verdicts: Sequence[Verdict],
        scores: Sequence[Score] | Scorer,
    ) -> tuple["RunLabels", int]:
        """Return this with what one judge says now, and how many of its labels that cost.

        What it said of other questions, checks and metrics stays, and so does what it could be
        read for before and not this time (`standing`).

        Args:
            judge: Its label.
            identity: As JSON values; of checks of one's own those asked now.
            changed: How that differs from when it last judged.
            verdicts: Its new rows.
            scores: The new scores, or how they follow from the verdicts that stand of what was
                asked.
        """
        asked = {_place(verdict) for verdict in verdicts}
        said = [verdict for verdict in self.verdicts if verdict.judge == judge]
        unasked = [verdict for verdict in said if _place(verdict) not in asked]
        kept = [verdict for verdict in unasked if changed.keeps(verdict.check)]
        stand = standing([verdict for verdict in said if changed.keeps(verdict.check)], verdicts)
        new = scores(tuple(stand)) if callable(scores) else scores
        cells = {_cell(score) for score in new}
        kept_scores = [
            score
            for score in self.scores
            if score.judge in (None, judge)
            and (score.judge is None or changed.keeps(score.metric))
            and _cell(score) not in cells
        ]
        judges = {**self.judges, judge: self._identity(judge, identity, changed)}
        their_verdicts = [verdict for verdict in self.verdicts if verdict.judge != judge]
        their_scores = [score for score in self.scores if score.judge not in (None, judge)]
        after = RunLabels(
            _in_order([*their_verdicts, *kept, *stand], judges),
            _in_order([*their_scores, *kept_scores, *new], judges),
            judges,
        )
        return after, len(unasked) - len(kept)

    def _identity(
        self, judge: str, identity: Mapping[str, Any], changed: Changed
    ) -> dict[str, Any]:
        """Return the identity, with the checks of one's own whose labels the judge keeps."""
        own = identity.get("own", {})
        if not changed.itself:
            own = {**self.judges.get(judge, {}).get("own", {}), **own}
        return {**identity, **({"own": own} if own else {})}


def _in_order(rows: Iterable[T], judges: Iterable[str]) -> list[T]:
    """Return the rows judge by judge, those last that needed none: whoever judged last."""
    order: dict[str | None, int] = {label: place for place, label in enumerate(judges)}
    return sorted(rows, key=lambda row: order.get(row.judge, len(order)))


def _place(verdict: Verdict) -> tuple[str, int, str]:
    return verdict.question_id, verdict.repeat, verdict.check


def _cell(score: Score) -> tuple[str, int, str]:
    return score.question_id, score.repeat, score.metric


def changed_for(run: Run, judge: str, identity: Mapping[str, Any]) -> Changed:
    """Return what differs from when a judge of this label labelled the run."""
    return changed_since(run.judges().get(judge), as_json(identity))


def as_json(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return an identity as it reads back from JSON, to be compared with one that was written."""
    found: dict[str, Any] = json.loads(json.dumps(identity))
    return found


def write_evaluation(
    run: Run,
    judge: str,
    identity: Mapping[str, Any],
    verdicts: Sequence[Verdict],
    scores: Sequence[Score] | Scorer,
    answers: str | None = None,
    again: bool = False,
) -> int:
    """Write one judge's verdicts and scores beside those of other judges.

    Nothing is written where nothing changes.

    Args:
        run: The run that was judged.
        judge: Its label in the tables.
        identity: Everything that shaped its labels; of custom checks those asked now.
        verdicts: Its new rows.
        scores: Its new rows, and those that needed no judge; or how they follow from the
            verdicts that are kept of what was asked.
        answers: What `run.answers` was when they were judged; None where nothing ran between.
        again: Whether labels under other settings are replaced: of a custom check that was
            reworded the labels of this check, else all.

    Returns:
        How many labels under other settings were dropped without new ones in their place.

    Raises:
        RunError: The run was collected again meanwhile, or holds labels of another judge
            under this label.
    """
    with run.locked():
        if answers is not None and answers != run.answers:
            raise RunError(f"{run.path} was collected again while judged; evaluate it again")
        changed = changed_for(run, judge, identity)
        if changed.settings and not again:
            raise RunError(f"{run.path}: '{judge}' labelled it under other settings: {changed}")
        before = RunLabels(run.verdicts(), run.scores(), run.judges())
        after, dropped = before.merged(judge, as_json(identity), changed, verdicts, scores)
        if after != before:
            run.write_evaluation(after.verdicts, after.scores, after.judges)
    return dropped
