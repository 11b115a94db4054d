"""How commands end: on Ctrl-C, on a closed pipe, on a misspelt name."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Command, Study
from tests.stub_endpoint import Received, StubEndpoint

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and pipes are POSIX")


def started(*words: str) -> "subprocess.Popen[str]":
    """Start Python as a terminal does: a background job would inherit that Ctrl-C is ignored."""
    default = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL)"
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"{default}; os.execv(sys.executable, sys.argv[1:])",
            sys.executable,
            *words,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_an_interrupted_collection_says_how_to_resume(study: Study) -> None:
    """Ctrl-C waits for the requests in flight, then ends with one line and exit code 130."""
    running: list[subprocess.Popen[str]] = []

    def interrupts(_: Received) -> str:
        running[0].send_signal(signal.SIGINT)
        return "27"

    with StubEndpoint(interrupts) as stub:
        chat = ["chat=openai", f"variant.chat.base_url={stub.base_url}", "variant.chat.model=stub"]
        running.append(started("-m", "harness.collect", *study.words, "variant=text_k4", *chat,
                               "variant.chat.concurrency=1"))  # fmt: skip
        _, said = running[0].communicate(timeout=60)

    assert running[0].returncode == 130
    assert "run the same command to resume" in said
    assert "Traceback" not in said


def ends(tmp_path: Path, body: str) -> "subprocess.Popen[str]":
    """Start a command whose body is this code."""
    file = tmp_path / "it.py"
    code = [
        "import threading, time",
        "from harness.config.command import ending",
        'with ending("bye"):',
    ]
    file.write_text("\n".join([*code, *(f"    {line}" for line in body.splitlines())]) + "\n")
    return started(str(file))


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    """`... | head` closes the pipe: no traceback, and the exit code of SIGPIPE."""
    done = ends(tmp_path, "time.sleep(0.2)\nprint('x' * 100_000)")
    assert done.stdout is not None
    assert done.stderr is not None
    done.stdout.close()

    assert done.stderr.read() == ""
    assert done.wait(timeout=30) == 141
    done.stderr.close()


def test_a_hanging_thread_does_not_delay_the_end(tmp_path: Path) -> None:
    """After Ctrl-C the command ends, whatever its threads are waiting for."""
    hang = "threading.Thread(target=time.sleep, args=(600,)).start()\nraise KeyboardInterrupt"
    done = ends(tmp_path, hang)
    _, said = done.communicate(timeout=30)

    assert (done.returncode, said) == (130, "\nbye\n")


def test_a_command_in_two_words_is_an_error() -> None:
    """`python -m harness evaluate` does nothing, so it must not end with exit code 0."""
    words = [sys.executable, "-m", "harness", "evalute"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)

    assert done.returncode == 1
    assert "write the command with a dot: python -m harness.evaluate" in done.stderr


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("collect", ["variant=text_k4"]),
        ("collect", ["-m", "variant=text_k4", "variant.top_k=1,2"]),
        ("evaluate", []),
        ("report", []),
        ("study", []),
        ("calls", []),
    ],
)
@pytest.mark.parametrize("root", ["file/x", "/proc/x"])
def test_a_root_that_cannot_be_written_is_one_line(
    stage: str, words: list[str], root: str, command: Command, study: Study
) -> None:
    """The path and the remedy, without a traceback; exit code 1, or nothing to show."""
    (study.folder / "file").write_text("a file")
    mine = [f"root={root}"] if stage == "calls" else [*study.words, f"root={root}"]

    done = command(stage, *words, *mine)

    assert "Traceback" not in done.stderr
    if stage != "calls":
        assert done.returncode == 1
        assert root.rpartition("/")[0] in done.stderr
        assert 1 <= done.stderr.count("\n") <= (3 if "-m" in words else 1), done.stderr


def test_a_full_disk_is_one_line(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file and the remedy; the finished run of before stays as it was."""
    assert command("collect", *study.words, "variant=text_k4").returncode == 0
    run = study.run("text_k4-index.chunk_size-40")
    before = {path: path.read_bytes() for path in run.iterdir()}

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("harness.files.os.fsync", full)
    monkeypatch.setattr(Path, "replace", full)
    done = command("collect", *study.words, "variant=text_k4", "again=true")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert ": No space left on device; free some space on the disk" in done.stderr
    assert str(study.folder) in done.stderr
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in before} == before
