"""What the contrasts say together: who gets the credit, what chance would do, what is missing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from harness.analysis.findings.listing import shown
from harness.analysis.findings.statements import CLAIMS, tested_numbers, values_of
from harness.analysis.results import (
    Analysis,
    Confounded,
    Contrast,
    Finding,
    Interaction,
    MissingRun,
    Severity,
)
from harness.analysis.study_table import RIGHT, Options

Ids = tuple[str, ...]


def designs(analysis: Analysis, options: Options) -> Iterator[Finding]:
    """Yield what the study's design as a whole says, and cannot say."""
    yield from credited(analysis.contrasts)
    yield from beyond_chance(analysis)
    yield from undone(analysis, options)
    for interaction in analysis.interactions:
        yield from dependence(interaction)
    for pair in analysis.confounded:
        yield from unseparated(pair)


def credited(contrasts: Iterable[Contrast]) -> Iterator[Finding]:
    """Yield the questions that one change of a factor turned in every contrast that makes it."""
    alike: dict[tuple[str, str, str], list[tuple[Ids, Ids]]] = defaultdict(list)
    for contrast in contrasts:
        right = contrast.difference(RIGHT)
        if right is None:
            continue
        values = values_of(contrast.change)
        left_value, right_value = values["left_value"], values["right_value"]
        if (contrast.factor, right_value, left_value) in alike:  # the same change, read backwards
            alike[contrast.factor, right_value, left_value].append((right.lost, right.won))
        else:
            alike[contrast.factor, left_value, right_value].append((right.won, right.lost))
    for (factor, left, right_value), rows in alike.items():
        for direction, turned in zip(("won", "lost"), zip(*rows, strict=True), strict=True):
            always = tuple(q for q in turned[0] if all(q in one for one in turned))
            if always:
                yield Finding(
                    "credit",
                    Severity.FINDING,
                    numbers={"contrasts": len(rows)},
                    names={
                        "left_value": left,
                        "right_value": right_value,
                        "direction": direction,
                    },
                    factor=factor,
                    questions=always,
                )


def beyond_chance(analysis: Analysis) -> Iterator[Finding]:
    """Yield what the family as a whole could show, and did."""
    family = analysis.family
    rows = [d for c in analysis.contrasts for d in c.differences]
    adjusted = [row.p_adjusted for row in rows if row.p_adjusted is not None]
    if not adjusted:
        return
    if family.smallest_p is not None and family.smallest_p > family.level:
        yield Finding(
            "nothing_can_be_significant",
            Severity.WARNING,
            numbers={
                "tests": family.tests,
                "smallest_p": family.smallest_p,
                "level": family.level,
            },
        )
    if not any(row.verdict in CLAIMS for row in rows):
        yield Finding(
            "nothing_beyond_chance",
            Severity.WARNING,
            numbers={
                "contrasts": len(analysis.contrasts),
                "tests": family.tests,
                "smallest_adjusted": min(adjusted),
            },
        )


def undone(analysis: Analysis, options: Options) -> Iterator[Finding]:
    """Yield what was declared before collecting and could not be tested."""
    done = {(c.factor, d.metric) for c in analysis.contrasts for d in c.differences if d.primary}
    for one in options.primary:
        if (one.factor, one.metric) not in done:
            yield Finding(
                "primary_not_tested", Severity.WARNING, factor=one.factor, metric=one.metric
            )


def dependence(interaction: Interaction) -> Iterator[Finding]:
    """Yield by how much one factor's effect on right/wrong depends on the other's value."""
    names = values_of(interaction.first) | {
        "second_factor": interaction.second.factor,
        "second_left_value": shown(interaction.second.left),
        "second_right_value": shown(interaction.second.right),
    }
    if interaction.missing:
        yield Finding(
            "missing_corner",
            Severity.NOTE,
            numbers={"missing": len(interaction.missing)},
            names=names,
            groups={"words": pasted(interaction.missing)},
            factor=interaction.first.factor,
        )
    for row in interaction.differences:
        if row.metric == RIGHT and row.mean:
            tested = tested_numbers(row)
            yield Finding(
                "interaction",
                Severity.FINDING,
                numbers={
                    name: tested[name]
                    for name in ("mean", "low", "high", "p", "p_floor", "questions")
                },
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
            Severity.NOTE,
            numbers={"factors": len(pair.changes), "missing": len(pair.missing)},
            groups={
                "factors": tuple(change.factor for change in pair.changes),
                "words": pasted(pair.missing),
            },
            left=pair.left,
            right=pair.right,
        )


def pasted(missing: Iterable[MissingRun]) -> tuple[str, ...]:
    """Return each missing run's words in one line, where there are any."""
    return tuple(" ".join(run.words) for run in missing if run.words)
