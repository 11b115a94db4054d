"""Findings about the study as a whole: its design, questions, metrics and judges."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from harness.analysis.findings import SIDES, Finding, numbers_of, value_text
from harness.analysis.findings.contrast_findings import values_of
from harness.analysis.results import (
    UNCHECKED,
    Analysis,
    CheckAgreement,
    Confounded,
    Interaction,
    Judges,
    MetricMeans,
    MetricTrust,
    MissingRun,
    Trust,
)
from harness.analysis.study_table import RIGHT, Options, StudyTable

MOSTLY = 0.5
"""Share of the cells from which a metric as a whole is called quantised."""


def study_findings(
    study: StudyTable, analysis: Analysis, view: Analysis, options: Options
) -> Iterator[Finding]:
    """Yield the findings about the study as a whole, and about several contrasts in view."""
    yield from credited(view)
    yield from beyond_chance(analysis)
    yield from untested_primary(analysis, options)
    for interaction in view.interactions:
        yield from dependence(interaction)
    for pair in view.confounded:
        yield from unseparated(pair)
    for runs, others, reason in view.incomparable:
        yield Finding(
            "not_comparable", names={"reason": reason}, groups={"runs": runs, "others": others}
        )
    yield from question_findings(study, analysis)


def credited(analysis: Analysis) -> Iterator[Finding]:
    """Yield what several contrasts of one change turned alike: more than by chance, or not."""
    for credit in analysis.credits:
        if credit.questions and credit.p_adjusted is not None:
            surprising = credit.p_adjusted <= analysis.family.alpha
            yield Finding(
                "credit" if surprising else "turned_in_every_contrast",
                numbers={
                    "contrasts": len(credit.contrasts),
                    "expected": credit.expected,
                    "p": credit.p,
                    "p_adjusted": credit.p_adjusted,
                },
                names={**values_of(credit.change), "direction": credit.direction},
                factor=credit.change.factor,
                questions=credit.questions,
            )


def beyond_chance(analysis: Analysis) -> Iterator[Finding]:
    """Yield whether the primary tests could show anything, and whether anything was claimed."""
    family = analysis.family
    primary = [row for effect in analysis.effects for row in effect.primary]
    adjusted = [row.p_adjusted for row in primary if row.p_adjusted is not None]
    if not adjusted:
        return
    if family.smallest_p is not None and family.smallest_p > family.alpha:
        yield Finding(
            "nothing_can_be_significant", numbers=numbers_of("nothing_can_be_significant", family)
        )
    if not any(effect.claims for effect in analysis.effects):
        numbers = {"primary": family.primary, "smallest_adjusted": min(adjusted)}
        yield Finding("nothing_beyond_chance", numbers=numbers)


def untested_primary(analysis: Analysis, options: Options) -> Iterator[Finding]:
    """Yield the tests that were declared before collecting and that no contrast makes."""
    done = {(effect.factor, row.metric) for effect in analysis.effects for row in effect.primary}
    for one in options.primary:
        if (one.factor, one.metric) not in done:
            yield Finding("primary_not_tested", factor=one.factor, metric=one.metric)


def dependence(interaction: Interaction) -> Iterator[Finding]:
    """Yield how much one factor's effect on right/wrong depends on the other's value."""
    names = values_of(interaction.first) | {
        "second_factor": interaction.second.factor,
        "second_left_value": value_text(interaction.second.left),
        "second_right_value": value_text(interaction.second.right),
    }
    if interaction.missing:
        yield Finding(
            "missing_corner",
            numbers={"missing": len(interaction.missing)},
            names=names,
            groups={"words": pasteable(interaction.missing)},
            factor=interaction.first.factor,
        )
    for row in interaction.differences:
        if row.metric == RIGHT and row.mean:
            yield Finding(
                "interaction",
                numbers=numbers_of("interaction", row),
                names=names,
                factor=interaction.first.factor,
                metric=row.metric,
                questions=(*row.won, *row.lost),
            )


def unseparated(pair: Confounded) -> Iterator[Finding]:
    """Yield a pair whose factors no chain of runs separates yet."""
    if pair.missing:
        yield Finding(
            "confounded",
            numbers={"factors": len(pair.changes), "missing": len(pair.missing)},
            groups={
                "factors": tuple(change.factor for change in pair.changes),
                "words": pasteable(pair.missing),
            },
            left=pair.left,
            right=pair.right,
        )


def pasteable(missing: Iterable[MissingRun]) -> tuple[str, ...]:
    """Return each missing run's words in one line, where there are any."""
    return tuple(" ".join(words) for words in missing if words)


def question_findings(study: StudyTable, analysis: Analysis) -> Iterator[Finding]:
    """Yield which questions are informative, and which have the same wording."""
    grid = analysis.outcomes
    if grid.known and len(grid.rows) > 1:
        if grid.informative or not grid.partly_right:
            yield Finding(
                "informative",
                numbers={"informative": len(grid.informative), "questions": grid.known},
                questions=grid.informative,
            )
        for kind, ids in (("always_wrong", grid.always_wrong), ("always_right", grid.always_right)):
            if ids:
                yield Finding(kind, numbers={"runs": len(grid.rows)}, questions=ids)
    wordings = defaultdict(list)
    for question in study.questions:
        wordings[question.question.strip()].append(question.id)
    for same in wordings.values():
        if len(same) > 1:
            yield Finding("same_wording", questions=tuple(same))


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
    kinds = {Trust.TRUSTED: "metric_trusted", **dict.fromkeys(UNCHECKED, "too_few_grades")}
    kind = kinds.get(row.verdict, "metric_not_trusted")
    names = {"graded_by": row.graded_by}
    if row.verdict not in kinds:
        names["verdict"] = row.verdict.value
    return Finding(kind, numbers=numbers_of(kind, row), names=names, metric=row.metric)


def judge_findings(judges: Judges) -> Iterator[Finding]:
    """Yield how far the judges agree, and which findings hold under which judges."""
    for row in judges.findings:
        finding = row.finding
        everywhere = not row.others
        yield Finding(
            "under_every_judge" if everywhere else "under_some_judges",
            numbers={"k": finding.numbers["k"]} if "k" in finding.numbers else {},
            names={
                **{side: finding.names[side] for side in SIDES if side in finding.names},
                "said": finding.names.get("verdict", finding.kind),
            },
            groups={"judges": row.judges} | ({} if everywhere else {"others": row.others}),
            questions=finding.questions,
            factor=finding.factor,
            run=finding.run,
            metric=finding.metric,
        )
    for agreement in judges.agreements:
        yield agreement_finding(agreement)


def agreement_finding(row: CheckAgreement) -> Finding:
    """Return how far two judges agree on one check, or why their kappa is undefined."""
    names = {"first": row.first, "second": row.second, "check": row.check}
    if row.undefined is not None and row.lacking is not None:
        names |= {"status": row.undefined, "lacking": row.lacking}
    elif row.undefined is not None:
        names["unmatched"] = row.undefined
    numbers = numbers_of("judges_agreement", row)
    return Finding("judges_agreement", numbers=numbers, names=names)
