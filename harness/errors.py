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
import logging
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TypeVar

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
