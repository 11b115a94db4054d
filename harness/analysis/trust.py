"""Which metrics can be trusted: do they tell right answers from wrong ones, in this study?

Contrasts compare runs on the same questions. So a metric is trusted when it scores right answers
above wrong answers to the same question. A metric that only knows easy questions from hard ones
has a high AUC over all answers, and says nothing about which run is better.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.analysis.changes import Design
from harness.analysis.results import MetricTrust, Trust
from harness.analysis.statistics.concordance import (
    GradedScores,
    Within,
    auc_interval,
    concordance,
    pearson,
    within_questions,
)
from harness.analysis.study_table import ANSWER_MATCH, RIGHT, Measure, StudyTable
from harness.records import Floats, Layer

LEVEL = 0.05
"""Of the one-sided test; a metric that knows nothing is trusted this often at most."""


def metric_trust(
    study: StudyTable, measures: Sequence[Measure], clusters: NDArray[np.int64] | None = None
) -> tuple[MetricTrust, ...]:
    """Compare every metric that judges answers with right and wrong.

    Of runs with equal factors only the first counts: repeats of it are no new evidence.

    Args:
        study: Its runs and what was right.
        measures: The metrics, over the same runs and questions.
        clusters: (questions,), the cluster of each; None where questions are independent.
    """
    graded = bool((study.right.origins == "grade").any())
    origin = "grade" if graded else ANSWER_MATCH
    right = np.where(study.right.origins == origin, study.right.values, np.nan)
    right[[later for _, later in Design(study.runs).repeats]] = np.nan
    return tuple(
        trust_of(measure, right, origin, clusters)
        for measure in measures
        if measure.facts.layer is not Layer.COST
        and measure.facts.higher_is_better is not None
        and measure.name not in ((RIGHT,) if graded else (RIGHT, ANSWER_MATCH))
    )


def trust_of(
    measure: Measure, right: Floats, origin: str, clusters: NDArray[np.int64] | None = None
) -> MetricTrust:
    """Compare one metric with (runs, questions) of right and wrong.

    A cell whose repeats are partly right is counted as mixed: its score, a mean over right and
    wrong answers, is in neither mean. Among the answers to its question it counts by its share.
    """
    known, no_score = ~np.isnan(right), np.isnan(measure.values)
    scored = known & ~no_score
    questions = np.nonzero(scored)[1]
    cells = GradedScores(
        measure.values[scored] * measure.direction,
        right[scored],
        questions,
        None if clusters is None else clusters[questions],
    )
    found, within = concordance(cells), within_questions(cells)
    low, high = auc_interval(found)
    whole = np.isin(cells.right, (0.0, 1.0))
    values, is_right = measure.values[scored][whole], cells.right[whole] == 1
    means = [float(values[kind].mean()) if kind.any() else None for kind in (is_right, ~is_right)]
    linear = pearson(values, is_right.astype(float))
    return MetricTrust(
        metric=measure.name,
        verdict=trust_level(within),
        mean_right=means[0],
        mean_wrong=means[1],
        gap=means[0] - means[1] if means[0] is not None and means[1] is not None else None,
        right=int(is_right.sum()),
        wrong=int((~is_right).sum()),
        mixed=int((~whole).sum()),
        missing_right=int((no_score & (right == 1)).sum()),
        missing_wrong=int((no_score & (right == 0)).sum()),
        within=within.share,
        within_p=within.p if within.questions else None,
        within_pairs=within.pairs,
        within_questions=within.questions,
        auc=found.auc,
        low=low,
        high=high,
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


def trust_level(within: Within) -> Trust:
    """Return the conclusion that right and wrong answers to the same questions allow."""
    if not within.questions:
        return Trust.NOT_CHECKABLE
    if within.floor > LEVEL:
        return Trust.TOO_FEW_GRADES
    if within.p <= LEVEL:
        return Trust.TRUSTED
    return Trust.INVERTED if within.p_below <= LEVEL else Trust.NO_EVIDENCE
