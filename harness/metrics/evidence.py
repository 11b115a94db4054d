"""What is known of one response, and how it is assembled from rows, joined by key."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from harness.records import Floats, Labels, Question, Response, Status, Verdict


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that is known about one response, as arrays and plain values.

    A field is None when its check was not run or could not be read; `missing` then holds the
    reason, and a metric that needs the field is NA, never zero.
    """

    response_in_passages: Labels | None = None
    """(response claims, passages), passages in rank order."""

    reference_in_passages: Labels | None = None
    """(reference claims, passages), passages in rank order."""

    response_in_context: Labels | None = None
    """(response claims,): checked against all passages joined."""

    reference_in_context: Labels | None = None
    """(reference claims,): checked against all passages joined."""

    response_in_reference: Labels | None = None
    """(response claims,)"""

    reference_in_response: Labels | None = None
    """(reference claims,)"""

    passage_useful: Labels | None = None
    """(passages,), in rank order: ENTAILED where the passage helps to reach the reference."""

    question_similarity: Floats | None = None
    """(reverse questions,), cosine in [-1, 1] to the question that was asked."""

    noncommittal: Labels | None = None
    """(reverse questions,): ENTAILED where the response evades the question."""

    response_text: str | None = None
    """The response itself; the empty string is a response, None is a failure."""

    reference_text: str | None = None
    """The right answer in full, as a person wrote it."""

    answers: tuple[tuple[str, ...], ...] | None = None
    """Groups of accepted spellings, as in `Question.answers`."""

    answerable: bool | None = None

    passages_returned: float | None = None
    retrieval_seconds: float | None = None
    generation_seconds: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None

    missing: Mapping[str, Status] = field(default_factory=dict)
    """Field name -> why it is None."""


AXES: dict[str, tuple[Status, ...]] = {
    "response_in_passages": (Status.NO_CLAIMS, Status.NO_PASSAGES),
    "reference_in_passages": (Status.NO_REFERENCE_CLAIMS, Status.NO_PASSAGES),
    "response_in_context": (Status.NO_CLAIMS,),
    "reference_in_context": (Status.NO_REFERENCE_CLAIMS,),
    "response_in_reference": (Status.NO_CLAIMS,),
    "reference_in_response": (Status.NO_REFERENCE_CLAIMS,),
    "passage_useful": (Status.NO_PASSAGES,),
    "question_similarity": (Status.NO_REVERSE_QUESTIONS,),
    "noncommittal": (Status.NO_REVERSE_QUESTIONS,),
}
"""The fields of `Evidence` that a judge fills -> the reason why each axis can be empty."""

YES_OR_NO = ("passage_useful", "noncommittal")
"""Fields whose labels are ENTAILED or UNKNOWN, never CONTRADICTED."""

Rows = Mapping[tuple[int, int], Verdict]
"""(item, against) -> the row of one check."""

WHOLE = (-1, -1)
"""Item and passage of the single row of a check without any label."""

NOTHING: dict[str, Status] = {
    "claims_response": Status.NO_CLAIMS,
    "claims_reference": Status.NO_REFERENCE_CLAIMS,
    "reverse_question": Status.NO_REVERSE_QUESTIONS,
}
"""Check -> why it may have nothing to label: a count of zero, not a failure."""

MEASURED = ("retrieval_seconds", "generation_seconds", "input_tokens", "output_tokens")
"""Quantities that the system under test may report about itself."""

OF_THE_RESPONSE = (
    "response_text", "response_in_passages", "response_in_context", "response_in_reference",
    "reference_in_response", "question_similarity", "noncommittal",
)  # fmt: skip
"""Fields that are undefined for a truncated answer."""

OF_RETRIEVAL = ("passage_useful", "reference_in_passages", "reference_in_context")
"""Fields that are undefined where the corpus holds no answer: there is nothing to retrieve."""


def assemble(response: Response, question: Question, verdicts: Iterable[Verdict]) -> Evidence:
    """Return everything known about a response, with the reason for every field that is None.

    Args:
        response: The response of the system under test.
        question: The question it was asked, as the run carries it.
        verdicts: One judge's rows on this response, in any order.

    Raises ValueError where two rows have the same item and passage, or a row has no claim,
    passage or reverse question.
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
    """Return for each field that a judge fills its array, or why there is none."""
    rows: defaultdict[str, dict[tuple[int, int], Verdict]] = defaultdict(dict)
    for verdict in verdicts:
        place = (verdict.item, verdict.against)
        if place in rows[verdict.check]:
            raise ValueError(f"{verdict.check}: two rows at item {place[0]}, against {place[1]}")
        rows[verdict.check][place] = verdict
    sizes = {
        **{status: _count(rows[check]) for check, status in NOTHING.items()},
        Status.NO_PASSAGES: passages,
    }
    fields: dict[str, Labels | Floats | Status] = {}
    for name, axes in AXES.items():
        column = "similarity" if name == "question_similarity" else "label"
        check = rows["reverse_question" if Status.NO_REVERSE_QUESTIONS in axes else name]
        fields[name] = _array(check, column, [sizes[axis] for axis in axes])
    return fields


def _count(rows: Rows) -> int | Status:
    """Return how many claims or reverse questions there are, or why that is unknown."""
    if not rows:
        return Status.NOT_ASKED
    if WHOLE in rows:
        reason = Status(rows[WHOLE].error or Status.JUDGE_FAILED)
        return 0 if reason in NOTHING.values() else reason
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
    # A label far outside the set stays outside it, and the metric refuses it.
    return np.array(cells, np.int64).clip(-128, 127).astype(np.int8).reshape(sizes)
