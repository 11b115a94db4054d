"""How the passages, and the evidence in them, changed between two runs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.analysis.rankings import gold_flags
from harness.analysis.results import Attribution, PassageChange, PassageComparison, Transition
from harness.analysis.study_table import StudyTable, names_where
from harness.records import Passage

T = TypeVar("T")

Codes = NDArray[np.int64]

COMPARISONS = tuple(PassageComparison)
"""Same, reordered, changed, unknown."""

UNKNOWN = -1
"""The code of a cell that failed, was not asked, or reports no passages."""


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """Numbers that are equal where the texts are equal: (runs, questions) each."""

    ranked: Codes
    """Of the passages in rank order."""
    together: Codes
    """Of the passages in any order."""
    answers: Codes
    """Of the responses' text."""


def fingerprints(study: StudyTable) -> Fingerprints:
    """Number the distinct passage lists and answers, so that runs are compared at once."""
    shape = (len(study.runs), len(study.questions))
    ranked, together, answers = (np.full(shape, UNKNOWN) for _ in range(3))
    numbers: dict[object, int] = {}
    for i, run in enumerate(study.runs):
        for j, question in enumerate(study.questions):
            repeats = study.responses.get((run.name, question.id), ())
            if not repeats or any(response.response is None for response in repeats):
                continue
            texts = once_if_equal([response.response for response in repeats])
            answers[i, j] = numbers.setdefault(("answer", texts), len(numbers))
            if not all(response.passages for response in repeats):
                continue
            lists = once_if_equal([tuple(map(content, response.passages)) for response in repeats])
            ranked[i, j] = numbers.setdefault(("ranked", lists), len(numbers))
            bags = tuple(tuple(sorted(one)) for one in lists)
            together[i, j] = numbers.setdefault(("together", bags), len(numbers))
    return Fingerprints(ranked, together, answers)


def once_if_equal(repeats: Sequence[T]) -> tuple[T, ...]:
    """Return the repeats, reduced to one where all are equal, so that one can equal three."""
    return tuple(repeats[:1] if all(one == repeats[0] for one in repeats) else repeats)


def content(passage: Passage) -> str:
    """Return a passage's text; its id where the text was not kept."""
    return passage.text or passage.id


def passage_codes(prints: Fingerprints, left: int, right: int) -> Codes:
    """Return (questions,): how the passages compare, as an index of `COMPARISONS`."""
    one, other = prints.ranked[left], prints.ranked[right]
    known = (one != UNKNOWN) & (other != UNKNOWN)
    same = known & (one == other)
    reordered = known & (prints.together[left] == prints.together[right])
    return np.select([same, reordered, known], [0, 1, 2], 3)


def compare_passages(
    prints: Fingerprints, left: int, right: int, questions: Sequence[str], asked: NDArray[np.bool_]
) -> PassageChange:
    """Compare two runs' passages and answers on the questions that both were asked."""
    kinds = passage_codes(prints, left, right)
    alike = (prints.answers[left] == prints.answers[right]) & (prints.answers[left] != UNKNOWN)
    by_question = {questions[at]: COMPARISONS[kinds[at]] for at in np.flatnonzero(asked).tolist()}
    counts = np.bincount(kinds[asked], minlength=len(COMPARISONS)).tolist()
    return PassageChange(
        by_question=by_question,
        same=counts[0],
        reordered=counts[1],
        changed=counts[2],
        unknown=counts[3],
        identical_responses=names_where(questions, alike & asked),
    )


def attribute(change: PassageChange) -> Attribution:
    """Return where a contrast's changes can have come from.

    >>> attribute(PassageChange({"q1": PassageComparison.SAME}, 1, 0, 0, 0, ()))
    <Attribution.GENERATION: 'generation'>
    """
    asked = len(change.by_question)
    if change.reordered or change.changed:
        return Attribution.RETRIEVAL_CHANGED
    if asked and len(change.identical_responses) == asked:
        return Attribution.NO_EFFECT_POSSIBLE
    return Attribution.GENERATION if change.same == asked > 0 else Attribution.UNKNOWN


Evidence = Mapping[tuple[str, str], bool]
"""(run, question id) -> whether any gold evidence was retrieved."""


def evidence_retrieved(study: StudyTable) -> dict[tuple[str, str], bool]:
    """Return where some of the gold evidence was retrieved, in any repeat."""
    found: dict[tuple[str, str], bool] = {}
    for run in study.runs:
        for (question, _), flags in gold_flags(study, run.name).items():
            found[run.name, question] = found.get((run.name, question), False) or any(flags)
    return found


def transitions(
    study: StudyTable, evidence: Evidence, left: int, right: int
) -> tuple[Transition, ...]:
    """Return the table of what happened to evidence and answers between two runs.

    Only questions with both facts known on both sides count. Repeats count as right where most
    are right.
    """
    cells: dict[tuple[bool, bool, bool, bool], list[str]] = defaultdict(list)
    for at, question in enumerate(study.questions):
        facts: list[bool] = []
        for run in (left, right):
            retrieved = evidence.get((study.runs[run].name, question.id))
            value = study.right.values[run, at]
            if retrieved is None or np.isnan(value):
                break
            facts += [retrieved, bool(value > 0.5)]
        else:
            cells[facts[0], facts[1], facts[2], facts[3]].append(question.id)
    return tuple(Transition(*facts, tuple(ids)) for facts, ids in sorted(cells.items()))
