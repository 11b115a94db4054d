"""Names: one spelling of a metric, and words that stand for several."""

import pytest

from harness.metrics import METRICS, PRESETS, resolve

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
    """The articles' four, right or wrong, and what it cost."""
    four = ("context_precision", "context_recall", "faithfulness", "answer_relevancy")

    assert PRESETS["ragas"] == four
    assert PRESETS["articles"] == (*four, "answer_match", *COSTS)
    assert PRESETS["cost"] == COSTS


def test_ragchecker_has_eleven() -> None:
    """RAGChecker's metrics come with NA, or with its own zeros."""
    ours, theirs = PRESETS["ragchecker"], PRESETS["ragchecker019"]

    assert len(ours) == len(theirs) == 11
    assert {name.partition("@")[0] for name in ours} == {name.partition("@")[0] for name in theirs}


def test_layers_hold_our_rules_only() -> None:
    """`retrieval`, `generation` and `overall` leave out what imitates another tool."""
    assert set(PRESETS["retrieval"]) == {
        "context_precision",
        "context_precision_share",
        "context_recall",
        "claim_recall",
        "context_precision@ragchecker",
    }
    for preset in ("generation", "overall"):
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
