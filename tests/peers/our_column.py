"""What this project says of the studies of a world."""

import numpy as np

from harness.analysis import (
    MetricFacts,
    Options,
    Primary,
    RunFacts,
    StudyTable,
    study_table,
)
from harness.analysis.changes import Design
from harness.analysis.effects import compare
from harness.analysis.results import Conclusion
from harness.analysis.statistics.corrected import corrected_difference, corrected_mean
from harness.analysis.study_table import measures
from harness.analysis.trust import metric_trust
from harness.records import Floats, Layer, Question, Response, Score
from tests.peers.worlds import VARIANTS, World, pairs

FACTORS = ("prompt", "temperature")
METRIC = MetricFacts("score", Layer.GENERATION)
CLAIMS = {Conclusion.BETTER: 1, Conclusion.WORSE: -1}


def our_column(world: World) -> dict[str, Floats]:
    """Return `claimed` (-1, 0 or 1), `low` and `high` of each (study, pair), nan where unknown.

    What is claimed of a change is claimed of every pair of runs that makes it.
    """
    if world.kind == "grades":
        return corrections(world)
    scores = world.arrays["scores"]
    rows = [said(study(one, world.binary)) for one in scores]
    claimed, low, high = (np.array(part) for part in zip(*rows, strict=True))
    return {"claimed": claimed, "low": low, "high": high}


def study(scores: Floats, binary: bool) -> StudyTable:
    """Return the table of one study of (runs, questions, repeats): a prompt and a temperature."""
    runs, questions, repeats = scores.shape
    ids = [f"q{at}" for at in range(questions)]
    levels = VARIANTS if runs > 2 else ((0, 0), (1, 0))
    cells = [(at, repeat) for at in range(questions) for repeat in range(repeats)]
    rows = {
        f"v{run}": [
            Score(ids[at], repeat, METRIC.name, float(scores[run, at, repeat]), None, "ok", None)
            for at, repeat in cells
        ]
        for run in range(runs)
    }
    grades = {
        (f"v{run}", ids[at], repeat): int(scores[run, at, repeat])
        for run in range(runs)
        for at, repeat in cells
        if binary
    }
    return study_table(
        [
            RunFacts(f"v{run}", f"v{run}", leaves=dict(zip(FACTORS, level, strict=True)))
            for run, level in enumerate(levels)
        ],
        [Question(one, f"ask {one}", "reference", "text") for one in ids],
        () if binary else (METRIC,),
        {} if binary else rows,
        {
            f"v{run}": [
                Response(ids[at], repeat, "ask", "ref", "text", f"v{run} {at} {repeat}")
                for at, repeat in cells
            ]
            for run in range(runs)
        },
        grades,
    )


def options(table: StudyTable) -> Options:
    """Return the options of a study that declared its one metric."""
    metric = measures(table)[0].name
    return Options(primary=tuple(Primary(factor, metric) for factor in FACTORS))


def said(table: StudyTable) -> tuple[Floats, Floats, Floats]:
    """Return what the analysis claims of every pair, and its intervals.

    These are the effects and contrasts of `analyse`; the rest of a report takes ten times as long.
    """
    compared = measures(table)
    metric, trust = compared[0].name, metric_trust(table, compared, None)
    found = compare(table, Design(table.runs), compared, trust, options(table))
    order = pairs(len(table.runs))
    claimed, low, high = np.zeros(len(order)), *np.full((2, len(order)), np.nan)
    names = [run.name for run in table.runs]
    for effect in found.effects:
        row = effect.difference(metric)
        assert row is not None
        for left, right in effect.contrasts:
            i, j = names.index(left), names.index(right)
            at, towards = order.index((min(i, j), max(i, j))), 1 if i < j else -1
            claimed[at] = CLAIMS.get(row.verdict, 0) * towards
    for contrast in found.contrasts:
        row = contrast.difference(metric)
        assert row is not None
        if row.low is not None and row.high is not None:
            at = order.index((names.index(contrast.left), names.index(contrast.right)))
            low[at], high[at] = row.low, row.high
    return claimed, low, high


def corrections(world: World) -> dict[str, Floats]:
    """Return the corrected difference and the corrected mean of the right-hand run.

    The difference has as many grades, all of them of answers that changed.
    """
    arrays = world.arrays
    low, high = np.full((2, world.studies, 2), np.nan)
    grades = np.where(arrays["drawn"] > 0, arrays["right"][:, 1], np.nan)
    for at, (scores, own) in enumerate(zip(arrays["judged"][:, 1], grades, strict=True)):
        _, low[at, 1], high[at, 1] = corrected_mean(scores, own)
    claimed = np.full(low.shape, np.nan)
    for at in range(world.studies):
        order = arrays["order"][at].astype(int)
        changed = order[arrays["changed"][at][order] > 0]
        deltas, guesses = (np.diff(arrays[name][at], axis=0)[0] for name in ("right", "judged"))
        known = np.where(np.arange(changed.size) < world.n // 2, deltas[changed], np.nan)
        _, ends = corrected_difference(known, guesses[changed], None, deltas.size)
        low[at, 0], high[at, 0] = ends
        claimed[at, 0] = (ends[0] > 0) - (ends[1] < 0)
    return {"claimed": claimed, "low": low, "high": high}
