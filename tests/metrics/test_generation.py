"""Generation: what the response says beyond, beside or against its passages."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness.metrics import METRICS, MetricValue
from harness.metrics.evidence import Evidence
from harness.records import Status

Make = Callable[..., Evidence]

quick = settings(max_examples=100, derandomize=True, database=None, deadline=None)


@st.composite
def whole_evidence(draw: st.DrawFn) -> Evidence:
    """Labels over 1 to 5 claims of the response, 1 to 4 of the reference, 1 to 4 passages."""
    n, m, k = (draw(st.integers(1, most)) for most in (5, 4, 4))
    code = st.integers(-1, 1)

    def drawn(*shape: int) -> np.ndarray:
        return draw(arrays(np.int8, shape, elements=code))

    return Evidence(
        response_in_passages=drawn(n, k),
        reference_in_passages=drawn(m, k),
        response_in_reference=drawn(n),
        reference_in_response=drawn(m),
    )


def value(metric: str, known: Evidence) -> float:
    found = METRICS[metric].score(known).value
    assert found is not None
    return found


def similarities(cosines: list[float], flags: list[int]) -> Evidence:
    return Evidence(question_similarity=np.array(cosines), noncommittal=np.array(flags, np.int8))


def test_faithfulness_counts_claims(evidence: Make) -> None:
    """Two of three claims occur in the passages read together; a contradiction is unfaithful."""
    assert METRICS["faithfulness"].score(evidence(response_in_context="ECE")) == MetricValue(
        2 / 3, 3
    )


def test_contradiction_is_not_silence(evidence: Make) -> None:
    """A claim is contradicted where some passage denies it and none entails it."""
    known = evidence(response_in_passages="CE CN NN EE")

    assert METRICS["contradiction_rate"].score(known) == MetricValue(1 / 4, 4)
    assert METRICS["faithfulness@ragchecker"].score(known) == MetricValue(2 / 4, 4)


@pytest.mark.parametrize(
    ("cosines", "flags", "expected"),
    [
        ([0.9, 0.9, 0.9], [1, 0, 0], 0.9),
        ([0.9, 0.9, 0.9], [1, 1, 1], 0.0),
        ([0.5, 0.7], [0, 0], 0.6),
    ],
)
def test_one_evasion_among_several_changes_nothing(
    cosines: list[float], flags: list[int], expected: float
) -> None:
    """Only where every reverse question finds an evasion is the score 0."""
    scored = METRICS["answer_relevancy"].score(similarities(cosines, flags))

    assert scored.value == pytest.approx(expected)
    assert scored.units == len(cosines)


def test_negative_mean_is_clipped_and_kept_raw() -> None:
    """Cosines of (1, 0) to (-0.02, 1), (0, 1), (0.01, 1): mean -0.0033, shown as 0."""
    asked = np.array([1.0, 0.0])
    found = np.array([[-0.02, 1.0], [0.0, 1.0], [0.01, 1.0]])
    cosines = found @ asked / np.linalg.norm(found, axis=1)
    known = similarities(cosines.tolist(), [0, 0, 0])

    assert METRICS["answer_relevancy"].score(known) == MetricValue(0.0, 3)
    assert value("answer_relevancy@ragas043", known) == pytest.approx(-0.0033, abs=5e-5)
    assert "clipped" in (METRICS["answer_relevancy"].compute.__doc__ or "")


def test_no_direction_no_similarity() -> None:
    """An embedding of length zero makes the score NA, evasion or not."""
    known = similarities([0.5, np.nan], [1, 1])

    assert METRICS["answer_relevancy"].score(known) == MetricValue(None, None, Status.ZERO_VECTOR)


def test_utilization_rests_on_what_was_retrieved(evidence: Make) -> None:
    """Of three claims of the reference two were retrieved, and one of these was said."""
    known = evidence(reference_in_passages="EN NE NN", reference_in_response="ENE")

    assert METRICS["context_utilization"].score(known) == MetricValue(0.5, 2)


def test_nothing_retrieved_nothing_to_use(evidence: Make) -> None:
    """Where no claim of the reference was retrieved, use cannot be measured."""
    known = evidence(reference_in_passages="NC NN", reference_in_response="EE")

    assert METRICS["context_utilization"].score(known) == MetricValue(
        None, 0, Status.NO_RECALLED_CLAIMS
    )


def test_noise_from_relevant_and_irrelevant_passages(evidence: Make) -> None:
    """Worked through in the definitions: the wrong second claim comes from passage 3, then 1 too.

    Passages 1 and 2 are relevant. Claims 2 and 3 are wrong; claim 3 stands in no passage.
    """
    rest = {
        "response_in_reference": "ENCE",
        "reference_in_response": "ENE",
        "reference_in_passages": "ENN NEN NNN",
    }
    first = evidence(response_in_passages="ENN NNE NNN NNN", **rest)
    second = evidence(response_in_passages="ENN ENE NNN NNN", **rest)

    assert value("noise_sensitivity_in_relevant", first) == 0.0
    assert value("noise_sensitivity_in_irrelevant", first) == 0.25
    assert value("noise_sensitivity_in_relevant", second) == 0.25
    assert value("noise_sensitivity_in_irrelevant", second) == 0.0
    assert value("hallucination", first) == 0.25
    assert value("self_knowledge", first) == 0.25
    assert value("faithfulness@ragchecker", first) == 0.5
    assert value("precision", first) == 0.5
    assert value("recall", first) == pytest.approx(2 / 3)
    assert value("f1", first) == pytest.approx(4 / 7)
    assert value("claim_recall", first) == pytest.approx(2 / 3)
    assert value("context_precision@ragchecker", first) == pytest.approx(2 / 3)
    assert value("context_utilization", first) == 0.5


@quick
@given(whole_evidence())
def test_every_claim_is_faithful_hallucinated_or_known(known: Evidence) -> None:
    """Faithfulness, hallucination and self-knowledge part the response's claims."""
    parts = ("faithfulness@ragchecker", "hallucination", "self_knowledge")

    assert sum(value(part, known) for part in parts) == pytest.approx(1.0)


@quick
@given(whole_evidence())
def test_every_wrong_claim_has_one_source(known: Evidence) -> None:
    """A wrong claim is hallucinated, or noise of a relevant passage, or noise of others."""
    sources = ("hallucination", "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant")

    wrong = 1 - value("precision", known)
    assert sum(value(source, known) for source in sources) == pytest.approx(wrong)


def test_refusal_is_neither_good_nor_bad() -> None:
    """Declining is a fact about a response; whether it is right, the question decides."""
    refusal = METRICS["refusal"]

    assert refusal.higher_is_better is None
    assert refusal.score(Evidence(response_text="資料中沒有提到。")) == MetricValue(1.0)
    assert refusal.score(Evidence(response_text="18浬。")) == MetricValue(0.0)
