"""The report as long, tidy CSV tables, for spreadsheets and notebooks."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.analysis.findings.listing import json_number
from harness.analysis.results import Analysis
from harness.records import Status
from harness.render.compared_tables import (
    CONFOUNDED,
    CONTRASTS,
    COUNTERFACTUALS,
    CURVES,
    INTERACTIONS,
    Row,
    confounded,
    contrasts,
    counterfactuals,
    curves,
    interactions,
)
from harness.render.plain import plain
from harness.render.sentences import sentence
from harness.render.wording import words

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would work out instead of showing."""


def csv_tables(analysis: Analysis, language: str = "en") -> dict[str, str]:
    """Return file name -> CSV text: NA is an empty cell beside its status, a list is JSON.

    The language is that of the sentences in `findings.csv`; all else is the same in each.
    """
    tables = {
        "right_wrong.csv": (RIGHT_WRONG, right_wrong(analysis)),
        "means.csv": (MEANS, means(analysis)),
        "trust.csv": (TRUST, trust(analysis)),
        "contrasts.csv": (CONTRASTS, contrasts(analysis)),
        "confounded.csv": (CONFOUNDED, confounded(analysis)),
        "curves.csv": (CURVES, curves(analysis)),
        "interactions.csv": (INTERACTIONS, interactions(analysis)),
        "counterfactuals.csv": (COUNTERFACTUALS, counterfactuals(analysis)),
        "findings.csv": (FINDINGS, findings(analysis, language)),
    }
    return {name: csv(columns, rows) for name, (columns, rows) in tables.items()}


def csv(columns: Sequence[str], rows: Iterable[Row]) -> str:
    """Return the rows under a header, which is there without any row too.

    >>> print(csv(["run", "mean"], [{"run": "=1+1", "mean": -0.5}, {"run": "a", "mean": None}]))
    run,mean
    '=1+1,-0.5
    a,
    <BLANKLINE>
    """
    import pandas as pd

    cells = [[cell(row[column]) for column in columns] for row in rows]
    # as objects: a column of whole numbers with a gap would turn into decimals
    frame = pd.DataFrame(cells, columns=list(columns), dtype=object)
    return frame.to_csv(index=False, lineterminator="\n")


def cell(value: object) -> object:
    """Return what stands in a cell: numbers as they are, lists and tables as JSON text."""
    if isinstance(value, float):
        return json_number(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        text = plain(value)
        return f"'{text}" if text.startswith(FORMULA) else text
    return json.dumps(value, ensure_ascii=False)


RIGHT_WRONG = ("run", "question", "right", "status", "graded_by")


def right_wrong(analysis: Analysis) -> Iterator[Row]:
    """Yield a row a run and question."""
    grid = analysis.outcomes
    for row in grid.rows:
        for question, right, origin in zip(grid.questions, row.cells, row.origins, strict=True):
            status = (
                "unknown" if right is None else Status.NOT_ANSWERED if origin == "error" else "ok"
            )
            values = (row.run, question, right, str(status), origin or None)
            yield dict(zip(RIGHT_WRONG, values, strict=True))


MEANS = (
    *("run", "metric", "layer", "mean", "status", "scored", "asked", "low", "high"),
    *("worst", "best", "common", "common_questions", "statuses", "units", "coarse"),
    *("corrected", "corrected_low", "corrected_high"),
)


def means(analysis: Analysis) -> Iterator[Row]:
    """Yield a row a metric and run; the status of a mean that is NA is its commonest reason."""
    for metric in analysis.means:
        for found in metric.cells:
            row = {name: getattr(found, name, None) for name in MEANS}
            commonest = max(found.statuses, key=lambda s: found.statuses[s], default=None)
            yield row | {
                "metric": metric.metric,
                "layer": metric.layer.value,
                "status": "ok" if found.scored else commonest or Status.NOT_ASKED.value,
                "common_questions": metric.common,
                "statuses": dict(found.statuses),
            }


TRUST = (
    *("metric", "verdict", "mean_right", "mean_wrong", "gap", "right", "wrong", "missing_right"),
    *("missing_wrong", "auc", "low", "high", "auc_within", "auc_between", "pairs_within"),
    *("pairs_between", "questions", "graded_by", "correlation", "undefined"),
)


def trust(analysis: Analysis) -> Iterator[Row]:
    """Yield a row a metric that was held against right and wrong."""
    for found in analysis.trust:
        row: Row = {name: getattr(found, name) for name in TRUST}
        yield row | {"verdict": found.verdict.value}


FINDINGS = (
    *("kind", "severity", "factor", "left", "right", "run", "metric", "questions"),
    *("numbers", "names", "groups", "sentence"),
)


def findings(analysis: Analysis, language: str) -> Iterator[Row]:
    """Yield a row a finding, with its sentence."""
    voice = words(language, EVERYTHING)
    for found in analysis.findings:
        numbers: Mapping[str, float | int | None] = found.numbers
        yield {
            "kind": found.kind,
            "severity": found.severity.value,
            "factor": found.factor,
            "left": found.left,
            "right": found.right,
            "run": found.run,
            "metric": found.metric,
            "questions": found.questions,
            "numbers": {name: json_number(number) for name, number in numbers.items()},
            "names": dict(found.names),
            "groups": dict(found.groups),
            "sentence": sentence(found, voice, analysis.family.alpha),
        }


EVERYTHING = 1_000_000
"""Names of a list that are written out in a table: all of them."""
