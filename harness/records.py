"""The rows that flow between the stages. Nothing here does I/O."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int8]
"""Verdicts as `Label` codes. The shape is given where the array is used."""

Floats = NDArray[np.float64]


class Label(IntEnum):
    """What a premise implies about a claim."""

    CONTRADICTED = -1
    UNKNOWN = 0
    ENTAILED = 1


class Layer(Enum):
    """The part of the system that a metric holds responsible."""

    RETRIEVAL = "retrieval"
    GENERATION = "generation"
    OVERALL = "overall"
    COST = "cost"


class Status(StrEnum):
    """`ok`, or the reason why a score is NA."""

    OK = "ok"
    NO_CLAIMS = "no_claims"
    NO_REFERENCE_CLAIMS = "no_reference_claims"
    NO_PASSAGES = "no_passages"
    NO_RECALLED_CLAIMS = "no_recalled_claims"
    NO_REVERSE_QUESTIONS = "no_reverse_questions"
    NO_ANSWERS = "no_answers"
    """The question lists no accepted answers, so `answer_match` cannot be computed."""
    NO_REFERENCE = "no_reference"
    """The reference has no letter and no digit, so nothing can be compared with it."""
    NO_EVIDENCE = "no_evidence"
    """The test set names no evidence for this question."""
    NOT_ASKED = "not_asked"
    NOT_MEASURED = "not_measured"
    """The system does not report this quantity (tokens, say)."""
    NOT_ANSWERED = "not_answered"
    """The system under test failed: there is no response to judge."""
    NOT_SUPPORTED_BY_JUDGE = "not_supported_by_judge"
    JUDGE_UNPARSABLE = "judge_unparsable"
    JUDGE_INCOMPLETE = "judge_incomplete"
    JUDGE_FAILED = "judge_failed"
    JUDGE_ECHO = "judge_echo"
    """The judge returned the example of its prompt instead of an answer."""
    CONTEXT_OVERFLOW = "context_overflow"
    BUDGET = "budget"
    ZERO_VECTOR = "zero_vector"
    """An embedding of length zero has no direction, so no similarity."""


LOST = frozenset(
    {
        Status.BUDGET,
        Status.CONTEXT_OVERFLOW,
        Status.JUDGE_ECHO,
        Status.JUDGE_FAILED,
        Status.JUDGE_INCOMPLETE,
        Status.JUDGE_UNPARSABLE,
        Status.ZERO_VECTOR,
    }
)
"""Reasons of a missing label; other statuses, such as `no_claims`, are results of the judge."""


@dataclass(frozen=True, slots=True)
class EvidencePlace:
    """Where the answer is in the corpus, as verified by a person."""

    document: str
    page: int
    """Counted from 1, as a reader counts."""
    quote: str | None = None
    figure: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One hand-verified question of a test set."""

    id: str
    question: str
    reference: str
    source: str
    """Where the answer is: text, image, both or none."""
    answers: tuple[tuple[str, ...], ...] = ()
    """Groups that must all appear in a right answer; a group lists accepted spellings."""
    evidence: tuple[EvidencePlace, ...] = ()
    answerable: bool = True
    """False where the right answer is a refusal."""
    tags: tuple[str, ...] = ()
    verified_by: str | None = None
    verified_on: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """The part of a question that a system under test sees."""

    id: str
    text: str
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of the corpus in an index."""

    id: str
    """`document#page.chunk`, all counted from 1; a caption's chunk is `f1`, `f2` ..."""
    document: str
    page: int | None
    origin: str
    """text | caption"""
    text: str
    similarity: float | None = None
    """Cosine to the question; None before retrieval, or if the system does not report it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system returned for one query."""

    text: str
    passages: tuple[Passage, ...]
    """In rank order."""
    k_requested: int | None = None
    corpus_size: int | None = None
    """Passages in the index."""
    finish_reason: str | None = None
    retrieval_seconds: float | None = None
    generation_seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    """Of thinking and answer together."""
    thinking: str | None = None
    """What the model thought before it answered, if its server sent that apart."""
    model: str | None = None
    """The model that answered, as its server names it."""
    call: str | None = None
    """Key of the generator's call in the call cache; None without a call."""


