"""The summary of an evaluation: cells scored, calls, repairs, labels kept and dropped."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.config.command import wrapped
from harness.errors import EndpointError
from harness.evaluate.merge import TOGETHER, CellKey, cell_key
from harness.llm import Calls
from harness.llm.call_store import LIMITS
from harness.records import LOST, Score, Status
from harness.studies.sound_runs import SoundRuns

FAILED = LOST - {Status.BUDGET}
"""Reasons that lie with the judge and its endpoint, so that another judge may do better."""

REPAIRS = {"more_room": "with more tokens", "repair": "quoting the error", "fresh": "fresh"}
"""How an unusable reply is requested again -> its wording."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of an evaluation in one run."""

    scores: Sequence[Score]
    """The run's scores afterwards in the cells asked for: by this judge, or without any."""
    new_scores: Sequence[Score]
    """The scores by the new verdicts alone, also where an earlier score was kept."""
    cut: Collection[CellKey]
    """Cells that are NA because the answer itself was truncated, whoever judges it."""
    unchanged: bool
    """Whether labels under other settings were kept, as too many of the new ones were lost."""
    failed: bool
    """Whether they were lost because the judge failed, and not because the budget was spent."""
    dropped: int
    """Labels under other settings that were dropped and not replaced."""

    @property
    def judge_scores(self) -> list[Score]:
        """The new scores that depend on the judge: those of truncated answers do not."""
        scores = (score for score in self.new_scores if score.judge is not None)
        return [score for score in scores if cell_key(score) not in self.cut]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcome of an evaluation."""

    runs: Mapping[str, RunOutcome]
    calls: Calls
    """The model calls it took."""
    failure: str = ""
    """The commonest reason why the judge's endpoint or replies gave no label."""
    labels_failed: int = 0
    """Labels that are missing for such reasons."""
    labels_asked: int = 0
    """All labels that were asked for."""
    chosen: SoundRuns = field(default_factory=lambda: SoundRuns(()))

    @property
    def judge_scores(self) -> list[Score]:
        """The new scores that depend on the judge."""
        return [score for outcome in self.runs.values() for score in outcome.judge_scores]


def summary(done: Evaluation) -> str:
    """Say how many cells of each run are scored, and what that took and changed."""
    lines = [f"{run}: {cell_counts(outcome.scores)}" for run, outcome in done.runs.items()]
    lines += [*unsupported_metrics(done), *call_counts(done.calls), *repair_counts(done.calls)]
    lines += [*ignored_formats(done.calls), *label_changes(done), *budget_end(done)]
    return "\n".join(map(wrapped, lines))


def cell_counts(scores: Sequence[Score]) -> str:
    """Say how many cells are scored, and count the NA by reason."""
    reasons = Counter(score.status for score in scores if score.value is None)
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    scored = f"{len(scores) - reasons.total()} of {len(scores)} cells scored"
    return f"{scored} (NA: {counts})" if counts else scored


def unsupported_metrics(done: Evaluation) -> Iterator[str]:
    """Yield a line naming the metrics that this judge cannot score, if there are any."""
    statuses: dict[str, set[str]] = {}
    for score in done.judge_scores:
        statuses.setdefault(score.metric, set()).add(score.status)
    if never := [
        name
        for name, all_ in statuses.items()
        if Status.NOT_SUPPORTED_BY_JUDGE in all_ and Status.OK not in all_
    ]:
        yield f"not supported by this judge: {', '.join(never)}; judge=chat calls a model"


def call_counts(calls: Calls) -> Iterator[str]:
    """Yield a line with the calls made and those answered from the cache, if there are any."""
    if calls.asked or calls.remembered:
        read = sum(tokens[0] for tokens in calls.tokens.values())
        written = sum(tokens[1] for tokens in calls.tokens.values())
        priced = calls.tokens and calls.tokens.keys() <= calls.budget.prices.keys()
        cost = f", {calls.budget.cost(calls.tokens):.2f} USD" if priced else ""
        spent = f" ({calls.sent} requests, {read:,} + {written:,} tokens{cost})"
        yield f"calls: {calls.asked} asked{spent if calls.asked else ''}, {calls.remembered} cached"


