"""Intervals against values worked out by hand, and means corrected by human grades."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from harness.analysis import MetricFacts, StudyTable, analyse
from harness.analysis.statistics.intervals import (
    NO_INTERVAL,
    corrected_mean,
    interval,
    stretched_to,
    t_interval,
    wilson_interval,
)
from harness.records import Layer


def test_t_interval_is_students() -> None:
    """The same limits as scipy gives."""
    deltas = np.array([0.1, -0.2, 0.4, 0.3, 0.25])

    expected = stats.ttest_1samp(deltas, 0).confidence_interval(0.95)

    assert t_interval(deltas, 0.05) == pytest.approx(tuple(expected))
    found = interval(deltas, binary=False, bounded=False)
    assert (found.low, found.high, found.rule) == (*t_interval(deltas, 0.05), "t")


@pytest.mark.parametrize(
    ("deltas", "binary", "bounded", "rule"),
    [
        ([0.0] * 8, True, True, "dirichlet"),
        ([1.0] * 8, True, True, "dirichlet"),
        ([0.0] * 8, False, True, "unchanged"),
        ([1.0] * 8, False, True, "unchanged"),
        ([0.0] * 7 + [0.5], False, True, "t_sparse"),
        ([0.1, 0.2, 0.3], False, True, "t"),
    ],
)
def test_no_interval_has_zero_width(
    deltas: list[float], binary: bool, bounded: bool, rule: str
) -> None:
    """Eight equal differences do not make a certainty."""
    found = interval(np.array(deltas), binary, bounded)

    assert found.rule == rule
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low < np.mean(deltas) < found.high <= 1 or abs(np.mean(deltas)) == 1
    assert found.high - found.low > 0.01


@pytest.mark.parametrize("deltas", [[], [0.3], [5.0, 5.0]])
def test_no_interval_without_spread_or_pairs(deltas: list[float]) -> None:
    """One question, or a quantity without bounds that never varies, gives none."""
    assert interval(np.array(deltas), binary=False, bounded=False).rule == "none"


def test_pairs_table_agrees_with_sampling_the_posterior() -> None:
    """2 gained, 1 lost, 5 alike and the prior, drawn 400,000 times."""
    draws = np.random.default_rng(0).dirichlet([2 + 2 / 3, 1 + 2 / 3, 5 + 1 / 3], 400_000)
    expected = np.quantile(draws[:, 0] - draws[:, 1], [0.025, 0.975])

    found = interval(np.array([1, 1, -1, 0, 0, 0, 0, 0.0]), binary=True, bounded=True)

    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=4e-3)


@pytest.mark.parametrize(
    ("deltas", "low", "high"), [([-1.0] * 3, -1.0, 0.111), ([1.0] * 3, -0.111, 1.0)]
)
def test_the_interval_holds_the_observed_mean(deltas: list[float], low: float, high: float) -> None:
    """Three of three lost: the prior alone would end at -0.989 and leave out the mean of -1."""
    found = interval(np.array(deltas), binary=True, bounded=True)

    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-4)
    assert found.rule == "dirichlet"


@pytest.mark.parametrize("n", [2, 3, 8])
def test_every_table_of_pairs_is_inside_its_interval(n: int) -> None:
    """Whatever was gained, lost and alike, the mean lies within."""
    for gained in range(n + 1):
        for lost in range(n + 1 - gained):
            deltas = np.array([1.0] * gained + [-1.0] * lost + [0.0] * (n - gained - lost))

            found = interval(deltas, binary=True, bounded=True)

            assert found.low is not None
            assert found.high is not None
            assert found.low <= deltas.mean() <= found.high


def test_no_interval_reaches_nothing() -> None:
    """An undefined interval remains undefined."""
    assert stretched_to(0.5, NO_INTERVAL) == NO_INTERVAL


@pytest.mark.parametrize("hits", [0, 5, 12])
def test_wilson_contains_the_share(hits: int) -> None:
    """The limits lie between 0 and 1 on either side of the observed share; no data, no limit."""
    low, high = wilson_interval(hits, 12)

    assert 0 <= low <= hits / 12 + 1e-9 <= high + 2e-9 <= 1 + 2e-9
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_wilson_by_hand() -> None:
    """8 of 24: centre (1/3 + 3.8415/48) / 1.16006 = 0.3563, half-width 0.1766."""
    assert wilson_interval(8, 24) == pytest.approx((0.1797, 0.5329), abs=1e-4)


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
