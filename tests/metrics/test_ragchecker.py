"""RAGChecker 0.1.9: its numbers from its labels, and NA where it puts a zero for nothing."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.metrics import METRICS, PRESETS
from harness.metrics.evidence import Evidence
from harness.records import Label, Labels, Status

ROWS = json.loads(
    (Path(__file__).parent.parent / "data/metrics/ragchecker019.json").read_text(encoding="utf-8")
)["rows"]
CODES = {"E": Label.ENTAILED, "N": Label.UNKNOWN, "C": Label.CONTRADICTED}
each_row = pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])


def labels(text: str) -> Labels:
    return np.array([CODES[letter] for letter in text], np.int8)


def matrix(rows: list[str], passages: int) -> Labels:
    return labels("".join(rows)).reshape(len(rows), passages)


def evidence(row: dict[str, Any]) -> Evidence:
    """Its four inputs under our names."""
    passages = len([*row["retrieved2response"], *row["retrieved2answer"], ""][0])
    return Evidence(
        response_in_reference=labels(row["answer2response"]),
        reference_in_response=labels(row["response2answer"]),
        response_in_passages=matrix(row["retrieved2response"], passages),
        reference_in_passages=matrix(row["retrieved2answer"], passages),
    )


@each_row
def test_its_rule_gives_its_numbers(row: dict[str, Any]) -> None:
    """All eleven, its zeros included, to the last digit; the two published queries too."""
    known = evidence(row)

    for name in PRESETS["ragchecker019"]:
        expected = row["metrics"][name.partition("@")[0]]
        assert METRICS[name].score(known).value == pytest.approx(expected, abs=1e-12), name


@each_row
def test_ours_differs_where_nothing_was_counted(row: dict[str, Any]) -> None:
    """Our eleven agree wherever there is something to count; elsewhere they are NA."""
    known = evidence(row)

    for name in PRESETS["ragchecker"]:
        expected = row["metrics"][name.partition("@")[0]]
        scored = METRICS[name].score(known)
        if scored.value is None:
            assert expected == 0.0, name
            assert scored.status is not Status.OK
        else:
            assert scored.value == pytest.approx(expected, abs=1e-12), name


def test_each_kind_of_nothing_has_its_reason() -> None:
    """No claims, no reference claims, no passages: three reasons for RAGChecker's one zero."""
    known = {row["id"]: evidence(row) for row in ROWS}
    no_claims = Evidence(
        response_in_reference=labels(""),
        reference_in_response=labels("NN"),
        response_in_passages=matrix([], 2),
        reference_in_passages=matrix(["EN", "NE"], 2),
    )

    faithful, noise = METRICS["faithfulness@ragchecker"], METRICS["noise_sensitivity_in_relevant"]
    assert faithful.score(no_claims).status is Status.NO_CLAIMS
    assert faithful.score(known["no-chunks"]).status is Status.NO_PASSAGES
    assert noise.score(known["no-reference-claims"]).status is Status.NO_REFERENCE_CLAIMS
    assert METRICS["precision"].score(known["no-reference-claims"]).value == 0.5
    assert METRICS["recall"].score(known["no-reference-claims"]).value is None


def test_empty_response_does_not_contradict_itself() -> None:
    """Two reference claims, four passages, response '': NA but for recall, truly 0."""
    known = Evidence(
        response_in_reference=labels(""),
        reference_in_response=labels("NN"),
        response_in_passages=matrix([], 4),
        reference_in_passages=matrix(["ENNN", "NNNN"], 4),
    )

    for name in ("precision", "faithfulness@ragchecker", "hallucination", "self_knowledge"):
        scored = METRICS[name].score(known)
        assert (scored.value, scored.status) == (None, Status.NO_CLAIMS)
    assert METRICS["recall"].score(known).value == 0.0
    assert METRICS["claim_recall"].score(known).value == 0.5
    assert METRICS["context_precision@ragchecker"].score(known).value == 0.25
