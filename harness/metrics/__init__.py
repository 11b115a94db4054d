"""Metrics: pure functions from a judge's evidence to a number.

The parameters of a metric name the fields of `Evidence` that it needs, so the list of checks to
run, and their cost, follows from the metrics requested. A name alone is our own rule; `name@rule`
is the rule of the tool named.

To add a metric, write a function whose docstring begins with its description, and one line in
`METRICS`.
"""

from collections.abc import Iterable
from dataclasses import replace

from harness.metrics import generation, overall, retrieval
from harness.metrics.evidence import AXES, OF_THE_RESPONSE, Evidence, assemble
from harness.metrics.metric import (
    Metric,
    MetricValue,
    contradicted,
    custom_check_score,
    entailed,
    share,
)
from harness.metrics.other_rules import OTHER_RULES
from harness.metrics.overall import COSTS
from harness.metrics.refusals import is_refusal
from harness.records import Layer, Status

METRICS: dict[str, Metric] = {
    "context_precision": Metric(retrieval.context_precision, Layer.RETRIEVAL),
    "context_recall": Metric(retrieval.context_recall, Layer.RETRIEVAL),
    "faithfulness": Metric(generation.faithfulness, Layer.GENERATION),
    "answer_relevancy": Metric(generation.answer_relevancy, Layer.GENERATION),
    "answer_match": Metric(overall.answer_match, Layer.OVERALL),
    "answer_char_f1": Metric(overall.answer_char_f1, Layer.OVERALL),
    "refusal": Metric(generation.refusal, Layer.GENERATION, higher_is_better=None),
    "context_precision_share": Metric(retrieval.context_precision_share, Layer.RETRIEVAL),
    "contradiction_rate": Metric(
        generation.contradiction_rate, Layer.GENERATION, higher_is_better=False
    ),
    "precision": Metric(overall.precision, Layer.OVERALL),
    "recall": Metric(overall.recall, Layer.OVERALL),
    "f1": Metric(overall.f1, Layer.OVERALL),
    "claim_recall": Metric(retrieval.claim_recall, Layer.RETRIEVAL),
    "context_precision@ragchecker": Metric(retrieval.context_precision_ragchecker, Layer.RETRIEVAL),
    "context_utilization": Metric(generation.context_utilization, Layer.GENERATION),
    "noise_sensitivity_in_relevant": Metric(
        generation.noise_sensitivity_in_relevant, Layer.GENERATION, higher_is_better=False
    ),
    "noise_sensitivity_in_irrelevant": Metric(
        generation.noise_sensitivity_in_irrelevant, Layer.GENERATION, higher_is_better=False
    ),
    "hallucination": Metric(generation.hallucination, Layer.GENERATION, higher_is_better=False),
    "self_knowledge": Metric(generation.self_knowledge, Layer.GENERATION, higher_is_better=False),
    "faithfulness@ragchecker": Metric(generation.faithfulness_ragchecker, Layer.GENERATION),
    **OTHER_RULES,
    **COSTS,
}
"""Every metric by its only spelling."""

RAGAS = ("context_precision", "context_recall", "faithfulness", "answer_relevancy")
RAGCHECKER = (
    "precision",
    "recall",
    "f1",
    "claim_recall",
    "context_precision@ragchecker",
    "context_utilization",
    "noise_sensitivity_in_relevant",
    "noise_sensitivity_in_irrelevant",
    "hallucination",
    "self_knowledge",
    "faithfulness@ragchecker",
)
ZEROS = dict.fromkeys(
    (Status.NO_CLAIMS, Status.NO_REFERENCE_CLAIMS, Status.NO_PASSAGES, Status.NO_RECALLED_CLAIMS),
    0.0,
)
"""What RAGChecker 0.1.9 gives where ours is NA."""

METRICS |= {
    f"{name.partition('@')[0]}@ragchecker019": replace(METRICS[name], instead=ZEROS)
    for name in RAGCHECKER
}


def _of_rule(rule: str) -> tuple[str, ...]:
    return tuple(name for name in METRICS if name.endswith(f"@{rule}"))


def _of_layer(layer: Layer) -> tuple[str, ...]:
    """Return the layer's metrics by our own rules."""
    others = (*OTHER_RULES, *_of_rule("ragchecker019"))
    return tuple(n for n, metric in METRICS.items() if metric.layer is layer and n not in others)


PRESETS: dict[str, tuple[str, ...]] = {
    "articles": (*RAGAS, "answer_match", *COSTS),
    "ragas": RAGAS,
    "ragas043": _of_rule("ragas043"),
    "ragchecker": RAGCHECKER,
    "ragchecker019": _of_rule("ragchecker019"),
    "dify_ja": _of_rule("dify_ja"),
    "csharp": _of_rule("csharp"),
    "retrieval": _of_layer(Layer.RETRIEVAL),
    "generation": _of_layer(Layer.GENERATION),
    "overall": _of_layer(Layer.OVERALL),
    "cost": tuple(COSTS),
}
"""Names that stand for several metrics."""


def resolve(names: Iterable[str]) -> tuple[str, ...]:
    """Return the metrics that names and presets mean, each once, in the order given.

    Raises ValueError for a name that is neither.

    >>> resolve(["faithfulness", "ragas", "recall"])
    ('faithfulness', 'context_precision', 'context_recall', 'answer_relevancy', 'recall')
    """
    found: dict[str, None] = {}
    for name in names:
        if name not in METRICS and name not in PRESETS:
            raise ValueError(f"'{name}' is neither a metric nor a preset")
        found |= dict.fromkeys(PRESETS.get(name, (name,)))
    return tuple(found)
