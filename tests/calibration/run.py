"""Is what the analysis claims true as often as it says? Simulated studies with known answers.

    python tests/calibration/run.py            the long run: 10,000 trials a cell
    python tests/calibration/run.py --quick    about a minute
    python tests/calibration/run.py --json     every number as JSON

Each number is the share of simulated studies in which something happened. Exit code 1 where one
is outside its limits. Seeds are fixed, so a run repeats to the digit.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np

from harness.analysis import (
    Assumptions,
    MetricFacts,
    RunFacts,
    StudyTable,
    analyse,
    power,
    study_table,
)
from harness.analysis.results import Conclusion, Trust
from harness.analysis.statistics.intervals import interval
from harness.analysis.statistics.sample_size import graded_questions
from harness.analysis.statistics.sign_flip import sign_flip
from harness.analysis.study_table import Measure
from harness.analysis.trust import trust_of
from harness.records import Floats, Layer, Question, Response, Score

SIZES = (8, 20, 50, 200)
KINDS = ("right_wrong", "ratio", "continuous")
EFFECT = 0.8
"""Of the right-hand run on the logit scale: about +0.14 right, ratio or similarity."""
REPEATS = 3
MISSING = 0.15
CLAIMED = {Conclusion.BETTER, Conclusion.WORSE, Conclusion.DIFFERENT}


@dataclass(frozen=True)
class Trials:
    """How many studies are simulated."""

    cells: int
    studies: int
    trust: int


QUICK, LONG = Trials(2_000, 150, 400), Trials(10_000, 1_000, 4_000)


@dataclass(frozen=True)
class Cell:
    """One setting of the difference between two runs."""

    n: int
    kind: str
    missing: bool
    repeats: bool
    coverage: float
    """Of the 95 % interval, where the right-hand run is better."""
    coverage_null: float
    """The same, where it is not."""
    false_positive: float
    """Share of p <= 0.05 where it is not."""


def logistic(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x)))


def scores(random: np.random.Generator, kind: str, ability: Floats, claims: Floats) -> Floats:
    """Draw one score for each (trial, question) from how easily it is answered, in logits."""
    if kind == "right_wrong":
        return np.asarray(random.random(ability.shape) < logistic(ability), float)
    if kind == "ratio":
        return np.asarray(random.binomial(claims.astype(int), logistic(ability)) / claims)
    return logistic(ability + random.normal(0, 0.8, ability.shape))


def pairs(
    random: np.random.Generator, kind: str, trials: int, n: int, effect: float, repeats: int
) -> Floats:
    """Draw the differences of (trials, n) questions, each the mean over its repeats."""
    ease = random.normal(0.4, 1.2, (trials, n))
    claims = random.integers(2, 6, (trials, n)).astype(float)
    left, right = (
        np.mean([scores(random, kind, ease + shift, claims) for _ in range(repeats)], axis=0)
        for shift in (0.0, effect)
    )
    return np.asarray(right - left)


def true_difference(kind: str, effect: float) -> float:
    """Work out the mean difference over all questions there could be."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    noise = 0.8 if kind == "continuous" else 0.0
    ease = 0.4 + np.hypot(1.2, noise) * nodes
    change = logistic(ease + effect) - logistic(ease)
    return float((weights * change).sum() / weights.sum())


def cells(trials: int, kinds: Sequence[str] = KINDS) -> Iterator[Cell]:
    """Yield coverage and false positives of every setting."""
    settings = enumerate(product(KINDS, SIZES, (False, True), (False, True)))
    for seed, (kind, n, missing, repeats) in settings:
        if kind not in kinds:
            continue
        random = np.random.default_rng(seed)
        covered = {}
        for effect in (EFFECT, 0.0):
            deltas = pairs(random, kind, trials, n, effect, REPEATS if repeats else 1)
            if missing:
                deltas[random.random(deltas.shape) < MISSING] = np.nan
            truth = true_difference(kind, effect)
            spans = [
                interval(row[~np.isnan(row)], kind == "right_wrong", bounded=True) for row in deltas
            ]
            covered[effect] = float(
                np.mean([s.low is not None and s.low <= truth <= (s.high or 0.0) for s in spans])
            )
        tests = sign_flip(list(deltas), 1_999, seed)
        false = float(np.mean([test.p is not None and test.p <= 0.05 for test in tests]))
        yield Cell(n, kind, missing, repeats, covered[EFFECT], covered[0.0], false)


FACTORS = ("prompt", "contents", "top_k")
KNOWN = 1.0
"""By how many logits a metric scores a right answer above a wrong one to the same question."""
METRICS = (
    MetricFacts("ratio", Layer.GENERATION),
    MetricFacts("continuous", Layer.GENERATION),
)


def factorial(random: np.random.Generator, n: int, effect: float) -> StudyTable:
    """Draw a 2 x 2 x 2 study of n questions in which only the prompt acts, by `effect` logits."""
    levels = list(product((0, 1), repeat=len(FACTORS)))
    names = ["".join(map(str, level)) for level in levels]
    ids = [f"q{at}" for at in range(n)]
    ease, claims = random.normal(0.4, 1.2, n), random.integers(2, 6, n).astype(float)
    rows: dict[str, list[Score]] = {}
    grades = {}
    for name, level in zip(names, levels, strict=True):
        ability = ease + effect * level[0]
        right = scores(random, "right_wrong", ability, claims)
        seen = ability + KNOWN * (right - logistic(ability))
        rows[name] = [
            Score(question, 0, facts.name, float(value), None, "ok", None)
            for facts in METRICS
            for question, value in zip(ids, scores(random, facts.name, seen, claims), strict=True)
        ]
        grades |= {(name, q, 0): int(value) for q, value in zip(ids, right, strict=True)}
    return study_table(
        [
            RunFacts(name, name, leaves=dict(zip(FACTORS, level, strict=True)))
            for name, level in zip(names, levels, strict=True)
        ],
        [Question(q, f"ask {q}", "reference", "text") for q in ids],
        METRICS,
        rows,
        {name: [Response(q, 0, "ask", "ref", "text", f"{name}{q}") for q in ids] for name in names},
        grades,
    )


