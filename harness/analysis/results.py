"""What analysis says, as data: numbers and ids, never sentences.

Whatever could not be worked out is None, and never zero. Every share and mean stands beside
the number of questions it rests on.
"""

from dataclasses import dataclass

from harness.analysis.compared import (
    Attribution,
    Change,
    Contrast,
    Difference,
    McNemar,
    PassageChange,
    Passages,
    Transition,
    Verdict,
)
from harness.analysis.finding import Finding, Severity
from harness.analysis.judged import CheckAgreement, Claim, Judges, Reading
from harness.analysis.scored import (
    MeanCell,
    MetricMeans,
    MetricTrust,
    OutcomeRow,
    Outcomes,
    RetrievalFacts,
    RunSummary,
    Suspect,
    Trust,
)
from harness.analysis.together import (
    Confounded,
    Counterfactual,
    Curve,
    CurvePoint,
    Interaction,
    MissingRun,
    Split,
)

__all__ = [
    "Analysis",
    "Attribution",
    "Change",
    "CheckAgreement",
    "Claim",
    "Confounded",
    "Contrast",
    "Counterfactual",
    "Curve",
    "CurvePoint",
    "Difference",
    "Family",
    "Finding",
    "Interaction",
    "Judges",
    "McNemar",
    "MeanCell",
    "MetricMeans",
    "MetricTrust",
    "MissingRun",
    "OutcomeRow",
    "Outcomes",
    "PassageChange",
    "Passages",
    "Reading",
    "RetrievalFacts",
    "RunSummary",
    "Severity",
    "Split",
    "Suspect",
    "Transition",
    "Trust",
    "Verdict",
]


@dataclass(frozen=True, slots=True)
class Family:
    """How many tests were made, and what that asks of each."""

    tests: int
    primary: int
    alpha: float
    smallest_p: float | None
    """The smallest p that any test of the family could reach."""

    @property
    def level(self) -> float:
        """What the strongest of the tests must fall under."""
        return self.alpha / max(1, self.tests - self.primary)


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything a report says."""

    runs: tuple[RunSummary, ...]
    """In the order of every table: the study's."""
    questions: tuple[str, ...]
    """In natural order."""
    outcomes: Outcomes
    means: tuple[MetricMeans, ...]
    contrasts: tuple[Contrast, ...]
    """All fair ones, or those of the view where a baseline or factor narrows it."""
    confounded: tuple[Confounded, ...]
    repeats: tuple[tuple[str, str], ...]
    """Pairs of runs with equal factors."""
    incomparable: tuple[tuple[str, str, str], ...]
    """Pairs of runs that may not be compared, and why: `corpus` or `testset`."""
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
    """Clusters (documents) that questions were drawn in for every contrast; None where each
    question was drawn by itself."""
    judges: Judges | None = None
    """What other judges say of the same answers; None where but one has judged them."""
