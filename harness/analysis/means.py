"""The mean of each metric in each run with its count; right and wrong; the run summaries."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from harness.analysis.measures import Measure, asked, named
from harness.analysis.results import MeanCell, MetricMeans, OutcomeRow, Outcomes, RunSummary
from harness.analysis.statistics.corrected_mean import ENOUGH, Corrected, corrected_mean
from harness.analysis.statistics.intervals import (
    NO_INTERVAL,
    Interval,
    around,
    t_interval,
    tolerance,
)
from harness.analysis.study_table import RunFacts, StudyTable
from harness.records import Floats, Layer, Response, Status

JUDGES_ANSWERS = (Layer.GENERATION, Layer.OVERALL)
"""Layers whose scores stand for whether the answer is right, so that grades can correct them."""

COARSE = 3
"""Units at which a score is still one of a handful of values."""


def means(study: StudyTable) -> tuple[MetricMeans, ...]:
    """Work out every metric's row of means."""
    were_asked, grades = asked(study), human_grades(study)
    names = [question.id for question in study.questions]
    cube = study.scores
    return tuple(
        metric_means(
            Measure(facts, cube.values[:, :, k], cube.units[:, :, k], cube.binary[k]),
            [run.name for run in study.runs],
            names,
            cube.statuses[:, :, k],
            were_asked,
            grades if facts.layer in JUDGES_ANSWERS and facts.bounded else None,
        )
        for k, facts in enumerate(cube.metrics)
    )


def metric_means(
    measure: Measure,
    runs: Sequence[str],
    questions: Sequence[str],
    statuses: NDArray[np.object_],
    were_asked: NDArray[np.bool_],
    grades: Floats | None,
) -> MetricMeans:
    """Work out one metric's mean in each run, and over the questions all runs have scored."""
    scored = ~np.isnan(measure.values)
    common = np.asarray(scored.all(axis=0))
    cells = tuple(
        mean_cell(
            measure,
            i,
            run,
            statuses[i],
            were_asked[i],
            common,
            None if grades is None else grades[i],
        )
        for i, run in enumerate(runs)
    )
    facts = measure.facts
    return MetricMeans(
        facts.name,
        facts.layer,
        facts.higher_is_better,
        facts.bounded,
        cells,
        named(questions, common),
    )


def mean_cell(
    measure: Measure,
    at: int,
    run: str,
    statuses: NDArray[np.object_],
    were_asked: NDArray[np.bool_],
    common: NDArray[np.bool_],
    grades: Floats | None,
) -> MeanCell:
    """Return one mean with everything that qualifies it."""
    row = measure.values[at]
    values = row[~np.isnan(row)]
    n, of = values.size, int(were_asked.sum())
    units = measure.units[at][~np.isnan(row) & ~np.isnan(measure.units[at])]
    span = mean_interval(values, measure.binary, measure.facts.bounded)
    missing = of - n
    bounds = [
        (float(values.sum()) + missing * value) / of if of and measure.facts.bounded else None
        for value in ((0.0, 1.0) if measure.facts.higher_is_better else (1.0, 0.0))
    ]
    corrected = Corrected(None) if grades is None else corrected_mean(row, grades)
    return MeanCell(
        run=run,
        mean=mean_of(values),
        scored=n,
        asked=of,
        low=span.low,
        high=span.high,
        worst=bounds[0],
        best=bounds[1],
        common=mean_of(row[common]),
        statuses=dict(
            Counter(
                status or Status.NOT_ASKED.value
                for status in statuses[were_asked]
                if status != Status.OK
            )
        ),
        units=float(np.median(units)) if units.size else None,
        coarse=int((units <= COARSE).sum()),
        corrected=corrected.mean,
        corrected_low=corrected.low,
        corrected_high=corrected.high,
    )


def human_grades(study: StudyTable) -> Floats | None:
    """Return (runs, questions) of people's grades, nan elsewhere; None where they are few."""
    people = study.right.origins == "grade"
    return np.where(people, study.right.values, np.nan) if people.sum() >= ENOUGH else None


