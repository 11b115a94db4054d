"""The call cache as a user sees it: its size, and pruning."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from harness.llm import Calls
from tests.conftest import Command


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A cache of two models' calls, one of them old, and an embedding."""
    folder = tmp_path / "runs"
    with closing(Calls(folder / ".cache")) as calls:
        calls.put("a", "chat gpt-4o", {"text": "x"})
        calls.put("b", "chat gpt-4o", {"text": "x"})
        calls.put("c", "chat qwen", {"text": "x"})
        calls.put_vectors({"v": np.array([1.0], np.float32)})
    with closing(sqlite3.connect(folder / ".cache" / "calls.sqlite")) as file, file:
        file.execute("UPDATE calls SET created = created - 40 * 86400 WHERE key = 'a'")
    return folder


def test_size(command: Command, root: Path) -> None:
    """Calls are counted by model, embeddings apart."""
    done = command("calls", f"root={root}")

    assert done.returncode == 0, done.stderr
    assert "calls.sqlite: 0.0 MB" in done.stdout
    words = [line.split(maxsplit=1) for line in done.stdout.splitlines()[1:]]
    assert words == [["2", "chat gpt-4o"], ["1", "chat qwen"], ["1", "vector"]]


@pytest.mark.parametrize(
    ("words", "gone", "left"),
    [
        (["prune=all"], 4, []),
        (["prune=all", "days=30"], 1, ["1 chat gpt-4o", "1 chat qwen", "1 vector"]),
        (["prune=chat"], 3, ["1 vector"]),
        (["prune=chat gpt-4o"], 2, ["1 chat qwen", "1 vector"]),
        (["prune=vector"], 1, ["2 chat gpt-4o", "1 chat qwen"]),
    ],
)
def test_prune(words: list[str], gone: int, left: list[str], command: Command, root: Path) -> None:
    """The calls named are deleted, the others are kept, and both are counted."""
    done = command("calls", f"root={root}", *words)
    lines = done.stdout.splitlines()

    assert lines[0] == f"deleted: {gone}"
    assert [" ".join(line.split()) for line in lines[2:]] == left


def test_a_root_without_a_store(command: Command, tmp_path: Path) -> None:
    """An empty cache has size 0, and showing it creates no file."""
    done = command("calls", f"root={tmp_path / 'none'}")
    assert done.stdout.endswith("calls.sqlite: 0.0 MB\n")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["prune=chats"], "unknown kind of call 'chats' (did you mean 'chat'?)"),
        (["prune=chat gpt-4"], "unknown kind of call 'chat gpt-4' (did you mean 'chat gpt-4o'?)"),
        (["prune=chat nomodel"], "; known: all, chat, chat gpt-4o, chat qwen, vector"),
        (["prun=chat"], "unknown setting 'prun' (did you mean 'prune'?)"),
        (["prune"], "'prune' has no value: write prune=<value>"),
        (["prune=all", "days=many"], "days=many: give a number"),
        (["days=3"], "days=... needs prune=..."),
    ],
)
def test_mistakes(words: list[str], message: str, command: Command, root: Path) -> None:
    """A mistake is one line, and nothing is deleted."""
    done = command("calls", f"root={root}", *words)

    assert done.returncode == 1
    assert message in done.stderr
    with closing(Calls(root / ".cache")) as calls:
        assert sum(calls.size().calls.values()) == 3


def test_help_is_light(shell: Command) -> None:
    """The help names the settings and loads neither Hydra nor numpy."""
    done = shell("calls", "--help")

    assert done.returncode == 0, done.stderr
    assert "prune=" in done.stdout


def test_help_imports_nothing_heavy() -> None:
    """Importing the command takes the standard library only."""
    import subprocess
    import sys

    code = "import harness.calls, sys; print({'numpy', 'hydra', 'openai'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
