"""Questions that one change turned in every pair of runs that makes it, beside what chance turns.

Even where no factor acts, some questions turn right under some change. So a change is credited
only where at least two pairs of runs make it and shuffled answers seldom turn as many.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.analysis.changes import Design, Pair
from harness.analysis.findings import value_text
from harness.analysis.results import Change, Credit
from harness.analysis.statistics.shuffles import Counts, at_least, chance_turned, label_counts
from harness.analysis.statistics.sign_flip import holm
from harness.analysis.study_table import StudyTable, names_where

LEAST = 2
"""Pairs of runs that must make a change before it can be credited."""


def credits(study: StudyTable, design: Design) -> tuple[Credit, ...]:
    """Return, for each change of one factor, what it turned right and what it turned wrong.

    A question turned where every pair of runs has it wrong on one side and right on the other, in
    all repeats. p is corrected by Holm over the changes that at least two pairs make.
    """
    pools = shuffled_together(study)
    found = [
        credit(study, pools, change, pairs, direction)
        for change, pairs in pairs_by_change(design)
        for direction in ("won", "lost")
    ]
    adjusted = iter(holm([one.p for one in found if one.p is not None]))
    return tuple(one if one.p is None else replace(one, p_adjusted=next(adjusted)) for one in found)


def pairs_by_change(design: Design) -> list[tuple[Change, list[Pair]]]:
    """Return each change of one factor with the pairs of runs that make it, forwards."""
    found: dict[tuple[str, str, str], tuple[Change, list[Pair]]] = {}
    for (left, right), change in design.contrasts:
        values = value_text(change.left), value_text(change.right)
        backwards = (change.factor, *reversed(values))
        if backwards in found:
            found[backwards][1].append((right, left))
        else:
            found.setdefault((change.factor, *values), (change, []))[1].append((left, right))
    return list(found.values())


Pool = tuple[frozenset[int], Counts]
"""Numbers of runs whose labels are shuffled among each other, and how many of each there are."""


def shuffled_together(study: StudyTable) -> list[Pool]:
    """Return the runs over one corpus and test set each: no others are compared."""
    found = defaultdict(list)
    for at, run in enumerate(study.runs):
        found[run.corpus, run.testset].append(at)
    return [(frozenset(runs), label_counts(study.right.values[runs])) for runs in found.values()]


def credit(
    study: StudyTable, pools: Sequence[Pool], change: Change, pairs: Sequence[Pair], direction: str
) -> Credit:
    """Return the questions that a change turned in one direction, and the chance of as many."""
    cells, names = study.right.values, study.scores.runs
    before, after = (sorted(set(side)) for side in zip(*pairs, strict=True))
    wrong, right = (before, after) if direction == "won" else (after, before)
    turned = (cells[wrong] == 0).all(axis=0) & (cells[right] == 1).all(axis=0)
    chances = (~np.isnan(cells[before + after])).all(axis=0).astype(float)
    for runs, counts in pools:
        chances *= chance_turned(counts, len(runs & set(wrong)), len(runs & set(right)))
    return Credit(
        change,
        tuple((names[i], names[j]) for i, j in pairs),
        direction,
        names_where(study.scores.questions, turned),
        float(chances.sum()),
        at_least(int(turned.sum()), chances) if len(pairs) >= LEAST else None,
    )
