"""A report: everything it rests on, read from the runs, analysed and written."""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.config import Composition, Report, shown_path, study_path, testset_path
from harness.errors import RunError, pick
from harness.judge import ChatJudge
from harness.questions import (
    read_grades,
    read_testset,
    response_sha256,
    verdict_by_text,
)
from harness.records import Question, Response
from harness.store import Run, chosen_runs, write_whole

if TYPE_CHECKING:
    from harness.analysis import RunFacts, StudyTable
    from harness.render import StudyFacts

log = logging.getLogger(__name__)

WIDTH = 100
"""Columns where the output goes to a file or a pipe."""


def report(settings: Report, how: Composition) -> None:
    """Analyse the runs chosen, print the tables, and write report.md, CSVs and findings.json."""
    from rich.console import Console

    from harness.analysis import Options, analyse, as_json
    from harness.render import csv_tables, markdown, terminal

    runs = comparable(chosen_runs(study_path(settings), settings.runs))
    table = study(runs, settings)
    check_view(table, settings)
    analysis = analyse(table, Options(baseline=settings.baseline, factor=settings.factor))
    facts = study_facts(settings, how, runs)
    folder = study_path(settings) / "report"
    write_whole(folder / "report.md", markdown(analysis, facts, settings.language).encode())
    for name, text in csv_tables(analysis, settings.language).items():
        write_whole(folder / name, text.encode("utf-8-sig"))
    findings = json.dumps(as_json(analysis.findings), ensure_ascii=False, indent=1, allow_nan=False)
    write_whole(folder / "findings.json", findings.encode())
    screen = Console()
    if not screen.is_terminal:
        screen.width = WIDTH
    screen.print(terminal(analysis, facts, settings.language))
    print(f"report: {shown_path(folder / 'report.md')}")


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


def study(runs: Sequence[Run], settings: Report) -> "StudyTable":
    """Return everything the report rests on, read from the runs' folders."""
    from harness.analysis import MetricFacts, study_table
    from harness.metrics import METRICS

    judge = settings.judge.label
    scores = {run.name: run.scores(judge) for run in runs}
    for name, rows in scores.items():
        if not rows:
            raise RunError(
                f"{name} has no scores; work them out: python -m harness.evaluate "
                f"study.name={settings.study.name} 'runs=[{name}]'"
            )
    responses = {run.name: run.responses() for run in runs}
    questions: dict[str, Question] = {}
    for run in runs:
        questions |= {question.id: question for question in read_testset(run.path).questions}
    named = dict.fromkeys(score.metric for rows in scores.values() for score in rows)
    metrics = [
        MetricFacts(
            name,
            METRICS[name].layer,
            METRICS[name].higher_is_better is not False,
            METRICS[name].bounded,
        )
        for name in METRICS
        if name in named
    ]
    return study_table(
        facts=ordered([run_facts(run, judge) for run in runs], settings.study.variants),
        questions=list(questions.values()),
        metrics=metrics,
        scores=scores,
        responses=responses,
        grades=human_grades(settings, responses),
        verdicts={run.name: run.verdicts(judge) for run in runs},
    )


def run_facts(run: Run, judge: str) -> "RunFacts":
    """Return what analysis has to know of one run."""
    from harness.analysis import RunFacts

    facts: Mapping[str, Any] = run.facts()
    factors, made_with = facts["factors"], facts["made_with"]
    identity = json.dumps(run.judges().get(judge), sort_keys=True)
    mark = hashlib.sha256(identity.encode()).hexdigest()
    return RunFacts(
        name=run.name,
        variant=facts["variant"],
        choices=factors["choices"],
        leaves=factors["leaves"],
        inactive=frozenset(factors["inactive"]),
        corpus=facts["corpus_fingerprint"],
        testset=facts["testset_fingerprint"],
        asked=frozenset(question.id for question in read_testset(run.path).questions),
        partial=facts["partial"],
        notes=tuple(made_with["notes"]),
        overrides=tuple(w for w in facts["overrides"] if not w.startswith(("variant=", "study"))),
        scored_by={score.metric: mark for score in run.scores(judge) if score.judge is not None},
        generator=made_with["generator"],
        judge=judge,
    )


def ordered(facts: Sequence["RunFacts"], variants: Sequence[str]) -> list["RunFacts"]:
    """Return the runs in the order in which the study lists its variants, others after them."""
    from harness.analysis.order import natural

    place = {variant.split()[0]: number for number, variant in enumerate(variants)}
    return sorted(facts, key=lambda f: (place.get(f.variant, len(place)), natural(f.name)))


def human_grades(
    settings: Report, responses: Mapping[str, Sequence[Response]]
) -> dict[tuple[str, str, int], int]:
    """Return (run, question id, repeat) -> grade, for the texts that people have graded."""
    folder = testset_path(settings.study.testset)
    file = (folder if folder.is_dir() else folder.parent) / "grades.jsonl"
    said = verdict_by_text(read_grades(file))
    return {
        (run, row.question_id, row.repeat): said[key]
        for run, rows in responses.items()
        for row in rows
        if row.response is not None
        and (key := (row.question_id, response_sha256(row.response))) in said
    }


def check_view(table: "StudyTable", settings: Report) -> None:
    """Raise where the reader names a baseline or a factor that is not there."""
    runs = {run.name: run for run in table.runs}
    if settings.baseline is not None:
        pick(runs, settings.baseline, "baseline")
    if settings.factor is not None:
        factors = {name for run in table.runs for name in (*run.choices, *run.leaves)}
        pick(dict.fromkeys(factors), settings.factor, "factor")


def study_facts(settings: Report, how: Composition, runs: Sequence[Run]) -> "StudyFacts":
    """Return what the report says of the study beside its analysis."""
    from harness.render import Agreement, StudyFacts

    return StudyFacts(
        study=settings.study.name,
        question=settings.study.question,
        testset=runs[0].facts()["testset"]["name"],
        judge=settings.judge.label,
        judge_is_model=isinstance(settings.judge, ChatJudge),
        agreement=tuple(Agreement(**asdict(measured)) for measured in settings.judge.measured),
        generators={run.name: run.facts()["made_with"]["generator"] for run in runs},
        words=tuple(how.study_words.split()),
    )
