"""Which metrics can be trusted: do they tell right answers from wrong ones, in this study?"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.analysis.changes import Design
from harness.analysis.results import MetricTrust, Trust
from harness.analysis.statistics.concordance import (
    GradedScores,
    auc_interval,
    concordance,
    counted_below,
    pearson,
)
from harness.analysis.study_table import ANSWER_MATCH, RIGHT, Measure, StudyTable
from harness.records import Floats, Layer

FEWEST_QUESTIONS = 5
FEWEST_OF_A_KIND = 3
"""Right answers, and wrong ones, below which there is no conclusion."""


def metric_trust(study: StudyTable, measures: Sequence[Measure]) -> tuple[MetricTrust, ...]:
    """Compare every metric that judges answers with right and wrong.

    Of runs with equal factors only the first counts: repeats of it are no new evidence.
    """
    graded = bool((study.right.origins == "grade").any())
    origin = "grade" if graded else ANSWER_MATCH
    right = np.where(study.right.origins == origin, study.right.values, np.nan)
    right[[later for _, later in Design(study.runs).repeats]] = np.nan
    return tuple(
        trust_of(measure, right, origin)
        for measure in measures
        if measure.facts.layer is not Layer.COST
        and measure.facts.higher_is_better is not None
        and measure.name not in ((RIGHT,) if graded else (RIGHT, ANSWER_MATCH))
    )


def trust_of(measure: Measure, right: Floats, origin: str) -> MetricTrust:
    """Compare one metric with (runs, questions) of right and wrong.

    Repeats count as right where most of them are; a draw is left out.
    """
    known = ~np.isnan(right) & (right != 0.5)
    missing = known & np.isnan(measure.values)
    scored = known & ~np.isnan(measure.values)
    runs, questions = np.nonzero(scored)
    is_right = right[scored] > 0.5
    cells = GradedScores(measure.values[scored] * measure.direction, is_right, questions)
    found = concordance(cells)
    within = [cells.where(runs == run) for run in np.unique(runs).tolist()]
    pairs_within = sum(one.good.size * one.bad.size for one in within)
    concordant_within = sum(float(counted_below(one.good, one.bad).sum()) for one in within)
    low, high = auc_interval(found)
    values = measure.values[scored]
    means = [float(values[kind].mean()) if kind.any() else None for kind in (is_right, ~is_right)]
    linear = pearson(values, is_right.astype(float))
    return MetricTrust(
        metric=measure.name,
        verdict=trust_level(cells, low, high),
        mean_right=means[0],
        mean_wrong=means[1],
        gap=means[0] - means[1] if means[0] is not None and means[1] is not None else None,
        right=int(is_right.sum()),
        wrong=int((~is_right).sum()),
        missing_right=int((missing & (right > 0.5)).sum()),
        missing_wrong=int((missing & (right < 0.5)).sum()),
        auc=found.auc,
        low=low,
        high=high,
        auc_within=ratio(concordant_within, pairs_within),
        auc_between=ratio(found.concordant - concordant_within, found.pairs - pairs_within),
        pairs_within=pairs_within,
        pairs_between=found.pairs - pairs_within,
        questions=np.unique(questions).size,
        graded_by=origin,
        correlation=linear,
        undefined=why_undefined(values, is_right) if linear is None else None,
    )


def why_undefined(values: Floats, is_right: NDArray[np.bool_]) -> str:
    """Return why scores do not correlate with right and wrong: the key of the reason's words."""
    if not values.size:
        return "no_scores"
    if is_right.all():
        return "no_wrong"
    return "constant" if is_right.any() else "no_right"


def trust_level(cells: GradedScores, low: float | None, high: float | None) -> Trust:
    """Return the conclusion that the interval of the AUC allows."""
    rights, wrongs = int(cells.right.sum()), int((~cells.right).sum())
    few = np.unique(cells.units).size < FEWEST_QUESTIONS
    if low is None or high is None or few or min(rights, wrongs) < FEWEST_OF_A_KIND:
        return Trust.TOO_FEW_GRADES
    if low > 0.5:
        return Trust.TRUSTED
    return Trust.INVERTED if high < 0.5 else Trust.NO_EVIDENCE


def ratio(part: float, whole: int) -> float | None:
    """Return the share; None where the whole is 0."""
    return part / whole if whole else None
