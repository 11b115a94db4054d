"""One statement of a report, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters, strongest first."""

    ERROR = "error"
    """The data contradict themselves: nothing should be concluded before that is mended."""
    WARNING = "warning"
    """A number on the page means less than it seems to."""
    FINDING = "finding"
    """Something that was learnt."""
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement, as data. `harness.analysis.KINDS` lists what each kind carries."""

    kind: str
    severity: Severity
    numbers: Mapping[str, float | int | None] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    """Texts that a sentence needs: values of a factor, statuses."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Named lists that a sentence needs: question ids `gained` and `lost`, `words` to paste."""
    questions: tuple[str, ...] = ()
    factor: str | None = None
    left: str | None = None
    """The contrast's left run, where the finding is about one."""
    right: str | None = None
    run: str | None = None
    metric: str | None = None
