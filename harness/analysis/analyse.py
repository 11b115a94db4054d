"""The whole analysis of a study, and the part of it that a reader asked for."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from harness.analysis.changes import Design, incomparable_groups
from harness.analysis.contrasts import cluster_numbers
from harness.analysis.corrections import corrected_differences
from harness.analysis.credits import credits
from harness.analysis.effects import compare, outlooks
from harness.analysis.findings import Finding, merge_alike, strongest_first
from harness.analysis.findings.contrast_findings import contrast_findings, effect_findings
from harness.analysis.findings.run_findings import run_findings
from harness.analysis.findings.study_findings import metric_findings, study_findings
from harness.analysis.means import curves, leader, means, outcomes, summaries
from harness.analysis.next_runs import next_steps
from harness.analysis.rankings import retrieval_facts
from harness.analysis.results import Analysis, Contrast, Effect
from harness.analysis.several_factors import confounded, counterfactuals, interactions
from harness.analysis.study_table import Options, StudyTable, measures
from harness.analysis.suspects import suspects
from harness.analysis.trust import metric_trust

WHOLE_REPORT = Options()
"""Everything in view, no declared test, independent questions."""


def analyse(study: StudyTable, options: Options = WHOLE_REPORT) -> Analysis:
    """Return everything a report says about a study.

    A baseline or a factor narrows what is shown. The family of tests, and so every adjusted p,
    remains that of the whole study.

    Args:
        study: All its rows.
        options: A baseline is one of the runs, and a factor one in which two of them differ.
    """
    design = Design(study.runs)
    options = replace(options, baseline=design.stand_in(options.baseline))
    compared = measures(study)
    clusters = cluster_numbers(study, options)
    trust = metric_trust(study, compared, clusters)
    found = compare(study, design, compared, trust, options)
    names = study.scores.runs
    crossed = counterfactuals(design, compared)
    whole = Analysis(
        runs=summaries(study),
        questions=study.scores.questions,
        outcomes=outcomes(study),
        means=means(study, clusters),
        effects=found.effects,
        contrasts=found.contrasts,
        confounded=confounded(design),
        repeats=tuple((names[i], names[j]) for i, j in design.repeats),
        incomparable=incomparable_groups(study.runs),
        curves=curves(design, compared, clusters),
        interactions=interactions(study, design, compared, options),
        counterfactuals=crossed,
        credits=credits(study, found.effects),
        trust=trust,
        retrieval=retrieval_facts(study),
        suspects=suspects(study),
        family=found.family,
        findings=(),
        outlooks=tuple(outlooks(found.effects, options)),
        leader=leader(study, options),
        clusters=None if clusters is None else int(clusters.max()) + 1,
        corrected=corrected_differences(study, design, compared, trust),
        next_steps=next_steps(study, design, found.contrasts, crossed, options),
    )
    view = narrow(whole, options)
    findings = [
        *effect_findings(view.effects),
        *contrast_findings(whole),
        *run_findings(study, whole),
        *metric_findings(whole),
        *study_findings(study, whole, view, options),
    ]
    shown = runs_in_view(names, found.contrasts, options)
    findings = [finding for finding in findings if in_view(finding, options, shown)]
    return replace(view, findings=merge_alike(strongest_first(findings)))


def narrow(analysis: Analysis, options: Options) -> Analysis:
    """Return the part of an analysis that a baseline and a factor leave in view."""
    baseline, factor = options.baseline, options.factor
    confounded = tuple(
        pair
        for pair in analysis.confounded
        if baseline in (None, pair.left, pair.right)
        and (factor is None or factor in [change.factor for change in pair.changes])
    )
    pairs = {(pair.left, pair.right) for pair in confounded}
    effects = effects_in_view(analysis.effects, options)
    changed_by = {effect.contrasts for effect in effects}
    return replace(
        analysis,
        effects=effects,
        contrasts=contrasts_in_view(analysis.contrasts, options),
        confounded=confounded,
        incomparable=tuple(
            groups for groups in analysis.incomparable if baseline in (None, *groups[0], *groups[1])
        ),
        # each of them is a confounded pair
        counterfactuals=tuple(
            pair for pair in analysis.counterfactuals if (pair.left, pair.right) in pairs
        ),
        credits=tuple(one for one in analysis.credits if one.contrasts in changed_by),
        curves=tuple(curve for curve in analysis.curves if factor in (None, curve.factor)),
        interactions=tuple(
            one
            for one in analysis.interactions
            if factor in (None, one.first.factor, one.second.factor)
            and baseline in (None, *one.corners)
        ),
        baseline=baseline,
        factor=factor,
    )


def effects_in_view(effects: Iterable[Effect], options: Options) -> tuple[Effect, ...]:
    """Return the changes that a baseline and a factor leave in view."""
    return tuple(
        effect
        for effect in effects
        if options.factor in (None, effect.factor)
        and (options.baseline is None or any(options.baseline in pair for pair in effect.contrasts))
    )


def contrasts_in_view(contrasts: Iterable[Contrast], options: Options) -> tuple[Contrast, ...]:
    """Return the contrasts that a baseline and a factor leave in view."""
    return tuple(
        contrast
        for contrast in contrasts
        if options.baseline in (None, contrast.left, contrast.right)
        and options.factor in (None, contrast.factor)
    )


def runs_in_view(
    runs: Iterable[str], contrasts: Iterable[Contrast], options: Options
) -> frozenset[str]:
    """Return the runs of the contrasts in view; all runs where nothing narrows the report."""
    if options.baseline is None and options.factor is None:
        return frozenset(runs)
    shown = contrasts_in_view(contrasts, options)
    return frozenset(run for contrast in shown for run in (contrast.left, contrast.right))


def in_view(finding: Finding, options: Options, runs: Collection[str]) -> bool:
    """Return whether a baseline, a factor and these runs leave a finding in view."""
    baseline, factor = options.baseline, options.factor
    return (
        (baseline is None or finding.left is None or baseline in (finding.left, finding.right))
        and (factor is None or finding.factor in (None, factor))
        and (finding.run is None or finding.run in runs)
    )
