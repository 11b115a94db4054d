"""Findings about one metric over all runs."""

from collections import Counter
from collections.abc import Iterator

from harness.analysis.findings.kinds import Finding
from harness.analysis.results import Analysis, MetricMeans, MetricTrust, Trust

MOSTLY = 0.5
"""Share of the cells from which a metric as a whole is called quantised."""


def metric_findings(analysis: Analysis) -> Iterator[Finding]:
    """Yield the findings about every metric."""
    for metric in analysis.means:
        yield from missing_and_coarse(metric)
    for row in analysis.trust:
        yield trust_finding(row)


def missing_and_coarse(metric: MetricMeans) -> Iterator[Finding]:
    """Yield how much of a metric is missing, and how coarse it is."""
    cells = sum(cell.asked for cell in metric.cells)
    statuses: Counter[str] = Counter()
    for cell in metric.cells:
        statuses.update(cell.statuses)
    for status, count in sorted(statuses.items()):
        yield Finding(
            "missing_scores",
            numbers={"missing": count, "cells": cells},
            names={"status": status},
            metric=metric.metric,
        )
    coarse = sum(cell.coarse for cell in metric.cells)
    scored = sum(cell.scored for cell in metric.cells)
    units = [cell.units for cell in metric.cells if cell.units is not None]
    if metric.bounded and units and coarse > MOSTLY * scored:
        yield Finding(
            "quantised",
            numbers={"coarse": coarse, "cells": scored, "units": min(units)},
            metric=metric.metric,
        )


def trust_finding(row: MetricTrust) -> Finding:
    """Return whether a metric can be trusted."""
    if row.verdict is Trust.TOO_FEW_GRADES:
        return Finding(
            "too_few_grades",
            numbers={"right": row.right, "wrong": row.wrong, "questions": row.questions},
            names={"graded_by": row.graded_by},
            metric=row.metric,
        )
    trusted = row.verdict is Trust.TRUSTED
    return Finding(
        "metric_trusted" if trusted else "metric_not_trusted",
        numbers={
            "auc": row.auc,
            "low": row.low,
            "high": row.high,
            "gap": row.gap,
            "right": row.right,
            "wrong": row.wrong,
            "questions": row.questions,
        },
        names={"graded_by": row.graded_by} | ({} if trusted else {"verdict": row.verdict.value}),
        metric=row.metric,
    )
