"""What is claimed of a change: pooled over its pairs, family by family."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from harness.analysis import (
    Expectation,
    MetricFacts,
    Options,
    Primary,
    RunFacts,
    StudyTable,
    analyse,
)
from harness.analysis.results import ActsOn, Came, Conclusion, Effect, TestFamily
from harness.records import Layer

Builder = Callable[..., StudyTable]

NDCG = MetricFacts("gold_ndcg", Layer.RETRIEVAL)
RECALL = MetricFacts("gold_recall", Layer.RETRIEVAL)
FAITHFULNESS = MetricFacts("faithfulness", Layer.GENERATION)
REFUSAL = MetricFacts("refusal", Layer.GENERATION, higher_is_better=None)
N = 12


def square() -> dict[str, RunFacts]:
    """Return two values of top_k by two prompts."""
    return {
        f"{k}{prompt[0]}": RunFacts(
            f"{k}{prompt[0]}", "v", {"prompt": prompt}, {"top_k": k, "prompt.text": prompt}
        )
        for k in (4, 9)
        for prompt in ("default", "strict")
    }


def passages(runs: dict[str, RunFacts]) -> dict[str, list[list[str]]]:
    """Return passages that top_k decides, and the prompt does not."""
    return {name: [[f"{run.leaves['top_k']}-{n}"] for n in range(N)] for name, run in runs.items()}


def effects(study: StudyTable, options: Options = Options()) -> dict[str, Effect]:  # noqa: B008
    """Return factor -> its one change."""
    return {effect.factor: effect for effect in analyse(study, options).effects}


def test_a_change_is_claimed_by_what_it_acts_on(study: Builder) -> None:
    """top_k finds the evidence of all twelve questions: claimed in nDCG, then in recall and right
    answers. The prompt passes on nothing: neither its fact nor its metric is tested."""
    runs = square()
    found = {name: [1.0 if name[0] == "9" else 0.0] * N for name in runs}
    table = study(
        right=found, metrics={NDCG: found, RECALL: found}, runs=runs, passages=passages(runs)
    )

    seen = effects(table)

    top_k, prompt = seen["top_k"], seen["prompt"]
    assert (top_k.acts_on, prompt.acts_on) == (ActsOn.RETRIEVAL, ActsOn.GENERATION)
    assert top_k.contrasts == (("4d", "9d"), ("4s", "9s"))
    told = {row.metric: (row.family, row.verdict, row.mean) for row in top_k.differences}
    assert told == {
        "right": (TestFamily.FACTS, Conclusion.BETTER, 1.0),
        "gold_ndcg": (TestFamily.PRIMARY, Conclusion.BETTER, 1.0),
        "gold_recall": (TestFamily.FACTS, Conclusion.BETTER, 1.0),
    }
    told = {row.metric: (row.family, row.verdict, row.mean) for row in prompt.differences}
    assert told == {
        "right": (TestFamily.PRIMARY, Conclusion.NO_EVIDENCE, 0.0),
        "gold_ndcg": (TestFamily.NONE, Conclusion.IDENTICAL_BY_CONSTRUCTION, 0.0),
        "gold_recall": (TestFamily.NONE, Conclusion.IDENTICAL_BY_CONSTRUCTION, 0.0),
    }
    # each pair of the change, its own p with that of the change
    for contrast in analyse(table).contrasts:
        verdicts = {row.metric: row.verdict for row in contrast.differences}
        better = contrast.factor == "top_k"
        assert (verdicts["right"] is Conclusion.BETTER) is better


def test_evidence_retrieved_needs_no_trust(study: Builder) -> None:
    """The prompt decides what is right, so nothing that top_k raises tells right from wrong: a
    judged metric may claim nothing, and the evidence that is named is found all the same."""
    runs = square()
    found = {name: [1.0 if name[0] == "9" else 0.0] * N for name in runs}
    right = {name: [float(name[1] == "d")] * N for name in runs}
    table = study(
        right=right,
        metrics={NDCG: found, FAITHFULNESS: found},
        runs=runs,
        passages=passages(runs),
    )

    assert analyse(table).doubted == {"faithfulness"}
    told = {row.metric: (row.family, row.verdict) for row in effects(table)["top_k"].differences}
    assert told == {
        "right": (TestFamily.FACTS, Conclusion.NO_EVIDENCE),
        "gold_ndcg": (TestFamily.PRIMARY, Conclusion.BETTER),
        "faithfulness": (TestFamily.NONE, Conclusion.NOT_TRUSTED),
    }


def test_what_a_pair_can_find_does_not_depend_on_its_direction(study: Builder) -> None:
    """Six answers turn right in one pair and two turn wrong in the other, of twelve either way."""
    runs = square()
    right = {"4d": [0.0] * N, "9d": [1.0] * 6 + [0.0] * 6, "4s": [1.0] * N, "9s": [1.0] * 10}
    right["9s"] += [0.0] * 2
    rows = {
        (one.left, one.right): one.difference("right")
        for one in analyse(study(right=right, runs=runs)).contrasts
    }
    with_it, against = rows["4d", "9d"], rows["4s", "9s"]

    assert with_it is not None
    assert against is not None
    assert (with_it.mean, against.mean) == (pytest.approx(0.5), pytest.approx(-1 / 6))
    assert with_it.p_adjusted is not None
    assert against.p_adjusted is None
    assert with_it.detectable == against.detectable


def test_a_question_s_difference_is_the_mean_over_the_pairs(study: Builder) -> None:
    """q1 turned right in both pairs, q2 in one, q3 right in one and wrong in the other, q4 is not
    known on one side of one pair: 1, 0.5, 0 and the other pair's 1."""
    runs = square()
    table = study(
        right={
            "4d": [0, 0, 0, 0],
            "9d": [1, 1, 1, 1],
            "4s": [0, 1, 1, None],
            "9s": [1, 1, 0, 1],
        },
        runs=runs,
    )

    row = effects(table)["top_k"].difference("right")

    assert row is not None
    assert (row.mean, row.questions) == (pytest.approx(2.5 / 4), 4)
    assert (row.won, row.lost, row.ties) == (("q1", "q2", "q4"), (), 1)


