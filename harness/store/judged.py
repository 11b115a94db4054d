"""What judges said of a run, and how another evaluation changes it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.records import Score, Verdict
from harness.store.changed import Changed
from harness.store.standing import standing

T = TypeVar("T", Verdict, Score)

Scorer = Callable[[tuple[Verdict, ...]], Sequence[Score]]
"""What scores follow from verdicts."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The labels and scores of a run, judge by judge."""

    verdicts: Sequence[Verdict]
    scores: Sequence[Score]
    judges: Mapping[str, Any]
    """Label in the judge column -> everything that shaped its labels."""

    def again(
        self,
        judge: str,
        identity: Mapping[str, Any],
        changed: Changed,
        verdicts: Sequence[Verdict],
        scores: Sequence[Score] | Scorer,
    ) -> tuple["Judged", int]:
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
        after = Judged(
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
