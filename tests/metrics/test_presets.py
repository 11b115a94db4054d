"""Names: one spelling of a metric, and names that mean several; what the shipped rules share."""

import numpy as np
import pytest

from harness.metrics import AXES, METRICS, PRESETS, resolve
from harness.metrics.evidence import Evidence

COSTS = (
    "retrieval_seconds",
    "generation_seconds",
    "seconds",
    "input_tokens",
    "output_tokens",
    "passages_returned",
)


def test_names_are_plain() -> None:
    """A metric is called `name` or `name@rule`, small letters, digits and underscores."""
    for name in METRICS:
        word, _, rule = name.partition("@")
        assert word.isidentifier()
        assert word == word.lower()
        assert not rule or rule.isidentifier()


def test_presets_hold_metrics() -> None:
    """A preset names metrics, each once, and is not itself the name of one."""
    assert not PRESETS.keys() & METRICS.keys()
    for names in PRESETS.values():
        assert names
        assert set(names) <= METRICS.keys()
        assert len(set(names)) == len(names)


def test_articles_preset() -> None:
    """The articles' four metrics, right or wrong, and all costs."""
    four = ("context_precision", "context_recall", "faithfulness", "answer_relevancy")

    assert PRESETS["ragas"] == four
    assert PRESETS["articles"] == (*four, "answer_match", *PRESETS["cost"])
    assert PRESETS["cost"][: len(COSTS)] == COSTS


def test_ragchecker_has_eleven() -> None:
    """RAGChecker's metrics come with NA, or with its own zeros."""
    ours, theirs = PRESETS["ragchecker"], PRESETS["ragchecker019"]

    assert len(ours) == len(theirs) == 11
    assert {name.partition("@")[0] for name in ours} == {name.partition("@")[0] for name in theirs}


def test_layers_hold_our_rules_only() -> None:
    """`retrieval`, `generation` and `overall` leave out the rules of other tools."""
    assert set(PRESETS["retrieval"]) >= {
        "context_precision",
        "context_precision_share",
        "context_recall",
        "claim_recall",
        "context_precision@ragchecker",
    }
    for preset in ("retrieval", "generation", "overall"):
        rules = {name.partition("@")[2] for name in PRESETS[preset]}
        assert rules <= {"", "ragchecker"}


def test_resolve_expands_and_drops_repeats() -> None:
    """The order given is kept, and a metric named twice is scored once."""
    assert resolve(["recall", "ragas", "faithfulness", "recall"]) == (
        "recall",
        "context_precision",
        "context_recall",
        "faithfulness",
        "answer_relevancy",
    )
    assert resolve([]) == ()


def test_unknown_name_raises() -> None:
    """A name that is neither metric nor preset is named in the error."""
    with pytest.raises(ValueError, match="'faithfullness' is neither a metric nor a preset"):
        resolve(["faithfullness"])


def test_texts_and_costs_need_no_judge() -> None:
    """Metrics of text and costs need no judge; the articles' four do."""
    free = {name for name, metric in METRICS.items() if not metric.needs_judge}

    assert {"answer_match", "answer_char_f1", "refusal", *COSTS} <= free
    assert not free & set(PRESETS["ragas"])


def test_a_perfect_answer_has_the_best_score() -> None:
    """Where everything is entailed, the shipped rules give their best value, or 0 for faults."""
    yes = np.ones(3, np.int8)
    everything = Evidence(
        **{name: np.ones((3,) * len(axes), np.int8) for name, axes in AXES.items()}
        | {"noncommittal": 0 * yes, "question_similarity": np.ones(3)},  # type: ignore[arg-type]
        response_text="十二例",
        reference_text="十二例",
        answers=(("12",),),
        answerable=True,
    )
    rules = ("ragas", "ragchecker", "ragas043", "ragchecker019", "dify_ja", "csharp")
    for name in dict.fromkeys(name for rule in rules for name in PRESETS[rule]):
        metric = METRICS[name]
        best = metric.bounds[1] if metric.higher_is_better else 0.0
        assert metric.score(everything).value == pytest.approx(best, abs=1e-9), name
    for name in ("answer_match", "answer_char_f1", "context_precision_share"):
        assert METRICS[name].score(everything).value == 1.0
    assert METRICS["contradiction_rate"].score(everything).value == 0.0
