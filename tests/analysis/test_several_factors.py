"""Runs that differ in several factors: chains, squares, and retrieval apart from generation."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.analysis import Options, RunFacts, StudyTable, analyse
from harness.analysis.changes import Design, changes
from harness.analysis.results import Change
from harness.analysis.several_factors import confounded, missing_run, override_value, squares


def run(
    name: str, k: object = 4, prompt: str = "default", contents: str = "text", **more: object
) -> RunFacts:
    return RunFacts(
        name,
        name.partition("-")[0],
        {"prompt": prompt},
        {"top_k": k, "prompt.text": prompt, "index.contents": contents, "version": None},
        **more,  # type: ignore[arg-type]
    )


def test_two_factors_are_separated_by_the_run_between() -> None:
    """A run that shares one factor with each side tells them apart."""
    design = Design([run("ctx_k4"), run("ctx_k9", 9), run("ctx_k9_strict", 9, "strict")])

    [pair] = confounded(design)

    assert (pair.left, pair.right) == ("ctx_k4", "ctx_k9_strict")
    assert [change.factor for change in pair.changes] == ["prompt", "top_k"]
    assert pair.between == ("ctx_k9",)
    assert pair.missing == ()


def test_the_variant_that_would_separate_is_ready_to_paste() -> None:
    """Groups have no prefix on the command line, leaves have `variant.`."""
    [pair] = confounded(Design([run("ctx_k4"), run("ctx_k9_strict", 9, "strict")]))

    assert pair.between == ()
    assert pair.missing == (("variant=ctx_k4", "prompt=strict"),)


def test_words_that_made_another_run_are_no_help() -> None:
    """After an edit of a file the same words name the run that is there, with other factors."""
    left, right = run("a"), run("b", 9, "strict")
    found = changes(left, right)
    step = frozenset({"prompt"})
    there = run("a-strict", 6, "strict", overrides=("prompt='strict'",))

    assert missing_run(left, right, found, step, []) == ("variant=a", "prompt=strict")
    assert missing_run(left, right, found, step, [there]) == ()


def test_three_factors_take_the_way_that_lacks_least() -> None:
    """Of the six orders of three changes, the one that runs already cover most of."""
    runs = [run("a"), run("mid", 9, contents="ctx"), run("z", 9, "strict", "ctx")]

    pair = next(p for p in confounded(Design(runs)) if len(p.changes) == 3)

    assert pair.between == ("mid",)
    assert pair.missing == (("variant=a", "variant.top_k=9"),)


def test_overrides_of_the_base_are_kept() -> None:
    """A run made by overrides is made again with them, but for the factor that changes."""
    left = run("ctx-top_k-6", 6, overrides=("variant.top_k=6", "variant.chat.seed=1"))
    right = run("text", 9, "strict", "ctx")

    pair = confounded(Design([left, replace(right, leaves={**right.leaves, "top_k": 6})]))[0]
    assert pair.missing[0] == (
        "variant=ctx",
        "variant.top_k=6",
        "variant.chat.seed=1",
        "prompt=strict",
    )

    [pair] = confounded(Design([left, replace(right, leaves={**left.leaves, "top_k": 9})]))
    words = list(pair.missing)
    assert ("variant=ctx", "variant.top_k=6", "variant.chat.seed=1", "prompt=strict") in words


def test_many_factors_are_changed_in_their_order() -> None:
    """Beyond five factors not every order is tried."""
    leaves = {f"f{n}": 0 for n in range(6)}
    left, right = RunFacts("a", "a", {}, leaves), RunFacts("b", "b", {}, dict.fromkeys(leaves, 1))

    [pair] = confounded(Design([left, right]))

    assert list(pair.missing) == [
        ("variant=a", "variant.f0=1"),
        ("variant=a", "variant.f0=1", "variant.f1=1"),
        ("variant=a", "variant.f0=1", "variant.f1=1", "variant.f2=1"),
        ("variant=b", "variant.f4=0", "variant.f5=0"),
        ("variant=b", "variant.f5=0"),
    ]


def test_a_setting_that_the_other_side_lacks_cannot_be_pasted() -> None:
    """No words are better than wrong ones: an app's url is no setting of the built-in system."""
    plain, app = run("plain"), run("app")
    left = replace(plain, leaves={**plain.leaves, "path": "y"})
    right = replace(app, leaves={**app.leaves, "url": "x"})

    [pair] = confounded(Design([left, right]))

    assert pair.missing == ((),)


def test_the_side_with_less_switched_off_is_the_base() -> None:
    """What is off on one side may be set to anything there, so start from the other."""
    left = run("text_k9", 9, inactive=frozenset({"captioner"}))

    [pair] = confounded(Design([left, run("caption_k4", contents="caption")]))

    assert pair.missing == (("variant=caption_k4", "variant.index.contents=text"),)


