"""An error in one line, in the words of the command line."""

import re
import sys
from dataclasses import fields, is_dataclass

from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    OmegaConfBaseException,
    ValidationError,
)

from harness.config.conf import TABLES
from harness.errors import system_error_line, unknown
from harness.text import visible

NO_GROUP = re.compile(r"Could not override '([^'@]+)'\. No match in the defaults list\.")


def error_line(error: Exception) -> str:
    """Return an error in one line; where OmegaConf's own names classes, this names settings.

    Control characters, as a server's text or a file's name may hold them, are escaped.
    """
    if isinstance(error, OSError):
        return visible(system_error_line(error))
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OmegaConfBaseException):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ValidationError) and (line := wrong_choice(cause)):
        return visible(line)
    file = re.match(r"In '[^']*': ", str(error))
    text = str(error) if cause is None else (file[0] if file else "") + setting_error(cause)
    text = NO_GROUP.sub(r"this system has no \1, so \1= cannot be chosen", text)
    line = " ".join(text.partition("To append to your default list")[0].split())
    if "could not be converted to Integer" in line or "type 'list' " in line:
        line += " (for a sweep write: -m key=4,9)"
    return visible(line)


def setting_error(error: OmegaConfBaseException) -> str:
    """Return which setting an error is about, and what is wrong with it."""
    key = error.full_key or str(error.key or "")
    kind = error.object_type
    if isinstance(error, ConfigKeyError | ConfigAttributeError) and is_dataclass(kind):
        return unknown_setting(key, kind)
    what = str(error).partition("\n")[0]
    return f"{key}: {what}" if key and key not in what else what


def unknown_setting(key: str, kind: type) -> str:
    """Return that a dotted key is not a setting, with the nearest that is, or the choices that
    have it.

    >>> from harness.judge import OverlapJudge
    >>> unknown_setting("judge.chat", OverlapJudge).rpartition("; ")[2]
    'judge=chat has it'
    """
    inside, _, name = key.rpartition(".")
    of = f"setting of {inside}" if inside else "setting"
    line = unknown(name, (field.name for field in fields(kind)), of)
    group = inside.rpartition(".")[2]
    word = group if inside in (group, f"variant.{group}") else f"{group}@{inside}"
    table = TABLES.get(group, {})
    having = [choice for choice in table if name in {f.name for f in fields(table[choice])}]
    return f"{line}; {word}={' or '.join(having)} has it" if having else line


def wrong_choice(error: ValidationError) -> str | None:
    """Return which choices of a group fit where another was made; None for another error.

    `chat@judge.chat=extractive` is one: a judge needs a chat model, and the extractive reader
    is not one.
    """
    found = re.match(r"Invalid type assigned: (\w+) is not a subclass of (\w+)", str(error))
    if found is None:
        return None
    for group, table in TABLES.items():
        bases = {name: [base.__name__ for base in kind.__mro__] for name, kind in table.items()}
        for name in (name for name, (own, *_) in bases.items() if own == found[1]):
            fitting = [other for other, names in bases.items() if found[2] in names]
            typed = (word for word in sys.argv[1:] if word.startswith(group))
            word = next((w for w in typed if w.endswith(f"={name}")), f"{group}={name}")
            return f"{word}: this choice cannot be used here; choose {', '.join(fitting)}"
    return None
