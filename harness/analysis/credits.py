"""Questions that one change turned in every pair of runs that makes it, beside what chance turns.

Even where no factor acts, some questions turn right under some change. So a change is credited
only where at least two pairs of runs make it and shuffled answers seldom turn as many.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.analysis.changes import Design, Pair
from harness.analysis.findings import value_text
from harness.analysis.results import Change, Credit
from harness.analysis.statistics.shuffles import at_least, chance_turned
from harness.analysis.statistics.sign_flip import holm
from harness.analysis.study_table import StudyTable, names_where
from harness.records import Floats

LEAST = 2
"""Pairs of runs that must make a change before it can be credited."""


def credits(study: StudyTable, design: Design) -> tuple[Credit, ...]:
    """Return, for each change of one factor, what it turned right and what it turned wrong.

    A question turned where every pair of runs has it wrong on one side and right on the other, in
    all repeats. p is corrected by Holm over the changes that at least two pairs make.
    """
    found = []
    for change, pairs in pairs_by_change(design):
        for direction in ("won", "lost"):
            found.append(credit(study, design, change, pairs, direction))
    tested = [at for at, one in enumerate(found) if len(one.contrasts) >= LEAST]
    for at, adjusted in zip(tested, holm([found[at].p for at in tested]), strict=True):
        found[at] = replace(found[at], p_adjusted=adjusted)
    return tuple(found)


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


def credit(
    study: StudyTable, design: Design, change: Change, pairs: Sequence[Pair], direction: str
) -> Credit:
    """Return the questions that a change turned in one direction, and the chance of as many."""
    cells, names = study.right.values, study.scores.runs
    before, after = (sorted(set(side)) for side in zip(*pairs, strict=True))
    wrong, right = (before, after) if direction == "won" else (after, before)
    turned = (cells[wrong] == 0).all(axis=0) & (cells[right] == 1).all(axis=0)
    chances = shuffled(cells, design, wrong, right)
    return Credit(
        change,
        tuple((names[i], names[j]) for i, j in pairs),
        direction,
        names_where(study.scores.questions, turned),
        float(chances.sum()),
        at_least(int(turned.sum()), chances),
    )


def shuffled(cells: Floats, design: Design, wrong: Sequence[int], right: Sequence[int]) -> Floats:
    """Return each question's chance to turn, shuffled among runs that may be compared."""
    groups = [(run.corpus, run.testset) for run in design.runs]
    chances = np.ones(cells.shape[1])
    for group in {groups[at] for at in (*wrong, *right)}:
        own = [at for at, one in enumerate(groups) if one == group]
        sides = ([own.index(at) for at in side if at in own] for side in (wrong, right))
        chances *= chance_turned(cells[own], *sides)
    return chances
