"""The words of a command line: checked, and quoted where Hydra would misread what was typed."""

import re
import shlex
from collections.abc import Sequence

from harness.config.conf_files import ConfFiles
from harness.config.registry import choices_of
from harness.errors import ConfigError, pick
from harness.llm import refuse_secrets

TEXTS = (
    "version",
    "baseline",
    "factor",
    "passages_from",
    "study.name",
    "study.testset",
    "study.recording",
)
LISTS_OF_TEXTS = ("questions", "runs")


def words(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command line in Hydra's grammar.

    A stray carriage return (from a script with CRLF line ends) is dropped, a value in Chinese or
    Japanese is quoted, and a choice that does not exist raises with its nearest neighbour.
    """
    found = []
    ConfFiles.typed_system = None
    for argument in arguments:
        word = argument.rstrip("\r\n")
        key, sign, value = word.partition("=")
        if sign and not key.startswith("-"):
            check_choice(key, value)
            check_no_secret(word)
            value = as_text(key, value)
            word = f"{key}={value}"
            if re.fullmatch(r"[^'\"\[\]{}(),=\s]*[^\x00-\x7f][^'\"\[\]{}(),=\s]*", value):
                word = f"{key}='{value}'"
            if key == "system":
                ConfFiles.typed_system = one_system(value)
        found.append(word)
    return found


def one_system(value: str) -> str:
    """Return the system that `system=` chooses; several cannot be swept over."""
    if not re.fullmatch(r"[\w.-]+", value):
        raise ConfigError(
            f"system={value}: a sweep over systems needs a variant of each; sweep over variant="
        )
    return value


def as_text(key: str, value: str) -> str:
    """Return a value quoted where it must stay text: Hydra would read `1.10` as the number 1.1."""
    if key in TEXTS and re.fullmatch(r"[^'\"\[\]{}(),\\\s]+", value) and value != "null":
        return f"'{value}'"
    if key in LISTS_OF_TEXTS and re.fullmatch(r"\[[^'\"\[\]{}()\\]*\]", value):
        items = [item.strip() for item in value[1:-1].split(",")]
        return "[" + ",".join(f"'{item}'" for item in items if item) + "]"
    return value


def typed_word(word: str) -> str:
    """Return an override as a person would type it: without the quotes that `words` adds."""
    key, _, value = word.partition("=")
    plain = re.fullmatch(r"'[^'\s,=\[\]{}()]+'", value)
    return shlex.quote(f"{key}={value[1:-1]}" if plain else word)


def check_no_secret(word: str) -> None:
    """Raise where a secret is given as a setting: Hydra writes the words of a sweep to a file."""
    refuse_secrets(dict.fromkeys(re.findall(r"[\w-]+(?=\s*[:.=])", word.partition(".extra")[2])))


def check_choice(key: str, value: str) -> None:
    """Raise where a group is given a choice that does not exist."""
    group = key.lstrip("+").partition("@")[0]
    known = choices_of(group)
    if known and not re.search(r"[\[\](){}]", value):
        for choice in value.split(","):
            pick(dict.fromkeys(known), choice.strip().strip("'\""), group)
