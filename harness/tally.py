"""What the answers of a run come to: how many, and what they took."""

from collections.abc import Sequence
from typing import Any

from harness.records import Response


def counts(responses: Sequence[Response]) -> dict[str, int]:
    """Return how many rows there are, answered and failed."""
    failed = sum(response.error is not None for response in responses)
    return {
        "questions": len(responses),
        "answered": len(responses) - failed,
        "failed": failed,
    }


def spent(responses: Sequence[Response]) -> dict[str, Any]:
    """Return tokens and seconds over all responses; null where none tells them."""
    names = ("input_tokens", "output_tokens", "retrieval_seconds", "generation_seconds")
    told = {n: [v for r in responses if (v := getattr(r, n)) is not None] for n in names}
    return {name: sum(values) if values else None for name, values in told.items()}
