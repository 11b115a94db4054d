"""The rules of other tools, so that their users find the numbers they know.

`ragas043` is Ragas 0.4.3, `dify_ja` its four metrics as article A rebuilt them in Dify, `csharp`
the pipeline of article B. The table names our own function where the rule is the same, so that
each tool's set is whole; `instead` is what the tool gives where ours is NA.
"""

from harness.metrics.generation import faithfulness, faithfulness_ragchecker
from harness.metrics.metric import (
    Metric,
    MetricValue,
    by_claim,
    by_passage,
    contradicted,
    entailed,
    share,
)
from harness.metrics.retrieval import average_precision, context_recall
from harness.records import Floats, Labels, Layer, Status

EPSILON = 1e-10
"""Added to denominators by Ragas, and by those who rebuilt it: a perfect ranking is never 1."""

COSINE = (-1.0, 1.0)


def context_precision_epsilon(passage_useful: Labels) -> MetricValue:
    """Average precision of the useful passages, with 1e-10 in the denominator."""
    return MetricValue(average_precision(entailed(passage_useful), EPSILON), passage_useful.size)


def answer_relevancy_ragas(question_similarity: Floats, noncommittal: Labels) -> MetricValue:
    """Mean cosine of the reverse questions, not clipped; 0 where all find an evasion."""
    evaded = entailed(noncommittal).all()
    mean = 0.0 if evaded else float(question_similarity.mean())
    return MetricValue(mean, question_similarity.size)


def factual_correctness_ragas(
    response_in_reference: Labels, reference_in_response: Labels
) -> MetricValue:
    """F1 over two sets of claims at once, rounded to two decimals.

    Right claims of the response stand for the reference's claims that were found, so the
    recall inside is not the share of the reference's claims; `f1` is free of that.
    """
    right = int(entailed(response_in_reference).sum())
    wrong = response_in_reference.size - right
    missed = int((~entailed(reference_in_response)).sum())
    units = response_in_reference.size + reference_in_response.size
    return MetricValue(round(2 * right / (2 * right + wrong + missed), 2) if right else 0.0, units)


def answer_relevancy_dify(question_similarity: Floats) -> MetricValue:
    """Cosine of the first reverse question; an evasion is not looked at."""
    return MetricValue(float(question_similarity[0]))


def context_precision_csharp(response_in_passages: Labels) -> MetricValue:
    """Share of the passages that entail or contradict some claim of the response."""
    speaks = entailed(response_in_passages) | contradicted(response_in_passages)
    return share(by_passage(speaks))


def hallucination_csharp(response_in_passages: Labels) -> MetricValue:
    """Share of the response's claims on which every passage is silent.

    A contradicted claim does not count. With `faithfulness@csharp` and `contradiction_rate` it
    adds up to 1 where there are claims and passages.
    """
    speaks = entailed(response_in_passages) | contradicted(response_in_passages)
    return share(~by_claim(speaks))


def overall_csharp(response_in_passages: Labels) -> MetricValue:
    """0.4 faithfulness + 0.2 claim recall + 0.2 context precision + 0.2 (1 - hallucination).

    From 0 to 100, a whole number. That pipeline's claim recall is its faithfulness again, so
    the weights come to 0.6, 0.2 and 0.2.
    """
    speaks = entailed(response_in_passages) | contradicted(response_in_passages)
    faithful = by_claim(entailed(response_in_passages)).mean()
    precise = by_passage(speaks).mean()
    silent = (~by_claim(speaks)).mean()
    total = 0.4 * faithful + 0.2 * faithful + 0.2 * precise + 0.2 * (1 - silent)
    return MetricValue(float(round(100 * total)), response_in_passages.shape[0])


NOTHING_CSHARP = {Status.NO_CLAIMS: 0.0, Status.NO_PASSAGES: 0.0}
FAITHFUL_CSHARP = {Status.NO_CLAIMS: 1.0, Status.NO_PASSAGES: 0.0}
"""Faithful without a claim. There that holds of claims that could not be read, too; here not."""

OTHER_RULES: dict[str, Metric] = {
    "context_precision@ragas043": Metric(context_precision_epsilon, Layer.RETRIEVAL),
    "context_recall@ragas043": Metric(context_recall, Layer.RETRIEVAL),
    "faithfulness@ragas043": Metric(faithfulness, Layer.GENERATION),
    "answer_relevancy@ragas043": Metric(
        answer_relevancy_ragas, Layer.GENERATION, bounds=COSINE,
        instead={Status.NO_REVERSE_QUESTIONS: 0.0},
    ),
    "factual_correctness@ragas043": Metric(
        factual_correctness_ragas, Layer.OVERALL,
        instead={Status.NO_CLAIMS: 0.0},
    ),
    "context_precision@dify_ja": Metric(context_precision_epsilon, Layer.RETRIEVAL),
    "context_recall@dify_ja": Metric(context_recall, Layer.RETRIEVAL),
    "faithfulness@dify_ja": Metric(faithfulness, Layer.GENERATION),
    "answer_relevancy@dify_ja": Metric(answer_relevancy_dify, Layer.GENERATION, bounds=COSINE),
    "faithfulness@csharp": Metric(
        faithfulness_ragchecker, Layer.GENERATION, instead=FAITHFUL_CSHARP
    ),
    "claim_recall@csharp": Metric(
        faithfulness_ragchecker, Layer.GENERATION, instead=FAITHFUL_CSHARP
    ),
    "context_precision@csharp": Metric(
        context_precision_csharp, Layer.RETRIEVAL, instead=NOTHING_CSHARP
    ),
    "hallucination@csharp": Metric(
        hallucination_csharp, Layer.GENERATION, higher_is_better=False,
        instead=NOTHING_CSHARP,
    ),
    "overall@csharp": Metric(
        overall_csharp, Layer.OVERALL, bounds=(0.0, 100.0),
        instead={Status.NO_CLAIMS: 80.0, Status.NO_PASSAGES: 20.0},
    ),
}  # fmt: skip
