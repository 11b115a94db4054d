"""What analysis returns, as data: numbers and ids, never sentences.

What is undefined is None, never zero. Every share and mean has the number of questions that it is
computed from beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from harness.analysis.findings import Finding
from harness.analysis.statistics.intervals import Interval
from harness.analysis.statistics.sign_flip import McNemar
from harness.records import Layer

SATURATED = 0.8
"""Share of the index retrieved for each question from which retrieval metrics say little."""


class Conclusion(StrEnum):
    """What may be concluded about one metric of one contrast."""

    BETTER = "better"
    """The right-hand run, beyond chance after correction for the whole family."""
    WORSE = "worse"
    DIFFERENT = "different"
    """Beyond chance, in a metric of cost or one in which neither direction is better."""
    NO_EVIDENCE = "no_evidence"
    NO_EFFECT_POSSIBLE = "no_effect_possible"
    """All responses and passages are identical: the factor did not act."""
    IDENTICAL_BY_CONSTRUCTION = "identical_by_construction"
    """A retrieval metric over the same passages."""
    NOT_TRUSTED = "not_trusted"
    """The metric cannot tell right answers from wrong ones here."""
    NOT_COMPARED = "not_compared"
    """No question was scored on both sides, other judges scored the two sides, or the answers of
    one side are those of the other, from the cache."""
    NOT_TESTED = "not_tested"
    """A metric in `UNTESTED` (seconds, number of passages returned): the difference is shown
    without a test, and is not part of the family."""


BEYOND_CHANCE = (Conclusion.BETTER, Conclusion.WORSE, Conclusion.DIFFERENT)


class PassageComparison(StrEnum):
    """How the passages of two responses to one question compare."""

    SAME = "same"
    REORDERED = "reordered"
    CHANGED = "changed"
    UNKNOWN = "unknown"
    """One side failed, was not asked, or reports no passages."""


class Attribution(StrEnum):
    """Where a contrast's changes can have come from."""

    NO_EFFECT_POSSIBLE = "no_effect_possible"
    FROM_CACHE = "from_cache"
    """All responses are identical, but for two versions of a system some came from one model call:
    the second version's model was not asked."""
    GENERATION = "generation"
    """Every question has the same passages on both sides: by construction."""
    RETRIEVAL_CHANGED = "retrieval_changed"
    UNKNOWN = "unknown"
    """Passages are not recorded, or not for every question."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric's change from left to right, paired by question."""

    metric: str
    verdict: Conclusion
    """Named as its column in the CSV files."""
    mean: float | None
    """Mean over the compared questions of right - left."""
    left_mean: float | None
    """Over the compared questions only."""
    right_mean: float | None
    questions: int
    """Compared: scored on both sides."""
    won: tuple[str, ...]
    """Questions on which the right-hand run is better in the metric's direction (higher, where
    the metric has no direction)."""
    lost: tuple[str, ...]
    ties: int
    dropped_left: tuple[str, ...]
    """Asked on both sides, NA on the left only."""
    dropped_right: tuple[str, ...]
    dropped_both: tuple[str, ...]
    standard_error: float | None
    low: float | None
    """95 % interval of the mean difference; never of zero width. None below two questions, for
    untested metrics, and where an unbounded metric does not vary."""
    high: float | None
    interval: str
    """Which rule made the interval: `t`, `t_sparse`, `dirichlet`, `unchanged`; `none` where there
    is no interval, `construction` where the passages or the responses are the same."""
    p: float | None
    """Two-sided sign-flip p."""
    p_floor: float | None
    """The smallest p that this many questions (or flips) can reach."""
    p_rule: str
    """`exact`, `monte_carlo`, `bound` (too small for the flips drawn), or `none`."""
    p_adjusted: float | None
    """After Holm over its family."""
    primary: bool
    """Declared before collecting; its family is all declared tests. All others are exploratory."""
    mcnemar: McNemar | None
    """Where both sides are 0 or 1."""
    detectable: float | None
    """The smallest difference found with 80 % power at the family's level; None if none is."""
    questions_needed: int | None
    """To find a difference of this size with 80 % power; None where the observed one is zero."""
    worst: float | None
    """The difference with every NA at the value worst for the right-hand run."""
    best: float | None
    flips_with_missing: bool
    """The sign of the difference depends on the unknown values of the cells that are NA on one
    side only. Cells that are NA on both sides do not count."""
    under_one_verdict: bool
    """The difference is no larger than one flipped verdict in one cell would make."""

    @property
    def wins(self) -> int:
        """Questions on which the right-hand run is better."""
        return len(self.won)

    @property
    def losses(self) -> int:
        """Questions on which the right-hand run is worse."""
        return len(self.lost)


