"""What several judges say of the same answers, as data."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.analysis.finding import Finding


@dataclass(frozen=True, slots=True)
class CheckAgreement:
    """Two judges' labels on one check, over the verdicts that can be matched."""

    first: str
    second: str
    check: str
    labelled: tuple[int, int]
    """Labels that each gave on the answers that both judged."""
    n: int
    """Labels that can be matched: of the same check, on the same item of the same answer. Claims
    are matched by their text, as two judges may take a text apart in two ways."""
    questions: int
    """Questions that these n belong to: what was drawn, so what the interval rests on."""
    agreed: int
    shares: Mapping[int, tuple[float, float]]
    """Base rates: label -> the share of the n that each judge gave it."""
    kappa: float | None
    low: float | None
    """95 % interval over questions; None where there is none."""
    high: float | None
    undefined: str | None
    """Why there is no kappa: `one_label` (both gave all n the same), `other_claims` (none has the
    same text), `nothing_in_common`, `not_asked`, or the `Status` of the judge who gave no label.
    Or why it says nothing: `one_constant`, as against one label only it is always 0."""
    lacking: str | None = None
    """The judge who gave no label, where it is one of the two."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one judge's scores say where some judge's scores gave a finding."""

    judge: str
    holds: bool
    """The finding is this judge's too."""
    verdict: str
    """A `Verdict` on the difference, a `Trust` in the metric; empty where it is neither."""
    number: float | None
    """The mean difference, or the AUC."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding that rests on what a judge said, under each judge."""

    finding: Finding
    """As the first judge under whom it holds has it."""
    readings: tuple[Reading, ...]
    """In the order of `Judges.compared`."""

    @property
    def judges(self) -> tuple[str, ...]:
        """Under whom it holds."""
        return tuple(reading.judge for reading in self.readings if reading.holds)

    @property
    def others(self) -> tuple[str, ...]:
        """Under whom it does not."""
        return tuple(reading.judge for reading in self.readings if not reading.holds)


@dataclass(frozen=True, slots=True)
class Judges:
    """What two or more judges say of one study."""

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
    """Metrics that rest on a judge and that not each of `compared` has scored: left out."""
    claims: tuple[Claim, ...]
    free: int
    """Findings of the report that rest on no judge: the same under each, and not counted."""
