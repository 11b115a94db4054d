"""What a study could show, worked out before anything is collected.

python -m harness.power questions=8 contrasts=7 metrics=4
python -m harness.power questions=8 contrasts=7 metrics=4 effect=0.3 spread=0.5
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.config.command import Setting, light

if TYPE_CHECKING:
    from harness.analysis import Power

COUNTS = (
    Setting("questions", "", "in the test set"),
    Setting("contrasts", "", "fair ones that the variants make: seven, for the demo's six"),
    Setting("metrics", "", "that are compared, right or wrong among them"),
)
SUPPOSED = (
    Setting("effect", "0.2", "a mean difference worth finding"),
    Setting("spread", "0.4", "standard deviation of the differences over questions"),
    Setting("auc", "0.85", "how often a right answer scores above a wrong one, in a good metric"),
    Setting("share_right", "0.65", "of the answers"),
    Setting("alpha", "0.05", "chance of any false claim in the whole report"),
    Setting("power", "0.8", "chance of finding the effect where it is there"),
)
"""What is not known before a study; the defaults are those of `harness.analysis.Assumptions`."""

MANY = 1_000
"""Tests beyond which no report goes."""

WIDTH = 100


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    counts: dict[str, int]
    supposed: dict[str, float]


def main() -> None:
    """Print what so many questions, contrasts and metrics can show."""
    light(__doc__ or "", (*COUNTS, *SUPPOSED), run)


def run(given: dict[str, str]) -> None:
    """Print what the settings given come to."""
    from harness.errors import ConfigError

    asked = numbers(given)
    from harness.analysis import Assumptions, power

    try:
        found = power(**asked.counts, assumed=Assumptions(**asked.supposed))
    except ValueError as error:
        raise ConfigError(str(error)) from None
    print("\n".join(sentences(found, asked.counts)))


def numbers(given: dict[str, str]) -> Asked:
    """Return the settings as numbers; all counts must be given."""
    from harness.errors import ConfigError

    for count in COUNTS:
        if count.name not in given:
            form = " ".join(f"{setting.name}=..." for setting in COUNTS)
            raise ConfigError(f"{count.name} is not set: python -m harness.power {form}")
    counts = {setting.name for setting in COUNTS}
    return Asked(
        {name: int(number(name, given[name], whole=True)) for name in counts},
        {name: number(name, text) for name, text in given.items() if name not in counts},
    )


def number(name: str, text: str, whole: bool = False) -> float:
    """Return a setting's number."""
    from harness.errors import ConfigError

    try:
        return int(text) if whole else float(text)
    except ValueError:
        kind = "a whole number" if whole else "a number"
        raise ConfigError(f"{name}={text}: give {kind}") from None


def sentences(found: "Power", counts: dict[str, int]) -> list[str]:
    """Return what the numbers mean, and how to suppose something else."""
    supposed = found.assumed
    chance = f"{supposed.power:.0%}"
    tests = plural(found.tests, "test")
    lines = [
        f"{plural(found.questions, 'question')}, {plural(counts['contrasts'], 'contrast')} and "
        f"{plural(counts['metrics'], 'metric')} make {tests}.",
        f"Smallest p: {found.smallest_p:.2g}. With {plural(found.questions, 'question')} no "
        "difference, however clear, can reach less.",
        f"Level after Holm: {found.level:.2g}. The strongest of {tests} must fall under "
        f"{supposed.alpha:g} / {found.tests}.",
        verdict(found),
        detectable(found, chance),
        f"Questions needed: {found.questions_needed}, to find a mean difference of "
        f"{supposed.effect:g} with {chance} power.",
        f"Questions needed for the trust check: {found.graded_questions} with grades by people, to "
        f"call a metric of AUC {supposed.auc:g} trusted 95 times in 100.",
    ]
    settings = " ".join(f"{s.name}={getattr(supposed, s.name):g}" for s in SUPPOSED)
    lines.append(f"Supposed, and yours to change: {settings}")
    return [
        *(part for text in lines for part in wrapped(text)),
        "next: python -m harness.study study=demo",
    ]


def verdict(found: "Power") -> str:
    """Say whether anything could be significant, and what it would take."""
    if found.possible:
        least = f", in a family of up to {plural(found.most_tests, 'test')}"
        return f"So a result can be beyond chance{least if found.most_tests < MANY else ''}."
    fewer = f", or make at most {plural(found.most_tests, 'test')}" if found.most_tests else ""
    return (
        "So nothing can be beyond chance, whatever comes out: ask at least "
        f"{found.fewest_questions} questions{fewer}."
    )


def detectable(found: "Power", chance: str) -> str:
    """Say how large a difference must be to be found."""
    if found.detectable is None:
        return "Detectable difference: none."
    beyond = " (but no share can differ by more than 1)" if found.detectable > 1 else ""
    return (
        f"Detectable difference: {found.detectable:.2f}{beyond} is found with {chance} power, "
        f"where differences vary by {found.assumed.spread:g}."
    )


def plural(count: int, word: str) -> str:
    """Return a count with its word.

    >>> plural(1, "test"), plural(28, "test")
    ('1 test', '28 tests')
    """
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def wrapped(text: str) -> list[str]:
    """Return a paragraph as lines of a list."""
    import textwrap

    return textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ")


if __name__ == "__main__":
    main()
