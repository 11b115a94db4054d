"""What next: the fewest runs that separate factors, their price, and how many questions."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.analysis import Options, RunFacts, StudyTable, analyse
from harness.analysis import next_runs as module
from harness.analysis.changes import Design, changes
from harness.analysis.next_runs import fewest_runs, next_steps, questions_for
from harness.analysis.results import Aim, Change, NextStep, RunPrice

Levels = tuple[int, ...]
Builder = Callable[..., StudyTable]


def run(levels: Sequence[object], **more: object) -> RunFacts:
    """Return a run with these values of the factors f0, f1, ..."""
    name = "r" + "".join(map(str, levels))
    leaves = {f"f{at}": level for at, level in enumerate(levels)}
    return replace(RunFacts(name, name, {}, leaves), **more)


def design(*levels: Sequence[object]) -> Design:
    return Design([run(one) for one in levels])


def separated(runs: Iterable[Levels], pairs: Iterable[tuple[int, int, int]]) -> bool:
    """Say whether chains of runs that differ in one factor join these (factor, value, value)."""
    joined: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for one, other in combinations(runs, 2):
        differ = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        if len(differ) == 1:
            at = differ[0]
            left, right = (at, one[at]), (at, other[at])
            both = joined.get(left, {left}) | joined.get(right, {right})
            joined.update(dict.fromkeys(both, both))
    return all((at, b) in joined.get((at, a), ()) for at, a, b in pairs)


def by_trying(runs: Sequence[Levels]) -> int:
    """Return the size of the smallest set, found by trying every set of the whole grid."""
    pairs = {
        (at, one[at], other[at])
        for one, other in combinations(runs, 2)
        for at in range(len(one))
        if one[at] != other[at]
    }
    grid = [cell for cell in product(*map(set, zip(*runs, strict=True))) if cell not in runs]
    return next(
        size
        for size in range(len(grid) + 1)
        if any(separated((*runs, *more), pairs) for more in combinations(grid, size))
    )


@settings(max_examples=60)
@given(
    st.integers(2, 4).flatmap(
        lambda m: st.lists(st.tuples(*[st.integers(0, 1)] * m), min_size=2, max_size=4, unique=True)
    )
)
def test_no_smaller_set_of_runs_separates(runs: list[Levels]) -> None:
    """Held against every set of runs of the whole grid: as few, and called the fewest."""
    added, fewest = fewest_runs(design(*runs))

    assert (len(added), fewest) == (by_trying(runs), True)


@pytest.mark.parametrize("factors", range(2, 8))
def test_two_runs_in_several_factors_take_one_run_fewer(factors: int) -> None:
    """A chain from one to the other, whatever the number of factors, is shown to be shortest."""
    added, fewest = fewest_runs(design([0] * factors, [1] * factors))

    assert (len(added), fewest) == (factors - 1, True)


def test_one_set_serves_all_pairs() -> None:
    """Of r00, r11 and r21 each pair but one is confounded, and one run separates them all."""
    added, fewest = fewest_runs(design([0, 0], [1, 1], [2, 1]))

    assert [one.overrides for one in added] == [("variant.f0=1",)]
    assert fewest


def test_sets_smaller_than_chains_are_found() -> None:
    """Of 101, 110 and 000 each two differ in two factors; the run 100 is beside all of them."""
    found = design((1, 0, 1), (1, 1, 0), (0, 0, 0))
    needed = module.open_edges(
        module.confounded_edges(found), module.joining_contrasts(found).values()
    )

    added, fewest = fewest_runs(found)

    assert len(module.chains(found, needed)) == 2
    assert ([one.leaves for one in added], fewest) == ([run((1, 0, 0)).leaves], True)


def test_what_is_not_shown_to_be_the_fewest_is_not_called_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond five factors, with too many runs between, and where the tries end."""
    five = [(0, 1, 1, 1, 1), (1, 0, 0, 1, 0), (0, 0, 0, 1, 1), (1, 1, 0, 0, 1)]
    six = [(*one, at % 2) for at, one in enumerate(five)]
    assert fewest_runs(design(*six))[1] is False
    for limit, most in (("MOST_TRIED", 3), ("MOST_BETWEEN", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(module, limit, most)
            assert fewest_runs(design(*five))[1] is False


def test_a_setting_that_is_off_somewhere_gives_no_bound() -> None:
    """Where a factor to separate is off in a run, sets are tried from one run on."""
    off = run((0, 0, 9), inactive=frozenset({"f2"}))
    added, fewest = fewest_runs(Design([off, run((1, 1, 0)), run((1, 0, 1))]))

    assert (len(added), fewest) == (1, True)


def steps(study: StudyTable, aim: Aim, **options: object) -> list[NextStep]:
    """Return the next steps of one aim."""
    found = analyse(study, Options(**options)).next_steps  # type: ignore[arg-type]
    return [step for step in found if step.aim is aim]


def test_each_run_names_what_it_separates_and_its_price(study: Builder) -> None:
    """Two runs for three factors: the first separates one, the second the other two.

    Twenty answers: the runs have ten questions each, of which the report shows one, and two
    repeats are not known. Only what the index is built with needs a new one.
    """
    leaves = {"top_k": 4, "index.chunk_size": 200, "chat.temperature": 0}
    other = {"top_k": 9, "index.chunk_size": 400, "chat.temperature": 1}
    runs = {
        "a": RunFacts("a", "a", {}, leaves, answers=10, part=(10, 20)),
        "b": RunFacts("b", "b", {}, other, answers=10),
    }

    one, two = steps(study(right={"a": [1], "b": [0]}, runs=runs), Aim.SEPARATE)

    assert one.words == ("variant=a", "variant.top_k=9")
    assert one.changes == (Change("top_k", 4, 9),)
    assert two.words == ("variant=b", "variant.chat.temperature=0")
    assert [change.factor for change in two.changes] == ["index.chunk_size", "chat.temperature"]
    assert one.price == RunPrice(20, True, None, None, new_index=False)
    assert two.price is not None
    assert not two.price.new_index


def test_a_new_index_is_named(study: Builder) -> None:
    """Two settings of the index that were changed together have no index between them."""
    runs = {
        "a": RunFacts("a", "a", {}, {"index.chunk_size": 200, "index.contents": "text"}),
        "b": RunFacts("b", "b", {}, {"index.chunk_size": 400, "index.contents": "ctx"}),
    }

    [step] = steps(study(right={"a": [1], "b": [0]}, runs=runs), Aim.SEPARATE)

    assert step.price is not None
    assert step.price.new_index
    unknown = {name: run((at, at)) for at, name in enumerate("ab")}
    unknown = {name: replace(one, name=name) for name, one in unknown.items()}
    [step] = steps(study(right={"a": [1], "b": [0]}, runs=unknown), Aim.SEPARATE)
    assert step.price is not None
    assert step.price.new_index is None


def test_tokens_are_those_of_the_runs_collected(study: Builder) -> None:
    """By answer, from the run that took least to the run that took most."""
    runs = {name: replace(run((at, at)), name=name) for at, name in enumerate("ab")}
    table = study(right={"a": [1, 0], "b": [0, 1]}, runs=runs)
    taken = {("a", "q1"): 100, ("a", "q2"): 200, ("b", "q1"): 400}
    responses = {
        cell: tuple(replace(row, input_tokens=taken.get(cell)) for row in rows)
        for cell, rows in table.responses.items()
    }

    [step] = steps(replace(table, responses=responses), Aim.SEPARATE)

    assert step.price is not None
    assert (step.price.input_tokens, step.price.output_tokens) == ((150, 400), None)
    assert step.price.answers == 2


def test_what_no_command_can_set_is_named_and_comes_last(study: Builder) -> None:
    """Two settings that one side lacks cannot be separated; the third factor can."""
    runs = {
        "a": RunFacts("a", "a", {}, {"top_k": 4, "path": "x"}),
        "b": RunFacts("b", "b", {}, {"top_k": 9, "url": "y"}),
    }
    table = study(right={"a": [1], "b": [0]}, runs=runs)

    one, rest = steps(table, Aim.SEPARATE)

    assert one.words == ("variant=a", "variant.top_k=9")
    assert [change.factor for change in one.changes] == ["top_k"]
    assert (rest.obstacle, rest.words) == ("unwritable", ())
    assert [change.factor for change in rest.changes] == ["path", "url"]
    assert analyse(table).next_steps[-1] == rest


def test_no_run_is_offered_where_none_can_be_written(study: Builder) -> None:
    """A pair of which every side was given its passages has no command at all."""
    given_ = {"passages_from": "x"}
    runs = {
        "a": RunFacts("a", "a", {}, {"f0": 0, "f1": 0, **given_}),
        "b": RunFacts("b", "b", {}, {"f0": 1, "f1": 1, **given_}),
    }

    [step] = steps(study(right={"a": [1], "b": [0]}, runs=runs), Aim.SEPARATE)

    assert (step.obstacle, step.price) == ("unwritable", None)


def test_a_recording_answers_no_new_run(study: Builder) -> None:
    """Its steps have a reason in place of a command, and come after those that can be made."""
    notes = ("recorded",)
    runs = {name: replace(run((at, at)), name=name, notes=notes) for at, name in enumerate("ab")}
    runs["c"] = replace(run((0, 2)), name="c", notes=notes)
    runs["d"] = replace(run((2, 0)), name="d", notes=notes)
    table = study(right={name: [1] for name in runs}, runs=runs)

    found = analyse(table).next_steps

    assert [step.aim for step in found] == [Aim.QUESTIONS, Aim.QUESTIONS, Aim.SEPARATE, Aim.DEPEND]
    assert [(step.words, step.obstacle) for step in found[2:]] == [((), "recorded")] * 2
    assert [step.obstacle for step in found[:2]] == ["", ""]


def passages_run(name: str, k: int, prompt: str, **more: object) -> RunFacts:
    facts = RunFacts(name, name, {"prompt": prompt}, {"top_k": k, "prompt.text": prompt})
    return replace(facts, **more)


def test_a_split_reads_the_other_runs_passages(study: Builder) -> None:
    """It opens no index; the pair with fewer factors comes first."""
    runs = {
        "a": replace(passages_run("a", 4, "default"), leaves={"top_k": 4, "index.contents": "x"}),
        "b": replace(passages_run("b", 9, "default"), leaves={"top_k": 9, "index.contents": "x"}),
        "c": replace(passages_run("c", 9, "strict"), leaves={"top_k": 9, "index.contents": "x"}),
        "d": replace(passages_run("d", 9, "brief"), leaves={"top_k": 9, "index.contents": "y"}),
    }
    table = study(right={name: [1] for name in runs}, runs=runs)

    first, *others = steps(table, Aim.SPLIT)

    assert first.pair == ("a", "c")
    assert first.words == ("variant=c", "passages_from=a")
    assert first.price is not None
    assert first.price.new_index is None
    assert len(others[-1].words) == 2
    assert others[-1].pair == ("a", "d")


def test_what_would_be_refused_or_change_nothing_is_not_offered(study: Builder) -> None:
    """Prompts that nothing reads, systems that retrieve themselves, and answers quoted with
    another embedder than the passages were found with."""
    quoting = {"notes": ("ignores_prompt",)}
    one, other = passages_run("a", 4, "default"), passages_run("b", 9, "strict")

    def splits(left: RunFacts, right: RunFacts) -> list[tuple[str, ...]]:
        table = study(right={"a": [1], "b": [0]}, runs={"a": left, "b": right})
        return [step.words for step in steps(table, Aim.SPLIT)]

    assert len(splits(one, other)) == 2
    assert splits(replace(one, **quoting), replace(other, **quoting)) == []
    own = {"choices": {"prompt": "default", "system": "bot"}}
    assert splits(replace(one, **own), other) == []
    embedded = [
        replace(facts, choices={"chat": chat, "embedder": embedder}, leaves={}, notes=notes)
        for facts, chat, embedder, notes in (
            (one, "extractive", "e5", ("ignores_prompt",)),
            (other, "ollama", "openai", ()),
        )
    ]
    assert splits(*embedded) == [("variant=b", "passages_from=a")]


def test_the_run_that_completes_most_squares_comes_first(study: Builder) -> None:
    """Three values of one factor at top_k 4, two at 9: one run completes both squares."""
    cells = {"a4": ("a", 4), "b4": ("b", 4), "c4": ("c", 4), "a9": ("a", 9), "c9": ("c", 9)}
    runs = {n: RunFacts(n, n, {}, {"kind": k, "top_k": t}) for n, (k, t) in cells.items()}
    runs["d"] = RunFacts("d", "d", {}, {"kind": "a", "top_k": 4, "more": 1})
    runs = {n: replace(r, leaves={"more": 0, **r.leaves}) for n, r in runs.items()}

    first, *others = steps(study(right={n: [1] for n in runs}, runs=runs), Aim.DEPEND)

    assert first.words == ("variant=a9", "variant.kind=b")
    assert len(first.squares) == 2
    assert others
    assert all(len(step.squares) <= 2 for step in others)


def test_a_corner_that_no_command_makes_is_left_out(study: Builder) -> None:
    """Two settings that one side each lacks: no run is known to have both."""
    runs = {
        "a": RunFacts("a", "a", {}, {}),
        "b": RunFacts("b", "b", {}, {"path": "x"}),
        "c": RunFacts("c", "c", {}, {"url": "y"}),
    }

    assert steps(study(right={n: [1] for n in runs}, runs=runs), Aim.DEPEND) == []


def test_a_prompt_that_nothing_reads_makes_no_square(study: Builder) -> None:
    """Two parts of a prompt, with a program that quotes."""
    leaves = ({"prompt.a": 0, "prompt.b": 0}, {"prompt.a": 1, "prompt.b": 0},
              {"prompt.a": 0, "prompt.b": 1})  # fmt: skip
    runs = {n: RunFacts(n, n, {}, one) for n, one in zip("abc", leaves, strict=True)}
    quoted = {n: replace(one, notes=("ignores_prompt",)) for n, one in runs.items()}
    right = {n: [1] for n in runs}

    assert len(steps(study(right=right, runs=runs), Aim.DEPEND)) == 1
    assert steps(study(right=right, runs=quoted), Aim.DEPEND) == []


def exact_power(n: int, changed: float, gain: float) -> float:
    """Return the power of the sign test at 0.05, summed over every outcome."""
    total, turned_right = 0.0, (changed + gain) / (2 * changed)
    for m in range(n + 1):
        tails = [sum(comb(m, i) for i in range(k, m + 1)) / 2**m for k in range(m + 1)]
        enough = next((k for k, tail in enumerate(tails) if tail <= 0.025), m + 1)
        passed = sum(
            comb(m, k) * turned_right**k * (1 - turned_right) ** (m - k)
            for k in range(enough, m + 1)
        )
        total += comb(n, m) * changed**m * (1 - changed) ** (n - m) * passed
    return total


@pytest.mark.parametrize(("gain", "changed"), [(0.2, 0.2), (0.2, 0.4), (0.1, 0.1)])
def test_questions_are_counted_by_the_exact_test(gain: float, changed: float) -> None:
    """One question fewer is too few; McNemar's exact test is summed over every outcome."""
    n = questions_for(gain, changed, Options())

    assert exact_power(n - 1, changed, gain) < 0.8 <= exact_power(n, changed, gain)


def test_questions_rest_on_the_observed_share_of_changes(study: Builder) -> None:
    """Three of ten answers change: that share, and nothing less than the gain."""
    table = study(right={"a": [0] * 5 + [1] * 5, "b": [1] * 3 + [0, 0] + [1] * 5})

    large, small = steps(table, Aim.QUESTIONS)

    assert (large.gain, small.gain) == (0.2, 0.1)
    assert large.changed == small.changed == pytest.approx(0.3)
    assert (large.asked, large.power) == (10, 0.8)
    assert large.questions == questions_for(0.2, 0.3, Options())
    equal = study(right={"a": [1, 0], "b": [1, 0]})
    assert [step.changed for step in steps(equal, Aim.QUESTIONS)] == [0.2, 0.1]
    ungraded = study(right={"a": [None], "b": [None]})
    assert steps(ungraded, Aim.QUESTIONS) == []


def test_a_study_without_rows_has_a_price_of_none(study: Builder) -> None:
    """Without any response there are no repeats to count."""
    runs = {name: replace(run((at, at)), name=name) for at, name in enumerate("ab")}
    table = replace(study(right={"a": [1], "b": [0]}, runs=runs), responses={})

    [step] = [s for s in next_steps(table, Design(table.runs), (), (), Options()) if s.words]

    assert step.price == RunPrice(1, True, None, None, None)


def test_a_models_build_follows_its_name() -> None:
    """Two models have two builds: that is one change, and a command names the model alone."""
    leaves = {"chat.model": "x", "chat.build": "1", "top_k": 4}
    left = RunFacts("a", "a", {"chat": "ollama"}, leaves)
    right = RunFacts("b", "b", {"chat": "ollama"}, {**leaves, "chat.model": "y", "chat.build": "2"})

    assert changes(left, right) == (Change("chat.model", "x", "y", ("chat.build",)),)
    other = replace(right, leaves={**right.leaves, "top_k": 9})
    [added], _ = fewest_runs(Design([left, other]))
    assert added.overrides in (("variant.chat.model=y",), ("variant.top_k=9",))
    rebuilt = replace(left, leaves={**left.leaves, "chat.build": "3"})
    assert [change.factor for change in changes(left, rebuilt)] == ["chat.build"]


def test_another_chat_is_set_with_its_model() -> None:
    """`chat=openai` alone would lack the model; what the old one was set to is left out."""
    old, new = ({"chat": "ollama"}, {"chat": "openai"})
    left = RunFacts("a", "a", old, {"top_k": 4, "chat.model": "x"},
                    overrides=("variant.chat.context=8192", "variant.seed=1"))  # fmt: skip
    right = RunFacts("b", "b", new, {"top_k": 9, "chat.model": "gpt"},
                     overrides=("variant.chat.base_url=http://127.0.0.1:1",),
                     inactive=frozenset("z"))  # fmt: skip
    found = changes(left, right)

    run_ = module.planned_run(left, right, found, frozenset({"chat"}), [])

    assert run_ is not None
    assert run_.overrides == (
        "variant.seed=1",
        "variant.chat.model=gpt",
        "variant.chat.base_url=http://127.0.0.1:1",
        "chat=openai",
    )
    assert (run_.choices, run_.leaves["chat.model"]) == (new, "gpt")


@pytest.mark.parametrize("value", ["two\nlines", "${oc.env:HOME}", "\u202e"])
def test_a_value_that_would_not_run_as_printed_has_no_command(value: str) -> None:
    """Line ends are printed as spaces, and interpolations are refused."""
    left, right = run((0, 0)), run((1, value))

    words = module.planned_run(left, right, changes(left, right), frozenset({"f1"}), [])

    assert words is not None
    assert words.overrides == ("variant.f0=0",)
