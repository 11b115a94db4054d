"""Means and differences corrected by grades, against values worked out by hand."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from harness.analysis import MetricFacts, StudyTable, analyse
from harness.analysis.statistics.corrected import (
    Estimate,
    corrected_difference,
    corrected_mean,
    difference_interval,
    drawn_weights,
    prediction_powered,
)
from harness.analysis.statistics.intervals import pair_table_interval
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
    assert np.mean([mean for (mean, _, _), _ in found]) == pytest.approx(0.6, abs=0.01)
    covered = [low <= 0.6 <= high for (_, low, high), _ in found]  # type: ignore[operator]
    assert 0.93 <= np.mean(covered) <= 0.98


def test_a_good_judge_narrows_the_interval() -> None:
    """The ungraded answers add what the judge knows about them."""
    scores, grades, _ = drawn(0)
    mean, low, high = corrected_mean(np.full_like(scores, 0.5), grades)
    _, seeing_low, seeing_high = corrected_mean(scores, grades)

    assert seeing_high - seeing_low < 0.7 * (high - low)  # type: ignore[operator]
    assert mean == pytest.approx(np.nanmean(grades))


def test_fully_graded_is_the_share_right() -> None:
    """With nothing left to predict, people's grades are the answer."""
    grades = np.array([1.0, 1, 0, 1, 0])

    assert corrected_mean(np.array([0.1, 0.9, 0.3, 0.5, 0.2]), grades)[0] == 0.6
    assert corrected_mean(grades[:4], grades[:4])[0] is None


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


def test_grades_that_are_all_alike_leave_an_interval() -> None:
    """Five graded, all right, three ungraded: Jeffreys' interval for 5 of 5."""
    scores = np.array([0.9, 0.8, 0.7, 0.9, 0.8, 0.2, 0.3, 0.1])
    grades = np.array([1.0, 1, 1, 1, 1, np.nan, np.nan, np.nan])

    mean, low, high = corrected_mean(scores, grades)

    assert (mean, high) == (1.0, 1.0)
    assert low == pytest.approx(stats.beta(5.5, 0.5).ppf(0.025))


def test_a_metric_is_worth_some_grades() -> None:
    """Worked by hand: weight 1/2, the estimate 0.45, worth 10 * 0.25 / 0.1375 / ... answers.

    y = 1 on 5 of 10 and f = y on all 10, ten others with f right on 4. The slope is 1, the weight
    1 / (1 + 10/10) = 0.5, the mean 0.5 + 0.5 (0.4 - 0.5) = 0.45. With v the variance of y, that of
    its mean is v / 10, and that of the estimate 0.25 v / 10 + 0.25 v / 10 = v / 20: worth
    (10 - 2) * 2 = 16 grades.
    """
    y = np.array([1.0] * 5 + [0.0] * 5)
    others = np.array([1.0] * 4 + [0.0] * 6)

    found = prediction_powered(y, y, others)

    assert found.mean == pytest.approx(0.45)
    assert found.size == pytest.approx(16)
    mean, low, high = corrected_mean(
        np.concatenate([y, others]), np.concatenate([y, np.full(10, np.nan)])
    )
    assert mean == pytest.approx(0.45)
    assert (low, high) == pytest.approx(tuple(stats.beta(7.7, 9.3).ppf([0.025, 0.975])))


def test_a_metric_that_misleads_has_no_weight() -> None:
    """A metric that scores wrong answers higher, or all alike, changes nothing."""
    y = np.array([1.0] * 4 + [0.0] * 6)

    assert prediction_powered(y, 1 - y, y) == Estimate(pytest.approx(0.4), 10)
    assert prediction_powered(y, np.ones(10), y) == Estimate(pytest.approx(0.4), 10)


