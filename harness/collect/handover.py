"""A handover: one variant's generator answers from the passages that another run retrieved.

Where two runs differ in retrieval and in generation, each side's generator on the other side's
passages shows which of the two made the difference.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.config.factors import Factors
from harness.errors import ConfigError, RunError
from harness.records import PASSAGES_FROM, Answer, Question, Response, acts_after_retrieval
from harness.store import Run, chosen_runs
from harness.systems import Found, Provenance


@dataclass(frozen=True, slots=True)
class Handover:
    """A finished run as the source of passages."""

    run: Run
    facts: Mapping[str, Any]
    responses: tuple[Response, ...]

    @property
    def record(self) -> dict[str, str]:
        """The run's name, and the SHA-256 of all that it retrieved."""
        passages = [
            [r.question_id, r.repeat, [[p.id, p.text] for p in r.passages]] for r in self.responses
        ]
        text = json.dumps(passages, ensure_ascii=False)
        return {"run": self.run.name, "sha256": hashlib.sha256(text.encode()).hexdigest()}

    def passages_for(self, questions: Collection[tuple[Question, int]]) -> Found:
        """Return (question id, repeat) -> what the run retrieved; no entry where the run failed.

        A repeat that the run does not have gets the passages of its first one.
        """
        asked = {r.question_id for r in self.responses}
        if missing := sorted({question.id for question, _ in questions} - asked):
            raise RunError(
                f"{self.run.name} was not asked {', '.join(missing)}, so it has no passages for "
                "them; collect that run completely first, or choose with questions=[...]"
            )
        answers = {(r.question_id, r.repeat): r for r in self.responses if r.response is not None}
        rows = {
            (question.id, repeat): answers.get((question.id, repeat), answers.get((question.id, 0)))
            for question, repeat in questions
        }
        return {
            key: Answer("", r.passages, r.k_requested, r.corpus_size, None, r.retrieval_seconds)
            for key, r in rows.items()
            if r is not None
        }

    def factors(self, variant: Factors) -> Factors:
        """Return the factors of the combination: retrieval from the run, generation from `variant`.

        So a contrast with the run is one of generation alone, and a contrast with the variant's
        own run is one of retrieval alone. `passages_from` is inactive beside them, except where
        the two differ in `version`, which may act on either side.
        """
        source = self.facts["factors"]
        if variant.choices.get("chat") == "extractive":
            check_one_embedder(variant, source)
        leaves = combined(source["leaves"], variant.leaves)
        source_version, version = leaves.pop("version", None), variant.leaves.get("version")
        if version is not None:
            leaves["version"] = version
        inactive = {n for n in source["inactive"] if not acts_after_retrieval(n)} - {PASSAGES_FROM}
        inactive |= {name for name in variant.inactive if acts_after_retrieval(name)}
        inactive |= {PASSAGES_FROM} if version == source_version else set()
        return Factors(
            choices={n: str(v) for n, v in combined(source["choices"], variant.choices).items()},
            leaves={**leaves, PASSAGES_FROM: self.run.name},
            inactive=tuple(sorted(inactive)),
        )

    def made_with(self, own: Provenance) -> Provenance:
        """Return what shaped the answers: the run's index and embedder, the variant's generator."""
        theirs = Provenance.from_record(self.facts["made_with"])
        return replace(
            own,
            models={**theirs.models, **own.models},
            index=theirs.index,
            ingest=theirs.ingest,
        )


def read_handover(folder: Path, name: str | None, testset: str) -> Handover | None:
    """Return the run whose passages are to be used; None without a name.

    Args:
        folder: The study's folder.
        name: The run.
        testset: Fingerprint of the study's test set now.
    """
    if name is None:
        return None
    [run] = chosen_runs(folder, [name])
    facts = run.facts()
    if facts["testset_fingerprint"] != testset:
        raise RunError(
            f"{name} was collected on another test set than the study's current one; collect it "
            "again under a new version=<label> and take the passages from that run"
        )
    return Handover(run, facts, tuple(run.responses()))


def combined(source: Mapping[str, object], variant: Mapping[str, object]) -> dict[str, object]:
    """Return the source's settings up to retrieval and the variant's settings after it."""
    return {name: value for name, value in source.items() if not acts_after_retrieval(name)} | {
        name: value for name, value in variant.items() if acts_after_retrieval(name)
    }


def check_one_embedder(variant: Factors, source: Mapping[str, Any]) -> None:
    """Raise where two embedders act, as the record has one: extractive answers use one too."""

    def embedder(leaves: Mapping[str, object], choices: Mapping[str, object]) -> dict[str, object]:
        every = {**choices, **leaves}
        return {n: v for n, v in every.items() if n.partition(".")[0] == "embedder"}

    if embedder(variant.leaves, variant.choices) != embedder(source["leaves"], source["choices"]):
        raise ConfigError(
            "chat=extractive uses the variant's embedder, but the passages were retrieved with "
            "another one; give passages_from a run with the same embedder, or choose another chat="
        )
