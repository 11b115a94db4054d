"""Evaluations that are killed, run twice at once or served badly lose nothing."""

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import ROOT, Command
from tests.stub_endpoint import Received, Reply, StubEndpoint
from tests.written import article, asked_of, honest

RUNS = ("text_k4", "ctx_k8", "ctx_k8_strict")
CALLS = 18
"""What two questions, three runs and two metrics need."""


def in_good_faith(received: Received) -> str:
    return honest(asked_of(received.messages))


def words(root: Path, stub: StubEndpoint, *more: str) -> list[str]:
    return [
        *(f"root={root}", "study.name=written", "judge=chat", "judge.language=zh_hant"),
        *(f"judge.chat.base_url={stub.base_url}", "judge.chat.model=stub"),
        *("judge.chat.backoff=0.01", "metrics=[faithfulness,context_recall]", *more),
    ]


def start(root: Path, stub: StubEndpoint, *more: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "harness.evaluate", *words(root, stub, *more)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)


@pytest.fixture
def study(tmp_path: Path) -> Callable[[str], Path]:
    """Write the study into a folder of this name and return its root."""

    def write(name: str) -> Path:
        article(tmp_path / name / "written", questions=2, variants=RUNS)
        return tmp_path / name

    return write


def tables(root: Path) -> dict[str, bytes]:
    return {str(f.relative_to(root)): f.read_bytes() for f in root.rglob("*s.parquet")}


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")
@pytest.mark.slow
def test_killed_and_run_again(command: Command, study: Callable[[str], Path]) -> None:
    """After kill -9 only the two calls in flight are asked again, and the tables are the same."""
    answered = 5

    def stalling(received: Received) -> str | Reply:
        return Reply(hang=True) if len(stub.chats) > answered else in_good_faith(received)

    with StubEndpoint(stalling) as stub:
        killed, whole = study("killed"), study("whole")
        process = start(killed, stub, "judge.chat.concurrency=2")
        while len(stub.chats) < answered + 2:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()

        stub.script = in_good_faith
        assert command("evaluate", *words(killed, stub)).returncode == 0
        assert len(stub.chats) == CALLS + 2
        assert command("evaluate", *words(whole, stub)).returncode == 0

    assert tables(killed) == tables(whole)
    assert len(tables(whole)) == 3 * len(RUNS)


@pytest.mark.slow
def test_two_at_once(command: Command, study: Callable[[str], Path]) -> None:
    """Two processes on one study may send a call twice, and write the same tables."""
    with StubEndpoint(in_good_faith, latency=0.05) as stub:
        both, alone = study("both"), study("alone")
        processes = [start(both, stub, "judge.chat.concurrency=4") for _ in range(2)]
        assert [process.wait() for process in processes] == [0, 0]
        assert CALLS <= len(stub.chats) <= 2 * CALLS

        command("evaluate", *words(alone, stub))

    assert tables(both) == tables(alone)


@pytest.mark.slow
def test_faults_change_no_score(command: Command, study: Callable[[str], Path]) -> None:
    """Refusals, errors, broken replies and a hanging one change no score."""
    turns = itertools.count()

    def faulty(received: Received) -> str | Reply:
        said = in_good_faith(received)
        faults = {
            1: Reply(status=429, headers={"Retry-After": "0.01"}),
            3: Reply(status=500),
            5: Reply(said[: len(said) // 2]),
            6: Reply("很抱歉，無法判斷。"),
            8: Reply(cut=True),
            10: Reply(hang=True),
            12: Reply(raw=b"<html>busy</html>"),
        }
        return faults.get(next(turns) % 16, said)

    with StubEndpoint(faulty) as stub:
        tried, whole = study("tried"), study("whole")
        limits = ("judge.chat.timeout=5", "judge.chat.concurrency=2")
        assert command("evaluate", *words(tried, stub, *limits)).returncode == 0
        stub.script = in_good_faith
        command("evaluate", *words(whole, stub))

    for run in RUNS:
        frames = [pd.read_parquet(root / "written" / run / "scores.parquet")
                  for root in (tried, whole)]  # fmt: skip
        pd.testing.assert_frame_equal(*frames)
        assert frames[0]["value"].notna().all()
