"""Runs that differ in several factors: what separates the factors, and what is still missing.

A chain of runs changes one factor after the other. Four runs at two values of two factors show
whether one factor's effect depends on the other. Where retrieval and generation both changed, two
more runs split the difference: each side's generator on the other side's passages
(`python -m harness.collect variant=... passages_from=<run>`). Each part is the mean of its effect
with the other part as on the left and as on the right, so the two add up to the total.
"""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from harness.analysis.changes import ABSENT, Design, Pair, descending, reverse
from harness.analysis.contrasts import (
    MetricTest,
    Pairing,
    cluster_numbers,
    difference,
    sign_flip_tests,
)
from harness.analysis.results import (
    Change,
    Conclusion,
    Confounded,
    Counterfactual,
    Interaction,
    MissingRun,
    Split,
)
from harness.analysis.study_table import Measure, Options, RunFacts, StudyTable, asked_mask
from harness.records import PASSAGES_FROM, acts_after_retrieval
from harness.text import as_number

ORDERS_UP_TO = 5
"""Number of factors up to which every order of changing them is tried."""

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./\-]*")
"""Text that Hydra reads as a string without quotes."""

BESIDE_VARIANT = ("version", PASSAGES_FROM)
"""Factors that are set beside the variant, not inside it."""

NOT_TEXT = {"true", "false", "null", "yes", "no", "on", "off", "nan", "inf"}

Changed = frozenset[str]


def confounded(design: Design) -> tuple[Confounded, ...]:
    """List every comparable pair that differs in several factors."""
    return tuple(
        shortest_way(design, pair, found)
        for pair, found in design.changes.items()
        if len(found) > 1
    )


def shortest_way(design: Design, pair: Pair, found: Sequence[Change]) -> Confounded:
    """Return the order of changing one factor after the other that lacks fewest runs."""
    runs = design.runs
    existing, way = chain(design, pair, found)
    left, right = (runs[at] for at in pair)
    return Confounded(
        left.name,
        right.name,
        tuple(found),
        tuple(runs[existing[step]].name for step in way if step in existing),
        tuple(missing_run(left, right, found, step, runs) for step in way if step not in existing),
    )


def chain(
    design: Design, pair: Pair, found: Sequence[Change]
) -> tuple[dict[Changed, int], list[Changed]]:
    """Return the runs between a pair, and the steps of the way on which fewest runs are missing."""
    names = [change.factor for change in found]
    existing = midpoints(design, pair)
    orders = permutations(names) if len(names) <= ORDERS_UP_TO else [tuple(names)]
    ways = [[frozenset(order[:end]) for end in range(1, len(names))] for order in orders]
    return existing, min(ways, key=lambda steps: sum(step not in existing for step in steps))


def midpoints(design: Design, pair: Pair) -> dict[Changed, int]:
    """Return the runs that take some factors from left and the others from right.

    The key names the factors that hold right's value already.
    """
    left, right = pair
    whole = design.factors[left, right]
    found: dict[Changed, int] = {}
    for at in range(len(design.runs)):
        done, open_ = design.factors.get((left, at)), design.factors.get((at, right))
        if done and open_ and not done & open_ and done | open_ == whole:
            found.setdefault(done, at)
    return found


def missing_run(
    left: RunFacts,
    right: RunFacts,
    found: Sequence[Change],
    changed: Changed,
    runs: Sequence[RunFacts],
) -> MissingRun:
    """Return the words for the run with these factors as on the right, others as on the left."""
    run = planned_run(left, right, found, changed, runs)
    return () if run is None else collect_words(run)


