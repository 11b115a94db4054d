"""How often a refusal is recognised, and an answer taken for one, by language and length.

    python tests/benchmarks/refusals.py [--json]

The labelled set is `tests/data/refusals/labelled.jsonl`; its README says where it comes from. The
reader was tuned on the development half only.
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.metrics import is_refusal

LABELLED = Path(__file__).parent.parent / "data" / "refusals" / "labelled.jsonl"
SHORT = 100
"""Characters from which an answer is long; 40 in Chinese and Japanese."""


@dataclass(frozen=True)
class Labelled:
    """An answer with its label, as a line of the labelled set has it."""

    id: str
    half: str
    """development | held_out"""
    language: str
    label: str
    """refusal | answer"""
    labelled_by: str
    source: str
    text: str

    @property
    def length(self) -> str:
        return "long" if len(self.text) >= (SHORT if self.language == "en" else 40) else "short"


@dataclass(frozen=True)
class Recognition:
    """How the answers of one half, language and length were read."""

    half: str
    language: str
    length: str
    """short | long | all"""
    refusals: int
    found: int
    answers: int
    kept: int
    """Answers that were not taken for refusals."""

    @property
    def recall(self) -> float:
        return self.found / self.refusals

    @property
    def share_kept(self) -> float:
        return self.kept / self.answers


def labelled() -> list[Labelled]:
    """Return the labelled set."""
    lines = LABELLED.read_text(encoding="utf-8").splitlines()
    return [Labelled(**json.loads(line)) for line in lines]


def recognition(rows: Iterable[Labelled], half: str, language: str, length: str) -> Recognition:
    """Return how the answers of a half are read; `all` is every language or every length."""
    read = [
        (row.label, is_refusal(row.text))
        for row in rows
        if row.half == half and language in (row.language, "all") and length in (row.length, "all")
    ]
    refusals = [found for label, found in read if label == "refusal"]
    answers = [found for label, found in read if label == "answer"]
    kept = len(answers) - sum(answers)
    return Recognition(half, language, length, len(refusals), sum(refusals), len(answers), kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    rows = labelled()
    table = [
        recognition(rows, half, language, length)
        for half in ("development", "held_out")
        for language in ("en", "ja", "zh_hant", "zh_hans", "all")
        for length in ("short", "long", "all")
    ]
    if parser.parse_args().json:
        print(json.dumps([asdict(one) for one in table], indent=1))
        return
    for one in table:
        print(
            f"{one.half:12}{one.language:8}{one.length:6}"
            f" refusals found {one.found:3} of {one.refusals:3}"
            f"   answers taken for refusals {one.answers - one.kept:2} of {one.answers:3}"
        )


if __name__ == "__main__":
    main()
