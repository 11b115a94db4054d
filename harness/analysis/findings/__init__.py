"""What a finding is, the kinds of finding, and findings in order and as JSON.

To add a kind: a producer in one of the modules beside this one, an entry in `KINDS`, and a
sentence in each language of `render/words`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters, strongest first."""

    ERROR = "error"
    """The data contradict themselves: fix that before drawing any conclusion."""
    WARNING = "warning"
    """A number of the report means less than it seems to."""
    FINDING = "finding"
    """A result: beyond chance, or a fact that needs no test."""
    CHANGE = "change"
    """Something changed, and nothing shows that it is more than chance."""
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of the report, as data. `KINDS` lists what each kind carries."""

    kind: str
    severity: Severity = field(init=False)
    """That of its kind."""
    numbers: Mapping[str, float | int | None] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    """Texts that the sentence needs: values of a factor, statuses."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Named lists that the sentence needs: question ids `gained` and `lost`, `words` to paste."""
    questions: tuple[str, ...] = ()
    factor: str | None = None
    left: str | None = None
    """The contrast's left run, where the finding is about a contrast."""
    right: str | None = None
    run: str | None = None
    metric: str | None = None

    def __post_init__(self) -> None:
        """Take the severity from the kind."""
        object.__setattr__(self, "severity", KINDS[self.kind].severity)


@dataclass(frozen=True, slots=True)
class FindingKind:
    """What every finding of one kind contains, for the sentences of the report."""

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
CONTRADICTION = (Severity.ERROR, (*CONTRAST, "metric", "questions"), ("differing",), SIDES)
TESTED = (
    ("factor", "metric", "questions"),
    ("mean", "low", "high", "p", "p_adjusted", "q", "questions", "wins", "ties", "losses"),
    SIDES,
    ("won", "lost"),
)
TRUST_NUMBERS = (
    *("within", "within_p", "within_pairs", "within_questions"),
    *("auc", "low", "high", "gap", "right", "wrong", "questions"),
)

TURNED = (
    ("factor", "questions"),
    ("contrasts", "expected", "p", "p_adjusted"),
    (*SIDES, "direction"),
)

