"""Intervals against values worked out by hand."""

import numpy as np
import pytest
from scipy import stats

from harness.analysis.statistics.intervals import (
    NO_INTERVAL,
    interval,
    stretched_to,
    t_interval,
    wilson_interval,
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
