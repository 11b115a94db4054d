"""The cache of model calls and the account of what they cost: each is sent once.

One SQLite file that several processes and threads share. Failures are never stored. A row that is
not as it was written is dropped, so that it is asked again. Where a limit of the budget is reached,
a run stops cleanly and can be resumed.
"""

import asyncio
import json
import logging
import shlex
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.errors import BudgetError, ConfigError, HarnessError, NotRecordedError
from harness.llm.messages import cached_completion, canonical
from harness.text import sha256

log = logging.getLogger(__name__)
T = TypeVar("T")
Vector = NDArray[np.float32]

MODES = ("readwrite", "read", "off")

LIMITS = ("calls", "tokens", "usd", "minutes")
"""The limits that a budget may set."""

BUSY_SECONDS = 60.0
"""How long a process waits for the write of another one."""

KEYS_A_STATEMENT = 500

DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Codes of a file that is not, or no longer, a call store."""

Rows = list[tuple[Any, ...]]
Tokens = Mapping[str, tuple[int, int]]
"""Model -> tokens of prompts and of replies."""

_TABLES = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, created REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (
    key TEXT PRIMARY KEY, vector BLOB NOT NULL, created REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sums (key TEXT PRIMARY KEY, sha256 TEXT NOT NULL) WITHOUT ROWID;
"""
"""`sums` has the hash of each row's key and content; rows that are older than it have none."""

_PUT_SUM = "INSERT OR IGNORE INTO sums VALUES (?, ?)"
_DROP_SUMS = (
    "DELETE FROM sums WHERE key NOT IN (SELECT key FROM calls UNION SELECT key FROM vectors)"
)


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a call store."""

    calls: Mapping[str, int]
    """Kind -> how many."""
    vectors: int
    bytes: int
    """On disk."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What the cached calls of one kind took."""

    calls: int
    seconds: float
    """Mean, from sending to the last byte."""
    output_tokens: float | None
    """Mean; None where the endpoint reports none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached call."""

    key: str
    payload: Mapping[str, object]
    created: float
    """Unix time."""


