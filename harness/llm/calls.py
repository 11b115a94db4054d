"""Every model call, remembered by its content: asked once, whatever is rerun.

One file that several processes and threads share. Failures are never stored.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError, NotRecordedError
from harness.llm.budget import Budget, Spent
from harness.llm.database import Database
from harness.llm.keys import canonical
from harness.llm.leases import TABLE, Leases

Vector = NDArray[np.float32]

MODES = ("readwrite", "read", "off")

_TABLES = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, created REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (
    key TEXT PRIMARY KEY, vector BLOB NOT NULL, created REAL NOT NULL
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Size:
    """What a call store holds."""

    calls: Mapping[str, int]
    """Kind -> how many."""
    vectors: int
    bytes: int
    """On disk."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What the remembered calls of one kind took."""

    calls: int
    seconds: float
    """Mean, from sending to the last byte."""
    output_tokens: float | None
    """Mean; None where the endpoint counts none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A remembered call."""

    key: str
    payload: Mapping[str, object]
    created: float
    """Unix time."""


class Calls:
    """The call store in `folder`, and the account of what this process asked.

    Args:
        folder: Where `calls.sqlite` lies; None remembers nothing.
        mode: readwrite; read (what is not stored may not be asked); off (asks everything).
        budget: What may be spent on calls that are not remembered.
    """

    def __init__(
        self, folder: Path | None, mode: str = "readwrite", budget: Budget | None = None
    ) -> None:
        if mode not in MODES:
            raise ConfigError(f"cache={mode} cannot be; allowed: {', '.join(MODES)}")
        self.mode = mode
        self.path = folder / "calls.sqlite" if folder is not None and mode != "off" else None
        self.budget = budget or Budget()
        self.asked = 0
        """Calls that went to an endpoint, each counted once however often it was tried."""
        self.sent = 0
        """HTTP requests that these took: tries that failed are paid for too."""
        self.remembered = 0
        """Calls and vectors that the store answered."""
        self.tokens: dict[str, tuple[int, int]] = {}
        """Model -> tokens of prompts and of replies, as far as they are reported."""
        self.repairs: Counter[str] = Counter()
        """Replies that could not be used as they came: how many `replies`, and how they were asked
        for again (`more_room`, `repair`, `fresh`). Remembered ones count like those asked now."""
        self._untold: set[str] = set()
        """Models whose server counts no tokens."""
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._database = Database(self.path, _TABLES + TABLE) if self.path is not None else None

    @property
    def spent(self) -> Spent:
        """What this process has asked for so far."""
        minutes = (time.monotonic() - self._started) / 60.0
        return Spent(self.asked, self.tokens, minutes)

    def get_many(self, keys: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return what was stored, for those of the keys that are known."""
        if self._database is None:
            return {}
        found = {k: json.loads(text) for k, text in self._database.find("calls", "payload", keys)}
        self.recall(len(found))
        return found

    def known(self, keys: Sequence[str]) -> set[str]:
        """Return those of the keys under which something is stored; none counts as recalled."""
        if self._database is None:
            return set()
        return {key for key, _ in self._database.find("calls", "kind", keys)}

    def put(self, key: str, kind: str, payload: Mapping[str, object]) -> None:
        """Store a JSON object; at once, so that a killed process loses nothing that came.

        The first answer to a call stays. A lease of the call ends with it.
        """
        if self._database is None or self.mode != "readwrite":
            return
        row = (key, kind, canonical(payload), time.time())
        self._database.write(
            ("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?)", [row]),
            ("DELETE FROM leases WHERE key = ?", [(key,)]),
        )

    def get_vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors, for those of the keys that are known."""
        if self._database is None:
            return {}
        rows = self._database.find("vectors", "vector", keys)
        self.recall(len(rows))
        return {key: np.frombuffer(blob, "<f4") for key, blob in rows}

    def put_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Store vectors as little-endian float32."""
        if self._database is None or self.mode != "readwrite":
            return
        now = time.time()
        rows = [(key, np.asarray(v, "<f4").tobytes(), now) for key, v in vectors.items()]
        self._database.write(("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows))

    def about_to_ask(self, model: str) -> None:
        """Count a call that goes to an endpoint.

        Raises:
            NotRecordedError: The store may only be read.
            BudgetError: There is nothing left to spend.
        """
        if self.mode == "read":
            raise NotRecordedError(
                f"{model}: a call that is not in {self.path}, and cache=read forbids asking;"
                " use cache=readwrite and a model that answers"
            )
        with self._lock:
            self.budget.check(self.spent, model, model not in self._untold)
            self.asked += 1

    def about_to_send(self) -> None:
        """Count an HTTP request."""
        with self._lock:
            self.sent += 1

    def answered(self, model: str, input_tokens: int | None, output_tokens: int | None) -> None:
        """Add to the model's tokens."""
        with self._lock:
            if input_tokens is None:
                self._untold.add(model)
            read, written = self.tokens.get(model, (0, 0))
            self.tokens[model] = (read + (input_tokens or 0), written + (output_tokens or 0))

    def new_leases(self) -> Leases:
        """Return a new holder of calls on their way."""
        return Leases(self._database if self.mode == "readwrite" else None)

    def size(self) -> Size:
        """Return how much the store holds."""
        if self._database is None or not self._database.path.exists():
            return Size({}, 0, 0)
        path = self._database.path
        with self._database.opened() as connection:
            kinds = connection.execute("SELECT kind, count(*) FROM calls GROUP BY kind ORDER BY 1")
            vectors = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
            files = path.parent.glob(path.name + "*")
            return Size(dict(kinds), vectors, sum(file.stat().st_size for file in files))

    def usual(self, kind: str) -> Usual | None:
        """Return what a call of this kind (`chat gpt-4o`) took so far; None before the first."""
        if self._database is None or not self._database.path.exists():
            return None
        with self._database.opened() as connection:
            count, seconds, tokens = connection.execute(
                "SELECT count(*), avg(json_extract(payload, '$.seconds')),"
                " avg(json_extract(payload, '$.output_tokens')) FROM calls WHERE kind = ?",
                [kind],
            ).fetchone()
        return Usual(count, seconds, tokens) if count else None

    def entries(self, keys: Sequence[str]) -> list[Entry]:
        """Return what is stored under those of the keys that are known, by key."""
        if self._database is None:
            return []
        payloads = dict(self._database.find("calls", "payload", keys))
        times = dict(self._database.find("calls", "created", keys))
        return [Entry(key, json.loads(payloads[key]), times[key]) for key in sorted(payloads)]

    def prune(self, before: float | None = None, kind: str | None = None) -> int:
        """Forget what was stored earlier than `before` (Unix time), of that kind if named.

        `chat` means the calls of every chat model, `chat gpt-4o` those of one, `vector` the
        embeddings. With nothing named everything goes. Returns how many entries went.
        """
        if self._database is None or not self._database.path.exists():
            return 0
        before = time.time() + 1.0 if before is None else before
        of_kind = "(?2 IS NULL OR kind = ?2 OR substr(kind, 1, length(?2) + 1) = ?2 || ' ')"
        gone = self._database.write(
            (f"DELETE FROM calls WHERE created < ?1 AND {of_kind}", [(before, kind)])
        )
        if kind is None or kind == "vector":
            gone += self._database.write(("DELETE FROM vectors WHERE created < ?", [(before,)]))
        with self._database.opened() as connection:
            connection.execute("VACUUM")
        return gone

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._database is not None:
            self._database.close()

    def recall(self, count: int) -> None:
        """Count calls that were answered without asking."""
        with self._lock:
            self.remembered += count
