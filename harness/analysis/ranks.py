"""What ranked passages say without asking anybody again: where the first useful one stands."""

from collections.abc import Iterator

import numpy as np

from harness.analysis.gold import holds
from harness.analysis.results import Finding, RetrievalFacts, Severity
from harness.analysis.tables import StudyTable
from harness.records import Label, Question, Response

USEFUL = "passage_useful"

BY_GOLD, BY_JUDGE = "gold", "judge"
"""What says which passages are useful: the evidence that questions name, else the judge."""


def retrieval_facts(study: StudyTable) -> tuple[RetrievalFacts, ...]:
    """Find the first useful passage of every question in every run."""
    by_gold = any(question.evidence for question in study.questions)
    found = []
    for run in study.runs:
        flags = gold_flags(study, run.name) if by_gold else judged_flags(study, run.name)
        questions = [q.id for q in study.questions if (q.id, 0) in flags]
        if not questions:
            continue
        first = [first_true(flags[question, 0]) for question in questions]
        depth = max(len(flags[question, 0]) for question in questions)
        ranks = np.array([np.inf if rank is None else rank for rank in first])
        found.append(
            RetrievalFacts(
                run.name,
                tuple(questions),
                tuple(first),
                tuple(float((ranks <= k).mean()) for k in range(1, depth + 1)),
                BY_GOLD if by_gold else BY_JUDGE,
            )
        )
    return tuple(found)


def gold_flags(study: StudyTable, run: str) -> dict[tuple[str, int], tuple[bool, ...]]:
    """Say of each passage whether it holds some of its question's gold evidence."""
    return {
        (question.id, response.repeat): tuple(
            any(holds(passage, place) for place in question.evidence)
            for passage in response.passages
        )
        for question, response in answered(study, run)
        if question.evidence
    }


def judged_flags(study: StudyTable, run: str) -> dict[tuple[str, int], tuple[bool, ...]]:
    """Say of each passage whether the judge called it useful; only where it judged all of them."""
    labels = {
        (verdict.question_id, verdict.repeat, verdict.item): verdict.label == Label.ENTAILED
        for verdict in study.verdicts.get(run, ())
        if verdict.check == USEFUL and verdict.label is not None
    }
    found = {}
    for question, response in answered(study, run):
        keys = [(question.id, response.repeat, at) for at in range(len(response.passages))]
        if keys and all(key in labels for key in keys):
            found[question.id, response.repeat] = tuple(labels[key] for key in keys)
    return found


def answered(study: StudyTable, run: str) -> Iterator[tuple[Question, Response]]:
    """Yield every question that the run's system answered, with each answer."""
    for question in study.questions:
        for response in study.responses.get((run, question.id), ()):
            if response.response is not None:
                yield question, response


def first_true(flags: tuple[bool, ...]) -> int | None:
    """Return the rank, from 1, of the first useful passage."""
    return flags.index(True) + 1 if True in flags else None


def deeper_ranks(study: StudyTable, facts: tuple[RetrievalFacts, ...]) -> Iterator[Finding]:
    """Yield which questions a smaller k, used elsewhere in the study, would have missed."""
    asked = {
        response.k_requested
        for repeats in study.responses.values()
        for response in repeats
        if response.k_requested is not None
    }
    for one in facts:
        for k in sorted(asked):
            deeper = tuple(
                question
                for question, rank in zip(one.questions, one.first_useful, strict=True)
                if rank is not None and rank > k
            )
            if deeper:
                yield Finding(
                    "deeper_rank",
                    Severity.FINDING,
                    numbers={"k": k, "k_returned": len(one.hits)},
                    names={"source": one.source},
                    run=one.run,
                    questions=deeper,
                )