@dataclass(frozen=True, slots=True)
class Transition:
    """One cell of the table: evidence retrieved or not, answer right or not, on each side."""

    left_evidence: bool
    left_right: bool
    right_evidence: bool
    right_right: bool
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassageChange:
    """How the passages changed between two runs."""

    by_question: Mapping[str, PassageComparison]
    """Over the questions asked on both sides."""
    same: int
    reordered: int
    changed: int
    unknown: int
    identical_responses: tuple[str, ...]
    """Questions with exactly the same answer on both sides."""
    same_calls: tuple[str, ...] = ()
    """Questions whose answers on both sides came from one model call, by the cache."""


@dataclass(frozen=True, slots=True)
class Change:
    """One factor, and its value on each side."""

    factor: str
    left: object
    right: object
    leaves: tuple[str, ...] = ()
    """The leaves that follow, where the factor is a whole group."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two runs whose configurations differ in one factor and nothing else."""

    left: str
    right: str
    change: Change
    differences: tuple[Difference, ...]
    """Right/wrong first (metric `right`) where it is known, then the metrics in their order."""
    passages: PassageChange
    attribution: Attribution
    transitions: tuple[Transition, ...] = ()
    """Only where gold evidence is given; over the questions for which all four facts are known."""

    @property
    def factor(self) -> str:
        """The one factor that differs."""
        return self.change.factor

    def difference(self, metric: str) -> Difference | None:
        """Return one metric's difference, None where it was not measured."""
        return next((d for d in self.differences if d.metric == metric), None)


@dataclass(frozen=True, slots=True)
class Family:
    """How many tests were made, and the level that each must reach."""

    tests: int
    primary: int
    alpha: float
    smallest_p: float | None
    """The smallest p that any test of the family could reach."""

    @property
    def level(self) -> float:
        """The p value that the strongest of the tests must not exceed."""
        return self.alpha / max(1, self.tests - self.primary)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What every table shows beside a run's name."""

    name: str
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

    @property
    def saturated(self) -> bool:
        """Whether so much of the index is retrieved that retrieval metrics say little."""
        return self.saturation is not None and self.saturation >= SATURATED


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """One run's line in the grid of right and wrong."""

    run: str
    cells: tuple[float | None, ...]
    """By question: 1 right, 0 wrong, a share over repeats, None where it is unknown."""
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
    """The grid of right and wrong, and which questions are informative."""

    questions: tuple[str, ...]
    rows: tuple[OutcomeRow, ...]
    informative: tuple[str, ...]
    """Questions that some runs answer right and others wrong."""
    always_right: tuple[str, ...]
    always_wrong: tuple[str, ...]
    unknown: tuple[str, ...]
    """Questions for which right or wrong is known in fewer than two runs."""
    origins: Mapping[str, int]
    """Origin of the grade -> number of cells."""

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
    least 20 answers are graded, and the graded ones are all of the run's or a random sample
    (prediction-powered inference)."""
    corrected_low: float | None = None
    corrected_high: float | None = None


@dataclass(frozen=True, slots=True)
class MetricMeans:
    """One metric over all runs."""

    metric: str
    layer: Layer
    higher_is_better: bool | None
    """None where neither direction is better."""
    bounded: bool
    cells: tuple[MeanCell, ...]
    """In the order of `Analysis.runs`."""
    common: tuple[str, ...]
    """Questions that every run has scored."""


class Prospect(StrEnum):
    """Whether more grades would decide a change of a factor: a 95 % interval without 0."""

    GRADES = "grades"
    """More grades would decide it, at the present estimate."""
    DECIDED = "decided"
    EQUAL = "equal"
    """Too few answers changed: nothing can be learnt, whatever the grades say."""
    QUESTIONS = "questions"
    """At the present estimate, not even grades of all answers would decide it."""


@dataclass(frozen=True, slots=True)
class CorrectedDifference:
    """What grades and a metric say about right answers under one change of a factor."""

    change: Change
    contrasts: tuple[tuple[str, str], ...]
    """Left and right run of each pair; a question's difference is its mean over these pairs."""
    questions: int
    """Asked on both sides of a pair."""
    changed: int
    """Of these, with different answers: all others have a difference of exactly 0."""
    graded: int
    """Of the changed ones, those in the random sample."""
    metric: str | None
    """Whose scores say something about the ungraded answers."""
    mean: float | None
    """Mean over all questions of right - left; None where too few are graded at random."""
    low: float | None
    high: float | None
    prospect: Prospect
    needed: int | None
    """Grades that would decide it, where the prospect is `grades`."""


