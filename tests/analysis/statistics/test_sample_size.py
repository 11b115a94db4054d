import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from harness.analysis import Assumptions, power
from harness.analysis.statistics.sample_size import (
    MOST,
    detectable,
    detectable_share,
    fewest_changes,
    graded_questions,
    questions_needed,
)
from harness.analysis.statistics.sign_flip import binomial_p, smallest_p


def test_eight_questions_and_the_article_s_contrasts() -> None:
    """Nothing can ever be significant: the smallest p is 2 / 2**8, the level 0.05 / 28."""
    found = power(questions=8, contrasts=7, metrics=4)

    assert (found.tests, found.possible, found.detectable) == (28, False, None)
    assert found.smallest_p == 2 / 2**8
    assert found.level == 0.05 / 28
    # 2 / 2**11 = 0.00098 is the first below 0.00179
    assert found.fewest_questions == 11
    # six tests leave each 0.0083, above 0.0078; seven do not
    assert found.most_tests == 6


def test_thousands_of_questions() -> None:
    """From 1,026 questions on, 0.05 / p is above any float, and from 1,076 on p below any.

    The largest family is floor(0.05 x 2**1099): a number of 330 digits.
    """
    found = power(questions=1100, contrasts=7, metrics=4)

    assert (found.possible, found.smallest_p, found.fewest_questions) == (True, 0.0, 11)
    assert found.most_tests == 2**1099 * Fraction(0.05) // 1
    assert found.detectable == pytest.approx(0.4 * (3.12 + 0.84) / 1100**0.5, rel=0.01)


def test_a_tiny_level_is_not_rounded_away() -> None:
    """1 - 1e-20 is 1 as a float; the quantile of such a level is 9.3."""
    needed = power(2000, 1, 1, Assumptions(alpha=2e-20)).questions_needed

    assert needed == math.ceil(((9.2623401 + 0.8416212) * 2) ** 2 + 9.2623401**2 / 2)


def test_enough_questions_show_the_effect() -> None:
    """What is asked for suffices to detect the assumed effect."""
    needed = power(8, 7, 4).questions_needed

    found = power(needed, 7, 4)

    assert found.possible
    assert found.detectable == pytest.approx(0.2, abs=0.01)


def test_grades_needed_fall_with_the_auc() -> None:
    """A clearer metric takes fewer grades; a hopeless one more than anybody gives."""
    assert graded_questions(0.95, 0.65) < graded_questions(0.85, 0.65) < graded_questions(0.7, 0.65)
    assert graded_questions(0.501, 0.65) == MOST


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("effect", 0.0),
        ("spread", 0.0),
        ("spread", math.inf),
        ("auc", 0.5),
        ("auc", 1.0),
        ("share_right", 1.0),
        ("alpha", 2.0),
        ("power", math.nan),
    ],
)
def test_impossible_assumptions_are_refused(name: str, value: float) -> None:
    """Each assumption has its range; the message names it."""
    with pytest.raises(ValueError, match=f"{name}={value:g} must be"):
        Assumptions(**{name: value})
    with pytest.raises(ValueError, match="1 or more"):
        power(0, 7, 4)


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


def test_a_detectable_share_has_the_power_it_claims() -> None:
    """20 answers at the level 0.05 / 28: 11 must change, all one way; the exact test agrees."""
    share = detectable(0.4, 20, 0.05 / 28, 0.8, binary=True)
    assert share == detectable_share(20, 0.05 / 28, 0.8)
    assert share is not None
    changes = np.random.default_rng(0).binomial(20, share, 40_000)

    found = np.mean([binomial_p(int(n), 0) <= 0.05 / 28 for n in changes])

    assert fewest_changes(0.05 / 28) == 11
    assert found == pytest.approx(0.8, abs=0.01)
    assert detectable_share(10, 0.05 / 28, 0.8) is None


def test_where_all_must_lie_on_one_side_the_difference_is_that_large() -> None:
    """12 questions and 77 tests leave only 12 of 12: P(normal > -x) ** 12 is 0.8 at x = 2.0875."""
    delta = detectable(0.4, 12, 0.05 / 77, 0.8)

    assert delta == pytest.approx(0.4 * 2.08746, abs=1e-4)
    draws = np.random.default_rng(0).normal(delta, 0.4, (40_000, 12))
    assert (draws > 0).all(axis=1).mean() == pytest.approx(0.8, abs=0.01)


def test_questions_needed_agree_with_the_detectable_share() -> None:
    """0.25 right and wrong, all one way: 31 questions bring 6 changes with a probability of 0.8."""
    n = questions_needed(0.25, 0.44, 0.05, 0.8, binary=True)

    assert n == 31
    shares = [detectable_share(questions, 0.05, 0.8) for questions in (30, 31)]
    assert shares[1] <= 0.25 < shares[0]  # type: ignore[operator]
    # losses as well: the spread decides
    assert questions_needed(0.1, 0.9, 0.05, 0.8, binary=True) == 638
    assert questions_needed(1e-9, 0.9, 0.05, 0.8, binary=True) > MOST  # type: ignore[operator]
    assert questions_needed(1.0, 0.0, 0.05, 0.8, binary=True) == 6


def test_questions_needed_respect_the_floor() -> None:
    """However clear the difference, a level of 1/1000 takes 11 questions; none shows zero."""
    assert questions_needed(10.0, 0.1, 0.001, 0.8) == 11
    assert questions_needed(0.0, 0.4, 0.05, 0.8) is None
