"""Costs: what an answer took. Measured by the system under test, judged by nobody."""

from harness.metrics.metric import Metric, Scored
from harness.records import Layer

UNLIMITED = (0.0, float("inf"))


def retrieval_seconds(retrieval_seconds: float) -> Scored:
    """Seconds until the passages were there."""
    return Scored(float(retrieval_seconds))


def generation_seconds(generation_seconds: float) -> Scored:
    """Seconds from the passages to the response."""
    return Scored(float(generation_seconds))


def seconds(retrieval_seconds: float, generation_seconds: float) -> Scored:
    """Seconds from the question to the response."""
    return Scored(float(retrieval_seconds + generation_seconds))


def input_tokens(input_tokens: float) -> Scored:
    """Tokens that the generator read."""
    return Scored(float(input_tokens))


def output_tokens(output_tokens: float) -> Scored:
    """Tokens that the generator wrote."""
    return Scored(float(output_tokens))


def passages_returned(passages_returned: float) -> Scored:
    """Passages that came back; fewer than asked for where the index is smaller."""
    return Scored(float(passages_returned))


COSTS: dict[str, Metric] = {
    cost.__name__: Metric(cost, Layer.COST, higher_is_better=better, bounds=UNLIMITED)
    for cost, better in (
        (retrieval_seconds, False),
        (generation_seconds, False),
        (seconds, False),
        (input_tokens, False),
        (output_tokens, False),
        (passages_returned, None),
    )
}