def test_questions_drawn_more_often_count_less() -> None:
    """Three times the chance, nearly a third of the weight; equal chances, or all drawn: equal."""
    first, second = drawn_weights(np.array([0.01, 0.03]), 100)

    assert first / second == pytest.approx(3, abs=0.1)
    assert drawn_weights(np.array([0.1, 0.1]), 20).tolist() == [0.5, 0.5]
    assert drawn_weights(np.array([0.1, 0.9]), 2).tolist() == [0.5, 0.5]
    times = -1 / np.expm1(-drawn_time([0.1, 0.2, 0.4], 5) * np.array([0.1, 0.2, 0.4]))
    assert times.sum() == pytest.approx(5)


def drawn_time(chances: list[float], population: int) -> float:
    """Find the time at which these would be the sample, by bisection."""
    low, high = 1e-6, 1e3
    for _ in range(200):
        middle = (low + high) / 2
        many = (-1 / np.expm1(-middle * np.array(chances))).sum() > population
        low, high = (middle, high) if many else (low, middle)
    return low


def test_unequal_chances_are_undone() -> None:
    """Over 300 samples that draw right answers three times as often, the mean is not moved."""
    random, found = np.random.default_rng(0), []
    for _ in range(300):
        y = (random.random(60) < 0.5).astype(float)
        rates = np.where(y == 1, 3.0, 1.0)
        first = np.argsort(random.exponential(size=60) / rates)[:20]
        grades = np.full(60, np.nan)
        grades[first] = y[first]
        found.append(corrected_mean(np.full(60, 0.5), grades, rates / rates.sum())[0])

    assert np.mean([mean for mean in found if mean is not None]) == pytest.approx(0.5, abs=0.02)


def test_graded_in_full_is_the_table_of_pairs() -> None:
    """All 6 changed of 20 graded, 3 gained and 1 lost: the interval of 3 and 1 out of 20."""
    deltas = np.array([1.0, 1, 1, -1, 0, 0])

    found, ends = corrected_difference(deltas, np.zeros(6), None, 20)

    assert found == Estimate(pytest.approx(1 / 3), pytest.approx(6))
    assert ends == pytest.approx(pair_table_interval(3, 1, 20, 0.05))


def test_fewer_grades_widen_the_interval() -> None:
    """The other changed questions may differ from those graded; the unchanged ones may not."""
    whole = np.array([1.0, 1, 0, 0, 1, -1, 0, 1, 1, 0, 1, 0])
    half = np.where(np.arange(12) < 6, whole, np.nan)

    def width(deltas: np.ndarray, questions: int) -> float:
        _, (low, high) = corrected_difference(deltas, np.zeros(12), None, questions)
        return high - low

    assert width(half, 40) > 1.2 * width(whole, 40)
    assert width(half, 120) < 0.5 * width(half, 40)


def test_equal_differences_leave_an_interval() -> None:
    """Five of ten changed pairs graded, none of them different: both signs remain possible."""
    deltas = np.where(np.arange(10) < 5, 0.0, np.nan)

    found, (low, high) = corrected_difference(deltas, np.zeros(10), None, 30)

    assert found.mean == 0
    assert low == pytest.approx(-high)
    # up to 1 - 0.05 ** (1/5) = 0.45 of the third that changed
    assert 0.12 < high < 0.18


def test_few_pairs_are_too_few_to_weigh_a_metric() -> None:
    """Below eight graded pairs a metric is not used: its weight would be chance."""
    deltas = np.array([1.0, 0, 1, 0, 1, 0, 1, np.nan, np.nan])
    guesses = np.nan_to_num(deltas, nan=1.0)

    found, _ = corrected_difference(deltas, guesses, None, 20)

    assert found.mean == pytest.approx(4 / 7)


def test_no_change_leaves_little_room() -> None:
    """No answer changed on 13 questions: an interval around 0, by the table of pairs."""
    ends = difference_interval(Estimate(0.0, 0.0), 0.0, True, 0, 13)

    assert ends == pair_table_interval(0.0, 0.0, 13, 0.05)
