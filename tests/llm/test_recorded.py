"""Recorded models: the file is read or refused, and its replies and vectors are replayed."""

import gzip
import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import ConfigError, InputError, NotRecordedError
from harness.llm import E5, Calls, OpenAIChat, RecordedChat, RecordedEmbedder, Request, Role
from harness.llm.embedders import vector_key
from harness.llm.recorded import RecordedModel, RecordingHead, read_recording, write_recording
from tests.stub_endpoint import StubEndpoint

MakeRequest = Callable[..., Request]
TOWER = "The tower is 27 metres high."


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """No file given, a missing file, no gzip, a gzip of something else, another version."""
    file = tmp_path / "r.jsonl.gz"
    with pytest.raises(ConfigError, match="no recording is set"):
        _ = RecordedModel().recording
    with pytest.raises(ConfigError, match="recording not found"):
        _ = RecordedModel(file=str(file)).recording
    contents = [b"plain", gzip.compress(b'{"a": 1}\n'), gzip.compress(b"[1]\n"), gzip.compress(b"")]
    for number, content in enumerate(contents):
        file = tmp_path / f"{number}.jsonl.gz"
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"not a (valid )?recording"):
            _ = RecordedModel(file=str(file)).recording
    file.write_bytes(gzip.compress(b'{"version": 1}\n'))
    with pytest.raises(InputError, match="another version"):
        _ = RecordedModel(file=str(file)).recording


def test_a_recording_is_decompressed_up_to_a_limit(tmp_path: Path) -> None:
    """A kilobyte of gzip can hold a gigabyte: more than the study's limit is one line."""
    file = tmp_path / "r.jsonl.gz"
    file.write_bytes(gzip.compress(b" " * 50_000_000))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"larger than 1 MB .*; split it, or raise study\.largest"):
        _ = RecordedModel(file=str(file), largest_mb=1).recording
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 5_000_000


HEAD: dict[str, Any] = {
    "version": 2, "model": "m", "chat": {}, "embedder": {"embedder": "e5"},
    "recorded_on": "2026-11-30", "made_with": {},
}  # fmt: skip
REPLY: dict[str, Any] = {
    "key": "k", "text": "x", "finish_reason": "stop", "input_tokens": 1, "output_tokens": 1,
    "seconds": None, "reasoning": None,
}  # fmt: skip
VECTOR: dict[str, Any] = {"key": "v", "vector": "AACAPw=="}
"""One dimension, 1.0."""


def written(file: Path, *rows: object, end: str = "\n") -> RecordedModel:
    text = "\n".join(json.dumps(row) for row in rows) + end
    file.write_bytes(gzip.compress(text.encode()))
    return RecordedModel(file=str(file))


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([{**HEAD, "chat": "x"}, REPLY], 'row 1 has chat="x"'),
        ([{**HEAD, "colour": "x"}, REPLY], "row 1 has an unknown 'colour'"),
        ([HEAD, REPLY, {**REPLY, "text": 17}], "row 3 has text=17"),
        ([HEAD, {**REPLY, "input_tokens": True}], "row 2 has input_tokens=true"),
        ([HEAD, {k: v for k, v in REPLY.items() if k != "text"}], "row 2 has no 'text'"),
        ([HEAD, ["key"]], "row 2 is not a JSON object"),
        ([HEAD, {**REPLY, "seconds": float("nan")}], "row 2 has seconds=NaN"),
        ([HEAD, {**REPLY, "seconds": -3}], "row 2 has seconds=-3"),
        ([HEAD, {**REPLY, "output_tokens": 10**30}], f"row 2 has output_tokens={10**30}"),
        ([HEAD, REPLY, REPLY], "row 3 repeats the key k"),
        ([HEAD, VECTOR, VECTOR], "row 3 repeats the key v"),
        (
            [HEAD, VECTOR, {"key": "w", "vector": "AACAPwAAgD8="}],
            "its vectors have several sizes: [1, 2]",
        ),
        ([HEAD, {**VECTOR, "text": "x"}], "row 2 has an unknown 'text'"),
        ([HEAD, {**VECTOR, "vector": None}], "row 2 has vector=null"),
        ([HEAD, {**VECTOR, "vector": "AAAA?AAA"}], "row 2 is not a vector"),
        ([HEAD, {**VECTOR, "vector": "AAAA"}], "row 2 is not a vector"),
        ([HEAD, {**VECTOR, "vector": ""}], "row 2 is not a vector"),
        ([HEAD, {**VECTOR, "vector": "AADAfw=="}], "row 2 is not a vector"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, rows: list[object], fault: str) -> None:
    """One line says which row of which file is invalid, and why."""
    with pytest.raises(InputError) as caught:
        _ = written(tmp_path / "r.jsonl.gz", *rows).recording

    file = tmp_path / "r.jsonl.gz"
    assert str(caught.value).partition(" (")[0] == f"{file} is not a valid recording: {fault}"


