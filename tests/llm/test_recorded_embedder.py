"""Vectors that were recorded are replayed, and no others."""

from pathlib import Path

import numpy as np
import pytest
from harness.llm.embedders import vector_key
from harness.llm.recorded import RecordingHead, write_recording

from harness.errors import ConfigError, NotRecordedError
from harness.llm import E5, Calls, RecordedEmbedder, Role

TOWER = "The tower is 27 metres high."


@pytest.fixture
def recorded(tmp_path: Path) -> RecordedEmbedder:
    """A recording of one passage and one question, with vectors that no model gives."""
    identity = E5().identity()
    vectors = {
        vector_key(identity, Role.PASSAGE, TOWER): np.array([1.0, 0.0], "<f4"),
        vector_key(identity, Role.QUERY, TOWER): np.array([0.0, 1.0], "<f4"),
    }
    file = tmp_path / "recorded.jsonl.gz"
    write_recording(file, RecordingHead("m", {}, identity, "2026-11-30", {}), {}, vectors)
    return RecordedEmbedder(file=str(file))


def test_a_recorded_vector_comes_back(recorded: RecordedEmbedder) -> None:
    """Each in its role, as often as it is asked for, and no model is asked."""
    calls = Calls(None)

    passages = recorded.embed([TOWER, TOWER], Role.PASSAGE, calls)
    (question,) = recorded.embed([TOWER], Role.QUERY, calls)

    assert passages.tolist() == [[1.0, 0.0]] * 2
    assert question.tolist() == [0.0, 1.0]
    assert (calls.asked, calls.remembered) == (0, 2)


def test_a_live_vector_never_stands_in(recorded: RecordedEmbedder, calls: Calls) -> None:
    """What the same model gave here lies in the store under another key."""
    live = E5().embed([TOWER], Role.PASSAGE, calls)

    assert recorded.embed([TOWER], Role.PASSAGE, calls).tolist() == [[1.0, 0.0]]
    assert (E5().embed([TOWER], Role.PASSAGE, calls) == live).all()


def test_another_text_is_refused_with_the_ways_to_embed_live(recorded: RecordedEmbedder) -> None:
    """It is named, and nothing is made up."""
    with pytest.raises(NotRecordedError, match=r"no vector of 'Another\.'.*embedder=e5"):
        recorded.embed([TOWER, "Another."], Role.PASSAGE, Calls(None))


def test_a_recording_without_vectors_is_told(tmp_path: Path) -> None:
    """Replies alone are no embedder."""
    file = tmp_path / "replies.jsonl.gz"
    write_recording(file, RecordingHead("m", {}, None, "2026-11-30", {}), {}, {})

    with pytest.raises(ConfigError, match="holds no vectors; embed live"):
        RecordedEmbedder(file=str(file)).identity()


def test_an_edited_file_is_another_embedder(recorded: RecordedEmbedder) -> None:
    """Its content is part of what an index is named by."""
    before = recorded.identity()
    write_recording(Path(recorded.file), recorded.recording.head, {}, {})

    assert RecordedEmbedder(file=recorded.file).identity() != before == recorded.identity()