KINDS: dict[str, FindingKind] = {
    "retrieval_scores_differ": FindingKind(
        "Equal passages, yet a retrieval metric gives other scores on these questions.",
        *CONTRADICTION,
    ),
    "judged_unequally": FindingKind(
        "Equal passages and word for word the same answer, yet the metric gives other scores on "
        "these questions: the judge, or a person, is not consistent.",
        *CONTRADICTION,
    ),
    "better": FindingKind(
        "The change makes this metric better, beyond chance for all that the report may claim.",
        Severity.FINDING,
        *TESTED,
    ),
    "worse": FindingKind(
        "The change makes this metric worse, beyond chance for all that the report may claim.",
        Severity.FINDING,
        *TESTED,
    ),
    "cannot_tell": FindingKind(
        "The difference is beyond chance, but more scores are missing on one side, and with their "
        "best or worst values it would have the other sign.",
        Severity.WARNING,
        *TESTED,
    ),
    "suggested": FindingKind(
        "The change may claim nothing in this metric, but its difference is worth a test of its "
        "own: `q` is the false discovery rate.",
        Severity.NOTE,
        *TESTED,
    ),
    "under_every_judge": FindingKind(
        "Every judge's scores give this finding. `said` is its kind or, for a metric that is not "
        "trusted, its verdict; `k` is the rank that a finding on ranks is about.",
        Severity.FINDING,
        ("factor", "run", "metric", "questions"),
        ("k",),
        (*SIDES, "said"),
        ("judges",),
    ),
    "credit": FindingKind(
        "These questions became right (direction `won`) or wrong (`lost`) in every contrast with "
        "this change of this factor, more than `expected` by chance.",
        Severity.FINDING,
        *TURNED,
    ),
    "no_effect_possible": FindingKind(
        "All responses and passages are identical: the factor did not act.",
        Severity.FINDING,
        CONTRAST,
        ("questions",),
        SIDES,
    ),
    "metric_trusted": FindingKind(
        "The metric scores right answers above wrong ones to the same question, beyond chance.",
        Severity.FINDING,
        ("metric",),
        TRUST_NUMBERS,
        ("graded_by",),
    ),
    "deeper_rank": FindingKind(
        "The first useful passage of these questions has a rank above k in this run: the "
        "first k passages alone would have missed it.",
        Severity.FINDING,
        ("run", "questions"),
        ("k", "k_returned"),
        ("source",),
    ),
    "under_some_judges": FindingKind(
        "The scores of `judges` give this finding and those of `others` do not; `said` and `k` as "
        "in `under_every_judge`.",
        Severity.WARNING,
        ("factor", "run", "metric", "questions"),
        ("k",),
        (*SIDES, "said"),
        ("judges", "others"),
    ),
    "nothing_beyond_chance": FindingKind(
        "No change of a factor is better or worse beyond chance in anything.",
        Severity.WARNING,
        (),
        ("primary", "smallest_adjusted"),
    ),
    "nothing_can_be_significant": FindingKind(
        "So few questions changed that no primary test at all could have passed.",
        Severity.WARNING,
        (),
        ("primary", "smallest_p", "alpha"),
    ),
    "metric_not_trusted": FindingKind(
        "The metric is not shown to tell right from wrong answers to the same question (verdict "
        "`no_evidence`), or scores wrong ones higher (`inverted`).",
        Severity.WARNING,
        ("metric",),
        TRUST_NUMBERS,
        ("graded_by", "verdict"),
    ),
    "retrieval_moved": FindingKind(
        "The passages of these questions differ, although the factor acts after retrieval: the "
        "runs differ in something that no factor names, such as the processor that embedded.",
        Severity.WARNING,
        (*CONTRAST, "questions"),
        (),
        SIDES,
    ),
    "saturated": FindingKind(
        "The run retrieves most (`share` >= 0.8) or all (1) of its index: retrieval metrics say "
        "nothing.",
        Severity.WARNING,
        ("run",),
        ("k_returned", "corpus_size", "share"),
    ),
    "k_not_reached": FindingKind(
        "Fewer passages came back than were asked for.",
        Severity.WARNING,
        ("run",),
        ("k_requested", "k_returned", "corpus_size", "questions"),
    ),
    "system_errors": FindingKind(
        "The system under test failed on these questions; they count as wrong.",
        Severity.WARNING,
        ("run", "questions"),
        ("errors", "asked"),
    ),
    "partial_run": FindingKind(
        "Only part of the questions was asked.", Severity.WARNING, ("run",), ("asked", "questions")
    ),
    "always_wrong": FindingKind(
        "No run answers these questions right: check the test set first.",
        Severity.WARNING,
        ("questions",),
        ("runs",),
    ),
    "missing_scores": FindingKind(
        "Cells of this metric are NA, for the reason `status`.",
        Severity.WARNING,
        ("metric",),
        ("missing", "cells"),
        ("status",),
    ),
    "missing_not_at_random": FindingKind(
        "NA cells fall unevenly on the two sides, or the sign of the difference depends on them; "
        "`others` more contrasts in view have the same problem with this metric.",
        Severity.WARNING,
        (*CONTRAST, "metric", "questions"),
        ("left_missing", "right_missing", "compared", "mean", "worst", "best", "flips", "others"),
        SIDES,
    ),
    "judged_differently": FindingKind(
        "Different judges or prompts scored the two sides: this metric is not compared, here and "
        "in `others` more contrasts in view.",
        Severity.WARNING,
        (*CONTRAST, "metric"),
        ("others",),
        SIDES,
    ),
    "quantised": FindingKind(
        "Most cells of this metric rest on at most 3 units, so few values are possible.",
        Severity.WARNING,
        ("metric",),
        ("coarse", "cells", "units"),
    ),
    "one_cell": FindingKind(
        "A right answer has the metric's worst score on at most 3 units: one cell, not a finding.",
        Severity.WARNING,
        ("run", "metric", "questions"),
        ("value", "units"),
    ),
    "refused_despite_evidence": FindingKind(
        "The evidence was retrieved, yet the answer is a refusal.",
        Severity.WARNING,
        ("run", "questions"),
        ("refused",),
    ),
    "answered_unanswerable": FindingKind(
        "Questions without an answer in the corpus were answered anyway.",
        Severity.WARNING,
        ("run", "questions"),
        ("answered", "unanswerable"),
    ),
    "refusals": FindingKind(
        "Refusals: correct where the corpus holds no answer, wrong where it holds one.",
        Severity.NOTE,
        ("run", "questions"),
        ("correct_count", "wrong_count"),
        groups=("correct", "wrong"),
    ),
    "mean_without_refusals": FindingKind(
        "The mean over all scored questions, and without those that were refused: relevancy does "
        "not see whether the corpus holds the answer.",
        Severity.NOTE,
        ("run", "metric", "questions"),
        ("mean", "scored", "without", "scored_without"),
    ),
    "refusals_recognised": FindingKind(
        "Of the `decided` answers, the judge said of `judged` whether they refuse; sentence "
        "structure decided the others.",
        Severity.NOTE,
        (),
        ("decided", "judged"),
    ),
    "suspect_verdicts": FindingKind(
        "Verdicts of the judge that contradict the text, each other or their own reason, and "
        "references of which the judge's claims leave out facts.",
        Severity.WARNING,
        ("run", "questions"),
        ("verbatim", "duplicates", "reasons", "references"),
    ),
    "facts_left_out": FindingKind(
        "These numbers, names and dates of the references are in none of the judge's claims, so "
        "the metric does not count them.",
        Severity.WARNING,
        ("run", "metric", "questions"),
        groups=("facts",),
    ),
    "judge_of_same_family": FindingKind(
        "The judge is of the generator's own family.",
        Severity.WARNING,
        ("run",),
        (),
        ("generator", "judge"),
    ),
    "another_model": FindingKind(
        "The server says that models `answered` replied, not the `generator` that was requested.",
        Severity.WARNING,
        ("run",),
        (),
        ("generator", "answered"),
    ),
    "answers_from_cache": FindingKind(
        "Answers of two versions came from one model call: the model was not asked again, so "
        "nothing follows from their being the same.",
        Severity.WARNING,
        (*CONTRAST, "questions"),
        ("cached", "questions"),
        SIDES,
    ),
    "same_wording": FindingKind(
        "These questions have the same wording; they are scored separately.",
        Severity.WARNING,
        ("questions",),
    ),
    "not_comparable": FindingKind(
        "The runs and the others have different corpora or test sets, or the others' corpus is "
        "not known (`reason`): never compared.",
        Severity.WARNING,
        (),
        (),
        ("reason",),
        ("runs", "others"),
    ),
    "turned_in_every_contrast": FindingKind(
        "As `credit`, but chance turns as many.", Severity.CHANGE, *TURNED
    ),
    "answers_changed": FindingKind(
        "Answers that became right (gained) or wrong (lost) from left to right, in every repeat, "
        "or in some (partly), by `mean` over all questions; p is McNemar's, where repeats differ "
        "the sign-flip test's.",
        Severity.CHANGE,
        (*CONTRAST, "metric", "questions"),
        ("mean", "gained", "lost", "ties", "p", "p_floor", "discordant", "questions"),
        SIDES,
        ("gained", "lost", "partly"),
    ),
    "interaction": FindingKind(
        "The first factor's effect on the metric depends on the second's value by `mean`.",
        Severity.CHANGE,
        ("factor", "metric", "questions"),
        ("mean", "low", "high", "p", "p_floor", "questions"),
        (*SIDES, "second_factor", "second_left_value", "second_right_value"),
    ),
    "generation_by_construction": FindingKind(
        "Every passage is the same on both sides: what changed on these questions is generation.",
        Severity.NOTE,
        (*CONTRAST, "questions"),
        ("same",),
        SIDES,
        ("gained", "lost"),
    ),
    "informative": FindingKind(
        "Only these questions are answered right by some runs and wrong by others.",
        Severity.NOTE,
        ("questions",),
        ("informative", "questions"),
    ),
    "repeats_identical": FindingKind(
        "All repeats of each question have the same text: the seed had no effect.",
        Severity.NOTE,
        ("run",),
        ("repeats", "questions"),
    ),
    "confounded": FindingKind(
        "The runs differ in several factors and no chain of runs separates them; `words` make "
        "the variant that would.",
        Severity.NOTE,
        ("left", "right"),
        ("factors", "missing"),
        (),
        ("factors", "words"),
    ),
    "missing_corner": FindingKind(
        "Whether the two factors' effects depend on each other cannot be said: a run is missing.",
        Severity.NOTE,
        ("factor",),
        ("missing",),
        (*SIDES, "second_factor", "second_left_value", "second_right_value"),
        ("words",),
    ),
    "primary_not_tested": FindingKind(
        "The study declared this test before collecting, and no contrast makes it.",
        Severity.WARNING,
        ("factor", "metric"),
    ),
    "too_few_grades": FindingKind(
        "Too few right and wrong answers to the same questions, or none, to say whether the metric "
        "can be trusted.",
        Severity.NOTE,
        ("metric",),
        ("within_pairs", "within_questions", "right", "wrong", "questions"),
        ("graded_by",),
    ),
    "always_right": FindingKind(
        "Every run answers these questions right: they do not separate the runs.",
        Severity.NOTE,
        ("questions",),
        ("runs",),
    ),
    "judges_agreement": FindingKind(
        "How far two judges agree on one check, over the `n` labels that can be matched. Where "
        "kappa is NA or not informative, `unmatched` is the reason or, where `lacking` gave no "
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


def numbers_of(kind: str, result: object) -> dict[str, float | int | None]:
    """Return the numbers of a kind, read from the result that has them under the same names."""
    return {name: getattr(result, name) for name in KINDS[kind].numbers}


def strongest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by severity, then by kind as in `KINDS`, else in the order given."""
    severities, kinds = list(Severity), list(KINDS)
    return tuple(
        sorted(findings, key=lambda f: (severities.index(f.severity), kinds.index(f.kind)))
    )


def merge_alike(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings, reduced to one where several contrasts have the same about a metric.

    These are the kinds with the number `others`: the first finding is kept and counts the others.
    """
    kept: dict[object, Finding] = {}
    for at, finding in enumerate(findings):
        # the same about a metric, apart from the contrast
        topic = finding.kind, finding.metric, finding.numbers.get("flips")
        key = topic if "others" in finding.numbers else at
        first = kept.setdefault(key, finding)
        if first is not finding:
            others = (first.numbers["others"] or 0) + 1
            kept[key] = replace(first, numbers={**first.numbers, "others": others})
    return tuple(kept.values())


def as_json(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Return the content of `findings.json`: plain values, null where a number is undefined."""
    return [
        {
            "kind": finding.kind,
            "severity": finding.severity.value,
            "contrast": {"left": finding.left, "right": finding.right}
            if finding.left is not None and finding.right is not None
            else None,
            "factor": finding.factor,
            "run": finding.run,
            "metric": finding.metric,
            "questions": list(finding.questions),
            "numbers": {name: json_number(value) for name, value in finding.numbers.items()},
            "names": dict(finding.names),
            "groups": {name: list(items) for name, items in finding.groups.items()},
        }
        for finding in findings
    ]


def json_number(value: float | int | None) -> float | int | None:
    """Return a number that JSON can hold: never NaN or infinity."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int) else float(value)


def value_text(value: object) -> str:
    """Return a factor's value as a short text; None is "none"."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={value_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(value_text(item) for item in value)
    return "none" if value is None else str(value)
