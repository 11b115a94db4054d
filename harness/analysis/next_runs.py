"""What would show most next: runs that have not been collected, and more questions.

Factors that have changed only together are separated by the fewest further runs. Two values of a
factor are separated from the other factors where a contrast of that factor joins them, or a chain
of contrasts. What the runs collected and the values to be joined span as vectors bounds the number
of runs from below, since a further run adds one dimension at most; where shortest chains need
more, smaller sets of the runs between the collected ones are tried.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from harness.analysis.changes import ABSENT, Design, Pair, changes, incomparable
from harness.analysis.results import Aim, Change, Contrast, Counterfactual, NextStep, RunPrice
from harness.analysis.several_factors import (
    ORDERS_UP_TO,
    Square,
    chain,
    collect_words,
    crossed_run,
    override_value,
    parts_of,
    planned_run,
    squares,
)
from harness.analysis.statistics.sample_size import questions_needed
from harness.analysis.study_table import RIGHT, Options, RunFacts, StudyTable
from harness.records import acts_after_retrieval

GAINS = (0.2, 0.1)
"""In the share of right answers: the sizes for which questions are counted."""

PAIRS_AT_ONCE = 30
"""Confounded pairs, those with fewest factors first, among which the next chain is chosen."""

MOST_BETWEEN = 100
"""Runs between the collected ones up to which sets of them are tried."""

MOST_TRIED = 50_000
"""Sets of runs that are tried to find one smaller than the chains."""

OF_THE_INDEX = ("index", "embedder", "captioner")
"""Groups whose settings an index is built with."""

EXTRACTIVE, RECORDED = "ignores_prompt", "recorded"
"""Notes on a run whose answers are quoted by a program, and on one whose replies are replayed."""

Value = tuple[str, str, str, str]
"""Corpus, test set, factor, and its value as a command writes it."""

Edge = tuple[Value, Value]


def next_steps(
    study: StudyTable,
    design: Design,
    contrasts: Sequence[Contrast],
    counterfactuals: Sequence[Counterfactual],
    options: Options,
) -> tuple[NextStep, ...]:
    """Return what would show something new, the most useful first.

    First the runs without which factors stay confounded, then more questions, then runs that show
    whether effects depend on each other, and where they come from.
    """
    steps = [
        *separations(study, design),
        *more_questions(contrasts, options),
        *dependences(study, design),
        *crossings(study, design, counterfactuals),
    ]
    return tuple(sorted(steps, key=lambda step: bool(step.obstacle)))


def separations(study: StudyTable, design: Design) -> Iterator[NextStep]:
    """Yield the fewest runs that give each confounded change a contrast, and what stays open."""
    needed = open_edges(confounded_edges(design), joining_contrasts(design).values())
    added, fewest = fewest_runs(design)
    grown = design
    for run in added:
        grown = grown.with_runs([run])
        still = open_edges(needed, joining_contrasts(grown).values())
        closed = tuple(change for edge, change in needed.items() if edge not in still)
        needed = still
        yield run_step(study, run, Aim.SEPARATE, changes=closed, fewest=fewest)
    if needed:
        yield NextStep(Aim.SEPARATE, changes=tuple(needed.values()), obstacle="unwritable")


def run_step(study: StudyTable, run: RunFacts, aim: Aim, **more: object) -> NextStep:
    """Return the step of collecting a run; a recording has no replies for it."""
    recorded = RECORDED in run.notes
    return NextStep(
        aim,
        words=() if recorded else collect_words(run),
        price=run_price(study, run),
        obstacle=RECORDED if recorded else "",
        **more,  # type: ignore[arg-type]
    )


def edge_of(run: RunFacts, change: Change) -> Edge:
    """Return the two values of a change, in one order, whichever way round it is read."""
    at = (run.corpus, run.testset, change.factor)
    left, right = sorted(override_value(value) for value in (change.left, change.right))
    return (*at, left), (*at, right)


def joining_contrasts(design: Design) -> dict[Pair, Edge]:
    """Return the values that each contrast joins."""
    return {
        pair: edge_of(design.runs[pair[0]], found[0])
        for pair, found in design.changes.items()
        if len(found) == 1
    }


def confounded_edges(design: Design) -> dict[Edge, Change]:
    """Return the values that differ in confounded pairs, and a change of each."""
    return {
        edge_of(design.runs[pair[0]], change): change
        for pair, found in design.changes.items()
        if len(found) > 1
        for change in found
    }


def open_edges(needed: Mapping[Edge, Change], contrasts: Iterable[Edge]) -> dict[Edge, Change]:
    """Return those of the values needed that no chain of the contrasts joins."""
    joined = joined_by(contrasts)
    return {edge: change for edge, change in needed.items() if not joins(joined, edge)}


def joined_by(edges: Iterable[Edge]) -> dict[Value, set[Value]]:
    """Return each value with all that chains of these contrasts join to it."""
    joined: dict[Value, set[Value]] = {}
    for left, right in set(edges):
        both = joined.get(left, {left}) | joined.get(right, {right})
        joined |= dict.fromkeys(both, both)
    return joined


def joins(joined: Mapping[Value, set[Value]], edge: Edge) -> bool:
    """Return whether the two values are joined."""
    return edge[1] in joined.get(edge[0], ())


def chains(design: Design, needed: Mapping[Edge, Change]) -> list[RunFacts]:
    """Return the runs of shortest chains between confounded pairs, until they join what they can.

    Of the next chains the one is taken that lacks fewest runs for each change that it joins. Runs
    without which as much is joined are left out.
    """
    pairs = sorted(
        (pair for pair, found in design.changes.items() if len(found) > 1),
        key=lambda pair: len(design.changes[pair]),
    )
    edges = {
        pair: [edge_of(design.runs[pair[0]], c) for c in design.changes[pair]] for pair in pairs
    }
    grown = design
    while open_ := open_edges(needed, joining_contrasts(grown).values()):
        offers = []
        pairs = [pair for pair in pairs if not open_.keys().isdisjoint(edges[pair])]
        for pair in pairs[:PAIRS_AT_ONCE]:
            left, right = (grown.runs[at] for at in pair)
            found = design.changes[pair]
            existing, way = chain(grown, pair, found)
            missing = [step for step in way if step not in existing]
            planned = (planned_run(left, right, found, step, grown.runs) for step in missing)
            joined = len(open_.keys() & edges[pair])
            offers.append((len(missing) / joined, pair, list(filter(None, planned))))
        if not offers:
            break
        _, chosen, runs = min(offers, key=lambda offer: offer[0])
        pairs.remove(chosen)
        grown = grown.with_runs(runs)
    kept = set(range(len(grown.runs)))
    contrasts = joining_contrasts(grown)
    for at in range(len(design.runs), len(grown.runs)):
        without = kept - {at}
        if open_edges(needed, among(contrasts, without)).keys() == open_.keys():
            kept = without
    return [run for at, run in enumerate(grown.runs) if at >= len(design.runs) and at in kept]


def among(contrasts: Mapping[Pair, Edge], runs: set[int]) -> Iterator[Edge]:
    """Yield the values that contrasts of these runs join."""
    return (edge for pair, edge in contrasts.items() if runs.issuperset(pair))


def fewest_runs(design: Design) -> tuple[list[RunFacts], bool]:
    """Return a smallest set of runs that joins what chains can join, and whether that is shown."""
    every = confounded_edges(design)
    needed = open_edges(every, joining_contrasts(design).values())
    added = chains(design, needed)
    after = open_edges(needed, joining_contrasts(design.with_runs(added)).values())
    closed = [edge for edge in needed if edge not in after]
    least = fewest_possible(design.runs, closed)
    if len(added) <= least:
        return added, True
    several = len({edge[0][2] for edge in closed}) > ORDERS_UP_TO
    pool = [] if several else runs_between(design, closed)
    if several or len(pool) > MOST_BETWEEN:
        return added, False
    grown = design.with_runs(pool)
    own, contrasts = len(design.runs), joining_contrasts(grown)
    bits = {edge: 1 << at for at, edge in enumerate(dict.fromkeys(contrasts.values()))}
    masks: dict[tuple[int, ...], int] = defaultdict(int)
    for pair, edge in contrasts.items():
        masks[tuple(sorted(at for at in pair if at >= own))] |= bits[edge]
    tried, seen = 0, set()
    for size in range(least, len(added)):
        for chosen in combinations(range(own, len(grown.runs)), size):
            tried += 1
            if tried > MOST_TRIED:
                return added, False
            mask = masks[()]
            for part in (*((at,) for at in chosen), *combinations(chosen, 2)):
                mask |= masks.get(part, 0)
            if mask in seen:
                continue
            seen.add(mask)
            joined = joined_by(edge for edge, bit in bits.items() if mask & bit)
            if all(joins(joined, edge) for edge in closed):
                return [grown.runs[at] for at in chosen], True
    return added, True


def fewest_possible(runs: Sequence[RunFacts], edges: Sequence[Edge]) -> int:
    """Return a number of runs below which no set can join these values.

    Where a setting that is to be separated is off in some run, nothing is known but that it is one.
    """
    if not edges:
        return 0
    factors = {edge[0][2] for edge in edges}
    if any(factors & run.inactive for run in runs):
        return 1
    by_group: dict[tuple[str, str], list[set[Value]]] = defaultdict(list)
    for run in runs:
        at = (run.corpus, run.testset)
        own = {**run.leaves, **run.choices}
        by_group[at].append({(*at, f, override_value(own.get(f, ABSENT))) for f in factors})
    steps = [(group[0] - one, one - group[0]) for group in by_group.values() for one in group]
    steps += [({left}, {right}) for left, right in edges]
    values = sorted({value for step in steps for side in step for value in side})
    spanned = np.array([[(v in after) - (v in before) for v in values] for before, after in steps])
    rank = np.linalg.matrix_rank
    return int(rank(spanned) - rank(spanned[: -len(edges)]))


def runs_between(design: Design, edges: Iterable[Edge]) -> list[RunFacts]:
    """Return each run that takes some factors from one side of a pair and some from the other.

    The pairs are those with a change to join. It ends early where there are too many.
    """
    wanted = dict.fromkeys(edges)
    pool: list[RunFacts] = []
    for (i, j), found in design.changes.items():
        left, right = design.runs[i], design.runs[j]
        if len(found) == 1 or not any(edge_of(left, change) in wanted for change in found):
            continue
        names = [change.factor for change in found]
        for size in range(1, len(names)):
            for step in combinations(names, size):
                run = planned_run(left, right, found, frozenset(step), design.runs)
                if run is not None and not any(alike(run, one) for one in (*design.runs, *pool)):
                    pool.append(run)
        if len(pool) > MOST_BETWEEN:
            break
    return pool


def alike(run: RunFacts, other: RunFacts) -> bool:
    """Return whether two runs may be compared and have equal factors."""
    return incomparable(run, other) is None and not changes(run, other)


def more_questions(contrasts: Sequence[Contrast], options: Options) -> Iterator[NextStep]:
    """Yield how many questions find each of the gains, at the share of answers that changes.

    A gain changes at least as many answers as it turns right. Questions count as independent.
    """
    rows = [row for one in contrasts if (row := one.difference(RIGHT)) is not None]
    compared = sum(row.questions for row in rows)
    if not compared:
        return
    observed = sum(row.wins + row.losses for row in rows) / compared
    for gain in GAINS:
        changed = max(observed, gain)
        yield NextStep(
            Aim.QUESTIONS,
            gain=gain,
            questions=questions_for(gain, changed, options),
            asked=max(row.questions for row in rows),
            changed=changed,
            power=options.power,
        )


def questions_for(gain: float, changed: float, options: Options) -> int:
    """Return how many questions find a gain in right answers by the exact test, tested alone.

    Args:
        gain: In the share of right answers.
        changed: The share of answers that turn right or wrong, at least the gain.
        options: The level and the power.

    >>> questions_for(0.2, 0.2, Options())
    39
    """
    from scipy.special import bdtr

    n = questions_needed(gain, math.sqrt(changed - gain**2), options.alpha, options.power)
    assert n is not None
    turned_wrong = (changed - gain) / (2 * changed)
    most_wrong: list[int] = []
    while True:
        while len(most_wrong) <= n:  # by number of changed answers, with p at the level
            most = most_wrong[-1] if most_wrong else -1
            turned = len(most_wrong)
            most_wrong.append(most + int(bdtr(most + 1, turned, 0.5) <= options.alpha / 2))
        enough = np.flatnonzero(np.array(most_wrong[: n + 1]) >= 0)
        found = bdtr(np.array(most_wrong)[enough], enough, turned_wrong)
        chance = bdtr(enough, n, changed) - bdtr(enough - 1, n, changed)
        if chance @ found >= options.power:
            return n
        n += 1


def dependences(study: StudyTable, design: Design) -> list[NextStep]:
    """Return the runs that complete squares, those that complete most of them first.

    Left out are squares of a retrieval and a generation factor, as a split of their pair says more
    for less, and those of a prompt that nothing reads.
    """
    found: list[tuple[RunFacts, list[Square]]] = []
    for square in squares(design):
        factors = {square.first.factor, square.second.factor}
        if None not in square.corners or len(parts_of(factors)) > 1:
            continue
        run = missing_corner(design, square)
        if run is None or (RECORDED not in run.notes and unread(factors, run)):
            continue
        for other, completed in found:
            if alike(run, other):
                completed.append(square)
                break
        else:
            found.append((run, [square]))
    found.sort(key=lambda one: -len(one[1]))
    return [
        run_step(
            study, run, Aim.DEPEND, squares=tuple((one.first, one.second) for one in completed)
        )
        for run, completed in found
    ]


def unread(factors: Iterable[str], *runs: RunFacts) -> bool:
    """Return whether one of the factors is a prompt, and a program answers that reads none."""
    prompt = "prompt" in map(group_of, factors)
    return prompt and all(EXTRACTIVE in run.notes for run in runs)


def missing_corner(design: Design, square: Square) -> RunFacts | None:
    """Return the run that completes a square: each factor as in the neighbour that shares it."""
    at = square.corners.index(None)
    second_shared, first_shared = square.corners[at ^ 1], square.corners[at ^ 2]
    assert first_shared is not None
    assert second_shared is not None
    left, right = design.runs[second_shared], design.runs[first_shared]
    found = changes(left, right)
    return planned_run(left, right, found, frozenset([square.first.factor]), design.runs)


def crossings(
    study: StudyTable, design: Design, counterfactuals: Sequence[Counterfactual]
) -> list[NextStep]:
    """Return the runs on another run's passages that split a pair, those of fewest factors first.

    Left out are prompts that nothing reads, and what such a run refuses: a system that does its own
    retrieval, and a program that answers by another embedder than the passages were found with.
    """
    named = {run.name: run for run in design.runs}
    found: list[tuple[int, NextStep]] = []
    for pair in counterfactuals:
        left, right = named[pair.left], named[pair.right]
        differ = [change.factor for change in changes(left, right)]
        after = [factor for factor in differ if acts_after_retrieval(factor)]
        ours = all(run.choices.get("system", "rag") == "rag" for run in (left, right))
        if not ours or (set(map(group_of, after)) == {"prompt"} and unread(after, left, right)):
            continue
        for at, run, passages in zip(pair.crossed, (left, right), (right, left), strict=True):
            embeds = EXTRACTIVE in run.notes and "embedder" in map(group_of, differ)
            if at is None and not embeds:
                step = run_step(study, run, Aim.SPLIT, pair=(pair.left, pair.right))
                words = crossed_run(run, passages) if step.words else ()
                price = replace(run_price(study, run), new_index=None)
                found.append((len(differ), replace(step, words=words, price=price)))
    return [step for _, step in sorted(found, key=lambda one: one[0])]


def group_of(factor: str) -> str:
    """Return the group of a factor."""
    return factor.partition(".")[0]


def run_price(study: StudyTable, run: RunFacts) -> RunPrice:
    """Return what it takes to collect a run, by what the runs collected took."""
    rows = [row for repeats in study.responses.values() for row in repeats]
    repeats = max(row.repeat for row in rows) + 1 if rows else 1
    whole = [one.part[1] * repeats for one in study.runs if one.part is not None]
    return RunPrice(
        answers=max(len(study.questions) * repeats, *(one.answers for one in study.runs), *whole),
        asks_model=EXTRACTIVE not in run.notes,
        input_tokens=tokens(study, "input_tokens"),
        output_tokens=tokens(study, "output_tokens"),
        new_index=new_index(run, study.runs),
    )


def tokens(study: StudyTable, column: str) -> tuple[float, float] | None:
    """Return the least and the largest mean over a run's answers; None where none is recorded."""
    means = []
    for run in study.runs:
        known = [n for _, row in study.answers(run.name) if (n := getattr(row, column)) is not None]
        means += [sum(known) / len(known)] if known else []
    return (min(means), max(means)) if means else None


def new_index(run: RunFacts, runs: Sequence[RunFacts]) -> bool | None:
    """Return whether no run has this one's index; None for a system whose index is not known."""
    if not any(group_of(leaf) == "index" for leaf in run.leaves):
        return None
    return not any(
        incomparable(run, other) is None
        and all(group_of(change.factor) not in OF_THE_INDEX for change in changes(run, other))
        for other in runs
    )
