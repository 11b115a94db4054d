"""Replies that a model gave once, replayed from a file that can be shipped with a test set."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, InputError, NotRecordedError
from harness.llm.calls import Calls
from harness.llm.chat import Chat, OnDone, Outcome, Request, remembered
from harness.llm.remote import WEIGHTS

VERSION = 1
"""Of the file's form."""

Kinds = tuple[type, ...]
NONE = type(None)
HEAD: dict[str, Kinds] = {
    "version": (int,),
    "model": (str,),
    "identity": (dict,),
    "recorded_on": (str,),
    "made_with": (dict,),
}
REPLY: dict[str, Kinds] = {
    "key": (str,),
    "text": (str,),
    "finish_reason": (str, NONE),
    "input_tokens": (int, NONE),
    "output_tokens": (int, NONE),
    "seconds": (int, float, NONE),
    "reasoning": (str, NONE),
}


@dataclass(frozen=True, slots=True)
class Recording:
    """What a recording's first line says of the replies that follow."""

    model: str
    """Its name for tables."""
    identity: Mapping[str, object]
    """Of the model that replied: with it the calls have the keys that they had then."""
    recorded_on: str
    """The last day, as YYYY-MM-DD."""
    made_with: Mapping[str, Any]
    """Machine and packages of the runs that asked."""


@dataclass(frozen=True, slots=True)
class _Contents:
    recording: Recording
    replies: Mapping[str, dict[str, object]]
    sha256: str


@dataclass
class RecordedChat(Chat):
    """A model that is not here, with the replies that it gave when it was.

    Its calls have the keys of the model's own, so a reply is found only where prompt, weights,
    sampling and program are the very same. What was never asked is a failure and says so.
    """

    file: str = field(default="", metadata=WEIGHTS)
    """The recording (.jsonl.gz), as `python -m harness.calls record=...` writes it."""

    def __post_init__(self) -> None:
        self._read: _Contents | None = None

    @property
    def label(self) -> str:
        """The model's name, and that it is recorded."""
        recording = self.recording
        return f"{recording.model} (recorded {recording.recorded_on})"

    @property
    def recording(self) -> Recording:
        """What the file says of itself.

        Raises ConfigError where there is none, InputError where it is damaged.
        """
        return self._contents().recording

    @property
    def sha256(self) -> str:
        """Of the file, as it was when this model first looked. Raises as `recording`."""
        return self._contents().sha256

    def identity(self) -> dict[str, object]:
        """Return the identity of the model that replied."""
        return dict(self.recording.identity)

    def complete_all(
        self, requests: Sequence[Request], calls: Calls, on_done: OnDone | None = None
    ) -> list[Outcome]:
        """Look the requests up; those that were never recorded come back as failures."""
        replies = self._contents().replies
        outcomes: list[Outcome] = []
        for index, request in enumerate(requests):
            key = self.key(request)
            if key in replies:
                calls.recall(1)
                outcomes.append(remembered(key, replies[key]))
            else:
                outcomes.append(NotRecordedError(self._unrecorded()))
            if on_done is not None:
                on_done(index, outcomes[-1])
        return outcomes

    def _unrecorded(self) -> str:
        recording = self.recording
        return (
            f"{Path(self.file).name} holds no reply of {recording.model} to this prompt: a setting,"
            " a document, a question or a package differs from when it was recorded. Have a model"
            " answer live: chat=ollama variant.chat.model=..., chat=openai variant.chat.model=...,"
            " or chat=llamacpp variant.chat.model_path=<weights>.gguf"
        )

    def _contents(self) -> _Contents:
        """Return what the file holds; it is read once, so that one run has one content."""
        if self._read is None:
            if not self.file:
                raise ConfigError(
                    "chat=recorded: which recording? set file=<recorded.jsonl.gz> there"
                )
            path = Path(self.file)
            if not path.is_file():
                raise ConfigError(f"chat=recorded: there is no file {path}")
            self._read = _read(path)
        return self._read


def write_recording(
    path: Path, recording: Recording, replies: Iterable[tuple[str, Mapping[str, object]]]
) -> None:
    """Write a recording: the same replies give the same bytes.

    Args:
        path: The file, gzipped JSON Lines.
        recording: Its first line.
        replies: (key of the call, what the call store keeps of it). The seconds are left out: they
            tell of a machine and of what else it did, which a reader would take for the model's.
    """
    head = {
        "version": VERSION,
        "model": recording.model,
        "recorded_on": recording.recorded_on,
        "identity": dict(recording.identity),
        "made_with": dict(recording.made_with),
    }
    rows = [head]
    for key, reply in sorted(replies, key=lambda pair: pair[0]):
        rows.append({"key": key, **reply, "seconds": None})
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _read(path: Path) -> _Contents:
    try:
        content = path.read_bytes()
        lines = gzip.decompress(content).splitlines()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is no recording, or a damaged one: {error}") from error
    rows = [
        (number, _row(path, number, line)) for number, line in enumerate(lines, 1) if line.strip()
    ]
    if not rows:
        raise InputError(f"{path} is no recording: it is empty")
    (number, head), *rest = rows
    if head.get("version", VERSION) != VERSION:
        raise InputError(f"{path} was written by another version of this program")
    _check(path, number, head, HEAD)
    del head["version"]
    for number, row in rest:
        _check(path, number, row, REPLY)
    replies = {row.pop("key"): row for _, row in rest}
    return _Contents(Recording(**head), replies, hashlib.sha256(content).hexdigest())


def _row(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no recording: row {number} is no JSON ({error})") from error
    if not isinstance(row, dict):
        raise InputError(f"{path} is no recording: row {number} is no JSON object")
    return row


def _check(path: Path, number: int, row: Mapping[str, Any], kinds: Mapping[str, Kinds]) -> None:
    """Raise InputError where a row has other fields than it must, or one of another kind."""
    for name in sorted(kinds.keys() ^ row.keys()):
        fault = "has no" if name in kinds else "has an unknown"
        raise InputError(f"{path} is no recording: row {number} {fault} '{name}'")
    for name, allowed in kinds.items():
        if not isinstance(row[name], allowed) or isinstance(row[name], bool):
            said = json.dumps(row[name], ensure_ascii=False)[:40]
            raise InputError(f"{path} is no recording: row {number} has {name}={said}")
