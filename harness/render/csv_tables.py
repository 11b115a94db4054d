"""The report as long, tidy CSV tables, for spreadsheets and notebooks.

The columns are the fields of the results, and values that are derived from them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from enum import Enum

from harness.analysis import Finding
from harness.analysis.findings import json_number, value_text
from harness.analysis.results import (
    Analysis,
    Change,
    CorrectedDifference,
    Difference,
    MeanCell,
    MetricTrust,
    PassageChange,
    Split,
    Suspect,
)
from harness.records import Status
from harness.render.notation import csv_cell, plain
from harness.render.sections.finding_sentences import sentence
from harness.render.sections.right_wrong import answers_of
from harness.render.vocabulary import words

EVERYTHING = 1_000_000
"""Names of a list that are written out in a table: all of them."""


def csv_tables(analysis: Analysis, language: str = "en") -> dict[str, str]:
    """Return file name -> CSV text: NA is an empty cell beside its status, a list is JSON.

    The language is that of the sentences in `findings.csv`; all else is the same in each.
    """
    tables = {
        "right_wrong": (RIGHT_WRONG, right_wrong(analysis)),
        "means": (MEANS, means(analysis)),
        "trust": (TRUST, (cells(TRUST, found) for found in analysis.trust)),
        "effects": (EFFECTS, effects(analysis)),
        "contrasts": (CONTRASTS, contrasts(analysis)),
        "corrected": (CORRECTED, corrected(analysis)),
        "confounded": (CONFOUNDED, confounded(analysis)),
        "curves": (CURVES, curves(analysis)),
        "interactions": (INTERACTIONS, interactions(analysis)),
        "counterfactuals": (COUNTERFACTUALS, counterfactuals(analysis)),
        "findings": (FINDINGS, findings(analysis, language)),
        "suspects": (SUSPECTS, (cells(SUSPECTS, found) for found in analysis.suspects)),
    }
    return {f"{name}.csv": csv_text(columns, rows) for name, (columns, rows) in tables.items()}


Cells = Mapping[str, object]
"""Column -> value, of one row."""


def csv_text(columns: Sequence[str], rows: Iterable[Cells]) -> str:
    """Return the rows under a header, which is there without any row too.

    >>> print(csv_text(["run", "mean"], [{"run": "=1", "mean": -0.5}, {"run": "a", "mean": None}]))
    run,mean
    '=1,-0.5
    a,
    <BLANKLINE>
    """
    import pandas as pd

    values = [[value_of(row[column]) for column in columns] for row in rows]
    # as objects: a column of whole numbers with a gap would turn into decimals
    frame = pd.DataFrame(values, columns=list(columns), dtype=object)
    return frame.to_csv(index=False, lineterminator="\n")


def value_of(value: object) -> object:
    """Return what a cell holds: numbers as they are, lists and tables as JSON text."""
    if isinstance(value, float):
        return json_number(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str | Enum):
        return csv_cell(plain(value if isinstance(value, str) else str(value.value)))
    return json.dumps(value, ensure_ascii=False)


def names(result: type, *without: str) -> tuple[str, ...]:
    """Return the names of a result's fields, without some of them."""
    return tuple(field.name for field in fields(result) if field.name not in without)


def cells(columns: Sequence[str], *results: object, **values: object) -> Cells:
    """Return a row: each column's value, else the field of the first result that has one."""
    return {
        column: values[column]
        if column in values
        else next((getattr(one, column) for one in results if hasattr(one, column)), None)
        for column in columns
    }


def side_values(change: Change, prefix: str = "") -> dict[str, object]:
    """Return a factor's values by column, a number as a number."""
    return {
        f"{prefix}{side}_value": value
        if isinstance(value, bool | int | float)
        else value_text(value)
        for side, value in (("left", change.left), ("right", change.right))
    }


RIGHT_WRONG = ("run", "question", "right", "status", "graded_by")


def right_wrong(analysis: Analysis) -> Iterator[Cells]:
    """Yield one row per run and question."""
    for run, question, right, origin in answers_of(analysis.outcomes):
        status = "unknown" if right is None else "ok"
        if right is not None and origin == "error":
            status = Status.NOT_ANSWERED
        yield dict(zip(RIGHT_WRONG, (run, question, right, status, origin or None), strict=True))


MEANS = ("run", "metric", "layer", "status", *names(MeanCell, "run"), "common_questions")


def means(analysis: Analysis) -> Iterator[Cells]:
    """Yield one row per metric and run; the status of a mean that is NA is its commonest reason."""
    for metric in analysis.means:
        for found in metric.cells:
            commonest = max(found.statuses, key=lambda s: found.statuses[s], default=None)
            yield cells(
                MEANS,
                found,
                metric,
                common_questions=metric.common,
                status="ok" if found.scored else commonest or Status.NOT_ASKED,
                statuses=dict(found.statuses),
            )


TRUST = names(MetricTrust)
SUSPECTS = names(Suspect)

