"""A report: the study analysed, printed, and written as Markdown, CSV, JSON and a page."""

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config.command import WIDTH
from harness.config.composition import Composition
from harness.config.paths import portable, shown_path, study_path, testset_folder
from harness.config.schema import Report
from harness.errors import pick
from harness.files import write_whole
from harness.judge import ChatJudge
from harness.judge.prompt import language
from harness.report.browser_page import evaluation_totals, judge_evaluations, write_page
from harness.store import Run
from harness.studies.graders import answers_on_wrong_captions, graders
from harness.studies.loaded_study import load_study, report_language
from harness.systems import Provenance

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.analysis import Analysis
    from harness.render import StudyFacts


def write_latex(
    folder: Path, analysis: "Analysis", facts: "StudyFacts", _: Sequence[Run], language: str
) -> Path:
    """Write the tables for a paper into `report.tex` and return its path."""
    from harness.render.latex import latex

    file = folder / "report.tex"
    write_whole(file, latex(analysis, facts, language).encode("utf-8", "replace"))
    return file


FORMATS: dict[str, Callable[[Path, "Analysis", "StudyFacts", Sequence[Run], str], Path]] = {
    "latex": write_latex
}
"""Name of a format -> the function that writes it into the report's folder and returns its file.

It is given the folder, the analysis, what is known of the study, the runs and the language. The
page is written whatever the format.
"""


def report(settings: Report, how: Composition) -> None:
    """Analyse the runs chosen, print the tables, and write report.md, CSVs and findings.json."""
    from rich.console import Console

    from harness.render import terminal

    of_study = language(settings.study.language)
    settings = replace(settings, language=report_language(settings.language, of_study))
    pick(dict.fromkeys(("page", *FORMATS)), settings.format, "format")
    study = load_study(settings, how)
    runs, analysis = study.runs, study.analysis
    facts = study_facts(settings, how, runs)
    folder = report_folder(settings, how)
    write_files(folder, analysis, facts, settings.language)
    page = write_page(folder, study, facts, settings.language)
    screen = Console()
    if not screen.is_terminal:
        screen.width = WIDTH
    if settings.suspects:
        screen.print(suspects_on_screen(analysis, settings.language))
        print(f"all of them: {shown_path(folder / 'suspects.csv')}")
    else:
        # uncropped: a command may be longer than the line, and must be whole to be pasted
        screen.print(terminal(analysis, facts, settings.language, screen.width), crop=False)
        print(f"report: {shown_path(folder / 'report.md')}")
        print(f"page for a browser: {shown_path(page)}")
    if settings.format in FORMATS:
        file = FORMATS[settings.format](folder, analysis, facts, runs, settings.language)
        print(f"format={settings.format}: {shown_path(file)}")
    study.chosen.check()


def report_folder(settings: Report, how: Composition) -> Path:
    """Return the folder of the report; a part of it never overwrites the whole.

    The command `study` chooses its runs itself, without the word `runs=`: they are the whole.
    """
    typed = any(word.startswith("runs=") for word in how.overrides)
    narrowed = {"runs": settings.runs if typed else [], "questions": settings.questions}
    names = [settings.baseline, settings.factor]
    names += ["-".join([what, *chosen]) for what, chosen in narrowed.items() if chosen]
    names += [] if settings.limit is None else [f"limit-{settings.limit}"]
    part = "-".join(name for name in names if name is not None)
    return study_path(settings) / "report" / (portable(part) if part else "")


def study_facts(settings: Report, how: Composition, runs: Sequence[Run]) -> "StudyFacts":
    """Return what the report says of the study beside its analysis."""
    from harness.render import StudyFacts

    judge = settings.judge.label
    return StudyFacts(
        study=settings.study.name,
        language=language(settings.study.language),
        question=settings.study.question,
        testset=runs[0].facts()["testset"]["name"],
        judge=judge,
        judge_is_model=isinstance(settings.judge, ChatJudge),
        agreement=tuple(map(asdict, settings.judge.accuracies)),
        reply_formats=evaluation_totals(judge_evaluations(runs, judge))["reply_formats"],
        generators={
            run.name: made_with.generator
            for run in runs
            if (made_with := Provenance.from_record(run.facts()["made_with"])).generator
        },
        graders=graders(settings, runs),
        wrong_captions=answers_on_wrong_captions(
            runs, testset_folder(settings.study.testset), judge
        ),
        overrides=tuple(map(shlex.quote, shlex.split(how.study_words))),
    )


def write_files(folder: Path, analysis: "Analysis", facts: "StudyFacts", language: str) -> None:
    """Write the report as Markdown, tables and suspects as CSV, and the findings as JSON."""
    from harness.analysis import as_json
    from harness.render import csv_tables, markdown

    write_whole(folder / "report.md", markdown(analysis, facts, language).encode())
    for name, text in csv_tables(analysis, language).items():
        write_whole(folder / name, text.encode("utf-8-sig"))
    findings = json.dumps(as_json(analysis.findings), ensure_ascii=False, indent=1, allow_nan=False)
    write_whole(folder / "findings.json", findings.encode())


def suspects_on_screen(analysis: "Analysis", language: str) -> "RenderableType":
    """Return the verdicts that a person should look at, for the terminal."""
    from rich.console import Group

    from harness.render import suspects, words
    from harness.render.terminal import section

    found = suspects(analysis, words(language))
    return Group(*section(found, WIDTH)) if found else "No verdict contradicts the text or another."
