"""The rules of articles A (Dify, Japanese) and B (C#)."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness.metrics import METRICS, PRESETS, MetricValue
from harness.metrics.evidence import Evidence
from harness.records import Status

Make = Callable[..., Evidence]
CSHARP = PRESETS["csharp"]

quick = settings(max_examples=100, derandomize=True, database=None, deadline=None)


def scores(known: Evidence) -> dict[str, float | None]:
    return {name.partition("@")[0]: METRICS[name].score(known).value for name in CSHARP}


def test_csharp_by_hand(evidence: Make) -> None:
    """Four claims, two passages: one entailed (and contradicted), one contradicted, two unknown.

    Both passages speak. 0.6 x 0.25 + 0.2 x 1 + 0.2 x (1 - 0.5) = 0.45.
    """
    assert scores(evidence(response_in_passages="EC CN NN NN")) == {
        "faithfulness": 0.25,
        "claim_recall": 0.25,
        "context_precision": 1.0,
        "hallucination": 0.5,
        "overall": 45.0,
    }


def test_csharp_passage_counts_by_the_responses_claims(evidence: Make) -> None:
    """A passage that only contradicts counts as precise; a silent one does not."""
    assert scores(evidence(response_in_passages="CN CN"))["context_precision"] == 0.5


@quick
@given(
    arrays(np.int8, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(-1, 1))
)
def test_csharp_parts_the_claims(labels: np.ndarray) -> None:
    """Faithful, all unknown, or contradicted and not entailed: each claim is one of the three."""
    known = Evidence(response_in_passages=labels)
    names = ("faithfulness@csharp", "hallucination@csharp", "contradiction_rate")

    assert sum(METRICS[name].score(known).value or 0.0 for name in names) == pytest.approx(1.0)


@quick
@given(
    arrays(np.int8, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(-1, 1))
)
def test_csharp_overall_weighs_faithfulness_thrice(labels: np.ndarray) -> None:
    """Since claim recall is faithfulness again, the weights are 0.6, 0.2 and 0.2."""
    known = scores(Evidence(response_in_passages=labels))
    faithful, precise, silent = (
        known[name] or 0.0 for name in ("faithfulness", "context_precision", "hallucination")
    )

    expected = 100 * (0.6 * faithful + 0.2 * precise + 0.2 * (1 - silent))
    assert known["overall"] == pytest.approx(expected, abs=0.5 + 1e-9)
    assert known["overall"] == round(known["overall"] or 0.0)


def test_csharp_calls_no_claims_faithful() -> None:
    """Without claims that pipeline says 1.0, and 80 overall; the reason stays beside the number."""
    known = Evidence(response_in_passages=np.zeros((0, 3), np.int8))

    assert scores(known) == {
        "faithfulness": 1.0,
        "claim_recall": 1.0,
        "context_precision": 0.0,
        "hallucination": 0.0,
        "overall": 80.0,
    }
    assert METRICS["faithfulness@csharp"].score(known) == MetricValue(1.0, 0, Status.NO_CLAIMS)


def test_csharp_without_passages() -> None:
    """Claims but no passages: neither faithful nor hallucinated, so 20 overall."""
    known = Evidence(response_in_passages=np.zeros((3, 0), np.int8))

    assert scores(known) == {
        "faithfulness": 0.0,
        "claim_recall": 0.0,
        "context_precision": 0.0,
        "hallucination": 0.0,
        "overall": 20.0,
    }


def test_csharp_composite_is_whole_or_not_there(evidence: Make) -> None:
    """A composite whose check did not run is NA, never a part over the whole."""
    only_context = evidence(response_in_context="EEEEN")

    assert METRICS["faithfulness"].score(only_context).value == 0.8
    assert METRICS["overall@csharp"].score(only_context) == MetricValue(
        None, None, Status.NOT_ASKED
    )


def test_dify_looks_at_no_evasion() -> None:
    """One reverse question, its cosine as it is, whatever the flag says."""
    known = Evidence(
        question_similarity=np.array([-0.2, 0.9]), noncommittal=np.array([1, 1], np.int8)
    )

    assert METRICS["answer_relevancy@dify_ja"].score(known) == MetricValue(-0.2)
    assert METRICS["answer_relevancy"].score(known) == MetricValue(0.0, 2)


def test_dify_has_the_constant(evidence: Make) -> None:
    """Its average precision stops short of 1; its other two are means of 0 and 1."""
    known = evidence(passage_useful="EEE", reference_in_context="EN", response_in_context="ENNN")

    assert METRICS["context_precision@dify_ja"].score(known).value == pytest.approx(1 - 1e-10 / 3)
    assert METRICS["context_precision@dify_ja"].score(known).value != 1.0
    assert METRICS["context_recall@dify_ja"].score(known) == MetricValue(0.5, 2)
    assert METRICS["faithfulness@dify_ja"].score(known) == MetricValue(0.25, 4)
