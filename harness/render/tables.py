"""The report as long, tidy CSV tables, for spreadsheets and notebooks."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.analysis.findings import plain as plain_number
from harness.analysis.findings import shown
from harness.analysis.results import Analysis, Change, Contrast, Difference
from harness.records import Status
from harness.render.plain import plain
from harness.render.sentences import sentence
from harness.render.wording import words

Row = dict[str, object]

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would work out instead of showing."""


def csv_tables(analysis: Analysis, language: str = "en") -> dict[str, str]:
    """Return file name -> CSV text: NA is an empty cell beside its status, a list is JSON.

    The language is that of the sentences in `findings.csv`; all else is the same in each.
    """
    tables = {
        "right_wrong.csv": (RIGHT_WRONG, right_wrong(analysis)),
        "means.csv": (MEANS, means(analysis)),
        "contrasts.csv": (CONTRASTS, contrasts(analysis)),
        "confounded.csv": (CONFOUNDED, confounded(analysis)),
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
        return plain_number(value)
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


CONTRASTS = (
    *("factor", "left_value", "right_value", "left", "right", "attribution", "same"),
    *("reordered", "changed", "unknown", "metric", "mean", "status", "verdict", "left_mean"),
    *("right_mean", "questions", "wins", "ties", "losses", "won", "lost", "dropped_left"),
    *("dropped_right", "dropped_both", "standard_error", "low", "high", "interval", "p"),
    *("p_floor", "p_rule", "p_adjusted", "primary", "mcnemar_p", "mcnemar_floor"),
    *("discordant", "detectable", "questions_needed", "worst", "best"),
    *("flips_with_missing", "under_one_verdict"),
)


def contrasts(analysis: Analysis) -> Iterator[Row]:
    """Yield a row a contrast and metric."""
    for contrast in analysis.contrasts:
        for difference in contrast.differences:
            yield {**contrast_facts(contrast), **difference_facts(difference)}


def contrast_facts(contrast: Contrast) -> Row:
    """Return what holds for every metric of a contrast."""
    passages = contrast.passages
    return {
        "factor": contrast.factor,
        **values_of(contrast.change),
        "left": contrast.left,
        "right": contrast.right,
        "attribution": contrast.attribution.value,
        "same": passages.same,
        "reordered": passages.reordered,
        "changed": passages.changed,
        "unknown": passages.unknown,
    }


def difference_facts(row: Difference) -> Row:
    """Return one metric's difference; its status says why a difference that is NA is so."""
    test = row.mcnemar
    found = {name: getattr(row, name, None) for name in CONTRASTS if hasattr(row, name)}
    return found | {
        "status": row.verdict.value if row.mean is None else "ok",
        "verdict": row.verdict.value,
        "mcnemar_p": test.p if test else None,
        "mcnemar_floor": test.floor if test else None,
        "discordant": test.discordant if test else None,
    }


def values_of(change: Change) -> Row:
    """Return a factor's values, a number as a number."""
    return {"left_value": value(change.left), "right_value": value(change.right)}


def value(found: object) -> object:
    """Return a factor's value as a cell holds it."""
    return found if isinstance(found, bool | int | float) else shown(found)


CONFOUNDED = ("left", "right", "factors", "changes", "separated", "between", "missing")


def confounded(analysis: Analysis) -> Iterator[Row]:
    """Yield a row a pair; `missing` lists the override words of each variant still to collect."""
    for pair in analysis.confounded:
        yield {
            "left": pair.left,
            "right": pair.right,
            "factors": [change.factor for change in pair.changes],
            "changes": {change.factor: list(values_of(change).values()) for change in pair.changes},
            "separated": not pair.missing,
            "between": pair.between,
            "missing": [run.words for run in pair.missing],
        }


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
            "numbers": {name: plain_number(number) for name, number in numbers.items()},
            "names": dict(found.names),
            "groups": dict(found.groups),
            "sentence": sentence(found, voice, analysis.family.alpha),
        }


EVERYTHING = 1_000_000
"""Names of a list that are written out in a table: all of them."""
