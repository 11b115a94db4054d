"""Generation: did the system say what it was given, all of it, and answer what was asked."""

from harness.metrics.metric import (
    Flags,
    MetricValue,
    by_claim,
    by_passage,
    contradicted,
    entailed,
    share,
)
from harness.metrics.refusals import is_refusal
from harness.records import Floats, Labels, Status


def faithfulness(response_in_context: Labels) -> MetricValue:
    """Share of the response's claims that the passages, read together, entail.

    With n claims only n + 1 scores exist, so a two-claim answer can only be 0, 0.5 or 1.
    """
    return share(entailed(response_in_context))


def faithfulness_ragchecker(response_in_passages: Labels) -> MetricValue:
    """Share of the response's claims that some single passage entails."""
    return share(by_claim(entailed(response_in_passages)))


def contradiction_rate(response_in_passages: Labels) -> MetricValue:
    """Share of the response's claims that a passage contradicts and none entails.

    A claim that the passages merely do not mention is unfaithful, but not contradicted.
    """
    supported = by_claim(entailed(response_in_passages))
    return share(by_claim(contradicted(response_in_passages)) & ~supported)


def answer_relevancy(question_similarity: Floats, noncommittal: Labels) -> MetricValue:
    """Mean cosine of the reverse questions to the one asked; 0 where all find an evasion.

    A negative mean is clipped to 0, here and nowhere else: each raw cosine stays in the
    verdicts, and `answer_relevancy@ragas043` is the same mean unclipped. One reverse question
    among several that finds an evasion changes nothing.
    """
    if entailed(noncommittal).all():
        return MetricValue(0.0, question_similarity.size)
    mean = float(question_similarity.mean().clip(0.0, 1.0))
    return MetricValue(mean, question_similarity.size)


def context_utilization(
    reference_in_passages: Labels, reference_in_response: Labels
) -> MetricValue:
    """Share of the reference's claims found in a passage that the response then states."""
    recalled = by_claim(entailed(reference_in_passages))
    if not recalled.any():
        return MetricValue(None, 0, Status.NO_RECALLED_CLAIMS)
    return share(entailed(reference_in_response)[recalled])


def noise_sensitivity_in_relevant(
    response_in_passages: Labels, response_in_reference: Labels, reference_in_passages: Labels
) -> MetricValue:
    """Share of the response's claims that are wrong and come from a relevant passage.

    Wrong: the reference does not entail it. Relevant: the passage entails a claim of the
    reference. Ragas' noise sensitivity, mode relevant, is the same number.
    """
    relevant = by_passage(entailed(reference_in_passages))
    return share(~entailed(response_in_reference) & _from(response_in_passages, relevant))


def noise_sensitivity_in_irrelevant(
    response_in_passages: Labels, response_in_reference: Labels, reference_in_passages: Labels
) -> MetricValue:
    """Share of the response's claims that are wrong and come from irrelevant passages alone."""
    relevant = by_passage(entailed(reference_in_passages))
    from_noise = _from(response_in_passages, ~relevant) & ~_from(response_in_passages, relevant)
    return share(~entailed(response_in_reference) & from_noise)


def hallucination(response_in_passages: Labels, response_in_reference: Labels) -> MetricValue:
    """Share of the response's claims that are wrong and that no passage entails."""
    supported = by_claim(entailed(response_in_passages))
    return share(~supported & ~entailed(response_in_reference))


def self_knowledge(response_in_passages: Labels, response_in_reference: Labels) -> MetricValue:
    """Share of the response's claims that are right though no passage entails them."""
    supported = by_claim(entailed(response_in_passages))
    return share(~supported & entailed(response_in_reference))


def refusal(response_text: str) -> MetricValue:
    """1 where the response declines to answer and says nothing else, else 0."""
    return MetricValue(float(is_refusal(response_text)))


def _from(response_in_passages: Labels, chosen: Flags) -> Flags:
    """Return which claims some passage among the chosen entails: (response claims,)."""
    return by_claim(entailed(response_in_passages) & chosen)
