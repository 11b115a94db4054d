"""What a study asked of its models once, kept in a file that can be shipped with a test set.

Gzipped JSON Lines: a head, then a row for each reply of the generator and each vector of the
embedder, under the keys that the calls have in the call store.
"""

import base64
import binascii
import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ConfigError, InputError
from harness.llm.calls import Vector
from harness.llm.remote import WEIGHTS

VERSION = 2
"""Of the file's form."""

MOST = 2**53
"""No count and no time is larger."""

ANOTHER = (
    "name one with study.recording=<file>, or make one: "
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
class Head:
    """What a recording's first line says of the rows that follow."""

    model: str
    """The generator's name for tables."""
    chat: Mapping[str, object]
    """The generator's identity: with it the calls have the keys that they had then."""
    embedder: Mapping[str, object] | None
    """The embedder's identity, likewise; None where no vectors follow."""
    recorded_on: str
    """The last day, as YYYY-MM-DD."""
    made_with: Mapping[str, Any]
    """Machine and packages of the last run that asked."""


@dataclass(frozen=True, slots=True)
class Recording:
    """All that a file holds."""

    head: Head
    replies: Mapping[str, dict[str, object]]
    """Key of the call -> what the call store kept of the reply."""
    vectors: Mapping[str, Vector]
    """Key of the call -> (dimensions,)."""
    sha256: str
    """Of the file."""


@dataclass
class Recorded:
    """A model that is not here, with what it gave when it was."""

    file: str = field(default="", metadata=WEIGHTS)
    """The recording (.jsonl.gz), as `python -m harness.calls record=...` writes it."""

    def __post_init__(self) -> None:
        self._read: Recording | None = None

    @property
    def recording(self) -> Recording:
        """What the file held when it was first looked at, so that one run has one content.

        Raises ConfigError where there is none, InputError where it is damaged.
        """
        if self._read is None:
            if not self.file:
                raise ConfigError(f"which recording? {ANOTHER}")
            path = Path(self.file)
            if not path.is_file():
                raise ConfigError(f"there is no recording {path}; {ANOTHER}")
            self._read = read_recording(path)
        return self._read


def write_recording(
    path: Path,
    head: Head,
    replies: Mapping[str, Mapping[str, object]],
    vectors: Mapping[str, Vector],
) -> None:
    """Write a recording: the same calls give the same rows.

    Args:
        path: The file.
        head: Its first line.
        replies: Key of the call -> what the call store keeps of it. The seconds are left out: they
            tell of a machine and of what else it did, which a reader would take for the model's.
        vectors: Key of the call -> its vector, written as little-endian float32 in Base64.

    Raises ConfigError where the file cannot be written; one that is there then stays.
    """
    rows: list[dict[str, object]] = [{"version": VERSION, **asdict(head)}]
    rows += [{"key": key, **reply, "seconds": None} for key, reply in sorted(replies.items())]
    for key, vector in sorted(vectors.items()):
        text = base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode("ascii")
        rows.append({"key": key, "vector": text})
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    new = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(gzip.compress(lines.encode("ascii"), mtime=0))
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error


def read_recording(path: Path) -> Recording:
    """Return what a file holds. Raises InputError naming the row that is damaged."""
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
        raise InputError(f"{path} was written by another version of this program; {ANOTHER}")
    _check(path, number, head, HEAD)
    del head["version"]
    replies, vectors = {}, {}
    for number, row in rest:
        _check(path, number, row, VECTOR if "vector" in row else REPLY)
        key = row.pop("key")
        if key in replies or key in vectors:
            raise InputError(f"{path} is no recording: row {number} repeats the key {key[:12]}")
        if "vector" in row:
            vectors[key] = _vector(path, number, row["vector"])
        else:
            replies[key] = row
    if len(sizes := {vector.size for vector in vectors.values()}) > 1:
        raise InputError(f"{path} is no recording: its vectors have several sizes: {sorted(sizes)}")
    return Recording(Head(**head), replies, vectors, hashlib.sha256(content).hexdigest())


def _row(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no recording: row {number} is no JSON ({error})") from error
    if not isinstance(row, dict):
        raise InputError(f"{path} is no recording: row {number} is no JSON object")
    return row


def _vector(path: Path, number: int, text: str) -> Vector:
    try:
        vector = np.frombuffer(base64.b64decode(text, validate=True), "<f4")
    except (binascii.Error, ValueError) as error:
        raise InputError(f"{path} is no recording: row {number} is no vector ({error})") from error
    if not vector.size or not np.isfinite(vector).all():
        raise InputError(f"{path} is no recording: row {number} is no vector")
    return vector


def _check(path: Path, number: int, row: Mapping[str, Any], kinds: Mapping[str, Kinds]) -> None:
    """Raise InputError where a row has other fields than it must, or one of another kind."""
    for name in sorted(kinds.keys() ^ row.keys()):
        fault = "has no" if name in kinds else "has an unknown"
        raise InputError(f"{path} is no recording: row {number} {fault} '{name}'")
    for name, allowed in kinds.items():
        value = row[name]
        fits = isinstance(value, allowed) and not isinstance(value, bool)
        if not fits or (isinstance(value, int | float) and not 0 <= value <= MOST):
            said = json.dumps(value, ensure_ascii=False)[:40]
            raise InputError(f"{path} is no recording: row {number} has {name}={said}")
