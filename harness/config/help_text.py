"""What `--help` prints: a command, its settings and the choices, without composing anything."""

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any

from harness.config import paths
from harness.config.schema import REQUIRED, STAGES, Study

FIRST = ("study", "variant", "system")
"""Groups that are listed before the others."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One `name=value` that a command takes."""

    name: str
    default: str
    meaning: str


def help_text(name: str, about: str) -> str:
    """Return what a stage does, its settings, and the choices of each group in `conf/`."""
    groups = sorted(path.name for path in paths.CONF.iterdir() if path.is_dir())
    groups = [*FIRST, *(name for name in groups if name not in (*FIRST, "check"))]
    return "\n".join(
        [
            about.strip(),
            "\nSettings (key=value):",
            *map(line, arguments(STAGES[name])),
            "\nSettings of the study (study.key=value):",
            *map(line, arguments(Study)),
            "\nChoices (group=choice; their settings: variant.top_k=6, variant.chat.model=...):",
            *(f"  {group:<15} {', '.join(choices(group))}" for group in groups),
            f"\nCustom checks (metrics=[...]): {', '.join(choices('check'))}",
            "\n--cfg job shows the settings in force; -m runs a sweep (variant.top_k=2,4,6).",
        ]
    )


def line(argument: Argument) -> str:
    """Return one argument as a line of the help."""
    return f"  {argument.name + '=' + argument.default:<22} {argument.meaning}".rstrip()


def arguments(settings: type[Any]) -> Iterator[Argument]:
    """Yield the settings of a dataclass that have a help text, in the order of its fields."""
    for field in fields(settings):
        if meaning := field.metadata.get("help"):
            yield Argument(field.name, default_text(field), meaning)


def default_text(field: Field[Any]) -> str:
    """Return a default as it is typed; empty for a list, and where there is no default."""
    if field.default in (MISSING, REQUIRED, None):
        return ""
    return str(field.default).lower()


def choices(group: str) -> list[str]:
    """Return the files of a group in `conf/`."""
    return sorted(path.stem for path in (paths.CONF / group).glob("*.yaml"))
