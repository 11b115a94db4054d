"""The score of a check of one's own."""

from collections.abc import Callable

import pytest

from harness.metrics import custom_check_score
from harness.metrics.metric import Scored
from harness.records import Status, Verdict

Row = Callable[..., Verdict]


def test_share_of_labels_that_count_1(verdict: Row) -> None:
    """One label of three that counts is a third, over three units."""
    rows = [verdict("dated", item, label=label) for item, label in enumerate((0, 1, 0))]
    assert custom_check_score(rows) == Scored(1 / 3, 3, Status.OK)


def test_one_missing_label_makes_it_na(verdict: Row) -> None:
    """A label that could not be had is neither left out nor counted 0."""
    rows = [verdict("dated", 0, label=1), verdict("dated", 1, error=Status.JUDGE_FAILED)]
    assert custom_check_score(rows) == Scored(None, None, Status.JUDGE_FAILED)


@pytest.mark.parametrize(
    ("error", "units"),
    [(Status.NO_PASSAGES, 0), (Status.BUDGET, None), (Status.NOT_SUPPORTED_BY_JUDGE, None)],
)
def test_a_check_that_gave_nothing_says_why(verdict: Row, error: Status, units: int | None) -> None:
    """The reason of the check as a whole is the reason of the score."""
    assert custom_check_score([verdict("dated", -1, error=error)]) == Scored(None, units, error)


def test_a_check_that_was_not_asked(verdict: Row) -> None:
    """Without rows nothing was asked."""
    assert custom_check_score([]) == Scored(None, None, Status.NOT_ASKED)


def test_a_label_of_no_kind(verdict: Row) -> None:
    """A label that is neither 1 nor 0 is not counted with."""
    assert custom_check_score([verdict("dated", 0, label=2)]) == Scored(
        None, None, Status.JUDGE_UNPARSABLE
    )
