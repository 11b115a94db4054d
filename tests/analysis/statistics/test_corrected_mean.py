from collections.abc import Callable

import numpy as np
import pytest

from harness.analysis import MetricFacts, StudyTable, analyse
from harness.analysis.statistics.corrected_mean import corrected_mean
from harness.records import Layer

Builder = Callable[..., StudyTable]


def drawn(seed: int, n: int = 200, graded: int = 40) -> tuple[np.ndarray, np.ndarray, float]:
    """A judge that is 0.15 too kind, and grades of the first answers."""
    random = np.random.default_rng(seed)
    truth = (random.random(n) < 0.6).astype(float)
    scores = np.clip(0.25 + 0.6 * truth + random.normal(0, 0.1, n), 0, 1)
    grades = np.where(np.arange(n) < graded, truth, np.nan)
    return scores, grades, 0.6


def test_a_kind_judge_is_corrected() -> None:
    """Over 400 studies the corrected mean is right on average and its interval covers."""
    found = [(corrected_mean(*drawn(seed)[:2]), drawn(seed)[0].mean()) for seed in range(400)]

    assert np.mean([raw for _, raw in found]) == pytest.approx(0.61, abs=0.01)
    assert np.mean([c.mean for c, _ in found]) == pytest.approx(0.6, abs=0.01)
    covered = [c.low <= 0.6 <= c.high for c, _ in found]  # type: ignore[operator]
    assert 0.93 <= np.mean(covered) <= 0.98


def test_a_good_judge_narrows_the_interval() -> None:
    """The ungraded answers add what the judge knows about them."""
    scores, grades, _ = drawn(0)
    blind = corrected_mean(np.full_like(scores, 0.5), grades)
    seeing = corrected_mean(scores, grades)

    assert seeing.high - seeing.low < 0.7 * (blind.high - blind.low)  # type: ignore[operator]
    assert blind.mean == pytest.approx(np.nanmean(grades))


def test_fully_graded_is_the_share_right() -> None:
    """With nothing left to predict, people's grades are the answer."""
    grades = np.array([1.0, 1, 0, 1, 0])

    assert corrected_mean(np.array([0.1, 0.9, 0.3, 0.5, 0.2]), grades).mean == 0.6
    assert corrected_mean(grades[:4], grades[:4]).mean is None


def test_corrected_means_stand_beside_the_raw_ones(study: Builder) -> None:
    """From 20 grades on, for metrics that judge answers; retrieval has none."""
    faithfulness = MetricFacts("faithfulness", Layer.GENERATION)
    recall = MetricFacts("context_recall", Layer.RETRIEVAL)
    scores = {"P": [0.5] * 12, "Q": [0.9] * 12}
    metrics = {faithfulness: scores, recall: scores}
    grades = {"P": [1, 0] * 6, "Q": [1] * 12}

    faith, retrieval = analyse(study(right=grades, metrics=metrics)).means
    assert [cell.corrected for cell in faith.cells] == [0.5, 1.0]
    assert [cell.corrected for cell in retrieval.cells] == [None, None]

    few = {"P": [1, 0] * 5 + [None] * 2, "Q": [1] * 9 + [None] * 3}
    faith = analyse(study(right=few, metrics=metrics)).means[0]
    assert [cell.corrected for cell in faith.cells] == [None, None]
