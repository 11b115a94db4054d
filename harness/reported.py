"""What a report rests on, read from the folders of its runs."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.config import Composition, Report, testset_folder
from harness.errors import RunError
from harness.grading.witnesses import machines
from harness.questions import (
    folded,
    question_sha256,
    read_grades,
    read_testset,
    response_sha256,
    select,
    still_meant,
    verdict_by_text,
)
from harness.records import LOST, Question, Response, Score, Verdict
from harness.run_facts import metric_facts, ordered, run_facts
from harness.store import Run

if TYPE_CHECKING:
    from harness.analysis import StudyTable

log = logging.getLogger(__name__)


def comparable(runs: Sequence[Run]) -> list[Run]:
    """Return the runs over the newest test set among them, and name those left out."""
    facts = {run: run.facts() for run in runs}
    newest = max(runs, key=lambda run: str(facts[run]["ended"]))
    wanted = facts[newest]["testset_fingerprint"]
    for run in runs:
        if facts[run]["testset_fingerprint"] != wanted:
            log.warning(
                "%s is left out: it was asked another test set than %s", run.name, newest.name
            )
    return [run for run in runs if facts[run]["testset_fingerprint"] == wanted]


@dataclass(frozen=True, slots=True)
class Rows:
    """What the folders of the runs hold of the questions chosen, whoever judged: run -> rows."""

    questions: Sequence[Question]
    responses: Mapping[str, Sequence[Response]]
    scores: Mapping[str, Sequence[Score]]
    """Of every judge, and those by named evidence."""
    verdicts: Mapping[str, Sequence[Verdict]]
    """Of every judge."""
    grades: Mapping[tuple[str, str, int], int | None]


def study_tables(
    runs: Sequence[Run], settings: Report, how: Composition
) -> dict[str, "StudyTable"]:
    """Return judge -> the study by this judge: the one chosen, then others over what they scored.

    Another judge that gave no label at all (a server that was down, a wrong name) is left out.
    Raises RunError where the one chosen was not asked about a run.
    """
    chosen = settings.judge.label
    for run in runs:
        check_evaluated(run, chosen, how)
    rows = read_rows(runs, settings)
    tables = {chosen: table_by(chosen, runs, rows, settings)}
    for judge in dict.fromkeys(judge for run in runs for judge in run.judges()):
        if judge == chosen:
            continue
        given = {run: [row for row in rows.scores[run.name] if row.judge == judge] for run in runs}
        scored = [run for run in runs if given[run]]
        if not scored:
            continue
        said = [v for run in scored for v in rows.verdicts[run.name] if v.judge == judge]
        lost = all(row.status in LOST for run in scored for row in given[run])
        if lost and not any(verdict.error is None and verdict.call for verdict in said):
            log.warning("the judge '%s' is left out: none of its labels of these runs came", judge)
            continue
        other = reworded(runs, judge, chosen)
        tables[judge] = table_by(judge, scored, rows, settings, other)
    return tables


def read_rows(runs: Sequence[Run], settings: Report) -> Rows:
    """Return the rows of the runs, and what people said of them."""
    from harness.analysis import gold_scores

    questions = chosen_questions(runs, settings)
    chosen = {question.id for question in questions}
    responses = {
        run.name: [row for row in run.responses() if row.question_id in chosen] for run in runs
    }
    scores = {run.name: [row for row in run.scores() if row.question_id in chosen] for run in runs}
    if any(question.evidence for question in questions):
        for name, answers in responses.items():
            scores[name] += gold_scores(questions, answers)
    verdicts = {
        run.name: [row for row in run.verdicts() if row.question_id in chosen] for run in runs
    }
    grades = human_grades(settings, runs, responses)
    return Rows(questions, responses, scores, verdicts, grades)


def table_by(
    judge: str,
    runs: Sequence[Run],
    rows: Rows,
    settings: Report,
    without: Collection[str] = (),
) -> "StudyTable":
    """Return the study as one judge sees it, `without` these checks of one's own."""
    from harness.analysis import study_table as joined

    names = [run.name for run in runs]
    scores = {
        name: [
            row
            for row in rows.scores[name]
            if row.judge in (None, judge) and row.metric not in without
        ]
        for name in names
    }
    return joined(
        facts=ordered(
            [run_facts(run, judge, rows.responses[run.name], scores[run.name]) for run in runs],
            settings.study.variants,
        ),
        questions=rows.questions,
        metrics=metric_facts(scores, runs, judge),
        scores=scores,
        responses={name: rows.responses[name] for name in names},
        grades=rows.grades,
        verdicts={
            name: [
                row
                for row in rows.verdicts[name]
                if row.judge == judge and row.check not in without
            ]
            for name in names
        },
    )


def reworded(runs: Sequence[Run], judge: str, chosen: str) -> frozenset[str]:
    """Return the checks of one's own that two judges were asked in other words: two checks."""
    said: dict[str, list[object]] = {}
    for run in runs:
        judges: Mapping[str, Any] = run.judges()
        for name in (judge, chosen):
            for check, wording in judges.get(name, {}).get("own", {}).items():
                said.setdefault(check, []).append(wording)
    return frozenset(check for check, own in said.items() if any(one != own[0] for one in own))


def check_evaluated(run: Run, judge: str, how: Composition) -> None:
    """Raise where this judge has not scored a run, with the command that has it do so."""
    judges = run.judges()
    if judge not in judges:
        others = f"; judge=... chooses another: it has those of {', '.join(judges)}"
        raise RunError(
            f"{run.name} has no scores of the judge '{judge}'; work them out: "
            f"python -m harness.evaluate {how.study_words} 'runs=[{run.name}]'"
            + (others if judges else "")
        )


def chosen_questions(runs: Sequence[Run], settings: Report) -> list[Question]:
    """Return the questions that the runs carry, or those of them that are asked for."""
    carried = {q.id: q for run in runs for q in read_testset(run.path).questions}
    return select(list(carried.values()), settings.questions, settings.limit)


def graders(settings: Report, runs: Sequence[Run]) -> tuple[str, ...]:
    """Return who graded answers of this test set, but for the study's own models."""
    refused = {folded(name) for name in machines(runs, settings.judge.label)}
    names = dict.fromkeys(grade.grader for grade in read_grades(grades_file(settings)))
    return tuple(name for name in names if folded(name) not in refused)


def grades_file(settings: Report) -> Path:
    """Return where the grades of the study's test set lie."""
    return testset_folder(settings.study.testset) / "grades.jsonl"


def human_grades(
    settings: Report, runs: Sequence[Run], responses: Mapping[str, Sequence[Response]]
) -> dict[tuple[str, str, int], int | None]:
    """Return (run, question id, repeat) -> grade, for the texts that people have graded.

    None where they could not tell.
    """
    asked = {q.id: question_sha256(q) for run in runs for q in read_testset(run.path).questions}
    grades = still_meant(read_grades(grades_file(settings)), asked)
    said = verdict_by_text(grades, machines(runs, settings.judge.label))
    return {
        (run, row.question_id, row.repeat): said[key]
        for run, rows in responses.items()
        for row in rows
        if row.response is not None
        and (key := (row.question_id, response_sha256(row.response))) in said
    }


def documents(questions: Sequence[Question]) -> dict[str, str]:
    """Return question id -> the document that its first evidence stands in; absent without."""
    return {q.id: q.evidence[0].document for q in questions if q.evidence}
