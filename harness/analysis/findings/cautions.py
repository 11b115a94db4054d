"""Findings that make a number mean less than it seems, or a metric or an answer doubtful."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from harness.analysis.contrasts import FIXED_AT_ZERO
from harness.analysis.counterfactuals import acts_on_generation
from harness.analysis.findings.statements import about
from harness.analysis.means import COARSE
from harness.analysis.passage_changes import evidence_retrieved
from harness.analysis.results import (
    Analysis,
    Contrast,
    Finding,
    MetricMeans,
    MetricTrust,
    Passages,
    RunSummary,
    Severity,
    Trust,
    Verdict,
)
from harness.analysis.statistics.sign_flip import binomial_p
from harness.analysis.study_table import RunFacts, StudyTable
from harness.records import Layer, Response

Numbers = Mapping[str, float | int | None]

SATURATED = 0.8
"""Share of the index that comes back for each question from which retrieval metrics are dull."""

TILTED = 0.05
"""How unlikely the NA cells must be to fall so unevenly on the two sides."""

NOTEWORTHY = 0.1
"""Share of questions, NA on one side only, from which it is worth saying that the sign hangs on
the NA ones."""

MOSTLY = 0.5
"""Share of the cells from which a metric as a whole is called quantised."""


def cautions(study: StudyTable, analysis: Analysis) -> Iterator[Finding]:
    """Yield the warnings that stand next to the numbers."""
    for run in analysis.runs:
        yield from about_run(study, run)
    for metric in analysis.means:
        yield from about_metric(metric)
    for contrast in analysis.contrasts:
        yield from about_passages(contrast)
        yield from about_missing(contrast)
    yield from about_questions(study, analysis)
    for left, right, reason in analysis.incomparable:
        yield Finding(
            "not_comparable", Severity.WARNING, names={"reason": reason}, left=left, right=right
        )


def about_run(study: StudyTable, run: RunSummary) -> Iterator[Finding]:
    """Yield what was not asked, not answered, or retrieved whole."""
    if run.errors:
        failed = questions_where(study, run, lambda r: r.response is None)
        numbers: Numbers = {"errors": run.errors, "asked": run.asked}
        yield Finding("system_errors", Severity.WARNING, numbers, run=run.name, questions=failed)
    if run.partial:
        asked, questions = run.part or (run.asked, len(study.questions))
        numbers = {"asked": asked, "questions": questions}
        yield Finding("partial_run", Severity.WARNING, numbers, run=run.name)
    sizes: Numbers = {"k_returned": run.k_returned, "corpus_size": run.corpus_size}
    if run.saturation is not None and run.saturation >= SATURATED:
        numbers = {**sizes, "share": run.saturation}
        yield Finding("saturated", Severity.WARNING, numbers, run=run.name)
    short = questions_where(study, run, k_not_reached)
    if short:
        fewest = min(
            response.k_returned
            for question in short
            for response in study.responses[run.name, question]
            if k_not_reached(response)
        )
        numbers = {
            "k_requested": run.k_requested,
            "k_returned": fewest,
            "corpus_size": run.corpus_size,
            "questions": len(short),
        }
        yield Finding("k_not_reached", Severity.WARNING, numbers, run=run.name)


def questions_where(
    study: StudyTable, run: RunSummary, holds: Callable[[Response], bool]
) -> tuple[str, ...]:
    """Return the questions of which this holds for some repeat of the answer."""
    return tuple(
        question.id
        for question in study.questions
        if any(holds(response) for response in study.responses.get((run.name, question.id), ()))
    )


def k_not_reached(response: Response) -> bool:
    """Say whether fewer passages came back than were asked for."""
    return (
        response.response is not None
        and response.k_requested is not None
        and response.k_returned < response.k_requested
    )


def about_metric(metric: MetricMeans) -> Iterator[Finding]:
    """Yield how much of a metric is missing, and how coarse it is."""
    cells = sum(cell.asked for cell in metric.cells)
    statuses: Counter[str] = Counter()
    for cell in metric.cells:
        statuses.update(cell.statuses)
    for status, count in sorted(statuses.items()):
        yield Finding(
            "missing_scores",
            Severity.WARNING,
            numbers={"missing": count, "cells": cells},
            names={"status": status},
            metric=metric.metric,
        )
    coarse = sum(cell.coarse for cell in metric.cells)
    scored = sum(cell.scored for cell in metric.cells)
    units = [cell.units for cell in metric.cells if cell.units is not None]
    if metric.bounded and units and coarse > MOSTLY * scored:
        yield Finding(
            "quantised",
            Severity.WARNING,
            numbers={"coarse": coarse, "cells": scored, "units": min(units)},
            metric=metric.metric,
        )


def about_passages(contrast: Contrast) -> Iterator[Finding]:
    """Yield that retrieval differs where the one thing that was changed acts after it."""
    moved = tuple(
        question
        for question, kind in contrast.passages.by_question.items()
        if kind in (Passages.CHANGED, Passages.REORDERED)
    )
    if moved and acts_on_generation(contrast.factor):
        yield about(contrast, "retrieval_moved", Severity.WARNING, questions=moved)


def about_missing(contrast: Contrast) -> Iterator[Finding]:
    """Yield differences whose sign hangs on NA cells, and metrics judged by other prompts."""
    for row in contrast.differences:
        if row.verdict is Verdict.NOT_COMPARED and row.questions and row.p is None:
            yield about(
                contrast,
                "judged_differently",
                Severity.WARNING,
                metric=row.metric,
                numbers={"others": 0},
            )
            continue
        left, right = len(row.dropped_left), len(row.dropped_right)
        # what is NA on both sides alike tilts nothing
        uneven = left + right
        tilted = binomial_p(left, right) <= TILTED
        hangs = row.flips_with_missing and uneven >= NOTEWORTHY * (uneven + row.questions)
        if uneven and row.questions and row.verdict not in FIXED_AT_ZERO and (tilted or hangs):
            yield about(
                contrast,
                "missing_not_at_random",
                Severity.WARNING,
                metric=row.metric,
                numbers={
                    "left_missing": left + len(row.dropped_both),
                    "right_missing": right + len(row.dropped_both),
                    "compared": row.questions,
                    "mean": row.mean,
                    "worst": row.worst,
                    "best": row.best,
                    "flips": int(row.flips_with_missing),
                    "others": 0,
                },
                questions=(*row.dropped_left, *row.dropped_right, *row.dropped_both),
            )


def about_questions(study: StudyTable, analysis: Analysis) -> Iterator[Finding]:
    """Yield which questions say anything, and which share their wording."""
    grid = analysis.outcomes
    if grid.known and len(grid.rows) > 1:
        yield Finding(
            "informative",
            Severity.FINDING,
            numbers={"informative": len(grid.informative), "questions": grid.known},
            questions=grid.informative,
        )
        for kind, severity, ids in (
            ("always_wrong", Severity.WARNING, grid.always_wrong),
            ("always_right", Severity.NOTE, grid.always_right),
        ):
            if ids:
                yield Finding(kind, severity, numbers={"runs": len(grid.rows)}, questions=ids)
    wordings = defaultdict(list)
    for question in study.questions:
        wordings[question.question.strip()].append(question.id)
    for ids_ in wordings.values():
        if len(ids_) > 1:
            yield Finding("same_wording", Severity.WARNING, questions=tuple(ids_))


def doubts(study: StudyTable, analysis: Analysis) -> Iterator[Finding]:
    """Yield what a reader must hold against the metrics, the judge and single answers."""
    for one in analysis.trust:
        yield about_trust(one)
    yield from single_cells(study)
    evidence = evidence_retrieved(study)
    for run in study.runs:
        yield from refusals(study, run, evidence)
        yield from same_family(run)
    suspect: dict[str, Counter[str]] = defaultdict(Counter)
    for row in analysis.suspects:
        suspect[row.run][row.reason] += 1
    for name, reasons in suspect.items():
        yield Finding(
            "suspect_verdicts",
            Severity.WARNING,
            numbers={
                "verbatim": reasons["verbatim_not_entailed"],
                "duplicates": reasons["duplicates_disagree"],
            },
            run=name,
            questions=tuple(
                dict.fromkeys(row.question_id for row in analysis.suspects if row.run == name)
            ),
        )


def about_trust(one: MetricTrust) -> Finding:
    """Return whether a metric can be believed."""
    if one.verdict is Trust.TOO_FEW_GRADES:
        return Finding(
            "too_few_grades",
            Severity.NOTE,
            numbers={"right": one.right, "wrong": one.wrong, "questions": one.questions},
            names={"graded_by": one.graded_by},
            metric=one.metric,
        )
    trusted = one.verdict is Trust.TRUSTED
    return Finding(
        "metric_trusted" if trusted else "metric_not_trusted",
        Severity.FINDING if trusted else Severity.WARNING,
        numbers={
            "auc": one.auc,
            "low": one.low,
            "high": one.high,
            "gap": one.gap,
            "right": one.right,
            "wrong": one.wrong,
            "questions": one.questions,
        },
        names={"graded_by": one.graded_by} | ({} if trusted else {"verdict": one.verdict.value}),
        metric=one.metric,
    )


def single_cells(study: StudyTable) -> Iterator[Finding]:
    """Yield right answers with the worst possible score on a handful of units: one cell each."""
    cube = study.scores
    for k, facts in enumerate(cube.metrics):
        if (
            facts.layer is not Layer.GENERATION
            or not facts.bounded
            or facts.higher_is_better is None
        ):
            continue
        worst = 0.0 if facts.higher_is_better else 1.0
        odd = (
            (study.right.values == 1)
            & (cube.values[:, :, k] == worst)
            & (cube.units[:, :, k] <= COARSE)
        )
        for run, question in np.argwhere(odd).tolist():
            yield Finding(
                "one_cell",
                Severity.WARNING,
                numbers={"value": worst, "units": int(cube.units[run, question, k])},
                run=cube.runs[run],
                metric=facts.name,
                questions=(cube.questions[question],),
            )


def refusals(
    study: StudyTable, run: RunFacts, evidence: dict[tuple[str, str], bool]
) -> Iterator[Finding]:
    """Yield refusals although the evidence was there, and answers where there is none."""
    refused = tuple(
        question.id
        for question in study.questions
        if question.answerable
        and question.id in run.refused
        and evidence.get((run.name, question.id), False)
    )
    if refused:
        yield Finding(
            "refused_despite_evidence",
            Severity.WARNING,
            numbers={"refused": len(refused)},
            run=run.name,
            questions=refused,
        )
    without = [
        question.id
        for question in study.questions
        if not question.answerable
        and any(r.response is not None for r in study.responses.get((run.name, question.id), ()))
    ]
    answered = tuple(name for name in without if name not in run.refused)
    if answered:
        yield Finding(
            "answered_unanswerable",
            Severity.WARNING,
            numbers={"answered": len(answered), "unanswerable": len(without)},
            run=run.name,
            questions=answered,
        )


def same_family(run: RunFacts) -> Iterator[Finding]:
    """Yield a judge that is of the generator's own family, which favours its own answers."""
    if run.generator and run.judge and family(run.generator) == family(run.judge):
        yield Finding(
            "judge_of_same_family",
            Severity.WARNING,
            names={"generator": run.generator, "judge": run.judge},
            run=run.name,
        )


def family(model: str) -> str:
    """Return a model's family: its name without owner, version, size and tag.

    >>> family("meta-llama/Llama-3.1-8B-Instruct"), family("llama3.1:8b"), family("qwen2.5vl:7b")
    ('llama', 'llama', 'qwen')
    """
    name = model.rpartition("/")[2].lower()
    return name[: next((at for at, c in enumerate(name) if not c.isalpha()), len(name))]
