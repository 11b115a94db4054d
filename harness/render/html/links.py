"""Where on the page everything stands: names of places never hold a text that others wrote."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.analysis import Analysis, Finding

OF_KINDS = {
    "retrieval_scores_differ": "contrasts",
    "interaction": "interactions",
    "missing_corner": "interactions",
    "informative": "grid",
    "always_right": "grid",
    "always_wrong": "grid",
    "answered_unanswerable": "grid",
    "deeper_rank": "retrieval",
    "nothing_beyond_chance": "contrasts",
    "nothing_can_be_significant": "contrasts",
    "primary_not_tested": "contrasts",
    "confounded": "pairs",
    "not_comparable": "pairs",
    "suspect_verdicts": "suspects",
    "retrieval_moved": "contrasts",
    "saturated": "means",
    "k_not_reached": "means",
    "missing_scores": "means",
    "quantised": "means",
    "judge_of_same_family": "made",
    "same_wording": "questions",
    "partial_run": "grid",
    "system_errors": "grid",
    "under_every_judge": "judges",
    "under_some_judges": "judges",
    "judges_agreement": "judges",
}
"""Kind -> the part of the page where its evidence stands, where no closer place is known."""


MOST_LINKS = 8


@dataclass(frozen=True, slots=True)
class Link:
    """A place on this page, and what it is called."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Places:
    """What has a place of its own on the page."""

    questions: Mapping[str, str]
    """Question id -> its place."""
    contrasts: Mapping[tuple[str, str], str]
    metrics: Mapping[str, str]
    """Metric -> its place among those held against right and wrong."""
    parts: frozenset[str]
    """Parts of the page that are there."""

    def of(self, finding: Finding) -> str:
        """Return where the evidence of a finding stands, as close as there is a place."""
        pair = (finding.left or "", finding.right or "")
        part = OF_KINDS.get(finding.kind, "")
        if pair in self.contrasts and part != "judges":
            return self.contrasts[pair]
        if finding.kind.startswith("metric_") or finding.kind == "too_few_grades":
            return self.metrics.get(finding.metric or "", "trust")
        if part in self.parts:
            return part
        known = [self.questions[q] for q in finding.questions if q in self.questions]
        return known[0] if len(known) == 1 else "contrasts" if finding.factor else "means"

    def further(self, finding: Finding, asked: int) -> Iterator[Link]:
        """Yield the questions that a finding names, unless they are (nearly) all that were asked.

        A dozen links behind a sentence would hide it.
        """
        named = [question for question in finding.questions if question in self.questions]
        if len(named) <= min(MOST_LINKS, max(asked - 1, 1)):
            for question in named:
                yield Link(self.questions[question], question)


def places_of(analysis: Analysis, parts: frozenset[str], contrasts: int) -> Places:
    """Return the places of a page that shows so many contrasts in full."""
    return Places(
        questions={q: f"question-{at}" for at, q in enumerate(analysis.questions, 1)},
        contrasts={
            (one.left, one.right): f"contrast-{at}"
            for at, one in enumerate(analysis.contrasts[:contrasts], 1)
        },
        metrics={row.metric: f"metric-{at}" for at, row in enumerate(analysis.trust, 1)},
        parts=parts,
    )
