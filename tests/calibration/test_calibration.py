"""Part of the calibration, small enough for every test run.

`tests/calibration/run.py --quick` makes several times as many trials and holds them to the true
limits: what a change of the statistics does is seen there. Here chance alone moves a share of 300
trials by up to 0.04 (three standard errors of 0.95), of 40 studies by 0.1, and the limits are
that much wider.
"""

from dataclasses import asdict
from types import ModuleType

import pytest

from harness.analysis.study_table import RIGHT
from tests.calibration import run as calibration
from tests.calibration.worlds import WORLDS, World, report, truth

pytestmark = pytest.mark.slow

CELLS, REPORTS, CREDITED, TRUST = 300, 20, 24, 150
"""Trials of each part; `--quick` makes 2,000, 40, 100 and 400."""

WIDER = {
    "coverage": (0.89, 1.0),
    "coverage_null": (0.89, 1.0),
    "lowest": (0.89, 1.0),
    "false_positive": (0.0, 0.10),
    "family_wise": (0.0, 0.10),
    "attribution": (0.85, 1.0),
    "trust_false": (0.0, 0.11),
    "trust_true": (0.90, 1.0),
    "false_trust": (0.0, 0.11),
    "credits": (0.0, 0.15),
}

SMALL = {
    f"{world.name} {world.n}": world
    for world in WORLDS
    if world.design == "six" and world.repeats < 8
    if world.n == 13 or (world.n <= 40 and (world.documents or world.missing))
}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The calibration with limits for few trials."""
    assert WIDER.keys() == calibration.LIMITS.keys()
    monkeypatch.setattr(calibration, "LIMITS", WIDER)
    return calibration


@pytest.mark.parametrize("kind", ["right_wrong", "ratio", "continuous"])
def test_intervals_cover_and_tests_keep_their_level(few: ModuleType, kind: str) -> None:
    """95 % intervals cover as often as they say, and p <= 0.05 comes as seldom by chance."""
    cells = [asdict(cell) for cell in few.cells(CELLS, [kind])]

    assert len(cells) == 16
    assert few.outside({"cells": cells}) == []


def test_the_credit_goes_to_the_planted_factor(few: ModuleType) -> None:
    """At the size that power asks for, nearly every study credits it, and no other."""
    assert few.outside({"attribution": few.attribution(CREDITED)[0]}) == []


def test_metrics_are_trusted_as_they_deserve(few: ModuleType) -> None:
    """A useless metric hardly ever, a good one nearly always."""
    assert few.outside(few.trust(TRUST)) == []


@pytest.mark.parametrize("name", SMALL)
def test_reports_claim_credit_and_trust_what_is_true(few: ModuleType, name: str) -> None:
    """Whole reports hardly ever say what is false, and their intervals hold the truth."""
    world = SMALL[name]

    found = few.numbers(world, few.studies_of((world, 0, REPORTS)))

    assert {one["of"] for one in found["coverage"]} == {"effect", "pair", "mean"}
    assert few.outside({"worlds": [found]}) == []


def test_reports_find_what_acts(few: ModuleType) -> None:
    """Where captions bring most of the evidence, nearly every report says so at 13 questions."""
    world = SMALL["demo-like 13"]

    assert few.numbers(world, few.studies_of((world, 0, REPORTS)))["power"] >= 0.8


@pytest.mark.parametrize("metric", [RIGHT, "gold_ndcg", "faithfulness"])
def test_the_truth_of_a_world(metric: str) -> None:
    """The index acts on the evidence, so on answers; the prompt and a null world on nothing."""
    demo, null = SMALL["demo-like 13"], SMALL["null 13"]
    index, prompt = (("text_k4", "ctx_k4"),), (("ctx_k9", "ctx_k9_strict"),)

    assert truth(demo, index, metric) > 0.03
    assert truth(demo, prompt, metric) == 0
    assert truth(null, index, metric) == truth(null, prompt, metric) == 0


def test_a_study_repeats_to_the_digit() -> None:
    """A world and a seed make one report."""
    world = World("any", 8)

    assert report(world, [1, 2]) == report(world, [1, 2])


def test_numbers_outside_their_limits_are_named() -> None:
    """Too narrow, and too wide but for right/wrong."""
    cell = {"kind": "ratio", "coverage": 0.9, "coverage_null": 0.999, "false_positive": 0.05}

    assert len(calibration.outside({"cells": [cell], "family_wise": 0.07})) == 3
    assert len(calibration.outside({"cells": [{**cell, "kind": "right_wrong"}]})) == 1


def test_a_number_may_be_two_errors_beyond_its_limit() -> None:
    """Chance alone takes a share of few studies that far."""
    world = {"world": "null", "n": 13, "family_wise": 0.09, "family_wise_error": 0.021}

    assert calibration.outside({"worlds": [world]}) == []
    [found] = calibration.outside({"worlds": [world | {"family_wise_error": 0.019}]})
    assert found == "null n=13 family_wise=0.09"


def test_the_error_of_a_share() -> None:
    """The standard error over studies, and more than 0 where all of them agree."""
    assert calibration.share([0, 1, 0, 1]) == pytest.approx((0.5, (1 / 3) ** 0.5 / 2))
    assert calibration.share([True] * 23) == pytest.approx((1.0, 24**0.5 / 25 / 23**0.5))