class Trust(StrEnum):
    """Whether a metric can tell right answers from wrong ones."""

    TRUSTED = "trusted"
    NO_EVIDENCE = "no_evidence"
    INVERTED = "inverted"
    TOO_FEW_GRADES = "too_few_grades"


NOT_TRUSTED = (Trust.NO_EVIDENCE, Trust.INVERTED)
"""Of a metric that cannot tell right answers from wrong ones, with enough grades to say so."""


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
    """Why there is no correlation: `no_scores`, `no_right`, `no_wrong`, or `constant` scores."""


@dataclass(frozen=True, slots=True)
class RetrievalFacts:
    """The rank of the first useful passage, question by question, in one run."""

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
    """A verdict of the judge that a person should review."""

    run: str
    question_id: str
    repeat: int
    check: str
    item: int
    against: int
    reason: str
    """`verbatim_not_entailed`, `duplicates_disagree`, `reason_disagrees` or `facts_left_out`"""
    text: str
    """The claim, the id of the passage labelled useful or not, or the facts in no claim."""


MissingRun = tuple[str, ...]
"""A run that has not been collected: the override words that collect it, each ready for a shell,
such as ("variant=ctx_k4", "prompt=strict"). Empty where no words would give that run."""


@dataclass(frozen=True, slots=True)
class Confounded:
    """Two runs that differ in several factors: no contrast."""

    left: str
    right: str
    changes: tuple[Change, ...]
    between: tuple[str, ...]
    """Existing runs on the shortest path from left to right, one factor per step."""
    missing: tuple[MissingRun, ...]
    """Runs still missing on that path; empty where the existing runs separate the factors."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One run of a sweep."""

    value: float
    run: str
    means: Mapping[str, float | None]
    """Metric -> mean over the questions that every run of the sweep has scored."""
    intervals: Mapping[str, Interval]
    """Metric -> 95 % interval of that mean."""
    scored: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Curve:
    """A sweep over one numeric factor, in number order."""

    factor: str
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class Interaction:
    """Whether one factor's effect depends on another's: difference of differences."""

    first: Change
    second: Change
    corners: tuple[str | None, ...]
    """Runs at (left, left), (right, left), (left, right), (right, right) of first and second;
    None where that run has not been collected."""
    differences: tuple[Difference, ...]
    """By metric: first's effect at second's right value less that at its left value. Empty
    where a corner is missing."""
    missing: tuple[MissingRun, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """One metric's difference as the sum of the effects of retrieval and of generation."""

    metric: str
    total: float
    retrieval: float
    generation: float
    questions: int


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A pair in which retrieval and generation both changed, and the runs that would split it."""

    left: str
    right: str
    crossed: tuple[str | None, ...]
    """Left's generator on right's passages, and right's on left's; None where it was not run."""
    missing: tuple[MissingRun, ...]
    splits: tuple[Split, ...]
    """By metric; empty while a run is missing."""


@dataclass(frozen=True, slots=True)
class CheckAgreement:
    """Two judges' labels on one check, over the verdicts that can be matched."""

    first: str
    second: str
    check: str
    first_labelled: int
    """Labels that the first judge gave on the answers that both judged."""
    second_labelled: int
    n: int
    """Labels that can be matched: of the same check, on the same item of the same answer. Claims
    are matched by their text, because two judges may split a text differently."""
    questions: int
    """Questions that these n belong to: the units of the interval."""
    agreed: int
    shares: Mapping[int, tuple[float, float]]
    """Base rates: label -> the share of the n that each judge gave it."""
    kappa: float | None
    low: float | None
    """95 % interval over questions; None where there is none."""
    high: float | None
    undefined: str | None
    """Why there is no kappa: `one_label` (both gave all n the same), `other_claims` (no claim has
    the same text), `nothing_in_common`, `not_asked`, or the `Status` of the judge that gave no
    label. Or why it is not informative: `one_constant`, as kappa is then always 0."""
    lacking: str | None = None
    """The judge that gave no label, if any."""

    @property
    def share(self) -> float | None:
        """Labels that agree, out of n; None where n is 0."""
        return self.agreed / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Reading:
    """What one judge's scores say about the subject of a finding."""

    judge: str
    holds: bool
    """The finding is this judge's too."""
    verdict: str
    """A `Conclusion` on the difference or a `Trust` in the metric; empty where neither applies."""
    number: float | None
    """The mean difference, or the AUC."""


@dataclass(frozen=True, slots=True)
class FindingByJudge:
    """A finding that rests on a judge's labels, under each judge; one for each subject."""

    finding: Finding
    """As given by the first judge under which it holds; of opposite ones the first judge's."""
    readings: tuple[Reading, ...]
    """In the order of `Judges.compared`."""

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges under which it holds."""
        return tuple(reading.judge for reading in self.readings if reading.holds)

    @property
    def others(self) -> tuple[str, ...]:
        """The judges under which it does not hold."""
        return tuple(reading.judge for reading in self.readings if not reading.holds)


@dataclass(frozen=True, slots=True)
class Judges:
    """What two or more judges say about one study."""

    names: tuple[str, ...]
    """The one whose report this is, then the others."""
    agreements: tuple[CheckAgreement, ...]
    """By pair of judges, then by check."""
    compared: tuple[str, ...]
    """Judges whose findings are compared: those that scored at least two of the runs."""
    runs: tuple[str, ...]
    """The common part that findings are compared on: what all of `compared` have scored."""
    questions: tuple[str, ...]
    metrics: tuple[str, ...]
    """Metrics that rest on a judge and that each of `compared` has scored somewhere."""
    of_runs: int
    """Runs of the report."""
    of_questions: int
    uncommon: tuple[str, ...]
    """Metrics that rest on a judge and that not every one of `compared` has scored: left out."""
    findings: tuple[FindingByJudge, ...]
    free: int
    """Findings of the report that rest on no judge: the same under each, and not compared."""


IncomparableGroups = tuple[tuple[str, ...], tuple[str, ...], str]
"""Runs, the runs that they are not compared with, and why: `corpus`, `unknown_corpus`, where the
latter's is not known, or `testset`."""


@dataclass(frozen=True)
class Analysis:
    """Everything a report says."""

    runs: tuple[RunSummary, ...]
    """In the order of every table: the study's."""
    questions: tuple[str, ...]
    """In natural order."""
    outcomes: Outcomes
    means: tuple[MetricMeans, ...]
    contrasts: tuple[Contrast, ...]
    """All of them, or those in view where a baseline or factor narrows it."""
    confounded: tuple[Confounded, ...]
    repeats: tuple[tuple[str, str], ...]
    """Pairs of runs with equal factors."""
    incomparable: tuple[IncomparableGroups, ...]
    """Groups of runs that are not compared with the first group, and why."""
    curves: tuple[Curve, ...]
    interactions: tuple[Interaction, ...]
    counterfactuals: tuple[Counterfactual, ...]
    trust: tuple[MetricTrust, ...]
    retrieval: tuple[RetrievalFacts, ...]
    suspects: tuple[Suspect, ...]
    family: Family
    findings: tuple[Finding, ...]
    """Strongest first."""
    baseline: str | None = None
    factor: str | None = None
    clusters: int | None = None
    """Number of clusters (documents) in which questions were sampled; None where questions are
    independent."""
    judges: Judges | None = None
    """What other judges say about the same answers; None with a single judge."""
    corrected: tuple[CorrectedDifference, ...] = ()
    """One row per change of a factor, where right or wrong is known."""

    @cached_property
    def costs(self) -> frozenset[str]:
        """Metrics of time and tokens."""
        return frozenset(m.metric for m in self.means if m.layer is Layer.COST)

    @cached_property
    def unbounded(self) -> frozenset[str]:
        """Metrics that do not lie in [0, 1]."""
        return frozenset(m.metric for m in self.means if not m.bounded)

    @cached_property
    def doubted(self) -> frozenset[str]:
        """Metrics that cannot tell right answers from wrong ones here."""
        return frozenset(row.metric for row in self.trust if row.verdict in NOT_TRUSTED)

    @cached_property
    def unscored(self) -> frozenset[str]:
        """Metrics that are NA in every run."""
        return frozenset(m.metric for m in self.means if not any(c.scored for c in m.cells))
