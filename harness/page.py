"""What people open: the page for a browser with all that it shows, and a paper's tables."""

import base64
import io
import logging
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.made import judge_of, made_of
from harness.questions import read_testset
from harness.records import Question, Response, Score
from harness.store import Run, write_whole

if TYPE_CHECKING:
    from harness.analysis import Analysis
    from harness.render import Section, StudyFacts
    from harness.render.html import Details, ShownFigure

log = logging.getLogger(__name__)

LONGEST_SIDE = 640
"""Pixels of a picture on the page; the run folder keeps it as it was."""

QUALITY = 60
"""Of a picture's compression, in percent."""


def write_page(
    folder: Path,
    analysis: "Analysis",
    facts: "StudyFacts",
    runs: Sequence[Run],
    language: str,
    cautions: Sequence["Section | None"] = (),
) -> Path:
    """Write `index.html` and return where it lies; `cautions` are shown with its warnings."""
    from harness.render.html import html_page

    file = folder / "index.html"
    told = tuple(section for section in cautions if section is not None)
    details = replace(details_of(analysis, facts, runs), cautions=told)
    page = html_page(analysis, facts, details, language)
    write_whole(file, page.encode("utf-8", "replace"))
    return file


def write_latex(folder: Path, analysis: "Analysis", facts: "StudyFacts", language: str) -> Path:
    """Write the tables for a paper into `report.tex` and return its path."""
    from harness.render.latex import latex

    file = folder / "report.tex"
    write_whole(file, latex(analysis, facts, language).encode("utf-8", "replace"))
    return file


def details_of(analysis: "Analysis", facts: "StudyFacts", runs: Sequence[Run]) -> "Details":
    """Return answers, verdicts, scores, pictures and records of the runs that are analysed."""
    from harness.render.html import Details

    named = {run.name: run for run in runs}
    shown = [named[summary.name] for summary in analysis.runs if summary.name in named]
    chosen = set(analysis.questions)
    questions = {q.id: q for run in shown for q in read_testset(run.path).questions}
    asked = tuple(question for name, question in questions.items() if name in chosen)
    responses = {
        run.name: tuple(row for row in run.responses() if row.question_id in chosen)
        for run in shown
    }
    judge = facts.judge
    return Details(
        questions=asked,
        responses=responses,
        verdicts={
            run.name: tuple(row for row in run.verdicts(judge) if row.question_id in chosen)
            for run in shown
            if judge is not None
        },
        scores={
            run.name: (
                *(row for row in run.scores(judge) if row.question_id in chosen),
                *gold(asked, responses[run.name]),
            )
            for run in shown
        },
        pictures=pictures_of(shown),
        records=tuple(made_of(run, judge) for run in shown),
        judge=judge_of(shown, judge) if shown and judge else {},
        commands=commands_of(facts),
    )


def gold(questions: Sequence[Question], responses: Sequence[Response]) -> list[Score]:
    """Return the scores by the evidence that the test set names; none where it names none."""
    from harness.analysis import gold_scores

    return gold_scores(questions, responses) if any(q.evidence for q in questions) else []


def commands_of(facts: "StudyFacts") -> tuple[str, ...]:
    """Return what makes the study, and this page, again."""
    words = shlex.join(facts.words)
    return tuple(f"python -m harness.{stage} {words}".strip() for stage in ("study", "report"))


def pictures_of(runs: Sequence[Run]) -> tuple["ShownFigure", ...]:
    """Return the figures that indexes were told about, each once, with what they were told."""
    from harness.render.html import FigureCaption, ShownFigure

    found: dict[str, ShownFigure] = {}
    shrunk: dict[str, tuple[str, int, int] | None] = {}
    for run in runs:
        for row in run.captions():
            if row["image_sha256"] not in shrunk:
                shrunk[row["image_sha256"]] = small(run.file(row["picture"]))
            drawn = shrunk[row["image_sha256"]]
            if drawn is None:
                continue
            said = FigureCaption(row["captioner"], row["text"], (run.name,))
            known = found.setdefault(
                row["figure"], ShownFigure(row["figure"], row["document"], row["page"], *drawn)
            )
            found[row["figure"]] = replace(known, captions=joined(known.captions, said))
    return tuple(found.values())


def joined(captions: tuple[Any, ...], new: Any) -> tuple[Any, ...]:
    """Return the captions with a new one, which joins its equal where there is one."""
    for at, old in enumerate(captions):
        if (old.captioner, old.text) == (new.captioner, new.text):
            both = replace(old, runs=(*old.runs, *new.runs))
            return (*captions[:at], both, *captions[at + 1 :])
    return (*captions, new)


def small(picture: bytes | None) -> tuple[str, int, int] | None:
    """Return a picture small enough for the page as a data URI, with its size in pixels.

    None where there is none, or it cannot be read: the page shows the caption all the same.
    """
    from PIL import Image, UnidentifiedImageError

    if picture is None:
        return None
    try:
        with Image.open(io.BytesIO(picture)) as opened:
            image = opened.convert("RGB")
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        log.warning("a figure is left out of the page: %s", error)
        return None
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    out = io.BytesIO()
    image.save(out, "WEBP", quality=QUALITY, method=6)
    data = base64.b64encode(out.getvalue()).decode()
    return f"data:image/webp;base64,{data}", image.width, image.height
