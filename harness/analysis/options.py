"""What a reader may ask of the report; none of it changes what was measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Primary:
    """A test that the study declared before collecting."""

    factor: str
    metric: str


@dataclass(frozen=True, slots=True)
class Options:
    """How to analyse, and what to show."""

    baseline: str | None = None
    """A run: only its contrasts are shown, with it on the left. The family stays whole."""
    factor: str | None = None
    """Only this factor's contrasts are shown. The family stays whole."""
    alpha: float = 0.05
    power: float = 0.8
    primary: tuple[Primary, ...] = ()
    clusters: Mapping[str, str] = field(default_factory=dict)
    """Question id -> the cluster (document) it is drawn with; absent: a cluster of its own."""
    flips: int = 9_999
    """Sign flips where enumerating all of them is too much."""
    seed: int = 0
