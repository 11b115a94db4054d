"""What was learnt from the contrasts, as findings: numbers and ids, no words."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from harness.analysis.findings import shown
from harness.analysis.results import (
    Analysis,
    Attribution,
    Change,
    Contrast,
    Difference,
    Finding,
    Interaction,
    Passages,
    Severity,
    Verdict,
)
from harness.analysis.tables import RIGHT
from harness.records import Layer

CLAIMS = {Verdict.BETTER, Verdict.WORSE, Verdict.DIFFERENT}


def statements(analysis: Analysis) -> Iterator[Finding]:
    """Yield what the contrasts and their designs say."""
    retrieval = {m.metric for m in analysis.means if m.layer is Layer.RETRIEVAL}
    for contrast in analysis.contrasts:
        yield from contradictions(contrast, retrieval)
        yield from claims(contrast)
        yield from changed_answers(contrast)
        yield from by_construction(contrast)
    yield from credits_(analysis.contrasts)
    yield from beyond_chance(analysis)
    for interaction in analysis.interactions:
        yield from dependence(interaction)
    for pair in analysis.confounded:
        if pair.missing:
            yield Finding(
                "confounded",
                Severity.NOTE,
                numbers={"factors": len(pair.changes), "missing": len(pair.missing)},
                groups={
                    "factors": tuple(change.factor for change in pair.changes),
                    "words": tuple(" ".join(run.words) for run in pair.missing if run.words),
                },
                left=pair.left,
                right=pair.right,
            )


def about(contrast: Contrast, kind: str, severity: Severity, **facts: object) -> Finding:
    """Return a finding about one contrast, its factor's values among the names."""
    return Finding(
        kind=kind,
        severity=severity,
        names=values_of(contrast.change),
        factor=contrast.factor,
        left=contrast.left,
        right=contrast.right,
        **facts,  # type: ignore[arg-type]
    )


def values_of(change: Change) -> dict[str, str]:
    """Return a factor's values on both sides, as text."""
    return {"left_value": shown(change.left), "right_value": shown(change.right)}


def contradictions(contrast: Contrast, retrieval: Iterable[str]) -> Iterator[Finding]:
    """Yield retrieval metrics that differ where the passages do not: that cannot be."""
    same = {q for q, kind in contrast.passages.by_question.items() if kind is Passages.SAME}
    for difference in contrast.differences:
        differing = tuple(q for q in (*difference.won, *difference.lost) if q in same)
        if difference.metric in retrieval and differing:
            yield about(
                contrast,
                "retrieval_scores_differ",
                Severity.ERROR,
                metric=difference.metric,
                numbers={"differing": len(differing)},
                questions=differing,
            )


def claims(contrast: Contrast) -> Iterator[Finding]:
    """Yield the differences that are beyond chance."""
    for difference in contrast.differences:
        if difference.verdict in CLAIMS:
            yield about(
                contrast,
                difference.verdict.value,
                Severity.FINDING,
                metric=difference.metric,
                numbers=tested_numbers(difference),
                questions=(*difference.won, *difference.lost),
            )


def tested_numbers(difference: Difference) -> dict[str, float | int | None]:
    """Return the numbers that every claim rests on."""
    return {
        "mean": difference.mean,
        "low": difference.low,
        "high": difference.high,
        "p": difference.p,
        "p_floor": difference.p_floor,
        "p_adjusted": difference.p_adjusted,
        "questions": difference.questions,
        "wins": difference.wins,
        "ties": difference.ties,
        "losses": difference.losses,
    }


def changed_answers(contrast: Contrast) -> Iterator[Finding]:
    """Yield which answers turned right or wrong, and what a coin would have done."""
    right = contrast.difference(RIGHT)
    if right is None or not (right.won or right.lost):
        return
    test = right.mcnemar
    yield about(
        contrast,
        "answers_changed",
        Severity.FINDING,
        metric=RIGHT,
        numbers={
            "gained": right.wins,
            "lost": right.losses,
            "ties": right.ties,
            "p": right.p if test is None else test.p,
            "p_floor": right.p_floor if test is None else test.floor,
            "discordant": right.wins + right.losses,
            "questions": right.questions,
        },
        groups={"gained": right.won, "lost": right.lost},
        questions=(*right.won, *right.lost),
    )


def by_construction(contrast: Contrast) -> Iterator[Finding]:
    """Yield what the passages decide without any test."""
    if contrast.attribution is Attribution.NO_EFFECT_POSSIBLE:
        yield about(
            contrast,
            "no_effect_possible",
            Severity.FINDING,
            numbers={"questions": len(contrast.passages.by_question)},
        )
    if contrast.attribution is Attribution.GENERATION:
        right = contrast.difference(RIGHT)
        won, lost = (right.won, right.lost) if right else ((), ())
        yield about(
            contrast,
            "generation_by_construction",
            Severity.FINDING,
            numbers={"same": contrast.passages.same},
            groups={"gained": won, "lost": lost},
            questions=(*won, *lost),
        )


def credits_(contrasts: Iterable[Contrast]) -> Iterator[Finding]:
    """Yield the questions that one change of a factor turned in every contrast that makes it."""
    alike: dict[tuple[str, str, str], list[Difference]] = defaultdict(list)
    for contrast in contrasts:
        right = contrast.difference(RIGHT)
        if right is not None:
            values = values_of(contrast.change)
            alike[contrast.factor, values["left_value"], values["right_value"]].append(right)
    for (factor, left, right_value), rows in alike.items():
        for direction in ("won", "lost"):
            turned = [set(row.won if direction == "won" else row.lost) for row in rows]
            always = set.intersection(*turned)
            if always:
                first = rows[0].won if direction == "won" else rows[0].lost
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
                    questions=tuple(q for q in first if q in always),
                )


def beyond_chance(analysis: Analysis) -> Iterator[Finding]:
    """Yield what the family as a whole could show, and did."""
    family = analysis.family
    rows = [d for c in analysis.contrasts for d in c.differences if d.p_adjusted is not None]
    if not rows:
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
                "smallest_adjusted": min(row.p_adjusted for row in rows if row.p_adjusted),
            },
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
            groups={
                "words": tuple(" ".join(run.words) for run in interaction.missing if run.words)
            },
            factor=interaction.first.factor,
        )
    for row in interaction.differences:
        if row.metric == RIGHT and row.mean:
            numbers = {
                key: value
                for key, value in tested_numbers(row).items()
                if key not in ("p_adjusted", "wins", "ties", "losses")
            }
            yield Finding(
                "interaction",
                Severity.FINDING,
                numbers=numbers,
                names=names,
                factor=interaction.first.factor,
                metric=row.metric,
                questions=(*row.won, *row.lost),
            )
