"""What is graded, by whom, and where it is kept."""

import getpass
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from harness.config.composition import Composition
from harness.config.paths import study_path, testset_folder
from harness.config.schema import Grade as Settings
from harness.errors import ConfigError
from harness.grade.desk import (
    GivenAnswer,
    GivenCaption,
    answers_of,
    captions_of,
    editions,
)
from harness.questions import CaptionGrade, Gradebook, Subject, folded, still_meant
from harness.questions.grades import G
from harness.records import Grade
from harness.store import Run, chosen_runs
from harness.studies.graders import machines

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sitting:
    """All that a call of the command works on."""

    settings: Settings
    how: Composition
    grader: str
    runs: tuple[Run, ...]
    answers: dict[Subject, GivenAnswer]
    captions: dict[Subject, GivenCaption]
    grades: Gradebook[Grade]
    caption_grades: Gradebook[CaptionGrade]

    @property
    def no_witnesses(self) -> frozenset[str]:
        """Names whose grades are no evidence about this study's metrics."""
        return machines(self.runs, self.settings.judge.label)

    def counting(self, book: Gradebook[G]) -> list[G]:
        """Return the grades of a book without those that an edit has made void, which are told."""
        return still_meant(book.read(), editions(self.answers.values()))

    def command(self, words: str = "") -> str:
        """Return a command on this study, ready to paste."""
        return " ".join(["python -m harness.grade", self.how.study_words, *words.split()])


def sitting(settings: Settings, how: Composition) -> Sitting:
    """Return what the settings ask for, having read the runs."""
    grader = user() if settings.grader is None else settings.grader.strip()
    if not grader:
        raise ConfigError("grader= is empty: say who grades, grader=ann")
    runs = tuple(chosen_runs(study_path(settings), settings.runs))
    folder = testset_folder(settings.study.testset)
    return Sitting(
        settings=settings,
        how=how,
        grader=grader,
        runs=runs,
        answers=answers_of(runs, settings.questions, settings.limit),
        captions=captions_of(runs),
        grades=Gradebook(folder / "grades.jsonl", Grade),
        caption_grades=Gradebook(folder / "caption_grades.jsonl", CaptionGrade),
    )


def user() -> str:
    """Return the name that one is logged in under."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run under a number that has no name
        raise ConfigError("nobody is logged in here: say who grades, grader=ann") from None


def check_person(at: Sitting) -> None:
    """Raise where the grader is called as the study's judge or generator."""
    if folded(at.grader) in map(folded, at.no_witnesses):
        raise ConfigError(
            f"grader={at.grader} is this study's judge or generator: its grades would be no "
            "evidence about its own metrics; give grader=<your name>"
        )


def warn_of_machines(at: Sitting, grades: Sequence[Grade | CaptionGrade]) -> None:
    """Say that grades taken in will not count, where a judge or generator gave them."""
    names = set(map(folded, at.no_witnesses))
    for grader in dict.fromkeys(grade.grader for grade in grades):
        if folded(grader) in names:
            log.warning(
                "'%s' is this study's judge or generator: its grades are kept, and are no "
                "evidence about metrics in the report",
                grader,
            )
