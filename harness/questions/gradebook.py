"""A file of grades that is added to: what was said is on the disk before the next is asked."""

import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic

from harness.questions.grades import G, parted, read_rows

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Gradebook(Generic[G]):
    """The grades of a test set. Two people, or two processes, may write at the same time."""

    path: Path
    kind: type[G]

    def read(self) -> list[G]:
        """Return every grade, in the order they were given."""
        return read_rows(self.path, self.kind)

    def add(self, grades: Sequence[G]) -> None:
        """Append grades; when this returns they survive a crash of the machine."""
        if not grades:
            return
        with self.locked():
            end = self.heal()
            with self.path.open("ab") as stream:
                stream.write(end + b"".join(map(line, grades)))
                stream.flush()
                os.fsync(stream.fileno())

    def take_back(self, grade: G) -> None:
        """Remove a grade's last line, where it is still there."""
        with self.locked():
            kept = self.read()
            if grade in kept:
                del kept[len(kept) - 1 - kept[::-1].index(grade)]
                self.replace(kept)

    def merge(self, others: Iterable[G]) -> int:
        """Add the grades that are not there yet, all in the order of their time; say how many.

        The order counts where both files hold words of the same grader: the last is the one
        in force. A grade without a time comes before those with one.
        """
        with self.locked():
            mine = dict.fromkeys(self.read())
            both = {**mine, **dict.fromkeys(others)}
            if len(both) > len(mine):
                self.replace(sorted(both, key=lambda grade: grade.time or ""))
            return len(both) - len(mine)

    def heal(self) -> bytes:
        """Cut off what a crash left of a last line; return the line end that is missing."""
        if not self.path.exists():
            write_durably(self.path, b"")
        content = self.path.read_bytes()
        whole, torn = parted(content)
        if torn:
            log.warning("%s: a last line cut short by a crash is taken out", self.path)
            write_durably(self.path, whole)
        return b"\n" if whole and not whole.endswith(b"\n") else b""

    def replace(self, grades: Iterable[G]) -> None:
        """Write the whole file anew, or leave it as it is."""
        write_durably(self.path, b"".join(map(line, grades)))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing at the same time."""
        from filelock import FileLock

        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_name(f".{self.path.name}.lock")):
            yield


def line(grade: G) -> bytes:
    """Return a grade as a line of the file; `null` is written only where it says 'unclear'."""
    row = {k: v for k, v in asdict(grade).items() if v is not None or k == "grade"}
    return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def write_durably(path: Path, content: bytes) -> None:
    """Write a file so that a crash, even of the machine, leaves the old content or the new."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
