import numpy as np
import pytest
from scipy import stats

from harness.analysis.statistics.intervals import (
    NO_INTERVAL,
    around,
    detectable,
    interval,
    questions_needed,
    smallest_p,
    t_interval,
)


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
    """What is not there stays so."""
    assert around(0.5, NO_INTERVAL) == NO_INTERVAL


def test_detectable_difference_has_the_power_it_claims() -> None:
    """The difference named for 20 questions is found in 80 of 100 studies by a t test."""
    delta = detectable(0.4, 20, 0.05, 0.8)
    assert delta is not None
    draws = np.random.default_rng(0).normal(delta, 0.4, (4_000, 20))

    found = (stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05).mean()

    assert found == pytest.approx(0.8, abs=0.02)


def test_nothing_is_detectable_below_the_floor() -> None:
    """With 8 questions and 20 tests nothing can ever be significant."""
    assert smallest_p(8) == 2 / 256
    assert smallest_p(0) == 1.0
    assert detectable(0.4, 8, 0.05 / 20, 0.8) is None
    assert detectable(0.4, 1, 0.05, 0.8) is None


def test_questions_needed_have_the_power_they_claim() -> None:
    """That many questions find the difference in 80 of 100 studies."""
    n = questions_needed(0.2, 0.4, 0.05, 0.8)
    assert n is not None
    draws = np.random.default_rng(0).normal(0.2, 0.4, (4_000, n))

    found = (stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05).mean()

    assert found == pytest.approx(0.8, abs=0.03)


def test_questions_needed_respect_the_floor() -> None:
    """However clear the difference, a level of 1/1000 takes 11 questions; none shows zero."""
    assert questions_needed(10.0, 0.1, 0.001, 0.8) == 11
    assert questions_needed(0.0, 0.4, 0.05, 0.8) is None
