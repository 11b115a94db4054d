"""Style and types hold over the whole tree."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "words",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy", "harness"],
    ],
    ids=["ruff check", "ruff format", "mypy --strict"],
)
def test_the_tree_is_clean(words: list[str], tmp_path: Path) -> None:
    """Nothing to mend: the tool ends with 0."""
    cache = [f"--cache-dir={tmp_path}"]

    done = subprocess.run(
        [sys.executable, "-m", *words, *cache],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
