"""What holds for every metric in the table, whoever adds it."""

from dataclasses import fields, replace

import numpy as np
import pytest

from harness.metrics import AXES, METRICS, Metric
from harness.metrics.evidence import Evidence
from harness.records import Label, Layer, Status

SIZES = {
    Status.NO_CLAIMS: 3,
    Status.NO_REFERENCE_CLAIMS: 2,
    Status.NO_PASSAGES: 4,
    Status.NO_REVERSE_QUESTIONS: 3,
}
COSTS = ("retrieval_seconds", "generation_seconds", "input_tokens", "output_tokens")
TWO_WAY = ("passage_useful", "noncommittal")


def evidence(label: int | None = None, empty: Status | None = None, seed: int = 0) -> Evidence:
    """Evidence with random labels, or one label throughout; one axis may be empty."""
    rng = np.random.default_rng(seed)
    sizes = {**SIZES, **({empty: 0} if empty else {})}
    arrays = {}
    for name, axes in AXES.items():
        shape = tuple(sizes[axis] for axis in axes)
        if name == "question_similarity":
            arrays[name] = rng.uniform(-1, 1, shape)
            continue
        least = 0 if name in TWO_WAY else -1
        drawn = rng.integers(least, 2, shape) if label is None else np.full(shape, label)
        arrays[name] = drawn.astype(np.int8)
    return Evidence(
        **arrays,
        response_text="十二例",
        reference_text="十二例",
        answers=(("12",),),
        answerable=True,
        passages_returned=4.0,
        **dict.fromkeys(COSTS, 1.5),
    )


each_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=list(METRICS))


@each_metric
def test_needs_name_evidence(metric: Metric) -> None:
    """A metric's parameters are fields of Evidence."""
    assert set(metric.needs) <= {field.name for field in fields(Evidence)} - {"missing"}


@each_metric
def test_it_can_be_explained(metric: Metric) -> None:
    """A legend finds one full sentence on what the number says."""
    assert metric.about.endswith(".")


@each_metric
def test_scores_keep_their_bounds(metric: Metric) -> None:
    """A score lies between its bounds, or is NA with a reason; it is a float, never nan."""
    least, greatest = metric.bounds
    for seed in range(50):
        scored = metric.score(evidence(seed=seed))

        if scored.value is None:
            assert scored.status is not Status.OK
        else:
            assert isinstance(scored.value, float)
            assert least <= scored.value <= greatest
            assert scored.units or scored.status in metric.instead


@each_metric
def test_nothing_known_is_na(metric: Metric) -> None:
    """Where no check ran there is no score, and the reason says so."""
    scored = metric.score(Evidence())

    assert (scored.value, scored.units, scored.status) == (None, None, Status.NOT_ASKED)


@each_metric
def test_missing_check_keeps_its_reason(metric: Metric) -> None:
    """A check that could not be read gives NA with that check's reason, not zero."""
    for need in metric.needs:
        if need in AXES:
            without = replace(evidence(), **{need: None}, missing={need: Status.JUDGE_UNPARSABLE})

            scored = metric.score(without)

            assert (scored.value, scored.status) == (None, Status.JUDGE_UNPARSABLE)


@each_metric
@pytest.mark.parametrize("axis", SIZES)
def test_nothing_to_count_is_marked(metric: Metric, axis: Status) -> None:
    """Nothing to count is NA; the number another tool puts there carries the reason beside it."""
    scored = metric.score(evidence(empty=axis))

    if any(axis in AXES.get(need, ()) for need in metric.needs):
        assert (scored.value, scored.units) == (metric.instead.get(axis), 0)
        assert scored.status is axis
    else:
        assert scored.status in (Status.OK, Status.NO_RECALLED_CLAIMS)


@each_metric
def test_label_outside_the_set_is_na(metric: Metric) -> None:
    """A label that no check can give (2, or a contradiction where yes or no was asked) is NA."""
    for need in metric.needs:
        if need in AXES and need != "question_similarity":
            for label in (2, -2, *((-1,) if need in TWO_WAY else ())):
                good = evidence()
                spoilt = getattr(good, need).copy()
                spoilt.flat[0] = label

                scored = metric.score(replace(good, **{need: spoilt}))

                assert (scored.value, scored.status) == (None, Status.JUDGE_UNPARSABLE)


@each_metric
def test_evidence_is_left_alone(metric: Metric) -> None:
    """Scoring writes into no array, and says the same when asked again."""
    given = evidence()
    for name in AXES:
        getattr(given, name).flags.writeable = False

    assert metric.score(given) == metric.score(given)


def test_perfect_answer() -> None:
    """Where everything is entailed, the good scores are best and the bad ones 0."""
    everything = replace(
        evidence(Label.ENTAILED),
        noncommittal=np.zeros(3, np.int8),
        question_similarity=np.ones(3),
    )
    for name, metric in METRICS.items():
        if metric.layer is not Layer.COST and metric.higher_is_better is not None:
            best = metric.bounds[1] if metric.higher_is_better else 0.0
            assert metric.score(everything).value == pytest.approx(best, abs=1e-9), name


def test_texts_and_costs_need_no_judge() -> None:
    """A metric that reads text and costs alone needs no judge."""
    free = {name for name, metric in METRICS.items() if not metric.judged}

    assert free == {
        "answer_match",
        "answer_char_f1",
        "refusal",
        "retrieval_seconds",
        "generation_seconds",
        "seconds",
        "input_tokens",
        "output_tokens",
        "passages_returned",
    }
