"""The kinds of finding: severity, and the numbers that each carries."""

from dataclasses import dataclass

from harness.analysis.results import Severity


@dataclass(frozen=True, slots=True)
class Kind:
    """What every finding of one kind carries, for whoever puts it into words."""

    meaning: str
    severity: Severity
    about: tuple[str, ...] = ()
    """Which of `factor`, `left`, `right`, `run`, `metric`, `questions` are filled."""
    numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


CONTRAST = ("factor", "left", "right")
SIDES = ("left_value", "right_value")
"""The factor's values, as text."""
TEST = ("mean", "low", "high", "p", "p_floor", "p_adjusted", "questions", "wins", "ties", "losses")


CAUTIONS: dict[str, Kind] = {
    "under_some_judges": Kind(
        "The scores of `judges` give this finding and those of `others` do not; `said` and `k` as "
        "under every judge.",
        Severity.WARNING,
        (*CONTRAST, "run", "metric", "questions"),
        ("k",),
        (*SIDES, "said"),
        ("judges", "others"),
    ),
    "nothing_beyond_chance": Kind(
        "No test of the family is below the level after correction.",
        Severity.WARNING,
        (),
        ("contrasts", "tests", "smallest_adjusted"),
    ),
    "nothing_can_be_significant": Kind(
        "With so few questions and so many tests no result whatever could have passed.",
        Severity.WARNING,
        (),
        ("tests", "smallest_p", "level"),
    ),
    "metric_not_trusted": Kind(
        "The metric cannot tell right answers from wrong ones (verdict `no_evidence`), or scores "
        "wrong ones higher (`inverted`).",
        Severity.WARNING,
        ("metric",),
        ("auc", "low", "high", "gap", "right", "wrong", "questions"),
        ("graded_by", "verdict"),
    ),
    "retrieval_moved": Kind(
        "The passages of these questions differ, although the factor acts after retrieval: the "
        "runs differ in something that no factor names, such as the processor that embedded.",
        Severity.WARNING,
        (*CONTRAST, "questions"),
        (),
        SIDES,
    ),
    "saturated": Kind(
        "The run retrieves most (`share` >= 0.8) or all (1) of its index: retrieval metrics say "
        "nothing.",
        Severity.WARNING,
        ("run",),
        ("k_returned", "corpus_size", "share"),
    ),
    "k_not_reached": Kind(
        "Fewer passages came back than were asked for.",
        Severity.WARNING,
        ("run",),
        ("k_requested", "k_returned", "corpus_size", "questions"),
    ),
    "system_errors": Kind(
        "The system under test failed on these questions; they count as wrong.",
        Severity.WARNING,
        ("run", "questions"),
        ("errors", "asked"),
    ),
    "partial_run": Kind(
        "Only part of the questions was asked.", Severity.WARNING, ("run",), ("asked", "questions")
    ),
    "always_wrong": Kind(
        "No run answers these questions: check the test set first.",
        Severity.WARNING,
        ("questions",),
        ("runs",),
    ),
    "missing_scores": Kind(
        "Cells of this metric are NA, for the reason `status`.",
        Severity.WARNING,
        ("metric",),
        ("missing", "cells"),
        ("status",),
    ),
    "missing_not_at_random": Kind(
        "NA cells fall unevenly on the two sides, or the sign of the difference hangs on them; "
        "`others` more contrasts in view say the same of this metric.",
        Severity.WARNING,
        (*CONTRAST, "metric", "questions"),
        ("left_missing", "right_missing", "compared", "mean", "worst", "best", "flips", "others"),
        SIDES,
    ),
    "judged_differently": Kind(
        "Other judges or prompts scored the two sides: this metric is not compared, and it is so "
        "in `others` more contrasts in view.",
        Severity.WARNING,
        (*CONTRAST, "metric"),
        ("others",),
        SIDES,
    ),
    "quantised": Kind(
        "Most cells of this metric rest on at most 3 units, so few values are possible.",
        Severity.WARNING,
        ("metric",),
        ("coarse", "cells", "units"),
    ),
    "one_cell": Kind(
        "A right answer has the metric's worst score on at most 3 units: one cell, not a finding.",
        Severity.WARNING,
        ("run", "metric", "questions"),
        ("value", "units"),
    ),
    "refused_despite_evidence": Kind(
        "The evidence was retrieved, yet the answer is a refusal.",
        Severity.WARNING,
        ("run", "questions"),
        ("refused",),
    ),
    "answered_unanswerable": Kind(
        "Questions without an answer in the corpus were answered all the same.",
        Severity.WARNING,
        ("run", "questions"),
        ("answered", "unanswerable"),
    ),
    "suspect_verdicts": Kind(
        "Verdicts of the judge that contradict the text or each other.",
        Severity.WARNING,
        ("run", "questions"),
        ("verbatim", "duplicates"),
    ),
    "judge_of_same_family": Kind(
        "The judge is of the generator's own family.",
        Severity.WARNING,
        ("run",),
        (),
        ("generator", "judge"),
    ),
    "same_wording": Kind(
        "These questions have the same wording; they are scored apart.",
        Severity.WARNING,
        ("questions",),
    ),
    "not_comparable": Kind(
        "The two runs rest on another corpus or test set (`reason`): never compared.",
        Severity.WARNING,
        ("left", "right"),
        (),
        ("reason",),
    ),
    "confounded": Kind(
        "The runs differ in several factors and no chain of runs separates them; `words` make "
        "the variant that would.",
        Severity.NOTE,
        ("left", "right"),
        ("factors", "missing"),
        (),
        ("factors", "words"),
    ),
    "missing_corner": Kind(
        "Whether the two factors' effects depend on each other cannot be said: a run is missing.",
        Severity.NOTE,
        ("factor",),
        ("missing",),
        (*SIDES, "second_factor", "second_left_value", "second_right_value"),
        ("words",),
    ),
    "primary_not_tested": Kind(
        "The study declared this test before collecting, and no contrast makes it.",
        Severity.WARNING,
        ("factor", "metric"),
    ),
    "too_few_grades": Kind(
        "Too few graded answers, or of one kind only, to say whether the metric can be believed.",
        Severity.NOTE,
        ("metric",),
        ("right", "wrong", "questions"),
        ("graded_by",),
    ),
    "always_right": Kind(
        "Every run answers these questions: they separate nothing.",
        Severity.NOTE,
        ("questions",),
        ("runs",),
    ),
    "judges_agreement": Kind(
        "How far two judges agree on one check, over the `n` labels that can be matched; "
        "where kappa is NA or says nothing, `unmatched` tells why or, where `lacking` gave no "
        "label, `status`.",
        Severity.NOTE,
        (),
        (
            *("n", "first_labelled", "second_labelled", "questions", "agreed", "share"),
            *("kappa", "low", "high"),
        ),
        ("first", "second", "check", "unmatched", "status", "lacking"),
    ),
}
"""Kind -> what it carries, strongest first within a severity."""


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
