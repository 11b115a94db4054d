"""The whole analysis, in the order in which it is read."""

from dataclasses import replace
from itertools import combinations

from harness.analysis.cautions import cautions
from harness.analysis.contrasts import cluster_numbers, contrasts
from harness.analysis.counterfactuals import counterfactuals
from harness.analysis.curves import curves
from harness.analysis.designs import designs
from harness.analysis.doubts import doubts
from harness.analysis.factors import Design, incomparable
from harness.analysis.findings import said_once, strongest_first
from harness.analysis.interactions import interactions
from harness.analysis.means import means
from harness.analysis.measures import measures
from harness.analysis.options import Options
from harness.analysis.outcomes import outcomes
from harness.analysis.ranks import deeper_ranks, retrieval_facts
from harness.analysis.results import Analysis
from harness.analysis.runs import summaries
from harness.analysis.separate import confounded
from harness.analysis.statements import statements
from harness.analysis.suspects import suspects
from harness.analysis.tables import StudyTable
from harness.analysis.trust import metric_trust
from harness.analysis.view import narrowed


def analyse(study: StudyTable, options: Options = Options()) -> Analysis:  # noqa: B008
    """Return everything a report says about a study.

    A baseline or a factor narrows what is shown; the family of tests, and so every adjusted p,
    is that of the whole study.

    Raises:
        ValueError: The baseline is no run, or the factor is none that any two runs differ in.
    """
    design = Design(study.runs)
    check(design, options)
    options = replace(options, baseline=design.stand_in(options.baseline))
    tested = measures(study)
    trust = metric_trust(study, tested)
    believed = {one.metric: one.verdict for one in trust}
    compared, family = contrasts(study, design, tested, believed, options)
    clusters = cluster_numbers(study, options)
    ranks = retrieval_facts(study)
    names = [run.name for run in study.runs]
    whole = Analysis(
        runs=summaries(study),
        questions=tuple(question.id for question in study.questions),
        outcomes=outcomes(study),
        means=means(study),
        contrasts=compared,
        confounded=confounded(design),
        repeats=tuple((names[i], names[j]) for i, j in design.repeats),
        incomparable=apart(study),
        curves=curves(design, tested),
        interactions=interactions(study, design, tested, options),
        counterfactuals=counterfactuals(design, tested),
        trust=trust,
        retrieval=ranks,
        suspects=suspects(study),
        family=family,
        findings=(),
        clusters=None if clusters is None else int(clusters.max()) + 1,
    )
    findings = strongest_first(
        [
            *statements(whole),
            *designs(whole, options),
            *cautions(study, whole),
            *doubts(study, whole),
            *deeper_ranks(study, ranks),
        ]
    )
    view = narrowed(replace(whole, findings=findings), options)
    return replace(view, findings=said_once(view.findings))


def check(design: Design, options: Options) -> None:
    """Refuse a baseline or factor that is not there, naming those that are."""
    runs = [run.name for run in design.runs]
    if options.baseline is not None and options.baseline not in runs:
        raise ValueError(f"no run {options.baseline!r} to compare with; there are {runs}")
    factors = sorted({change.factor for found in design.changes.values() for change in found})
    if options.factor is not None and options.factor not in factors:
        raise ValueError(f"no two runs differ in {options.factor!r}; they differ in {factors}")


def apart(study: StudyTable) -> tuple[tuple[str, str, str], ...]:
    """List the pairs of runs that may not be compared, and why."""
    return tuple(
        (left.name, right.name, reason)
        for left, right in combinations(study.runs, 2)
        if (reason := incomparable(left, right)) is not None
    )
