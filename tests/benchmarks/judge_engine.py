"""What the judge engine takes, whole processes against a stub in a process of its own.

    python -m tests.benchmarks.judge_engine --json           all; some ten minutes
    python -m tests.benchmarks.judge_engine --only latency faults

48 answers of the article's shape, four metrics: 265 calls. The judge is sent 264, 8 of them by
design, as the claims of a reference are needed before they are compared with passages; three
reverse questions about an answer are one call. One goes to the embedder. Not a timed test: the
figures depend on the machine, and on what else runs on it.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.judge_stub import in_good_faith
from tests.stub_endpoint import StubEndpoint
from tests.written import VARIANTS, article

PROJECT = Path(__file__).parents[2]
METRICS = "metrics=[ragas]"
AT_ONCE = "judge.chat.concurrency=16"
KILLS = 5


@dataclass(frozen=True)
class Ended:
    """How an evaluation ended, and what it took."""

    calls: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    output: str

    @property
    def na(self) -> int:
        """Cells without a score."""
        cells = [map(int, found) for found in re.findall(r"(\d+) of (\d+) cells", self.output)]
        return sum(of - scored for scored, of in cells)


@contextmanager
def stub_process(*options: str) -> Iterator[str]:
    """Give the address of a stub in a process of its own."""
    words = [sys.executable, "-m", "tests.benchmarks.judge_stub", *options]
    with subprocess.Popen(
        words, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as stub:
        assert stub.stdout is not None
        assert stub.stdin is not None
        yield stub.stdout.readline().strip()
        stub.stdin.close()


@contextmanager
def study(questions: int = 8) -> Iterator[Path]:
    """Give the root of a study of the article's shape."""
    with tempfile.TemporaryDirectory() as folder:
        article(Path(folder) / "written", questions)
        yield Path(folder)


def start(root: Path, url: str, *words: str) -> "subprocess.Popen[str]":
    """Start an evaluation with the stub as judge and as its embedder."""
    settings = [
        *(f"root={root}", "study.name=written", "judge=chat", "judge.language=zh_hant", METRICS),
        *(f"judge.chat.base_url={url}", "judge.chat.model=stub", "judge.chat.concurrency=64"),
        *("embedder@judge.embedder=openai", "judge.embedder.model=stub"),
        *(f"judge.embedder.base_url={url}", "judge.embedder.query_prefix=''"),
        "judge.embedder.passage_prefix=''",
    ]
    command = [sys.executable, "-m", "harness.evaluate", *settings, *words]
    return subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)


def evaluated(root: Path, url: str, *words: str) -> Ended:
    """Run an evaluation to its end."""
    started = time.perf_counter()
    process = start(root, url, *words)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, output
    asked = re.search(r"calls: (\d+) asked", output)
    return Ended(
        calls=int(asked[1]) if asked else 0,
        seconds=round(time.perf_counter() - started, 2),
        cpu_seconds=round(used.ru_utime + used.ru_stime, 2),
        peak_mb=round(used.ru_maxrss / 1024, 1),
        output=output,
    )


def tables(root: Path) -> dict[str, bytes]:
    """Return the bytes of every verdict and score."""
    files = [*root.rglob("scores.parquet"), *root.rglob("verdicts.parquet")]
    return {str(file.relative_to(root)): file.read_bytes() for file in files}


def scores(root: Path) -> dict[tuple[str, str, str], float | None]:
    """Return every score of the study by run, question and metric."""
    import pyarrow.parquet as pq

    return {
        (variant, row["question_id"], row["metric"]): row["value"]
        for variant in VARIANTS
        for row in pq.read_table(root / "written" / variant / "scores.parquet").to_pylist()
    }


def latency() -> dict[str, Any]:
    """48 rows at 200 ms a call, and the same again."""
    with study() as root, stub_process("--latency", "0.2") as url:
        first, second = evaluated(root, url), evaluated(root, url)
    found = asdict(first)
    del found["output"]
    again = {"calls": second.calls, "seconds": second.seconds, "cpu_seconds": second.cpu_seconds}
    return found | {f"second_run_{name}": value for name, value in again.items()}


