"""What the report is about: the study, who graded, who judged, who answered."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.analysis.results import Analysis
from harness.analysis.suspects import OnWrongCaption
from harness.render.blocks import Block, Items, Paragraph, Section
from harness.render.vocabulary import LANGUAGES, Words

MOST_MEASURED = 3
"""Lines on the judge's agreement with people in brief."""


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """What the report stage knows of a study beside its analysis. Paths do not belong here."""

    study: str
    """Its name."""
    question: str = ""
    """What the study asks, in a sentence."""
    testset: str = ""
    """The test set's name."""
    judge: str | None = None
    """The label in the judge column; None where no score needed a judge."""
    judge_is_model: bool = True
    """False where the judge is no language model (`overlap`): the report then says so."""
    agreement: tuple[Mapping[str, Any], ...] = ()
    """How often the judge agreed with labels that people gave, where that was measured: the fields
    of `harness.judge.JudgeAccuracy`. The report says where it was not."""
    reply_formats: Mapping[str, int] = field(default_factory=dict)
    """How many replies of the judge were requested as json_schema, json_object or prose, and
    `ignored`: how many do not have that format."""
    generators: Mapping[str, str] = field(default_factory=dict)
    """Run -> the label of what answers there: a model's name, or `extractive`."""
    graders: tuple[str, ...] = ()
    """Who graded the answers, or what: a name may be that of a program."""
    wrong_captions: Mapping[str, Sequence[OnWrongCaption]] = field(default_factory=dict)
    """Run -> its answers that rely on a caption graded wrong."""
    language: str = ""
    """The study's language as the judges call it: en, ja, zh_hant or zh_hans; the terminal shows
    the agreement that was measured in it. Empty where it is not known."""
    overrides: tuple[str, ...] = ()
    """The override words that name this study and its judge, quoted for a shell and put into
    commands to paste: ("study=census",)."""


def basis(analysis: Analysis, facts: StudyFacts, words: Words, brief: bool) -> Section:
    """Return what the report rests on: runs, graders, judge, models."""
    blocks: list[Block] = []
    numbers = {"runs": len(analysis.runs), "questions": len(analysis.questions)}
    size = "size" if facts.testset else "size_unnamed"
    blocks.append(Paragraph(words.line(size, testset=facts.testset, **numbers)))
    lender = LANGUAGES[words.language]
    sentences = []
    if lender != words.language:
        sentences.append(words.line("borrowed", language=words.language, lender=lender))
    sentences.append(graded(analysis, words))
    if facts.graders and analysis.outcomes.origins.get("grade"):
        sentences.append(words.line("graders", graders=facts.graders))
    sentences += measured(facts, words, brief)
    sentences += [*generators(facts, words), *run_notes(analysis, words)]
    blocks.append(Items(tuple(sentences)))
    return words.section("basis", blocks)


def view_of(analysis: Analysis) -> str:
    """Return the words that narrowed the report; empty where nothing did."""
    asked = {"baseline": analysis.baseline, "factor": analysis.factor}
    return " ".join(f"{name}={value}" for name, value in asked.items() if value is not None)


def graded(analysis: Analysis, words: Words) -> str:
    """Say who called answers right or wrong, and how many of them."""
    grid = analysis.outcomes
    known = sum(row.known for row in grid.rows)
    if not known:
        return words.line("graded_nobody")
    parts = [
        words.line("graded_cells", answers=count, known=known, origin=words.get("origins", origin))
        for origin, count in grid.origins.items()
    ]
    cells = sum(row.asked for row in grid.rows)
    if cells > known:
        parts.append(words.line("graded_unknown", unknown=cells - known, cells=cells))
    return words.line("graded", origins=parts)


def measured(facts: StudyFacts, words: Words, brief: bool) -> Iterator[str]:
    """Say who judged, whether its replies were held to a schema, and its agreement with people.

    In brief only measurements in the study's language are given; in full all are listed beside
    the metrics' trust.
    """
    if facts.judge is None:
        yield words.line("judge_none")
        return
    yield words.line("judge" if facts.judge_is_model else "judge_no_model", judge=facts.judge)
    formats = facts.reply_formats
    replies = sum(formats.values()) - formats.get("ignored", 0)
    for name in ("json_object", "prose", "ignored"):
        if count := formats.get(name):
            yield words.line(f"reply_format_{name}", count=count, replies=replies)
    if not facts.agreement:
        yield words.line("agreement_none")
    if not brief:
        return
    # what was measured as zh holds for zh_hant and zh_hans alike
    spoken = (facts.language, facts.language.partition("_")[0])
    own = [row for row in facts.agreement if not facts.language or row["language"] in spoken]
    every = len(facts.agreement)
    shown = own if len(own) == every <= MOST_MEASURED else own[: MOST_MEASURED - 1]
    for row in shown:
        yield words.line("agreement_short", **row)
    if shown:
        yield words.line("agreement_checks")
    if more := every - len(shown):
        yield words.line("agreement_more" if shown else "agreement_elsewhere", more=more)


def generators(facts: StudyFacts, words: Words) -> Iterator[str]:
    """Say which model answered, run by run where it differs."""
    runs: dict[str, list[str]] = defaultdict(list)
    for run, generator in facts.generators.items():
        runs[generator].append(run)
    if len(runs) == 1:
        yield words.line("generator", generators=list(runs))
    elif runs:
        parts = [
            words.line("generator_of", generator=generator, runs=names)
            for generator, names in runs.items()
        ]
        yield words.line("generator", generators=parts)


def run_notes(analysis: Analysis, words: Words) -> Iterator[str]:
    """Yield the notes that runs carry, each with its runs."""
    noted: dict[str, list[str]] = defaultdict(list)
    for summary in analysis.runs:
        for note in summary.notes:
            noted[note].append(summary.name)
    for note, runs in noted.items():
        who = words.line("every_run") if len(runs) == len(analysis.runs) else words.list(runs)
        if note in words.texts["notes"]:
            yield words.fill(words.texts["notes"][note], {"runs": who}, {})
        else:
            yield words.line("note", runs=who, note=note)
