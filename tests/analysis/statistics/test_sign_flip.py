"""p values against values worked out by hand, and Holm's correction against statsmodels."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from harness.analysis.statistics.sign_flip import (
    EXACT_UP_TO,
    exact,
    mcnemar,
    sign_flip,
    tail_bound,
)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 11])
def test_exact_counts_every_choice_of_signs(n: int) -> None:
    """Meeting in the middle gives what listing all 2**n choices gives."""
    deltas = np.random.default_rng(n).integers(-3, 4, n) / 4
    deltas[deltas == 0] = 0.25
    signs = np.array(list(product((1, -1), repeat=n)))
    listed = (np.abs(signs @ deltas) >= abs(deltas.sum()) - 1e-12).mean()

    assert exact(deltas) == pytest.approx(listed, abs=1e-15)


def test_unchanged_questions_leave_p_alone() -> None:
    """A question with no difference fits either sign; the floor is that of all questions."""
    [flip] = sign_flip([np.array([0.0, 0.0, 0.5, 0.25, np.nan])], 99, 0)

    assert (flip.p, flip.floor, flip.rule) == (0.5, 2 / 2**4, "exact")


def test_no_pairs_no_p() -> None:
    """Nothing to test gives NA."""
    assert sign_flip([np.array([np.nan])], 99, 0)[0].p is None
    assert sign_flip([np.zeros(3)], 99, 0)[0].p == 1.0


def test_many_questions_are_sampled() -> None:
    """Beyond the exact test p is (b + 1) / (m + 1), near what scipy's flips give."""
    deltas = np.random.default_rng(0).normal(0.1, 0.4, EXACT_UP_TO + 10)

    [flip] = sign_flip([deltas], 9_999, 0)

    theirs = stats.permutation_test(
        (deltas,),
        lambda d, axis: d.sum(axis=axis),
        permutation_type="samples",
        n_resamples=9_999,
        vectorized=True,
        rng=1,
    )
    assert flip.rule == "monte_carlo"
    assert flip.p == pytest.approx(theirs.pvalue, abs=0.02)
    assert flip.floor == tail_bound(np.sqrt(34))
    assert sign_flip([deltas], 9_999, 0) == [flip]


def test_a_p_too_small_for_the_flips_is_bounded() -> None:
    """All of 60 questions up by 0.5: exactly 2 / 2**60, and never called less than that."""
    [flip] = sign_flip([np.full(60, 0.5)], 999, 0)

    assert flip.rule == "bound"
    assert flip.p is not None
    assert 2 / 2**60 < flip.p < 1e-12
    assert flip.p >= flip.floor


def test_bound_is_above_the_exact_p() -> None:
    """The bound that replaces the exact p is never smaller than it."""
    random = np.random.default_rng(0)
    for _ in range(200):
        deltas = random.normal(random.normal(0, 0.7), 1, 20)
        size = abs(deltas.sum()) / np.sqrt((deltas**2).sum())
        assert exact(deltas) <= tail_bound(size) + 1e-12


def test_mcnemar_is_the_exact_one() -> None:
    """As statsmodels gives it; equal to the sign flips of the same pairs."""
    from statsmodels.stats.contingency_tables import mcnemar as theirs

    deltas = np.array([1.0] * 7 + [-1.0] * 2 + [0.0] * 4)

    found = mcnemar(deltas)

    assert found.p == pytest.approx(theirs([[4, 7], [2, 0]], exact=True).pvalue)
    assert found.p == pytest.approx(sign_flip([deltas], 99, 0)[0].p)
    assert (found.discordant, found.floor) == (9, 2 / 2**9)
    assert mcnemar(np.zeros(4)).p == 1.0
