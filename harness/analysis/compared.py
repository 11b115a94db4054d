"""What two runs say about each other, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What may be said about one metric of one contrast; the words follow the numbers."""

    BETTER = "better"
    """The right-hand run, beyond chance after correction for the whole family."""
    WORSE = "worse"
    DIFFERENT = "different"
    """Beyond chance, in a metric of cost or one of which neither way is good."""
    NO_EVIDENCE = "no_evidence"
    NO_EFFECT_POSSIBLE = "no_effect_possible"
    """All responses and passages are identical: the factor did not act."""
    IDENTICAL_BY_CONSTRUCTION = "identical_by_construction"
    """A retrieval metric over the same passages."""
    NOT_TRUSTED = "not_trusted"
    """The metric cannot tell right answers from wrong ones here."""
    NOT_COMPARED = "not_compared"
    """No question was scored on both sides, or other judges scored the two sides."""
    NOT_TESTED = "not_tested"
    """Seconds, and how many passages came back (`UNTESTED`): the difference is shown, chance is
    not asked about it, and it is no part of the family."""


class Passages(StrEnum):
    """How the passages of two responses to one question compare."""

    SAME = "same"
    REORDERED = "reordered"
    CHANGED = "changed"
    UNKNOWN = "unknown"
    """One side failed, was not asked, or names no passages."""


class Attribution(StrEnum):
    """Where a contrast's changes can have come from."""

    NO_EFFECT_POSSIBLE = "no_effect_possible"
    GENERATION = "generation"
    """Every question has the same passages on both sides: by construction."""
    RETRIEVAL_CHANGED = "retrieval_changed"
    UNKNOWN = "unknown"
    """Passages are not recorded, or not for every question."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """The exact test on the questions whose right/wrong changed."""

    p: float
    floor: float
    """The smallest p that this many changed questions can reach: 2 / 2**discordant."""
    discordant: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric's change from left to right, paired by question."""

    metric: str
    verdict: Verdict
    mean: float | None
    """Mean over the compared questions of right - left."""
    left_mean: float | None
    """Over the compared questions only."""
    right_mean: float | None
    questions: int
    """Compared: scored on both sides."""
    won: tuple[str, ...]
    """Questions on which the right-hand run is better, in the metric's own direction (higher,
    where it has none)."""
    lost: tuple[str, ...]
    ties: int
    dropped_left: tuple[str, ...]
    """Asked on both sides, NA on the left only."""
    dropped_right: tuple[str, ...]
    dropped_both: tuple[str, ...]
    standard_error: float | None
    low: float | None
    """95 % interval of the mean difference; never of zero width. None below two questions, for
    what is not tested, and where an unbounded metric does not vary."""
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
    """Declared before collecting; its family is the declared ones. All else is exploratory."""
    mcnemar: McNemar | None
    """Where both sides are 0 or 1."""
    detectable: float | None
    """The smallest difference found with 80 % power at the family's level; None where none is."""
    questions_needed: int | None
    """To find a difference of this size with 80 % power; None where the observed one is zero."""
    worst: float | None
    """The difference with every NA at the value worst for the right-hand run."""
    best: float | None
    flips_with_missing: bool
    """The sign of the difference depends on what the cells that are NA on one side only would
    have been; what is NA on both sides says nothing of either."""
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
    """Evidence there or not, answer right or not, on one side and the other: one cell."""

    left_evidence: bool
    left_right: bool
    right_evidence: bool
    right_right: bool
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassageChange:
    """What became of the passages between two runs."""

    by_question: Mapping[str, Passages]
    """Over the questions asked on both sides."""
    same: int
    reordered: int
    changed: int
    unknown: int
    identical_responses: tuple[str, ...]
    """Questions answered word for word alike."""


@dataclass(frozen=True, slots=True)
class Change:
    """One factor, and its value on either side."""

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
    """Where gold evidence is given; questions for which all four facts are known."""

    @property
    def factor(self) -> str:
        """The one factor that differs."""
        return self.change.factor

    def difference(self, metric: str) -> Difference | None:
        """Return one metric's difference, None where it was not measured."""
        return next((d for d in self.differences if d.metric == metric), None)
