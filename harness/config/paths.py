"""Where the project lies, and what its paths hold."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from harness.errors import InputError

PROJECT = Path(__file__).resolve().parents[2]
"""The folder that holds `conf/`, `testsets/` and `runs/`, wherever a command is started."""


def project_path(path: str) -> Path:
    """Return a path; one that is not absolute is meant from the project's folder."""
    return PROJECT / Path(path).expanduser()


def shown_path(path: Path) -> str:
    """Return the path as a reader standing in the project would write it."""
    return path.relative_to(PROJECT).as_posix() if path.is_relative_to(PROJECT) else str(path)


def testset_path(name: str) -> Path:
    """Return where a test set lies: a folder under `testsets/`, or any path of its own."""
    inside = PROJECT / "testsets" / name
    return inside if inside.exists() or "/" not in name else project_path(name)


def file_hashes(paths: Iterable[str]) -> dict[str, str]:
    """Return file name -> SHA-256 for every file named, or lying in a folder named."""
    found = {}
    for path in map(project_path, paths):
        if not path.exists():
            raise InputError(f"no such file or folder: {path}; set study.corpus to what is there")
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            if not file.name.startswith("."):
                found[str(file.relative_to(path.parent).as_posix())] = sha256(file)
    return found


def sha256(file: Path) -> str:
    """Return a file's SHA-256, read in pieces: weights are large."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
