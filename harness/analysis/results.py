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
from harness.analysis.statistics.sign_flip import McNemar, missing_differs
from harness.analysis.study_table import GOLD, Expectation
from harness.records import Layer

SATURATED = 0.8
"""Share of the index retrieved for each question from which retrieval metrics say little."""


class Conclusion(StrEnum):
    """What may be concluded about one metric of one contrast."""

    BETTER = "better"
    """The right-hand side, beyond chance after correction for all that may be claimed."""
    WORSE = "worse"
    SUGGESTED = "suggested"
    """No claim, but found while exploring: of all such at most one in twenty is expected to be
    chance."""
    CANNOT_TELL = "cannot_tell"
    """Beyond chance, but more scores are missing on one side, and with their best or worst values
    it might not be, or have the other sign."""
    NO_EVIDENCE = "no_evidence"
    NO_EFFECT_POSSIBLE = "no_effect_possible"
    """All responses and passages are identical: the factor did not act."""
    IDENTICAL_BY_CONSTRUCTION = "identical_by_construction"
    """A retrieval metric over the same passages."""
    NOT_TRUSTED = "not_trusted"
    """The metric is not shown to tell right answers from wrong ones here."""
    NOT_COMPARED = "not_compared"
    """No question was scored on both sides, other judges scored the two sides, or the answers of
    one side are those of the other, from the cache."""
    NOT_TESTED = "not_tested"
    """A cost, or a run that was asked part of the questions: described, and claims nothing."""


BEYOND_CHANCE = (Conclusion.BETTER, Conclusion.WORSE)
FOUND = (*BEYOND_CHANCE, Conclusion.SUGGESTED, Conclusion.CANNOT_TELL)
"""What a finding says of a difference."""
FIXED_AT_ZERO = (Conclusion.NO_EFFECT_POSSIBLE, Conclusion.IDENTICAL_BY_CONSTRUCTION)


class TestFamily(StrEnum):
    """What a test may claim, in the order in which claims are made."""

    __test__ = False

    PRIMARY = "primary"
    """Declared by the study or, where it declares none, evidence retrieved (gold nDCG) for a change
    of retrieval and right answers for any other."""
    FACTS = "facts"
    """Right answers and evidence retrieved, once the change's primary test has passed."""
    JUDGED = "judged"
    """Metrics that are trusted, once a fact of the change has passed."""
    EXPLORATORY = "exploratory"
    """It claims nothing, and has a false discovery rate."""
    NONE = "none"
    """Not tested."""


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
    """95 % interval of the mean difference; never of zero width. It holds 0 exactly where p is
    above 0.05, but where `missing_differs`: then it reaches to the ends of the intervals with
    every score that is missing on one side at its worst, and at its best. None below two
    questions, for untested metrics, and where an unbounded metric is the same on every question."""
    high: float | None
    interval: str
    """Which rule made the interval: `t`, `t_sparse` (many ties), `dirichlet` (right and wrong);
    `none` where there is no interval, `construction` where the passages or the responses are the
    same."""
    p: float | None
    """Two-sided sign-flip p."""
    p_floor: float | None
    """The smallest p that this many questions (or flips) can reach."""
    p_rule: str
    """`exact`, `monte_carlo`, `bound` (too small for the flips drawn), or `none`."""
    p_adjusted: float | None
    """By step-down minP over all that may be claimed; of a pair of runs that of its change, if
    that is larger. None where it may claim nothing."""
    q: float | None
    """False discovery rate (Benjamini and Hochberg) over every test of a change; of a pair of
    runs its p, if that is larger."""
    family: TestFamily
    mcnemar: McNemar | None
    """Where both sides are 0 or 1."""
    detectable: float | None
    """The smallest difference found with 80 % power at the family's level: of right and wrong
    exactly, if all changes go one way; else if differences spread as normal ones do, as much as
    these. None where none is found, or nothing varies."""
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
    def missing_differs(self) -> bool:
        """Whether scores are missing on one side beyond chance, and so not at random."""
        return missing_differs(len(self.dropped_left), len(self.dropped_right))

    @property
    def undecided(self) -> bool:
        """Whether `missing_differs`, and the missing scores could turn the difference round."""
        if self.low is None or self.high is None:
            return False
        return self.missing_differs and self.low <= 0 <= self.high

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


class Compared:
    """What one change of a factor does, metric by metric."""

    __slots__ = ()
    change: Change
    differences: tuple[Difference, ...]

    @property
    def factor(self) -> str:
        """The one factor that differs."""
        return self.change.factor

    def difference(self, metric: str) -> Difference | None:
        """Return one metric's difference, None where it was not measured."""
        return next((d for d in self.differences if d.metric == metric), None)


