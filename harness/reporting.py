"""A report: everything it rests on, read from the runs, analysed and written."""

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

from harness.account import WIDTH
from harness.config import Composition, Report, portable, shown_path, study_path, testset_folder
from harness.declarations import confirmed
from harness.errors import ConfigError, pick
from harness.grading.witnesses import on_wrong_captions
from harness.judge import ChatJudge
from harness.judge.languages import language
from harness.page import write_latex, write_page
from harness.reported import comparable, documents, graders, study_tables
from harness.store import Run, chosen_runs, write_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.analysis import Analysis, Options, StudyTable
    from harness.render import StudyFacts
    from harness.render.blocks import Section

log = logging.getLogger(__name__)

FORMATS = ("page", "latex")

CLUSTERS = ("question", "document")
"""What may be drawn by chance."""


def report(settings: Report, how: Composition) -> None:
    """Analyse the runs chosen, print the tables, and write report.md, CSVs and findings.json."""
    from rich.console import Console

    from harness.analysis import analyse, judged_by_several
    from harness.render import LANGUAGES, terminal
    from harness.render.terminal import section

    pick(LANGUAGES, settings.language, "language")
    pick(dict.fromkeys(FORMATS), settings.format, "format")
    runs = comparable(chosen_runs(study_path(settings), settings.runs))
    tables = study_tables(runs, settings, how)
    table = tables[settings.judge.label]
    asked = options(settings, runs, table)
    analysis = judged_by_several(analyse(table, asked), tables, asked)
    facts = study_facts(settings, how, runs)
    folder = report_folder(settings)
    wrong = wrong_captions(runs, settings)
    write(folder, analysis, facts, settings.language, wrong)
    page = write_page(folder, analysis, facts, runs, settings.language, [wrong])
    screen = Console()
    if not screen.is_terminal:
        screen.width = WIDTH
    if settings.suspects:
        screen.print(suspects(analysis, settings.language))
        print(f"all of them: {shown_path(folder / 'suspects.csv')}")
    else:
        screen.print(terminal(analysis, facts, settings.language, screen.width))
        if wrong is not None:
            screen.print(*section(wrong, screen.width), sep="\n")
        print(f"report: {shown_path(folder / 'report.md')}")
        print(f"page for a browser: {shown_path(page)}")
    if settings.format == "latex":
        paper = write_latex(folder, analysis, facts, settings.language)
        print(f"for a paper: {shown_path(paper)}")


def report_folder(settings: Report) -> Path:
    """Return where the report goes; a part of it never overwrites the whole."""
    part = "-".join(name for name in (settings.baseline, settings.factor) if name is not None)
    return study_path(settings) / "report" / (portable(part) if part else "")


def options(settings: Report, runs: Sequence[Run], table: "StudyTable") -> "Options":
    """Return what the reader asks for, each name checked."""
    from harness.analysis import Options
    from harness.analysis.factors import Design

    if settings.baseline is not None:
        pick({run.name: run for run in table.runs}, settings.baseline, "baseline")
    if settings.factor is not None:
        changes = Design(table.runs).changes.values()
        differing = {change.factor: change for found in changes for change in found}
        pick(differing, settings.factor, "factor")
    return Options(
        baseline=settings.baseline,
        factor=settings.factor,
        primary=confirmed(runs, table.runs, settings.study),
        clusters=clusters(settings.cluster, table),
    )


def clusters(kind: str, table: "StudyTable") -> dict[str, str]:
    """Return question id -> the document it is drawn with; nothing where questions are drawn."""
    pick(dict.fromkeys(CLUSTERS), kind, "cluster")
    if kind == "question":
        return {}
    found = documents(table.questions)
    if not found:
        raise ConfigError(
            "cluster=document: no question says in which document its answer stands; "
            "give 'evidence' in the test set"
        )
    if without := [question.id for question in table.questions if question.id not in found]:
        log.warning("cluster=document: without evidence, so alone: %s", ", ".join(without))
    return found


def wrong_captions(runs: Sequence[Run], settings: Report) -> "Section | None":
    """Return which answers rest on a caption that people graded wrong; None where none does."""
    from harness.render import words, wrong_captions

    found = on_wrong_captions(runs, testset_folder(settings.study.testset), settings.judge.label)
    return wrong_captions(found, words(settings.language))


def write(
    folder: Path,
    analysis: "Analysis",
    facts: "StudyFacts",
    language: str,
    wrong: "Section | None" = None,
) -> None:
    """Write the report as Markdown, the tables and the findings."""
    from harness.analysis import as_json
    from harness.render import csv_tables, markdown
    from harness.render.markdown import section

    text = markdown(analysis, facts, language)
    if wrong is not None:
        text = "\n\n".join([text.rstrip(), *section(wrong, 2), ""])
    write_whole(folder / "report.md", text.encode())
    tables = csv_tables(analysis, language) | {"suspects.csv": suspects_csv(analysis)}
    for name, text in tables.items():
        write_whole(folder / name, text.encode("utf-8-sig"))
    findings = json.dumps(as_json(analysis.findings), ensure_ascii=False, indent=1, allow_nan=False)
    write_whole(folder / "findings.json", findings.encode())


def suspects(analysis: "Analysis", language: str) -> "RenderableType":
    """Return the verdicts that a person should look at, for the terminal."""
    from rich.console import Group

    from harness.render import suspects, words
    from harness.render.terminal import section

    found = suspects(analysis, words(language))
    return Group(*section(found, WIDTH)) if found else "No verdict contradicts the text or another."


def suspects_csv(analysis: "Analysis") -> str:
    """Return every suspect verdict as a row."""
    from harness.analysis.results import Suspect
    from harness.render import csv_text

    return csv_text(
        [field.name for field in fields(Suspect)], [asdict(s) for s in analysis.suspects]
    )


def study_facts(settings: Report, how: Composition, runs: Sequence[Run]) -> "StudyFacts":
    """Return what the report says of the study beside its analysis."""
    from harness.render import Agreement, StudyFacts

    return StudyFacts(
        study=settings.study.name,
        language=language(settings.study.language),
        question=settings.study.question,
        testset=runs[0].facts()["testset"]["name"],
        judge=settings.judge.label,
        judge_is_model=isinstance(settings.judge, ChatJudge),
        agreement=tuple(Agreement(**asdict(measured)) for measured in settings.judge.measured),
        generators={run.name: run.facts()["made_with"]["generator"] for run in runs},
        graders=graders(settings, runs),
        words=tuple(how.study_words.split()),
    )