def planned_run(
    left: RunFacts,
    right: RunFacts,
    found: Sequence[Change],
    changed: Changed,
    runs: Sequence[RunFacts],
) -> RunFacts | None:
    """Return the run with these factors as on the right, others as on the left, before it exists.

    It starts from the side with fewer settings switched off, because a setting that is off may have
    any value, then from the one that needs fewer words. None where a setting cannot be written in
    a command; where the side was given another run's passages, as its retrieval settings do not
    act; and where one of the `runs` has the same words, as a file has then changed since.
    """
    forward = [change for change in found if change.factor in changed]
    back = [reverse(change) for change in found if change.factor not in changed]
    ways = [
        way
        for way in ((left, right, forward), (right, left, back))
        if way[0].passages_from is None and all(map(writable, way[2]))
    ]
    if not ways:
        return None
    base, other, settings = min(ways, key=lambda way: (len(way[0].inactive), len(way[2])))
    words = {override_name(word): word for word in base.overrides}
    choices, leaves = dict(base.choices), dict(base.leaves)
    for change in settings:
        key = override_key(base, change)
        if change.factor in choices:
            choices[change.factor] = str(change.right)
            words = {n: w for n, w in words.items() if not n.startswith(f"variant.{key}.")}
            words |= model_words(other, key)
        else:
            leaves[change.factor] = change.right
        words[key] = f"{key}={override_value(change.right)}"
        for leaf in change.leaves:
            leaves.pop(leaf, None)
            leaves |= {leaf: other.leaves[leaf]} if leaf in other.leaves else {}
    if any(run.variant == base.variant and same(run.overrides, words.values()) for run in runs):
        return None
    return replace(
        base,
        name=" ".join(words.values()),
        choices=choices,
        leaves=leaves,
        inactive=left.inactive & right.inactive,
        overrides=tuple(words.values()),
    )


def writable(change: Change) -> bool:
    """Return whether a command can set a factor to its right value: one line, and a real setting.

    >>> writable(Change("top_k", 4, 9)), writable(Change("chat.build", "1", "2"))
    (True, False)
    """
    value = override_value(change.right)
    return (
        ABSENT not in (change.left, change.right)
        and not change.factor.endswith(".build")
        and value.isprintable()
        and "${" not in value
    )


def model_words(run: RunFacts, group: str) -> dict[str, str]:
    """Return the words that a run needs beside the choice in a group: the model has no default."""
    model = run.leaves.get(f"{group}.model")
    key = f"variant.{group}.model"
    words = {} if model is None else {key: f"{key}={override_value(model)}"}
    named = {override_name(word): word for word in run.overrides}
    return words | {n: word for n, word in named.items() if n.startswith(f"variant.{group}.")}


def collect_words(run: RunFacts) -> MissingRun:
    """Return the words that collect a run, each ready for a shell."""
    return tuple(shlex.quote(word) for word in (f"variant={run.variant}", *run.overrides))


def same(left: Iterable[str], right: Iterable[str]) -> bool:
    """Return whether two lists of words set the same, whatever their order and quotes."""
    one, other = ({re.sub("['\"]", "", word) for word in words} for words in (left, right))
    return one == other


def override_key(base: RunFacts, change: Change) -> str:
    """Return a factor's key on the command line: groups have no prefix."""
    if change.factor in base.choices or change.factor in BESIDE_VARIANT:
        return change.factor
    return f"variant.{change.factor}"


def override_name(word: str) -> str:
    """Return what an override word sets."""
    return word.partition("=")[0].lstrip("+~")


