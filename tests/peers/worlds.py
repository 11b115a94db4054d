"""Simulated studies with known answers, the same for whoever analyses them."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from harness.records import Floats

SIZES = (13, 30, 100)
EFFECT = 0.8
"""Of the right-hand run on the logit scale: about +0.14 right, ratio or similarity."""
REPEATS = 3
UNTIED = 0.15
"""Share of questions that change where ties rule: all upwards, by 0.32 on average."""
VARIANTS = tuple(product(range(3), range(2)))
"""Six variants: three prompts times two temperatures. Only the prompts act, by one and two
effects."""
QUESTIONS, CHANGED = 100, 0.3
"""Of a study with grades: the answers of 30 % of the questions differ between the two runs."""
BUDGETS = (20, 40)
"""Answers that are graded; an answer that both runs gave is graded once."""


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Seeded studies of one kind."""

    kind: str
    """`right_wrong`, `ratio`, `continuous`, `ties`, `repeats`, `six_right_wrong`,
    `six_continuous`, `grades`."""
    n: int
    """Questions; of `grades`, graded answers."""
    effect: bool
    truth: Floats
    """(pairs,): the mean difference, right - left, over all questions there could be (of six
    variants, only its sign is meant); of `grades` also the mean of the right-hand run."""
    arrays: dict[str, Floats]
    """`scores` (studies, runs, questions, repeats). Of `grades` instead: `judged` and `right`
    (studies, 2, questions); `changed`, the `order` in which questions are drawn, and which are
    `drawn` among all for that many grades, (studies, questions)."""

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.kind}_{self.n}_{'effect' if self.effect else 'null'}"

    @property
    def binary(self) -> bool:
        """Whether each score is right or wrong."""
        return self.kind.endswith("right_wrong") or self.kind == "repeats"

    @property
    def studies(self) -> int:
        """Number of studies."""
        return len(next(iter(self.arrays.values())))


def pairs(runs: int) -> list[tuple[int, int]]:
    """List the pairs of runs, in the order of every result."""
    return list(combinations(range(runs), 2))


def logistic(x: Floats) -> Floats:
    """Return a probability for logits."""
    return np.asarray(1 / (1 + np.exp(-x)))


def draw(random: np.random.Generator, kind: str, ability: Floats, claims: Floats) -> Floats:
    """Return one score for each ability in logits."""
    if kind == "ratio":
        return np.asarray(random.binomial(claims.astype(int), logistic(ability)) / claims)
    if kind == "continuous":
        return logistic(ability + random.normal(0, 0.8, ability.shape))
    return np.asarray(random.random(ability.shape) < logistic(ability), float)


def mean_change(kind: str, shift: float) -> float:
    """Work out the mean difference over all questions there could be."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    ease = 0.4 + np.hypot(1.2, 0.8 if kind == "continuous" else 0.0) * nodes
    change = logistic(ease + shift) - logistic(ease)
    return float((weights * change).sum() / weights.sum())


def scored(kind: str, n: int, effect: bool, studies: int) -> World:
    """Draw studies of two runs, or of six."""
    random = np.random.default_rng(zlib.crc32(f"{kind} {n} {effect}".encode()))
    six, drawn = kind.startswith("six_"), kind.removeprefix("six_")
    shifts = [EFFECT * effect * prompt for prompt, _ in VARIANTS] if six else [0, EFFECT * effect]
    shape = (studies, n, REPEATS if kind == "repeats" else 1)
    ease = np.broadcast_to(random.normal(0.4, 1.2, (studies, n, 1)), shape)
    claims = np.broadcast_to(random.integers(2, 6, (studies, n, 1)).astype(float), shape)
    values = np.stack([draw(random, drawn, ease + shift, claims) for shift in shifts], axis=1)
    truth = [mean_change(drawn, shifts[j] - shifts[i]) for i, j in pairs(len(shifts))]
    return World(kind, n, effect, np.array(truth), {"scores": values})


def tied(n: int, effect: bool, studies: int) -> World:
    """Draw studies in which few questions change; without an effect, either way alike."""
    random = np.random.default_rng(zlib.crc32(f"ties {n} {effect}".encode()))
    shape = (studies, n)
    rise = random.beta(0.7, 1.5, shape) * (random.random(shape) < UNTIED)
    low = random.random(shape) * (1 - rise)
    values = np.stack([low, low + rise], axis=1)
    turned = (random.random(shape) < 0.5) & (not effect)
    values = np.where(turned[:, None], values[:, ::-1], values)
    truth = np.array([UNTIED * 0.7 / 2.2 * effect])
    return World("ties", n, effect, truth, {"scores": values[..., None]})


def graded(budget: int, effect: bool, studies: int) -> World:
    """Draw studies with a judge that is right of 85 % of the answers.

    Equal answers are judged alike. The truth is that of all questions, not of those of a study.
    """
    random = np.random.default_rng(zlib.crc32(f"grades {budget} {effect}".encode()))
    shape = (studies, QUESTIONS)
    chance = logistic(random.normal(0.4, 1.2, shape))
    left = random.random(shape) < chance
    better = random.random(shape) < chance + (1 - chance) * 0.6 * effect
    changed = random.random(shape) < CHANGED
    right = np.stack([left, np.where(changed, better, left)], axis=1)
    wrong = np.stack([random.random(shape) < 0.15, random.random(shape) < 0.15], axis=1)
    wrong[:, 1] = np.where(changed, wrong[:, 1], wrong[:, 0])
    order = random.random(shape).argsort(axis=1)
    costs = np.take_along_axis(1 + changed, order, axis=1).cumsum(axis=1)
    drawn = np.zeros(shape)
    np.put_along_axis(drawn, order, (costs <= budget).astype(float), axis=1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    mean_right = float((weights * logistic(0.4 + 1.2 * nodes)).sum() / weights.sum())
    gain = CHANGED * 0.6 * (1 - mean_right) * effect
    return World(
        "grades",
        budget,
        effect,
        np.array([gain, mean_right + gain]),
        {
            "judged": (right ^ wrong).astype(float),
            "right": right.astype(float),
            "changed": changed.astype(float),
            "order": order.astype(float),
            "drawn": drawn,
        },
    )


def worlds(studies: int) -> Iterator[World]:
    """Yield every world; those of six variants, which take longest, with a third of the studies."""
    for effect, n in product((False, True), SIZES):
        for kind in ("right_wrong", "ratio", "continuous", "repeats"):
            yield scored(kind, n, effect, studies)
        yield tied(n, effect, studies)
        for kind in ("six_right_wrong", "six_continuous"):
            yield scored(kind, n, effect, max(2, studies // 3))
    for effect, budget in product((False, True), BUDGETS):
        yield graded(budget, effect, studies)
