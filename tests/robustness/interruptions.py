"""Commands that are killed, run twice at once, or cannot write: nothing is lost, nothing differs.

A scene is a study from its documents to its scores: `collect` asks a generator and an embedder,
`evaluate` a judge, and one stub is all three.
"""

import ctypes
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.benchmarks.judge_stub import in_good_faith
from tests.conftest import ROOT, Done
from tests.robustness.bench import settings
from tests.stub_endpoint import Received, StubEndpoint
from tests.written import chance

MEASURED = ("retrieval_seconds", "generation_seconds")
"""Columns that no two runs share, killed or not."""

AT_ONCE = 4
"""Requests in flight: what a kill may cost a second time."""

DROP_FROM_BOUNDING_SET, DAC_OVERRIDE = 24, 1
"""`prctl` and the capability by which root writes where the mode of a folder forbids it."""


def reply(received: Received) -> str:
    """Answer as the judge or as the generator."""
    if str(received.messages[-1]["content"]).startswith("{"):
        return in_good_faith(received)
    return f"塔高{int(100 * chance(received.prompt))}公尺。依資料所述。"


@dataclass(frozen=True)
class Scene:
    """A study in a folder of its own, and the stub that serves it."""

    folder: Path
    stub: StubEndpoint

    def write(self, questions: int) -> None:
        """Write the documents and the questions."""
        towers = [f"{n}號塔高{20 + n}公尺。{n}號塔於19{10 + n}年啟用。" for n in range(questions)]
        (self.folder / "towers.md").write_text("\n\n".join(towers), encoding="utf-8")
        asked = [
            {"id": f"q{n}", "question": f"{n}號塔有多高？", "reference": f"{20 + n}公尺。"}
            for n in range(questions)
        ]
        lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in asked)
        (self.folder / "questions.jsonl").write_text(lines, encoding="utf-8")

    def words(self, command: str) -> list[str]:
        """Return the settings of one of the two commands."""
        url = self.stub.base_url
        if command == "evaluate":
            return settings(self.folder / "runs", url, f"judge.chat.concurrency={AT_ONCE}")
        return [
            *("variant=text_k4", "study=demo_baseline", "study.name=written"),
            *(f"root={self.folder / 'runs'}", f"study.corpus=[{self.folder / 'towers.md'}]"),
            *(f"study.testset={self.folder / 'questions.jsonl'}", "variant.index.chunk_size=40"),
            *("chat=openai", "variant.chat.model=stub", f"variant.chat.base_url={url}"),
            *(f"variant.chat.concurrency={AT_ONCE}", "embedder=openai"),
            *("variant.embedder.model=stub", f"variant.embedder.base_url={url}"),
            *("variant.embedder.query_prefix=''", "variant.embedder.passage_prefix=''"),
        ]

    def start(self, command: str, **options: Any) -> "subprocess.Popen[str]":
        """Start a command in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", f"harness.{command}", *self.words(command)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def run(self, command: str, **options: Any) -> Done:
        """Run a command to its end."""
        return ended(self.start(command, **options))

    def tables(self) -> dict[str, Any]:
        """Return the bytes of labels and scores, and the answers without the measured times."""
        found: dict[str, Any] = {}
        for file in sorted((self.folder / "runs" / "written").glob("*/*s.parquet")):
            name = str(file.relative_to(self.folder))
            found[name] = (
                pq.read_table(file).drop_columns(list(MEASURED)).to_pylist()
                if file.stem == "responses"
                else file.read_bytes()
            )
        return found


@contextmanager
def scene(stub: StubEndpoint, questions: int) -> Iterator[Scene]:
    """Give a new scene, served by the stub."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        found = Scene(Path(folder), stub)
        found.write(questions)
        yield found


def ended(process: "subprocess.Popen[str]") -> Done:
    """Wait for a process and return how it ended."""
    out, error = process.communicate()
    return Done(process.returncode, out, error)


def problem(done: Done, fails: bool = False) -> str:
    """Return what is wrong with the way a command ended; empty where nothing is.

    Args:
        done: How it ended.
        fails: Whether it has to fail, with one line.
    """
    if "Traceback" in done.stderr:
        return f"traceback: {done.stderr.strip().splitlines()[-1]}"
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    if done.returncode and len(errors) != 1:
        return f"{len(errors)} error lines: {done.stderr.strip()[-300:]}"
    if bool(done.returncode) is not fails:
        return f"exit {done.returncode}: {done.stderr.strip()[-300:]}"
    return ""


def whole(stub: StubEndpoint, questions: int) -> dict[str, Any]:
    """Return the tables of a study that nothing interrupted, and its requests by command."""
    with scene(stub, questions) as found:
        needed = {}
        for command in COMMANDS:
            before = len(stub.received)
            done = found.run(command)
            assert not problem(done), done
            needed[command] = len(stub.received) - before
        return {"tables": found.tables(), "needed": needed}


COMMANDS = ("collect", "evaluate")


