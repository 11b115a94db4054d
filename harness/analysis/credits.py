"""Questions that one change turned in every pair of runs that makes it, beside what chance turns.

Even where no factor acts, some questions turn right under some change. So a change is credited
only where at least two pairs of runs make it and shuffled answers seldom turn as many.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.analysis.results import Credit, Effect
from harness.analysis.statistics.shuffles import Counts, at_least, chance_turned, holm, label_counts
from harness.analysis.study_table import StudyTable, names_where

LEAST = 2
"""Pairs of runs that must make a change before it can be credited."""


def credits(study: StudyTable, effects: Sequence[Effect]) -> tuple[Credit, ...]:
    """Return, for each change of one factor, what it turned right and what it turned wrong.

    A question turned where every pair of runs has it wrong on one side and right on the other, in
    all repeats. p is corrected by Holm over the changes that at least two pairs make.
    """
    pools = shuffled_together(study)
    found = [
        credit(study, pools, effect, direction)
        for effect in effects
        for direction in ("won", "lost")
    ]
    adjusted = iter(holm([one.p for one in found if one.p is not None]))
    return tuple(one if one.p is None else replace(one, p_adjusted=next(adjusted)) for one in found)


Exchangeable = tuple[frozenset[int], Counts]
"""Numbers of runs whose labels are shuffled among each other, and how many of each there are."""


def shuffled_together(study: StudyTable) -> list[Exchangeable]:
    """Return the runs over one corpus and test set each: no others are compared."""
    found = defaultdict(list)
    for at, run in enumerate(study.runs):
        found[run.corpus, run.testset].append(at)
    return [(frozenset(runs), label_counts(study.right.values[runs])) for runs in found.values()]


def credit(
    study: StudyTable, pools: Sequence[Exchangeable], effect: Effect, direction: str
) -> Credit:
    """Return the questions that a change turned in one direction, and the chance of as many."""
    cells, names = study.right.values, study.scores.runs
    sides = zip(*effect.contrasts, strict=True)
    before, after = ([names.index(run) for run in dict.fromkeys(side)] for side in sides)
    wrong, right = (before, after) if direction == "won" else (after, before)
    turned = (cells[wrong] == 0).all(axis=0) & (cells[right] == 1).all(axis=0)
    chances = (~np.isnan(cells[before + after])).all(axis=0).astype(float)
    for runs, counts in pools:
        chances *= chance_turned(counts, len(runs & set(wrong)), len(runs & set(right)))
    several = len(effect.contrasts) >= LEAST
    return Credit(
        effect.change,
        effect.contrasts,
        direction,
        names_where(study.scores.questions, turned),
        float(chances.sum()),
        at_least(int(turned.sum()), chances) if several else None,
    )
