"""Simulated studies whose truth is known, each analysed as a whole report.

A world says how runs, questions, answers and scores come about. Its true differences are those of
a hundred thousand questions drawn in the same way.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np

from harness.analysis import (
    RIGHT,
    Analysis,
    MetricFacts,
    Options,
    Primary,
    RunFacts,
    StudyTable,
    analyse,
    study_table,
)
from harness.analysis.results import BEYOND_CHANCE, Difference, Effect, Trust
from harness.analysis.statistics.corrected import corrected_mean
from harness.records import EvidencePlace, Floats, Layer, Passage, Question, Response, Score
from harness.studies.loaded_study import clusters

FLIPS = 1_999
"""Random sign flips: any number keeps the level, and this one is quicker than a report's 9,999."""

POPULATION = 104_000
"""Questions from which the truth is worked out: a multiple of 13 and of documents' questions."""

SIGNIFICANT = 4.5
"""Standard errors of the population below which a true difference is 0."""

UNNAMED = 13
"""Every so many questions one has no named evidence, as in the demo."""

JUDGED = ("faithfulness", "answer_relevancy")
"""Metrics that may or may not know right answers from wrong ones, as the world has it."""

KINDS = {
    RIGHT: "right_wrong",
    "faithfulness": "ratio",
    "context_recall": "ratio",
    "answer_relevancy": "continuous",
    "context_precision": "continuous",
    "gold_recall": "gold",
    "gold_precision": "gold",
    "gold_mrr": "gold",
    "gold_ndcg": "gold",
}
"""Metric -> what its scores look like."""

METRICS = tuple(
    MetricFacts(name, Layer.GENERATION if name in JUDGED else Layer.RETRIEVAL)
    for name in KINDS
    if name != RIGHT
)


def logistic(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x))."""
    return np.asarray(1 / (1 + np.exp(-x)))


@dataclass(frozen=True)
class Variant:
    """One run: its three factors."""

    index: str
    top_k: int
    prompt: str = "default"

    @property
    def name(self) -> str:
        """Such as `ctx_k9_strict`."""
        return f"{self.index}_k{self.top_k}" + ("_strict" if self.prompt == "strict" else "")

    @property
    def retrieval(self) -> tuple[str, int]:
        """What decides the passages."""
        return self.index, self.top_k


DESIGNS = {
    "six": (
        Variant("text", 4),
        Variant("text", 9),
        Variant("caption", 4),
        Variant("ctx", 4),
        Variant("ctx", 9),
        Variant("ctx", 9, "strict"),
    ),
    # from text to captions everything changes at once
    "confounded": (
        Variant("text", 4),
        Variant("caption", 9),
        Variant("caption", 9, "strict"),
        Variant("ctx", 4, "strict"),
        Variant("ctx", 9),
        Variant("ctx", 9, "strict"),
    ),
    "2x2x2": tuple(
        Variant(*one) for one in product(("text", "caption"), (4, 9), ("default", "strict"))
    ),
    "2x2x3": tuple(
        Variant(*one) for one in product(("text", "caption"), (4, 6, 9), ("default", "strict"))
    ),
}


@dataclass(frozen=True)
class World:
    """How the studies of one kind come about."""

    name: str
    n: int
    """Questions."""
    design: str = "six"
    acts: bool = True
    """Captions bring evidence that text has not, and more passages bring more of it."""
    absent: float = 0.3
    """Share of questions whose evidence only captions hold."""
    moved: float = 0.1
    """Share of questions whose evidence has another rank in another index, for no reason."""
    flips: float = 0.1
    """Share of answers that come out the other way round, for no reason."""
    repeats: int = 1
    gap: float = 1.0
    """By how many logits the judged metrics score right answers above wrong ones."""
    easiness: float = 0.5
    """By how much they score easy questions higher, whatever the answer."""
    liking: float = 0.0
    """By how many logits they prefer the last run, for no reason."""
    per_document: int = 1
    """Questions in a document."""
    shared: float = 0.0
    """Standard deviation of what a run does to all questions of a document, in logits."""
    missing: float = 0.0
    """Share of the judged scores below one half that are missing, in runs of the index `ctx`."""
    primary: tuple[Primary, ...] = ()

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The runs."""
        return DESIGNS[self.design]

    @property
    def null(self) -> bool:
        """Whether nothing acts, and nothing else is wrong."""
        return not (self.acts or self.missing or self.documents) and self.gap > 0

    @property
    def documents(self) -> bool:
        """Whether questions come in documents."""
        return self.per_document > 1


