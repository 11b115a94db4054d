"""The kinds of finding, and what each carries for whoever puts it into words."""

from harness.analysis.finding import Severity
from harness.analysis.kind import CONTRAST, SIDES, TEST, Kind
from harness.analysis.kinds_of_caution import CAUTIONS

__all__ = ["KINDS", "Kind"]

LEARNT: dict[str, Kind] = {
    # the data contradict themselves
    "retrieval_scores_differ": Kind(
        "Equal passages, yet a retrieval metric gives other scores on these questions.",
        Severity.ERROR,
        (*CONTRAST, "metric", "questions"),
        ("differing",),
        SIDES,
    ),
    "judged_unequally": Kind(
        "Equal passages and word for word the same answer, yet the metric gives other scores on "
        "these questions: the judge, or a person, does not repeat itself.",
        Severity.ERROR,
        (*CONTRAST, "metric", "questions"),
        ("differing",),
        SIDES,
    ),
    # what was learnt
    "better": Kind(
        "Right is better than left in this metric, beyond chance within the family.",
        Severity.FINDING,
        (*CONTRAST, "metric", "questions"),
        TEST,
        SIDES,
        ("won", "lost"),
    ),
    "worse": Kind(
        "Right is worse than left in this metric, beyond chance within the family.",
        Severity.FINDING,
        (*CONTRAST, "metric", "questions"),
        TEST,
        SIDES,
        ("won", "lost"),
    ),
    "under_every_judge": Kind(
        "Every judge's scores give this finding, of the kind `said` or, of a metric that is not "
        "trusted, the verdict `said`; `k` is a rank where ranks are said.",
        Severity.FINDING,
        (*CONTRAST, "run", "metric", "questions"),
        ("k",),
        (*SIDES, "said"),
        ("judges",),
    ),
    "answers_changed": Kind(
        "Answers that turned right (gained) or wrong (lost) from left to right; p is McNemar's.",
        Severity.FINDING,
        (*CONTRAST, "metric", "questions"),
        ("gained", "lost", "ties", "p", "p_floor", "discordant", "questions"),
        SIDES,
        ("gained", "lost"),
    ),
    "credit": Kind(
        "These questions turned right (direction `won`) or wrong (`lost`) in every contrast that "
        "makes this one change of this factor.",
        Severity.FINDING,
        ("factor", "questions"),
        ("contrasts",),
        (*SIDES, "direction"),
    ),
    "generation_by_construction": Kind(
        "Every passage is the same on both sides: what changed on these questions is generation.",
        Severity.FINDING,
        (*CONTRAST, "questions"),
        ("same",),
        SIDES,
        ("gained", "lost"),
    ),
    "no_effect_possible": Kind(
        "All responses and passages are identical: the factor did not act.",
        Severity.FINDING,
        CONTRAST,
        ("questions",),
        SIDES,
    ),
    "interaction": Kind(
        "The first factor's effect on the metric depends on the second's value by `mean`.",
        Severity.FINDING,
        ("factor", "metric", "questions"),
        ("mean", "low", "high", "p", "p_floor", "questions"),
        (*SIDES, "second_factor", "second_left_value", "second_right_value"),
    ),
    "informative": Kind(
        "Only these questions are answered right by some runs and wrong by others.",
        Severity.FINDING,
        ("questions",),
        ("informative", "questions"),
    ),
    "different": Kind(
        "Right differs from left in a metric of cost, beyond chance within the family.",
        Severity.FINDING,
        (*CONTRAST, "metric", "questions"),
        TEST,
        SIDES,
        ("won", "lost"),
    ),
    "metric_trusted": Kind(
        "The metric scores right answers above wrong ones, beyond chance.",
        Severity.FINDING,
        ("metric",),
        ("auc", "low", "high", "gap", "right", "wrong", "questions"),
        ("graded_by",),
    ),
    "deeper_rank": Kind(
        "The first useful passage of these questions stands below rank k in this run: with "
        "top_k = k they would have been missed.",
        Severity.FINDING,
        ("run", "questions"),
        ("k", "k_returned"),
        ("source",),
    ),
}

KINDS: dict[str, Kind] = {**LEARNT, **CAUTIONS}
"""Kind -> what it carries, strongest first within a severity."""
