"""Errors that the user can fix.

HarnessError              one line, no traceback, exit 1
├── ConfigError           an invalid setting
│   └── UnknownNameError  a name that no table has
├── InputError            a document, test set or table that cannot be used
├── EndpointError         a model endpoint that does not respond, or refuses
│   ├── ContextOverflowError   the prompt does not fit the context window
│   ├── NotRecordedError       the call is not cached, and may not be made now
│   └── BudgetError            the budget of model calls is spent
└── RunError              a run folder that is missing, unfinished or of another version
    └── DamagedRunError   a file of a run that is not as it was written
"""

import difflib
import errno
import logging
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TypeVar

from harness.text import single_spaced

log = logging.getLogger(__name__)
T = TypeVar("T")


class HarnessError(Exception):
    """An error that the user can fix: shown in one line, and a sweep continues."""


class ConfigError(HarnessError):
    """An invalid setting."""


class UnknownNameError(ConfigError):
    """A name that no table has."""


class InputError(HarnessError):
    """A document, test set or table that cannot be used."""


class EndpointError(HarnessError):
    """A model endpoint that does not respond, or refuses."""


class ContextOverflowError(EndpointError):
    """The prompt does not fit the model's context window, or was truncated to fit it."""


class NotRecordedError(EndpointError):
    """The call is in no cache or recording, and may not be made now."""


class BudgetError(EndpointError):
    """The budget of model calls is spent."""


class RunError(HarnessError):
    """A run folder that is missing, unfinished or of another version."""


class DamagedRunError(RunError):
    """A file of a run that is not as it was written."""

    def __init__(self, message: str, of_evaluation: bool) -> None:
        super().__init__(message)
        self.of_evaluation = of_evaluation
        """Whether another evaluation replaces the file; otherwise the run is collected again."""


def check_size(file: object, size: int, largest_mb: int | None) -> None:
    """Raise InputError where a file is larger than is read.

    Args:
        file: Its path, for the message.
        size: In bytes, decompressed.
        largest_mb: In millions of bytes; None: any size is read.
    """
    if largest_mb is not None and size > largest_mb * 1_000_000:
        raise InputError(
            f"{file}: larger than {largest_mb} MB (decompressed); split it, or raise "
            "study.largest_mb"
        )


def pick(table: Mapping[str, T], name: str, kind: str) -> T:
    """Return `table[name]`, or raise with the allowed names and the nearest guess.

    >>> pick({"f1": 1, "recall": 2}, "recal", "metric")
    Traceback (most recent call last):
    ...
    harness.errors.UnknownNameError: unknown metric 'recal' (did you mean 'recall'?); known: ...
    """
    if name in table:
        return table[name]
    raise UnknownNameError(unknown(name, table, kind))


def unknown(name: str, known: Iterable[str], kind: str) -> str:
    """Return an error text for an unknown name, with the nearest guess and the known names."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    guess = f" (did you mean '{near[0]}'?)" if near else ""
    return f"unknown {kind} '{name}'{guess}; known: {', '.join(names) or 'none'}"


SYSTEM_REMEDIES = {
    errno.ENOENT: "check the path, or choose another place, with root= or another name",
    errno.ENOSPC: "free some space on the disk",
    errno.EDQUOT: "free some space, or have the quota raised",
    errno.EROFS: "choose a place that can be written, with root= or another name",
    errno.EACCES: "change its permissions, or choose another place, with root= or another name",
    errno.EPERM: "change its permissions, or choose another place, with root= or another name",
    errno.ENOTDIR: "a file is in the place of a folder: choose another name, such as root=",
    errno.EISDIR: "a folder is in the place of a file: move it away, or choose another name",
    errno.EMFILE: "raise the limit of open files: ulimit -n 4096",
}
"""Number of an operating system's error -> what to do about it."""


def system_error_line(error: OSError) -> str:
    """Return an error of the operating system in one line, with its file and the remedy.

    >>> system_error_line(OSError(errno.ENOSPC, "No space left on device", "runs/a"))
    'runs/a: No space left on device; free some space on the disk'
    """
    what = error.strerror or str(error) or type(error).__name__
    place = "" if error.filename is None else f"{error.filename}: "
    remedy = SYSTEM_REMEDIES.get(error.errno or 0, "repair it and run the same command again")
    return single_spaced(f"{place}{what}; {remedy}")


def in_language(table: Mapping[str, T], language: str, what: str) -> T:
    """Return the entry of a language, or the English one with a warning, once a process.

    Args:
        table: Language -> entry; it has an entry `en`.
        language: As in `study.language`.
        what: What the table holds, for the warning.

    >>> in_language({"en": "Values", "ja": "数値"}, "ja", "words of captions")
    '数値'
    """
    if language not in table:
        _warn_of_english(language, what, tuple(sorted(table)))
    return table.get(language, table["en"])


@cache
def _warn_of_english(language: str, what: str, known: tuple[str, ...]) -> None:
    log.warning("no %s in '%s' (known: %s): using English", what, language, ", ".join(known))