NULL = World("null", 13, acts=False, flips=0.2, moved=0.2)
"""The runs' passages differ, and a fifth of the answers, and none of it is due to a factor."""

EASY = replace(NULL, name="easiness only", gap=0.0, easiness=2.0, liking=1.0)
MISSING = replace(
    NULL,
    name="missing",
    missing=0.4,
    gap=3.0,
    primary=tuple(Primary("index", metric) for metric in JUDGED),
)
CLUSTERS = replace(NULL, name="clusters", per_document=5, shared=1.0, gap=0.0, flips=0.1)
OFFSET = World("offset", 13, gap=3.0, easiness=-2.0)
WORLDS = (
    World("demo-like", 13, absent=0.75),
    World("weak", 30),
    NULL,
    replace(NULL, n=30),
    World("confounded", 30, "confounded"),
    replace(NULL, name="confounded null", design="confounded"),
    World("2x2x2", 30, "2x2x2"),
    replace(NULL, name="2x2x2 null", design="2x2x2"),
    World("2x2x3", 30, "2x2x3"),
    replace(NULL, name="2x2x3 null", n=30, design="2x2x3"),
    EASY,
    replace(EASY, n=30),
    OFFSET,
    replace(OFFSET, n=30),
    World("repeats 3", 13, repeats=3),
    World("repeats 3", 30, repeats=3),
    World("repeats 8", 13, repeats=8),
    World("repeats 8", 30, repeats=8),
    replace(CLUSTERS, n=40),
    replace(CLUSTERS, n=65),
    replace(MISSING, n=30),
    replace(MISSING, n=100),
)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Everything that a study will hold, before anything is missing."""

    found: Floats
    """(runs, questions): 1 where the evidence was retrieved."""
    right: Floats
    """(runs, questions, repeats)."""
    scores: dict[str, Floats]
    """Metric -> (runs, questions, repeats)."""

    def values(self, metric: str) -> Floats:
        """Return (runs, questions): the mean over repeats."""
        return np.asarray((self.right if metric == RIGHT else self.scores[metric]).mean(axis=2))


def draw(random: np.random.Generator, world: World, n: int, repeats: int) -> Drawn:
    """Draw a study of n questions."""
    variants, documents = world.variants, np.arange(n) // world.per_document
    shape = (len(variants), n, repeats)

    def by_document(*runs: int) -> Floats:
        own = random.normal(0, world.shared, (*runs, int(documents[-1]) + 1))
        return np.asarray(own[..., documents])

    ease, claims = random.normal(0, 1.2, n) + by_document(), random.integers(2, 6, n)
    ranks = evidence_ranks(random, world, n)
    found = np.isfinite(ranks).astype(float)
    ability = ease + 3 * found - 1.5 + by_document(len(variants))
    answered = random.random(n) < logistic(ability)
    right = (answered[..., None] != (random.random(shape) < world.flips)).astype(float)
    seen = world.easiness * ease[:, None] + world.gap * (right - 0.5)
    seen += by_document(len(variants))[..., None]
    seen[-1] += world.liking
    scores = {
        "faithfulness": random.binomial(claims[:, None], logistic(seen + 0.5)) / claims[:, None],
        "answer_relevancy": logistic(seen + random.normal(0, 0.8, shape)),
    }
    recall = random.binomial(claims, 0.3 + 0.5 * found) / claims
    precision = logistic(2 * found - 1 + random.normal(0, 0.8, found.shape))
    same = [[one.retrieval for one in variants].index(one.retrieval) for one in variants]
    cut = np.array([one.top_k if world.acts else 9 for one in variants])[:, None]
    retrieval = {
        "context_recall": recall[same],
        "context_precision": precision[same],
        "gold_recall": found,
        "gold_precision": found / cut,
        "gold_mrr": 1 / ranks,
        "gold_ndcg": 1 / np.log2(ranks + 1),
    }
    for name, values in retrieval.items():
        known = np.where(unnamed(world, n), np.nan, values) if name.startswith("gold") else values
        scores[name] = np.broadcast_to(known[..., None], shape)
    return Drawn(found, right, scores)


def unnamed(world: World, n: int) -> np.ndarray:
    """Return (n,): whether a question names no evidence."""
    return (np.arange(n) % UNNAMED == UNNAMED - 1) & (not world.documents)


def evidence_ranks(random: np.random.Generator, world: World, n: int) -> Floats:
    """Draw (runs, n) ranks of the evidence, infinite where it was not retrieved."""
    first, absent = random.geometric(0.4, n).astype(float), random.random(n) < world.absent
    settings: dict[object, Floats] = {}
    rows = []
    for one in world.variants:
        key = one.index if world.acts else one.retrieval
        if key not in settings:
            moved = random.random(n) < world.moved
            settings[key] = np.where(moved, random.geometric(0.4, n), first)
        hidden = absent & (one.index == "text" or not world.acts)
        lost = hidden | (settings[key] > (one.top_k if world.acts else 9))
        rows.append(np.where(lost, np.inf, settings[key]))
    return np.array(rows)


def simulated(random: np.random.Generator, world: World) -> StudyTable:
    """Draw a study, as `study_table` joins it from run folders."""
    drawn = draw(random, world, world.n, world.repeats)
    ids, names = [f"q{at}" for at in range(world.n)], [one.name for one in world.variants]
    without = unnamed(world, world.n)
    documents = [f"d{at // world.per_document}" for at in range(world.n)]
    questions = [
        Question(q, q, "", "text", evidence=() if bare else (EvidencePlace(document, 1),))
        for q, document, bare in zip(ids, documents, without, strict=True)
    ]
    rows: dict[str, list[Score]] = {name: [] for name in names}
    for metric, values in drawn.scores.items():
        kept = values
        if world.missing and metric in JUDGED:
            lost = (values < 0.5) & (random.random(values.shape) < world.missing)
            lost &= np.array([one.index == "ctx" for one in world.variants])[:, None, None]
            kept = np.where(lost, np.nan, values)
        for at, name in enumerate(names):
            rows[name] += [
                Score(q, k, metric, None if math.isnan(value) else value, None, "ok", None)
                for q, cells in zip(ids, kept[at].tolist(), strict=True)
                for k, value in enumerate(cells)
            ]
    responses = {
        one.name: [
            Response(q, k, q, "", "text", f"{one.name} {k}", (passage(one, document, found),))
            for q, document, found in zip(ids, documents, drawn.found[at], strict=True)
            for k in range(world.repeats)
        ]
        for at, one in enumerate(world.variants)
    }
    grades = {
        (name, q, k): int(value)
        for at, name in enumerate(names)
        for q, cells in zip(ids, drawn.right[at], strict=True)
        for k, value in enumerate(cells)
    }
    runs = [
        RunFacts(
            one.name, one.name, {"index": one.index, "prompt": one.prompt}, {"top_k": one.top_k}
        )
        for one in world.variants
    ]
    return study_table(runs, questions, METRICS, rows, responses, grades)


def passage(variant: Variant, document: str, found: float) -> Passage:
    """Return what a run retrieved: it differs wherever index or top_k differs."""
    return Passage("p", document, 1 if found else 2, "text", f"{variant.retrieval}")


@lru_cache(maxsize=1)
def population(world: World) -> Drawn:
    """Draw so many questions that their means are the truth."""
    return draw(np.random.default_rng(1), world, POPULATION, 1)


@lru_cache(maxsize=4096)
def truth(world: World, pairs: tuple[tuple[str, str], ...], metric: str) -> float:
    """Return the true difference of a metric, the mean over pairs of runs; 0 where chance."""
    names = [one.name for one in world.variants]
    values = population(world).values(metric)
    deltas = np.mean([values[names.index(b)] - values[names.index(a)] for a, b in pairs], axis=0)
    units = np.nanmean(deltas.reshape(-1, 5), axis=1)
    mean, error = float(units.mean()), float(units.std() / math.sqrt(units.size))
    return mean if abs(mean) > SIGNIFICANT * error else 0.0


@lru_cache(maxsize=4096)
def true_mean(world: World, run: str, metric: str) -> float:
    """Return the true mean of a metric in a run."""
    names = [one.name for one in world.variants]
    return float(np.nanmean(population(world).values(metric)[names.index(run)]))


@dataclass(frozen=True)
class Told:
    """What one report says, beside the truth."""

    covered: Mapping[tuple[str, str, str], bool]
    """(effect, pair or mean; which; metric) -> whether its interval holds the truth."""
    false_claims: int
    true_claims: tuple[tuple[str, str], ...]
    """Factor and metric of each."""
    undecided: int
    """Claims withheld because scores are missing on one side."""
    credits: int
    trusted: float
    """Share of the judged metrics that are trusted."""


def report(world: World, seed: Sequence[int]) -> Told:
    """Analyse one study of a world and hold what the report says against the truth."""
    study = simulated(np.random.default_rng(seed), world)
    options = Options(primary=world.primary, clusters=clusters(None, study), flips=FLIPS)
    found = analyse(study, options)
    claims = [
        (effect, row, deserved(world, effect, row))
        for effect in found.effects
        for row in effect.differences
        if row.verdict in BEYOND_CHANCE
    ]
    trust = [row.verdict is Trust.TRUSTED for row in found.trust if row.metric in JUDGED]
    return Told(
        dict(coverage(world, found)),
        sum(not true for *_, true in claims),
        tuple((effect.factor, row.metric) for effect, row, true in claims if true),
        sum(row.verdict == "cannot_tell" for e in found.effects for row in e.differences),
        sum(finding.kind == "credit" for finding in found.findings),
        float(np.mean(trust)),
    )


def deserved(world: World, effect: Effect, row: Difference) -> bool:
    """Return whether a claim is true: in that direction, and in a metric that knows right."""
    if row.metric in JUDGED and not world.gap:
        return False
    return truth(world, effect.contrasts, row.metric) * (row.mean or 0.0) > 0


def coverage(world: World, found: Analysis) -> Iterator[tuple[tuple[str, str, str], bool]]:
    """Yield whether each interval of a report holds the truth."""
    compared = [("effect", one.contrasts, one.differences) for one in found.effects]
    compared += [("pair", ((one.left, one.right),), one.differences) for one in found.contrasts]
    for of, pairs, rows in compared:
        which = " ".join(f"{left}>{right}" for left, right in pairs)
        for row in rows:
            if row.interval != "construction" and row.metric in KINDS and row.questions:
                true = truth(world, pairs, row.metric)
                held = row.low is not None and row.high is not None and row.low <= true <= row.high
                yield (of, which, row.metric), held
    for metric in found.means:
        if world.missing and metric.metric in JUDGED:
            continue  # the mean of what was scored, printed with the bounds of what was not
        for cell in metric.cells:
            if cell.low is not None and cell.high is not None and metric.metric in KINDS:
                true = true_mean(world, cell.run, metric.metric)
                yield ("mean", cell.run, metric.metric), cell.low <= true <= cell.high


@dataclass(frozen=True)
class Correction:
    """One setting of a mean that is corrected by people's grades."""

    graded: int
    n: int
    share: float
    """Of right answers."""
    kind: str
    """Intervals of shares right have no upper limit of coverage."""
    coverage: float
    coverage_error: float
    width: float


def corrections(trials: int) -> Iterator[Correction]:
    """Yield the coverage of corrected means, at 5 to 80 grades.

    Corrected differences get their own loop here once a report has them.
    """
    sizes = ((5, 13), (8, 13), (12, 13), (10, 30), (20, 100), (40, 100), (80, 100), (80, 400))
    for seed, ((graded, n), share) in enumerate(product(sizes, (0.3, 0.6, 0.9))):
        random = np.random.default_rng([9, seed])
        spans = []
        for _ in range(trials):
            right = (random.random(n) < share).astype(float)
            scores = logistic(1.5 * right + random.normal(0, 1.0, n))
            spans.append(corrected_mean(scores, np.where(np.arange(n) < graded, right, np.nan)))
        low, high = np.array([span[1:] for span in spans], float).T
        held = float(np.mean((low <= share) & (share <= high)))
        error = math.sqrt(max(held * (1 - held), 1 / trials) / trials)
        yield Correction(graded, n, share, "right_wrong", held, error, float(np.mean(high - low)))