def test_a_side_that_is_missing_in_every_pair_is_dropped(study: Builder) -> None:
    """q2 has no right-hand score in either pair: dropped on the right, and compared on neither."""
    runs = square()
    rows = {
        "4d": [0.5, 0.5, 0.5],
        "4s": [0.5, 0.5, 0.5],
        "9d": [0.7, None, 0.7],
        "9s": [0.7, None, None],
    }

    row = effects(study(metrics={FAITHFULNESS: rows}, runs=runs))["top_k"].difference(
        "faithfulness"
    )

    assert row is not None
    assert (row.questions, row.dropped_right, row.mean) == (2, ("q2",), pytest.approx(0.2))


@pytest.mark.parametrize(("lost", "dropped"), [(5, 0), (6, 6)])
def test_scores_missing_on_one_side_beyond_chance_are_dropped(
    study: Builder, lost: int, dropped: int
) -> None:
    """Where one pair lacks 6 scores on its right, and none on its left, the other pair does not
    stand in for them: the questions that are left would hide which scores are missing."""
    rows: dict[str, list[float | None]] = {"4d": [0.5] * 10, "4s": [0.5] * 10, "9d": [0.7] * 10}
    rows["9s"] = [None] * lost + [0.7] * (10 - lost)

    row = effects(study(metrics={FAITHFULNESS: rows}, runs=square()))["top_k"].difference(
        "faithfulness"
    )

    assert row is not None
    assert (row.questions, len(row.dropped_right)) == (10 - dropped, dropped)
    assert row.missing_differs == bool(dropped)


def test_the_baseline_turns_pairs_and_no_change(study: Builder) -> None:
    """With 9d as the baseline its pair is read backwards, and is worse where top_k is better."""
    runs = square()
    right = {name: [float(name[0] == "9")] * N for name in runs}
    table = study(right=right, runs=runs)

    found = analyse(table, Options(baseline="9d"))

    [effect] = [one for one in found.effects if one.factor == "top_k"]
    row = effect.difference("right")
    assert row is not None
    assert (effect.change.left, row.mean, row.verdict) == (4, 1.0, Conclusion.BETTER)
    [pair] = [one for one in found.contrasts if one.factor == "top_k"]
    turned = pair.difference("right")
    assert turned is not None
    assert (pair.left, turned.mean, turned.verdict) == ("9d", -1.0, Conclusion.WORSE)


