"""Labels written as letters, and rows written as one does on paper."""

from collections.abc import Callable

import numpy as np
import pytest

from harness.metrics.evidence import Evidence
from harness.records import Labels, Question, Response, Verdict

CODES = {"E": 1, "N": 0, "C": -1}


def labels(rows: str) -> Labels:
    """ "EN" is (2,); "EN NN" is (2, 2): claims parted by spaces, passages side by side."""
    coded = [[CODES[letter] for letter in row] for row in rows.split(" ")]
    return np.array(coded if " " in rows else coded[0], np.int8)


@pytest.fixture
def evidence() -> Callable[..., Evidence]:
    """Evidence from letters: evidence(response_in_context="EEN")."""

    def make(**fields: str) -> Evidence:
        return Evidence(**{name: labels(rows) for name, rows in fields.items()})

    return make


@pytest.fixture
def question() -> Question:
    return Question("q1", "射程多少？", "射程18浬。", "text", answers=(("18浬",),))


@pytest.fixture
def response() -> Response:
    return Response("q1", 0, "射程多少？", "射程18浬。", "text", response="射程18浬。")


@pytest.fixture
def verdict() -> Callable[..., Verdict]:
    """A row: verdict("passage_useful", 0, label=1)."""

    def make(check: str, item: int, against: int = -1, **rest: object) -> Verdict:
        return Verdict("judge", "q1", 0, check, item, against, **rest)  # type: ignore[arg-type]

    return make
