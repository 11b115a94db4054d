"""What a study can show, computed before anything is collected.

python -m harness.power questions=8 contrasts=7 metrics=4
python -m harness.power questions=8 contrasts=7 metrics=4 effect=0.3 spread=0.5

The three counts must be given; the other settings have defaults, which the output shows.
"""

import textwrap
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from harness.config.command import WIDTH, Argument, light

if TYPE_CHECKING:
    from harness.analysis import Power

COUNTS = (
    Argument("questions", "", "number of questions in the test set", int),
    Argument("contrasts", "", "number of pairs that differ in one factor (demo: seven)", int),
    Argument("metrics", "", "number of metrics compared, including right/wrong", int),
)
ASSUMPTIONS = (
    Argument("effect", "", "the mean difference worth finding", float),
    Argument("spread", "", "standard deviation of the differences over questions", float),
    Argument("auc", "", "how often a good metric scores a right answer above a wrong one", float),
    Argument("share_right", "", "share of right answers", float),
    Argument("alpha", "", "chance of any false claim in the whole report", float),
    Argument("power", "", "chance of finding the effect if it exists", float),
)
"""The fields of `harness.analysis.Assumptions`, which has the defaults."""

MANY = 1_000
"""More tests than any report has."""

MOST_QUESTIONS = 100_000
"""Beyond it the questions needed are not counted out."""


def main() -> None:
    """Print what a study of this size can show."""
    light(__doc__ or "", (*COUNTS, *ASSUMPTIONS), show_power)


def show_power(given: dict[str, Any]) -> None:
    """Print the results for the settings given."""
    from harness.analysis import Assumptions, power
    from harness.errors import ConfigError

    for setting in COUNTS:
        if setting.name not in given:
            form = " ".join(f"{count.name}=..." for count in COUNTS)
            raise ConfigError(f"{setting.name} is not set: python -m harness.power {form}")
    counts = {setting.name: given.pop(setting.name) for setting in COUNTS}
    try:
        result = power(**counts, assumed=Assumptions(**given))
    except ValueError as error:
        raise ConfigError(str(error)) from None
    for text in sentences(result, counts):
        print(textwrap.fill(text, WIDTH, initial_indent="- ", subsequent_indent="  "))
    print("next: python -m harness.study study=<name>")


def sentences(result: "Power", counts: dict[str, int]) -> list[str]:
    """Return the results in words, and the assumptions that can be changed."""
    assumed = result.assumed
    questions, tests = plural(result.questions, "question"), plural(result.tests, "test")
    smallest = result.smallest_p or Decimal(2) ** (1 - result.questions)  # beyond a float
    settings = " ".join(f"{s.name}={getattr(assumed, s.name):g}" for s in ASSUMPTIONS)
    found = result.questions_needed
    needed = found if found <= MOST_QUESTIONS else f"more than {MOST_QUESTIONS:,}"
    return [
        f"{questions}, {plural(counts['contrasts'], 'contrast')} and "
        f"{plural(counts['metrics'], 'metric')} make {tests}.",
        f"Smallest p: {smallest:.2g}. With {questions} no difference, however clear, can "
        "reach a smaller p.",
        f"Level after Holm: {result.level:.2g}. The strongest of {tests} must be below "
        f"{assumed.alpha:g} / {result.tests}.",
        significance(result),
        detectable_difference(result),
        f"Questions needed: {needed}, to find a mean difference of "
        f"{assumed.effect:g} with {assumed.power:.0%} power.",
        f"Questions needed for the trust check: {result.graded_questions} with grades by people, "
        f"to call a metric of AUC {assumed.auc:g} trusted 95 times in 100.",
        f"Assumptions, which you can change: {settings}",
    ]


def significance(result: "Power") -> str:
    """Say whether any result could be significant, and what that would need."""
    if result.possible:
        many = result.most_tests >= MANY  # Python writes no more than 4,300 digits
        most = "" if many else f", in a family of up to {plural(result.most_tests, 'test')}"
        return f"So a result can be beyond chance{most}."
    fewer = f", or make at most {plural(result.most_tests, 'test')}" if result.most_tests else ""
    return (
        "So no result can be beyond chance, whatever the answers are: ask at least "
        f"{result.fewest_questions} questions{fewer}."
    )


def detectable_difference(result: "Power") -> str:
    """Say how large a difference must be to be found."""
    if result.detectable is None:
        return "Detectable difference: none."
    note = " (but no share can differ by more than 1)" if result.detectable > 1 else ""
    found = (
        f"{result.detectable:.2f}"
        if 0.1 <= result.detectable < MANY
        else f"{result.detectable:.2g}"
    )
    return (
        f"Detectable difference: {found}{note} is found with "
        f"{result.assumed.power:.0%} power if differences vary by {result.assumed.spread:g}."
    )


def plural(count: int, word: str) -> str:
    """Return a count with its word.

    >>> plural(1, "test"), plural(28, "test")
    ('1 test', '28 tests')
    """
    return f"{count:,} {word}" + ("" if count == 1 else "s")


if __name__ == "__main__":
    main()
