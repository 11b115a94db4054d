"""Part of the calibration, small enough for every test run.

`tests/calibration/run.py --quick` makes several times as many trials and holds them to the true
limits: what a change of the statistics does is seen there. Here chance alone moves a share of 300
trials by up to 0.04 (three standard errors of 0.95), of 40 studies by 0.1, and the limits are
that much wider.
"""

import importlib.util
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

CELLS, STUDIES, CREDITED, TRUST = 300, 40, 24, 150
"""Trials of each part; `--quick` makes 2,000, 150, 100 and 400."""

WIDER = {
    "coverage": (0.89, 1.0),
    "coverage_null": (0.89, 1.0),
    "false_positive": (0.0, 0.10),
    "family_wise": (0.0, 0.16),
    "attribution": (0.85, 1.0),
    "trust_false": (0.0, 0.11),
    "trust_true": (0.90, 1.0),
}


@pytest.fixture(scope="module")
def calibration() -> ModuleType:
    """The script, which is no package."""
    spec = importlib.util.spec_from_file_location("calibration", Path(__file__).parent / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def few(calibration: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script with limits for few trials."""
    assert WIDER.keys() == calibration.LIMITS.keys()
    monkeypatch.setattr(calibration, "LIMITS", WIDER)
    return calibration


@pytest.mark.parametrize("kind", ["right_wrong", "ratio", "continuous"])
def test_intervals_cover_and_tests_keep_their_level(few: ModuleType, kind: str) -> None:
    """95 % intervals cover as often as they say, and p <= 0.05 comes as seldom by chance."""
    cells = [asdict(cell) for cell in few.cells(CELLS, [kind])]

    assert len(cells) == 16
    assert few.outside({"cells": cells}) == []


def test_a_report_over_nothing_claims_nothing(few: ModuleType) -> None:
    """Where no factor acts, hardly a whole report claims anything."""
    assert few.outside({"family_wise": few.family_wise(STUDIES)}) == []


def test_the_credit_goes_to_the_planted_factor(few: ModuleType) -> None:
    """At the size that power asks for, nearly every study credits it, and no other."""
    assert few.outside({"attribution": few.attribution(CREDITED)[0]}) == []


def test_metrics_are_trusted_as_they_deserve(few: ModuleType) -> None:
    """A useless metric hardly ever, a good one nearly always."""
    assert few.outside(few.trust(TRUST)) == []


def test_numbers_outside_their_limits_are_named(calibration: ModuleType) -> None:
    """Too narrow, and too wide but for right/wrong."""
    cell = {"kind": "ratio", "coverage": 0.9, "coverage_null": 0.999, "false_positive": 0.05}

    assert len(calibration.outside({"cells": [cell], "family_wise": 0.07})) == 3
    assert len(calibration.outside({"cells": [{**cell, "kind": "right_wrong"}]})) == 1