def kills(times: int = 10, questions: int = 12, seed: int = 7) -> dict[str, Any]:
    """Kill each command `times` times at random moments, then let it end.

    A moment is a number of requests since the command began, up to the last, and up to 0.3 s
    after that request: in between calls, while answers are stored and while tables are written.
    """
    draw = random.Random(seed)
    with StubEndpoint(reply, latency=0.02) as stub:
        right = whole(stub, questions)
        repeated, problems = 0, []
        with scene(stub, questions) as found:
            for command in COMMANDS:
                before, needed = len(stub.received), right["needed"][command]
                for _ in range(times):
                    process = found.start(command)
                    goal = len(stub.received) + draw.randrange(needed // times + 1)
                    while len(stub.received) < goal and process.poll() is None:
                        time.sleep(0.002)
                    time.sleep(draw.uniform(0.0, 0.3))
                    process.send_signal(signal.SIGKILL)
                    ended(process)
                problems += [said for said in [problem(found.run(command))] if said]
                repeated += len(stub.received) - before - needed
            return {
                "kills": times * len(COMMANDS),
                "repeated_requests": repeated,
                "repeated_at_most": times * len(COMMANDS) * 2 * AT_ONCE,
                "same_tables": found.tables() == right["tables"],
                "problems": problems,
            }


def two(questions: int = 12) -> dict[str, Any]:
    """Run each command in two processes at once."""
    with StubEndpoint(reply, latency=0.02) as stub:
        right = whole(stub, questions)
        problems = []
        with scene(stub, questions) as found:
            for command in COMMANDS:
                both = [found.start(command) for _ in range(2)]
                problems += [said for each in both if (said := problem(ended(each)))]
            return {"same_tables": found.tables() == right["tables"], "problems": problems}


def limited(size: int) -> Callable[[], None]:
    """Return what limits the files that a child process writes to a number of bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def disk_full(sizes: tuple[int, ...] = (0, 2_000, 20_000, 60_000, 200_000)) -> dict[str, Any]:
    """Run each command while no file may grow beyond a size, then without that limit."""
    problems, failed = [], 0
    with StubEndpoint(reply) as stub:
        right = whole(stub, 6)
        same = True
        for size in sizes:
            with scene(stub, 6) as found:
                for command in COMMANDS:
                    done = found.run(command, preexec_fn=limited(size))
                    failed += done.returncode != 0
                    problems += said(f"{command} at {size} bytes", done, done.returncode != 0)
                    problems += said(f"{command} after {size} bytes", found.run(command))
                same = same and found.tables() == right["tables"]
    return {"failed": failed, "same_tables": same, "problems": problems}


def full_tmpfs(free: tuple[int, ...] = (0, 30_000, 100_000, 400_000)) -> dict[str, Any]:
    """Run each command on a file system with a few bytes left, then with room again.

    Needs the right to mount; without it the result says so.
    """
    problems, failed, same = [], 0, True
    with StubEndpoint(reply) as stub:
        right = whole(stub, 6)
        for left in free:
            with scene(stub, 6) as found:
                runs = found.folder / "runs"
                runs.mkdir()
                mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(runs)]
                if subprocess.run(mount, capture_output=True, check=False).returncode:
                    return {"mountable": False}
                try:
                    filler = runs / "filler"
                    for command in COMMANDS:
                        fill(filler, left)
                        done = found.run(command)
                        failed += done.returncode != 0
                        problems += said(f"{command}, {left} left", done, done.returncode != 0)
                        filler.unlink()
                        problems += said(f"{command}, after {left} left", found.run(command))
                    same = same and found.tables() == right["tables"]
                finally:
                    subprocess.run(["umount", str(runs)], check=True)
    return {"mountable": True, "failed": failed, "same_tables": same, "problems": problems}


def fill(file: Path, left: int) -> None:
    """Write a file that leaves so many bytes free, to the next block."""
    file.write_bytes(b"x" * max(0, shutil.disk_usage(file.parent).free - left))


def said(where: str, done: Done, fails: bool = False) -> list[str]:
    """Return the problem of a command, if there is one, with its place."""
    found = problem(done, fails)
    return [f"{where}: {found}"] if found else []


def plain() -> None:
    """Take from root the right to write everywhere; no other user has it."""
    if os.getuid() == 0:
        ctypes.CDLL(None).prctl(DROP_FROM_BOUNDING_SET, DAC_OVERRIDE, 0, 0, 0)


def read_only() -> dict[str, Any]:
    """Run each command where it may write nothing, then where it may."""
    problems = []
    with StubEndpoint(reply) as stub:
        right = whole(stub, 6)
        with scene(stub, 6) as found:
            for command in COMMANDS:
                folders = [found.folder, *filter(Path.is_dir, found.folder.rglob("*"))]
                for folder in folders:
                    folder.chmod(0o555)
                problems += said(
                    f"{command}, read-only", found.run(command, preexec_fn=plain), fails=True
                )
                for folder in folders:
                    folder.chmod(0o755)
                problems += said(f"{command}, writable", found.run(command))
            return {"same_tables": found.tables() == right["tables"], "problems": problems}
