"""Scoring: from the evidence to the formula."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from harness.metrics import (
    METRICS,
    PRESETS,
    Metric,
    MetricValue,
    custom_check_score,
    entailed,
    share,
)
from harness.metrics.evidence import Evidence
from harness.records import Labels, Layer, Status, Verdict

Row = Callable[..., Verdict]


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

    assert scored == MetricValue(None, None, Status.BUDGET)


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


def test_a_function_is_a_metric(evidence) -> None:
    """What it needs, whether a judge is asked, and its description follow from the function."""

    def first_useful(passage_useful: Labels) -> MetricValue:
        """Share of the first two passages that are useful."""
        return share(entailed(passage_useful[:2]))

    metric = Metric(first_useful, Layer.RETRIEVAL)

    assert metric.needs == ("passage_useful",)
    assert metric.needs_judge
    assert metric.about == "Share of the first two passages that are useful."
    assert metric.score(evidence(passage_useful="ENN")) == MetricValue(0.5, 2)


def test_a_bare_number_is_no_score(evidence) -> None:
    """A function returns a MetricValue, which also says what the number rests on."""
    metric = Metric(lambda: 0.5, Layer.OVERALL)  # type: ignore[arg-type, return-value]

    with pytest.raises(TypeError, match=r"returned 0\.5, not a MetricValue"):
        metric.score(evidence())


def test_a_metric_without_a_docstring() -> None:
    """A function without a docstring has an empty description, and works."""
    assert Metric(lambda answerable: MetricValue(1.0), Layer.OVERALL).about == ""


def mean(scores: list[float | None]) -> tuple[float, int]:
    """The mean of what was scored, and how many that is."""
    there = [score for score in scores if score is not None]
    return sum(there) / len(there), len(there)


def test_row_without_any_judgement_is_no_zero(evidence: Callable[..., Evidence]) -> None:
    """Rows of .8, .8, NA, .6, .6 give 0.7 over 4 of 5, and the NA keeps its reason."""
    unread = Evidence(missing={"response_in_context": Status.JUDGE_UNPARSABLE})
    rows = [evidence(response_in_context=text) for text in ("EEEEN", "EEEEN", "EEENN", "EEENN")]

    scores = [METRICS["faithfulness"].score(known) for known in (*rows[:2], unread, *rows[2:])]

    total, scored = mean([one.value for one in scores])
    assert (round(total, 12), scored) == (0.7, 4)
    assert min(one.value for one in scores if one.value is not None) == 0.6
    assert scores[2].status is Status.JUDGE_UNPARSABLE


def test_all_four_are_na_where_no_reply_could_be_read() -> None:
    """A judge that gave no JSON for any check leaves four NA, each with the reason."""
    known = Evidence(
        missing=dict.fromkeys(
            (
                "passage_useful",
                "reference_in_context",
                "response_in_context",
                "question_similarity",
                "noncommittal",
            ),
            Status.JUDGE_UNPARSABLE,
        )
    )

    for name in PRESETS["ragas"]:
        scored = METRICS[name].score(known)
        assert (scored.value, scored.status) == (None, Status.JUDGE_UNPARSABLE)


def test_judge_trouble_is_no_bad_answer(evidence: Callable[..., Evidence]) -> None:
    """1.0, NA, 1.0 is 1.000 over 2 of 3, not 0.667."""
    good = evidence(response_in_context="EE")
    lost = Evidence(missing={"response_in_context": Status.JUDGE_FAILED})

    scores = [METRICS["faithfulness"].score(known).value for known in (good, lost, good)]

    assert mean(scores) == (1.0, 2)


def test_share_of_labels_that_count_1(verdict: Row) -> None:
    """One label of three that counts is a third, over three units."""
    rows = [verdict("dated", item, label=label) for item, label in enumerate((0, 1, 0))]
    assert custom_check_score(rows) == MetricValue(1 / 3, 3, Status.OK)


def test_one_missing_label_makes_it_na(verdict: Row) -> None:
    """A label that could not be had is neither left out nor counted 0."""
    rows = [verdict("dated", 0, label=1), verdict("dated", 1, error=Status.JUDGE_FAILED)]
    assert custom_check_score(rows) == MetricValue(None, None, Status.JUDGE_FAILED)


@pytest.mark.parametrize(
    ("error", "units"),
    [(Status.NO_PASSAGES, 0), (Status.BUDGET, None), (Status.NOT_SUPPORTED_BY_JUDGE, None)],
)
def test_a_check_that_gave_nothing_says_why(verdict: Row, error: Status, units: int | None) -> None:
    """The reason of the check as a whole is the reason of the score."""
    assert custom_check_score([verdict("dated", -1, error=error)]) == MetricValue(
        None, units, error
    )


def test_a_check_that_was_not_asked(verdict: Row) -> None:
    """Without rows nothing was asked."""
    assert custom_check_score([]) == MetricValue(None, None, Status.NOT_ASKED)


def test_a_label_of_no_kind(verdict: Row) -> None:
    """A label that is neither 1 nor 0 is not counted with."""
    assert custom_check_score([verdict("dated", 0, label=2)]) == MetricValue(
        None, None, Status.JUDGE_UNPARSABLE
    )
