"""A run folder: rows <-> Parquet, `run.json` last. Nobody else opens `runs/`."""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from harness.errors import RunError, pick
from harness.records import Passage, Response, Score, Verdict

log = logging.getLogger(__name__)

VERSION = 1
"""Of the files at rest; raised whenever an older reader would misread them."""

PASSAGE = pa.struct(
    [
        ("id", pa.string()),
        ("document", pa.string()),
        ("page", pa.int32()),
        ("origin", pa.string()),
        ("text", pa.string()),
        ("similarity", pa.float64()),
    ]
)
RESPONSES = pa.schema(
    [
        ("user_input", pa.string()),
        ("retrieved_contexts", pa.list_(pa.string())),
        ("response", pa.string()),
        ("reference", pa.string()),
        ("question_id", pa.string()),
        ("repeat", pa.int32()),
        ("source", pa.string()),
        ("retrieved_context_ids", pa.list_(pa.string())),
        ("passages", pa.list_(PASSAGE)),
        ("k_requested", pa.int32()),
        ("k_returned", pa.int32()),
        ("corpus_size", pa.int32()),
        ("finish_reason", pa.string()),
        ("retrieval_seconds", pa.float64()),
        ("generation_seconds", pa.float64()),
        ("input_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("error", pa.string()),
    ]
)
DERIVED = ("retrieved_contexts", "retrieved_context_ids", "k_returned")
"""Columns that repeat what `passages` says, for tools that open the file as it is."""

VERDICTS = pa.schema(
    [
        ("judge", pa.string()),
        ("question_id", pa.string()),
        ("repeat", pa.int32()),
        ("check", pa.string()),
        ("item", pa.int32()),
        ("against", pa.int32()),
        ("text", pa.string()),
        ("label", pa.int8()),
        ("similarity", pa.float64()),
        ("reason", pa.string()),
        ("error", pa.string()),
        ("call", pa.string()),
    ]
)
SCORES = pa.schema(
    [
        ("question_id", pa.string()),
        ("repeat", pa.int32()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("units", pa.int32()),
        ("status", pa.string()),
        ("judge", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Run:
    """One variant collected on one test set: a folder."""

    path: Path

    @property
    def name(self) -> str:
        """The folder's name, which is a pure function of what was run."""
        return self.path.name

    @property
    def finished(self) -> bool:
        """A folder without `run.json` is not a run yet."""
        return (self.path / "run.json").is_file()

    def facts(self) -> dict[str, Any]:
        """Return what `run.json` says."""
        if not self.finished:
            raise RunError(f"{self.path} is not a finished run; collect it again to continue it")
        facts: dict[str, Any] = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        if facts.get("version_of_files") != VERSION:
            raise RunError(
                f"{self.path}/run.json was written by another version of the harness "
                f"({facts.get('version_of_files')}, this one reads {VERSION}); "
                "collect the run again under a new version=..."
            )
        return facts

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Write `run.json`: from now on the folder is a run."""
        text = json.dumps(
            {"version_of_files": VERSION, **facts}, ensure_ascii=False, indent=1, allow_nan=False
        )
        write_whole(self.path / "run.json", text.encode())

    def responses(self) -> list[Response]:
        """Return the answers, in the order of the test set; none where nothing was asked yet."""
        return [response_from(row) for row in self.rows("responses", RESPONSES)]

    def write_responses(self, responses: Sequence[Response]) -> None:
        """Write all answers at once; a text that UTF-8 cannot hold has the bad half replaced."""
        self.write("responses", RESPONSES, [response_row(response) for response in responses])

    def verdicts(self, judge: str | None = None) -> list[Verdict]:
        """Return the labels of one judge, or of all."""
        rows = self.rows("verdicts", VERDICTS)
        return [Verdict(**row) for row in rows if judge in (None, row["judge"])]

    def scores(self, judge: str | None = None) -> list[Score]:
        """Return the scores of one judge (with those that need none), or of all."""
        rows = self.rows("scores", SCORES)
        return [Score(**row) for row in rows if judge is None or row["judge"] in (None, judge)]

    def judges(self) -> dict[str, Any]:
        """Return what shaped each judge's labels: label in the judge column -> identity."""
        path = self.path / "scores.parquet"
        if not path.exists():
            return {}
        metadata = pq.read_schema(path).metadata or {}
        judges: dict[str, Any] = json.loads(metadata.get(b"judges", b"{}"))
        return judges

    def write_evaluation(
        self,
        judge: str,
        identity: Mapping[str, Any],
        verdicts: Sequence[Verdict],
        scores: Sequence[Score],
    ) -> None:
        """Write one judge's verdicts and scores beside those of other judges.

        What the same judge said of other questions, checks and metrics stays too, unless
        something that shapes its labels has changed since.
        """
        judges = self.judges()
        unchanged = judges.get(judge) == json.loads(json.dumps(identity))
        checks = {(v.question_id, v.repeat, v.check) for v in verdicts}
        cells = {(s.question_id, s.repeat, s.metric) for s in scores}
        kept_verdicts = [
            v
            for v in self.verdicts()
            if v.judge != judge or (unchanged and (v.question_id, v.repeat, v.check) not in checks)
        ]
        kept_scores = [
            s
            for s in self.scores()
            if s.judge not in (None, judge)
            or ((unchanged or s.judge is None) and (s.question_id, s.repeat, s.metric) not in cells)
        ]
        metadata = {"judges": json.dumps({**judges, judge: identity}, ensure_ascii=False)}
        self.write("verdicts", VERDICTS, [asdict(v) for v in [*kept_verdicts, *verdicts]], metadata)
        self.write("scores", SCORES, [asdict(s) for s in [*kept_scores, *scores]], metadata)

    def rows(self, table: str, schema: pa.Schema) -> list[dict[str, Any]]:
        """Return a table's rows, none where it was not written; lists come back as lists."""
        path = self.path / f"{table}.parquet"
        if not path.exists():
            return []
        # A dataset, which `read_table` makes of a file, loads pandas: half a second.
        with pq.ParquetFile(path) as file:
            found = file.read()
        version = (found.schema.metadata or {}).get(b"harness", b"none").decode()
        if version != str(VERSION) or not found.schema.equals(schema):
            raise RunError(
                f"{path} was written by another version of the harness ({version}, this one "
                f"reads {VERSION}); it is left as it is: collect under a new version=..."
            )
        rows: list[dict[str, Any]] = found.to_pylist()
        return rows

    def write(
        self,
        table: str,
        schema: pa.Schema,
        rows: list[dict[str, Any]],
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Write a table as a whole or not at all, with its schema spelled out."""
        stamped = schema.with_metadata({"harness": str(VERSION), **(metadata or {})})
        self.path.mkdir(parents=True, exist_ok=True)
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist([mended(row) for row in rows], stamped), sink)
        write_whole(self.path / f"{table}.parquet", sink.getvalue().to_pybytes())

    def reopen(self) -> None:
        """Make a run unfinished again, and forget scores of answers that may change."""
        for name in ("run.json", "scores.parquet", "verdicts.parquet"):
            (self.path / name).unlink(missing_ok=True)

    def copy_in(self, file: Path, name: str) -> None:
        """Copy a file into the run, so that its folder can be read on its own."""
        write_whole(self.path / name, file.read_bytes())

    def captions(self) -> list[dict[str, Any]]:
        """Return what the index was told about each figure; none where no figure was captioned.

        `picture` names the file of the figure: `file(row["picture"])`.
        """
        text = self.file("captions.jsonl")
        return [json.loads(line) for line in (text or b"").decode().split("\n") if line.strip()]

    def file(self, name: str) -> bytes | None:
        """Return a file of the run as it is; None where it is not there."""
        path = (self.path / name).resolve()
        inside = path.is_relative_to(self.path.resolve())
        return path.read_bytes() if inside and path.is_file() else None

    def write_text(self, name: str, text: str) -> None:
        """Write a file that people read, beside the tables."""
        write_whole(self.path / name, text.encode("utf-8", "replace"))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from collecting the same run at the same time."""
        from filelock import FileLock

        locks = self.path.parent / ".locks"
        locks.mkdir(parents=True, exist_ok=True)
        with FileLock(locks / f"{self.name}.lock"):
            yield

    def set_aside(self) -> "Run":
        """Move a run out of the way under the next free name `<name>.old-<n>`, and return it."""
        number = 1
        while (moved := self.path.with_name(f"{self.name}.old-{number}")).exists():
            number += 1
        self.path.rename(moved)
        return Run(moved)


def finished_runs(folder: Path) -> list[Run]:
    """Return the runs of a study's folder, by name; old ones that were set aside are left out."""
    if not folder.is_dir():
        return []
    runs = [Run(path) for path in sorted(folder.iterdir()) if ".old-" not in path.name]
    return [run for run in runs if run.finished]


def chosen_runs(folder: Path, names: Sequence[str]) -> list[Run]:
    """Return the finished runs of a study's folder that are named, all where none is."""
    runs = {run.name: run for run in finished_runs(folder)}
    if not runs:
        raise RunError(
            f"{folder} holds no finished run; collect one: python -m harness.collect variant=..."
        )
    return [pick(runs, name, "run") for name in dict.fromkeys(names)] or list(runs.values())


def response_row(response: Response) -> dict[str, Any]:
    """Return a response as a row of `responses.parquet`."""
    row = asdict(response)
    for passage in response.passages:
        if not isinstance(passage.text, str):
            raise RunError(
                f"question '{response.question_id}': passage '{passage.id}' has no text; "
                "a system must hand back text, never null"
            )
    row["passages"] = [asdict(passage) for passage in response.passages]
    row["retrieved_contexts"] = [passage.text for passage in response.passages]
    row["retrieved_context_ids"] = [passage.id for passage in response.passages]
    row["k_returned"] = response.k_returned
    return row


def response_from(row: Mapping[str, Any]) -> Response:
    """Return the response that a row of `responses.parquet` holds."""
    kept = {key: value for key, value in row.items() if key not in DERIVED}
    return Response(**{**kept, "passages": tuple(Passage(**p) for p in row["passages"])})


def mended(value: Any) -> Any:
    """Return the value with halves of surrogate pairs replaced: UTF-8 cannot hold them."""
    if isinstance(value, str):
        return value if is_utf8(value) else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [mended(entry) for entry in value]
    if isinstance(value, dict):
        return {key: mended(entry) for key, entry in value.items()}
    return value


def is_utf8(text: str) -> bool:
    """Say whether the text holds no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, never meets half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(path)