def repair_counts(calls: Calls) -> Iterator[str]:
    """Yield a line counting the replies that had to be requested again, if there are any."""
    if count := calls.repairs["replies"]:
        ways = ", ".join(
            f"{n} {wording}" for way, wording in REPAIRS.items() if (n := calls.repairs[way])
        )
        yield f"replies requested again: {count} ({ways})"


def ignored_formats(calls: Calls) -> Iterator[str]:
    """Yield a line saying that the endpoint accepts a format of replies and ignores it, if so."""
    if ignored := calls.reply_formats["ignored"]:
        replies = sum(calls.reply_formats[form] for form in ("json_schema", "json_object"))
        asked = "the schema" if calls.reply_formats["json_schema"] else "JSON mode"
        yield (
            f"this endpoint does not enforce {asked}: it accepts it, but {ignored} of {replies} "
            "replies do not follow it; a server that enforces it needs fewer repairs"
        )


def label_changes(done: Evaluation) -> Iterator[str]:
    """Yield a line each for scores kept or withheld, runs left unchanged, and labels dropped."""
    kept: Counter[str] = Counter()
    withheld = 0
    for outcome in done.runs.values():
        if outcome.unchanged:
            continue
        values = {cell_key(score): score.value for score in outcome.scores}
        for score in outcome.new_scores:
            value = values.get(cell_key(score))
            if score.status in LOST and value is not None:
                kept[score.status] += 1
            withheld += value is None and score.value is not None
    if kept:
        counts = ", ".join(f"{count} {reason}" for reason, count in sorted(kept.items()))
        yield (
            f"kept: {kept.total()} scores of an earlier evaluation, as this one has no value for "
            f"them ({counts})"
        )
    if withheld:
        yield f"withheld: {withheld} scores: {TOGETHER}"
    for run, outcome in done.runs.items():
        if outcome.unchanged:
            yield f"{run}: kept its previous labels: too many of the new ones failed (most_unread)"
    if dropped := sum(outcome.dropped for outcome in done.runs.values()):
        yield (
            f"dropped: {dropped} labels made under the judge's earlier settings that this "
            "evaluation did not ask for again"
        )


def budget_end(done: Evaluation) -> Iterator[str]:
    """Yield a line saying that the budget ended the evaluation and how to resume, if it did."""
    missing = [score for score in done.judge_scores if score.status is Status.BUDGET]
    if missing:
        budget = done.calls.budget
        limits = {name: getattr(budget, name) for name in LIMITS}
        set_to = [f"budget.{name}={most:g}" for name, most in limits.items() if most is not None]
        yield (
            f"budget spent: {len(missing)} of {len(done.judge_scores)} cells are incomplete "
            "(requests already in flight are still billed); "
            f"raise {' or '.join(set_to)} and run the same command to resume: it asks only for "
            "these"
        )


def check_unread(done: Evaluation, most: float) -> None:
    """Raise EndpointError where the judge failed for more than this share of the cells asked for.

    A cell counts even if an earlier score is kept in it; so does a run whose labels could not be
    replaced. A spent budget is no failure: it ends the evaluation as it was asked to.
    """
    scores = done.judge_scores
    failed, asked, unit = sum(score.status in FAILED for score in scores), len(scores), "cells"
    if not asked:  # every answer was truncated, so labels are all there is
        failed, asked, unit = done.labels_failed, done.labels_asked, "labels"
    if failed > most * asked or any(outcome.failed for outcome in done.runs.values()):
        raise EndpointError(
            f"the judge gave no usable reply for {failed} of {asked} {unit} "
            f"(allowed: most_unread={most:g}); "
            + (f"mostly: {done.failure}" if done.failure else "see python -m harness.doctor")
        )
