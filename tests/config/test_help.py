"""Help comes at once: nothing heavy is imported to say what a command does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.__main__ import COMMANDS

ROOT = Path(__file__).parents[2]
HEAVY = (
    "chromadb", "langchain", "langchain_core", "langchain_community", "onnxruntime",
    "pandas", "statsmodels", "scipy", "hydra", "openai", "pyarrow", "numpy",
)  # fmt: skip
SCRIPT = """
import json, resource, runpy, sys
sys.argv = ["harness", "--help"]
try:
    runpy.run_module("harness.{name}", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([sorted(sys.modules), used.ru_utime + used.ru_stime]))
"""


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_is_light(name: str) -> None:
    """`--help` ends with 0, tells what the command does, and takes less than a second of CPU."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(name=name)],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    *said, measured = done.stdout.splitlines()
    modules, seconds = json.loads(measured)
    assert f"python -m harness.{name}" in "\n".join(said)
    assert not [heavy for heavy in HEAVY if heavy in modules]
    assert seconds < 1.0
