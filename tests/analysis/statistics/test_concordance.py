import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from harness.analysis.statistics.concordance import (
    GradedScores,
    auc_interval,
    concordance,
    pearson,
)


def test_interval_needs_two_questions() -> None:
    """One question cannot be left out."""
    cells = GradedScores(np.array([0.1, 0.9]), np.array([False, True]), np.array([0, 0]))
    assert auc_interval(concordance(cells)) == (None, None)


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
