import pytest

from harness.analysis.statistics.kappa import kappa

Opinions = dict[int, int | None]


def raters(
    both_right: int, first_only: int, second_only: int, both_wrong: int
) -> tuple[Opinions, Opinions]:
    """Return two graders' opinions that make this table."""
    cells = [(1, 1)] * both_right + [(1, 0)] * first_only + [(0, 1)] * second_only
    cells += [(0, 0)] * both_wrong
    first: Opinions = dict(enumerate(a for a, _ in cells))
    second: Opinions = dict(enumerate(b for _, b in cells))
    return first, second


def test_kappa_by_hand() -> None:
    """50 proposals, 20 + 15 agreed: 0.7 observed, 0.5 by chance, so kappa is 0.4."""
    found = kappa(*raters(20, 5, 10, 15))

    assert (found.n, found.agreed) == (50, 35)
    assert found.right == (0.5, 0.6)
    assert found.expected == pytest.approx(0.5)
    assert found.kappa == pytest.approx(0.4)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.4 < found.high


def test_the_base_rate_makes_the_difference() -> None:
    """90 % agreement is little where nearly all is right: kappa is near 0, not 0.9."""
    found = kappa(*raters(90, 5, 5, 0))

    assert found.agreed / found.n == 0.9
    assert found.kappa == pytest.approx((0.9 - 0.905) / (1 - 0.905))


def test_all_right_by_both_says_nothing() -> None:
    """Where both call everything right chance agrees too: kappa is NA, never 1 and never 0."""
    found = kappa(*raters(8, 0, 0, 0))

    assert (found.agreed, found.expected, found.kappa, found.low) == (8, 1.0, None, None)


def test_perfect_agreement_has_no_interval() -> None:
    """Kappa 1 has a standard error of 0, and an interval without width would look certain."""
    found = kappa(*raters(5, 0, 0, 3))

    assert (found.kappa, found.low, found.high) == (1.0, None, None)


def test_one_constant_grader_agrees_by_chance() -> None:
    """Against a grader who calls everything right, agreement is that of chance: kappa 0."""
    found = kappa(*raters(6, 2, 0, 0))

    assert found.kappa == pytest.approx(0.0)


def test_opposite_graders_agree_on_nothing() -> None:
    """One calls all right, the other all wrong: chance agrees on nothing either, so kappa 0."""
    found = kappa(*raters(0, 5, 0, 0))

    assert (found.agreed, found.expected, found.kappa, found.low) == (0, 0.0, 0.0, None)


def test_unclear_is_left_out_and_counted() -> None:
    """What one of them could not decide, or did not see, is neither agreement nor dispute."""
    found = kappa({1: 1, 2: None, 3: 0, 4: 1}, {1: 1, 2: 0, 3: None, 5: 0})

    assert (found.n, found.agreed, found.unclear) == (1, 1, 2)


def test_nothing_in_common_is_na() -> None:
    """Two who graded different answers cannot be compared."""
    found = kappa({1: 1}, {2: 0})

    assert (found.n, found.right, found.expected, found.kappa) == (0, None, None, None)


def test_three_labels_by_hand() -> None:
    """7 of 10 alike; 0.3 x 0.3 + 0.2 x 0.1 + 0.5 x 0.6 = 0.41 by chance: kappa is 0.29 / 0.59."""
    first = dict(enumerate((1, 1, 1, -1, -1, 0, 0, 0, 0, 0)))
    second = dict(enumerate((1, 1, 0, -1, 0, 0, 0, 0, 0, 1)))

    found = kappa(first, second)

    assert (found.n, found.agreed) == (10, 7)
    assert found.shares == {-1: (0.2, 0.1), 0: (0.5, 0.6), 1: (0.3, 0.3)}
    assert found.expected == pytest.approx(0.41)
    assert found.kappa == pytest.approx(0.29 / 0.59)


USEFUL = {"q1": ((1, 1, 0), (1, 0, 0)), "q2": ((1, 0, 0), (1, 0, 1)), "q3": ((1, 0, 0), (1, 0, 0))}
"""Question -> what either judge called useful of its three passages."""


def of_judge(at: int, questions: str = "q1 q2 q3") -> dict[tuple[str, int], int | None]:
    return {(q, n): label for q in questions.split() for n, label in enumerate(USEFUL[q][at])}


def test_interval_over_questions_by_hand() -> None:
    """Nine labels of three questions are three: kappa without each of them gives the interval.

    7 of 9 alike, 41/81 by chance: 22/40. Without q1, and without q2, 2/3; without q3 1/3. These
    lie 1/9, 1/9 and 2/9 from their mean, so the standard error is the root of 2/3 x 6/81, 2/9.
    Student's t with 2 degrees of freedom is 4.303.
    """
    found = kappa(of_judge(0), of_judge(1), unit=lambda key: key[0])

    assert found.kappa == pytest.approx(0.55)
    assert found.low == pytest.approx(0.55 - 4.30265 * 2 / 9, abs=1e-4)
    assert found.high == 1.0


@pytest.mark.parametrize("questions", ["q3", "q1 q2"])
def test_no_interval_over_few_or_equal_questions(questions: str) -> None:
    """One question has no spread; without q1 kappa is 2/5, as without q2: no width, no interval."""
    found = kappa(of_judge(0, questions), of_judge(1, questions), unit=lambda key: key[0])

    assert found.kappa is not None
    assert (found.low, found.high) == (None, None)


def test_one_question_that_decides_it_all() -> None:
    """Without q1 both call everything wrong, so kappa is undefined there: no interval."""
    first = {("q1", 0): 1, ("q1", 1): 0, ("q2", 0): 0, ("q3", 0): 0}

    found = kappa(first, {**first, ("q1", 1): 1}, unit=lambda key: key[0])

    assert found.kappa is not None
    assert found.low is None
