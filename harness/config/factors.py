"""Factors: the settings that distinguish two configured systems."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

from harness.systems import System

GROUPS = ("system", "prompt", "chat", "embedder", "captioner")
"""Groups that count as one factor when another choice is made in them."""

BUILD = ("package", "weights", "digest", "recording", "processor")
"""Parts of a model's identity that no setting names: one name may mean different weights."""


@dataclass(frozen=True, slots=True)
class Factors:
    """A variant's configuration as factors."""

    choices: dict[str, str]
    """Group -> the choice in it."""
    leaves: dict[str, object]
    """Dotted name -> value; inside a group the name begins with the group's."""
    inactive: tuple[str, ...]
    """Names that another setting switches off."""


def factors_of(system: System, choices: Mapping[str, str | None], version: str | None) -> Factors:
    """Return what distinguishes this configured system from another.

    Addresses, folders, time-outs and secrets are no factors; weights count by their content, as
    the build of their model.
    """
    leaves = dict(leaves_of(system))
    for group, identity in system.models().items():
        if build := [str(identity[part]) for part in BUILD if identity.get(part)]:
            leaves[f"{group}.build"] = " ".join(build)
    if version is not None:
        leaves["version"] = version
    groups = {group: str(choices[group]) for group in GROUPS if choices.get(group)}
    return Factors(groups, leaves, tuple(sorted(system.inactive())))


def leaves_of(node: Any, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield (dotted name, value) for every plain setting below a configured plug-in."""
    if hasattr(node, "factors"):
        yield from ((prefix + name, value) for name, value in node.factors().items())
        return
    for field in fields(node):
        value, name = getattr(node, field.name), prefix + field.name
        if field.metadata.get("factor", True) is False:
            continue
        if is_dataclass(value):
            yield from leaves_of(value, name + ".")
        else:
            yield name, plain(value)


def neutral_keys(node: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of the settings that are neither a factor nor part of a run's name."""
    for field in fields(node):
        value, name = getattr(node, field.name), prefix + field.name
        if field.metadata.get("factor", True) is False and not field.metadata.get("named"):
            yield name
        elif is_dataclass(value):
            yield from neutral_keys(value, name + ".")


def plain(value: object) -> object:
    """Return a value as JSON values, which compare by content."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    return value
