"""Findings about one run."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from harness.analysis.changes import evidence_retrieved
from harness.analysis.findings import Finding, numbers_of
from harness.analysis.means import COARSE
from harness.analysis.results import Analysis, RetrievalFacts, RunSummary, Suspect
from harness.analysis.study_table import RunFacts, StudyTable
from harness.records import Layer, Response

Numbers = Mapping[str, float | int | None]


def run_findings(study: StudyTable, analysis: Analysis) -> Iterator[Finding]:
    """Yield the findings about every run."""
    for run in analysis.runs:
        yield from completeness(study, run)
    evidence = evidence_retrieved(study)
    for facts in study.runs:
        yield from refusals(study, facts, evidence)
        yield from same_family(facts)
        if facts.other_models:
            names = {"generator": facts.generator or "", "answered": ", ".join(facts.other_models)}
            yield Finding("another_model", names=names, run=facts.name)
    yield from single_cells(study)
    yield from suspect_verdicts(analysis.suspects)
    yield from deeper_ranks(study, analysis.retrieval)


def completeness(study: StudyTable, run: RunSummary) -> Iterator[Finding]:
    """Yield failed and missing questions, and retrieval of nearly all or too little."""
    if run.errors:
        failed = questions_where(study, run, lambda r: r.response is None)
        numbers: Numbers = numbers_of("system_errors", run)
        yield Finding("system_errors", numbers, run=run.name, questions=failed)
    if run.partial:
        asked, questions = run.part or (run.asked, len(study.questions))
        numbers = {"asked": asked, "questions": questions}
        yield Finding("partial_run", numbers, run=run.name)
    if run.saturated:
        numbers = {"k_returned": run.k_returned, "corpus_size": run.corpus_size}
        numbers["share"] = run.saturation
        yield Finding("saturated", numbers, run=run.name)
    short = questions_where(study, run, k_not_reached)
    if short:
        fewest = min(
            response.k_returned
            for question in short
            for response in study.responses[run.name, question]
            if k_not_reached(response)
        )
        numbers = {
            "k_requested": run.k_requested,
            "k_returned": fewest,
            "corpus_size": run.corpus_size,
            "questions": len(short),
        }
        yield Finding("k_not_reached", numbers, run=run.name)


def questions_where(
    study: StudyTable, run: RunSummary, holds: Callable[[Response], bool]
) -> tuple[str, ...]:
    """Return the questions for which this holds in some repeat of the answer."""
    return tuple(
        question.id
        for question in study.questions
        if any(holds(response) for response in study.responses.get((run.name, question.id), ()))
    )


def k_not_reached(response: Response) -> bool:
    """Return whether fewer passages were retrieved than requested."""
    return (
        response.response is not None
        and response.k_requested is not None
        and response.k_returned < response.k_requested
    )


def refusals(
    study: StudyTable, run: RunFacts, evidence: dict[tuple[str, str], bool]
) -> Iterator[Finding]:
    """Yield refusals although the evidence was retrieved, and answers to unanswerable questions."""
    refused = tuple(
        question.id
        for question in study.questions
        if question.answerable
        and question.id in run.refused
        and evidence.get((run.name, question.id), False)
    )
    if refused:
        yield Finding(
            "refused_despite_evidence",
            numbers={"refused": len(refused)},
            run=run.name,
            questions=refused,
        )
    without = [
        question.id
        for question in study.questions
        if not question.answerable
        and any(r.response is not None for r in study.responses.get((run.name, question.id), ()))
    ]
    answered = tuple(name for name in without if name not in run.refused)
    if answered:
        yield Finding(
            "answered_unanswerable",
            numbers={"answered": len(answered), "unanswerable": len(without)},
            run=run.name,
            questions=answered,
        )


def same_family(run: RunFacts) -> Iterator[Finding]:
    """Yield a judge of the generator's family: judges favour answers of their own family."""
    if run.generator and run.judge and family(run.generator) == family(run.judge):
        yield Finding(
            "judge_of_same_family",
            names={"generator": run.generator, "judge": run.judge},
            run=run.name,
        )


def family(model: str) -> str:
    """Return a model's family: its name without owner, version, size and tag.

    >>> family("meta-llama/Llama-3.1-8B-Instruct"), family("llama3.1:8b"), family("qwen2.5vl:7b")
    ('llama', 'llama', 'qwen')
    """
    name = model.rpartition("/")[2].lower()
    return name[: next((at for at, c in enumerate(name) if not c.isalpha()), len(name))]


def single_cells(study: StudyTable) -> Iterator[Finding]:
    """Yield right answers with the worst possible score on few units, one finding a cell."""
    cube = study.scores
    for k, facts in enumerate(cube.metrics):
        if (
            facts.layer is not Layer.GENERATION
            or not facts.bounded
            or facts.higher_is_better is None
        ):
            continue
        worst = 0.0 if facts.higher_is_better else 1.0
        odd = (
            (study.right.values == 1)
            & (cube.values[:, :, k] == worst)
            & (cube.units[:, :, k] <= COARSE)
        )
        for run, question in np.argwhere(odd).tolist():
            yield Finding(
                "one_cell",
                numbers={"value": worst, "units": int(cube.units[run, question, k])},
                run=cube.runs[run],
                metric=facts.name,
                questions=(cube.questions[question],),
            )


def suspect_verdicts(suspects: Sequence[Suspect]) -> Iterator[Finding]:
    """Yield how many verdicts of each run contradict the text or each other."""
    by_run: dict[str, list[Suspect]] = defaultdict(list)
    for row in suspects:
        by_run[row.run].append(row)
    for run, rows in by_run.items():
        reasons = Counter(row.reason for row in rows)
        yield Finding(
            "suspect_verdicts",
            numbers={
                "verbatim": reasons["verbatim_not_entailed"],
                "duplicates": reasons["duplicates_disagree"],
            },
            run=run,
            questions=tuple(dict.fromkeys(row.question_id for row in rows)),
        )


def deeper_ranks(study: StudyTable, facts: Sequence[RetrievalFacts]) -> Iterator[Finding]:
    """Yield the questions that a smaller k, used elsewhere in the study, would have missed."""
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
                    numbers={"k": k, "k_returned": len(one.hits)},
                    names={"source": one.source},
                    run=one.run,
                    questions=deeper,
                )
