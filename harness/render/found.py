"""The findings, as sentences under what they are: learnt, to be read with care, to be mended."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

from harness.analysis import Analysis, Finding, Severity
from harness.render.blocks import Block, Heading, Items, Line, Section
from harness.render.sentences import sentence
from harness.render.wording import Words

TITLES = {
    Severity.ERROR: "errors",
    Severity.FINDING: "learnt",
    Severity.WARNING: "warnings",
    Severity.NOTE: "notes",
}
"""In the order in which a reader wants them."""

ROOM = 12
"""Sentences in brief."""

SAID_ABOVE = {
    *("informative", "always_right", "always_wrong", "saturated", "missing_scores"),
    *("metric_trusted", "metric_not_trusted", "too_few_grades"),
    *("answers_changed", "different", "confounded"),
    *("under_every_judge", "under_some_judges", "judges_agreement"),
}
"""Kinds that another section of the brief report has said already."""

SENTENCES = 200
"""Sentences of one severity in full; a study of a hundred runs has thousands."""


def found(analysis: Analysis, words: Words, brief: bool) -> Section:
    """Return the findings, strongest first."""
    every = merged(analysis.findings, words)
    chosen = {severity: [f for f in every if f.severity is severity] for severity in TITLES}
    if brief:
        chosen = most_telling(chosen)
    blocks: list[Block] = []
    for severity, findings in chosen.items():
        if not findings:
            continue
        shown = findings if brief else findings[:SENTENCES]
        alpha = analysis.family.alpha
        blocks.append(Heading(words.get("headings", TITLES[severity])))
        blocks.append(Items(tuple(sentence(finding, words, alpha) for finding in shown)))
        if len(findings) > len(shown):
            more = len(findings) - len(shown)
            blocks.append(Line(words.line("csv", more=more, file="findings.csv")))
    if not analysis.findings:
        blocks.append(Line(words.line("findings_none")))
    if brief:
        unsaid = [f for f in every if f.kind not in SAID_ABOVE]
        more = len(unsaid) - sum(map(len, chosen.values()))
        if more > 0:
            blocks.append(Line(words.line("more_findings", more=more)))
    return Section("findings", words.get("headings", "findings"), tuple(blocks))


def merged(findings: Iterable[Finding], words: Words) -> list[Finding]:
    """Make one finding of those that say the same of several runs."""
    runs: dict[tuple[object, ...], list[str]] = defaultdict(list)
    first: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        said = asdict(finding)
        run = said.pop("run")
        key = (run is None, *(repr(value) for value in said.values()))
        first.setdefault(key, finding)
        runs[key] += [] if run is None else [run]
    return [
        replace(finding, run=words.list(runs[key])) if runs[key] else finding
        for key, finding in first.items()
    ]


def most_telling(chosen: dict[Severity, list[Finding]]) -> dict[Severity, list[Finding]]:
    """Keep what is not said elsewhere and fits: errors, then findings, warnings and notes."""
    new = {s: [f for f in rows if f.kind not in SAID_ABOVE] for s, rows in chosen.items()}
    errors = varied(new[Severity.ERROR], ROOM // 3)
    room = ROOM - len(errors)
    learnt = varied(new[Severity.FINDING], max(2 * room // 3, room - len(new[Severity.WARNING])))
    warnings = varied(new[Severity.WARNING], room - len(learnt))
    notes = varied(new[Severity.NOTE], room - len(learnt) - len(warnings))
    return dict(zip(TITLES, (errors, learnt, warnings, notes), strict=True))


def varied(findings: Sequence[Finding], room: int) -> list[Finding]:
    """Keep so many, one of each kind before a second of any, in their order.

    Ten runs that are saturated must not push out the one warning of another kind.
    """
    turns: dict[str, int] = {}
    ranked = []
    for at, finding in enumerate(findings):
        turns[finding.kind] = turns.get(finding.kind, 0) + 1
        ranked.append((turns[finding.kind], at))
    kept = sorted(at for _, at in sorted(ranked)[:room])
    return [findings[at] for at in kept]