def test_values_read_backwards_are_one_change(study: Builder) -> None:
    """Text values keep the order of the runs: text -> ctx in one pair, ctx -> text in another."""
    runs = {
        name: RunFacts(
            name, name, {"prompt": prompt}, {"contents": contents, "prompt.text": prompt}
        )
        for name, prompt, contents in (
            ("a", "x", "text"),
            ("b", "x", "ctx"),
            ("c", "y", "ctx"),
            ("d", "y", "text"),
        )
    }
    right = {name: [float(run.leaves["contents"] == "ctx")] * N for name, run in runs.items()}

    effect = effects(study(right=right, runs=runs))["contents"]

    assert effect.contrasts == (("a", "b"), ("d", "c"))
    row = effect.difference("right")
    assert row is not None
    assert (row.mean, row.verdict) == (1.0, Conclusion.BETTER)


def test_a_pair_against_its_change_says_nothing(study: Builder) -> None:
    """By d top_k helps on all questions and by s it harms on one: better, but not in that pair."""
    runs = square()
    right = {"4d": [0] * N, "9d": [1] * N, "4s": [1] + [0] * (N - 1), "9s": [0] * N}

    found = analyse(study(right=right, runs=runs))

    pairs = {one.left: one.difference("right") for one in found.contrasts if one.factor == "top_k"}
    assert pairs["4d"] is not None
    assert pairs["4s"] is not None
    assert pairs["4d"].verdict is Conclusion.BETTER
    assert (pairs["4s"].verdict, pairs["4s"].p_adjusted) == (Conclusion.NO_EVIDENCE, None)


def test_partial_runs_claim_nothing(study: Builder) -> None:
    """A run that was asked part of the questions is described; its change has no test."""
    table = study(right={"P": [0] * N, "Q": [1] * N})
    part = replace(table, runs=(table.runs[0], replace(table.runs[1], partial=True)))

    found = analyse(part)

    [effect] = found.effects
    row = effect.difference("right")
    assert row is not None
    assert (row.family, row.verdict, row.p, row.mean) == (
        TestFamily.NONE, Conclusion.NOT_TESTED, None, 1.0,
    )  # fmt: skip
    assert found.family.tests == 0


def test_a_metric_without_a_direction_claims_nothing(study: Builder) -> None:
    """More refusals are neither better nor worse: at most worth a test of their own."""
    rows = {"P": [0.0] * N, "Q": [1.0] * N}

    [effect] = analyse(study(right=rows, metrics={REFUSAL: rows})).effects

    row = effect.difference("refusal")
    assert row is not None
    assert (row.family, row.verdict) == (TestFamily.EXPLORATORY, Conclusion.SUGGESTED)
    assert row.q == pytest.approx(2 / 2**N)


def test_missing_scores_leave_a_claim_open(study: Builder) -> None:
    """Thirty questions rise by 0.1, and of twelve more the right-hand score is missing: with zeros
    there it would be worse, so the study cannot tell."""
    rows = {"P": [0.6] * 42, "Q": [0.7] * 30 + [None] * 12}
    declared = Options(primary=(Primary("top_k", "faithfulness"),))

    [effect] = analyse(study(metrics={FAITHFULNESS: rows}), declared).effects

    [row] = effect.primary
    assert row.p_adjusted == pytest.approx(1e-4)
    assert row.verdict is Conclusion.CANNOT_TELL
    assert effect.claims == ()


def test_a_pair_cannot_tell_what_its_change_cannot(study: Builder) -> None:
    """By d scores are missing on both sides alike; over both pairs only right-hand ones are."""
    runs = square()
    right = [0.7] * 30 + [None] * 12
    rows = {"4d": [0.6] * 22 + [None] * 8 + [0.6] * 12, "4s": [0.6] * 42}
    table = study(metrics={FAITHFULNESS: rows | {"9d": right, "9s": right}}, runs=runs)

    found = analyse(table, Options(primary=(Primary("top_k", "faithfulness"),)))

    [effect] = [one for one in found.effects if one.factor == "top_k"]
    pairs = {one.left: one for one in found.contrasts if one.factor == "top_k"}
    row, pair = (one.difference("faithfulness") for one in (effect, pairs["4d"]))
    assert row is not None
    assert pair is not None
    assert (row.missing_differs, pair.missing_differs) == (True, False)
    assert row.verdict is pair.verdict is Conclusion.CANNOT_TELL


