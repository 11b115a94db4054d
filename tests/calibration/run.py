"""Is what the analysis claims true as often as it says? Simulated studies with known answers.

    python tests/calibration/run.py            the long run: 10,000 trials a cell, 1,000 a world
    python tests/calibration/run.py --quick    two minutes on two cores
    python tests/calibration/run.py --json     every number as JSON
    python tests/calibration/run.py --worlds demo-like weak    only these, nothing else

Each number is the share of simulated studies in which something happened, with its Monte-Carlo
error. Cells are single differences; worlds (`worlds.py`) are studies, each a whole report that
`analyse` makes in memory. Exit code 1 where a number is outside its limits. Seeds are fixed, so a
run repeats to the digit.
"""

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


from harness.analysis import (
    Assumptions,
    MetricFacts,
    RunFacts,
    StudyTable,
    analyse,
    power,
    study_table,
)
from harness.analysis.results import BEYOND_CHANCE, Trust
from harness.analysis.statistics.intervals import interval
from harness.analysis.statistics.sample_size import graded_questions
from harness.analysis.statistics.sign_flip import sign_flip
from harness.analysis.study_table import Measure
from harness.analysis.trust import trust_of
from harness.records import Floats, Layer, Question, Response, Score
from tests.calibration.worlds import (
    KINDS,
    WORLDS,
    Told,
    World,
    corrections,
    logistic,
    report,
)

SIZES = (8, 20, 50, 200)
SHAPES = ("right_wrong", "ratio", "continuous")
EFFECT = 0.8
"""Of the right-hand run on the logit scale: about +0.14 right, ratio or similarity."""
REPEATS = 3
MISSING = 0.15


@dataclass(frozen=True)
class Trials:
    """How many studies are simulated."""

    cells: int
    attribution: int
    trust: int
    studies: int
    """Of each world."""
    corrections: int


QUICK, LONG = Trials(2_000, 100, 400, 40, 400), Trials(10_000, 250, 4_000, 1_000, 4_000)


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


def cells(trials: int, kinds: Sequence[str] = SHAPES) -> Iterator[Cell]:
    """Yield coverage and false positives of every setting."""
    settings = enumerate(product(SHAPES, SIZES, (False, True), (False, True)))
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
    """Return the factors that the report calls better or worse in some metric."""
    return {
        contrast.factor
        for contrast in analyse(study).contrasts
        for row in contrast.differences
        if row.verdict in BEYOND_CHANCE
    }


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


LEAST, MOST = 0.93, 0.99
"""Coverage of a 95 % interval."""

CHUNK = 250
"""Studies of a world that one process analyses."""


def share(values: Iterable[float]) -> tuple[float, float]:
    """Return a mean over studies and its Monte-Carlo error, which is never 0.

    >>> share([True] * 98)
    (1.0, 0.01...)
    """
    found = np.array(list(values), float)
    n = found.size
    # where all studies agree, as if one of two more did not
    spread = float(found.std(ddof=1)) if np.ptp(found) else math.sqrt(n + 1) / (n + 2)
    return float(found.mean()), spread / math.sqrt(n)


def studies_of(part: tuple[World, int, int]) -> list[Told]:
    """Return what the reports of some studies of a world say."""
    world, start, stop = part
    return [report(world, [WORLDS.index(world), at]) for at in range(start, stop)]


def worlds(studies: int, chosen: Sequence[World] = WORLDS) -> Iterator[dict[str, object]]:
    """Yield the numbers of each world, whose studies are analysed in as many processes as cores."""
    parts = [
        (world, start, min(start + CHUNK, studies))
        for world in chosen
        for start in range(0, studies, CHUNK)
    ]
    told: dict[World, list[Told]] = defaultdict(list)
    with ProcessPoolExecutor() as pool:
        for (world, _, stop), found in zip(parts, pool.map(studies_of, parts), strict=True):
            told[world] += found
            if stop == studies:
                yield numbers(world, told[world])


def numbers(world: World, told: Sequence[Told]) -> dict[str, object]:
    """Sum up the reports of a world."""
    found: dict[str, object] = {"world": world.name, "n": world.n, "studies": len(told)}

    def add(name: str, values: Iterable[float]) -> None:
        found[name], found[f"{name}_error"] = share(values)

    add("family_wise", (one.false_claims > 0 for one in told))
    if world.acts:
        on_index = [
            [metric for factor, metric in one.true_claims if factor == "index"] for one in told
        ]
        add("power", (bool(metrics) for metrics in on_index))
        add("power_right", ("right" in metrics for metrics in on_index))
    else:
        add("credits", (one.credits for one in told))
    add("trusted" if world.gap else "false_trust", (one.trusted for one in told))
    if world.missing:
        add("cannot_tell", (one.undecided > 0 for one in told))
    return found | {"coverage": list(coverages(world, told))}


def coverages(world: World, told: Sequence[Told]) -> Iterator[dict[str, object]]:
    """Yield the coverage of the intervals of effects, of pairs of runs and of means, by kind."""
    groups: dict[tuple[str, str], set[tuple[str, str, str]]] = defaultdict(set)
    for one in told:
        for key in one.covered:
            groups[key[0], KINDS[key[2]]].add(key)
    for (of, kind), keys in groups.items():
        by_study = [
            np.mean([one.covered[key] for key in keys if key in one.covered]) for one in told
        ]
        single = {
            key: share(one.covered[key] for one in told if key in one.covered)
            for key in sorted(keys)
        }
        worst = min(single, key=lambda key: single[key][0])
        mean, error = share(by_study)
        yield {
            "of": of,
            "kind": kind,
            "n": world.n,
            "too_wide_counts": kind in SHAPES[1:] and world.n >= 30 and not world.missing,
            "coverage": mean,
            "coverage_error": error,
            "lowest": single[worst][0],
            "lowest_error": single[worst][1],
            "lowest_of": " ".join(worst[1:]),
        }


