"""What chance turns right: the labels of each question shuffled among its runs.

Exact, so that no p is decided by the shuffles drawn. Changes made by as many pairs of runs have
the same chances, so a correction that resamples (minP) could not gain on Holm's here.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.records import Floats

Counts = NDArray[np.int64]
"""(3, questions): labels that are known, wrong and right."""


def label_counts(cells: Floats) -> Counts:
    """Count the labels of (runs, questions): 1 right, 0 wrong, a share over repeats, nan unknown.

    >>> label_counts(np.array([[0.0, 0.5], [1.0, np.nan], [1.0, 1.0]])).tolist()
    [[3, 2], [1, 0], [2, 1]]
    """
    return np.array([(~np.isnan(cells)).sum(axis=0), (cells == 0).sum(axis=0),
                     (cells == 1).sum(axis=0)])  # fmt: skip


def chance_turned(counts: Counts, wrong: int, right: int) -> Floats:
    """Return (questions,): how often shuffled labels make some runs all wrong and others all right.

    Args:
        counts: The labels that are shuffled.
        wrong: Number of runs, known of every question, that must be wrong.
        right: Number of other such runs, which must be right.

    >>> chance_turned(np.array([[4], [2], [2]]), 1, 1)  # 2/4 * 2/3
    array([0.33333333])
    """
    known, zeros, ones = counts
    drawn = np.arange(wrong + right)[:, None]
    fitting = np.concatenate([zeros - drawn[:wrong], ones - drawn[:right]])
    chances: Floats = (np.maximum(fitting, 0) / np.maximum(known - drawn, 1)).prod(axis=0)
    return chances


def at_least(count: int, chances: Floats) -> float:
    """Return the chance that at least `count` of independent events happen.

    >>> at_least(1, np.array([0.5, 0.5])), at_least(2, np.array([0.5, 0.5]))
    (0.75, 0.25)
    """
    # how likely 0, 1, ... of the events so far happened; the last stands for `count` or more
    happened = np.zeros(count + 1)
    happened[0] = 1.0
    for chance in chances[chances > 0]:
        more = happened[:-1] * chance
        happened[:-1] -= more
        happened[1:] += more
    return float(happened[-1])


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p values, in the order given.

    A test holds them equal to those of `statsmodels.stats.multitest.multipletests`, which takes
    a second and a half to import.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    weights = np.arange(len(p_values), 0, -1)
    stepped = np.minimum(np.maximum.accumulate(np.asarray(p_values)[order] * weights), 1.0)
    adjusted = np.empty(len(p_values))
    adjusted[order] = stepped
    return [float(p) for p in adjusted]