@dataclass(frozen=True, slots=True)
class Response:
    """One row of `responses.parquet`: a question, the passages retrieved and the answer."""

    question_id: str
    repeat: int
    user_input: str
    reference: str
    source: str
    response: str | None
    """None if the system failed; `error` then has the reason."""
    passages: tuple[Passage, ...] = ()
    k_requested: int | None = None
    corpus_size: int | None = None
    finish_reason: str | None = None
    retrieval_seconds: float | None = None
    generation_seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking: str | None = None
    """What the model thought before it answered: no part of the response, and never scored."""
    model: str | None = None
    """The model that answered, as its server names it; None if it does not."""
    call: str | None = None
    error: str | None = None

    @property
    def k_returned(self) -> int:
        """Passages returned; fewer than `k_requested` if the corpus is smaller."""
        return len(self.passages)

    @property
    def cut(self) -> bool:
        """Whether the answer was truncated at the token limit."""
        return self.finish_reason == "length"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One row of `verdicts.parquet`: one label given by a judge."""

    judge: str
    question_id: str
    repeat: int
    check: str
    item: int
    """Index from 0 of the claim, passage or reverse question; -1 marks the check as a whole."""
    against: int = -1
    """Index from 0 of the passage it was compared with; -1 if there is only one premise."""
    text: str | None = None
    """The claim, or the reverse question."""
    label: int | None = None
    similarity: float | None = None
    reason: str | None = None
    error: str | None = None
    """A `Status` if the label is missing."""
    call: str | None = None
    """Key of the model call."""


CLAIMS = {"response": "claims_response", "reference": "claims_reference"}
"""Text that is split into claims -> the check that splits it."""

CLAIMS_OF = {
    "response_in_context": CLAIMS["response"],
    "reference_in_context": CLAIMS["reference"],
    "response_in_passages": CLAIMS["response"],
    "reference_in_passages": CLAIMS["reference"],
    "response_in_reference": CLAIMS["response"],
    "reference_in_response": CLAIMS["reference"],
}
"""Check whose items are claims -> the check that these claims are from, in the order of asking."""


Checks = Mapping[str, Sequence[Verdict]]
"""Check -> its rows on one response."""


def rows_by_response(verdicts: Iterable[Verdict]) -> Mapping[tuple[str, int], Checks]:
    """Return (question id, repeat) -> check -> rows, each in their order."""
    found: defaultdict[tuple[str, int], dict[str, list[Verdict]]] = defaultdict(dict)
    for row in verdicts:
        found[row.question_id, row.repeat].setdefault(row.check, []).append(row)
    return found


@dataclass(frozen=True, slots=True)
class Score:
    """One row of `scores.parquet`."""

    question_id: str
    repeat: int
    metric: str
    value: float | None
    """None is NA; never NaN."""
    units: int | None
    """The denominator: how many claims, passages or questions the score rests on."""
    status: str
    judge: str | None
    """None if no judge was needed."""


class Chosen(StrEnum):
    """Why a person graded an answer."""

    ALL = "all"
    """All answers were to be graded."""
    RANDOM = "random"
    SUSPECT = "suspect"
    """Its verdicts looked wrong."""
    DISPUTE = "dispute"
    """Graders had disagreed on it."""


@dataclass(frozen=True, slots=True)
class Grade:
    """A person's grade of one response text."""

    question_id: str
    response_sha256: str
    grade: int | None
    """1 right, 0 wrong, None unclear."""
    grader: str
    time: str | None = None
    note: str | None = None
    policy: str | None = None
    question_sha256: str | None = None
    """Of the question and reference that were graded; None if not recorded, in which case the grade
    counts for any edition."""
    chosen: Chosen | None = None
    """None if not recorded: the answer is then not part of a random sample."""
    probability: float | None = None
    """Of a random choice: the chance that the question had of being drawn first."""


PASSAGES_FROM = "passages_from"
"""The factor that names the run whose passages a run was given."""

GENERATION_GROUPS = ("prompt", "chat")
"""Configuration groups that act after retrieval; every other factor acts on the passages."""


def acts_after_retrieval(factor: str) -> bool:
    """Return whether a factor acts on the answer only, given the passages.

    >>> [acts_after_retrieval(factor) for factor in ("prompt", "chat.model", "top_k")]
    [True, True, False]
    """
    return factor.partition(".")[0] in GENERATION_GROUPS
