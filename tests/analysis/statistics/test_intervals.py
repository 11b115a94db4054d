"""Intervals against values worked out by hand."""

import numpy as np
import pytest
from scipy import stats

from harness.analysis.statistics.intervals import (
    NO_INTERVAL,
    Interval,
    agreeing,
    interval,
    stretched_to,
    t_interval,
    tied_weight,
    wilson_interval,
)
from harness.analysis.statistics.sign_flip import sign_flip


def test_t_interval_is_students() -> None:
    """The same limits as scipy gives."""
    deltas = np.array([0.1, -0.2, 0.4, 0.3, 0.25])

    expected = stats.ttest_1samp(deltas, 0).confidence_interval(0.95)

    assert t_interval(deltas, 0.05) == pytest.approx(tuple(expected))
    found = interval(deltas, binary=False, bounded=False)
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    assert found.rule == "t"


@pytest.mark.parametrize(
    ("deltas", "binary", "bounded", "rule"),
    [
        ([0.0] * 8, True, True, "dirichlet"),
        ([1.0] * 8, True, True, "dirichlet"),
        ([0.0] * 8, False, True, "t_sparse"),
        ([1.0] * 8, False, True, "t"),
        ([5.0] * 8, False, False, "t"),
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
    assert found.low < np.mean(deltas) < found.high or abs(np.mean(deltas)) == 1
    assert not bounded or -1 <= found.low < found.high <= 1
    assert found.high - found.low > 0.01


@pytest.mark.parametrize("deltas", [[], [0.3], [0.0, 0.0]])
def test_no_interval_without_spread_or_pairs(deltas: list[float]) -> None:
    """One question, or a quantity without bounds that never changes, gives none."""
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


def test_ties_rule_in_part_from_a_quarter_of_them_on() -> None:
    """13 questions of which 2 rose, by 0.2 and 0.25; half a question is added at 0.5 and at -0.5.

    Middle 0.45 / 14 = 0.03214; squares 0.04 + 0.0625 + 0.25 - 14 x 0.03214 ** 2 = 0.33804; half
    2.17881 x sqrt(0.33804 / 14 / 13) = 0.09390. With the largest change alone it would be 0.03214
    + 0.05354.
    """
    found = interval(np.array([0.0] * 11 + [0.2, 0.25]), binary=False, bounded=True)

    assert (found.low, found.high) == pytest.approx((-0.06176, 0.12604), abs=1e-4)
    assert [tied_weight(np.array([0.0] * n + [1.0] * (8 - n))) for n in (2, 3, 4)] == [0, 0.5, 1]
    assert tied_weight(np.array([0.0005] * 8)) == 1.0


def test_equal_changes_may_be_other_ones_elsewhere() -> None:
    """8 x -0.05: up to 1 - 0.025 ** (1/8) = 0.36942 of the questions may not change, or twice."""
    found = interval(np.full(8, -0.05), binary=False, bounded=True, p=2 / 2**8)

    assert (found.low, found.high) == pytest.approx((-0.05 * 1.36942, -0.05 * 0.63058), abs=1e-6)


@pytest.mark.parametrize(
    "deltas",
    [
        [-0.05] * 8,
        [0.0] * 8,
        [1.0] * 8,
        [0.0, 0.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.1],
        [0.0, 0.0, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3],
        [0.0] * 7 + [0.5],
    ],
)
def test_an_interval_moves_with_the_differences(deltas: list[float]) -> None:
    """Where one difference moves by 1e-9 no other rule takes over."""
    for bounded in (True, False):
        plain = interval(np.array(deltas), binary=False, bounded=bounded)
        for at in range(8):
            moved = np.array(deltas)
            moved[at] += -1e-9 if deltas[at] == 1 else 1e-9
            other = interval(moved, binary=False, bounded=bounded)
            if plain.low is not None:
                assert (other.low, other.high) == pytest.approx((plain.low, plain.high), abs=1e-5)


def test_the_interval_holds_zero_where_the_test_does() -> None:
    """6 of 13 rose by an eighth: p = 2 / 2 ** 6 rejects 0, and so does the interval; 5 do not.

    Its end is the one that p implies, 0.05769 x (1 - 1.95996 / 2.15387).
    """
    for changed, low in ((6, 0.05769 * (1 - 1.95996 / 2.15387)), (5, None)):
        deltas = np.array([0.125] * changed + [0.0] * (13 - changed))
        [test] = sign_flip([deltas], 99, 0)

        alone = interval(deltas, binary=False, bounded=True)
        found = interval(deltas, binary=False, bounded=True, p=test.p)

        assert test.p == 2 / 2**changed
        assert alone.low is not None
        assert alone.low < 0
        assert found.low == pytest.approx(low if low else alone.low, abs=1e-5)
        assert found.high == alone.high
        mirror = interval(-deltas, binary=False, bounded=True, p=test.p)
        assert (mirror.low, mirror.high) == pytest.approx((-found.high, -found.low))  # type: ignore[operator]


def test_an_interval_without_evidence_holds_zero() -> None:
    """4 x 0.3 is p = 0.125, whatever t says; p = 0.05 is within the level."""
    found = interval(np.full(4, 0.3), binary=False, bounded=True, p=0.125)
    assert (found.low, found.rule) == (0.0, "t")

    edge = agreeing(Interval(-0.1, 0.7, "t"), 0.3, 0.05, 0.05)
    assert edge.low == pytest.approx(0.003)


def test_repeats_use_the_spread_that_is_there() -> None:
    """Shares right of 3 repeats are no table of pairs: Student's t."""
    deltas = np.array([1, -1, 1, 2, 3, 1, 2, -1]) / 3

    found = interval(deltas, binary=True, bounded=True)

    assert (found.low, found.high) == pytest.approx(t_interval(deltas, 0.05))
    assert found.rule == "t"


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