@pytest.mark.parametrize(
    ("lost", "verdict"), [(14, Conclusion.CANNOT_TELL), (6, Conclusion.BETTER)]
)
def test_bounds_of_missing_scores_have_an_interval(
    study: Builder, lost: int, verdict: Conclusion
) -> None:
    """Thirty questions rise by 0.3. With zeros for 14 lost ones the mean is (9 - 14 x 0.6) / 44 =
    0.01, within chance of 0; for 6 it is (9 - 3.6) / 36 = 0.15, with 2 x 0.057 either way."""
    rows = {"P": [0.6] * (30 + lost), "Q": [0.9] * 30 + [None] * lost}
    declared = Options(primary=(Primary("top_k", "faithfulness"),))

    [effect] = analyse(study(metrics={FAITHFULNESS: rows}), declared).effects

    [row] = effect.primary
    assert row.verdict is verdict
    assert row.missing_differs
    assert not row.flips_with_missing


def test_documents_flip_together(study: Builder) -> None:
    """Twelve questions of three documents are three units: 2 / 2**3 is the least p there is."""
    clusters = {f"q{n + 1}": f"document {n // 4}" for n in range(N)}
    table = study(right={"P": [0] * N, "Q": [1] * N})

    found = analyse(table, Options(clusters=clusters))

    [row] = found.effects[0].primary
    assert row.p == row.p_adjusted == found.family.smallest_p == 2 / 2**3


def test_no_false_claim_without_an_effect(study: Builder) -> None:
    """Of 100 studies of a square in which nothing acts, five at most may claim anything."""
    random, runs = np.random.default_rng(1), square()
    claims = 0
    for _ in range(100):
        cells = {name: random.integers(0, 2, N).tolist() for name in runs}
        scores = {name: random.random(N).round(2).tolist() for name in runs}
        found = analyse(study(right=cells, metrics={FAITHFULNESS: scores}, runs=runs))
        claims += any(effect.claims for effect in found.effects)
    assert claims <= 9  # P(more) = 0.03 at 5 %


def test_whether_what_was_expected_came(study: Builder) -> None:
    """top_k was expected to help and did, and not to harm; the prompt was expected to help and
    did not; no pair changes the embedder, and nothing scored precision."""
    runs = square()
    right = {name: [float(name[0] == "9")] * N for name in runs}
    expect = (
        Expectation("top_k"),
        Expectation("top_k", "worse", to=9),
        Expectation("top_k", to=16),
        Expectation("prompt"),
        Expectation("embedder"),
        Expectation("top_k", metric="precision"),
    )

    found = analyse(study(right=right, runs=runs), Options(expect=expect)).outlooks

    assert [(one.expected.factor, one.came) for one in found] == [
        ("top_k", Came.CAME),
        ("top_k", Came.OPPOSITE),
        ("top_k", Came.UNTESTED),
        ("prompt", Came.OPEN),
        ("embedder", Came.UNTESTED),
        ("top_k", Came.UNTESTED),
    ]


def test_no_effect_is_what_was_expected(study: Builder) -> None:
    """Equal answers to equal passages: the same, as expected; a partial run tests nothing."""
    same = {"P": ["x"] * N, "Q": ["x"] * N}
    lists = {name: [["a"]] * N for name in "PQ"}
    table = study(right={"P": [1] * N, "Q": [1] * N}, answers=same, passages=lists)
    options = Options(expect=(Expectation("top_k", "same"), Expectation("top_k")))

    assert [one.came for one in analyse(table, options).outlooks] == [Came.CAME, Came.OPPOSITE]
    part = replace(table, runs=(table.runs[0], replace(table.runs[1], partial=True)))
    assert [one.came for one in analyse(part, options).outlooks] == [Came.UNTESTED] * 2
