"""Where the project lies, and what its paths hold."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config.run_names import study_folder

if TYPE_CHECKING:
    from harness.config.schema import Stage

PROJECT = Path(__file__).resolve().parents[2]
"""The folder that holds `conf/`, `testsets/` and `runs/`, wherever a command is started."""


def project_path(path: str) -> Path:
    """Return a path; one that is not absolute is meant from the project's folder."""
    return PROJECT / Path(path).expanduser()


def shown_path(path: Path) -> str:
    """Return the path as a reader standing in the project would write it."""
    return path.relative_to(PROJECT).as_posix() if path.is_relative_to(PROJECT) else str(path)


def study_path(settings: "Stage") -> Path:
    """Return the folder of the study's runs."""
    return project_path(settings.root) / study_folder(settings.study.name)


def testset_path(name: str) -> Path:
    """Return where a test set lies: a folder under `testsets/`, or any path of its own."""
    inside = PROJECT / "testsets" / name
    return inside if inside.exists() or "/" not in name else project_path(name)


def testset_folder(name: str) -> Path:
    """Return the folder that holds a test set's questions and what people said of its answers."""
    place = testset_path(name)
    return place if place.is_dir() else place.parent


def recording_path(recording: str | None, testset: str) -> Path:
    """Return where a study's recording lies: where it says, or beside its test set."""
    if recording is None:
        return testset_folder(testset) / "recorded.jsonl.gz"
    return project_path(recording)


def fingerprint(hashes: Mapping[str, str]) -> str:
    """Return one SHA-256 for named files: it changes with a name, and with any byte."""
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()
