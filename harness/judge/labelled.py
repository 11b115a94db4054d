"""Entailments whose labels are known: short texts, each with a claim for every label."""

from dataclasses import dataclass
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from harness.judge.cases import Job, Kind
from harness.records import Label

FOLDER = Path(__file__).parent / "labelled"
LANGUAGES = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@dataclass(frozen=True, slots=True)
class Labelled:
    """One question to a judge, with the right answer."""

    job: Job
    labels: tuple[int, ...]
    """Of the job's claims, in their order."""


def labelled(language: str) -> tuple[Labelled, ...]:
    """Return the questions in a language; the order of the labels differs from one to the next.

    >>> found = labelled("en")
    >>> len(found), [int(label) for label in found[1].labels]
    (8, [-1, 0, 1])
    """
    rows = yaml.safe_load((FOLDER / f"{language}.yaml").read_text(encoding="utf-8"))
    found = []
    for number, row in enumerate(rows):
        turn = number % len(Label)
        labels = [Label.ENTAILED, Label.CONTRADICTED, Label.UNKNOWN]
        labels = labels[turn:] + labels[:turn]
        claims = tuple(row[label.name.lower()] for label in labels)
        found.append(Labelled(Job(Kind.ENTAILMENT, text=row["text"], items=claims), tuple(labels)))
    return tuple(found)
