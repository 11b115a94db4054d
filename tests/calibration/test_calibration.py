"""The quick calibration: `tests/calibration/run.py --quick`, in parts."""

import importlib.util
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def calibration() -> ModuleType:
    """The script, which is no package."""
    spec = importlib.util.spec_from_file_location("calibration", Path(__file__).parent / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["right_wrong", "ratio", "continuous"])
def test_intervals_cover_and_tests_keep_their_level(calibration: ModuleType, kind: str) -> None:
    """95 % intervals cover at least 93 %, and p <= 0.05 comes at most 6 times in 100 by chance."""
    cells = [asdict(cell) for cell in calibration.cells(calibration.QUICK.cells, [kind])]

    assert len(cells) == 16
    assert calibration.outside({"cells": cells}) == []


def test_a_report_over_nothing_claims_nothing(calibration: ModuleType) -> None:
    """Where no factor acts, at most 6 of 100 whole reports claim anything."""
    found = {"family_wise": calibration.family_wise(calibration.QUICK.studies)}

    assert calibration.outside(found) == []


def test_the_credit_goes_to_the_planted_factor(calibration: ModuleType) -> None:
    """At the size that power asks for, 95 of 100 studies credit it, and no other."""
    assert calibration.outside({"attribution": calibration.attribution(100)[0]}) == []


def test_metrics_are_trusted_as_they_deserve(calibration: ModuleType) -> None:
    """A useless metric hardly ever, a good one nearly always."""
    assert calibration.outside(calibration.trust(calibration.QUICK.trust)) == []


def test_numbers_outside_their_limits_are_named(calibration: ModuleType) -> None:
    """Too narrow, and too wide but for right/wrong."""
    cell = {"kind": "ratio", "coverage": 0.9, "coverage_null": 0.999, "false_positive": 0.05}

    assert len(calibration.outside({"cells": [cell], "family_wise": 0.07})) == 3
    assert len(calibration.outside({"cells": [{**cell, "kind": "right_wrong"}]})) == 1
