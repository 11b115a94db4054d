"""What holds for every metric of the table; it runs on a new entry unchanged."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.metrics import AXES, METRICS, Metric, assemble
from harness.metrics.evidence import Evidence
from harness.records import Passage, Question, Response, Status, Verdict

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
    """The first line of the docstring is one sentence on what the number means."""
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


LABELS = st.one_of(st.none(), st.integers(-300, 300))
ERRORS = st.sampled_from([None, Status.JUDGE_UNPARSABLE, Status.BUDGET, Status.NOT_ANSWERED])


@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(st.data())
def test_whatever_the_judge_says(data: st.DataObject) -> None:
    """Any rows give a score within the metric's bounds, or NA with a reason."""
    passages = tuple(Passage(f"d#1.{i}", "d", 1, "text", "甲") for i in (1, 2))
    question = Question("q1", "射程多少？", "射程18浬。", "text", answers=(("18浬",),))
    response = Response("q1", 0, "射程多少？", "射程18浬。", "text", "射程18浬。", passages)
    rows = []

    def add(check: str, item: int, against: int = -1, similarity: float | None = None) -> None:
        if data.draw(st.booleans()) or data.draw(st.booleans()):
            label = data.draw(st.one_of(st.sampled_from([0, 1]), LABELS))
            error = data.draw(ERRORS) if label is None else None
            rows.append(
                Verdict("j", "q1", 0, check, item, against, "句", label, similarity, error=error)
            )

    for side in ("response", "reference"):
        claims = data.draw(st.integers(0, 2))
        other = {"response": "reference", "reference": "response"}[side]
        rows += [Verdict("j", "q1", 0, f"claims_{side}", item) for item in range(claims)]
        for item in range(claims):
            add(f"{side}_in_context", item)
            add(f"{side}_in_{other}", item)
            for against in range(2):
                add(f"{side}_in_passages", item, against)
    for item in range(2):
        add("passage_useful", item)
    for item in range(data.draw(st.integers(0, 2))):
        cosine = data.draw(st.one_of(st.none(), st.floats(-1, 1), st.just(float("nan"))))
        label = data.draw(st.integers(-1, 2))
        rows.append(Verdict("j", "q1", 0, "reverse_question", item, -1, "？", label, cosine))

    known = assemble(response, question, rows)

    for metric in METRICS.values():
        scored = metric.score(known)
        if scored.value is None:
            assert scored.status is not Status.OK
        else:
            assert metric.bounds[0] <= scored.value <= metric.bounds[1]
            assert not np.isnan(scored.value)
