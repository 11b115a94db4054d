"""Retrieval: did the system bring back what was needed, and put it first."""

import numpy as np

from harness.metrics.metric import Flags, MetricValue, by_claim, by_passage, entailed, share
from harness.records import Labels


def context_precision(passage_useful: Labels) -> MetricValue:
    """Average precision of the useful passages: it is about rank, not about their share.

    One useful passage in nine scores 1.0 at rank 1 and 0.11 at rank 9. Zero where none is
    useful. What was never retrieved does not count.

    >>> round(context_precision(np.array([0, 0, 0, 0, 0, 0, 0, 1, 1], np.int8)).value, 3)
    0.174
    """
    return MetricValue(average_precision(entailed(passage_useful)), passage_useful.size)


def average_precision(useful: Flags, epsilon: float = 0.0) -> float:
    """Return the mean, over the useful passages, of the precision down to their rank.

    Args:
        useful: (passages,), in rank order.
        epsilon: Added to the number of useful passages; other tools do so to avoid 0 / 0,
            and never reach 1.
    """
    if not useful.any():
        return 0.0
    precision_at = useful.cumsum() / np.arange(1, useful.size + 1)
    return float(precision_at[useful].sum() / (useful.sum() + epsilon))


def context_precision_share(passage_useful: Labels) -> MetricValue:
    """Share of the passages that are useful, whatever their rank."""
    return share(entailed(passage_useful))


def context_recall(reference_in_context: Labels) -> MetricValue:
    """Share of the reference's claims that the passages, read together, entail.

    The reference is split once for each question and not again for each variant (as Ragas does),
    so that no difference between two variants is due to splitting.
    """
    return share(entailed(reference_in_context))


def claim_recall(reference_in_passages: Labels) -> MetricValue:
    """Share of the reference's claims that some single passage entails."""
    return share(by_claim(entailed(reference_in_passages)))


def context_precision_ragchecker(reference_in_passages: Labels) -> MetricValue:
    """Share of the passages that entail some claim of the reference, whatever their rank."""
    return share(by_passage(entailed(reference_in_passages)))