@dataclass(frozen=True, slots=True)
class Contrast(Compared):
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


class ActsOn(StrEnum):
    """Where a change of a factor acts."""

    RETRIEVAL = "retrieval"
    CAPTIONING = "captioning"
    """Retrieval, by way of other captions."""
    GENERATION = "generation"
    NOTHING = "nothing"
    """No passage and no answer is other than before."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Effect(Compared):
    """One change of one factor, over all pairs of runs that make it: what a study can claim."""

    change: Change
    contrasts: tuple[tuple[str, str], ...]
    """The pairs of runs, left and right."""
    acts_on: ActsOn
    differences: tuple[Difference, ...]
    """As of a `Contrast`; a question's difference is the mean of its differences over the pairs."""

    @property
    def claims(self) -> tuple[Difference, ...]:
        """The metrics in which it is better or worse beyond chance."""
        return tuple(d for d in self.differences if d.verdict in BEYOND_CHANCE)

    @property
    def primary(self) -> tuple[Difference, ...]:
        """The primary tests; empty where none could be made."""
        return tuple(d for d in self.differences if d.family is TestFamily.PRIMARY)


class Came(StrEnum):
    """Whether what was expected came."""

    CAME = "came"
    OPPOSITE = "opposite"
    OPEN = "open"
    """Not shown, nor its opposite."""
    UNTESTED = "untested"
    """No pair of runs makes the change, or nothing scored it."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a study expected of a change, and whether it came."""

    expected: Expectation
    change: Change | None
    """None where no pair of runs makes it."""
    came: Came


