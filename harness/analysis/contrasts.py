"""All fair contrasts of a study, tested as one family."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.analysis.differences import (
    Clusters,
    Pairing,
    Standing,
    difference,
    tested,
)
from harness.analysis.factors import Design, Pair, reverse
from harness.analysis.measures import Measure, asked
from harness.analysis.options import Options, Primary
from harness.analysis.passages import (
    attribute,
    compare_passages,
    fingerprints,
)
from harness.analysis.permutation import SignFlip, holm
from harness.analysis.results import (
    Attribution,
    Change,
    Contrast,
    Difference,
    Family,
    PassageChange,
    Trust,
    Verdict,
)
from harness.analysis.tables import StudyTable
from harness.analysis.transitions import evidence_retrieved, transitions
from harness.records import Layer


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """One fair contrast before it is tested."""

    pair: Pair
    change: Change
    asked: NDArray[np.bool_]
    """(questions,): asked on both sides."""
    passages: PassageChange
    attribution: Attribution


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One metric of one contrast before it is tested."""

    drawn: int
    pair: Pairing
    comparable: bool
    """The same judge and prompts scored both sides."""
    primary: bool


def contrasts(
    study: StudyTable,
    design: Design,
    measures: Sequence[Measure],
    trust: Mapping[str, Trust],
    options: Options,
) -> tuple[tuple[Contrast, ...], Family]:
    """Compare every pair of runs that isolates one factor, in every metric.

    Each test is one of a family, the declared ones or all others; `UNTESTED` metrics have their
    difference and no test.
    """
    drawn = draw(study, design, options)
    cells = [
        Cell(
            at,
            Pairing(measure, one.pair, one.asked),
            judged_alike(study, one.pair, measure.name),
            measure.tested and Primary(one.change.factor, measure.name) in options.primary,
        )
        for at, one in enumerate(drawn)
        for measure in measures
    ]
    clusters = cluster_numbers(study, options)
    standings, family = judge_family(cells, drawn, clusters, trust, options)
    names = [question.id for question in study.questions]
    rows: list[list[Difference]] = [[] for _ in drawn]
    for cell, standing in zip(cells, standings, strict=True):
        rows[cell.drawn].append(difference(cell.pair, names, clusters, standing, options))
    runs, evidence = [run.name for run in study.runs], evidence_retrieved(study)
    built = tuple(
        Contrast(
            left=runs[one.pair[0]],
            right=runs[one.pair[1]],
            change=one.change,
            differences=tuple(differences),
            passages=one.passages,
            attribution=one.attribution,
            transitions=transitions(study, evidence, *one.pair),
        )
        for one, differences in zip(drawn, rows, strict=True)
    )
    return built, family


def draw(study: StudyTable, design: Design, options: Options) -> list[Drawn]:
    """List the fair pairs with what became of their passages; the baseline stands on the left."""
    names = [run.name for run in study.runs]
    prints, were_asked = fingerprints(study), asked(study)
    questions = [question.id for question in study.questions]
    found = []
    for (left, right), change in design.contrasts:
        if names[right] == options.baseline:
            left, right, change = right, left, reverse(change)  # noqa: PLW2901
        both = were_asked[left] & were_asked[right]
        passages = compare_passages(prints, left, right, questions, both)
        found.append(Drawn((left, right), change, both, passages, attribute(passages)))
    return found


def judge_family(
    cells: Sequence[Cell],
    drawn: Sequence[Drawn],
    clusters: Clusters | None,
    trust: Mapping[str, Trust],
    options: Options,
) -> tuple[list[Standing], Family]:
    """Test all cells but `UNTESTED` ones; Holm over the declared ones and over all others apart.

    What is not tested is in neither family.
    """
    none = SignFlip(None, None, "none")
    flips = [
        flip if cell.comparable and cell.pair.measure.tested else none
        for cell, flip in zip(
            cells, tested([c.pair for c in cells], clusters, options), strict=True
        )
    ]
    adjusted: dict[int, float] = {}
    sizes = {}
    for primary in (True, False):
        p_values = {
            at: flip.p
            for at, (cell, flip) in enumerate(zip(cells, flips, strict=True))
            if flip.p is not None and cell.primary is primary
        }
        adjusted |= zip(p_values, holm(list(p_values.values())), strict=True)
        sizes[primary] = len(p_values)
    standings = [
        Standing(
            flip,
            adjusted.get(at),
            sizes[cell.primary],
            cell.primary,
            fixed_verdict(drawn[cell.drawn], cell, trust),
        )
        for at, (cell, flip) in enumerate(zip(cells, flips, strict=True))
    ]
    floors = [flip.floor for flip in flips if flip.floor is not None]
    family = Family(sum(sizes.values()), sizes[True], options.alpha, min(floors, default=None))
    return standings, family


def judged_alike(study: StudyTable, pair: Pair, metric: str) -> bool:
    """Say whether the same judge and prompts scored both sides in this metric."""
    left, right = (study.runs[at].scored_by.get(metric) for at in pair)
    return left == right


def fixed_verdict(one: Drawn, cell: Cell, trust: Mapping[str, Trust]) -> Verdict | None:
    """Return the verdict where the design decides it and no test may."""
    facts = cell.pair.measure.facts
    layer = facts.layer
    if not cell.comparable or not cell.pair.scored.any():
        return Verdict.NOT_COMPARED
    if not cell.pair.measure.tested:
        return Verdict.NOT_TESTED
    if layer is Layer.COST:
        return None
    fixed = None
    if one.attribution is Attribution.NO_EFFECT_POSSIBLE:
        fixed = Verdict.NO_EFFECT_POSSIBLE
    elif layer is Layer.RETRIEVAL and one.attribution is Attribution.GENERATION:
        fixed = Verdict.IDENTICAL_BY_CONSTRUCTION
    if fixed is not None:
        # where it differs all the same the data contradict themselves, and prove nothing
        return Verdict.NO_EVIDENCE if np.nan_to_num(cell.pair.deltas).any() else fixed
    if trust.get(facts.name) in (Trust.NO_EVIDENCE, Trust.INVERTED):
        return Verdict.NOT_TRUSTED
    return None


def cluster_numbers(study: StudyTable, options: Options) -> Clusters | None:
    """Number the clusters that questions are drawn in; None where each is its own."""
    if not options.clusters:
        return None
    names = [options.clusters.get(q.id, f"question {q.id}") for q in study.questions]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)