EFFECTS = (
    *("factor", "left_value", "right_value", "contrasts", "acts_on", "metric", "status"),
    *(*names(Difference, "metric", "mcnemar"), "wins", "losses"),
)


def effects(analysis: Analysis) -> Iterator[Cells]:
    """Yield one row per change of a factor and metric; the status says why a difference is NA."""
    for effect in analysis.effects:
        for row in effect.differences:
            status = row.verdict if row.mean is None else "ok"
            yield cells(EFFECTS, effect, row, **side_values(effect.change), status=status)


CONTRASTS = (
    *("factor", "left_value", "right_value", "left", "right", "attribution"),
    *names(PassageChange, "by_question"),
    *("metric", "status", *names(Difference, "metric", "mcnemar"), "wins", "losses"),
    *("mcnemar_p", "mcnemar_floor", "discordant"),
)


def contrasts(analysis: Analysis) -> Iterator[Cells]:
    """Yield one row per contrast and metric; the status says why a difference is NA."""
    for contrast in analysis.contrasts:
        for difference in contrast.differences:
            test = difference.mcnemar
            yield cells(
                CONTRASTS,
                contrast,
                contrast.passages,
                difference,
                **side_values(contrast.change),
                status=difference.verdict if difference.mean is None else "ok",
                mcnemar_p=test and test.p,
                mcnemar_floor=test and test.floor,
                discordant=test and test.discordant,
            )


CORRECTED = ("factor", "left_value", "right_value", "status", *names(CorrectedDifference, "change"))


def corrected(analysis: Analysis) -> Iterator[Cells]:
    """Yield one row per change of a factor, with its pairs of runs."""
    for row in analysis.corrected:
        status = "too_few_grades" if row.mean is None else "ok"
        values = side_values(row.change)
        yield cells(CORRECTED, row, factor=row.change.factor, status=status, **values)


CONFOUNDED = ("left", "right", "factors", "changes", "separated", "between", "missing")


def confounded(analysis: Analysis) -> Iterator[Cells]:
    """Yield one row per pair of runs that differ in several factors."""
    for pair in analysis.confounded:
        yield cells(
            CONFOUNDED,
            pair,
            factors=[change.factor for change in pair.changes],
            changes={change.factor: [*side_values(change).values()] for change in pair.changes},
            separated=not pair.missing,
        )


CURVES = ("factor", "value", "run", "metric", "mean", "status", "questions")


def curves(analysis: Analysis) -> Iterator[Cells]:
    """Yield one row per run and metric of a sweep, over the questions that all its runs scored."""
    for curve in analysis.curves:
        for point in curve.points:
            for metric, mean in point.means.items():
                status = "no_common_question" if mean is None else "ok"
                values = {"metric": metric, "mean": mean, "status": status}
                yield cells(CURVES, curve, point, questions=point.scored[metric], **values)


INTERACTIONS = (
    *("first", "first_left_value", "first_right_value"),
    *("second", "second_left_value", "second_right_value", "corners", "missing"),
    *("metric", "status", *names(Difference, "metric", "mcnemar", "verdict"), "wins", "losses"),
)


def interactions(analysis: Analysis) -> Iterator[Cells]:
    """Yield one row per square and metric; a square that lacks a run has one row, and no metric."""
    for square in analysis.interactions:
        of_square = {
            "first": square.first.factor,
            **side_values(square.first, "first_"),
            "second": square.second.factor,
            **side_values(square.second, "second_"),
        }
        if not square.differences:
            yield cells(INTERACTIONS, square, status="missing_run", **of_square)
        for row in square.differences:
            status = "no_common_question" if row.mean is None else "ok"
            yield cells(INTERACTIONS, square, row, status=status, **of_square)


COUNTERFACTUALS = (
    *("left", "right", "left_on_right", "right_on_left", "missing", "status"),
    *names(Split),
)


def counterfactuals(analysis: Analysis) -> Iterator[Cells]:
    """Yield one row per pair and metric; a pair that lacks a run has one row, and no metric.

    `left_on_right` is the run of left's generator on right's passages.
    """
    for pair in analysis.counterfactuals:
        crossed = dict(zip(("left_on_right", "right_on_left"), pair.crossed, strict=True))
        if not pair.splits:
            status = "missing_run" if pair.missing else "no_common_question"
            yield cells(COUNTERFACTUALS, pair, status=status, **crossed)
        for split in pair.splits:
            yield cells(COUNTERFACTUALS, pair, split, status="ok", **crossed)


FINDINGS = (*names(Finding), "sentence")


def findings(analysis: Analysis, language: str) -> Iterator[Cells]:
    """Yield one row per finding, with its sentence."""
    voice = words(language, EVERYTHING)
    for found in analysis.findings:
        yield cells(
            FINDINGS,
            found,
            numbers={name: json_number(number) for name, number in found.numbers.items()},
            names=dict(found.names),
            groups=dict(found.groups),
            sentence=sentence(found, voice, analysis.family.alpha),
        )
