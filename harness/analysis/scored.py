"""What single runs scored, and whether the scores can be believed, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.records import Layer


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What stands beside a run's name in every table."""

    name: str
    variant: str
    partial: bool
    part: tuple[int, int] | None
    asked: int
    errors: int
    k_requested: int | None
    k_returned: float | None
    """Median over questions."""
    corpus_size: int | None
    saturation: float | None
    """k_returned / corpus_size, median over questions."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """One run's line in the grid of right and wrong."""

    run: str
    cells: tuple[float | None, ...]
    """By question: 1 right, 0 wrong, a share over repeats, None where nobody can say."""
    origins: tuple[str, ...]
    """By question: `grade`, `answer_match`, `error`, or empty."""
    right: float
    known: int
    """Questions for which right or wrong is known, failures of the system among them."""
    asked: int
    errors: int
    """Questions on which the system under test failed; they count as wrong."""

    @property
    def share(self) -> float | None:
        """Right out of known; None where nothing is known."""
        return self.right / self.known if self.known else None


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The grid of right and wrong, and which questions say anything."""

    questions: tuple[str, ...]
    rows: tuple[OutcomeRow, ...]
    informative: tuple[str, ...]
    """Questions that are not answered alike by every run."""
    always_right: tuple[str, ...]
    always_wrong: tuple[str, ...]
    unknown: tuple[str, ...]
    """Questions for which right or wrong is known in fewer than two runs."""
    origins: Mapping[str, int]
    """Which rule graded: origin -> cells."""

    @property
    def known(self) -> int:
        """Questions that are informative, always right or always wrong."""
        return len(self.informative) + len(self.always_right) + len(self.always_wrong)


@dataclass(frozen=True, slots=True)
class MeanCell:
    """The mean of one metric in one run."""

    run: str
    mean: float | None
    scored: int
    asked: int
    low: float | None
    """95 % interval of the mean over questions; None below two scores."""
    high: float | None
    worst: float | None
    """The mean with every NA at the metric's worst value; None where it is unbounded."""
    best: float | None
    common: float | None
    """The mean over the questions that every run has scored."""
    statuses: Mapping[str, int]
    """Why scores are missing: status -> questions; without `ok`."""
    units: float | None
    """Median denominator of the scored cells (claims, passages)."""
    coarse: int
    """Scored cells that rest on at most 3 units; their scores can take few values only."""
    corrected: float | None = None
    """The share of right answers that the scores and the human grades together imply, where at
    least 20 answers are graded (prediction-powered inference)."""
    corrected_low: float | None = None
    corrected_high: float | None = None


@dataclass(frozen=True, slots=True)
class MetricMeans:
    """One metric over all runs."""

    metric: str
    layer: Layer
    higher_is_better: bool | None
    """None where neither is."""
    bounded: bool
    cells: tuple[MeanCell, ...]
    """In the order of `Analysis.runs`."""
    common: tuple[str, ...]
    """Questions that every run has scored."""


class Trust(StrEnum):
    """Whether a metric can tell right answers from wrong ones."""

    TRUSTED = "trusted"
    NO_EVIDENCE = "no_evidence"
    INVERTED = "inverted"
    TOO_FEW_GRADES = "too_few_grades"


@dataclass(frozen=True, slots=True)
class MetricTrust:
    """A metric against right and wrong, over all runs."""

    metric: str
    verdict: Trust
    mean_right: float | None
    mean_wrong: float | None
    gap: float | None
    right: int
    """Cells that were scored and right."""
    wrong: int
    missing_right: int
    """Cells that were right and NA."""
    missing_wrong: int
    auc: float | None
    """The chance that a right answer scores better than a wrong one; in the metric's direction."""
    low: float | None
    """95 % interval, questions as the unit."""
    high: float | None
    auc_within: float | None
    """Over pairs of answers of one run."""
    auc_between: float | None
    """Over pairs of answers of two runs."""
    pairs_within: int
    pairs_between: int
    questions: int
    """Questions with a scored, graded answer."""
    graded_by: str
    """`grade` where people graded, `answer_match` where only that rule did."""
    correlation: float | None
    """Pearson's r between score and right/wrong."""
    undefined: str | None
    """Why there is no correlation: `no_scores`, or `constant` where scores or grades are."""


@dataclass(frozen=True, slots=True)
class RetrievalFacts:
    """What one run's ranked passages say without asking anybody."""

    run: str
    questions: tuple[str, ...]
    first_useful: tuple[int | None, ...]
    """By question: rank from 1 of the first useful passage; None where none was."""
    hits: tuple[float, ...]
    """hit@k for k = 1, 2, ...: share of the questions with a useful passage among the first k."""
    source: str
    """`gold` where the test set names the evidence, else `judge`."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A verdict that a person should look at."""

    run: str
    question_id: str
    repeat: int
    check: str
    item: int
    against: int
    reason: str
    """`verbatim_not_entailed` or `duplicates_disagree`"""
    text: str