def override_value(value: object) -> str:
    """Write a value as Hydra's override grammar reads it back.

    >>> [override_value(v) for v in (4, None, True, "strict", "4", "a b", ["x", 1])]
    ['4', 'null', 'true', 'strict', '"4"', '"a b"', '[x,1]']
    """
    if isinstance(value, list | tuple):
        return "[" + ",".join(override_value(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{override_value(item)}" for key, item in value.items()) + "}"
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    text = str(value)
    if PLAIN.fullmatch(text) and text.lower() not in NOT_TEXT:
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def counterfactuals(design: Design, measures: Sequence[Measure]) -> tuple[Counterfactual, ...]:
    """Split every pair of runs in which retrieval and generation both changed.

    Both retrieved their own passages: a run that was given another's passages is part of a split.
    """
    found = []
    for left, right in design.changes:
        if parts_of(design.factors[left, right]) != {True, False}:
            continue
        one, other = design.runs[left], design.runs[right]
        if one.passages_from is not None or other.passages_from is not None:
            continue
        crossed = crossing(design, left, right), crossing(design, right, left)
        found.append(
            Counterfactual(
                one.name,
                other.name,
                tuple(None if at is None else design.runs[at].name for at in crossed),
                tuple(
                    crossed_run(of, passages)
                    for at, of, passages in zip(crossed, (one, other), (other, one), strict=True)
                    if at is None
                ),
                splits((left, *crossed, right), measures),
            )
        )
    return tuple(found)


def parts_of(factors: Iterable[str]) -> set[bool]:
    """Return the parts that these factors act on: True is generation, False is retrieval.

    >>> parts_of(["prompt", "chat.model"]), parts_of(["top_k"])
    ({True}, {False})
    """
    return {acts_after_retrieval(factor) for factor in factors}


def crossing(design: Design, generator: int, passages: int) -> int | None:
    """Return the run of one side's generator on the other side's passages.

    Preferably a run that was given these passages; else one that retrieves the same way: it
    differs from the passages' run in generation only, and from the generator's run in retrieval
    only.
    """
    given = design.runs[passages].name
    for at, run in enumerate(design.runs):
        if run.passages_from == given and same_generator(run, design.runs[generator]):
            return at
    for at in range(len(design.runs)):
        retrieved = design.factors.get((at, passages), frozenset())
        generated = design.factors.get((at, generator), frozenset())
        if parts_of(retrieved) == {True} and parts_of(generated) == {False}:
            return at
    return None


def same_generator(run: RunFacts, other: RunFacts) -> bool:
    """Return whether two runs have the same settings after retrieval."""
    return all(
        {name: value for name, value in one.items() if acts_after_retrieval(name)}
        == {name: value for name, value in two.items() if acts_after_retrieval(name)}
        for one, two in ((run.choices, other.choices), (run.leaves, other.leaves))
    )


def crossed_run(generator: RunFacts, passages: RunFacts) -> MissingRun:
    """Return the words that run one side's generator on the other side's passages."""
    kept = [word for word in generator.overrides if override_name(word) != PASSAGES_FROM]
    words = (f"variant={generator.variant}", *kept, f"{PASSAGES_FROM}={passages.name}")
    return tuple(shlex.quote(word) for word in words)


def splits(corners: Sequence[int | None], measures: Sequence[Measure]) -> tuple[Split, ...]:
    """Split each metric's difference, over the questions that all four runs have scored.

    The corners are left, left's generator on right's passages, right's on left's, and right.
    """
    at = [corner for corner in corners if corner is not None]
    if len(at) < len(corners):
        return ()
    found = []
    for measure in measures:
        values = measure.values[at]
        scored = ~np.isnan(values).any(axis=0)
        if scored.any():
            left, retrieved, generated, right = (float(v) for v in values[:, scored].mean(axis=1))
            found.append(
                Split(
                    measure.name,
                    total=right - left,
                    retrieval=((retrieved - left) + (right - generated)) / 2,
                    generation=((generated - left) + (right - retrieved)) / 2,
                    questions=int(scored.sum()),
                )
            )
    return tuple(found)


Corners = tuple[int | None, int | None, int | None, int | None]
"""Runs at (left, left), (right, left), (left, right), (right, right) of two factors."""


@dataclass(frozen=True, slots=True)
class Square:
    """Two factors at two values each."""

    first: Change
    second: Change
    corners: Corners
    missing: tuple[MissingRun, ...]
    """The run that would complete the square; empty where all four exist."""


def squares(design: Design) -> list[Square]:
    """Find pairs of factors of which at least three of the four combinations were collected.

    Each square is listed once, the complete ones first. Left out are squares that repeats of a
    run would close a second time, and squares that are the sum of two narrower ones.
    """
    found: dict[frozenset[int | None], Square] = {}
    for pair, both in design.changes.items():
        if len(both) != 2:
            continue
        existing = midpoints(design, pair)
        one, other = (existing.get(frozenset([change.factor])) for change in both)
        if one is None and other is None:
            continue
        left, right = (design.runs[at] for at in pair)
        missing = tuple(
            missing_run(left, right, both, frozenset([c.factor]), design.runs)
            for c, at in zip(both, (one, other), strict=True)
            if at is None
        )
        square = ascending(Square(both[0], both[1], (pair[0], one, other, pair[1]), missing))
        found.setdefault(frozenset(square.corners), square)
    closed = [corners for corners in found if None not in corners]
    return [
        square
        for corners, square in found.items()
        if None not in corners and not is_sum(design, square)
    ] + [
        square
        for corners, square in found.items()
        if None in corners and not any(corners - {None} <= whole for whole in closed)
    ]


def is_sum(design: Design, square: Square) -> bool:
    """Return whether runs at an intermediate value split a complete square into two."""
    base, one, other, both = (at for at in square.corners if at is not None)
    first, second = square.first.factor, square.second.factor
    return any(
        design.factors.get((near, far)) == frozenset([across])
        for along, across, edge, opposite in (
            (first, second, (base, one), (other, both)),
            (second, first, (base, other), (one, both)),
        )
        for near in between(design, edge, along)
        for far in between(design, opposite, along)
    )


def between(design: Design, edge: Pair, factor: str) -> list[int]:
    """Return the runs that differ from both ends in this factor only, at an intermediate value.

    Numbers are ordered by value; other values by the order of the runs that have them.
    """
    alone = frozenset([factor])
    inside = [
        at
        for at in range(len(design.runs))
        if design.factors.get((edge[0], at)) == alone == design.factors.get((at, edge[1]))
    ]
    runs = [*inside, *edge]
    numbers = [as_number(design.runs[at].leaves.get(factor)) for at in runs]
    known = [number for number in numbers if number is not None]
    places = dict(zip(runs, known if len(known) == len(runs) else runs, strict=True))
    low, high = sorted(places[end] for end in edge)
    return [at for at in inside if low < places[at] < high]


def ascending(square: Square) -> Square:
    """Return the same square with both factors read in the order of numbers and versions."""
    base, one, other, both = square.corners
    if descending([square.first]):
        turned = replace(square, first=reverse(square.first), corners=(one, base, both, other))
        return ascending(turned)
    if descending([square.second]):
        return replace(square, second=reverse(square.second), corners=(other, both, base, one))
    return square


def interactions(
    study: StudyTable, design: Design, measures: Sequence[Measure], options: Options
) -> tuple[Interaction, ...]:
    """Compute every complete 2 x 2, and list what the incomplete ones lack.

    They are exploratory: each has an interval and a p value, and none is called beyond chance.
    `UNTESTED` metrics are left out.
    """
    measures = [measure for measure in measures if measure.tested]
    found = squares(design)
    were_asked = asked_mask(study)
    complete = [square for square in found if None not in square.corners]
    pairings = [
        effect_of_first(measure, square.corners, were_asked)
        for square in complete
        for measure in measures
    ]
    clusters = cluster_numbers(study, options)
    tests = sign_flip_tests(pairings, clusters, options)
    runs, questions = study.scores.runs, study.scores.questions
    no_evidence = Conclusion.NO_EVIDENCE
    rows = [
        difference(MetricTest(pair, test=test, fixed=no_evidence), questions, clusters, options)
        for pair, test in zip(pairings, tests, strict=True)
    ]
    step = len(measures)
    return tuple(
        Interaction(
            square.first,
            square.second,
            tuple(None if at is None else runs[at] for at in square.corners),
            tuple(rows[at * step : (at + 1) * step]),
            square.missing,
        )
        for at, square in enumerate(found)
    )


def effect_of_first(measure: Measure, corners: Corners, were_asked: NDArray[np.bool_]) -> Pairing:
    """Pair the first factor's effect at the second's left value with that at its right value."""
    at = [corner for corner in corners if corner is not None]
    base, first, second, both = (measure.values[i] for i in at)
    units = np.fmin.reduce(measure.units[at], axis=0)
    effects = Measure(
        # a difference of differences reaches from -2 to 2
        facts=replace(measure.facts, bounded=False),
        values=np.stack([first - base, both - second]),
        units=np.stack([units, units]),
        binary=False,
    )
    return Pairing(effects, (0, 1), np.asarray(were_asked[at].all(axis=0)))
