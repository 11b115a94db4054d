"""The name of a run: a pure function of variant, overrides and version."""

import hashlib
import re
from collections.abc import Iterable

from harness.errors import ConfigError

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
    mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:6]
    return f"{name}-{mark}".lstrip("-")


def study_folder(name: str) -> str:
    """Return the study's name. Raises ConfigError where it cannot be the name of a folder."""
    if not name or re.search(r'[\\/:*?"<>|\x00-\x1f]', name) or name.strip(" .") != name:
        raise ConfigError(
            f"study.name={name!r} cannot be the name of a folder: leave out / \\ : * ? < > | and "
            "quotes, and dots or spaces at its ends"
        )
    return name
