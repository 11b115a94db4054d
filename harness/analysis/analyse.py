"""The whole analysis, in the order in which it is read, and what a reader may ask of it."""

from dataclasses import replace
from itertools import combinations

from harness.analysis.changes import Design, incomparable
from harness.analysis.confounded import confounded
from harness.analysis.contrasts import cluster_numbers, contrasts
from harness.analysis.counterfactuals import counterfactuals
from harness.analysis.curves import curves
from harness.analysis.findings.cautions import cautions, doubts
from harness.analysis.findings.credits import designs
from harness.analysis.findings.listing import said_once, strongest_first
from harness.analysis.findings.statements import statements
from harness.analysis.interactions import interactions
from harness.analysis.means import means, outcomes, summaries
from harness.analysis.measures import measures
from harness.analysis.rankings import deeper_ranks, retrieval_facts
from harness.analysis.results import Analysis, Finding
from harness.analysis.study_table import Options, StudyTable
from harness.analysis.suspects import suspects
from harness.analysis.trust import metric_trust

WHOLE_REPORT = Options()
"""Nothing narrowed, no test declared, questions independent."""


def shown_by(finding: Finding, options: Options) -> bool:
    """Say whether a baseline and a factor leave a finding in view."""
    baseline, factor = options.baseline, options.factor
    return (
        baseline is None or finding.left is None or baseline in (finding.left, finding.right)
    ) and (factor is None or finding.factor in (None, factor))


def narrowed(analysis: Analysis, options: Options) -> Analysis:
    """Return the part of an analysis that a baseline and a factor leave in view."""
    baseline, factor = options.baseline, options.factor
    confounded = tuple(
        pair
        for pair in analysis.confounded
        if baseline in (None, pair.left, pair.right)
        and (factor is None or factor in [change.factor for change in pair.changes])
    )
    in_view = {(pair.left, pair.right) for pair in confounded}
    return replace(
        analysis,
        contrasts=tuple(
            contrast
            for contrast in analysis.contrasts
            if baseline in (None, contrast.left, contrast.right)
            and factor in (None, contrast.factor)
        ),
        confounded=confounded,
        # each of them is a confounded pair
        counterfactuals=tuple(
            pair for pair in analysis.counterfactuals if (pair.left, pair.right) in in_view
        ),
        curves=tuple(curve for curve in analysis.curves if factor in (None, curve.factor)),
        interactions=tuple(
            one
            for one in analysis.interactions
            if factor in (None, one.first.factor, one.second.factor)
        ),
        findings=tuple(one for one in analysis.findings if shown_by(one, options)),
        baseline=baseline,
        factor=factor,
    )


def analyse(study: StudyTable, options: Options = WHOLE_REPORT) -> Analysis:
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
