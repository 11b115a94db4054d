import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from harness.analysis.statistics.concordance import (
    GradedScores,
    auc_interval,
    concordance,
    correlate,
)


def test_interval_needs_two_questions() -> None:
    """One question cannot be left out."""
    cells = GradedScores(np.array([0.1, 0.9]), np.array([False, True]), np.array([0, 0]))
    assert auc_interval(concordance(cells)) == (None, None)


def test_correlation_names_why_it_is_undefined() -> None:
    """A constant metric has none; NA pairs are left out and the number of pairs is given."""
    constant = correlate(np.ones(4), np.array([0.0, 1, 0, 1]))
    assert (constant.value, constant.pairs, constant.undefined) == (None, 4, "constant")
    some = correlate(np.array([1, 2, np.nan, 4]), np.array([1.0, 2, 3, 4]))
    assert (some.value, some.pairs) == (1.0, 3)
    assert correlate(np.array([1.0]), np.array([1.0])).undefined == "no_scores"


def test_correlation_agrees_with_scipy_on_human_labels() -> None:
    """Differences of scores against what two annotators said, a few published pairs."""
    rows = json.loads(
        (Path(__file__).parents[2] / "data/analysis/ragchecker_pairs.json").read_text("utf-8")
    )["pairs"]
    differences = np.repeat([row["difference"] for row in rows], 2)
    labels = np.ravel([row["labels"] for row in rows]).astype(float)

    found = correlate(differences, labels)

    assert found.pairs == 2 * len(rows)
    assert found.value == pytest.approx(stats.pearsonr(differences, labels)[0])
