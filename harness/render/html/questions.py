"""Every question: its answers side by side, the passages behind them, and all scores."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.analysis.results import Analysis
from harness.records import Question, Response, Verdict
from harness.render.html.answers import (
    Claim,
    Failure,
    Spoken,
    Text,
    by_check,
    claims,
    failures,
    texts,
)
from harness.render.html.details import Details, Picture
from harness.render.html.grid import Mark, Row, grid_rows
from harness.render.html.ranked import Readers, readers
from harness.render.kinds import kinds_of
from harness.render.quantities import mean, quantity
from harness.render.wording import Words

ROOM = 4_000_000
"""Bytes that the texts of passages may take; beyond, each is cut."""

SHORTEST = 160
"""Characters that a cut passage keeps at least."""


@dataclass(frozen=True, slots=True)
class Scores:
    """One metric's scores on one question, by run."""

    title: str
    cells: tuple[str, ...]
    grey: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """All that is shown of one question."""

    row: Row
    question: Question | None
    evidence: tuple[Picture, ...]
    """Figures that the answer rests on."""
    texts: tuple[Text, ...]
    reference: tuple[Claim, ...]
    """The claims of the reference."""
    reference_failures: tuple[Failure, ...]
    readers: tuple[Readers, ...]
    scores: tuple[Scores, ...]


def asked(analysis: Analysis, details: Details, words: Words) -> Iterator[Asked]:
    """Yield the questions of which answers are given, in natural order."""
    questions = {question.id: question for question in details.questions}
    responses = by_question(analysis, details)
    longest = room_for(details)
    pictures = {picture.figure: picture for picture in details.pictures}
    scores = scores_by_question(analysis, details, words)
    for row in grid_rows(analysis, questions):
        spoken = responses.get(row.id, [])
        if not spoken:
            continue
        question = questions.get(row.id)
        figures = [place.figure for place in question.evidence] if question else []
        yield Asked(
            row=row,
            question=question,
            evidence=tuple(pictures[name] for name in figures if name in pictures),
            texts=texts(spoken),
            reference=tuple(claims(spoken, "reference")),
            reference_failures=tuple(failures(spoken, "reference")),
            readers=readers(spoken, row.place, longest),
            scores=scores.get(row.id, ()),
        )


def by_question(analysis: Analysis, details: Details) -> Mapping[str, list[Spoken]]:
    """Return question id -> what each run answered, in the order of the runs."""
    marks = {
        (row.run, row_.id): row_.marks[at]
        for row_ in grid_rows(analysis, {})
        for at, row in enumerate(analysis.outcomes.rows)
    }
    found: dict[str, list[Spoken]] = defaultdict(list)
    for run in analysis.runs:
        verdicts: dict[tuple[str, int], list[Verdict]] = defaultdict(list)
        for verdict in details.verdicts.get(run.name, ()):
            verdicts[verdict.question_id, verdict.repeat].append(verdict)
        answers = details.responses.get(run.name, ())
        several = any(response.repeat for response in answers)
        for response in answers:
            key = (response.question_id, response.repeat)
            found[response.question_id].append(
                Spoken(
                    name=named(run.name, response, several),
                    response=response,
                    mark=marks.get((run.name, response.question_id), Mark("", "", "plain")),
                    verdicts=by_check(verdicts[key]),
                )
            )
    return found


def named(run: str, response: Response, several: bool) -> str:
    """Return what an answer goes by: the run, and the repeat where there are several."""
    return f"{run} ({response.repeat + 1})" if several else run


def room_for(details: Details) -> int | None:
    """Return how many characters each passage may keep; None where all fit as they are."""
    texts = {
        (response.question_id, passage.id, passage.text)
        for rows in details.responses.values()
        for response in rows
        for passage in response.passages
    }
    total = sum(len(text.encode("utf-8", "replace")) for _, _, text in texts)
    if total <= ROOM:
        return None
    characters = sum(len(text) for _, _, text in texts)
    return max(SHORTEST, int(characters / len(texts) * ROOM / total))


def scores_by_question(
    analysis: Analysis, details: Details, words: Words
) -> Mapping[str, tuple[Scores, ...]]:
    """Return question id -> a row a metric, a cell a run; repeats stand side by side."""
    kinds = kinds_of(analysis)
    cells: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for run, scores in details.scores.items():
        for row in scores:
            write = quantity if row.metric in kinds.unbounded else mean
            text = (
                words.line("na", reason=words.get("statuses", row.status))
                if row.value is None
                else write(row.value)
            )
            cells[row.question_id, row.metric, run].append(text)
    found: dict[str, list[Scores]] = defaultdict(list)
    for question in analysis.questions:
        for metric in analysis.means:
            of_runs = [cells.get((question, metric.metric, run.name), []) for run in analysis.runs]
            if any(of_runs):
                texts = tuple(" ".join(texts) for texts in of_runs)
                grey = metric.metric in kinds.doubted
                found[question].append(Scores(words.metric(metric.metric), texts, grey))
    return {question: tuple(same) for question, same in found.items()}