@dataclass
class Price:
    """US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0


@dataclass
class Budget:
    """Limits on calls that are not cached; None is no limit.

    Of tokens and money, the prompts of the requests in flight count as spent, by estimate; replies
    in flight when a limit is reached are still billed. Raises ConfigError for a limit below 0.
    """

    calls: int | None = None
    tokens: int | None = None
    """Of prompts and replies together."""
    usd: float | None = None
    minutes: float | None = None
    prices: dict[str, Price] = field(default_factory=dict)
    """Model -> price; needed where `usd` is set."""

    def __post_init__(self) -> None:
        for name in LIMITS:
            if (limit := getattr(self, name)) is not None and not limit >= 0:
                raise ConfigError(
                    f"budget.{name}={limit:g}: a limit is 0 or more; null is no limit"
                )

    def cost(self, tokens: Tokens) -> float:
        """Return what the tokens cost in US dollars; a model without a price costs nothing.

        >>> Budget(prices={"m": Price(2.0, 8.0)}).cost({"m": (1_000_000, 500_000)})
        6.0
        """
        return sum(
            (read * self.prices[model].input + written * self.prices[model].output) / 1e6
            for model, (read, written) in tokens.items()
            if model in self.prices
        )

    def check(
        self,
        calls: int,
        tokens: Tokens,
        minutes: float,
        model: str,
        counted: bool = True,
        prompt: int = 0,
    ) -> None:
        """Raise BudgetError where too little is left for one more `prompt` (tokens) to `model`.

        Raises ConfigError where money is limited and the model has no price, and where tokens or
        money are limited and its server does not report them (`counted`).
        """
        for name in ("tokens", "usd"):
            if getattr(self, name) is not None and not counted:
                raise ConfigError(
                    f"budget.{name}: the server of {model} reports no token counts, so this limit"
                    " cannot be kept; the answers so far are cached; set budget.calls or"
                    " budget.minutes instead"
                )
        if self.usd is not None and model not in self.prices:
            raise ConfigError(
                f"budget.usd={self.usd:g}, but no price is known for {model};"
                " add it to conf/prices.yaml, in dollars per million tokens"
            )
        used = {
            "calls": (calls, 0.0),
            "tokens": (sum(read + written for read, written in tokens.values()), prompt),
            "usd": (self.cost(tokens), self.cost({model: (prompt, 0)})),
            "minutes": (minutes, 0.0),
        }
        for name, (spent, more) in used.items():
            limit = getattr(self, name)
            if limit is not None and (spent >= limit or spent + more > limit):
                state = "is spent" if spent >= limit else "is too little for the next prompt"
                raise BudgetError(
                    f"budget.{name}={limit:g} {state}; raise it and run the same command to"
                    " resume: cached answers are not requested again"
                )


class Calls:
    """The call store in `folder`, and the account of the calls of this process.

    Args:
        folder: The folder of `calls.sqlite`; None caches nothing.
        mode: readwrite; read (a call that is not cached is an error); off (caches nothing).
        budget: Limits on the calls that are not cached.
        generation: Of the generator's calls; see `Request.generation`.
    """

    def __init__(
        self,
        folder: Path | None,
        mode: str = "readwrite",
        budget: Budget | None = None,
        generation: str = "",
    ) -> None:
        if mode not in MODES:
            raise ConfigError(f"cache must be one of {', '.join(MODES)} (got {mode})")
        self.mode = mode
        self.path = folder / "calls.sqlite" if folder is not None and mode != "off" else None
        self.budget = budget or Budget()
        self.generation = generation
        self.asked = 0
        """Calls that went to an endpoint, each counted once however often it was retried."""
        self.sent = 0
        """HTTP requests that these took: failed attempts are billed too."""
        self.remembered = 0
        """Calls and vectors that came from the cache."""
        self.answers_cached = 0
        """Answers of the generator among them."""
        self.tokens: dict[str, tuple[int, int]] = {}
        """Model -> tokens of prompts and of replies, where they are reported."""
        self.repairs: Counter[str] = Counter()
        """Invalid replies: how many `replies`, and how they were requested again (`more_room`,
        `repair`, `fresh`). Cached ones count like new ones."""
        self.reply_formats: Counter[str] = Counter()
        """New replies that were requested with a schema: how many in each format in force
        (`Structured`), and `ignored`: those that do not have it, so that it is not enforced."""
        self.in_flight: dict[str, asyncio.Event] = {}
        """Key of a call -> set when it is done; used on the shared event loop only."""
        self._prompts: Counter[str] = Counter()
        """Model -> tokens of the prompts in flight, estimated."""
        self._uncounted: set[str] = set()
        """Models whose server reports no token counts."""
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._database = CallDatabase(self.path)

    def get_many(self, keys: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return the cached payloads of those keys that are known."""
        found = self._sound("calls", "payload", keys, payload_of)
        self.recall(len(found))
        return found

    def known(self, keys: Sequence[str]) -> set[str]:
        """Return those keys that are cached, without counting them as read."""
        return {key for key, _ in self._database.find("calls", "kind", keys)}

    def put(self, key: str, kind: str, payload: Mapping[str, object]) -> None:
        """Store a JSON object at once, so that a killed process loses no answer that arrived.

        The first answer to a call stays.
        """
        if self.mode == "readwrite":
            text = canonical(payload)
            row = (key, kind, text, time.time())
            self._database.write(
                ("INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?)", [row]),
                (_PUT_SUM, [(key, row_sum(key, text))]),
            )

    def forget(self, keys: Iterable[str]) -> None:
        """Delete cached calls whose replies turned out to be no answer; `cache=read` keeps them."""
        rows = [(key,) for key in keys]
        if rows and self.mode == "readwrite":
            self._database.write(
                ("DELETE FROM calls WHERE key = ?", rows), ("DELETE FROM sums WHERE key = ?", rows)
            )

    def get_vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of those keys that are known."""
        found = self._sound("vectors", "vector", keys, vector_of)
        self.recall(len(found))
        return found

    def put_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Store vectors as little-endian float32."""
        if self.mode == "readwrite":
            now = time.time()
            rows = [(key, np.asarray(v, "<f4").tobytes(), now) for key, v in vectors.items()]
            self._database.write(
                ("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows),
                (_PUT_SUM, [(key, row_sum(key, blob)) for key, blob, _ in rows]),
            )

    def _sound(
        self, table: str, column: str, keys: Sequence[str], read: Callable[[str, Any, bool], T]
    ) -> dict[str, T]:
        """Return key -> value of the rows that are as they were written; others are dropped."""
        found = {}
        joined = f"{table} LEFT JOIN sums USING (key)"
        for key, value, digest in self._database.find(joined, f"{column}, sha256", keys):
            try:
                if digest is not None and digest != row_sum(key, value):
                    raise ValueError("it is not as it was written")
                found[key] = read(key, value, digest is None)
            except (ValueError, TypeError, RecursionError) as error:
                ignored = self.mode == "read"
                log.warning(
                    "%s: the row %s of %s is damaged and %s (%s)",
                    self.path, key, table, "ignored" if ignored else "dropped", error,
                )  # fmt: skip
                if not ignored:
                    row = [(key,)]
                    self._database.write(
                        (f"DELETE FROM {table} WHERE key = ?", row),
                        ("DELETE FROM sums WHERE key = ?", row),
                    )
        return found

    def about_to_ask(self, model: str, prompt: int = 0) -> None:
        """Count a call that goes to an endpoint, with the tokens of its prompt until `ended`.

        Raises:
            NotRecordedError: The store is read-only (`cache=read`).
            BudgetError: The budget is spent.
        """
        if self.mode == "read":
            raise NotRecordedError(
                f"{model}: the call is not in {self.path}, and cache=read forbids new calls;"
                " use cache=readwrite and a model that can be reached"
            )
        with self._lock:
            minutes = (time.monotonic() - self._started) / 60.0
            counted = model not in self._uncounted
            sums = {
                name: (read + self._prompts[name], written)
                for name, (read, written) in ({model: (0, 0)} | self.tokens).items()
            }
            self.budget.check(self.asked, sums, minutes, model, counted, prompt)
            self.asked += 1
            self._prompts[model] += prompt

    def ended(self, model: str, prompt: int) -> None:
        """Take back what `about_to_ask` counted: the endpoint has counted the prompt itself."""
        with self._lock:
            self._prompts[model] -= prompt

    def about_to_send(self) -> None:
        """Count an HTTP request."""
        with self._lock:
            self.sent += 1

    def answered(self, model: str, input_tokens: int | None, output_tokens: int | None) -> None:
        """Add to the model's tokens."""
        with self._lock:
            if input_tokens is None:
                self._uncounted.add(model)
            read, written = self.tokens.get(model, (0, 0))
            self.tokens[model] = (read + (input_tokens or 0), written + (output_tokens or 0))

    def formatted(self, form: str, replies: int, ignored: int) -> None:
        """Count replies that were requested in a format, and those that do not have it."""
        with self._lock:
            self.reply_formats[form] += replies
            if ignored:
                self.reply_formats["ignored"] += ignored

    def size(self) -> Size:
        """Return the size of the store."""
        kinds = "SELECT kind, count(*) FROM calls GROUP BY kind ORDER BY 1"
        vectors = sum(count for (count,) in self._database.rows("SELECT count(*) FROM vectors"))
        files = self.path.parent.glob(f"{self.path.name}*") if self.path is not None else ()
        size = sum(file.stat().st_size for file in files)
        return Size(dict(self._database.rows(kinds)), vectors, size)

    def usual(self, kind: str) -> Usual | None:
        """Return what a call of this kind (`chat gpt-4o`) took so far; None before the first."""
        sql = (
            "SELECT count(*), avg(json_extract(payload, '$.seconds')),"
            " avg(json_extract(payload, '$.output_tokens')) FROM calls"
            " WHERE kind = ? AND json_valid(payload)"
        )
        found = [Usual(*row) for row in self._database.rows(sql, [kind]) if row[0]]
        return found[0] if found else None

    def entries(self, keys: Sequence[str]) -> list[Entry]:
        """Return the entries of those keys that are known, by key."""
        created: dict[str, float] = dict(self._database.find("calls", "created", keys))
        payloads = self._sound("calls", "payload", keys, payload_of)
        return [Entry(key, payload, created[key]) for key, payload in sorted(payloads.items())]

    def prune(self, before: float | None = None, kind: str | None = None) -> int:
        """Delete what was stored earlier than `before` (Unix time), of that kind if given.

        `chat` means the calls of every chat model, `chat gpt-4o` those of one, `vector` the
        embeddings. Without arguments everything is deleted. Returns the number of entries deleted.
        """
        if self.path is None or not self.path.exists():
            return 0
        before = time.time() + 1.0 if before is None else before
        of_kind = "(?2 IS NULL OR kind = ?2 OR substr(kind, 1, length(?2) + 1) = ?2 || ' ')"
        deleted = self._database.write(
            (f"DELETE FROM calls WHERE created < ?1 AND {of_kind}", [(before, kind)])
        )
        if kind is None or kind == "vector":
            deleted += self._database.write(("DELETE FROM vectors WHERE created < ?", [(before,)]))
        self._database.write((_DROP_SUMS, [()]))
        self._database.rows("VACUUM")
        return deleted

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._database.close()

    def answer_cached(self) -> None:
        """Count an answer of the generator that came from the cache."""
        with self._lock:
            self.answers_cached += 1

    def recall(self, count: int) -> None:
        """Count calls that the cache answered."""
        with self._lock:
            self.remembered += count


def row_sum(key: str, content: Any) -> str:
    """Return the first 128 bits of the SHA-256 of a row, in hex."""
    data = content if isinstance(content, bytes) else str(content).encode("utf-8", "replace")
    return sha256(key.encode("utf-8", "replace") + data)[:32]


def payload_of(key: str, text: Any, unproven: bool) -> dict[str, object]:
    """Return the JSON object of a row; raise ValueError or TypeError where it is not a completion.

    Only a row without a hash is `unproven`.
    """
    payload: dict[str, object] = json.loads(text)
    if unproven and not isinstance(cached_completion(key, payload).text, str):
        raise ValueError("it has no text")
    return payload


def vector_of(_: str, blob: Any, unproven: bool) -> Vector:
    """Return the vector of a row; raise ValueError where it is not one."""
    vector: Vector = np.frombuffer(blob, "<f4")
    if unproven and not (np.isfinite(vector).all() and vector.any()):
        raise ValueError("it is not a vector, or of length zero")
    return vector


class CallDatabase:
    """The SQLite file at `path`, which several threads and processes read and write at once.

    It is created at the first write, and opened when it is needed. Without a path it is empty, and
    stays so.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def rows(self, sql: str, values: Sequence[object] = ()) -> Rows:
        """Return the rows that a statement yields; none where there is no file."""
        if self.path is None or not self.path.exists():
            return []
        with self._opened(self.path) as connection:
            return connection.execute(sql, values).fetchall()

    def find(self, table: str, column: str, keys: Sequence[str]) -> Rows:
        """Return (key, value) for those keys that the table has; of several columns, all values."""
        rows: Rows = []
        for start in range(0, len(keys), KEYS_A_STATEMENT):
            some = keys[start : start + KEYS_A_STATEMENT]
            marks = ",".join("?" * len(some))
            rows += self.rows(f"SELECT key, {column} FROM {table} WHERE key IN ({marks})", some)
        return rows

    def write(self, *statements: tuple[str, Sequence[Sequence[object]]]) -> int:
        """Run each statement for its rows, as one transaction; return how many rows changed."""
        if self.path is None:
            return 0
        with self._opened(self.path) as connection, connection:
            return sum(connection.executemany(sql, rows).rowcount for sql, rows in statements)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[sqlite3.Connection]:
        """Yield the connection to this thread alone. Raises HarnessError with the remedy."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = _connect(path)
                yield self._connection
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                remedy = "is the disk full, or the folder read-only?"
                if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in DAMAGED:
                    moved = shlex.join(["mv", str(path), f"{path}.damaged"])
                    remedy = f"move the file away and run the same command again: {moved}"
                raise HarnessError(f"{path}: {error}; {remedy}") from error

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    give_up_at = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            # Several processes create the file at once: SQLite does not wait in this case.
            if "locked" not in str(error) or time.monotonic() > give_up_at:
                raise
            time.sleep(0.02)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.executescript(_TABLES)
    return connection
