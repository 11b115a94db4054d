import pytest

from harness.analysis import Assumptions, power
from harness.analysis.statistics.sample_size import MOST, graded_questions


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
    "wrong", [{"effect": 0.0}, {"spread": 0.0}, {"auc": 0.5}, {"auc": 1.0}, {"share_right": 1.0}]
)
def test_impossible_assumptions_are_refused(wrong: dict[str, float]) -> None:
    """Each assumption has its range."""
    with pytest.raises(ValueError, match="must"):
        Assumptions(**wrong)
    with pytest.raises(ValueError, match="1 or more"):
        power(0, 7, 4)
