"""The file of a recording: written, read, and refused where it is damaged."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness.llm.recorded import RecordingHead, RecordedModel, read_recording, write_recording

from harness.errors import ConfigError, InputError


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """None given, none there, no gzip, a gzip of something else, another version."""
    file = tmp_path / "r.jsonl.gz"
    with pytest.raises(ConfigError, match="which recording"):
        _ = RecordedModel().recording
    with pytest.raises(ConfigError, match="no recording"):
        _ = RecordedModel(file=str(file)).recording
    contents = [b"plain", gzip.compress(b'{"a": 1}\n'), gzip.compress(b"[1]\n"), gzip.compress(b"")]
    for number, content in enumerate(contents):
        file = tmp_path / f"{number}.jsonl.gz"
        file.write_bytes(content)
        with pytest.raises(InputError, match="no recording"):
            _ = RecordedModel(file=str(file)).recording
    file.write_bytes(gzip.compress(b'{"version": 1}\n'))
    with pytest.raises(InputError, match="another version"):
        _ = RecordedModel(file=str(file)).recording


HEAD: dict[str, Any] = {
    "version": 2, "model": "m", "chat": {}, "embedder": {"embedder": "e5"},
    "recorded_on": "2026-11-30", "made_with": {},
}  # fmt: skip
REPLY: dict[str, Any] = {
    "key": "k", "text": "x", "finish_reason": "stop", "input_tokens": 1, "output_tokens": 1,
    "seconds": None, "reasoning": None,
}  # fmt: skip
VECTOR: dict[str, Any] = {"key": "v", "vector": "AACAPw=="}
"""Of one dimension, 1.0."""


def written(file: Path, *rows: object, end: str = "\n") -> Recorded:
    text = "\n".join(json.dumps(row) for row in rows) + end
    file.write_bytes(gzip.compress(text.encode()))
    return RecordedModel(file=str(file))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{**HEAD, "chat": "x"}, REPLY], 'row 1 has chat="x"'),
        ([{**HEAD, "colour": "x"}, REPLY], "row 1 has an unknown 'colour'"),
        ([HEAD, REPLY, {**REPLY, "text": 17}], "row 3 has text=17"),
        ([HEAD, {**REPLY, "input_tokens": True}], "row 2 has input_tokens=true"),
        ([HEAD, {k: v for k, v in REPLY.items() if k != "text"}], "row 2 has no 'text'"),
        ([HEAD, ["key"]], "row 2 is no JSON object"),
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
        ([HEAD, {**VECTOR, "vector": "AAAA?AAA"}], "row 2 is no vector"),
        ([HEAD, {**VECTOR, "vector": "AAAA"}], "row 2 is no vector"),
        ([HEAD, {**VECTOR, "vector": ""}], "row 2 is no vector"),
        ([HEAD, {**VECTOR, "vector": "AADAfw=="}], "row 2 is no vector"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, rows: list[object], said: str) -> None:
    """One line says which row of which file, and what is wrong with it."""
    with pytest.raises(InputError) as caught:
        _ = written(tmp_path / "r.jsonl.gz", *rows).recording

    file = tmp_path / "r.jsonl.gz"
    assert str(caught.value).partition(" (")[0] == f"{file} is no recording: {said}"


def test_a_flipped_byte_is_told(tmp_path: Path) -> None:
    """Wherever it lies: in the deflated data, the check sum or the gzip header."""
    file = tmp_path / "recorded.jsonl.gz"
    written(file, HEAD, REPLY, VECTOR)
    whole = file.read_bytes()
    for at in (0, 12, len(whole) // 2, len(whole) - 6):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with pytest.raises(InputError, match=r"recorded\.jsonl\.gz is no recording"):
            _ = RecordedModel(file=str(file)).recording


def test_blank_lines_at_the_end_are_nothing(tmp_path: Path) -> None:
    """An editor that adds one does no harm."""
    found = written(tmp_path / "r.jsonl.gz", HEAD, REPLY, VECTOR, end="\n\n  \n").recording

    assert found.head.model == "m"
    assert found.replies["k"]["text"] == "x"
    assert found.vectors["v"].tolist() == [1.0]


def test_a_file_that_changes_is_another_recording(tmp_path: Path) -> None:
    """A model keeps what it read first; the next one has other content, and says so."""
    model = written(tmp_path / "r.jsonl.gz", HEAD, REPLY)
    before = model.recording.sha256
    written(tmp_path / "r.jsonl.gz", HEAD)

    assert "k" in model.recording.replies
    assert RecordedModel(file=model.file).recording.sha256 != before == model.recording.sha256


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """To the bit; and the same calls give the same bytes, in whatever order they came."""
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
    write_recording(tmp_path / "r.gz", RecordingHead("m", {}, None, "2026-11-30", {}), {"k": reply}, {})

    assert read_recording(tmp_path / "r.gz").replies["k"]["text"] == "高\ud83d"


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A file in the place of a folder: told in a line."""
    (tmp_path / "file").write_text("x")

    with pytest.raises(ConfigError, match="cannot be written"):
        write_recording(tmp_path / "file/r.gz", RecordingHead("m", {}, None, "", {}), {}, {})
