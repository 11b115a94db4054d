"""What can go wrong in a way the user can mend.

HarnessError              one line, no traceback, exit 1
├── ConfigError           a setting that cannot be
│   └── UnknownNameError  a name that is in no table
├── InputError            a document, test set or table that cannot be used
├── EndpointError         a model endpoint that does not answer, or refuses
│   ├── ContextOverflowError   the prompt does not fit the model's window
│   └── NotRecordedError       the call was never made, and may not be made now
└── RunError              a run folder that is missing, unfinished or of another kind
"""

import difflib
import logging
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TypeVar

log = logging.getLogger(__name__)
T = TypeVar("T")


class HarnessError(Exception):
    """Something the user can mend: shown in one line, and a sweep goes on."""


class ConfigError(HarnessError):
    """A setting that cannot be."""


class UnknownNameError(ConfigError):
    """A name that is in no table."""


class InputError(HarnessError):
    """A document, test set or table that cannot be used."""


class EndpointError(HarnessError):
    """A model endpoint that does not answer, or refuses."""


class ContextOverflowError(EndpointError):
    """The prompt does not fit the model's context window, or was cut to fit it."""


class NotRecordedError(EndpointError):
    """The call is in no store or recording, and may not be made now."""


class BudgetError(EndpointError):
    """The run has spent what it may on model calls."""


class RunError(HarnessError):
    """A run folder that is missing, unfinished or of another kind."""


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
    """Say that a name is not known, guess the nearest and list the rest."""
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
