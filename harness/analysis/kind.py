"""What every finding of one kind carries, and what those about contrasts have in common."""

from dataclasses import dataclass

from harness.analysis.finding import Severity


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
