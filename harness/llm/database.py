"""One SQLite file that several threads and processes read and write at once."""

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import HarnessError

BUSY_SECONDS = 60.0
"""How long a process waits for another one's write."""

KEYS_A_STATEMENT = 500

Rows = list[tuple[str, Any]]
Statement = tuple[str, Sequence[Sequence[object]]]
"""SQL, and the rows to run it for."""


class Database:
    """The file at `path`, made with `tables` at the first write; opened when it is needed."""

    def __init__(self, path: Path, tables: str) -> None:
        self.path = path
        self._tables = tables
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def find(self, table: str, column: str, keys: Sequence[str]) -> Rows:
        """Return (key, value) for those of the keys that the table has."""
        rows: Rows = []
        if not self.path.exists():
            return rows
        with self.opened() as connection:
            for start in range(0, len(keys), KEYS_A_STATEMENT):
                some = keys[start : start + KEYS_A_STATEMENT]
                marks = ",".join("?" * len(some))
                rows += connection.execute(
                    f"SELECT key, {column} FROM {table} WHERE key IN ({marks})", some
                )
        return rows

    def write(self, *statements: Statement) -> int:
        """Run the statements as one transaction; return how many rows the first one changed."""
        changed = []
        with self.opened() as connection, connection:
            for sql, rows in statements:
                changed.append(connection.executemany(sql, rows).rowcount)
        return changed[0]

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to this thread alone. Raises HarnessError with the remedy."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = _connect(self.path, self._tables)
                yield self._connection
            except sqlite3.OperationalError as error:
                raise HarnessError(
                    f"{self.path}: {error}; is the disk full, or the folder read-only?"
                ) from error
            except sqlite3.DatabaseError as error:
                raise HarnessError(
                    f"{self.path}: {error}; move the file away to start a new one"
                ) from error

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _connect(path: Path, tables: str) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
    give_up_at = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            # Several processes that make the file at once: SQLite does not wait in this case.
            if "locked" not in str(error) or time.monotonic() > give_up_at:
                raise
            time.sleep(0.02)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.executescript(tables)
    return connection
