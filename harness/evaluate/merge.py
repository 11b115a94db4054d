"""Merging an evaluation into a run's tables: which labels are kept, replaced or dropped."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.errors import RunError
from harness.records import (
    CLAIMS,
    CLAIMS_OF,
    LOST,
    Checks,
    Score,
    Status,
    Verdict,
    rows_by_response,
)
from harness.store import Run

T = TypeVar("T", Verdict, Score)

Scorer = Callable[[tuple[Verdict, ...]], Sequence[Score]]
"""Returns the scores that follow from verdicts."""

CellKey = tuple[str, int, str]
"""Question, repeat and metric."""

MOST = 4
"""Changed settings that are named; a changed language alone changes half a dozen."""

LONGEST = 60
"""Characters of a value that is shown; of a hash or a long text only the setting is named."""

TOGETHER = (
    "the extracted claims changed, so older labels no longer match; re-evaluate all claim-based "
    "metrics together"
)


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

    Its rows on other questions, checks and metrics are kept, and so are labels that the judge
    gave before and failed to give this time (`merge_verdicts`). Nothing is written where nothing
    changes.

    Args:
        run: The run that was judged.
        judge: Its label in the tables.
        identity: Everything that shaped its labels; of custom checks those asked now.
        verdicts: Its new rows.
        scores: Its new rows, and those that need no judge; or a function that computes them from
            the merged verdicts of the checks that were asked.
        answers: `run.answers` when they were judged; None if nothing can have changed since.
        again: Whether labels under other settings are replaced: if only the wording of a custom
            check changed the labels of this check, else all.

    Returns:
        The number of labels under other settings that were dropped without a replacement.

    Raises:
        RunError: The run was collected again meanwhile, or has labels under the same name that
            were made under other settings.
    """
    with run.locked():
        if answers is not None and answers != run.answers:
            raise RunError(f"{run.path} was collected again while judged; evaluate it again")
        change = change_since_labelled(run, judge, identity)
        if change.settings and not again:
            raise RunError(f"{run.path}: '{judge}' labelled it under other settings: {change}")
        before = run.verdicts(), run.scores(), run.judges()
        judges = {**before[2], judge: _merged_identity(before[2], judge, identity, change)}
        asked = {_check_key(verdict) for verdict in verdicts}
        unasked = [row for row in before[0] if row.judge == judge and _check_key(row) not in asked]
        kept = [row for row in unasked if change.keeps(row.check)]
        valid = [row for row in before[0] if row.judge == judge and change.keeps(row.check)]
        merged = merge_verdicts(valid, verdicts)
        new_scores = scores(tuple(merged)) if callable(scores) else scores
        cells = {cell_key(score) for score in new_scores}
        after = (
            _in_order([*(row for row in before[0] if row.judge != judge), *kept, *merged], judges),
            _in_order([*_kept_scores(before[1], judge, cells, change), *new_scores], judges),
            judges,
        )
        if after != before:
            run.write_evaluation(*after)
    return len(unasked) - len(kept)


def _kept_scores(
    scores: Iterable[Score], judge: str, cells: Collection[CellKey], change: "IdentityChange"
) -> Iterator[Score]:
    """Yield the scores of other judges, and those still valid in cells that are not scored now."""
    for score in scores:
        if score.judge not in (None, judge) or (
            cell_key(score) not in cells and (score.judge is None or change.keeps(score.metric))
        ):
            yield score


def _merged_identity(
    judges: Mapping[str, Any], judge: str, identity: Mapping[str, Any], change: "IdentityChange"
) -> dict[str, Any]:
    """Return the identity as JSON values, with the custom checks whose labels the judge keeps."""
    now = as_json(identity)
    kept = {} if change.itself else judges.get(judge, {}).get("own", {})
    custom = {**kept, **now.get("own", {})}
    return {**now, **({"own": custom} if custom else {})}


def _in_order(rows: Iterable[T], judges: Iterable[str]) -> list[T]:
    """Return the rows judge by judge, whoever judged last, and then those without a judge."""
    order: dict[str | None, int] = {label: place for place, label in enumerate(judges)}
    return sorted(rows, key=lambda row: order.get(row.judge, len(order)))


def _check_key(verdict: Verdict) -> tuple[str, int, str]:
    return verdict.question_id, verdict.repeat, verdict.check


def cell_key(score: Score) -> CellKey:
    """Return the cell that a score belongs to."""
    return score.question_id, score.repeat, score.metric


def merge_verdicts(before: Iterable[Verdict], now: Iterable[Verdict]) -> list[Verdict]:
    """Return the merged rows of the checks in `now`, response by response, in its order.

    Each check of a response has its new rows, and an earlier one in the place of each that lost
    its label. Where that still leaves fewer labels than before, all its rows are the earlier ones.
    Labels on different claims are never mixed: newly extracted claims replace the old ones
    together with all checks that depend on them, or, where that would lose a label, not at all.

    Args:
        before: One judge's rows under the current settings.
        now: Its rows when asked again.
    """
    earlier = rows_by_response(before)
    return [
        row
        for response, checks in rows_by_response(now).items()
        for rows in _merge_checks(earlier.get(response, {}), checks).values()
        for row in rows
    ]


