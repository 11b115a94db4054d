"""What each run scored: means with their counts, along a sweep too; right and wrong; summaries."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness.analysis.changes import Design, drawable
from harness.analysis.contrasts import Clusters, units_of
from harness.analysis.results import (
    Curve,
    CurvePoint,
    Leader,
    MeanCell,
    MetricMeans,
    OutcomeRow,
    Outcomes,
    RunSummary,
)
from harness.analysis.statistics.corrected import ENOUGH, corrected_mean
from harness.analysis.statistics.intervals import (
    NO_INTERVAL,
    Interval,
    stretched_to,
    t_interval,
    tied_interval,
    tied_weight,
    tolerance,
)
from harness.analysis.study_table import (
    Measure,
    MetricFacts,
    Options,
    StudyTable,
    asked_mask,
    names_where,
)
from harness.records import Floats, Layer, Status
from harness.text import as_number

JUDGES_ANSWERS = (Layer.GENERATION, Layer.OVERALL)
"""Layers whose scores estimate whether the answer is right, so that grades can correct them."""

FEWEST_SHUFFLES, SHUFFLED_CELLS = 199, 2_000_000
"""The fewest shuffles of the answers, and cells shuffled in all where these are many."""

COARSE = 3
"""Units up to which a score can take few values only."""

SHORTEST_SWEEP = 3
"""Runs from which a sweep is a curve: two are a contrast."""


def means(study: StudyTable, clusters: Clusters | None = None) -> tuple[MetricMeans, ...]:
    """Return each metric's mean in each run, and over the questions that all runs have scored."""
    were_asked, samples = asked_mask(study), graded_samples(study)
    cube, found = study.scores, []
    for k, facts in enumerate(cube.metrics):
        measure = cube.measure(k)
        common = np.asarray((~np.isnan(measure.values)).all(axis=0))
        correctable = facts.layer in JUDGES_ANSWERS and facts.bounded
        cells = []
        for at, run in enumerate(cube.runs):
            statuses = cube.statuses[at, were_asked[at], k].tolist()
            cell = mean_cell(measure, at, run, common, statuses, clusters)
            if correctable and at in samples:
                mean, low, high = corrected_mean(measure.values[at], *samples[at])
                cell = replace(cell, corrected=mean, corrected_low=low, corrected_high=high)
            cells.append(cell)
        found.append(
            MetricMeans(
                facts.name,
                facts.layer,
                facts.higher_is_better,
                facts.bounded,
                tuple(cells),
                names_where(cube.questions, common),
            )
        )
    return tuple(found)


def mean_cell(
    measure: Measure,
    at: int,
    run: str,
    common: NDArray[np.bool_],
    statuses: Sequence[str],
    clusters: Clusters | None,
) -> MeanCell:
    """Return one run's mean with what qualifies it: the statuses are those of what was asked."""
    row = measure.values[at]
    values = row[~np.isnan(row)]
    n, of = values.size, len(statuses)
    units = measure.units[at][~np.isnan(row) & ~np.isnan(measure.units[at])]
    span = mean_interval(row, measure.binary, measure.facts, clusters)
    missing = of - n
    bounds = [
        (float(values.sum()) + missing * value) / of if of and measure.facts.bounded else None
        for value in measure.extremes
    ]
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
        statuses=dict(Counter(s or Status.NOT_ASKED.value for s in statuses if s != Status.OK)),
        units=float(np.median(units)) if units.size else None,
        coarse=int((units <= COARSE).sum()),
    )


