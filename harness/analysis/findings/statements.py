"""What each contrast says, as findings: numbers and ids, no words."""

from collections.abc import Iterator, Mapping

from harness.analysis.findings.listing import shown
from harness.analysis.results import (
    Analysis,
    Attribution,
    Change,
    Contrast,
    Difference,
    Finding,
    Passages,
    Severity,
    Verdict,
)
from harness.analysis.study_table import RIGHT
from harness.records import Layer

CLAIMS = {Verdict.BETTER, Verdict.WORSE, Verdict.DIFFERENT}


def statements(analysis: Analysis) -> Iterator[Finding]:
    """Yield what each contrast says."""
    layers = {metric.metric: metric.layer for metric in analysis.means}
    for contrast in analysis.contrasts:
        yield from contradictions(contrast, layers)
        yield from claims(contrast)
        yield from changed_answers(contrast)
        yield from by_construction(contrast)


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


def contradictions(contrast: Contrast, layers: Mapping[str, Layer]) -> Iterator[Finding]:
    """Yield scores that differ where what they judge does not: that cannot be."""
    same = {q for q, kind in contrast.passages.by_question.items() if kind is Passages.SAME}
    identical = same & set(contrast.passages.identical_responses)
    for difference in contrast.differences:
        layer = layers.get(difference.metric, Layer.OVERALL)
        if layer is Layer.COST:
            continue
        retrieval = layer is Layer.RETRIEVAL
        equal = same if retrieval else identical
        differing = tuple(q for q in (*difference.won, *difference.lost) if q in equal)
        if differing:
            yield about(
                contrast,
                "retrieval_scores_differ" if retrieval else "judged_unequally",
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
                groups={"won": difference.won, "lost": difference.lost},
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