def test_a_flipped_byte_is_an_error(tmp_path: Path) -> None:
    """In the compressed data, the check sum or the gzip header."""
    file = tmp_path / "recorded.jsonl.gz"
    written(file, HEAD, REPLY, VECTOR)
    whole = file.read_bytes()
    for at in (0, 12, len(whole) // 2, len(whole) - 6):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with pytest.raises(InputError, match=r"recorded\.jsonl\.gz is not a recording"):
            _ = RecordedModel(file=str(file)).recording


def test_blank_lines_at_the_end_are_ignored(tmp_path: Path) -> None:
    """A line that an editor adds does no harm."""
    found = written(tmp_path / "r.jsonl.gz", HEAD, REPLY, VECTOR, end="\n\n  \n").recording

    assert found.head.model == "m"
    assert found.replies["k"]["text"] == "x"
    assert found.vectors["v"].tolist() == [1.0]


def test_a_file_that_changes_is_another_recording(tmp_path: Path) -> None:
    """A model keeps what it read first; the next one has other content and another hash."""
    model = written(tmp_path / "r.jsonl.gz", HEAD, REPLY)
    before = model.recording.sha256
    written(tmp_path / "r.jsonl.gz", HEAD)

    assert "k" in model.recording.replies
    assert RecordedModel(file=model.file).recording.sha256 != before == model.recording.sha256


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Reading returns what was written, to the bit, and the order of the calls does not matter."""
    head = RecordingHead("m", {"a": 1}, {"embedder": "e5"}, "2026-11-30", {})
    replies = {key: {**REPLY, "text": key, "seconds": 2.5} for key in "ba"}
    for reply in replies.values():
        del reply["key"]
    vectors = {key: np.array([0.1, -3e-38, at], "<f4") for at, key in enumerate("dc")}
    paths = [tmp_path / name for name in ("1.gz", "2.gz")]
    write_recording(paths[0], head, replies, vectors)
    write_recording(paths[1], head, dict(sorted(replies.items())), dict(sorted(vectors.items())))
    found = read_recording(paths[0])

    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert found.head == head
    assert found.replies["a"] == {**replies["a"], "seconds": None}
    assert all((found.vectors[key] == vectors[key]).all() for key in "cd")


def test_half_a_character_is_kept(tmp_path: Path) -> None:
    """JSON can hold half a surrogate pair, UTF-8 cannot."""
    reply = {**REPLY, "text": "高\ud83d"}
    del reply["key"]
    write_recording(
        tmp_path / "r.gz", RecordingHead("m", {}, None, "2026-11-30", {}), {"k": reply}, {}
    )

    assert read_recording(tmp_path / "r.gz").replies["k"]["text"] == "高\ud83d"


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A file in place of a folder is a one-line error."""
    (tmp_path / "file").write_text("x")

    with pytest.raises(ConfigError, match="cannot be written"):
        write_recording(tmp_path / "file/r.gz", RecordingHead("m", {}, None, "", {}), {}, {})


@pytest.fixture
def chat(tmp_path: Path, calls: Calls, ask: MakeRequest) -> RecordedChat:
    """A recording of one reply to the fixture's question."""
    with StubEndpoint("27 metres") as stub:
        live = OpenAIChat(base_url=stub.base_url, model="stub")
        call = live.complete(ask(), calls).call
    (entry,) = calls.entries([call])
    file = tmp_path / "recorded.jsonl.gz"
    recording = RecordingHead("stub", live.identity(), None, "2026-11-30", {})
    write_recording(file, recording, {call: entry.payload}, {})
    return RecordedChat(file=str(file))


def test_a_recorded_reply_comes_back_whole(chat: RecordedChat, ask: MakeRequest) -> None:
    """Text and finish reason, but not the seconds of another machine; no call is sent."""
    calls = Calls(None)
    reply = chat.complete(ask(), calls)

    assert (reply.text, reply.finish_reason, reply.remembered) == ("27 metres", "stop", True)
    assert reply.seconds is None
    assert (calls.asked, calls.remembered) == (0, 1)


def test_a_recording_replays_every_generation(chat: RecordedChat, ask: MakeRequest) -> None:
    """It cannot be asked again, so another version of a system gets the recorded reply."""
    again = replace(ask(), generation="fixed again 1")

    assert chat.complete(again, Calls(None)) == chat.complete(ask(), Calls(None))


def test_the_label_says_that_it_is_recorded(chat: RecordedChat) -> None:
    """Every table shows model and date."""
    assert chat.label == "stub (recorded 2026-11-30)"


def test_another_prompt_is_a_failure_with_the_ways_to_go_live(
    chat: RecordedChat, ask: MakeRequest
) -> None:
    """The recorded reply is returned beside the failure, which names three live models."""
    known, unknown = chat.complete_all([ask(), ask("Another?")], Calls(None))

    assert not isinstance(known, NotRecordedError)
    assert isinstance(unknown, NotRecordedError)
    for way in ("chat=ollama", "chat=openai", "chat=llamacpp"):
        assert way in str(unknown)


def test_the_same_replies_give_the_same_bytes(
    chat: RecordedChat, calls: Calls, ask: MakeRequest, tmp_path: Path
) -> None:
    """A recording can be kept under version control: it holds no time of writing."""
    again = tmp_path / "again.jsonl.gz"
    (entry,) = calls.entries([chat.complete(ask(), calls).call])
    write_recording(again, chat.recording.head, {entry.key: entry.payload}, {})

    assert again.read_bytes() == Path(chat.file).read_bytes()


@pytest.fixture
def embedder(tmp_path: Path) -> RecordedEmbedder:
    """A recording of one passage and one question, with vectors that no model would return."""
    identity = E5().identity()
    vectors = {
        vector_key(identity, Role.PASSAGE, TOWER): np.array([1.0, 0.0], "<f4"),
        vector_key(identity, Role.QUERY, TOWER): np.array([0.0, 1.0], "<f4"),
    }
    file = tmp_path / "recorded.jsonl.gz"
    write_recording(file, RecordingHead("m", {}, identity, "2026-11-30", {}), {}, vectors)
    return RecordedEmbedder(file=str(file))


def test_a_recorded_vector_comes_back(embedder: RecordedEmbedder) -> None:
    """Each text has the vector of its role, as often as it is needed, and no call is sent."""
    calls = Calls(None)

    passages = embedder.embed([TOWER, TOWER], Role.PASSAGE, calls)
    (question,) = embedder.embed([TOWER], Role.QUERY, calls)

    assert passages.tolist() == [[1.0, 0.0]] * 2
    assert question.tolist() == [0.0, 1.0]
    assert (calls.asked, calls.remembered) == (0, 2)


def test_a_live_vector_is_never_used(embedder: RecordedEmbedder, calls: Calls) -> None:
    """A vector of the same model on this machine is cached under another key."""
    live = E5().embed([TOWER], Role.PASSAGE, calls)

    assert embedder.embed([TOWER], Role.PASSAGE, calls).tolist() == [[1.0, 0.0]]
    assert (E5().embed([TOWER], Role.PASSAGE, calls) == live).all()


def test_another_text_is_refused_with_the_ways_to_embed_live(embedder: RecordedEmbedder) -> None:
    """The text is named, and no vector is invented."""
    with pytest.raises(NotRecordedError, match=r"no vector of 'Another\.'.*embedder=e5"):
        embedder.embed([TOWER, "Another."], Role.PASSAGE, Calls(None))


def test_a_recording_without_vectors(tmp_path: Path) -> None:
    """A recording of replies only cannot be used as an embedder."""
    file = tmp_path / "replies.jsonl.gz"
    write_recording(file, RecordingHead("m", {}, None, "2026-11-30", {}), {}, {})

    with pytest.raises(ConfigError, match="holds no vectors; use a live"):
        RecordedEmbedder(file=str(file)).identity()


def test_an_edited_file_is_another_embedder(embedder: RecordedEmbedder) -> None:
    """The content of the file is part of the identity, and so of the name of an index."""
    before = embedder.identity()
    write_recording(Path(embedder.file), embedder.recording.head, {}, {})

    assert RecordedEmbedder(file=embedder.file).identity() != before == embedder.identity()
