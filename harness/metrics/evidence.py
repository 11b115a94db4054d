"""What is known of one response, and how it is assembled from rows, joined by key."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.records import Floats, Labels, Status


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that is known about one response, as arrays and plain values.

    A field is None when its check was not run or could not be read; `missing` then says
    why, and a metric that needs it is not scored (NA), never scored as zero.
    """

    response_in_passages: Labels | None = None
    """(response claims, passages), passages in rank order."""

    reference_in_passages: Labels | None = None
    """(reference claims, passages), passages in rank order."""

    response_in_context: Labels | None = None
    """(response claims,): held against all passages joined."""

    reference_in_context: Labels | None = None
    """(reference claims,): held against all passages joined."""

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