def mean_of(values: Floats) -> float | None:
    """Return the mean, None of nothing."""
    return float(values.mean()) if values.size else None


def mean_interval(values: Floats, binary: bool, bounded: bool, alpha: float = 0.05) -> Interval:
    """Return a 95 % interval of a mean over questions: Jeffreys' for shares right, else t.

    >>> mean_interval(np.array([1.0, 1.0, 1.0, 0.0]), binary=True, bounded=True)
    Interval(low=0.283..., high=0.971..., rule='jeffreys')
    """
    from scipy.special import betaincinv

    n = values.size
    if n < 2:
        return NO_INTERVAL
    if binary or (bounded and np.ptp(values) <= tolerance(values)):
        # a share over repeats, or one value throughout, counts as that share of right answers
        right = float(values.sum())
        low, high = betaincinv(right + 0.5, n - right + 0.5, [alpha / 2, 1 - alpha / 2])
        return around(float(values.mean()), Interval(float(low), float(high), "jeffreys"))
    if np.ptp(values) <= tolerance(values):
        return NO_INTERVAL
    low, high = t_interval(values, alpha)
    return Interval(max(low, 0.0), min(high, 1.0), "t") if bounded else Interval(low, high, "t")


def outcomes(study: StudyTable) -> Outcomes:
    """Lay out the grid of right and wrong with its totals."""
    names = [question.id for question in study.questions]
    right, were_asked = study.right, asked(study)
    rows = []
    for i, run in enumerate(study.runs):
        known = ~np.isnan(right.values[i])
        rows.append(
            OutcomeRow(
                run=run.name,
                cells=tuple(
                    float(value) if is_known else None
                    for value, is_known in zip(right.values[i], known, strict=True)
                ),
                origins=tuple(right.origins[i]),
                right=float(right.values[i][known].sum()),
                known=int(known.sum()),
                asked=int(were_asked[i].sum()),
                errors=int((right.errors[i] > 0).sum()),
            )
        )
    known = (~np.isnan(right.values)).sum(axis=0) >= 2
    lowest = np.nan_to_num(right.values, nan=np.inf).min(axis=0, initial=np.inf)
    highest = np.nan_to_num(right.values, nan=-np.inf).max(axis=0, initial=-np.inf)
    return Outcomes(
        questions=tuple(names),
        rows=tuple(rows),
        informative=named(names, known & (lowest < highest)),
        always_right=named(names, known & (lowest == 1)),
        always_wrong=named(names, known & (highest == 0)),
        unknown=named(names, ~known),
        origins=dict(Counter(origin for row in rows for origin in row.origins if origin)),
    )


def summaries(study: StudyTable) -> tuple[RunSummary, ...]:
    """Summarise each run, in the study's order."""
    were_asked = asked(study).sum(axis=1)
    return tuple(
        summary(
            run,
            int(count),
            [
                response
                for question in study.questions
                for response in study.responses.get((run.name, question.id), ())
            ],
        )
        for run, count in zip(study.runs, were_asked, strict=True)
    )


def summary(run: RunFacts, count: int, responses: list[Response]) -> RunSummary:
    """Summarise one run from its answers."""
    answered = [response for response in responses if response.response is not None]
    shares = [r.k_returned / r.corpus_size for r in answered if r.corpus_size]
    return RunSummary(
        name=run.name,
        variant=run.variant,
        partial=run.partial,
        part=run.part,
        asked=count,
        errors=len({r.question_id for r in responses if r.response is None}),
        k_requested=largest(r.k_requested for r in answered),
        k_returned=median([float(r.k_returned) for r in answered]),
        corpus_size=largest(r.corpus_size for r in answered),
        saturation=median(shares),
        notes=run.notes,
    )


def largest(values: Iterable[int | None]) -> int | None:
    """Return the largest of the known values."""
    return max((value for value in values if value is not None), default=None)


def median(values: list[float]) -> float | None:
    """Return the median, None of nothing."""
    return float(np.median(values)) if values else None
