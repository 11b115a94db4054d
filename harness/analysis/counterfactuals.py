"""Retrieval and generation changed at once: how much of the difference is due to each?

Two more runs answer that: each side's generator on the other side's passages
(`python -m harness.collect variant=... passages_from=<run>`). Each part is the mean of its
effect with the other part as on the left and as on the right, so the two add up to the total.
"""

import shlex
from collections.abc import Iterable, Sequence

import numpy as np

from harness.analysis.changes import Design
from harness.analysis.confounded import key_of
from harness.analysis.results import Counterfactual, MissingRun, Split
from harness.analysis.study_table import Measure, RunFacts
from harness.records import PASSAGES_FROM, acts_after_retrieval


def counterfactuals(design: Design, measures: Sequence[Measure]) -> tuple[Counterfactual, ...]:
    """Split every pair of runs in which retrieval and generation both changed.

    Both retrieved their own passages: a run that was given another's passages is part of a split.
    """
    found = []
    for left, right in design.changes:
        if parts(design.factors[left, right]) != {True, False}:
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


def parts(factors: Iterable[str]) -> set[bool]:
    """Return the parts that these factors act on: True is generation, False is retrieval.

    >>> parts(["prompt", "chat.model"]), parts(["top_k"])
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
        if parts(retrieved) == {True} and parts(generated) == {False}:
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
    kept = [word for word in generator.overrides if key_of(word) != PASSAGES_FROM]
    words = (f"variant={generator.variant}", *kept, f"{PASSAGES_FROM}={passages.name}")
    return MissingRun(tuple(shlex.quote(word) for word in words))


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
