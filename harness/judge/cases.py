"""What a judge is asked, one question at a time, and what it finds."""

from dataclasses import dataclass
from enum import StrEnum

from harness.judge.custom_checks import CustomCheck
from harness.records import Status


@dataclass(frozen=True, slots=True)
class Case:
    """One response with everything it is judged by."""

    question_id: str
    repeat: int
    question: str
    response: str
    reference: str
    passages: tuple[str, ...]
    """In rank order."""


class Kind(StrEnum):
    """The kinds of question. Each has a prompt of its name and a form of reply."""

    CLAIMS = "claims"
    ENTAILMENT = "entailment"
    USEFULNESS = "usefulness"
    REVERSE_QUESTION = "reverse_question"
    OWN_CHECK = "own_check"


@dataclass(frozen=True, slots=True)
class Job:
    """One question to the judge. Jobs that are equal are answered once."""

    kind: Kind
    question: str = ""
    text: str = ""
    """What is taken apart, held against, or asked back about."""
    reference: str = ""
    items: tuple[str, ...] = ()
    """Claims or passages: each gets one label."""
    sample: int = 0
    own: CustomCheck | None = None
    """The question and its answers, where the check is one's own."""

    @property
    def labels(self) -> int:
        """How many labels the answer brings; of claims, nobody knows before."""
        return len(self.items) if self.kind in (Kind.ENTAILMENT, Kind.USEFULNESS) else 1


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to a job: texts for claims, labels for items, both for a reverse question."""

    texts: tuple[str, ...] = ()
    labels: tuple[int, ...] = ()
    similarity: float | None = None
    reasons: tuple[str | None, ...] = ()
    """One a text or label; empty where the judge gives none."""
    error: Status | None = None
    """Why there is no answer, or no similarity."""
    note: str | None = None
    """With an error: what happened, and what the model wrote. Else: what was left out."""
    call: str | None = None
    """Key of the model call."""

    def reason(self, item: int) -> str | None:
        """Return the reason that was given for an item, if any."""
        return self.reasons[item] if item < len(self.reasons) else None
