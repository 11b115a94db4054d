"""Recorded models: the replies and vectors of a study in a file that ships with a test set.

Gzipped JSON Lines: a head, then a row for each reply of the generator and each vector of the
embedder, under the keys that the calls have in the call store.
"""

import base64
import binascii
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ConfigError, InputError, NotRecordedError, check_size
from harness.files import write_whole
from harness.llm.call_store import Calls, Vector
from harness.llm.chat import Chat, OnDone, Outcome
from harness.llm.embedders import Embedder, Role, vector_key
from harness.llm.messages import Request, cached_completion
from harness.llm.remote import PLACE, WEIGHTS
from harness.text import sha256

VERSION = 2
"""Of the file format."""

MOST = 2**53
"""The largest count or time that is valid."""

ANOTHER = (
    "give one with study.recording=<file>, or record one: "
    "python -m harness.calls record=<file> study=<name>"
)

Kinds = tuple[type, ...]
NONE = type(None)
HEAD: dict[str, Kinds] = {
    "version": (int,),
    "model": (str,),
    "chat": (dict,),
    "embedder": (dict, NONE),
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
VECTOR: dict[str, Kinds] = {"key": (str,), "vector": (str,)}


@dataclass(frozen=True, slots=True)
class RecordingHead:
    """The first line of a recording, which describes the rows that follow."""

    model: str
    """The generator's name for tables."""
    chat: Mapping[str, object]
    """The generator's identity: with it the calls have the same keys as when they were recorded."""
    embedder: Mapping[str, object] | None
    """The embedder's identity; None where no vectors follow."""
    recorded_on: str
    """The last day, as YYYY-MM-DD."""
    made_with: Mapping[str, Any]
    """Machine and packages of the last run that made calls."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The content of a file."""

    head: RecordingHead
    replies: Mapping[str, dict[str, object]]
    """Key of the call -> payload of the reply, as in the call store."""
    vectors: Mapping[str, Vector]
    """Key of the call -> (dimensions,)."""
    sha256: str
    """Of the file."""


@dataclass
class RecordedModel:
    """A model that is replayed from a file."""

    file: str = field(default="", metadata=WEIGHTS)
    """The recording (.jsonl.gz), as `python -m harness.calls record=...` writes it."""

    largest_mb: int = field(default=100, metadata=PLACE)
    """Of the file, decompressed, in millions of bytes."""

    @cached_property
    def recording(self) -> Recording:
        """The content of the file, read once, so that it does not change during a run.

        Raises ConfigError where the file is missing, InputError where it is damaged or too large.
        """
        if not self.file:
            raise ConfigError(f"no recording is set; {ANOTHER}")
        path = Path(self.file)
        if not path.is_file():
            raise ConfigError(f"recording not found: {path}; {ANOTHER}")
        return read_recording(path, self.largest_mb)


@dataclass
class RecordedChat(RecordedModel, Chat):
    """A generator's recorded replies.

    Its calls have the same keys as those of the model, so a reply is found only where prompt,
    weights, sampling and program are identical. A request that was not recorded is a failure.
    """

    @property
    def label(self) -> str:
        """The model's name, and the day it was recorded."""
        head = self.recording.head
        return f"{head.model} (recorded {head.recorded_on})"

    def identity(self) -> dict[str, object]:
        """Return the identity of the model that replied."""
        return dict(self.recording.head.chat)

    def complete_all(
        self, requests: Sequence[Request], calls: Calls, on_done: OnDone | None = None
    ) -> list[Outcome]:
        """Return the recorded completions; requests that were not recorded are failures."""
        replies = self.recording.replies
        unrecorded = (
            f"{Path(self.file).name} holds no reply of {self.recording.head.model} to this prompt:"
            " a setting, a document, a question or a package has changed since it was recorded, or"
            " passages rank differently, which embedder=recorded prevents. Use a live model:"
            " chat=ollama variant.chat.model=..., chat=openai variant.chat.model=..., or"
            " chat=llamacpp variant.chat.model_path=<weights>.gguf"
        )
        outcomes: list[Outcome] = []
        for index, request in enumerate(requests):
            key = self.key(request)
            if key not in replies:  # a recording cannot be asked again
                key = self.key(replace(request, generation=""))
            if key in replies:
                calls.recall(1)
                outcomes.append(cached_completion(key, replies[key]))
            else:
                outcomes.append(NotRecordedError(unrecorded))
            if on_done is not None:
                on_done(index, outcomes[-1])
        return outcomes


@dataclass
class RecordedEmbedder(RecordedModel, Embedder):
    """An embedder's recorded vectors: the same ranking on every machine.

    On another processor an embedding model returns slightly different vectors, enough to swap near
    neighbours.
    """

    @property
    def label(self) -> str:
        """The name in tables."""
        return "recorded"

    def identity(self) -> dict[str, object]:
        """Return the identity of the embedder that was recorded, and the file's content.

        Raises ConfigError where the recording holds no vectors.
        """
        return {**self._recorded, "recording": self.recording.sha256}

    def vectors(
        self, batches: Sequence[Sequence[str]], role: Role, calls: Calls
    ) -> Iterator[list[Vector]]:
        """Yield the vectors of each batch. Raises NotRecordedError where one is missing."""
        identity, known = self._recorded, self.recording.vectors
        for batch in batches:
            keys = [vector_key(identity, role, text) for text in batch]
            for text, key in zip(batch, keys, strict=True):
                if key not in known:
                    raise NotRecordedError(
                        f"{Path(self.file).name} holds no vector of '{text[:40]}': a setting, a"
                        " document, a question or a package has changed since it was recorded. Use"
                        " a live embedder: embedder=e5, or embedder=openai"
                        " variant.embedder.model=..."
                    )
            calls.recall(len(batch))
            yield [known[key] for key in keys]

    @property
    def _recorded(self) -> Mapping[str, object]:
        """The identity of the embedder that made the vectors."""
        identity = self.recording.head.embedder
        if identity is None:
            raise ConfigError(f"{self.file} holds no vectors; use a live embedder: embedder=e5")
        return identity


def write_recording(
    path: Path,
    head: RecordingHead,
    replies: Mapping[str, Mapping[str, object]],
    vectors: Mapping[str, Vector],
) -> None:
    """Write a recording; the same calls give the same rows.

    Args:
        path: The file.
        head: Its first line.
        replies: Key of the call -> its payload in the call store. The seconds are left out: they
            depend on the machine and its load, and a reader would take them for the model's.
        vectors: Key of the call -> its vector, written as little-endian float32 in Base64.

    Raises ConfigError where the file cannot be written; an existing one is then left unchanged.
    """
    rows: list[dict[str, object]] = [{"version": VERSION, **asdict(head)}]
    for key, reply in sorted(replies.items()):
        kept = {name: value for name, value in reply.items() if name in REPLY}
        rows.append({"key": key, **kept, "seconds": None})
    for key, vector in sorted(vectors.items()):
        text = base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode("ascii")
        rows.append({"key": key, "vector": text})
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    try:
        write_whole(path, gzip.compress(lines.encode("ascii"), mtime=0))
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error


def read_recording(path: Path, largest_mb: int | None = None) -> Recording:
    """Return the content of a file, decompressed up to a limit.

    Raises InputError naming the row that is damaged, and where the file is too large.
    """
    most = -1 if largest_mb is None else largest_mb * 1_000_000 + 1
    try:
        check_size(path, path.stat().st_size, largest_mb)
        content = path.read_bytes()
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as unpacked:
            text = unpacked.read(most)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a recording, or is damaged: {error}; {ANOTHER}") from error
    check_size(path, len(text), largest_mb)
    lines = text.splitlines()
    rows = [
        (number, _row(path, number, line)) for number, line in enumerate(lines, 1) if line.strip()
    ]
    if not rows:
        raise InputError(f"{path} is not a recording: it is empty")
    (number, head), *rest = rows
    if head.get("version", VERSION) != VERSION:
        raise InputError(f"{path} was written by another version of this program; {ANOTHER}")
    _check(path, number, head, HEAD)
    del head["version"]
    replies, vectors = {}, {}
    for number, row in rest:
        _check(path, number, row, VECTOR if "vector" in row else REPLY)
        key = row.pop("key")
        if key in replies or key in vectors:
            raise _invalid(path, f"row {number} repeats the key {key[:12]}")
        if "vector" in row:
            vectors[key] = _vector(path, number, row["vector"])
        else:
            replies[key] = row
    if len(sizes := {vector.size for vector in vectors.values()}) > 1:
        raise _invalid(path, f"its vectors have several sizes: {sorted(sizes)}")
    return Recording(RecordingHead(**head), replies, vectors, sha256(content))


def _invalid(path: Path, fault: str) -> InputError:
    return InputError(f"{path} is not a valid recording: {fault}")


def _row(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _invalid(path, f"row {number} is not JSON ({error})") from error
    if not isinstance(row, dict):
        raise _invalid(path, f"row {number} is not a JSON object")
    return row


def _vector(path: Path, number: int, text: str) -> Vector:
    try:
        vector = np.frombuffer(base64.b64decode(text, validate=True), "<f4")
    except (binascii.Error, ValueError) as error:
        raise _invalid(path, f"row {number} is not a vector ({error})") from error
    if not vector.size or not np.isfinite(vector).all():
        raise _invalid(path, f"row {number} is not a vector")
    return vector


def _check(path: Path, number: int, row: Mapping[str, Any], kinds: Mapping[str, Kinds]) -> None:
    """Raise InputError where a row has other fields than it must, or one of another type."""
    for name in sorted(kinds.keys() ^ row.keys()):
        fault = "has no" if name in kinds else "has an unknown"
        raise _invalid(path, f"row {number} {fault} '{name}'")
    for name, allowed in kinds.items():
        value = row[name]
        fits = isinstance(value, allowed) and not isinstance(value, bool)
        if not fits or (isinstance(value, int | float) and not 0 <= value <= MOST):
            shown = json.dumps(value, ensure_ascii=False)[:40]
            raise _invalid(path, f"row {number} has {name}={shown}")