def credited(study: StudyTable) -> set[str]:
    """Return the factors that the report calls better, worse or different in some metric."""
    return {
        contrast.factor
        for contrast in analyse(study).contrasts
        for row in contrast.differences
        if row.verdict in CLAIMED
    }


def family_wise(studies: int) -> float:
    """Return the share of reports that claim anything where nothing acts."""
    random = np.random.default_rng(100)
    return float(np.mean([bool(credited(factorial(random, 30, 0.0))) for _ in range(studies)]))


def attribution(studies: int) -> tuple[float, int]:
    """Return how often just the prompt is credited, at the number of questions power asks for."""
    random = np.random.default_rng(200)
    draws = pairs(random, "ratio", 1, 100_000, EFFECT, 1)
    assumed = Assumptions(effect=float(draws.mean()), spread=float(draws.std()))
    n = power(questions=8, contrasts=12, metrics=3, assumed=assumed).questions_needed
    found = [credited(factorial(random, n, EFFECT)) == {"prompt"} for _ in range(studies)]
    return float(np.mean(found)), n


def graded(
    random: np.random.Generator, n: int, gap: float, easiness: float, runs: int = 6
) -> tuple[Measure, Floats]:
    """Draw a metric and grades of (runs, n) answers; both have effects of question and run.

    By `easiness` the metric scores easy questions higher, whatever the answer.
    """
    ease, quality = random.normal(0.9, 1.5, n), random.normal(0, 0.4, (runs, 1))
    right = (random.random((runs, n)) < logistic(ease + quality)).astype(float)
    level = easiness * ease + random.normal(0, 1.0, n) + random.normal(0, 0.3, (runs, 1))
    values = level + random.normal(0, 1.0, (runs, n)) + gap * right
    return Measure(METRICS[0], values, np.full((runs, n), np.nan), False), right


def trusted(studies: int, n: int, gap: float, easiness: float, seed: int) -> float:
    """Return how often a metric with this gap between right and wrong is called trusted."""
    random = np.random.default_rng(seed)
    verdicts = [
        trust_of(*graded(random, n, gap, easiness), "grade").verdict is Trust.TRUSTED
        for _ in range(studies)
    ]
    return float(np.mean(verdicts))


def trust(studies: int) -> dict[str, object]:
    """Return how often a useless and a good metric are called trusted, the worst of each.

    Among the useless ones is one that knows easy questions from hard ones, among the good ones
    one that scores hard questions higher.
    """
    needed = graded_questions(0.85, 0.65)
    # two normals whose distance is gap / sd: AUC 0.85 = Phi(gap / (sd * sqrt 2))
    gap = 1.0364 * np.sqrt(2 * (1.0 + 0.3**2 + 1.0))
    return {
        "trust_false": max(
            trusted(studies, n, 0.0, easiness, 300 + n)
            for n, easiness in product((8, 20, needed), (0.0, 2.0))
        ),
        "trust_true": min(trusted(studies, needed, float(gap), e, 400) for e in (0.0, -2.0)),
        "trust_questions": needed,
    }


def run(trials: Trials) -> dict[str, object]:
    """Run everything and return its numbers."""
    share, questions = attribution(max(100, trials.studies // 4))
    return {
        "cells": [asdict(cell) for cell in cells(trials.cells)],
        "family_wise": family_wise(trials.studies),
        "attribution": share,
        "attribution_questions": questions,
        **trust(trials.trust),
    }


LIMITS = {
    "coverage": (0.93, 0.99),
    "coverage_null": (0.93, 0.99),
    "false_positive": (0.0, 0.06),
    "family_wise": (0.0, 0.06),
    "attribution": (0.95, 1.0),
    "trust_false": (0.0, 0.06),
    "trust_true": (0.95, 1.0),
}
"""An honest interval of right/wrong covers nearly always where few pairs differ: no upper limit."""


def outside(found: Mapping[str, object]) -> list[str]:
    """Name every number outside its limits, in one cell or in all there is."""
    wrong = []
    for name, (low, high) in LIMITS.items():
        value = found.get(name)
        highest = 1.0 if found.get("kind") == "right_wrong" else high
        if isinstance(value, float) and not low <= value <= highest:
            wrong.append(
                f"{name}={value} of {dict(found)}" if "kind" in found else f"{name}={value}"
            )
    nested = found.get("cells", ())
    assert isinstance(nested, Sequence)
    return wrong + [one for cell in nested for one in outside(cell)]


def main() -> int:
    """Print the numbers, and what is outside its limits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer trials")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    found = run(QUICK if chosen.quick else LONG)
    wrong = outside(found)
    if chosen.json:
        print(json.dumps(found | {"outside": wrong}, indent=1))
    else:
        for cell in found.pop("cells"):  # type: ignore[attr-defined]
            print(" ".join(f"{key}={value}" for key, value in cell.items()))
        for name, value in found.items():
            print(f"{name}={value}")
        print("\n".join(["outside the limits:", *wrong] if wrong else ["all within the limits"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
