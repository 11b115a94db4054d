"""Narrow what is shown to a baseline or a factor; the family of tests stays whole."""

from dataclasses import replace

from harness.analysis.options import Options
from harness.analysis.results import Analysis, Finding


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
