"""`--help` is immediate: it imports nothing heavy, and lists every setting and group."""

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from harness.__main__ import COMMANDS
from harness.config.command import help_text
from harness.config.paths import CONF
from harness.config.schema import STAGES

ROOT = Path(__file__).parents[2]
HEAVY = (
    "chromadb", "langchain", "langchain_core", "langchain_community", "onnxruntime", "matplotlib",
    "pandas", "statsmodels", "scipy", "hydra", "omegaconf", "openai", "pyarrow", "numpy",
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
    """`--help` exits with 0, says what the command does, and takes less than a second of CPU."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(name=name)],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    *lines, measured = done.stdout.splitlines()
    modules, seconds = json.loads(measured)
    assert f"python -m harness.{name}" in "\n".join(lines)
    assert not [heavy for heavy in HEAVY if heavy in modules]
    assert seconds < 1.0


def test_help_lists_every_group() -> None:
    """Each folder of `conf/` is named with all its files."""
    text = help_text("collect", "")

    for folder in filter(Path.is_dir, CONF.iterdir()):
        names = ", ".join(sorted(path.stem for path in folder.glob("*.yaml")))
        heading = "Custom checks (metrics=[...]):" if folder.name == "check" else folder.name
        assert re.search(rf"^ *{re.escape(heading)} +{re.escape(names)}$", text, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(STAGES))
def test_help_explains_every_setting(name: str) -> None:
    """Each field of the settings has a line, but for the groups, which are listed as choices."""
    text = help_text(name, "")
    groups = {"study", "variant", "judge"}

    for field in {field.name for field in fields(STAGES[name])} - groups:
        assert re.search(rf"^  {field}=\S* +\S", text, re.MULTILINE), field
