"""An error in one line, in the words of the command line."""

import re
import sys
from dataclasses import fields, is_dataclass

from hydra.errors import MissingConfigException, OverrideParseException
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    OmegaConfBaseException,
    ValidationError,
)

from harness.config import paths
from harness.config.conf import TABLES, ConfFiles, choices_of
from harness.errors import HarnessError, system_error_line, unknown
from harness.text import visible

NO_GROUP = re.compile(r"Could not override '([^'@]+)'\. No match in the defaults list\.")

NOT_A_NUMBER = re.compile(r"Value '(.*)' of type '\w+' could not be converted to (Integer|Float)")


def error_line(error: Exception) -> str:
    """Return an error in one line; where OmegaConf's own names classes, this names settings.

    Control characters, as a server's text or a file's name may hold them, are escaped.
    """
    if isinstance(error, MissingConfigException):
        return visible(missing_choice(error))
    if isinstance(error, OverrideParseException):
        return visible(unreadable_word(error.override))
    if isinstance(error, OSError):
        return visible(system_error_line(error))
    cause: BaseException | None = None if isinstance(error, HarnessError) else error
    while cause is not None and not isinstance(cause, OmegaConfBaseException):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ValidationError) and (line := wrong_choice(cause)):
        return visible(line)
    file = re.match(r"In '([^']*)': ", text := str(error))
    if cause is not None:
        text = (file[0] if file else "") + setting_error(cause)
    if file and (paths.CONF / f"{file[1]}.yaml").is_file():
        text = text.replace(file[0], f"conf/{file[1]}.yaml: ", 1)
    text = NO_GROUP.sub(r"this system has no \1, so \1= cannot be chosen", text)
    if several := re.match(r"Ambiguous value for argument '([^=]+)=(.*)'\n", text):
        key, values = several.groups()
        text = f"{key}={values}: for a sweep write: -m {key}={values}"
        text += "" if choices_of(key) else f"; for a list: {key}=[{values}]"
    return visible(" ".join(text.partition("To append to your default list")[0].split()))


def unreadable_word(word: str) -> str:
    """Return why a word of the command line is not `key=value`, and how to write it."""
    key, sign, value = word.partition("=")
    if not key or not sign:
        return f"'{word}' is not a setting: write {key or '<key>'}={value or '<value>'}"
    if value[:1] in ("[", "{"):
        return f"{word}: close its brackets, and quote texts inside, such as ['a b=1', c]"
    text = f"{key}='{value}'"
    return f'{word}: quote it as text: "{text}"'


def missing_choice(error: MissingConfigException) -> str:
    """Return which choice of a group does not exist, and the file that makes it."""
    missing = str(error.missing_cfg_file)
    group, _, name = missing.rpartition("/")
    file = ConfFiles.choosing.get(missing)
    return (f"{file}: " if file else "") + unknown(name, choices_of(group), group or "file")


def setting_error(error: OmegaConfBaseException) -> str:
    """Return which setting an error is about, and what is wrong with it."""
    key = error.full_key or str(error.key or "")
    kind = error.object_type
    if isinstance(error, ConfigKeyError | ConfigAttributeError) and is_dataclass(kind):
        return unknown_setting(key, kind)
    what = str(error).partition("\n")[0]
    if found := NOT_A_NUMBER.match(what):
        number = "a whole number" if found[2] == "Integer" else "a number"
        what = f"must be {number} (got {found[1]})"
        if "," in found[1]:
            what += f"; for a sweep write: -m {key}={found[1].strip('[]').replace(' ', '')}"
    elif "Cannot merge DictConfig with ListConfig" in what and kind is not list:
        what = "must be settings, not a list: write key: value"
    elif "is not a ListConfig" in what or "Cannot merge DictConfig with ListConfig" in what:
        typed = (word.partition("=")[2] for word in sys.argv[1:] if word.startswith(f"{key}="))
        item = next((f"{key}=[{value}]" for value in typed if value[:1] not in ("{", "")), "[a, b]")
        what = f"must be a list: {item}"
    elif what.startswith("Invalid type assigned: ") and " is not a subclass of " in what:
        what = f"holds settings; make the choice with {key.rpartition('.')[2]}=..."
    return f"{key}: {what}" if key and key not in what.partition(":")[0] else what


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
