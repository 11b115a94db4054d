"""The studies sent to the peers repeat to the digit, and our own column of them computes."""

import numpy as np
import pytest

from harness.analysis import analyse
from harness.analysis.results import BEYOND_CHANCE
from tests.peers.__main__ import OURS, Cell, cells, not_first
from tests.peers.our_column import options, our_column, said, study
from tests.peers.worlds import BUDGETS, CHANGED, QUESTIONS, World, pairs, worlds


@pytest.fixture(scope="module")
def drawn() -> list[World]:
    """Three studies of every world."""
    return list(worlds(3))


def test_worlds_repeat(drawn: list[World]) -> None:
    """A second draw is equal in every number, and no two worlds are alike."""
    for first, second in zip(drawn, worlds(3), strict=True):
        assert first.name == second.name
        assert first.arrays.keys() == second.arrays.keys()
        assert all(np.array_equal(a, second.arrays[k]) for k, a in first.arrays.items())
    assert len({world.name for world in drawn}) == len(drawn) == 46


def test_truth_is_the_mean_of_what_is_drawn() -> None:
    """The means of many studies are those against which intervals are held."""
    large = {world.name: world for world in worlds(400)}
    for kind in ("right_wrong", "ratio", "continuous", "ties", "repeats"):
        world = large[f"{kind}_100_effect"]
        left, right = world.arrays["scores"].mean(axis=(0, 2, 3))
        assert right - left == pytest.approx(world.truth[0], abs=0.01)
    grades = large["grades_40_effect"]
    left, right = grades.arrays["right"].mean(axis=(0, 2))
    assert (right - left, right) == pytest.approx(grades.truth.tolist(), abs=0.01)
    assert grades.arrays["changed"].mean() == pytest.approx(CHANGED, abs=0.01)


def test_ties_are_exact(drawn: list[World]) -> None:
    """Most questions of the world of ties have equal scores on both sides."""
    world = next(w for w in drawn if w.name == "ties_100_effect")
    left, right = world.arrays["scores"][..., 0].swapaxes(0, 1)

    assert np.mean(left == right) == pytest.approx(0.85, abs=0.06)
    assert (right >= left).all()


def test_grades_do_not_exceed_their_budget(drawn: list[World]) -> None:
    """An answer that changed costs two grades, one that did not one."""
    for world in (w for w in drawn if w.kind == "grades"):
        spent = ((1 + world.arrays["changed"]) * world.arrays["drawn"]).sum(axis=1)
        assert world.arrays["drawn"].shape == (3, QUESTIONS)
        assert world.n in BUDGETS
        assert (spent <= world.n).all()
        assert (spent >= world.n - 1).all()


def test_our_column_computes_in_every_world(drawn: list[World]) -> None:
    """Intervals are known for the same pairs in every study of a world, and never of no width."""
    for world in (w for w in drawn if w.n < 100):
        column = our_column(world)
        assert column["claimed"].shape == (world.studies, len(world.truth))
        assert np.isin(column["claimed"], (-1, 0, 1)).all() or world.kind == "grades"
        width = column["high"] - column["low"]
        known = ~np.isnan(width)
        assert known.any()
        assert (known == known[0]).all()
        assert (width[known] > 0).all()


def test_our_column_is_what_a_report_says(drawn: list[World]) -> None:
    """Claims and intervals are those of the whole analysis."""
    world = next(w for w in drawn if w.name == "six_continuous_30_effect")
    table = study(world.arrays["scores"][0], world.binary)
    claimed, low, high = said(table)
    names = [run.name for run in table.runs]

    found = analyse(table, options(table))

    expected = np.zeros(15)
    for contrast in found.contrasts:
        row = contrast.differences[0]
        at = pairs(6).index((names.index(contrast.left), names.index(contrast.right)))
        assert (low[at], high[at]) == (row.low, row.high)
    for effect in found.effects:
        if effect.differences[0].verdict in BEYOND_CHANCE:
            for left, right in effect.contrasts:
                expected[pairs(6).index((names.index(left), names.index(right)))] = 1
    assert claimed.any()
    assert claimed.tolist() == expected.tolist()


def test_cells_without_a_peer_are_ours(drawn: list[World]) -> None:
    """A peer that is not installed is NA with its reason, and first in nothing."""
    small = [world for world in drawn if world.n == 13]
    found = {w.name: {OURS: our_column(w), "peer": "not installed: no network"} for w in small}

    rows = list(cells(small, found))

    assert {row.columns["peer"] for row in rows} == {"not installed: no network"}
    assert all("peer" not in row.first for row in rows)
    assert {row.metric for row in rows} >= {"error", "wrong claims", "power", "coverage, null"}


def test_first_are_those_that_keep_their_level() -> None:
    """A peer with more power that errs too often is not first, and equal columns are."""
    half, more = np.arange(200.0) % 2, np.ones(200)
    columns = {OURS: half, "equal": half.copy(), "careless": more}

    assert Cell("ties", 13, "power", columns, frozenset({OURS, "equal"})).first == [OURS, "equal"]
    whole = Cell("ties", 13, "power", columns, frozenset(columns))
    assert whole.first == ["careless"]
    assert not_first([whole]) == ["ties 13 power: careless"]
