"""Whose word counts: people's, and not that of a model which is itself on trial."""

from collections.abc import Iterator, Sequence
from typing import Any

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
