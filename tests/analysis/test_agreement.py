import pytest

from harness.analysis.agreement import kappa

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
    assert found.disputed == tuple(range(20, 35))


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
    """Against a grader who calls everything right, agreement is what chance brings: kappa 0."""
    found = kappa(*raters(6, 2, 0, 0))

    assert found.kappa == pytest.approx(0.0)


def test_opposite_graders_agree_on_nothing() -> None:
    """One calls all right, the other all wrong: chance agrees on nothing either, so kappa 0."""
    found = kappa(*raters(0, 5, 0, 0))

    assert (found.agreed, found.expected, found.kappa, found.low) == (0, 0.0, 0.0, None)


def test_unclear_is_left_out_and_counted() -> None:
    """What one of them could not decide, or did not see, is neither agreement nor dispute."""
    found = kappa({1: 1, 2: None, 3: 0, 4: 1}, {1: 1, 2: 0, 3: None, 5: 0})

    assert (found.n, found.unclear, found.disputed) == (1, 2, ())


def test_nothing_in_common_is_na() -> None:
    """Two who graded different answers cannot be compared."""
    found = kappa({1: 1}, {2: 0})

    assert (found.n, found.right, found.expected, found.kappa) == (0, None, None, None)
