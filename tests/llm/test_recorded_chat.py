"""Replies that were recorded are replayed, and no other."""

from collections.abc import Callable
from pathlib import Path

import pytest
from harness.llm.recorded import RecordingHead, write_recording

from harness.errors import NotRecordedError
from harness.llm import Calls, OpenAIChat, RecordedChat, Request
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
    recording = RecordingHead("stub", live.identity(), None, "2026-11-30", {})
    write_recording(file, recording, {call: entry.payload}, {})
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
    write_recording(again, recorded.recording.head, {entry.key: entry.payload}, {})

    assert again.read_bytes() == Path(recorded.file).read_bytes()
