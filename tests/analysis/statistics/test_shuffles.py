"""Exact chances against every way to shuffle the cells."""

from itertools import permutations

import numpy as np
import pytest

from harness.analysis.statistics.shuffles import at_least, chance_turned, holm, label_counts

NA = float("nan")


@pytest.mark.parametrize(
    ("column", "wrong", "right"),
    [
        ([0, 0, 1, 1], [0], [1]),
        ([0, 0, 1, 1], [0, 2], [1, 3]),
        ([0, 1, 1, 1], [0, 2], [1, 3]),
        ([0, 0.5, 1, 1, 0], [0], [1, 3]),
        ([0, 0, NA, 1, 1], [0, 1], [3]),
        ([1, 1, 1, 1], [0], [1]),
    ],
)
def test_chance_is_the_share_of_all_shuffles(
    column: list[float], wrong: list[int], right: list[int]
) -> None:
    """As counted over every order of the known cells; a cell in part right is neither."""
    known = [at for at, value in enumerate(column) if not np.isnan(value)]
    orders = list(permutations([column[at] for at in known]))
    turned = 0
    for order in orders:
        cells = dict(zip(known, order, strict=True))
        turned += all(cells[at] == 0 for at in wrong) and all(cells[at] == 1 for at in right)

    counts = label_counts(np.array(column, float)[:, None])
    [chance] = chance_turned(counts, len(wrong), len(right))

    assert chance == pytest.approx(turned / len(orders))


def test_hundreds_of_runs_do_not_overflow() -> None:
    """300 of 600 runs right: the chance that just one half of them is, is 1 / C(600, 300)."""
    [chance] = chance_turned(np.array([[600], [300], [300]]), 300, 300)

    assert 0 < chance < 1e-178


def test_at_least_counts_independent_events() -> None:
    """Chances 1/2, 1/3 and 1/4: none 1/4, one 11/24, two 1/4, three 1/24."""
    chances = np.array([1 / 2, 0.0, 1 / 3, 1 / 4])

    found = [at_least(count, chances) for count in range(5)]

    assert found == pytest.approx([1, 18 / 24, 7 / 24, 1 / 24, 0])


def test_holm_is_statsmodels() -> None:
    """The same adjusted p values, in the order given; none of none."""
    from statsmodels.stats.multitest import multipletests

    p_values = list(np.random.default_rng(0).beta(0.3, 1, 40))

    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))
    assert holm([]) == []
