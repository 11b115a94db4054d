"""Where files lie, the user's and those of the project, and what a run's folder is called."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ConfigError
from harness.files import PROJECT, input_path
from harness.text import sha256

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


NOT_PART_OF_A_NAME = {
    "study", "variant", "judge", "root", "questions", "limit", "cache", "version", "again",
    "give_up_after", "hydra",
}  # fmt: skip
"""Overrides that say where or how much to run, not what."""

RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}
LONGEST = 100
"""Characters; file systems take 255, and other files are named after the run."""


def run_name(
    variant: str,
    overrides: Iterable[str],
    version: str | None,
    neutral: frozenset[str] = frozenset(),
) -> str:
    """Return a folder name made of letters, digits, `.`, `_` and `-` only.

    Args:
        variant: The variant chosen.
        overrides: Hydra's task overrides, in any order.
        version: The label of the system's version.
        neutral: Keys below `variant` that are left out, such as addresses.

    >>> run_name("ctx_k9", ["variant=ctx_k9", "variant.top_k=6", "limit=2"], "2026-w48")
    'ctx_k9-top_k-6-2026-w48'
    """
    parts = [variant]
    settings = dict(override.lstrip("+~").partition("=")[::2] for override in overrides)
    for key, value in sorted(settings.items()):
        path, _, package = key.partition("@")
        if package.startswith("judge"):
            continue
        inside = path.startswith("variant.")
        if (inside and path.removeprefix("variant.") in neutral) or (
            not inside and path.split(".")[0] in NOT_PART_OF_A_NAME
        ):
            continue
        parts += [path.removeprefix("variant."), value.strip("'\"")]
    return portable("-".join(parts + ([version] if version else [])))


def portable(text: str) -> str:
    """Return a name that every file system accepts, and that differs for every text.

    Where characters had to be replaced, six digits of a hash are appended.

    >>> portable("ctx_k9-chat.model-llama3"), portable("文字_k4")
    ('ctx_k9-chat.model-llama3', '_k4-...')
    """
    name = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip(".-")[:LONGEST]
    if name.partition(".")[0] in RESERVED:
        name = f"_{name}"
    if name == text:
        return name
    mark = sha256(text)[:6]
    return f"{name}-{mark}".lstrip("-")


def study_folder(name: str) -> str:
    """Return the study's name. Raises ConfigError where it cannot be the name of a folder."""
    if not name or re.search(r'[\\/:*?"<>|\x00-\x1f]', name) or name.strip(" .") != name:
        raise ConfigError(
            f"study.name={name!r} cannot be the name of a folder: leave out / \\ : * ? < > | and "
            "quotes, and dots or spaces at its ends"
        )
    return name