def graded_samples(study: StudyTable) -> dict[int, tuple[Floats, Floats | None]]:
    """Return run -> its grades, nan elsewhere, and the chances of their questions to be drawn.

    Only runs whose graded answers are all there are, which have no chances, or a random sample of
    them, and only where enough are graded.
    """
    right, found = study.right, dict[int, tuple[Floats, Floats | None]]()
    graded = ~np.isnan(right.drawn)
    if (graded & ~np.isnan(right.values)).sum() < ENOUGH:
        return found
    never = ~drawable(study)
    for at, asked in enumerate(asked_mask(study)):
        missing = asked & ~graded[at] & (right.origins[at] != "error")
        if not missing.any():
            found[at] = np.where(graded[at], right.values[at], np.nan), None
        elif not (missing & never).any():
            random = graded[at] & (right.drawn[at] > 0)
            found[at] = np.where(random, right.values[at], np.nan), right.drawn[at]
    return found


def leader(study: StudyTable, options: Options) -> Leader | None:
    """Return the runs with the most right answers, and how often chance would make one lead so."""
    repeats = {later for _, later in Design(study.runs).repeats}
    whole = [at for at, run in enumerate(study.runs) if not run.partial and at not in repeats]
    right = study.right.values[whole]
    right = right[:, ~np.isnan(right).any(axis=0)]
    if len(whole) < 2 or not right.size:
        return None
    sums = right.sum(axis=1)
    shuffles = min(options.flips, max(FEWEST_SHUFFLES, SHUFFLED_CELLS // right.size))
    cells = np.broadcast_to(right.astype(np.float32), (shuffles, *right.shape))
    shuffled = np.random.default_rng(options.seed).permuted(cells, axis=1).sum(axis=2).max(axis=1)
    reached = (shuffled >= sums.max() - 1e-3).sum()
    return Leader(
        tuple(
            study.runs[at].name for at, own in zip(whole, sums, strict=True) if own == sums.max()
        ),
        float(sums.max()),
        right.shape[1],
        len(whole),
        float(reached / shuffles),
    )


def mean_of(values: Floats) -> float | None:
    """Return the mean; None where there are no values."""
    return float(values.mean()) if values.size else None


def mean_interval(
    values: Floats,
    binary: bool,
    facts: MetricFacts,
    clusters: Clusters | None = None,
    alpha: float = 0.05,
) -> Interval:
    """Return a 95 % interval of a mean over questions: Jeffreys' for shares right, else t.

    Where many scores of a metric in [0, 1] are 0 or 1 the others carry all of the spread, as in a
    difference with many ties: half a question is added at 0 and at 1. Every interval is cut at
    the limits of the metric (0 for seconds and tokens): the true mean cannot lie beyond them.

    Args:
        values: (questions,), nan where NA.
        binary: Each score was 0 or 1.
        facts: Of the metric.
        clusters: Of the same questions; None where they are independent.
        alpha: One minus the coverage.

    >>> mean_interval(np.array([1.0, 1.0, 1.0, 0.0]), True, MetricFacts("right", Layer.OVERALL))
    Interval(low=0.283..., high=0.971..., rule='jeffreys')
    """
    from scipy.special import betaincinv

    values = units_of(values, clusters)
    n = values.size
    if n < 2 or not (facts.bounded or np.ptp(values) > tolerance(values)):
        return NO_INTERVAL
    least, most = facts.limits
    if binary and np.isin(values, (0.0, 1.0)).all():
        right = float(values.sum())
        ends = betaincinv(right + 0.5, n - right + 0.5, [alpha / 2, 1 - alpha / 2])
        found = Interval(float(ends[0]), float(ends[1]), "jeffreys")
    elif facts.bounded:
        ties = max(tied_weight(values), tied_weight(1 - values))
        low, high = tied_interval(values - 0.5, ties, 0.5, alpha)
        found = Interval(low + 0.5, high + 0.5, "t_sparse" if ties else "t")
    else:
        found = Interval(*t_interval(values, alpha), "t")
    found = stretched_to(float(values.mean()), found)
    assert found.low is not None
    assert found.high is not None
    return replace(found, low=max(found.low, least), high=min(found.high, most))


def curves(
    design: Design, measures: Sequence[Measure], clusters: Clusters | None = None
) -> tuple[Curve, ...]:
    """Return the sweeps: at least three runs that differ in one numeric factor only."""
    found: list[tuple[str, dict[int, float]]] = []
    for (left, right), change in design.contrasts:
        values = as_number(change.left), as_number(change.right)
        if values[0] is None or values[1] is None:
            continue
        points = {left: values[0], right: values[1]}
        for factor, sweep in found:
            if factor == change.factor and sweep.keys() & points.keys():
                sweep.update(points)
                break
        else:
            found.append((change.factor, points))
    return tuple(
        curve(factor, sweep, design, measures, clusters)
        for factor, sweep in found
        if len(sweep) >= SHORTEST_SWEEP
    )


def curve(
    factor: str,
    sweep: dict[int, float],
    design: Design,
    measures: Sequence[Measure],
    clusters: Clusters | None,
) -> Curve:
    """Return a sweep in number order, each metric over the questions that every run has scored."""
    runs = sorted(sweep, key=lambda at: sweep[at])
    common = {m.name: ~np.isnan(m.values[runs]).any(axis=0) for m in measures}
    scores = {m.name: np.where(common[m.name], m.values[runs], np.nan) for m in measures}
    return Curve(
        factor,
        tuple(
            CurvePoint(
                value=sweep[at],
                run=design.runs[at].name,
                means={name: mean_of(scores[name][row, mask]) for name, mask in common.items()},
                intervals={
                    m.name: sweep_interval(m, scores[m.name], row, clusters) for m in measures
                },
                scored={name: int(mask.sum()) for name, mask in common.items()},
            )
            for row, at in enumerate(runs)
        ),
    )


def sweep_interval(
    measure: Measure, scores: Floats, row: int, clusters: Clusters | None
) -> Interval:
    """Return the interval of one run's mean, by the rule that fits all runs of the sweep."""
    binary = bool(np.isin(scores[~np.isnan(scores)], (0.0, 1.0)).all())
    return mean_interval(scores[row], binary, measure.facts, clusters)


def outcomes(study: StudyTable) -> Outcomes:
    """Return the grid of right and wrong with its totals."""
    names = study.scores.questions
    right, were_asked = study.right, asked_mask(study)
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
    informative, right_in_all, wrong_in_all = (
        known & kind for kind in ((lowest == 0) & (highest == 1), lowest == 1, highest == 0)
    )
    return Outcomes(
        questions=names,
        rows=tuple(rows),
        informative=names_where(names, informative),
        always_right=names_where(names, right_in_all),
        always_wrong=names_where(names, wrong_in_all),
        partly_right=names_where(names, known & ~(informative | right_in_all | wrong_in_all)),
        unknown=names_where(names, ~known),
        origins=dict(Counter(origin for row in rows for origin in row.origins if origin)),
    )


def summaries(study: StudyTable) -> tuple[RunSummary, ...]:
    """Summarise each run from its answers, in the study's order."""
    found = []
    for run, count in zip(study.runs, asked_mask(study).sum(axis=1), strict=True):
        responses = [response for _, response in study.answers(run.name)]
        answered = [response for response in responses if response.response is not None]
        found.append(
            RunSummary(
                name=run.name,
                partial=run.partial,
                part=run.part,
                asked=int(count),
                errors=len({r.question_id for r in responses if r.response is None}),
                k_requested=largest(r.k_requested for r in answered),
                k_returned=median([float(r.k_returned) for r in answered]),
                corpus_size=largest(r.corpus_size for r in answered),
                saturation=median(
                    [r.k_returned / r.corpus_size for r in answered if r.corpus_size]
                ),
                notes=run.notes,
            )
        )
    return tuple(found)


def largest(values: Iterable[int | None]) -> int | None:
    """Return the largest of the known values."""
    return max((value for value in values if value is not None), default=None)


def median(values: list[float]) -> float | None:
    """Return the median; None where there are no values."""
    return float(np.median(values)) if values else None
