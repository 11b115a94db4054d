"""A handover: one variant's generator reads the passages that another run retrieved.

Where two runs differ in retrieval and in generation, each side's generator on the other side's
passages tells which of the two made the difference.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.config.factors import Factors
from harness.errors import ConfigError, RunError
from harness.records import Answer, Question, Response
from harness.store import Run, chosen_runs
from harness.systems import Found

LEAF = "passages_from"
"""The factor under which a run's factor map names the run that its passages are of."""

READERS = ("prompt", "chat")
"""Groups of factors that act after retrieval; all others shaped the passages."""


@dataclass(frozen=True, slots=True)
class Handover:
    """A finished run, as far as its passages go."""

    run: Run
    facts: Mapping[str, Any]
    responses: tuple[Response, ...]

    @property
    def record(self) -> dict[str, str]:
        """Which run it is, and the SHA-256 of all that it retrieved."""
        found = [
            [r.question_id, r.repeat, [[p.id, p.text] for p in r.passages]] for r in self.responses
        ]
        text = json.dumps(found, ensure_ascii=False)
        return {"run": self.run.name, "sha256": hashlib.sha256(text.encode()).hexdigest()}

    def found(self, wanted: Collection[tuple[Question, int]]) -> Found:
        """Return what was retrieved for each question; nothing where the run failed on it.

        A repeat that the run has not made gets the passages of its first.
        """
        asked = {r.question_id for r in self.responses}
        if strange := sorted({question.id for question, _ in wanted} - asked):
            raise RunError(
                f"{self.run.name} was not asked {', '.join(strange)}, so it has no passages for "
                "that; collect it whole first, or choose with questions=[...]"
            )
        held = {(r.question_id, r.repeat): r for r in self.responses if r.response is not None}
        rows = {
            (question.id, repeat): held.get((question.id, repeat), held.get((question.id, 0)))
            for question, repeat in wanted
        }
        return {
            key: Answer("", r.passages, r.k_requested, r.corpus_size, None, r.retrieval_seconds)
            for key, r in rows.items()
            if r is not None
        }

    def factors(self, own: Factors) -> Factors:
        """Return the factors of what really acted: the run's up to its passages, then one's own.

        So a contrast with the run is one of generation alone, and a contrast with the variant's
        own run is one of retrieval alone. `passages_from` is no factor beside them, but where
        `version`, which may act on either side, does not tell the two apart.
        """
        theirs = self.facts["factors"]
        if own.choices.get("chat") == "extractive":
            check_one_embedder(own, theirs)
        leaves = joined(theirs["leaves"], own.leaves)
        theirs_version, version = leaves.pop("version", None), own.leaves.get("version")
        if version is not None:
            leaves["version"] = version
        inactive = {name for name in theirs["inactive"] if not reads(name) and name != LEAF}
        inactive |= {name for name in own.inactive if reads(name)}
        inactive |= {LEAF} if version == theirs_version else set()
        return Factors(
            choices={n: str(v) for n, v in joined(theirs["choices"], own.choices).items()},
            leaves={**leaves, LEAF: self.run.name},
            inactive=tuple(sorted(inactive)),
        )

    def made_with(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return what shaped the answers: the run's index and embedder, one's own generator."""
        theirs = self.facts["made_with"]
        return {**theirs, **own, "models": {**theirs["models"], **own["models"]}}


def handover(folder: Path, name: str | None, testset: str) -> Handover | None:
    """Return the run whose passages are to be read, None where none is named.

    Args:
        folder: The study's folder.
        name: The run.
        testset: Fingerprint of the test set that the passages are wanted for.
    """
    if name is None:
        return None
    [run] = chosen_runs(folder, [name])
    facts = run.facts()
    if facts["testset_fingerprint"] != testset:
        raise RunError(
            f"{name} was asked another test set than the study has now; collect it again under a "
            "new version=<label>, and take the passages from that"
        )
    return Handover(run, facts, tuple(run.responses()))


def joined(theirs: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """Return their settings up to the passages, and one's own of what reads them."""
    return {name: value for name, value in theirs.items() if not reads(name)} | {
        name: value for name, value in own.items() if reads(name)
    }


def reads(name: str) -> bool:
    """Say whether a factor acts on what becomes of the passages.

    >>> reads("prompt"), reads("chat.model"), reads("top_k")
    (True, True, False)
    """
    return name.partition(".")[0] in READERS


def check_one_embedder(own: Factors, theirs: Mapping[str, Any]) -> None:
    """Refuse to record one embedder where two act: the extractive reader embeds too."""

    def embedder(leaves: Mapping[str, object], choices: Mapping[str, object]) -> dict[str, object]:
        every = {**choices, **leaves}
        return {n: v for n, v in every.items() if n.partition(".")[0] == "embedder"}

    if embedder(own.leaves, own.choices) != embedder(theirs["leaves"], theirs["choices"]):
        raise ConfigError(
            "chat=extractive reads with its embedder, and the passages were found with another; "
            "give passages_from a run with the same embedder, or another chat="
        )
