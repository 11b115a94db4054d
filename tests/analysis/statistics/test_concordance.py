import json
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from harness.analysis.statistics.concordance import (
    GradedScores,
    auc_interval,
    concordance,
    pearson,
    within_questions,
)


def cells(
    rows: Sequence[tuple[Sequence[float], Sequence[float]]], clusters: Sequence[int] | None = None
) -> GradedScores:
    """Build cells from each question's scores and grades."""
    numbers = np.repeat(np.arange(len(rows)), [len(scores) for scores, _ in rows])
    return GradedScores(
        np.concatenate([np.array(scores, float) for scores, _ in rows]),
        np.concatenate([np.array(grades, float) for _, grades in rows]),
        numbers,
        None if clusters is None else np.array(clusters)[numbers],
    )


ONE = ([0.9, 0.6, 0.6, 0.1], [1, 1, 0, 0])
"""0.9 is above both wrong ones, 0.6 above one and level with the other: 3.5 of 4 pairs."""


def test_pairs_of_one_question_and_all_their_shufflings() -> None:
    """Of the six choices of two right ones, two have 3.5 concordant pairs and none has more."""
    found = within_questions(cells([ONE]))
    assert (found.share, found.pairs, found.questions) == (7 / 8, 4, 1)
    assert (found.p, found.p_below, found.floor) == (pytest.approx(2 / 6), 1.0, 1 / 6)

    # two such questions, and one that is right throughout and says nothing
    found = within_questions(cells([ONE, ([0.2, 0.3], [1, 1]), ONE]))
    assert (found.share, found.pairs, found.questions) == (7 / 8, 8, 2)
    assert (found.p, found.floor) == (pytest.approx(4 / 36), pytest.approx(1 / 36))


def test_the_p_is_that_of_every_shuffling() -> None:
    """Three questions with ties, against a count of all 10 * 6 * 4 labellings."""
    random = np.random.default_rng(3)
    rows = [
        (random.integers(0, 3, size).tolist(), [1] * rights + [0] * (size - rights))
        for size, rights in ((5, 2), (4, 2), (4, 1))
    ]

    def concordant(scores: Sequence[float], right: Sequence[int]) -> float:
        wrong = [at for at in range(len(scores)) if at not in right]
        return sum((scores[i] > scores[j]) + (scores[i] == scores[j]) / 2
                   for i in right for j in wrong)  # fmt: skip

    shuffled = [
        [concordant(scores, right) for right in combinations(range(len(scores)), sum(grades))]
        for scores, grades in rows
    ]
    totals = np.array([sum(one) for one in product(*shuffled)])
    observed = sum(concordant(scores, range(sum(grades))) for scores, grades in rows)

    found = within_questions(cells(rows))
    assert found.share == pytest.approx(observed / (2 * 3 + 2 * 2 + 1 * 3))
    assert found.p == pytest.approx((totals >= observed).mean())
    assert found.p_below == pytest.approx((totals <= observed).mean())


def test_repeats_count_by_the_share_of_them_that_is_right() -> None:
    """Three cells with 3, 1 and 0 of 3 answers right: pairs of a right and a wrong answer.

    The right ones of the first cell meet 2 and 3 wrong ones, 15 pairs; that of the second meets
    3. All 18 agree with scores in the same order, which one of six orders does. With the first
    two swapped 3 * 2 pairs do not agree. Each answer is a third of a cell, so 18 pairs are 2.
    """
    shares = [1, 1 / 3, 0]

    best = within_questions(cells([([0.9, 0.5, 0.1], shares)]))
    assert (best.share, best.pairs) == (pytest.approx(1.0), pytest.approx(2.0))
    assert (best.p, best.floor) == (pytest.approx(1 / 6), pytest.approx(1 / 6))
    swapped = within_questions(cells([([0.5, 0.9, 0.1], shares)]))
    assert swapped.share == pytest.approx((9 + 3) / 18)
    assert swapped.p == pytest.approx(3 / 6)
    # without a common denominator of 60 or less, shares are rounded to sixtieths
    fine = within_questions(cells([([0.9, 0.5, 0.1], [1, 1 / 7, 1 / 11])]))
    assert fine.pairs == pytest.approx(6 / 7 + 10 / 11 + 10 / 77 + 6 / 77, abs=0.02)
    assert fine.p == pytest.approx(1 / 6)


def test_many_pairs_take_the_normal_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """As good as the exact p to a digit that no verdict needs, ties or not."""
    random = np.random.default_rng(4)
    grades = random.integers(0, 2, (100, 6)).tolist()
    rows = [(random.integers(0, 4, 6).tolist(), own) for own in grades]
    exact = within_questions(cells(rows))

    monkeypatch.setattr("harness.analysis.statistics.concordance.EXACT_UP_TO", 500)
    rough = within_questions(cells(rows))

    assert rough.p != exact.p
    assert rough.p == pytest.approx(exact.p, abs=0.01)
    assert rough.p_below == pytest.approx(exact.p_below, abs=0.01)
    constant = within_questions(cells([([0.5] * 6, own) for own in grades]))
    assert (constant.share, constant.p, constant.p_below) == (0.5, 0.5, 0.5)


def test_a_cluster_changes_sign_as_a_whole() -> None:
    """Excess 1.5 in each of six questions; in three clusters all have one sign in 1 of 8."""
    found = within_questions(cells([ONE] * 6, clusters=[0, 0, 5, 5, 2, 2]))

    assert (found.p, found.p_below, found.floor) == (1 / 8, 7 / 8, 1 / 8)
    assert found.share == 7 / 8
    worse = ([0.1, 0.9], [1, 0])
    found = within_questions(cells([worse] * 5, clusters=range(5)))
    assert (found.p, found.p_below) == (31 / 32, 1 / 32)
    nothing = within_questions(cells([([0.1], [1])], clusters=[0]))
    assert (nothing.p, nothing.floor, nothing.share) == (0.5, 1.0, None)


def test_interval_needs_two_questions() -> None:
    """One question cannot be left out."""
    assert auc_interval(concordance(cells([([0.1, 0.9], [0, 1])]))) == (None, None)


def test_the_interval_leaves_out_clusters() -> None:
    """Two questions of one document are left out together: one unit, so there is no interval."""
    rows = [([0.1, 0.9], [0, 1]), ([0.2, 0.3], [0, 1])]

    assert concordance(cells(rows)).left_out.size == 2
    assert concordance(cells(rows, clusters=[3, 3])).left_out.size == 1


def test_correlation_needs_two_pairs_that_vary() -> None:
    """A constant metric has none, whichever side is constant, and neither has a single pair."""
    right = np.array([0.0, 1, 0, 1])
    assert pearson(np.ones(4), right) is None
    assert pearson(right, np.ones(4)) is None
    assert pearson(np.ones(1), np.ones(1)) is None
    assert pearson(right, 1 - right) == -1.0


def test_correlation_agrees_with_scipy_on_human_labels() -> None:
    """Differences of scores against what two annotators said, a few published pairs."""
    rows = json.loads(
        (Path(__file__).parents[2] / "data/analysis/ragchecker_pairs.json").read_text("utf-8")
    )["pairs"]
    differences = np.repeat([row["difference"] for row in rows], 2)
    labels = np.ravel([row["labels"] for row in rows]).astype(float)

    found = pearson(differences, labels)

    assert found == pytest.approx(stats.pearsonr(differences, labels)[0])
