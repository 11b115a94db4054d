"""Scoring: what stands between the evidence and the formula."""

from dataclasses import replace

import numpy as np
import pytest

from harness.metrics import METRICS, Metric, Scored, entailed, share
from harness.metrics.evidence import Evidence
from harness.records import Labels, Layer, Status


def test_first_reason_wins(evidence) -> None:
    """A metric with two missing checks gives the reason of the first it names."""
    known = replace(
        evidence(response_in_reference="E"),
        missing={
            "response_in_passages": Status.BUDGET,
            "reference_in_passages": Status.NO_PASSAGES,
        },
    )

    scored = METRICS["noise_sensitivity_in_relevant"].score(known)

    assert scored == Scored(None, None, Status.BUDGET)


def test_claims_before_passages(evidence) -> None:
    """Without claims and without passages, the claims are what was missing first."""
    nothing = Evidence(response_in_passages=np.zeros((0, 0), np.int8))

    assert METRICS["faithfulness@ragchecker"].score(nothing).status is Status.NO_CLAIMS


def test_arrays_must_agree(evidence) -> None:
    """Two checks that disagree on the number of claims are a fault of ours, not a score."""
    torn = evidence(response_in_passages="EN NN EE", response_in_reference="EN")

    with pytest.raises(ValueError, match="response_in_reference: 2 entries where others have 3"):
        METRICS["hallucination"].score(torn)


def test_bounded_means_from_0_to_1() -> None:
    """Shares are bounded; seconds, raw cosines and percentages are not."""
    bounded = {name: metric.bounded for name, metric in METRICS.items()}

    assert bounded["faithfulness"]
    assert not bounded["seconds"]
    assert not bounded["answer_relevancy@ragas043"]
    assert not bounded["overall@csharp"]


def test_a_metric_of_ones_own(evidence) -> None:
    """A function and a line are enough: needs, judge and legend follow from the function."""

    def first_useful(passage_useful: Labels) -> Scored:
        """Share of the first two passages that are useful."""
        return share(entailed(passage_useful[:2]))

    metric = Metric(first_useful, Layer.RETRIEVAL)

    assert metric.needs == ("passage_useful",)
    assert metric.judged
    assert metric.about == "Share of the first two passages that are useful."
    assert metric.score(evidence(passage_useful="ENN")) == Scored(0.5, 2)


def test_a_metric_without_a_word_on_it() -> None:
    """A function without a docstring has an empty legend, and works."""
    assert Metric(lambda answerable: Scored(1.0), Layer.OVERALL).about == ""
