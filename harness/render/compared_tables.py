"""What runs say about each other, as rows of long tables: one a comparison and metric."""

from collections.abc import Iterable, Iterator

from harness.analysis.findings.listing import value_text
from harness.analysis.results import Analysis, Change, Contrast, Difference

Row = dict[str, object]

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
    found = held(row, CONTRASTS)
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


def held(found: object, columns: Iterable[str]) -> Row:
    """Return those of the columns that are fields of a result."""
    return {name: getattr(found, name) for name in columns if hasattr(found, name)}


def value(found: object) -> object:
    """Return a factor's value as a cell holds it."""
    return found if isinstance(found, bool | int | float) else value_text(found)


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


CURVES = ("factor", "value", "run", "metric", "mean", "status", "questions")


def curves(analysis: Analysis) -> Iterator[Row]:
    """Yield a row a run and metric of each sweep, over the questions that all its runs scored."""
    for curve in analysis.curves:
        for point in curve.points:
            for metric, mean in point.means.items():
                yield {
                    "factor": curve.factor,
                    "value": point.value,
                    "run": point.run,
                    "metric": metric,
                    "mean": mean,
                    "status": "no_common_question" if mean is None else "ok",
                    "questions": point.scored[metric],
                }


INTERACTIONS = (
    *("first", "first_left_value", "first_right_value"),
    *("second", "second_left_value", "second_right_value", "corners", "missing"),
    *("metric", "mean", "status", "questions", "wins", "ties", "losses", "won", "lost"),
    *("standard_error", "low", "high", "interval", "p", "p_floor", "p_rule"),
)


def interactions(analysis: Analysis) -> Iterator[Row]:
    """Yield a row a square of runs and metric; one that lacks a run has one row, and no metric."""
    for square in analysis.interactions:
        first, second = values_of(square.first), values_of(square.second)
        of_square: Row = {
            **dict.fromkeys(INTERACTIONS),
            "first": square.first.factor,
            **{f"first_{side}": value for side, value in first.items()},
            "second": square.second.factor,
            **{f"second_{side}": value for side, value in second.items()},
            "corners": list(square.corners),
            "missing": [run.words for run in square.missing],
        }
        if not square.differences:
            yield of_square | {"status": "missing_run"}
        for row in square.differences:
            found = held(row, INTERACTIONS)
            status = "no_common_question" if row.mean is None else "ok"
            yield of_square | found | {"status": status}


COUNTERFACTUALS = (
    *("left", "right", "left_on_right", "right_on_left", "missing"),
    *("metric", "total", "retrieval", "generation", "status", "questions"),
)


def counterfactuals(analysis: Analysis) -> Iterator[Row]:
    """Yield a row a pair and metric; a pair that lacks a run has one row, and no metric.

    `left_on_right` is the run of left's generator on right's passages.
    """
    for pair in analysis.counterfactuals:
        of_pair: Row = {
            **dict.fromkeys(COUNTERFACTUALS),
            "left": pair.left,
            "right": pair.right,
            "left_on_right": pair.crossed[0],
            "right_on_left": pair.crossed[1],
            "missing": [run.words for run in pair.missing],
        }
        if not pair.splits:
            yield of_pair | {"status": "missing_run" if pair.missing else "no_common_question"}
        for split in pair.splits:
            found = held(split, COUNTERFACTUALS)
            yield of_pair | found | {"status": "ok"}
