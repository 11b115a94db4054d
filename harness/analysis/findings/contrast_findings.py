"""Findings about one change of a factor, and about one contrast."""

from collections.abc import Iterable, Iterator, Mapping

from harness.analysis.findings import Finding, numbers_of, value_text
from harness.analysis.results import (
    BEYOND_CHANCE,
    FIXED_AT_ZERO,
    FOUND,
    Analysis,
    Attribution,
    Change,
    Conclusion,
    Contrast,
    Difference,
    Effect,
    Outcomes,
    PassageComparison,
)
from harness.analysis.study_table import RIGHT
from harness.records import Layer, acts_after_retrieval

Ids = tuple[str, ...]

NOTEWORTHY = 0.1
"""Share of questions that are NA on one side only from which it is reported that the sign of the
difference depends on them."""


def contrast_findings(analysis: Analysis) -> Iterator[Finding]:
    """Yield the findings about every contrast."""
    layers = {metric.metric: metric.layer for metric in analysis.means}
    for contrast in analysis.contrasts:
        yield from contradictions(contrast, layers)
        yield from changed_answers(contrast, analysis.outcomes)
        yield from by_construction(contrast, analysis.outcomes)
        yield from moved_passages(contrast)
        yield from missing_scores(contrast)


def contradictions(contrast: Contrast, layers: Mapping[str, Layer]) -> Iterator[Finding]:
    """Yield scores that differ although the text that they judge is the same."""
    same = {
        q for q, kind in contrast.passages.by_question.items() if kind is PassageComparison.SAME
    }
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
                metric=difference.metric,
                numbers={"differing": len(differing)},
                questions=differing,
            )


def effect_findings(effects: Iterable[Effect]) -> Iterator[Finding]:
    """Yield the metrics in which a change of a factor is better or worse, or may be."""
    for effect, row in ((one, row) for one in effects for row in one.differences):
        if row.verdict not in FOUND:
            continue
        kind = row.verdict.value
        yield Finding(
            kind,
            numbers=numbers_of(kind, row),
            names=values_of(effect.change),
            groups={"won": row.won, "lost": row.lost},
            questions=(*row.won, *row.lost),
            factor=effect.factor,
            metric=row.metric,
        )


def changed_answers(contrast: Contrast, outcomes: Outcomes) -> Iterator[Finding]:
    """Yield which answers became right or wrong, where the contrast is not better or worse."""
    right = contrast.difference(RIGHT)
    if right is None or not (right.won or right.lost) or right.verdict in BEYOND_CHANCE:
        return
    groups = turned_answers(contrast, right, outcomes)
    yield about(
        contrast,
        "answers_changed",
        metric=RIGHT,
        numbers=answer_changes(right, groups),
        groups=groups,
        questions=(*right.won, *right.lost),
    )


def turned_answers(contrast: Contrast, right: Difference, outcomes: Outcomes) -> dict[str, Ids]:
    """Return the questions that turned right, that turned wrong, and that changed in part."""
    gained, lost = outcomes.turned(contrast.left, contrast.right)
    turned = {*gained, *lost}
    partly = tuple(q for q in (*right.won, *right.lost) if q not in turned)
    return {"gained": gained, "lost": lost, "partly": partly}


def answer_changes(right: Difference, groups: Mapping[str, Ids]) -> dict[str, float | None]:
    """Return how many answers turned, with McNemar's p where it can be computed."""
    test = right.mcnemar
    return {
        "mean": right.mean,
        "gained": len(groups["gained"]),
        "lost": len(groups["lost"]),
        "ties": right.ties,
        "p": right.p if test is None else test.p,
        "p_floor": right.p_floor if test is None else test.floor,
        "discordant": right.wins + right.losses,
        "questions": right.questions,
    }


def by_construction(contrast: Contrast, outcomes: Outcomes) -> Iterator[Finding]:
    """Yield what equal passages decide without a test."""
    if contrast.attribution is Attribution.NO_EFFECT_POSSIBLE:
        yield about(
            contrast,
            "no_effect_possible",
            numbers={"questions": len(contrast.passages.by_question)},
        )
    if contrast.factor == "version" and contrast.passages.same_calls:
        yield about(
            contrast,
            "answers_from_cache",
            numbers={
                "cached": len(contrast.passages.same_calls),
                "questions": len(contrast.passages.by_question),
            },
            questions=contrast.passages.same_calls,
        )
    if contrast.attribution is Attribution.GENERATION:
        gained, lost = outcomes.turned(contrast.left, contrast.right)
        yield about(
            contrast,
            "generation_by_construction",
            numbers={"same": contrast.passages.same},
            groups={"gained": gained, "lost": lost},
            questions=(*gained, *lost),
        )


def moved_passages(contrast: Contrast) -> Iterator[Finding]:
    """Yield passages that differ although the only factor changed acts after retrieval."""
    moved = tuple(
        question
        for question, kind in contrast.passages.by_question.items()
        if kind in (PassageComparison.CHANGED, PassageComparison.REORDERED)
    )
    if moved and acts_after_retrieval(contrast.factor):
        yield about(contrast, "retrieval_moved", questions=moved)


def missing_scores(contrast: Contrast) -> Iterator[Finding]:
    """Yield differences whose sign depends on NA cells, and metrics judged differently."""
    for row in contrast.differences:
        if contrast.attribution is Attribution.FROM_CACHE:
            break
        if row.verdict is Conclusion.NOT_COMPARED and row.questions and row.p is None:
            yield about(contrast, "judged_differently", metric=row.metric, numbers={"others": 0})
            continue
        left, right = len(row.dropped_left), len(row.dropped_right)
        # cells that are NA on both sides do not make the sides unequal
        one_sided = left + right
        decisive = row.flips_with_missing and one_sided >= NOTEWORTHY * (one_sided + row.questions)
        if (
            one_sided
            and row.questions
            and row.verdict not in FIXED_AT_ZERO
            and (row.missing_differs or decisive)
        ):
            yield about(
                contrast,
                "missing_not_at_random",
                metric=row.metric,
                numbers={
                    "left_missing": left + len(row.dropped_both),
                    "right_missing": right + len(row.dropped_both),
                    "compared": row.questions,
                    "mean": row.mean,
                    "worst": row.worst,
                    "best": row.best,
                    "flips": int(row.flips_with_missing),
                    "others": 0,
                },
                questions=(*row.dropped_left, *row.dropped_right, *row.dropped_both),
            )


def about(contrast: Contrast, kind: str, **facts: object) -> Finding:
    """Return a finding about one contrast, its factor's values among the names."""
    return Finding(
        kind=kind,
        names=values_of(contrast.change),
        factor=contrast.factor,
        left=contrast.left,
        right=contrast.right,
        **facts,  # type: ignore[arg-type]
    )


def values_of(change: Change) -> dict[str, str]:
    """Return a factor's values on both sides, as text."""
    return {"left_value": value_text(change.left), "right_value": value_text(change.right)}
