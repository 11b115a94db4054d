"""What a study can show, computed before it is collected."""

import subprocess
import sys
from dataclasses import asdict, fields
from pathlib import Path

import pytest

from harness.analysis import Assumptions
from harness.power import ASSUMPTIONS, COUNTS
from tests.conftest import Command

ROOT = Path(__file__).parent.parent
ARTICLE = ("questions=8", "contrasts=7", "metrics=4")


def test_the_articles_study_could_show_nothing(command: Command) -> None:
    """8 questions reach 2 / 2**8 = 0.0078; 28 tests ask for 0.05 / 28 = 0.0018."""
    done = command("power", *ARTICLE)

    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    for sentence in (
        "8 questions, 7 contrasts and 4 metrics make 28 tests.",
        "Smallest p: 0.0078.",
        "Level after Holm: 0.0018.",
        "no result can be beyond chance, whatever the answers are: ask at least 11 questions, or "
        "make at most 6 tests.",
        "Detectable difference: none.",
        "Questions needed: 68, to find a mean difference of 0.2 with 80% power.",
        "Questions needed for the trust check: 41 with grades by people",
    ):
        assert sentence in said
    assert done.stdout.endswith("next: python -m harness.study study=<name>\n")


def test_a_study_that_can_show_something(command: Command) -> None:
    """Twelve questions and two tests: 2 / 2**12 is under 0.025, and 0.05 / (2 / 2**12) = 102.4."""
    done = command("power", "questions=12", "contrasts=1", "metrics=2")

    assert "1 contrast and 2 metrics make 2 tests." in done.stdout
    assert "a result can be beyond chance, in a family of up to 102 tests." in done.stdout
    assert "Detectable difference: 0.40 is found with 80% power" in done.stdout


def test_thousands_of_questions(command: Command) -> None:
    """2 / 2**5000 = 1.4e-1505 is smaller than any float."""
    done = command("power", "questions=5000", "contrasts=7", "metrics=4")

    assert "Smallest p: 1.4e-1505." in done.stdout
    assert "So a result can be beyond chance." in done.stdout


@pytest.mark.parametrize(
    ("questions", "least", "difference"),
    # (2.6383 + 0.8416) x 0.4 / sqrt(n): two-sided level 0.05 / 6
    [(1030, "1.7e-310", "0.043"), (5000, "1.4e-1505", "0.02"), (100_000, "2.0e-30103", "0.0044")],
)
def test_any_number_of_questions_gives_a_table(
    questions: int, least: str, difference: str, command: Command
) -> None:
    """0.05 / 2 ** (1 - n) is beyond any float from 1,026 questions on."""
    done = command("power", f"questions={questions}", "contrasts=3", "metrics=2")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"Smallest p: {least}." in done.stdout
    assert f"Detectable difference: {difference} is found with 80% power" in done.stdout


def test_a_tiny_effect_needs_more_questions_than_anybody_asks(command: Command) -> None:
    """0.4 / 1e-200, squared, is beyond any float."""
    done = command("power", *ARTICLE, "effect=1e-200")

    assert (done.returncode, done.stderr) == (0, "")
    said = " ".join(done.stdout.split())
    assert "Questions needed: more than 100,000, to find a mean difference of 1e-200" in said


def test_assumptions_can_be_changed(command: Command) -> None:
    """A larger effect needs fewer questions, a weaker metric more grades."""
    done = command("power", *ARTICLE, "effect=0.5", "auc=0.7", "spread=0.5")

    said = " ".join(done.stdout.split())
    needed = int(said.partition("Questions needed: ")[2].partition(",")[0])
    graded = int(said.partition("trust check: ")[2].partition(" ")[0])
    assert needed < 68
    assert graded > 41
    assert "effect=0.5 spread=0.5 auc=0.7" in said


def test_an_impossible_difference_is_called_so(command: Command) -> None:
    """A detectable difference above 1 is marked as impossible for a share."""
    done = command("power", "questions=8", "contrasts=1", "metrics=1", "spread=3")

    assert "no share can differ by more than 1" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "questions is not set: python -m harness.power questions=... contrasts=..."),
        (("questions=8", "contrasts=7"), "metrics is not set"),
        (("questions=8", "contrast=7"), "unknown setting 'contrast' (did you mean 'contrasts'?)"),
        ((*ARTICLE, "power"), "'power' has no value: write power=<value>"),
        (("questions=8.5", "contrasts=7", "metrics=4"), "questions=8.5: give a whole number"),
        (("questions=0", "contrasts=7", "metrics=4"), "must each be 1 or more"),
        ((*ARTICLE, "auc=0.5"), "auc=0.5 must be between 0.5 and 1"),
        ((*ARTICLE, "effect=0"), "effect=0 must be a number other than 0"),
        ((*ARTICLE, "spread=-1"), "spread=-1 must be above 0"),
        ((*ARTICLE, "alpha=2"), "alpha=2 must be between 0 and 1"),
        ((*ARTICLE, "power=1"), "power=1 must be between 0 and 1"),
        ((*ARTICLE, "share_right=nan"), "share_right=nan must be between 0 and 1"),
    ],
)
def test_a_wrong_setting_is_one_line(
    words: tuple[str, ...], message: str, command: Command
) -> None:
    """What was wrong, which value, and what to do; exit code 1."""
    done = command("power", *words)

    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (1, 1, "")
    assert message in done.stderr


def test_the_help_lists_counts_and_assumptions(command: Command) -> None:
    """Every count and every field of the assumptions is a setting."""
    text = command("power", "--help").stdout

    assert all(f"  {setting.name}=" in text for setting in (*COUNTS, *ASSUMPTIONS))
    assert [s.name for s in ASSUMPTIONS] == [field.name for field in fields(Assumptions)]


def test_the_output_shows_the_assumptions(command: Command) -> None:
    """Every assumption is printed with its default."""
    text = " ".join(command("power", *ARTICLE).stdout.split())

    assert all(f" {name}={default:g}" in text for name, default in asdict(Assumptions()).items())


def test_the_help_loads_nothing_heavy() -> None:
    """Neither numpy nor Hydra is imported for the help."""
    code = (
        "import sys; sys.argv = ['power', '--help']; import harness.power; harness.power.main();"
        "sys.exit(bool({'numpy', 'scipy', 'hydra', 'omegaconf'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
