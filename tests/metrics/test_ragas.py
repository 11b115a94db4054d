"""Ragas 0.4.3: its numbers from its verdicts, but for those that mean nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.metrics import METRICS, MetricValue
from harness.metrics.evidence import Evidence
from harness.records import Status

GOLDEN = json.loads(
    (Path(__file__).parent.parent / "data/metrics/ragas043.json").read_text(encoding="utf-8")
)
FIELDS = {
    "faithfulness": "response_in_context",
    "context_precision": "passage_useful",
    "context_recall": "reference_in_context",
}
NO_SCORE = (None, "nan")
"""Ragas raised an error, or gave nan."""

CASES = [
    (metric, case["verdicts"], case[metric]) for case in GOLDEN["verdicts"] for metric in FIELDS
] + [
    (metric, row[metric]["verdicts"] or [], row[metric]["score"])
    for row in GOLDEN["rows"]
    for metric in FIELDS
]
VECTORS = [(case, case["answer_relevancy"]) for case in GOLDEN["vectors"]] + [
    (row["answer_relevancy"], row["answer_relevancy"]["score"])
    for row in GOLDEN["rows"]
    if row["answer_relevancy"]["noncommittal"] is not None
]
Make = Callable[..., Evidence]


def sound(verdicts: list[int]) -> bool:
    return set(verdicts) <= {0, 1}


def scored(metric: str, **arrays: list[Any]) -> MetricValue:
    kinds = {"question_similarity": np.float64}
    return METRICS[metric].score(
        Evidence(**{name: np.array(v, kinds.get(name, np.int8)) for name, v in arrays.items()})
    )


@pytest.mark.parametrize(
    ("metric", "verdicts", "expected"), [case for case in CASES if sound(case[1])]
)
def test_verdicts_give_its_score(metric: str, verdicts: list[int], expected: float) -> None:
    """Within 1e-9 of Ragas; where it has an error or nan, ours is NA with a reason."""
    found = scored(f"{metric}@ragas043", **{FIELDS[metric]: verdicts})

    if expected in NO_SCORE:
        assert (found.value, found.units) == (None, 0)
    else:
        assert found.value == pytest.approx(expected, abs=1e-9)
        assert found.units == len(verdicts)


@pytest.mark.parametrize(
    ("metric", "verdicts", "expected"),
    [case for case in CASES if not {-2, -1, 0, 1} >= set(case[1])],
)
def test_a_verdict_of_2_is_no_score(metric: str, verdicts: list[int], expected: float) -> None:
    """Where Ragas takes 2 for a yes, and scores up to 2.0, ours is NA."""
    assert expected > 0
    found = scored(f"{metric}@ragas043", **{FIELDS[metric]: verdicts})

    assert (found.value, found.status) == (None, Status.JUDGE_UNPARSABLE)


def test_a_verdict_of_minus_1_is_no_usefulness() -> None:
    """Ragas makes 10,000,000,000 of the verdicts -1 and 1 on two passages; ours is NA."""
    case = next(case for case in GOLDEN["verdicts"] if case["verdicts"] == [-1, 1])
    assert case["context_precision"] == 1e10

    found = scored("context_precision@ragas043", passage_useful=[-1, 1])

    assert (found.value, found.status) == (None, Status.JUDGE_UNPARSABLE)


def test_a_contradicted_claim_is_not_supported() -> None:
    """-1 on a claim is our code for a contradiction, no yes as Ragas reads it."""
    assert scored("faithfulness@ragas043", response_in_context=[-1, 1]) == MetricValue(0.5, 2)


@pytest.mark.parametrize(("case", "expected"), VECTORS)
def test_vectors_give_its_relevancy(case: dict[str, Any], expected: float | str) -> None:
    """The cosines of its vectors give its score within 1e-9, negative ones too."""
    if not sound(case["noncommittal"]):
        found = scored(
            "answer_relevancy@ragas043",
            question_similarity=[1.0] * 3,
            noncommittal=case["noncommittal"],
        )
        assert (found.value, found.status) == (None, Status.JUDGE_UNPARSABLE)
        return
    asked, made = np.array(case["question_vector"]), np.array(case["generated_vectors"])
    lengths = np.linalg.norm(made, axis=1) * np.linalg.norm(asked)
    cosines = np.divide(
        made @ asked, lengths, out=np.full(lengths.shape, np.nan), where=lengths > 0
    )

    found = scored(
        "answer_relevancy@ragas043",
        question_similarity=cosines.tolist(),
        noncommittal=case["noncommittal"],
    )

    if expected == "nan":
        assert (found.value, found.status) == (None, Status.ZERO_VECTOR)
    else:
        assert found.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "verdicts", "expected"), [case for case in CASES if sound(case[1]) and case[1]]
)
def test_ours_differs_by_the_constant_alone(
    metric: str, verdicts: list[int], expected: float
) -> None:
    """On sound verdicts our rule gives the same score, without the 1e-10."""
    found = scored(metric, **{FIELDS[metric]: verdicts})

    assert found.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("response", "reference", "expected"),
    [
        ("EEEEN", "EN", 0.8),
        ("ENN", "E", 0.5),
        ("ENNNN", "E", 0.33),
        ("NC", "NN", 0.0),
    ],
)
def test_factual_correctness(
    evidence: Make, response: str, reference: str, expected: float
) -> None:
    """4 right, 1 wrong, 1 missed: 8/10; 1, 4, 0: 2/6 rounded to two decimals."""
    known = evidence(response_in_reference=response, reference_in_response=reference)

    found = METRICS["factual_correctness@ragas043"].score(known)

    assert found == MetricValue(expected, len(response) + len(reference))


def test_factual_correctness_of_no_claims() -> None:
    """Ragas calls a response without claims wrong; ours keeps the reason beside that 0."""
    found = scored(
        "factual_correctness@ragas043", response_in_reference=[], reference_in_response=[1]
    )

    assert found == MetricValue(0.0, 0, Status.NO_CLAIMS)
