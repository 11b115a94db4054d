"""What chance turns right: the labels of each question shuffled among its runs.

Exact, so that no p is decided by the shuffles drawn. Changes made by as many pairs of runs have
the same chances, so a correction that resamples (minP) could not gain on Holm's here.
"""

from collections.abc import Sequence

import numpy as np

from harness.records import Floats


def chance_turned(cells: Floats, wrong: Sequence[int], right: Sequence[int]) -> Floats:
    """Return (questions,): how often shuffled cells make some runs all wrong and others all right.

    A question of which one of these runs is unknown has no chance.

    Args:
        cells: (runs, questions): 1 right, 0 wrong, a share over repeats, nan where unknown.
        wrong: Numbers of the runs that must be 0.
        right: Numbers of other runs, which must be 1.

    >>> chance_turned(np.array([[0.0], [1.0], [0.0], [1.0]]), [0], [1])  # 2/4 * 2/3
    array([0.33333333])
    """
    named = [*wrong, *right]
    known = ~np.isnan(cells)
    drawn = np.arange(len(named))[:, None]
    zeros = (cells == 0).sum(axis=0) - drawn[: len(wrong)]
    ones = (cells == 1).sum(axis=0) - drawn[: len(right)]
    left = np.maximum(known.sum(axis=0) - drawn, 1)
    chances = (np.maximum(np.concatenate([zeros, ones]), 0) / left).prod(axis=0)
    return np.where(known[named].all(axis=0), chances, 0.0)


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
