"""The findings as sentences: what was learnt, what merely changed, what to be careful about."""

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from harness.analysis import Analysis, Finding, Severity
from harness.render.blocks import Block, Fold, Heading, Items, Paragraph, Place, Section
from harness.render.vocabulary import Template, Words

ALPHA = 0.05
"""Above this p a result is called consistent with chance."""

HEADINGS = {
    Severity.ERROR: "errors",
    Severity.FINDING: "learnt",
    Severity.CHANGE: "changed",
    Severity.WARNING: "warnings",
    Severity.NOTE: "notes",
}
"""In the order in which a reader needs them."""

FOLDED = {Severity.CHANGE: Fold.OPEN, Severity.WARNING: Fold.OPEN, Severity.NOTE: Fold.CLOSED}
UNFOLDED = 20
"""Changes, and warnings, that stay unfolded at first."""

MOST_IN_BRIEF = 12
"""Sentences in brief."""

MOST_IN_FULL = 200
"""Sentences of one severity in full; a study of a hundred runs has thousands."""

MOST_LINKS = 8
"""Questions that a sentence links to; a dozen links would hide it."""

ABOVE_IN_BRIEF = {
    *("informative", "always_right", "always_wrong", "saturated", "missing_scores"),
    *("metric_trusted", "metric_not_trusted", "too_few_grades"),
    *("answers_changed", "confounded", "not_comparable"),
    *("under_every_judge", "under_some_judges", "judges_agreement"),
}
"""Kinds that the brief report leaves out of the list, as another of its sections says the same."""

EVIDENCE_IN = {
    "deeper_rank": "retrieval",
    **dict.fromkeys(("suspect_verdicts", "facts_left_out"), "suspects"),
    "interaction": "interactions",
    "missing_corner": "interactions",
    "under_every_judge": "judges",
    "under_some_judges": "judges",
    "judges_agreement": "judges",
    **dict.fromkeys(("judge_of_same_family", "another_model"), "made"),
    "not_comparable": "pairs",
    "same_wording": "questions",
    "missing_scores": "means",
    "quantised": "means",
}
"""Kind -> the section that shows its evidence, where its runs, metric and questions do not tell."""

TRANSLATED = {
    "status": "statuses",
    "graded_by": "origins",
    "source": "sources",
    "verdict": "trust",
    "check": "agreed_checks",
    "unmatched": "unmatched",
}
"""Names of a finding that are codes of ours -> the table of words they are looked up in."""

VALUES = ("left_value", "right_value", "second_left_value", "second_right_value")
"""Names of a finding that are values of a factor, which may be long."""

SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    ">": operator.gt,
}


def findings(analysis: Analysis, words: Words, brief: bool) -> Section:
    """Return the findings, strongest first."""
    every = merged(analysis.findings, words)
    chosen = {severity: [f for f in every if f.severity is severity] for severity in HEADINGS}
    if brief:
        chosen = most_telling(chosen)
    blocks: list[Block] = []
    for severity, found in chosen.items():
        if found:
            blocks += of_severity(severity, found, analysis, words, brief)
    if not analysis.findings:
        blocks.append(Paragraph(words.line("findings_none")))
    if brief:
        listed = [f for f in every if f.kind not in ABOVE_IN_BRIEF]
        more = len(listed) - sum(map(len, chosen.values()))
        if more > 0:
            blocks.append(Paragraph(words.line("more_findings", more=more)))
    return words.section("findings", blocks)


def of_severity(
    severity: Severity, found: Sequence[Finding], analysis: Analysis, words: Words, brief: bool
) -> Iterator[Block]:
    """Yield the sentences of one severity under their heading."""
    shown = found if brief else found[:MOST_IN_FULL]
    fold = FOLDED.get(severity, Fold.NEVER)
    if fold is Fold.OPEN and len(found) > UNFOLDED:
        fold = Fold.CLOSED
    place = ("severity", severity.value)
    yield Heading(words.get("headings", HEADINGS[severity]), place, fold, f"({len(found)})")
    yield Items(
        tuple(sentence(finding, words, analysis.family.alpha) for finding in shown),
        tuple((evidence_place(f, analysis), *named_questions(f, analysis)) for f in shown),
    )
    if len(found) > len(shown):
        yield Paragraph(words.line("csv", more=len(found) - len(shown), file="findings.csv"))


def merged(findings: Iterable[Finding], words: Words) -> list[Finding]:
    """Return the findings with one for all that say the same of several runs."""
    runs: dict[tuple[object, ...], list[str]] = defaultdict(list)
    first: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        about = asdict(finding)
        run = about.pop("run")
        key = (run is None, *(repr(value) for value in about.values()))
        first.setdefault(key, finding)
        runs[key] += [] if run is None else [run]
    return [
        replace(finding, run=words.list(runs[key])) if runs[key] else finding
        for key, finding in first.items()
    ]


