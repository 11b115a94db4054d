"""From rows to arrays: what is known of one response, joined by key and never by position."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from harness.metrics.evidence import Evidence
from harness.metrics.metric import AXES
from harness.records import Floats, Labels, Question, Response, Status, Verdict

Rows = Mapping[tuple[int, int], Verdict]
"""(item, against) -> the row of one check."""

WHOLE = (-1, -1)
"""Where the row of a check stands that gave nothing at all."""

NOTHING = {Status.NO_CLAIMS, Status.NO_REFERENCE_CLAIMS, Status.NO_REVERSE_QUESTIONS}
"""What a text without claims is marked with: a count of zero, not a failure."""

MEASURED = ("retrieval_seconds", "generation_seconds", "input_tokens", "output_tokens")
"""What the system under test reports of itself, or does not."""

OF_THE_RESPONSE = (
    "response_text", "response_in_passages", "response_in_context", "response_in_reference",
    "reference_in_response", "question_similarity", "noncommittal",
)  # fmt: skip
"""What says nothing of an answer that was cut for want of room."""

OF_RETRIEVAL = ("passage_useful", "reference_in_passages", "reference_in_context")
"""What says nothing where the corpus holds no answer: there was nothing to retrieve."""


def assemble(response: Response, question: Question, verdicts: Iterable[Verdict]) -> Evidence:
    """Return everything known of a response, with the reason for everything that is not.

    Args:
        response: What the system under test gave back.
        question: The question it was asked, as the run carries it.
        verdicts: One judge's rows on this response, in any order.

    Raises ValueError where two rows stand in one place, or a row stands where there is no
    claim, passage or reverse question.
    """
    known: dict[str, Any] = _judged(verdicts, response.k_returned)
    known["response_text"] = response.response
    known["passages_returned"] = float(response.k_returned)
    for name in MEASURED:
        value = getattr(response, name)
        known[name] = Status.NOT_MEASURED if value is None else float(value)
    if not question.answerable:
        known |= dict.fromkeys(OF_RETRIEVAL, Status.NO_REFERENCE_CLAIMS)
    if response.cut:
        known |= dict.fromkeys(OF_THE_RESPONSE, Status.CONTEXT_OVERFLOW)
    if response.response is None:
        known = dict.fromkeys(known, Status.NOT_ANSWERED)
    missing = {name: value for name, value in known.items() if isinstance(value, Status)}
    return Evidence(
        **{name: value for name, value in known.items() if name not in missing},
        reference_text=question.reference,
        answers=question.answers,
        answerable=question.answerable,
        missing=missing,
    )


def _judged(verdicts: Iterable[Verdict], passages: int) -> dict[str, Labels | Floats | Status]:
    """Return each field that a judge fills: its array, or why there is none."""
    rows: defaultdict[str, dict[tuple[int, int], Verdict]] = defaultdict(dict)
    for verdict in verdicts:
        place = (verdict.item, verdict.against)
        if place in rows[verdict.check]:
            raise ValueError(f"{verdict.check}: two rows at item {place[0]}, against {place[1]}")
        rows[verdict.check][place] = verdict
    reverse = rows["reverse_question"]
    sizes = {
        Status.NO_CLAIMS: _count(rows["claims_response"]),
        Status.NO_REFERENCE_CLAIMS: _count(rows["claims_reference"]),
        Status.NO_REVERSE_QUESTIONS: _count(reverse),
        Status.NO_PASSAGES: passages,
    }
    fields: dict[str, Labels | Floats | Status] = {}
    for name, axes in AXES.items():
        column = "similarity" if name == "question_similarity" else "label"
        check = reverse if Status.NO_REVERSE_QUESTIONS in axes else rows[name]
        fields[name] = _array(check, column, [sizes[axis] for axis in axes])
    return fields


def _count(rows: Rows) -> int | Status:
    """Return how many claims or reverse questions there are, or why that is not known."""
    if not rows:
        return Status.NOT_ASKED
    if WHOLE in rows:
        reason = Status(rows[WHOLE].error or Status.JUDGE_FAILED)
        return 0 if reason in NOTHING else reason
    if rows.keys() != {(item, -1) for item in range(len(rows))}:
        raise ValueError(f"{next(iter(rows.values())).check}: items are not 0 to {len(rows) - 1}")
    return len(rows)


def _array(rows: Rows, column: str, shape: list[int | Status]) -> Labels | Floats | Status:
    """Return one column of a check as an array of this shape, or why there is none."""
    sizes = [size for size in shape if not isinstance(size, Status)]
    if len(sizes) < len(shape):
        return next(size for size in shape if isinstance(size, Status))
    if not rows and all(sizes):
        return Status.NOT_ASKED
    against = range(sizes[1]) if len(sizes) == 2 else (-1,)
    places = [*product(range(sizes[0]), against)]
    strangers = rows.keys() - {*places, WHOLE}
    if strangers:
        raise ValueError(
            f"{rows[min(strangers)].check}: no such claim or passage: {min(strangers)}"
        )
    if places and WHOLE in rows:
        return Status(rows[WHOLE].error or Status.JUDGE_FAILED)
    cells = []
    for place in places:
        cell = getattr(rows[place], column) if place in rows else None
        if cell is None:
            error = rows[place].error if place in rows else None
            return Status(error or Status.JUDGE_INCOMPLETE)
        cells.append(cell)
    if column == "similarity":
        return np.array(cells, np.float64).reshape(sizes)
    # A label far outside the set stays outside it, and the metric says so.
    return np.array(cells, np.int64).clip(-128, 127).astype(np.int8).reshape(sizes)
