"""What a file of `conf/` may hold: settings as data, since a study may come from somebody else.

Hydra would run programs that a file names, and read the environment for it. Only `common.yaml`
configures Hydra; what a person types on the command line is not restricted here.
"""

import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from harness.errors import ConfigError
from harness.files import PROJECT
from harness.text import single_spaced

log = logging.getLogger(__name__)

RECORDING = "${recording:${study.recording},${study.testset}}"
"""The one call of a resolver that a file may hold."""

_REFERENCE = re.compile(r"\$\{(?![^}]*\bhydra\b)[\w.\[\]-]+\}")
"""A reference to another setting."""

MOST_ALIASES = 10

_named: set[str] = set()
"""Paths outside of the working folder that were named in this process."""


def check_aliases(file: str, text: str) -> None:
    """Raise ConfigError for more than ten aliases: eight lines of them can be 10⁸ values."""
    if text.count("*") <= MOST_ALIASES:
        return
    if sum(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)) > MOST_ALIASES:
        raise ConfigError(f"{file}: more than {MOST_ALIASES} aliases (*name); write the values out")


def check_file(file: str, name: str, package: str | None, content: object) -> None:
    """Raise ConfigError where a file of `conf/` configures Hydra, names a program or evaluates.

    Args:
        file: The file, for the message.
        name: Its group and name: `study/demo`.
        package: Its header `@package`.
        content: Its keys and values, interpolations not resolved.
    """
    if not isinstance(content, dict):
        raise ConfigError(f"{file}: write settings as key: value")
    defaults = content.get("defaults") or []
    if not (isinstance(defaults, list) and all(isinstance(e, str | dict) for e in defaults)):
        raise ConfigError(f"{file}: defaults: write a list of `- group: choice`")
    choices = list(chosen(defaults))
    for choice in choices:
        if "//" in choice or ".." in re.split(r"[/@\s]", choice):
            raise ConfigError(
                f"{file}: defaults: {choice}: only files of conf/ can be chosen; copy it there"
            )
    for place in (name, package or "", *map(str, content), *choices):
        if "hydra" in re.split(r"[\s./@:]", place):
            raise ConfigError(
                f"{file}: {place}: a file must not configure Hydra, which could run programs; "
                "remove it, or give hydra.* on the command line"
            )
    for key, value in leaves(content):
        if "_target_" in key.split("."):
            raise ConfigError(f"{file}: {key}: a file must not name a program; remove it")
        if isinstance(value, str) and not is_data(value):
            raise ConfigError(
                f"{file}: {key}: {single_spaced(value, 80)} would be evaluated; write the value, "
                "or ${key} of another setting; a secret is named by api_key_env=<variable>"
            )


def chosen(defaults: Iterable[object]) -> Iterator[str]:
    """Yield the files and groups that a defaults list names, and what is chosen in the groups.

    >>> list(chosen(["_self_", {"override /chat": "openai"}]))
    ['_self_', 'override /chat', 'openai']
    """
    for entry in defaults:
        named = [*entry, *entry.values()] if isinstance(entry, dict) else [entry]
        yield from map(str, named)


def is_data(value: str) -> bool:
    """Say whether a text holds no interpolation but references to settings.

    >>> is_data("${study.name}-2"), is_data("${oc.env:HOME}"), is_data("${${study.name}}")
    (True, False, False)
    """
    return value == RECORDING or "${" not in _REFERENCE.sub("\0", value)


def leaves(node: object, key: str = "") -> Iterator[tuple[str, object]]:
    """Yield (dotted key, value) of each value in mappings and lists.

    >>> list(leaves({"study": {"corpus": ["a", "b"]}}))
    [('study.corpus', 'a'), ('study.corpus', 'b')]
    """
    if isinstance(node, dict):
        for name, value in node.items():
            yield from leaves(value, f"{key}.{name}" if key else str(name))
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value, key)
    else:
        yield key, node


def name_outside_paths(settings: object, key: str) -> None:
    """Warn once of each path outside of the working folder that was not typed.

    The project's own files are no such paths, and prompts are not taken for paths.
    """
    for name, value in leaves(settings, key):
        if not isinstance(value, str) or "\0" in value or "prompt" in name.split("."):
            continue
        path = Path(os.path.realpath(os.path.expanduser(value)))
        inside = any(path.is_relative_to(folder) for folder in (Path.cwd(), PROJECT))
        if inside or value in _named or any(value in word for word in sys.argv[1:]):
            continue
        _named.add(value)
        log.warning("%s=%s is outside of the working folder; a file in conf/ set it", name, value)
