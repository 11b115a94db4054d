"""Recording what a study's models gave, so that others replay it without them."""

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ConfigError
from harness.llm import Calls, Role
from harness.llm.calls import Vector
from harness.llm.embedder import embeddable, vector_key
from harness.llm.recordings import Head, Recording, read_recording, write_recording
from harness.records import Floats, Response
from harness.store import chosen_runs
from harness.systems.index import indexed

log = logging.getLogger(__name__)

NOT_RECORDABLE = {
    "ignores_prompt": "makes no model calls, so there is nothing to record",
    "recorded": "is replayed from a recording already: pass that file on (study.recording)",
}
"""Note of a generator -> why it cannot be recorded."""

TOLERANCE = 1e-5
"""Between a similarity that was written down, to six digits, and one worked out again."""

OTHERS = (
    "other vectors than are remembered now: the embedder does not repeat itself; collect under a "
    "study.name= and a root= of their own, and record that"
)

Made = Sequence[Mapping[str, Any]]
"""What `run.json` says that each run was made with."""


def record_study(folder: Path, calls: Calls, path: Path) -> Recording:
    """Write what the store keeps of a study's generator and embedder to `path`; return it.

    Raises:
        ConfigError: The runs have several generators or embedders, or some whose replies or
            vectors are not remembered; or the generator is a recording itself, or makes no calls.
    """
    runs = chosen_runs(folder, [])
    facts = [run.facts() for run in runs]
    made = [fact["made_with"] for fact in facts]
    rows = [row for run in runs for row in run.responses()]
    for note, why in NOT_RECORDABLE.items():
        if all(note in each["notes"] for each in made):
            raise ConfigError(f"{folder.name}: {made[0]['generator']} {why}")
    chat = shared(folder, "chat", made)
    embedder = shared(folder, "embedder", made)
    warn(folder, made, rows)
    asked = {row.call for row in rows if row.call}
    replies = calls.entries(sorted(asked))
    check_remembered(folder, "replies", len(replies), len(asked))
    last = max(facts, key=lambda fact: str(fact["ended"]))
    head = Head(
        model=made[0]["generator"],
        chat=chat,
        embedder=embedder,
        recorded_on=datetime.fromtimestamp(max(e.created for e in replies), UTC).date().isoformat(),
        made_with={"machine": last["machine"], "packages": last["packages"]},
    )
    vectors = {
        **passage_vectors(folder, made, embedder, calls),
        **question_vectors(folder, rows, embedder, calls),
    }
    check_ranking(folder, rows, embedder, vectors)
    write_recording(path, head, {entry.key: entry.payload for entry in replies}, vectors)
    return read_recording(path)


def shared(folder: Path, part: str, made: Made) -> Mapping[str, object]:
    """Return the identity of a model that all runs share. Raises ConfigError where they do not."""
    found = {str(model): model for each in made if (model := each["models"].get(part))}
    if len(found) != 1:
        raise ConfigError(
            f"{folder.name}: its runs have {len(found)} different models as {part}, and one can be"
            " recorded; collect those of one under a study.name= of their own"
        )
    return next(iter(found.values()))


def warn(folder: Path, made: Made, rows: Sequence[Response]) -> None:
    """Warn of what whoever replays the study will lack."""
    if any("chat" in (each["models"].get("captioner") or {}) for each in made):
        log.warning("%s: captions by a model are not recorded; replaying needs it", folder.name)
    if failed := sum(row.error is not None for row in rows):
        log.warning("%s: %d answers failed and are not recorded", folder.name, failed)


def passage_vectors(
    folder: Path, made: Made, embedder: Mapping[str, object], calls: Calls
) -> dict[str, Vector]:
    """Return the vectors that the study's indexes rank by, by key."""
    assert calls.path is not None
    found: dict[str, Vector] = {}
    for index in {
        each["index"]["fingerprint"]: each["index"] for each in made if "index" in each
    }.values():
        held = indexed(calls.path.parent, index["fingerprint"])
        check_remembered(folder, "passages of an index", len(held), index["passages"])
        for text, vector in held:
            key = vector_key(embedder, Role.PASSAGE, embeddable(text))
            if not np.array_equal(found.setdefault(key, vector), vector):
                raise ConfigError(f"{folder.name}: '{text[:40]}' has {OTHERS}")
    return found


def check_ranking(
    folder: Path,
    rows: Sequence[Response],
    embedder: Mapping[str, object],
    vectors: Mapping[str, Vector],
) -> None:
    """Raise ConfigError where a passage was found by another similarity than these vectors give.

    An embedder that does not repeat itself leaves several vectors of one text.
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
                raise ConfigError(f"{folder.name}: passage {passage.id} was found by {OTHERS}")


def question_vectors(
    folder: Path, rows: Sequence[Response], embedder: Mapping[str, object], calls: Calls
) -> dict[str, Vector]:
    """Return the vectors that passages were found by, by key."""
    texts = {embeddable(row.user_input) for row in rows if row.error is None}
    keys = [vector_key(embedder, Role.QUERY, text) for text in sorted(texts)]
    found = calls.get_vectors(keys)
    check_remembered(folder, "vectors of questions", len(found), len(keys))
    return found


def check_remembered(folder: Path, what: str, found: int, wanted: int) -> None:
    """Raise ConfigError where a part of what was asked is not there any more."""
    if not found or found < wanted:
        raise ConfigError(
            f"{folder.name}: {found} of the {wanted} {what} are remembered; delete its runs and"
            " runs/.cache/chroma and collect again, so that all are"
        )
