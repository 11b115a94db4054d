"""What runs say together that no single contrast says, as data: sweeps, squares, mixed pairs."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.analysis.compared import Change, Difference


@dataclass(frozen=True, slots=True)
class MissingRun:
    """A variant that nobody has collected, and how to."""

    words: tuple[str, ...]
    """Override words, each ready for a shell: ("variant=ctx_k4", "prompt=strict")."""


@dataclass(frozen=True, slots=True)
class Confounded:
    """Two runs that differ in several factors: no contrast."""

    left: str
    right: str
    changes: tuple[Change, ...]
    between: tuple[str, ...]
    """Existing runs on the shortest way from left to right, one factor a step."""
    missing: tuple[MissingRun, ...]
    """What that way still lacks; empty where the existing runs separate the factors."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One run of a sweep."""

    value: float
    run: str
    means: Mapping[str, float | None]
    """Metric -> mean over the questions that every run of the sweep has scored."""
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
    None where nobody has collected that one."""
    differences: tuple[Difference, ...]
    """By metric: first's effect at second's right value less that at its left value. Empty
    where a corner is missing."""
    missing: tuple[MissingRun, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """One metric's difference as the sum of what retrieval and what generation made."""

    metric: str
    total: float
    retrieval: float
    generation: float
    questions: int


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A pair in which retrieval and generation both changed, and what would split it."""

    left: str
    right: str
    crossed: tuple[str | None, ...]
    """Left's generator on right's passages, and right's on left's; None where nobody ran it."""
    missing: tuple[MissingRun, ...]
    splits: tuple[Split, ...]
    """By metric; empty while a run is missing."""