def test_no_command_starts_from_a_run_that_was_given_its_passages() -> None:
    """`variant=b passages_from=a variant.top_k=9` would read a's passages whatever top_k says.

    The words start from the other side, however many they are; of two such runs there are none.
    """
    leaves = {"top_k": 4, "prompt.text": "strict", "index.contents": "text", "version": None}
    given = RunFacts(
        "b-passages_from-a",
        "b",
        {"prompt": "strict"},
        {**leaves, "passages_from": "a"},
        inactive=frozenset({"passages_from"}),
        overrides=("passages_from=a",),
    )
    other = run("c", 9, contents="ctx")
    found = changes(given, other)

    assert missing_run(given, other, found, frozenset({"prompt", "top_k"}), []) == (
        "variant=c",
        "variant.index.contents=text",
    )
    assert missing_run(given, other, found, frozenset({"prompt"}), []) == (
        "variant=c",
        "variant.top_k=4",
        "variant.index.contents=text",
    )
    assert missing_run(given, given, found, frozenset({"prompt"}), []) == ()


def test_version_stands_alone_and_values_are_quoted() -> None:
    """`version` is no setting of the variant; what the shell would split is quoted twice."""
    before, after = run("a"), run("b", "many words")
    after = replace(after, leaves={**after.leaves, "version": "w2"}, inactive=frozenset({"x"}))

    [pair] = confounded(Design([before, after]))
    assert pair.missing == (("variant=a", "'variant.top_k=\"many words\"'"),)

    [pair] = confounded(Design([replace(before, inactive=frozenset("xy")), after]))
    assert pair.missing == (("variant=b", "version=null"),)


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (0.5, "0.5"),
        (True, "true"),
        ("true", '"true"'),
        ("麻疹", '"麻疹"'),
        ('say "no"', '"say \\"no\\""'),
        ([4, "a b"], '[4,"a b"]'),
        ({"a": 1}, "{a:1}"),
    ],
)
def test_values_are_written_as_hydra_reads_them(value: object, word: str) -> None:
    """An override word holds the value again after Hydra has parsed it."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    assert override_value(value) == word
    [override] = OverridesParser.create().parse_overrides([f"key={word}"])
    assert override.value() == value


def test_a_complete_square_is_found_once() -> None:
    """Four runs over two factors are one square, read upwards, whichever diagonal is met first."""
    runs = [run("d9", 9), run("s9", 9, "strict"), run("d4"), run("s4", 4, "strict")]

    [square] = squares(Design(runs))

    assert (square.first.factor, square.second.factor) == ("prompt", "top_k")
    assert square.second == Change("top_k", 4, 9)
    assert square.corners == (2, 3, 0, 1)
    assert square.missing == ()
    numbers = [replace(r, leaves={**r.leaves, "n": r.choices["prompt"] == "strict"}) for r in runs]
    both = [
        replace(r, choices={}, leaves={"top_k": r.leaves["top_k"], "n": int(bool(r.leaves["n"]))})
        for r in numbers
    ]
    [square] = squares(Design(list(reversed(both))))
    assert (square.first, square.second) == (Change("top_k", 4, 9), Change("n", 0, 1))
    assert square.corners == (1, 3, 0, 2)


def test_a_square_of_three_names_the_fourth() -> None:
    """Whether two factors depend on each other needs the missing run."""
    [square] = squares(Design([run("d4"), run("d9", 9), run("s4", 4, "strict")]))

    assert None in square.corners
    assert square.missing == (("variant=d9", "prompt=strict"),)


def test_two_runs_in_two_factors_are_no_square() -> None:
    """Only what a single further run would complete is offered."""
    assert squares(Design([run("d4"), run("s9", 9, "strict")])) == []


def test_a_square_that_is_the_sum_of_two_is_left_out() -> None:
    """Over k = 2, 4, 9 and two prompts there are three squares, of which two say it all."""
    runs = [run(f"{p}{k}", k, p) for p in ("default", "strict") for k in (9, 2, 4)]

    values = [(square.second.left, square.second.right) for square in squares(Design(runs))]

    assert sorted(values) == [(2, 4), (4, 9)]


def test_names_lie_between_by_the_order_of_runs() -> None:
    """Three prompts in the study's order: the outer pair is the sum of the inner two."""
    runs = [run(f"{p}{k}", k, p) for k in (2, 9) for p in ("brief", "default", "strict")]

    values = {(square.first.left, square.first.right) for square in squares(Design(runs))}

    assert values == {("brief", "default"), ("default", "strict")}


Builder = Callable[..., StudyTable]


def passages_run(name: str, k: int, prompt: str, passages_from: str | None = None) -> RunFacts:
    """Return a run; one that was given its passages has the top_k of the run that found them."""
    return RunFacts(
        name,
        name.partition("-")[0],
        {"prompt": prompt},
        {"top_k": k, "prompt.text": prompt, "passages_from": passages_from},
        overrides=(f"passages_from={passages_from}",)
        if passages_from
        else ("variant.chat.seed=1",),
        inactive=frozenset({"passages_from"} if passages_from else ()),
    )


