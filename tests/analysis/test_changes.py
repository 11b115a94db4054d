"""What differs between two runs: factors, versions, passages and answers."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from harness.analysis import RunFacts, StudyTable, analyse, study_table
from harness.analysis.changes import (
    ABSENT,
    Design,
    attribute,
    changes,
    compare_passages,
    fingerprints,
)
from harness.analysis.results import (
    Attribution,
    Change,
    Conclusion,
    PassageChange,
    PassageComparison,
)
from harness.records import Passage, Question, Response

BASE = RunFacts(
    "base",
    "base",
    {"prompt": "default", "chat": "openai", "captioner": "none"},
    {
        "top_k": 4,
        "index.contents": "text",
        "prompt.text": "Answer.",
        "prompt.language": "en",
        "chat.temperature": 0.0,
        "captioner.model": "none",
        "version": None,
    },
)


def changed(
    name: str = "other", choices: dict[str, str] | None = None, **leaves: object
) -> RunFacts:
    renamed = {key.replace("__", "."): value for key, value in leaves.items()}
    return replace(
        BASE,
        name=name,
        choices={**BASE.choices, **(choices or {})},
        leaves={**BASE.leaves, **renamed},
    )


def test_a_group_is_one_factor_however_many_leaves_follow() -> None:
    """Another prompt is one change, with the leaves that came with it listed."""
    strict = changed(choices={"prompt": "strict"}, prompt__text="Refuse.", prompt__language="ja")

    assert changes(BASE, strict) == (
        Change("prompt", "default", "strict", ("prompt.text", "prompt.language")),
    )


def test_leaves_within_one_choice_are_factors_of_their_own() -> None:
    """The same chat at two temperatures differs in the temperature."""
    assert changes(BASE, changed(chat__temperature=0.7)) == (Change("chat.temperature", 0.0, 0.7),)


def test_a_leaf_without_a_group_is_a_factor() -> None:
    """top_k and index.contents are factors by themselves."""
    assert [c.factor for c in changes(BASE, changed(top_k=9, index__contents="ctx"))] == [
        "top_k",
        "index.contents",
    ]


def test_what_is_switched_off_on_either_side_is_no_factor() -> None:
    """A captioner that an index of text never asks cannot be what made the difference."""
    captioned = changed(
        choices={"captioner": "ocr"}, index__contents="caption", captioner__model="rapidocr"
    )
    text = replace(BASE, inactive=frozenset({"captioner"}))

    assert [c.factor for c in changes(text, captioned)] == ["index.contents"]
    assert [c.factor for c in changes(captioned, text)] == ["index.contents"]
    one_leaf = replace(BASE, inactive=frozenset({"top_k"}))
    assert changes(one_leaf, changed(top_k=9)) == ()


def test_version_is_a_factor_and_the_unnamed_one_comes_first() -> None:
    """The same system before and after a repair, whichever was collected first."""
    repaired = changed("repaired", version="2026-w48")
    later = changed("later", version="2026-w100")

    design = Design([later, repaired, BASE])

    assert [(pair, c.left, c.right) for pair, c in design.contrasts] == [
        ((1, 0), "2026-w48", "2026-w100"),
        ((2, 0), None, "2026-w100"),
        ((2, 1), None, "2026-w48"),
    ]


def test_a_setting_that_one_side_lacks_is_a_factor() -> None:
    """Another kind of system has other settings; they are not passed over."""
    app = replace(BASE, name="app", leaves={**BASE.leaves, "url": "hash"})

    assert changes(BASE, app) == (Change("url", ABSENT, "hash"),)
    assert changes(app, BASE) == (Change("url", "hash", ABSENT),)
    prompted = replace(BASE, choices={**BASE.choices, "reranker": "none"})
    assert changes(BASE, prompted) == (Change("reranker", ABSENT, "none"),)


def test_equal_factors_are_repeats_and_not_a_contrast() -> None:
    """A sweep's top_k=4 is the study's own variant again."""
    design = Design([BASE, changed("base-top_k-4"), changed("k9", top_k=9)])

    assert design.repeats == [(0, 1)]
    assert [pair for pair, _ in design.contrasts] == [(0, 2)]


def test_numbers_ascend_whatever_the_order_of_runs() -> None:
    """top_k reads 2 to 10, and other factors as the study lists its runs."""
    design = Design([changed("k10", top_k=10), changed("k2", top_k=2)])
    assert [(pair, c.left, c.right) for pair, c in design.contrasts] == [((1, 0), 2, 10)]

    design = Design([changed("ctx", index__contents="ctx"), BASE])
    assert [(pair, c.left, c.right) for pair, c in design.contrasts] == [((0, 1), "ctx", "text")]


def test_other_corpora_and_test_sets_are_never_compared() -> None:
    """Neither contrasts nor repeats, however equal the configuration."""
    design = Design(
        [BASE, replace(BASE, name="b", corpus="x"), replace(BASE, name="c", testset="y")]
    )

    assert design.contrasts == []
    assert design.repeats == []


def test_a_repeat_adds_no_contrast() -> None:
    """Three runs, two of them equal: one contrast, whichever of the two is asked about."""
    runs = [
        RunFacts("k4", "k4", leaves={"top_k": 4}),
        RunFacts("k9", "k9", leaves={"top_k": 9}),
        RunFacts("k9-top_k-4", "k9", leaves={"top_k": 4}),
        RunFacts("again", "k4", leaves={"top_k": 4}),
    ]
    design = Design(runs)

    assert [pair for pair, _ in design.contrasts] == [(0, 1)]
    assert design.echoes == {2: 0, 3: 0}
    assert [design.stand_in(name) for name in ("k9-top_k-4", "k9", None)] == ["k4", "k9", None]


Builder = Callable[..., StudyTable]


def compare(table: StudyTable) -> PassageChange:
    everything = np.ones(len(table.questions), bool)
    return compare_passages(fingerprints(table), 0, 1, [q.id for q in table.questions], everything)


def test_same_reordered_changed_unknown(study: Builder) -> None:
    """Order counts, and a side that failed or names no passages says nothing."""
    table = study(
        passages={
            "P": [["a", "b"], ["a", "b"], ["a", "b"], [], ["a"]],
            "Q": [["a", "b"], ["b", "a"], ["a", "c"], [], ["a"]],
        },
        answers={"P": ["x", "x", "x", "x", None], "Q": ["x", "y", "z", "x", "x"]},
    )

    found = compare(table)

    assert list(found.by_question.values()) == [
        PassageComparison.SAME,
        PassageComparison.REORDERED,
        PassageComparison.CHANGED,
        PassageComparison.UNKNOWN,
        PassageComparison.UNKNOWN,
    ]
    assert (found.same, found.reordered, found.changed, found.unknown) == (1, 1, 1, 2)
    assert found.identical_responses == ("q1", "q4")


def test_repeats_that_agree_count_once() -> None:
    """One answer and three equal ones to the same passages are the same."""
    passages = (Passage("d#1.1", "d", 1, "text", "a"),)
    rows = [Response("q1", n, "ask", "reference", "text", "x", passages) for n in range(3)]
    table = study_table(
        [RunFacts("P", "P"), RunFacts("Q", "Q", leaves={"top_k": 2})],
        [Question("q1", "ask", "reference", "text")],
        [],
        {},
        {"P": rows, "Q": rows[:1]},
    )

    assert compare(table).by_question == {"q1": PassageComparison.SAME}
    assert compare(table).identical_responses == ("q1",)


def test_repeats_that_differ_are_compared_one_by_one() -> None:
    """Two of three answers alike is not one of three alike."""
    rows = [Response("q1", n, "ask", "reference", "text", "x") for n in range(3)]
    two = [*rows[:2], replace(rows[2], response="y")]
    one = [rows[0], *(replace(row, response="y") for row in rows[1:])]
    table = study_table(
        [RunFacts("P", "P"), RunFacts("Q", "Q", leaves={"top_k": 2})],
        [Question("q1", "ask", "reference", "text")],
        [],
        {},
        {"P": two, "Q": one},
    )

    assert compare(table).identical_responses == ()


def test_passages_without_text_go_by_their_ids() -> None:
    """Some systems tell only the names of what they retrieved."""

    def answer(name: str) -> Response:
        return Response("q1", 0, "ask", "ref", "text", "x", (Passage(name, "d", 1, "text", ""),))

    table = study_table(
        [RunFacts("P", "P"), RunFacts("Q", "Q", leaves={"top_k": 2})],
        [Question("q1", "ask", "reference", "text")],
        [],
        {},
        {"P": [answer("d#1.1")], "Q": [answer("d#1.2")]},
    )

    assert compare(table).changed == 1


def test_attribution(study: Builder) -> None:
    """Generation where every passage is the same; no effect where every answer is, too."""
    same = {"P": [["a"], ["b"]], "Q": [["a"], ["b"]]}
    answers = {"P": ["x", "y"], "Q": ["x", "y"]}

    assert attribute(compare(study(passages=same)), "top_k") is Attribution.GENERATION
    assert attribute(compare(study(passages=same, answers=answers)), "top_k") is (
        Attribution.NO_EFFECT_POSSIBLE
    )
    assert attribute(compare(study(answers=answers)), "top_k") is Attribution.NO_EFFECT_POSSIBLE
    other = {**same, "Q": [["a"], ["c"]]}
    assert attribute(compare(study(passages=other, answers=answers)), "top_k") is (
        Attribution.RETRIEVAL_CHANGED
    )
    assert attribute(compare(study(passages={**same, "Q": [["a"], []]})), "top_k") is (
        Attribution.UNKNOWN
    )


def versions(calls: list[str | None], answers: list[str]) -> StudyTable:
    """Return two versions of a run that was asked two questions; the first's calls are a and b."""
    passages = (Passage("d#1.1", "d", 1, "text", "a"),)

    def rows(keys: list[str | None], texts: list[str]) -> list[Response]:
        return [
            Response(q, 0, "ask", "ref", "text", text, passages, call=key)
            for q, key, text in zip(("q1", "q2"), keys, texts, strict=True)
        ]

    return study_table(
        [RunFacts("P", "P"), RunFacts("Q", "Q", leaves={"version": "fixed"})],
        [Question(q, f"ask {q}", "ref", "text") for q in ("q1", "q2")],
        [],
        {},
        {"P": rows(["a", "b"], ["x", "y"]), "Q": rows(calls, answers)},
        {(run, "q1", 0): 1 for run in "PQ"} | {(run, "q2", 0): 0 for run in "PQ"},
    )