def most_telling(chosen: dict[Severity, list[Finding]]) -> dict[Severity, list[Finding]]:
    """Return the findings that fit and that no other section says, by severity."""
    new = {s: [f for f in rows if f.kind not in ABOVE_IN_BRIEF] for s, rows in chosen.items()}
    errors = varied(new[Severity.ERROR], MOST_IN_BRIEF // 3)
    room = MOST_IN_BRIEF - len(errors)
    learnt = varied(new[Severity.FINDING], max(2 * room // 3, room - len(new[Severity.WARNING])))
    room -= len(learnt)
    changed = varied(new[Severity.CHANGE], max(room // 2, room - len(new[Severity.WARNING])))
    warnings = varied(new[Severity.WARNING], room - len(changed))
    notes = varied(new[Severity.NOTE], room - len(changed) - len(warnings))
    return dict(zip(HEADINGS, (errors, learnt, changed, warnings, notes), strict=True))


def varied(findings: Sequence[Finding], room: int) -> list[Finding]:
    """Return at most `room` findings in their order, one of each kind before a second of any.

    Ten runs that are saturated must not push out the one warning of another kind.
    """
    turns: dict[str, int] = {}
    ranked = []
    for at, finding in enumerate(findings):
        turns[finding.kind] = turns.get(finding.kind, 0) + 1
        ranked.append((turns[finding.kind], at))
    kept = sorted(at for _, at in sorted(ranked)[:room])
    return [findings[at] for at in kept]


def evidence_place(finding: Finding, analysis: Analysis) -> Place:
    """Return where the evidence of a finding is, as close as what it names allows."""
    section = EVIDENCE_IN.get(finding.kind)
    if finding.left and finding.right and section != "judges":
        pair = (finding.left, finding.right)
        known = any((one.left, one.right) == pair for one in analysis.contrasts)
        return ("contrast", *pair) if known else ("section", section or "pairs")
    return ("section", section) if section else closest(finding)


def closest(finding: Finding) -> Place:
    """Return where the evidence of a finding about no contrast is, by what it names."""
    if finding.metric and "graded_by" in finding.names:
        return ("metric", finding.metric)
    if len(finding.questions) == 1:
        return ("question", finding.questions[0])
    if finding.questions and not finding.factor:
        return ("section", "right_wrong")
    about_means = (finding.run or finding.metric) and not finding.factor
    return ("section", "means" if about_means else "contrasts")


def named_questions(finding: Finding, analysis: Analysis) -> Iterator[Place]:
    """Yield the questions that a finding names, unless they are many or nearly all there are."""
    known = [question for question in finding.questions if question in analysis.questions]
    if len(known) <= min(MOST_LINKS, max(len(analysis.questions) - 1, 1)):
        for question in known:
            yield ("question", question)


def sentence(finding: Finding, words: Words, alpha: float = ALPHA) -> str:
    """Return the finding as a sentence.

    >>> from harness.render.vocabulary import words
    >>> found = Finding("partial_run", {"asked": 2, "questions": 8}, run="ctx_k9")
    >>> sentence(found, words("en"))
    'ctx_k9: only 2 of 8 questions were asked, and only those are compared.'
    """
    names = names_of(finding, words)
    about = {"factor": finding.factor, "alpha": alpha}
    values = {**about, **finding.numbers, **finding.names, **finding.groups}
    parts = chosen_parts(words.texts["kinds"][finding.kind], values)
    return words.join("parts", (words.fill(part, names, finding.numbers) for part in parts))


def names_of(finding: Finding, words: Words) -> dict[str, object]:
    """Return the texts and lists that the finding's sentence may name."""
    names: dict[str, object] = {
        name: words.get(TRANSLATED[name], text)
        if name in TRANSLATED
        else words.value(text)
        if name in VALUES
        else text
        for name, text in finding.names.items()
    }
    about = {name: getattr(finding, name) for name in ("factor", "left", "right", "run")}
    names |= {name: text for name, text in about.items() if text is not None}
    names |= finding.groups
    if finding.metric is not None:
        names["metric"] = words.metric(finding.metric)
    if finding.questions:
        names["questions"] = finding.questions
    if "left_value" in names:
        key = "effect" if finding.left is None else "change"
        key = "change_version" if key == "change" and finding.factor == "version" else key
        names["change"] = words.line(key, **names)
    return names


def chosen_parts(template: Template, values: Mapping[str, object]) -> list[str]:
    """Return the parts of a template that are said.

    A part with conditions is said by the first of them that holds, if any.

    >>> chosen_parts(["a", {"n > 1": "many", "else": "one"}, {"m": "more"}], {"n": 2, "m": 0})
    ['a', 'many']
    """
    if isinstance(template, str):
        return [template]
    parts = [
        part
        if isinstance(part, str)
        else next((text for condition, text in part.items() if is_met(condition, values)), None)
        for part in template
    ]
    return [part for part in parts if part is not None]


def is_met(condition: str, values: Mapping[str, object]) -> bool:
    """Say whether a condition holds: `else`, or tests that are joined by `and`.

    A test is `name` (it is not empty, zero or NA), `name is text`, `name is NA`, or a comparison
    with a number or another name, which fails where either is NA.

    >>> [is_met(c, {"p": 0.04, "low": None}) for c in ("p <= 0.05", "low is NA and p", "low > p")]
    [True, True, False]
    """
    return condition == "else" or all(passes(test, values) for test in condition.split(" and "))


def passes(test: str, values: Mapping[str, object]) -> bool:
    """Say whether one test of a condition passes."""
    name, sign, other = (*test.split(), "", "")[:3]
    value = defined(values.get(name))
    if not sign:
        return bool(value)
    if sign == "is":
        return value is None if other == "NA" else value == other
    limit = defined(values[other]) if other in values else float(other)
    numbers = isinstance(value, float | int) and isinstance(limit, float | int)
    return numbers and SIGNS[sign](value, limit)  # type: ignore[arg-type]


def defined(value: object) -> object:
    """Return the value, None for a number that is undefined."""
    return None if isinstance(value, float) and math.isnan(value) else value
