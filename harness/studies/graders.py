"""Whose word counts, and what it says: people's, and not that of a model on trial itself."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.analysis.suspects import OnWrongCaption
from harness.analysis.suspects import on_wrong_captions as resting_on
from harness.questions import Subject, read_caption_grades, response_sha256, verdict_by_text
from harness.store import Run


def machines(runs: Sequence[Run], judge: str) -> frozenset[str]:
    """Return the names of a study's judges and generators.

    Grades under such a name are no evidence about metrics: a judge agrees with itself.

    Args:
        runs: Of the study.
        judge: The label of the judge that is configured, which may not have judged yet.
    """
    return frozenset([judge, *(name for run in runs for name in names_in(run))])


def names_in(run: Run) -> Iterator[str]:
    """Yield label and model of a run's generator and of each judge that has scored it."""
    made_with = run.facts()["made_with"]
    yield made_with["generator"]
    yield from model_in(made_with.get("models"))
    for label, identity in run.judges().items():
        yield label
        yield from model_in(identity)


def model_in(identity: Any) -> Iterator[str]:
    """Yield the name of the chat model in an identity, where it has one."""
    chat = identity.get("chat") if isinstance(identity, dict) else None
    if isinstance(chat, dict) and isinstance(chat.get("model"), str):
        yield chat["model"]


def on_wrong_captions(
    runs: Sequence[Run], folder: Path, judge: str
) -> dict[str, tuple[OnWrongCaption, ...]]:
    """Return run -> its answers that rest on a caption graded wrong; runs without any are left out.

    Args:
        runs: Of the study.
        folder: The test set's, which holds `caption_grades.jsonl`.
        judge: Whose verdicts say which passage supports which claim.
    """
    grades = read_caption_grades(folder / "caption_grades.jsonl")
    verdicts = verdict_by_text(grades, machines(runs, judge)) if grades else {}
    found = {
        run.name: resting_on(run.responses(), run.verdicts(judge), wrong)
        for run in runs
        if (wrong := wrong_captions(run, verdicts))
    }
    return {run: answers for run, answers in found.items() if answers}


def wrong_captions(run: Run, verdicts: Mapping[Subject, int | None]) -> frozenset[str]:
    """Return the ids of a run's caption passages whose caption people graded wrong."""
    return frozenset(
        row["figure"]
        for row in run.captions()
        if row["text"] and verdicts.get((row["image_sha256"], response_sha256(row["text"]))) == 0
    )
