"""How the runs were made: what differs between them, and what each rests on."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.render.html.details import Made
from harness.render.quantities import count, quantity
from harness.render.wording import Words

COUNTED = ("questions", "failed", "asked", "sent", "remembered")
"""Numbers that are whole."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting over all runs."""

    name: str
    values: tuple[str, ...]
    inactive: tuple[bool, ...]
    """By run: another setting switches it off."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is recorded of the runs; one value where all agree."""

    name: str
    values: tuple[str, ...]

    def by_value(self, runs: Sequence[str]) -> dict[str, list[str]]:
        """Return value -> the runs that have it."""
        found: dict[str, list[str]] = {}
        for run, value in zip(runs, self.values, strict=True):
            found.setdefault(value, []).append(run)
        return found


def settings(made: Sequence[Made], words: Words) -> tuple[list[Setting], list[Setting]]:
    """Return the settings that differ between runs, and those that do not."""
    names = dict.fromkeys(name for one in made for name in one.settings)
    found = [
        Setting(
            name,
            tuple(words.value(one.settings[name]) if name in one.settings else "" for one in made),
            tuple(is_off(name, one) for one in made),
        )
        for name in names
    ]
    differing = [one for one in found if differs(one.name, made)]
    return differing, [one for one in found if one not in differing]


def differs(name: str, made: Sequence[Made]) -> bool:
    """Say whether the runs in which a setting acts have it at different values."""
    active = [repr(one.settings.get(name)) for one in made if not is_off(name, one)]
    return len(set(active)) > 1 or 0 < len(active) < len(made)


def is_off(name: str, one: Made) -> bool:
    """Say whether another setting switches this one off: itself, or its whole group."""
    return name in one.inactive or name.partition(".")[0] in one.inactive


def recorded(made: Sequence[Made]) -> tuple[Fact, ...]:
    """Return what is recorded of the runs, in the order of the first that has it."""
    names = dict.fromkeys(name for one in made for name in one.facts)
    return tuple(Fact(name, tuple(one.facts.get(name, "") for one in made)) for name in names)


def versions(made: Sequence[Made]) -> tuple[Fact, ...]:
    """Return the versions of the packages that shaped an answer or a score."""
    names = sorted({name for one in made for name in one.packages})
    return tuple(Fact(name, tuple(one.packages.get(name, "") for one in made)) for name in names)


def corpus_of(made: Sequence[Made]) -> dict[str, str]:
    """Return file -> SHA-256 of all that was indexed."""
    return {file: digest for one in made for file, digest in one.corpus.items()}


def spending(made: Sequence[Made]) -> tuple[Fact, ...]:
    """Return questions, calls, seconds and tokens by run; NA where a system does not tell."""
    names = dict.fromkeys(name for one in made for name in one.numbers)
    return tuple(
        Fact(
            name,
            tuple((count if name in COUNTED else quantity)(one.numbers.get(name)) for one in made),
        )
        for name in names
    )
