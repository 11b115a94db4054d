"""Findings in order, and as JSON."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.analysis.findings.kinds import KINDS, Finding, Severity


def strongest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by severity, then by kind as in `KINDS`, else in the order given."""
    severities, kinds = list(Severity), list(KINDS)
    return tuple(
        sorted(findings, key=lambda f: (severities.index(f.severity), kinds.index(f.kind)))
    )


def merge_alike(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings, reduced to one where several contrasts have the same about a metric.

    These are the kinds with the number `others`: the first finding is kept and counts the others.
    """
    kept: dict[object, Finding] = {}
    for at, finding in enumerate(findings):
        key = topic(finding) if "others" in finding.numbers else at
        first = kept.setdefault(key, finding)
        if first is not finding:
            others = (first.numbers["others"] or 0) + 1
            kept[key] = replace(first, numbers={**first.numbers, "others": others})
    return tuple(kept.values())


def topic(finding: Finding) -> tuple[object, ...]:
    """Return what a finding is about, apart from the contrast."""
    return finding.kind, finding.metric, finding.numbers.get("flips")


def as_json(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Return the content of `findings.json`: plain values, null where a number is undefined."""
    return [
        {
            "kind": finding.kind,
            "severity": finding.severity.value,
            "contrast": contrast(finding),
            "factor": finding.factor,
            "run": finding.run,
            "metric": finding.metric,
            "questions": list(finding.questions),
            "numbers": {name: json_number(value) for name, value in finding.numbers.items()},
            "names": dict(finding.names),
            "groups": {name: list(items) for name, items in finding.groups.items()},
        }
        for finding in findings
    ]


def contrast(finding: Finding) -> dict[str, str] | None:
    """Return the two runs a finding is about."""
    if finding.left is None or finding.right is None:
        return None
    return {"left": finding.left, "right": finding.right}


def json_number(value: float | int | None) -> float | int | None:
    """Return a number that JSON can hold: never NaN or infinity."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int) else float(value)


def value_text(value: object) -> str:
    """Return a factor's value as a short text; None is "none"."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={value_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(value_text(item) for item in value)
    return "none" if value is None else str(value)