def zero() -> dict[str, Any]:
    """Calls a second at 0 ms: the engine with its store, and the bare client, in turns."""
    with stub_process() as url:
        words = [sys.executable, "-m", "tests.benchmarks.judge_calls", url]
        done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def many() -> dict[str, Any]:
    """4,998 rows at 50 ms, eight at once: at most 160 calls a second are possible."""
    with study(833) as root, stub_process("--latency", "0.05") as url:
        words = ("metrics=[faithfulness]", "judge.chat.concurrency=8")
        nothing = evaluated(root, url, *words, "limit=1")
        ended = evaluated(root, url, *words)
    busy = ended.seconds - nothing.seconds
    return {
        "many_rows": 833 * len(VARIANTS),
        "many_calls": ended.calls,
        "many_seconds": ended.seconds,
        "many_peak_mb": ended.peak_mb,
        "many_calls_per_second": round(ended.calls / ended.seconds, 1),
        "many_calls_per_second_without_start": round(ended.calls / busy, 1),
    }


def slow() -> dict[str, Any]:
    """A server that takes 3 s a call and one call at a time, with 100 that wait."""
    with study(12) as root, stub_process("--latency", "3", "--slots", "1") as url:
        words = ("metrics=[faithfulness]", "budget.calls=100", "judge.chat.concurrency=100")
        ended = evaluated(root, url, *words)
    named = {name: ended.output.count(name) for name in ("judge_failed",)}
    return {"slow_calls": ended.calls, "slow_seconds": ended.seconds, "slow_failed": named}


def faults() -> dict[str, Any]:
    """429 and 500 at 10 %, broken JSON at 5 %, no answer at 2 %: NA, and scores that differ."""
    with study() as root, stub_process() as url:
        evaluated(root, url)
        right = scores(root)
    with study() as root, stub_process("--faults") as url:
        ended = evaluated(root, url)
        found = scores(root)
    wrong = sum(value is not None and value != right[key] for key, value in found.items())
    return {"fault_run": {"seconds": ended.seconds, "na": ended.na, "wrong": wrong}}


def kills() -> dict[str, Any]:
    """Killed at five random points and run again: calls that were sent twice, bytes that differ.

    A call in flight when its process is killed is sent again; no other call may be.
    """
    chance = random.Random(7)
    with StubEndpoint(in_good_faith, latency=0.2) as stub, study() as root, study() as other:
        evaluated(other, stub.base_url)
        whole, needed = tables(other), len(stub.chats)
        for _ in range(KILLS):
            process = start(root, stub.base_url, AT_ONCE)
            goal = len(stub.chats) + chance.randrange(10, needed // 6)
            while len(stub.chats) < goal and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        evaluated(root, stub.base_url)
        return {
            "kill_repeated": len(stub.chats) - 2 * needed,
            "kill_in_flight_at_most": KILLS * 16,
            "kill_same_parquet": tables(root) == whole,
        }


def two() -> dict[str, Any]:
    """Two processes on one study at once: calls sent twice (at most all), bytes that differ."""
    with StubEndpoint(in_good_faith, latency=0.2) as stub, study() as root, study() as other:
        evaluated(other, stub.base_url)
        needed = len(stub.chats)
        both = [start(root, stub.base_url, AT_ONCE) for _ in range(2)]
        outputs = [process.communicate()[0] for process in both]
        assert [process.returncode for process in both] == [0, 0], outputs
        return {
            "two_processes_needed": needed,
            "two_processes_repeated": len(stub.chats) - 2 * needed,
            "two_processes_same_parquet": tables(root) == tables(other),
        }


SECTIONS: dict[str, Callable[[], dict[str, Any]]] = {
    section.__name__: section for section in (latency, zero, faults, kills, two, many, slow)
}


def main() -> None:
    """Print the figures of the sections chosen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=list(SECTIONS))
    chosen = parser.parse_args()
    found: dict[str, Any] = {}
    for name in chosen.only:
        part = SECTIONS[name]()
        found |= part
        if not chosen.json:
            print(*(f"{key}: {value}" for key, value in part.items()), sep="\n", flush=True)
    if chosen.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
