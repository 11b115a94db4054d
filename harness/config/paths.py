"""Where files lie: those of the user in the working folder, shipped ones in the project."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config.run_names import study_folder
from harness.files import PROJECT, input_path

if TYPE_CHECKING:
    from harness.config.schema import Stage

CONF = PROJECT / "conf"
"""The folder of the configuration files."""


def user_path(path: str) -> Path:
    """Return a path that the user gave as an absolute one; `~` is the user's home."""
    return Path.cwd() / Path(path).expanduser()


def shown_path(path: Path) -> str:
    """Return a path as it is typed in the working folder: relative where it lies inside."""
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else str(path)


def study_path(settings: "Stage") -> Path:
    """Return the folder of the study's runs."""
    return user_path(settings.root) / study_folder(settings.study.name)


def testset_path(name: str) -> Path:
    """Return where a test set lies: a folder under `testsets/`, or a file or folder at a path.

    A name without a slash is looked up under `testsets/` first, in the working folder and among
    what is shipped.
    """
    folder = Path("testsets") / name
    named = input_path(str(folder))
    if named.exists():
        return Path.cwd() / named
    given = input_path(name)
    return Path.cwd() / (given if "/" in name or given.exists() else folder)


def testset_folder(name: str) -> Path:
    """Return the folder that holds a test set's questions and people's grades of its answers."""
    place = testset_path(name)
    return place if place.is_dir() else place.parent


def recording_path(recording: str | None, testset: str) -> Path:
    """Return the file of a study's recording: the one given, or the one beside its test set."""
    if recording is None:
        return testset_folder(testset) / "recorded.jsonl.gz"
    return Path.cwd() / input_path(recording)


def fingerprint(hashes: Mapping[str, str]) -> str:
    """Return one SHA-256 for named files: it changes with a name, and with any byte."""
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()
