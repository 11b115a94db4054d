"""Whose grades count, and what they say: people's grades, never those of a model under test."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.analysis.suspects import OnWrongCaption, on_wrong_captions
from harness.config.paths import testset_folder
from harness.config.schema import Stage
from harness.questions import (
    Subject,
    answer_grades,
    caption_grades,
    current_grades,
    grade_by_text,
    question_sha256,
    read_testset,
    response_sha256,
)
from harness.records import Response
from harness.store import Run
from harness.systems import Provenance
from harness.text import fold_name


def graders(settings: Stage, runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the names of those who graded answers of this test set, without the study's models."""
    refused = {fold_name(name) for name in model_names(runs, settings.judge.label)}
    grades = answer_grades(testset_folder(settings.study.testset)).read()
    names = dict.fromkeys(grade.grader for grade in grades)
    return tuple(name for name in names if fold_name(name) not in refused)


def human_grades(
    settings: Stage, runs: Sequence[Run], responses: Mapping[str, Sequence[Response]]
) -> dict[tuple[str, str, int], int | None]:
    """Return (run, question id, repeat) -> grade, for the responses that people have graded.

    None where they could not tell.
    """
    asked = {q.id: question_sha256(q) for run in runs for q in read_testset(run.path).questions}
    book = answer_grades(testset_folder(settings.study.testset))
    grades = current_grades(book.read(), asked)
    by_text = grade_by_text(grades, model_names(runs, settings.judge.label))
    return {
        (run, row.question_id, row.repeat): by_text[key]
        for run, rows in responses.items()
        for row in rows
        if row.response is not None
        and (key := (row.question_id, response_sha256(row.response))) in by_text
    }


def model_names(runs: Sequence[Run], judge: str) -> frozenset[str]:
    """Return the names of a study's judges and generators.

    Grades under such a name are no evidence about metrics: a judge agrees with itself.

    Args:
        runs: Of the study.
        judge: The label of the judge that is configured, which may not have judged yet.
    """
    return frozenset([judge, *(name for run in runs for name in names_in_run(run))])


def names_in_run(run: Run) -> Iterator[str]:
    """Yield label and model of a run's generator and of each judge that has scored it."""
    made_with = Provenance.from_record(run.facts()["made_with"])
    for label, identity in ((made_with.generator, made_with.models), *run.judges().items()):
        chat = identity.get("chat") or {}
        yield from (name for name in (label, chat.get("model")) if name and isinstance(name, str))


def answers_on_wrong_captions(
    runs: Sequence[Run], folder: Path, judge: str
) -> dict[str, tuple[OnWrongCaption, ...]]:
    """Return run -> its answers that rely on a caption graded wrong; no entry for other runs.

    Args:
        runs: Of the study.
        folder: The test set's.
        judge: Whose verdicts say which passage supports which claim.
    """
    grades = caption_grades(folder).read()
    verdicts = grade_by_text(grades, model_names(runs, judge)) if grades else {}
    found = {
        run.name: on_wrong_captions(run.responses(), run.verdicts(judge), wrong)
        for run in runs
        if (wrong := wrong_caption_ids(run, verdicts))
    }
    return {run: answers for run, answers in found.items() if answers}


def wrong_caption_ids(run: Run, verdicts: Mapping[Subject, int | None]) -> frozenset[str]:
    """Return the ids of a run's caption passages whose caption people graded wrong."""
    return frozenset(
        row["figure"]
        for row in run.captions()
        if row["text"] and verdicts.get((row["image_sha256"], response_sha256(row["text"]))) == 0
    )
