"""A recording of a study: its model replies and vectors, so that others can replay it offline."""

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from harness.errors import ConfigError
from harness.llm import (
    Calls,
    Recording,
    RecordingHead,
    Role,
    Vector,
    embeddable,
    read_recording,
    vector_key,
    write_recording,
)
from harness.records import Floats, Response
from harness.store import chosen_runs
from harness.systems import Provenance
from harness.systems.index import indexed

log = logging.getLogger(__name__)

NOT_RECORDABLE = {
    "ignores_prompt": "makes no model calls, so there is nothing to record",
    "recorded": "is itself replayed from a recording: share that file (study.recording)",
}
"""Note of a generator -> why it cannot be recorded."""

TOLERANCE = 1e-5
"""Between a recorded similarity, rounded to six digits, and the recomputed one."""

OTHER_VECTORS = (
    "other vectors than the cached ones: the embedder is not deterministic; collect under a new "
    "study.name= and root=, and record that study"
)

Provenances = Sequence[Provenance]
"""The provenance of each run."""


def record_study(folder: Path, calls: Calls, path: Path) -> Recording:
    """Write the cached replies and vectors of a study to `path`; return the recording.

    Raises:
        ConfigError: The runs have several generators or embedders, or replies or vectors that are
            not cached; or the generator is itself a recording, or makes no calls.
    """
    runs = chosen_runs(folder, [])
    facts = [run.facts() for run in runs]
    provenances = [Provenance.from_record(fact["made_with"]) for fact in facts]
    rows = [row for run in runs for row in run.responses()]
    for note, why in NOT_RECORDABLE.items():
        if all(note in each.notes for each in provenances):
            raise ConfigError(f"{folder.name}: {provenances[0].generator} {why}")
    if not any(row.call for row in rows):
        raise ConfigError(
            f"{folder.name}: its answers need no model, so there is nothing to record"
        )
    chat = shared_model(folder, "chat", provenances)
    embedder = shared_model(folder, "embedder", provenances)
    warn(folder, provenances, rows)
    asked = {row.call for row in rows if row.call}
    replies = calls.entries(sorted(asked))
    check_cached(folder, "replies", len(replies), len(asked))
    last = max(facts, key=lambda fact: str(fact["ended"]))
    head = RecordingHead(
        model=provenances[0].generator,
        chat=chat,
        embedder=embedder,
        recorded_on=datetime.fromtimestamp(max(e.created for e in replies), UTC).date().isoformat(),
        made_with={"machine": last["machine"], "packages": last["packages"]},
    )
    vectors = {
        **passage_vectors(folder, provenances, embedder, calls),
        **question_vectors(folder, rows, embedder, calls),
    }
    check_ranking(folder, rows, embedder, vectors)
    write_recording(path, head, {entry.key: entry.payload for entry in replies}, vectors)
    return read_recording(path)


def shared_model(folder: Path, part: str, provenances: Provenances) -> Mapping[str, object]:
    """Return the identity of the one model that all runs share; raise ConfigError for several."""
    found = {str(model): model for each in provenances if (model := each.models.get(part))}
    if len(found) != 1:
        raise ConfigError(
            f"{folder.name}: its runs have {len(found)} different models as {part}, but only"
            " one can be recorded; collect the runs of one model under another study.name="
        )
    return next(iter(found.values()))


def warn(folder: Path, provenances: Provenances, rows: Sequence[Response]) -> None:
    """Warn of what a replay of the study will not have."""
    if any("chat" in each.models.get("captioner", {}) for each in provenances):
        log.warning(
            "%s: captions by a model are not recorded; a replay needs that model", folder.name
        )
    if failed := sum(row.error is not None for row in rows):
        log.warning("%s: %d answers failed and are not recorded", folder.name, failed)


def passage_vectors(
    folder: Path, provenances: Provenances, embedder: Mapping[str, object], calls: Calls
) -> dict[str, Vector]:
    """Return key -> vector of each passage in the study's indexes."""
    assert calls.path is not None
    found: dict[str, Vector] = {}
    for index in {
        each.index.fingerprint: each.index for each in provenances if each.index is not None
    }.values():
        vectors = indexed(calls.path.parent, index.fingerprint)
        check_cached(folder, "passages of an index", len(vectors), index.passages)
        for text, vector in vectors:
            key = vector_key(embedder, Role.PASSAGE, embeddable(text))
            if not np.array_equal(found.setdefault(key, vector), vector):
                raise ConfigError(f"{folder.name}: '{text[:40]}' has {OTHER_VECTORS}")
    return found


def check_ranking(
    folder: Path,
    rows: Sequence[Response],
    embedder: Mapping[str, object],
    vectors: Mapping[str, Vector],
) -> None:
    """Raise ConfigError where a passage's similarity is not the one that these vectors give.

    An embedder that is not deterministic leaves several vectors of one text.
    """

    def unit(role: Role, text: str) -> Floats:
        vector = vectors[vector_key(embedder, role, embeddable(text))].astype(np.float64)
        scaled: Floats = vector / np.linalg.norm(vector)
        return scaled

    for row in rows:
        for passage in row.passages:
            if passage.similarity is None:
                continue
            found = float(unit(Role.QUERY, row.user_input) @ unit(Role.PASSAGE, passage.text))
            if abs(found - passage.similarity) > TOLERANCE:
                raise ConfigError(
                    f"{folder.name}: passage {passage.id} was retrieved with {OTHER_VECTORS}"
                )


def question_vectors(
    folder: Path, rows: Sequence[Response], embedder: Mapping[str, object], calls: Calls
) -> dict[str, Vector]:
    """Return key -> vector of each question."""
    texts = {embeddable(row.user_input) for row in rows if row.error is None}
    keys = [vector_key(embedder, Role.QUERY, text) for text in sorted(texts)]
    found = calls.get_vectors(keys)
    check_cached(folder, "vectors of questions", len(found), len(keys))
    return found


def check_cached(folder: Path, what: str, found: int, needed: int) -> None:
    """Raise ConfigError where a part of what was asked is no longer cached."""
    if not found or found < needed:
        raise ConfigError(
            f"{folder.name}: {found} of the {needed} {what} are cached; delete its runs and"
            " runs/.cache/chroma and collect again, so that all are"
        )
