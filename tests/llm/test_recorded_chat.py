"""Replies that were recorded are replayed, and no other."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigError, InputError, NotRecordedError
from harness.llm import Calls, OpenAIChat, RecordedChat, Recording, Request
from harness.llm.recorded_chat import write_recording
from tests.stub_endpoint import StubEndpoint

MakeRequest = Callable[..., Request]


@pytest.fixture
def recorded(tmp_path: Path, calls: Calls, ask: MakeRequest) -> RecordedChat:
    """A recording of one reply to the fixture's question."""
    with StubEndpoint("27 metres") as stub:
        live = OpenAIChat(base_url=stub.base_url, model="stub")
        call = live.complete(ask(), calls).call
    (entry,) = calls.entries([call])
    file = tmp_path / "recorded.jsonl.gz"
    write_recording(
        file, Recording("stub", live.identity(), "2026-11-30", {}), [(call, entry.payload)]
    )
    return RecordedChat(file=str(file))


def test_a_recorded_reply_comes_back_whole(recorded: RecordedChat, ask: MakeRequest) -> None:
    """Text and how it ended, but not the seconds of another machine; nothing is asked."""
    calls = Calls(None)
    reply = recorded.complete(ask(), calls)

    assert (reply.text, reply.finish_reason, reply.remembered) == ("27 metres", "stop", True)
    assert reply.seconds is None
    assert (calls.asked, calls.remembered) == (0, 1)


def test_the_label_says_that_it_is_recorded(recorded: RecordedChat) -> None:
    """In every table the reader sees model and date."""
    assert recorded.label == "stub (recorded 2026-11-30)"


def test_another_prompt_is_a_failure_with_the_ways_to_go_live(
    recorded: RecordedChat, ask: MakeRequest
) -> None:
    """Nothing is made up, and the recorded replies stand beside the failure."""
    known, unknown = recorded.complete_all([ask(), ask("Another?")], Calls(None))

    assert not isinstance(known, NotRecordedError)
    assert isinstance(unknown, NotRecordedError)
    for way in ("chat=ollama", "chat=openai", "chat=llamacpp"):
        assert way in str(unknown)


def test_the_same_replies_give_the_same_bytes(
    recorded: RecordedChat, calls: Calls, ask: MakeRequest, tmp_path: Path
) -> None:
    """A recording can be kept under version control: no time of writing is in it."""
    again = tmp_path / "again.jsonl.gz"
    (entry,) = calls.entries([recorded.complete(ask(), calls).call])
    write_recording(again, recorded.recording, [(entry.key, entry.payload)])

    assert again.read_bytes() == Path(recorded.file).read_bytes()


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """None given, none there, no gzip, a gzip of something else, another version."""
    file = tmp_path / "r.jsonl.gz"
    with pytest.raises(ConfigError, match="set file="):
        RecordedChat().identity()
    with pytest.raises(ConfigError, match="no file"):
        RecordedChat(file=str(file)).identity()
    contents = [b"plain", gzip.compress(b'{"a": 1}\n'), gzip.compress(b"[1]\n"), gzip.compress(b"")]
    for number, content in enumerate(contents):
        file = tmp_path / f"{number}.jsonl.gz"
        file.write_bytes(content)
        with pytest.raises(InputError, match="no recording"):
            RecordedChat(file=str(file)).identity()
    file.write_bytes(gzip.compress(b'{"version": 2}\n'))
    with pytest.raises(InputError, match="another version"):
        RecordedChat(file=str(tmp_path / file.name)).identity()


HEAD: dict[str, Any] = {
    "version": 1, "model": "m", "recorded_on": "2026-11-30", "identity": {}, "made_with": {},
}  # fmt: skip
REPLY: dict[str, Any] = {
    "key": "k", "text": "x", "finish_reason": "stop", "input_tokens": 1, "output_tokens": 1,
    "seconds": None, "reasoning": None,
}  # fmt: skip


def written(file: Path, *rows: object, end: str = "\n") -> RecordedChat:
    text = "\n".join(json.dumps(row) for row in rows) + end
    file.write_bytes(gzip.compress(text.encode()))
    return RecordedChat(file=str(file))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{**HEAD, "identity": "x"}, REPLY], 'row 1 has identity="x"'),
        ([{**HEAD, "colour": "x"}, REPLY], "row 1 has an unknown 'colour'"),
        ([HEAD, REPLY, {**REPLY, "text": 17}], "row 3 has text=17"),
        ([HEAD, {**REPLY, "input_tokens": True}], "row 2 has input_tokens=true"),
        ([HEAD, {k: v for k, v in REPLY.items() if k != "text"}], "row 2 has no 'text'"),
        ([HEAD, ["key"]], "row 2 is no JSON object"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, rows: list[object], said: str) -> None:
    """One line says which row of which file, and what is wrong with it."""
    with pytest.raises(InputError) as caught:
        written(tmp_path / "r.jsonl.gz", *rows).identity()

    assert str(caught.value) == f"{tmp_path / 'r.jsonl.gz'} is no recording: {said}"


def test_a_flipped_byte_is_told(recorded: RecordedChat) -> None:
    """Wherever it lies: in the deflated data, the check sum or the gzip header."""
    file = Path(recorded.file)
    whole = file.read_bytes()
    for at in (0, 12, len(whole) // 2, len(whole) - 6):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with pytest.raises(InputError, match=r"recorded\.jsonl\.gz is no recording"):
            RecordedChat(file=recorded.file).identity()


def test_blank_lines_at_the_end_are_nothing(tmp_path: Path, ask: MakeRequest) -> None:
    """An editor that adds one does no harm."""
    chat = written(tmp_path / "r.jsonl.gz", HEAD, REPLY, end="\n\n  \n")

    assert chat.recording.model == "m"


def test_a_file_that_changes_is_another_recording(
    recorded: RecordedChat, tmp_path: Path, ask: MakeRequest
) -> None:
    """A model keeps what it read first; the next one has other content, and says so."""
    before = recorded.sha256
    written(Path(recorded.file), HEAD)

    assert recorded.complete(ask(), Calls(None)).text == "27 metres"
    assert RecordedChat(file=recorded.file).sha256 != before == recorded.sha256