def test_the_missing_cells_are_commands(study: Builder) -> None:
    """Each side's generator on the other side's passages."""
    runs = {"a": passages_run("a", 4, "default"), "b": passages_run("b", 9, "strict")}

    [one] = analyse(study(right={"a": [1], "b": [0]}, runs=runs)).counterfactuals

    assert (one.left, one.right, one.crossed) == ("a", "b", (None, None))
    assert one.missing == (
        ("variant=a", "variant.chat.seed=1", "passages_from=b"),
        ("variant=b", "variant.chat.seed=1", "passages_from=a"),
    )
    assert one.splits == ()


def test_the_parts_add_up_to_the_total(study: Builder) -> None:
    """4 right with all old, 6 with new passages, 1 with the new prompt, 3 with both: +2 and -3."""
    runs = {
        "a": passages_run("a", 4, "default"),
        "a-new": passages_run("a-new", 9, "default", "b"),
        "b-old": passages_run("b-old", 4, "strict", "a"),
        "b": passages_run("b", 9, "strict"),
    }
    right = {
        name: [1] * count + [0] * (8 - count)
        for name, count in zip(runs, (4, 6, 1, 3), strict=True)
    }

    found = analyse(study(right=right, runs=runs))

    [one] = found.counterfactuals
    assert one.crossed == ("a-new", "b-old")
    assert one.missing == ()
    [split] = one.splits
    assert (split.metric, split.questions) == ("right", 8)
    assert (split.total, split.retrieval, split.generation) == pytest.approx(
        (-1 / 8, 2 / 8, -3 / 8)
    )


def test_questions_that_one_corner_lacks_are_left_out(study: Builder) -> None:
    """Nothing in common, no split."""
    runs = {
        "a": passages_run("a", 4, "default"),
        "a-new": passages_run("a-new", 9, "default", "b"),
        "b-old": passages_run("b-old", 4, "strict", "a"),
        "b": passages_run("b", 9, "strict"),
    }
    right: dict[str, list[int | None]] = {"a": [1, None], "a-new": [None, 1], "b-old": [1, 1]}

    [one] = analyse(study(right={**right, "b": [1, 1]}, runs=runs)).counterfactuals

    assert one.splits == ()


def test_a_run_that_was_given_its_passages_is_no_side(study: Builder) -> None:
    """a's generator on b's passages differs from c in both parts, and is no pair of its own."""
    runs = {
        "a": passages_run("a", 4, "default"),
        "b": passages_run("b", 9, "default"),
        "a-new": passages_run("a-new", 9, "default", "b"),
        "c": passages_run("c", 20, "strict"),
    }

    found = analyse(study(right={name: [1] for name in runs}, runs=runs)).counterfactuals

    assert [(one.left, one.right) for one in found] == [("a", "c"), ("b", "c")]


def test_a_run_that_retrieves_alike_is_a_crossing(study: Builder) -> None:
    """ctx_k9 is ctx_k4's generator on what ctx_k9_strict retrieves: it need not be run again.

    A run that was given just those passages comes first.
    """
    runs = {
        "k4": passages_run("k4", 4, "default"),
        "k9": passages_run("k9", 9, "default"),
        "k9_strict": passages_run("k9_strict", 9, "strict"),
    }
    right = {name: [1, 0] for name in runs}

    [one] = analyse(study(right=right, runs=runs)).counterfactuals

    assert (one.left, one.right, one.crossed) == ("k4", "k9_strict", ("k9", None))
    assert one.missing == (("variant=k9_strict", "variant.chat.seed=1", "passages_from=k4"),)

    runs["k4-given"] = passages_run("k4-given", 9, "default", "k9_strict")
    right["k4-given"] = [1, 1]
    [one] = analyse(study(right=right, runs=runs)).counterfactuals
    assert one.crossed == ("k4-given", None)


def test_a_view_shows_its_own_pairs(study: Builder) -> None:
    """A baseline or a factor keeps the pairs that contain it."""
    runs = {
        "a": passages_run("a", 4, "default"),
        "b": passages_run("b", 9, "strict"),
        "c": replace(passages_run("c", 4, "brief"), leaves={"top_k": 4, "index.contents": "ctx"}),
    }
    table = study(right={name: [1] for name in runs}, runs=runs)

    def shown(**asked: str) -> list[tuple[str, str]]:
        return [(one.left, one.right) for one in analyse(table, Options(**asked)).counterfactuals]

    assert shown() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert shown(baseline="a") == [("a", "b"), ("a", "c")]
    assert shown(factor="top_k") == [("a", "b"), ("b", "c")]


def test_two_retrieval_factors_are_no_counterfactual(study: Builder) -> None:
    """Only where both parts changed is there something to split."""
    one = RunFacts("a", "a", {}, {"top_k": 4, "index.contents": "text"})
    two = RunFacts("b", "b", {}, {"top_k": 9, "index.contents": "ctx"})

    assert (
        analyse(study(right={"a": [1], "b": [0]}, runs={"a": one, "b": two})).counterfactuals == ()
    )
