"""The step-down minP: held against its definition, and its gates worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.statistics.min_p import (
    GatedTest,
    as_extreme,
    false_discovery_rates,
    gated_min_p,
    sign_choices,
)
from harness.analysis.statistics.sign_flip import sign_flip
from harness.records import Floats


def step_down(rows: Floats, signs: Floats) -> list[float]:
    """Return the running maxima of Westfall and Young, as their book defines them."""
    sums = np.round(np.abs(rows @ signs), 9)
    p = np.array([[float((row >= one).mean()) for one in row] for row in sums])
    order = np.argsort(p[:, 0], kind="stable")
    found, reached = np.empty(len(rows)), 0.0
    for at, test in enumerate(order):
        least = p[order[at:]].min(axis=0)
        reached = max(reached, float((least <= p[test, 0]).mean()))
        found[test] = reached
    return [float(one) for one in found]


QUARTERS = st.integers(-4, 4).map(lambda n: n / 4)


@given(st.lists(st.lists(QUARTERS, min_size=7, max_size=7), min_size=1, max_size=5))
def test_one_step_is_the_step_down_procedure(deltas: list[list[float]]) -> None:
    """As long as everything passes, p is that of the definition, and else no smaller."""
    rows, signs = np.array(deltas), sign_choices(7, 0, 0)
    tests = [GatedTest(at, 0) for at in range(len(rows))]

    assert gated_min_p(rows, tests, signs, alpha=1.0).tolist() == pytest.approx(
        step_down(rows, signs)
    )
    strict = gated_min_p(rows, tests, signs, alpha=0.05)
    plain = np.array(step_down(rows, signs))
    assert strict[plain <= 0.05].tolist() == pytest.approx(plain[plain <= 0.05].tolist())
    assert (strict[plain > 0.05] > 0.05).all()


def test_the_first_column_is_the_sign_flip_p() -> None:
    """All 2**13 choices of 14 questions, against the exact test."""
    rows = np.random.default_rng(0).choice([-1.0, 0.0, 1.0, 0.1], (20, 14))
    signs = sign_choices(14, 0, 0)

    p = as_extreme(rows, signs)[:, 0] / signs.shape[1]

    assert p.tolist() == pytest.approx([test.p for test in sign_flip(list(rows), 0, 0)])


def test_equal_tests_pay_once() -> None:
    """Six questions all up: 2 / 2**6, whether tested once or four times."""
    rows, signs = np.ones((4, 6)), sign_choices(6, 0, 0)

    adjusted = gated_min_p(rows, [GatedTest(at, 0) for at in range(4)], signs, 0.05)

    assert adjusted.tolist() == [2 / 2**6] * 4


def test_a_gate_opens_by_what_passed() -> None:
    """The first change passes, and its fact follows; the second does not, and its fact is NA.

    Of 8 questions, the first change's all rise: p is one of 128 choices of signs. Another one of
    them makes the second change's rise as far, so the first pays for two, and so does its fact.
    """
    up, both = np.ones(8), np.array([1.0, -1.0] * 4)
    rows, signs = np.stack([up, up, both, up]), sign_choices(8, 0, 0)
    tests = [GatedTest(0, 0), GatedTest(0, 1), GatedTest(1, 0), GatedTest(1, 1)]

    adjusted = gated_min_p(rows, tests, signs, 0.05)

    assert adjusted[:3].tolist() == [2 / 128, 2 / 128, 1.0]
    assert np.isnan(adjusted[3])


def test_judged_metrics_follow_where_there_is_no_fact() -> None:
    """A step that a change lacks is passed over; the share then goes to the other changes."""
    rows, signs = np.ones((3, 8)), sign_choices(8, 0, 0)
    tests = [GatedTest(0, 0), GatedTest(0, 2), GatedTest(1, 0)]

    assert gated_min_p(rows, tests, signs, 0.05).tolist() == [2 / 2**8] * 3


def test_nothing_primary_claims_nothing() -> None:
    """Without a primary test every gate is closed."""
    assert np.isnan(gated_min_p(np.ones((1, 8)), [GatedTest(0, 1)], sign_choices(8, 0, 0), 1)).all()


def test_many_questions_are_drawn() -> None:
    """The signs as they are, and 999 random choices of them: never below 1 in 1,000."""
    signs = sign_choices(40, 999, seed=1)

    assert signs.shape == (40, 1000)
    assert (signs[:, 0] == 1).all()
    adjusted = gated_min_p(np.ones((1, 40)), [GatedTest(0, 0)], signs, 0.05)
    assert adjusted.tolist() == [0.001]


@given(st.lists(st.floats(0, 1), max_size=12))
def test_false_discovery_rates_are_scipys(p_values: list[float]) -> None:
    """Held against `scipy.stats.false_discovery_control`, which takes a second to import."""
    from scipy.stats import false_discovery_control

    expected = false_discovery_control(p_values).tolist() if p_values else []
    assert false_discovery_rates(p_values) == pytest.approx(expected)
