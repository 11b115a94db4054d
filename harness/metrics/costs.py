"""Costs: the time and tokens of an answer, as the system under test measured them."""

from harness.metrics.metric import Metric, MetricValue
from harness.records import Layer

UNLIMITED = (0.0, float("inf"))


def retrieval_seconds(retrieval_seconds: float) -> MetricValue:
    """Seconds until the passages were retrieved."""
    return MetricValue(float(retrieval_seconds))


def generation_seconds(generation_seconds: float) -> MetricValue:
    """Seconds from the passages to the response."""
    return MetricValue(float(generation_seconds))


def seconds(retrieval_seconds: float, generation_seconds: float) -> MetricValue:
    """Seconds from the question to the response."""
    return MetricValue(float(retrieval_seconds + generation_seconds))


def input_tokens(input_tokens: float) -> MetricValue:
    """Tokens that the generator read."""
    return MetricValue(float(input_tokens))


def output_tokens(output_tokens: float) -> MetricValue:
    """Tokens that the generator wrote."""
    return MetricValue(float(output_tokens))


def passages_returned(passages_returned: float) -> MetricValue:
    """Passages returned; fewer than requested where the index is smaller."""
    return MetricValue(float(passages_returned))


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