def run(trials: Trials) -> dict[str, object]:
    """Run everything and return its numbers."""
    found = list(worlds(trials.studies))
    share_credited, questions = attribution(trials.attribution)
    null = {f"{one.name} {one.n}" for one in WORLDS if one.null}
    wise, error = pooled([one for one in found if f"{one['world']} {one['n']}" in null])
    return {
        "cells": [asdict(cell) for cell in cells(trials.cells)],
        "family_wise": wise,
        "family_wise_error": error,
        "attribution": share_credited,
        "attribution_questions": questions,
        **trust(trials.trust),
        "worlds": found,
        "corrections": [asdict(one) for one in corrections(trials.corrections)],
    }


def pooled(found: Sequence[Mapping[str, object]]) -> tuple[float, float]:
    """Return the family-wise error over the studies of several worlds."""
    studies = sum(int(str(one["studies"])) for one in found)
    false = sum(round(float(str(one["family_wise"])) * int(str(one["studies"]))) for one in found)
    return share([1.0] * false + [0.0] * (studies - false))


LIMITS = {
    "coverage": (LEAST, MOST),
    "coverage_null": (LEAST, MOST),
    "lowest": (LEAST, 1.0),
    "false_positive": (0.0, 0.06),
    "family_wise": (0.0, 0.05),
    "attribution": (0.95, 1.0),
    "trust_false": (0.0, 0.06),
    "trust_true": (0.95, 1.0),
    "false_trust": (0.0, 0.06),
    "credits": (0.0, 0.1),
}
"""An honest interval of right/wrong covers nearly always where few pairs differ: no upper limit.
Nor has an interval that reaches for scores that are missing."""

ALLOWED = {"lowest": 3.0}
"""Monte-Carlo errors by which a number may be beyond its limit: 2, and 3 for the lowest of many."""

TARGETS = {("demo-like", 13): 0.92, ("weak", 30): 0.77}
"""Power that was reached when such rules were compared, any true claim about the index."""


def outside(found: Mapping[str, object], where: str = "") -> list[str]:
    """Name every number outside its limits, in one cell or in all there is."""
    where = f"{found['world']} n={found['n']} " if "world" in found else where
    wrong = []
    for name, (low, high) in LIMITS.items():
        value, error = found.get(name), found.get(f"{name}_error", 0.0)
        if not isinstance(value, float):
            continue
        assert isinstance(error, float)
        slack = ALLOWED.get(name, 2.0) * error
        free = found.get("kind") == "right_wrong" or found.get("too_wide_counts") is False
        if not low - slack <= value <= (1.0 if free else high) + slack:
            about = dict(found) if "kind" in found else ""
            wrong.append(f"{where}{name}={value:.4g} {about}".strip())
    for name in ("cells", "worlds", "coverage", "corrections"):
        nested = found.get(name, ())
        if isinstance(nested, Sequence):
            wrong += [one for each in nested for one in outside(each, where)]
    return wrong


def lines(found: Mapping[str, object]) -> Iterator[str]:
    """Yield the numbers as text."""
    for name in ("cells", "corrections"):
        rows = found.get(name, ())
        assert isinstance(rows, Sequence)
        for row in rows:
            yield " ".join(
                f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
                for key, value in row.items()
            )
    worlds = found.get("worlds", ())
    assert isinstance(worlds, Sequence)
    columns = ("family_wise", "power", "power_right", "trusted", "false_trust", "credits")
    if worlds:
        yield f"{'world':<20}{'n':>4}" + "".join(f"{name:>15}" for name in columns)
    for row in worlds:
        cells = [
            f"{row[name]:.3f} ± {row[name + '_error']:.3f}" if name in row else ""
            for name in columns
        ]
        yield f"{row['world']:<20}{row['n']:>4}" + "".join(f"{cell:>15}" for cell in cells)
    if worlds:
        yield f"{'coverage':<20}{'n':>4}{'of':>8}{'kind':>12}{'mean':>15}{'lowest':>15}  of"
    for row in worlds:
        for one in row["coverage"]:
            mean, lowest = (
                f"{one[name]:.3f} ± {one[name + '_error']:.3f}" for name in ("coverage", "lowest")
            )
            yield (
                f"{row['world']:<20}{row['n']:>4}{one['of']:>8}{one['kind']:>12}"
                f"{mean:>15}{lowest:>15}  {one['lowest_of']}"
            )
    for name, value in found.items():
        if not isinstance(value, list):
            yield f"{name}={value}"
    for row in worlds:
        if (row["world"], row["n"]) in TARGETS:
            target = TARGETS[row["world"], row["n"]]
            yield f"power of {row['world']} n={row['n']}: {row['power']:.3f}, {target} expected"


def main() -> int:
    """Print the numbers, and what is outside its limits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer trials")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--worlds", nargs="+", help="only these worlds", metavar="NAME")
    parser.add_argument("--studies", type=int, help="studies of each world")
    chosen = parser.parse_args()
    trials = QUICK if chosen.quick else LONG
    if chosen.studies:
        trials = replace(trials, studies=chosen.studies)
    if chosen.worlds:
        picked = [world for world in WORLDS if world.name in chosen.worlds]
        found: dict[str, object] = {"worlds": list(worlds(trials.studies, picked))}
    else:
        found = run(trials)
    wrong = outside(found)
    if chosen.json:
        print(json.dumps(found | {"outside": wrong}, indent=1))
    else:
        print("\n".join(lines(found)))
        print("\n".join(["outside the limits:", *wrong] if wrong else ["all within the limits"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