@dataclass(frozen=True, slots=True)
class Family:
    """How many tests can claim something, and at which level."""

    tests: int
    """Of a change in a metric: primary ones, and those that may follow."""
    primary: int
    alpha: float
    """The chance of any false claim in the whole report."""
    smallest_p: float | None
    """The smallest p that any primary test could reach with the questions that changed."""
    declared: bool = False
    """The study declared its primary tests before collecting."""

    @property
    def level(self) -> float:
        """The p value that the strongest of the primary tests must not exceed, by Bonferroni."""
        return self.alpha / max(1, self.primary)


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
    """Questions that some runs answer right, and others wrong, in every repeat."""
    always_right: tuple[str, ...]
    always_wrong: tuple[str, ...]
    partly_right: tuple[str, ...]
    """The others: right in some repeats, while no run is right and no other wrong in all."""
    unknown: tuple[str, ...]
    """Questions for which right or wrong is known in fewer than two runs."""
    origins: Mapping[str, int]
    """Origin of the grade -> number of cells."""

    @property
    def known(self) -> int:
        """Questions for which right or wrong is known in at least two runs."""
        return len(self.questions) - len(self.unknown)

    def turned(self, left: str, right: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the questions that turned right, and those that turned wrong, between two runs.

        One turned right where every repeat on the left is wrong and every one on the right right.
        """
        one, other = (next(r.cells for r in self.rows if r.run == run) for run in (left, right))
        sides = list(zip(self.questions, one, other, strict=True))
        return (
            tuple(question for question, before, after in sides if before == 0 and after == 1),
            tuple(question for question, before, after in sides if before == 1 and after == 0),
        )


@dataclass(frozen=True, slots=True)
class Leader:
    """The runs with the most right answers, over the questions graded in every run compared."""

    runs: tuple[str, ...]
    right: float
    known: int
    """Questions."""
    compared: int
    """Runs, partial ones left out."""
    chance: float
    """How often the best of as many equal runs has that many right: the answers to each question
    shuffled among the runs."""


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
    """Whether a metric scores right answers above wrong answers to the same question."""

    TRUSTED = "trusted"
    NO_EVIDENCE = "no_evidence"
    INVERTED = "inverted"
    TOO_FEW_GRADES = "too_few_grades"
    """With so few right and wrong answers to the same questions no metric could be trusted."""
    NOT_CHECKABLE = "not_checkable"
    """No question has both right and wrong answers."""


NOT_TRUSTED = (Trust.NO_EVIDENCE, Trust.INVERTED)
"""Of a metric not shown to tell right answers from wrong ones, with enough grades to show it."""
UNCHECKED = (Trust.TOO_FEW_GRADES, Trust.NOT_CHECKABLE)
"""Of a metric about which the grades say nothing."""


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
    mixed: int
    """Scored cells whose repeats are partly right; in neither of the means."""
    missing_right: int
    """Cells that were right and NA."""
    missing_wrong: int
    within: float | None
    """The chance that the right one of two answers to the same question scores better; in the
    metric's direction."""
    within_p: float | None
    """One-sided, labels shuffled within questions (clusters: their signs flipped)."""
    within_pairs: float
    """Pairs of a right and a wrong answer to the same question in two runs; the repeats of a run
    count as one answer that is partly right."""
    within_questions: int
    """Questions with such pairs."""
    auc: float | None
    """The same chance over all pairs of answers: also tells easy from hard questions."""
    low: float | None
    """95 % interval of `auc`, questions (or their clusters) as the unit."""
    high: float | None
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


class Aim(StrEnum):
    """What a next step would show."""

    SEPARATE = "separate"
    """The effects of factors that have changed only together with others."""
    QUESTIONS = "questions"
    """A gain of a given size in right answers."""
    DEPEND = "depend"
    """Whether one factor's effect depends on another factor."""
    SPLIT = "split"
    """How much of a difference comes from retrieval, and how much from generation."""


@dataclass(frozen=True, slots=True)
class RunPrice:
    """What it takes to collect a run; answers that are cached cost nothing."""

    answers: int
    """To generate at most: questions times repeats."""
    asks_model: bool
    """False where a program answers, so that nothing is paid."""
    input_tokens: tuple[float, float] | None
    """Of one answer: the least and the largest mean of the runs collected; None where unknown."""
    output_tokens: tuple[float, float] | None
    new_index: bool | None
    """No collected run has this index; None where the run opens none, or that is not known."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """What would show something that the runs collected cannot show."""

    aim: Aim
    words: MissingRun = ()
    """Of the run to collect; empty where none can be collected, or none is needed."""
    changes: tuple[Change, ...] = ()
    """SEPARATE: those that get a contrast of their own by this run and those before it."""
    squares: tuple[tuple[Change, Change], ...] = ()
    """DEPEND: the two factors of each square that this run completes."""
    pair: tuple[str, str] | None = None
    """SPLIT: the runs whose difference is split."""
    price: RunPrice | None = None
    obstacle: str = ""
    """Why no command is offered: `recorded` (the recording holds no reply to another prompt), or
    `unwritable` (no command sets it)."""
    fewest: bool = True
    """SEPARATE: it is shown that no smaller set of runs between the collected ones does."""
    gain: float | None = None
    """QUESTIONS: in the share of right answers."""
    questions: int | None = None
    """QUESTIONS: how many find this gain, as a single declared test."""
    asked: int | None = None
    """QUESTIONS: how many were compared."""
    changed: float | None = None
    """QUESTIONS: the share of answers that turn right or wrong: the observed one, or the gain."""
    power: float | None = None


@dataclass(frozen=True, slots=True)
class Credit:
    """The questions that one change turned in every pair of runs that makes it."""

    change: Change
    contrasts: tuple[tuple[str, str], ...]
    """The pairs: run before the change, run after it."""
    direction: str
    """`won`: turned right, or `lost`: turned wrong."""
    questions: tuple[str, ...]
    expected: float
    """Number of such questions if the answers to each question were shuffled among its runs."""
    p: float | None
    """The chance of at least as many; None where too few pairs make the change to credit it."""
    p_adjusted: float | None = None
    """After Holm."""


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
    """Questions that these n belong to: the units of the interval, unless they are clustered."""
    agreed: int
    shares: Mapping[int, tuple[float, float]]
    """Base rates: label -> the share of the n that each judge gave it."""
    kappa: float | None
    low: float | None
    """95 % interval over questions or clusters of them; None where it is undefined."""
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
    """The mean difference, or the share of concordant pairs within questions."""


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
    effects: tuple[Effect, ...]
    """One for each change of a factor: all, or those in view as for the contrasts."""
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
    credits: tuple[Credit, ...]
    """Of every change, right and wrong; also where no question turned."""
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
    outlooks: tuple[Outlook, ...] = ()
    """What the study expected, in its order."""
    leader: Leader | None = None
    """None below two whole runs, and where no question is graded in each of them."""
    next_steps: tuple[NextStep, ...] = ()
    """The most useful first; those that no command can make come last."""

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
        """Metrics that are not shown to tell right answers from wrong ones here."""
        rows = (row for row in self.trust if row.verdict in NOT_TRUSTED)
        return frozenset(row.metric for row in rows if row.metric not in GOLD)

    @cached_property
    def unscored(self) -> frozenset[str]:
        """Metrics that are NA in every run."""
        return frozenset(m.metric for m in self.means if not any(c.scored for c in m.cells))
