"""A grading session: who grades, the answers and captions to grade, and the files of grades."""

import getpass
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config.composition import Composition
from harness.config.paths import study_path, testset_folder
from harness.config.schema import GradeSettings
from harness.errors import ConfigError
from harness.metrics import METRICS, assemble
from harness.questions import (
    CaptionGrade,
    Gradebook,
    Subject,
    answer_grades,
    caption_grades,
    current_grades,
    question_sha256,
    read_testset,
    response_sha256,
    select,
)
from harness.questions.grades import G
from harness.records import Grade, Question, Response
from harness.store import Run
from harness.studies.graders import model_names
from harness.studies.loaded_study import comparable, read_rows, table_by
from harness.studies.sound_runs import SoundRuns, sound_runs
from harness.text import fold_name

if TYPE_CHECKING:
    from harness.analysis.results import CorrectedDifference

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer to a question; which variants gave it is left out on purpose."""

    question: Question
    text: str
    response: Response
    """One of the rows that have this text."""

    @property
    def about(self) -> Subject:
        """The key of its grades."""
        return self.question.id, response_sha256(self.text)

    @property
    def edition(self) -> str:
        """The edition of its question, which is kept with a grade."""
        return question_sha256(self.question)

    @property
    def proposal(self) -> int | None:
        """The score by `answer_match`: 1, 0, or None where it is NA."""
        scored = METRICS["answer_match"].score(assemble(self.response, self.question, []))
        return None if scored.value is None else int(scored.value)


@dataclass(frozen=True, slots=True)
class GivenCaption:
    """A captioner's text about a picture."""

    figure: str
    image_sha256: str
    text: str
    picture: Path

    @property
    def about(self) -> Subject:
        """The key of its grades."""
        return self.image_sha256, response_sha256(self.text)


@dataclass(frozen=True, slots=True)
class GradingSession:
    """All that one call of the command works on."""

    settings: GradeSettings
    how: Composition
    grader: str
    chosen: SoundRuns
    answers: dict[Subject, GivenAnswer]
    captions: dict[Subject, GivenCaption]
    grades: Gradebook[Grade]
    caption_grades: Gradebook[CaptionGrade]

    @property
    def runs(self) -> Sequence[Run]:
        """The runs whose answers and captions are graded."""
        return self.chosen.runs

    def is_model(self, grader: str) -> bool:
        """Say whether grades by this name are no evidence: it is the study's judge or generator."""
        names = model_names(self.runs, self.settings.judge.label)
        return fold_name(grader) in map(fold_name, names)

    def current_grades(self, grades: Iterable[G]) -> list[G]:
        """Return the grades without outdated ones, of which a warning is logged."""
        editions = {answer.question.id: answer.edition for answer in self.answers.values()}
        return current_grades(grades, editions)


def open_session(settings: GradeSettings, how: Composition) -> GradingSession:
    """Return the session that the settings ask for, having read the runs."""
    grader = user_name() if settings.grader is None else settings.grader.strip()
    if not grader:
        raise ConfigError("grader= is empty: say who grades, grader=ann")
    chosen = sound_runs(study_path(settings), settings.runs, how)
    folder = testset_folder(settings.study.testset)
    return GradingSession(
        settings=settings,
        how=how,
        grader=grader,
        chosen=chosen,
        answers=answers_of(chosen.runs, settings.questions, settings.limit),
        captions=captions_of(chosen.runs),
        grades=answer_grades(folder),
        caption_grades=caption_grades(folder),
    )


def user_name() -> str:
    """Return the name of the logged-in user."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run under a number that has no name
        raise ConfigError("the user has no login name: say who grades, grader=ann") from None


def answers_of(
    runs: Sequence[Run], ids: Sequence[str] = (), limit: int | None = None
) -> dict[Subject, GivenAnswer]:
    """Return the distinct answers of the runs; failed questions have none.

    Answers to an older edition of a question are left out, as no report uses them any more.
    `ids` and `limit` choose among the questions, as in every stage.
    """
    newest_last = sorted(runs, key=lambda run: str(run.facts().get("ended")))
    carried = {run: {q.id: q for q in read_testset(run.path).questions} for run in newest_last}
    newest = {name: q for questions in carried.values() for name, q in questions.items()}
    chosen = {question.id: question for question in select(list(newest.values()), ids, limit)}
    found: dict[Subject, GivenAnswer] = {}
    for run in runs:
        for row in run.responses():
            question = chosen.get(row.question_id)
            if row.response is None or question is None:
                continue
            if question_sha256(carried[run][question.id]) == question_sha256(question):
                answer = GivenAnswer(question, row.response, row)
                found.setdefault(answer.about, answer)
    return found


def captions_of(runs: Sequence[Run]) -> dict[Subject, GivenCaption]:
    """Return the distinct captions in the indexes of the runs."""
    found: dict[Subject, GivenCaption] = {}
    for run in runs:
        for row in run.captions():
            if not row["text"]:
                continue
            caption = GivenCaption(
                figure=row["figure"],
                image_sha256=row["image_sha256"],
                text=row["text"],
                picture=run.path / "figures" / Path(row["picture"]).name,
            )
            found.setdefault(caption.about, caption)
    return found


def prospects(session: GradingSession) -> tuple[dict[str, float], Sequence["CorrectedDifference"]]:
    """Return question id -> the chance to be drawn for grading, and what more grades could decide.

    Runs that no judge has scored yet are included.
    """
    from harness.analysis.changes import Design
    from harness.analysis.corrections import chances_to_be_drawn, corrected_differences
    from harness.analysis.study_table import measures
    from harness.analysis.trust import metric_trust

    runs, settings = comparable(session.runs), session.settings
    table = table_by(settings.judge.label, runs, read_rows(runs, settings), settings)
    design, compared = Design(table.runs), measures(table)
    rows = corrected_differences(table, design, compared, metric_trust(table, compared))
    return chances_to_be_drawn(table, design, rows), rows


def check_grader(session: GradingSession) -> None:
    """Raise where the grader has the name of the study's judge or generator."""
    if session.is_model(session.grader):
        raise ConfigError(
            f"grader={session.grader} is this study's judge or generator: its grades would be no "
            "evidence about its own metrics; give grader=<your name>"
        )


def warn_of_model_grades(session: GradingSession, grades: Sequence[Grade | CaptionGrade]) -> None:
    """Warn of grades by a judge or generator, which will not count."""
    for grader in dict.fromkeys(grade.grader for grade in grades):
        if session.is_model(grader):
            log.warning(
                "'%s' is this study's judge or generator: its grades are kept, but the report "
                "does not use them as evidence about metrics",
                grader,
            )