def test_a_version_whose_answers_came_from_the_cache_shows_nothing() -> None:
    """Equal answers are no evidence where the second version's model was not asked."""
    found = analyse(versions(["a", "c"], ["x", "y"]))

    [contrast] = found.contrasts
    assert contrast.attribution is Attribution.FROM_CACHE
    assert contrast.passages.same_calls == ("q1",)
    assert {row.verdict for row in contrast.differences} == {Conclusion.NOT_COMPARED}
    [finding] = [f for f in found.findings if f.left == "P"]
    assert finding.kind == "answers_from_cache"
    assert finding.numbers == {"cached": 1, "questions": 2}


def test_a_version_that_was_asked_again_and_answers_alike_has_no_effect() -> None:
    """Other calls with the same answers show that the repair changed nothing."""
    [contrast] = analyse(versions(["c", "d"], ["x", "y"])).contrasts
    assert contrast.attribution is Attribution.NO_EFFECT_POSSIBLE

    [contrast] = analyse(versions([None, None], ["x", "y"])).contrasts
    assert contrast.attribution is Attribution.NO_EFFECT_POSSIBLE


def test_one_model_call_is_one_answer_for_every_other_factor() -> None:
    """Where nothing of the call differs, the setting did not act."""
    assert attribute(compare(versions(["a", "b"], ["x", "y"])), "top_k") is (
        Attribution.NO_EFFECT_POSSIBLE
    )


def test_runs_that_share_no_question_are_not_attributed(study: Builder) -> None:
    """Nothing in common, nothing to say."""
    one = RunFacts("P", "P", leaves={"top_k": 1}, asked=frozenset({"q1"}))
    two = RunFacts("Q", "Q", leaves={"top_k": 2}, asked=frozenset({"q2"}))

    [contrast] = analyse(
        study(right={"P": [1, None], "Q": [None, 0]}, runs={"P": one, "Q": two})
    ).contrasts

    assert contrast.attribution is Attribution.UNKNOWN
    assert contrast.differences[0].questions == 0
    assert contrast.differences[0].worst is None
