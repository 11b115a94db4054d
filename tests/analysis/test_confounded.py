from dataclasses import replace

import pytest

from harness.analysis import RunFacts
from harness.analysis.changes import Design, changes
from harness.analysis.confounded import confounded, missing_run, written
from harness.analysis.results import MissingRun


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
    assert pair.missing == (MissingRun(("variant=ctx_k4", "prompt=strict")),)


def test_words_that_made_another_run_are_no_help() -> None:
    """After an edit of a file the same words name the run that is there, with other factors."""
    left, right = run("a"), run("b", 9, "strict")
    found = changes(left, right)
    step = frozenset({"prompt"})
    there = run("a-strict", 6, "strict", overrides=("prompt='strict'",))

    assert missing_run(left, right, found, step, []) == MissingRun(("variant=a", "prompt=strict"))
    assert missing_run(left, right, found, step, [there]) == MissingRun(())


def test_three_factors_take_the_way_that_lacks_least() -> None:
    """Of the six orders of three changes, the one that runs already cover most of."""
    runs = [run("a"), run("mid", 9, contents="ctx"), run("z", 9, "strict", "ctx")]

    pair = next(p for p in confounded(Design(runs)) if len(p.changes) == 3)

    assert pair.between == ("mid",)
    assert pair.missing == (MissingRun(("variant=a", "variant.top_k=9")),)


def test_overrides_of_the_base_are_kept() -> None:
    """A run made by overrides is made again with them, but for the factor that changes."""
    left = run("ctx-top_k-6", 6, overrides=("variant.top_k=6", "variant.chat.seed=1"))
    right = run("text", 9, "strict", "ctx")

    pair = confounded(Design([left, replace(right, leaves={**right.leaves, "top_k": 6})]))[0]
    assert pair.missing[0].words == (
        "variant=ctx",
        "variant.top_k=6",
        "variant.chat.seed=1",
        "prompt=strict",
    )

    [pair] = confounded(Design([left, replace(right, leaves={**left.leaves, "top_k": 9})]))
    words = [one.words for one in pair.missing]
    assert ("variant=ctx", "variant.top_k=6", "variant.chat.seed=1", "prompt=strict") in words


def test_many_factors_are_changed_in_their_order() -> None:
    """Beyond five factors not every order is tried."""
    leaves = {f"f{n}": 0 for n in range(6)}
    left, right = RunFacts("a", "a", {}, leaves), RunFacts("b", "b", {}, dict.fromkeys(leaves, 1))

    [pair] = confounded(Design([left, right]))

    assert [run.words for run in pair.missing] == [
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

    assert pair.missing == (MissingRun(()),)


def test_the_side_with_less_switched_off_is_the_base() -> None:
    """What is off on one side may be set to anything there, so start from the other."""
    left = run("text_k9", 9, inactive=frozenset({"captioner"}))

    [pair] = confounded(Design([left, run("caption_k4", contents="caption")]))

    assert pair.missing == (MissingRun(("variant=caption_k4", "variant.index.contents=text")),)


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

    assert missing_run(given, other, found, frozenset({"prompt", "top_k"}), []) == MissingRun(
        ("variant=c", "variant.index.contents=text")
    )
    assert missing_run(given, other, found, frozenset({"prompt"}), []) == MissingRun(
        ("variant=c", "variant.top_k=4", "variant.index.contents=text")
    )
    assert missing_run(given, given, found, frozenset({"prompt"}), []) == MissingRun(())


def test_version_stands_alone_and_values_are_quoted() -> None:
    """`version` is no setting of the variant; what the shell would split is quoted twice."""
    before, after = run("a"), run("b", "many words")
    after = replace(after, leaves={**after.leaves, "version": "w2"}, inactive=frozenset({"x"}))

    [pair] = confounded(Design([before, after]))
    assert pair.missing == (MissingRun(("variant=a", "'variant.top_k=\"many words\"'")),)

    [pair] = confounded(Design([replace(before, inactive=frozenset("xy")), after]))
    assert pair.missing == (MissingRun(("variant=b", "version=null")),)


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

    assert written(value) == word
    [override] = OverridesParser.create().parse_overrides([f"key={word}"])
    assert override.value() == value
