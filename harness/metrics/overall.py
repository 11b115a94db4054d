"""The answer as a whole: does it say what the reference says, and what did it cost."""

from harness.metrics.answer_match import char_f1, matches, normalise
from harness.metrics.metric import Metric, MetricValue, entailed, share
from harness.metrics.refusals import is_refusal
from harness.records import Labels, Layer, Status


def precision(response_in_reference: Labels) -> MetricValue:
    """Share of the response's claims that the reference entails."""
    return share(entailed(response_in_reference))


def recall(reference_in_response: Labels) -> MetricValue:
    """Share of the reference's claims that the response entails."""
    return share(entailed(reference_in_response))


def f1(response_in_reference: Labels, reference_in_response: Labels) -> MetricValue:
    """Harmonic mean of `precision` and `recall`; 0 where both are 0."""
    p = float(entailed(response_in_reference).mean())
    r = float(entailed(reference_in_response).mean())
    units = response_in_reference.size + reference_in_response.size
    return MetricValue(2 * p * r / (p + r) if p + r else 0.0, units)


def answer_match(
    answers: tuple[tuple[str, ...], ...], answerable: bool, response_text: str | None = None
) -> MetricValue:
    """1 where every group of accepted answers appears in the response, else 0. No judge.

    Where the question has no answer in the corpus, a refusal is right and everything else is wrong.
    Where it has one, a refusal is wrong even if it repeats the accepted words. A missing
    response is wrong: a system that fails has not answered.
    """
    if not answerable:
        return MetricValue(float(response_text is not None and is_refusal(response_text)))
    if not answers:
        return MetricValue(None, 0, Status.NO_ANSWERS)
    if response_text is None:
        return MetricValue(0.0)
    # "Cannot be determined" may be the very answer: then it is no refusal.
    answer_is_refusal = any(is_refusal(spelling) for group in answers for spelling in group)
    refused = is_refusal(response_text) and not answer_is_refusal
    return MetricValue(float(not refused and matches(response_text, answers)))


def answer_char_f1(reference_text: str, response_text: str | None = None) -> MetricValue:
    """Characters shared by response and reference (F1): a rough look that needs no judge."""
    if not normalise(reference_text):
        return MetricValue(None, 0, Status.NO_REFERENCE)
    return MetricValue(char_f1(response_text or "", reference_text))


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
