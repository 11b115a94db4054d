"""Findings in order, and as JSON."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.analysis.findings.kinds import KINDS
from harness.analysis.results import Finding, Severity


def strongest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order by severity, then by kind as `KINDS` lists them, else as they came."""
    severities, kinds = list(Severity), list(KINDS)
    return tuple(
        sorted(findings, key=lambda f: (severities.index(f.severity), kinds.index(f.kind)))
    )


def said_once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings with one for all contrasts that say the same of a metric.

    They are those that carry the number `others`; the first stands for all, and counts them.
    """
    kept: dict[object, Finding] = {}
    for at, finding in enumerate(findings):
        key = saying(finding) if "others" in finding.numbers else at
        first = kept.setdefault(key, finding)
        if first is not finding:
            others = (first.numbers["others"] or 0) + 1
            kept[key] = replace(first, numbers={**first.numbers, "others": others})
    return tuple(kept.values())


def saying(finding: Finding) -> tuple[object, ...]:
    """Return what a finding says, whichever contrast it is about."""
    return finding.kind, finding.metric, finding.numbers.get("flips")


def as_json(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Return what `findings.json` holds: plain values, and null where a number is undefined."""
    return [
        {
            "kind": finding.kind,
            "severity": finding.severity.value,
            "contrast": contrast(finding),
            "factor": finding.factor,
            "run": finding.run,
            "metric": finding.metric,
            "questions": list(finding.questions),
            "numbers": {name: plain(value) for name, value in finding.numbers.items()},
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


def plain(value: float | int | None) -> float | int | None:
    """Return a number that JSON can hold: never NaN or infinity."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int) else float(value)


def shown(value: object) -> str:
    """Return a factor's value as a short text; None is "none"."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={shown(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(shown(item) for item in value)
    return "none" if value is None else str(value)
