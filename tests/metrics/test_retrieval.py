"""Retrieval: ranks, shares, and what the reference needed."""

from collections.abc import Callable

import pytest

from harness.metrics import METRICS, MetricValue
from harness.metrics.evidence import Evidence
from harness.metrics.retrieval import context_precision
from harness.records import Status

Make = Callable[..., Evidence]


@pytest.mark.parametrize(
    ("useful", "expected"),
    [
        ("ENNNNNNNN", 1.0),
        ("NNNNNNNNE", 1 / 9),
        ("NNNNNNNEE", (1 / 8 + 2 / 9) / 2),
        ("NNNNNNEEN", (1 / 7 + 2 / 8) / 2),
        ("ENEN", (1 + 2 / 3) / 2),
        ("NENE", (1 / 2 + 2 / 4) / 2),
    ],
)
def test_context_precision_depends_on_rank(evidence: Make, useful: str, expected: float) -> None:
    """The same useful passages score less the lower their rank."""
    scored = METRICS["context_precision"].score(evidence(passage_useful=useful))

    assert scored.value == pytest.approx(expected, abs=1e-12)
    assert scored.units == len(useful)


@pytest.mark.parametrize(("useful", "expected"), [("EEE", 1.0), ("NNN", 0.0), ("NE", 0.5)])
def test_context_precision_is_exact(evidence: Make, useful: str, expected: float) -> None:
    """No constant in the denominator: a perfect ranking is 1.0 itself."""
    assert METRICS["context_precision"].score(evidence(passage_useful=useful)).value == expected


@pytest.mark.parametrize("passages", range(1, 60))
def test_all_useful_is_exactly_one(evidence: Make, passages: int) -> None:
    """Whatever the number of passages, a perfect ranking loses nothing to rounding."""
    assert METRICS["context_precision"].score(evidence(passage_useful="E" * passages)).value == 1.0


def test_share_is_not_average_precision(evidence: Make) -> None:
    """Ranks 8 and 9 of 9: precision by rank 0.174, share 0.222; at the top 1 and 0.222."""
    last, first = evidence(passage_useful="NNNNNNNEE"), evidence(passage_useful="EENNNNNNN")
    by_rank, share = METRICS["context_precision"], METRICS["context_precision_share"]

    assert by_rank.score(last).value == pytest.approx(0.174, abs=5e-4)
    assert by_rank.score(first).value == 1.0
    assert share.score(last) == share.score(first) == MetricValue(2 / 9, 9)
    assert "rank" in by_rank.about
    assert "whatever their rank" in share.about


def test_order_matters(evidence: Make) -> None:
    """The useful passage second gives 0.5, first 1.0."""
    assert METRICS["context_precision"].score(evidence(passage_useful="NE")).value == 0.5
    assert METRICS["context_precision"].score(evidence(passage_useful="EN")).value == 1.0


def test_context_recall_counts_reference_claims(evidence: Make) -> None:
    """Three of four claims of the reference occur in the passages; one is contradicted there."""
    scored = METRICS["context_recall"].score(evidence(reference_in_context="EECE"))

    assert scored == MetricValue(0.75, 4)


def test_claim_recall_asks_single_passages(evidence: Make) -> None:
    """A claim counts where one passage entails it; the passage share is the other direction."""
    known = evidence(reference_in_passages="ENN NEN NNN")

    assert METRICS["claim_recall"].score(known) == MetricValue(2 / 3, 3)
    assert METRICS["context_precision@ragchecker"].score(known) == MetricValue(2 / 3, 3)


def test_no_passages_is_no_zero(evidence: Make) -> None:
    """Where nothing was retrieved there is no precision to speak of."""
    none = evidence(passage_useful="")

    assert METRICS["context_precision"].score(none) == MetricValue(None, 0, Status.NO_PASSAGES)


def test_computed_alone(evidence: Make) -> None:
    """The formula is a plain function of an array."""
    assert context_precision(evidence(passage_useful="NE").passage_useful) == MetricValue(0.5, 2)