def _merge_checks(before: Checks, now: Checks) -> dict[str, Sequence[Verdict]]:
    """Return the merged rows of each check in `now`, for one response."""
    now = {check: _filled(before.get(check, ()), rows) for check, rows in now.items()}

    def loses_labels(check: str) -> bool:
        return _share_labelled(before.get(check, ())) > _share_labelled(now.get(check, ()))

    merged = {check: before[check] if loses_labels(check) else rows for check, rows in now.items()}
    for claims in CLAIMS.values():
        if _same_claims(before.get(claims, ()), now.get(claims, ())):
            continue
        family = [check for check in {**now, **before} if CLAIMS_OF.get(check, check) == claims]
        unchanged = any(map(loses_labels, family))
        for check in now.keys() & set(family):
            kept = before.get(check, _withheld(now, family, check))
            merged[check] = kept if unchanged else now[check]
    return merged


def _filled(before: Sequence[Verdict], now: Sequence[Verdict]) -> list[Verdict]:
    """Return the new rows; the earlier row on the same text where it has more."""
    earlier = {(row.item, row.against): row for row in before}
    rows = []
    for row in now:
        other = earlier.get((row.item, row.against), row)
        better = row.text in (None, other.text) and _usable(other) > _usable(row)
        rows.append(other if better else row)
    return rows


def _usable(row: Verdict) -> float:
    """Return 1 where the judge's reply could be used, half where a similarity is missing."""
    return 0.5 if row.error == Status.ZERO_VECTOR else 0.0 if row.error in LOST else 1.0


def _share_labelled(rows: Sequence[Verdict]) -> float:
    """Return the share of rows for which the judge's reply could be used; 0 without rows."""
    return sum(map(_usable, rows)) / len(rows) if rows else 0.0


def _same_claims(before: Sequence[Verdict], now: Sequence[Verdict]) -> bool:
    """Say whether labels on the one may be combined with labels on the other."""
    if not _share_labelled(before) or not _share_labelled(now):
        return True
    return [(row.item, row.text) for row in before] == [(row.item, row.text) for row in now]


def _withheld(now: Checks, family: Iterable[str], check: str) -> Sequence[Verdict]:
    """Return the one row of a check whose new labels count claims that are not kept."""
    rows = [row for name in family for row in now.get(name, ()) if row.error in LOST]
    first = now[check][0]
    error = rows[0].error if rows else Status.JUDGE_INCOMPLETE
    about = (first.judge, first.question_id, first.repeat, check)
    return [Verdict(*about, -1, reason=TOGETHER, error=error)]


@dataclass(frozen=True, slots=True)
class IdentityChange:
    """What changed in a judge's settings since it labelled a run."""

    settings: tuple[str, ...]
    """`chat.temperature 0.0, now 0.7`"""
    reworded: frozenset[str]
    """Custom checks whose wording changed."""
    itself: bool
    """Whether anything but such wordings changed."""

    def keeps(self, name: str) -> bool:
        """Say whether labels of this check, or scores of this metric, are still valid."""
        return not self.itself and name not in self.reworded

    def __str__(self) -> str:
        more = len(self.settings) - MOST
        return "; ".join(self.settings[:MOST]) + (f"; and {more} more" if more > 0 else "")


def change_since_labelled(run: Run, judge: str, identity: Mapping[str, Any]) -> IdentityChange:
    """Return how a judge's settings differ from those under which it labelled the run.

    Empty if it gave no label, as with a wrong address. A custom check that was not asked before,
    is not asked now, or got no label is no difference.
    """
    now = as_json(identity)
    before = run.judges().get(judge, now)
    labelled = set(_labelled(run.verdicts(judge))) if before != now else set()
    if not labelled:
        before = now
    custom, recorded = now.get("own", {}), before.get("own", {})
    both = labelled & custom.keys() & recorded.keys()
    reworded = {name for name in both if recorded[name] != custom[name]}
    itself = list(differences({**before, "own": {}}, {**now, "own": {}}))
    wordings = [
        line
        for name in sorted(reworded)
        for line in differences(recorded[name], custom[name], f"{name}.")
    ]
    return IdentityChange((*itself, *wordings), frozenset(reworded), bool(itself))


def _labelled(rows: Sequence[Verdict]) -> Iterator[str]:
    """Yield the checks that got a label; where calls failed, one that needed a call."""
    failed = any(row.error in LOST for row in rows)
    for row in rows:
        if row.error not in LOST and (row.call is not None or not failed):
            yield row.check


def differences(
    before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = ""
) -> Iterator[str]:
    """Yield each setting that differs, with both values where they are short.

    >>> list(differences({"chat": {"seed": 0, "top_p": 1}}, {"chat": {"seed": 7, "top_p": 1}}))
    ['chat.seed 0, now 7']
    """
    for name in dict.fromkeys([*before, *now]):
        then, value = before.get(name), now.get(name)
        if isinstance(then, Mapping) and isinstance(value, Mapping):
            yield from differences(then, value, f"{prefix}{name}.")
        elif then != value:
            was, is_now = (json.dumps(each, ensure_ascii=False) for each in (then, value))
            long = max(len(was), len(is_now)) > LONGEST
            yield f"{prefix}{name}" + ("" if long else f" {was}, now {is_now}")


def as_json(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return an identity as it reads back from JSON, for comparison with a recorded one."""
    found: dict[str, Any] = json.loads(json.dumps(identity))
    return found
