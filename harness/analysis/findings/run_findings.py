"""Findings about one run."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from harness.analysis.changes import evidence_retrieved
from harness.analysis.findings import Finding, numbers_of
from harness.analysis.means import COARSE, mean_of
from harness.analysis.results import Analysis, RetrievalFacts, RunSummary, Suspect
from harness.analysis.study_table import RunFacts, StudyTable, names_where
from harness.records import Layer, Response

Numbers = Mapping[str, float | int | None]

RELEVANCY = "answer_relevancy"
"""The metric, under any rule, that scores a refusal low even where it is correct."""


def run_findings(study: StudyTable, analysis: Analysis) -> Iterator[Finding]:
    """Yield the findings about every run."""
    for run in analysis.runs:
        yield from completeness(study, run)
    evidence = evidence_retrieved(study)
    for facts in study.runs:
        yield from refusals(study, facts, evidence)
        yield from means_without_refusals(study, facts)
        yield from same_family(facts)
        yield from repeats_identical(study, facts)
        if facts.other_models:
            names = {"generator": facts.generator or "", "answered": ", ".join(facts.other_models)}
            yield Finding("another_model", names=names, run=facts.name)
    yield from refusals_recognised(study)
    yield from single_cells(study)
    yield from suspect_verdicts(analysis.suspects)
    yield from facts_left_out(study, analysis.suspects)
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
        responses = (response for _, response in study.answers(run.name))
        fewest = min(response.k_returned for response in filter(k_not_reached, responses))
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
    answers = study.answers(run.name)
    return tuple(dict.fromkeys(question.id for question, one in answers if holds(one)))


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
    """Yield correct and wrong refusals, those despite evidence, and answers where none exists."""
    names = tuple(question.id for question in study.questions if question.id in run.refused)
    if names:
        wrong = tuple(q.id for q in study.questions if q.answerable and q.id in run.refused)
        correct = tuple(name for name in names if name not in wrong)
        yield Finding(
            "refusals",
            numbers={"correct_count": len(correct), "wrong_count": len(wrong)},
            groups={"correct": correct, "wrong": wrong},
            run=run.name,
            questions=names,
        )
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
    without = dict.fromkeys(
        question.id
        for question, one in study.answers(run.name)
        if not question.answerable and one.response is not None
    )
    answered = tuple(name for name in without if name not in run.refused)
    if answered:
        yield Finding(
            "answered_unanswerable",
            numbers={"answered": len(answered), "unanswerable": len(without)},
            run=run.name,
            questions=answered,
        )


def means_without_refusals(study: StudyTable, run: RunFacts) -> Iterator[Finding]:
    """Yield the mean relevancy with and without the refused questions, where some are scored."""
    cube = study.scores
    refused = np.array([name in run.refused for name in cube.questions], dtype=bool)
    for k, facts in enumerate(cube.metrics):
        if facts.name.partition("@")[0] != RELEVANCY:
            continue
        values = cube.values[cube.runs.index(run.name), :, k]
        scored = ~np.isnan(values)
        if (scored & refused).any():
            kept = values[scored & ~refused]
            yield Finding(
                "mean_without_refusals",
                numbers={
                    "mean": mean_of(values[scored]),
                    "scored": int(scored.sum()),
                    "without": mean_of(kept),
                    "scored_without": kept.size,
                },
                run=run.name,
                metric=facts.name,
                questions=names_where(cube.questions, scored & refused),
            )


def refusals_recognised(study: StudyTable) -> Iterator[Finding]:
    """Yield who decided which answers refuse, where the report says that some do or do not."""
    if any(run.refused for run in study.runs) or not all(q.answerable for q in study.questions):
        every = [response for rows in study.responses.values() for response in rows]
        decided = sum(response.response is not None for response in every)
        judged = sum(run.refusals_judged for run in study.runs)
        yield Finding("refusals_recognised", {"decided": decided, "judged": judged})


def same_family(run: RunFacts) -> Iterator[Finding]:
    """Yield a judge of the generator's family: judges favour answers of their own family."""
    if run.generator and run.judge and model_family(run.generator) == model_family(run.judge):
        yield Finding(
            "judge_of_same_family",
            names={"generator": run.generator, "judge": run.judge},
            run=run.name,
        )


def repeats_identical(study: StudyTable, run: RunFacts) -> Iterator[Finding]:
    """Yield a run of several repeats in which each question has one text only."""
    cells = [study.responses.get((run.name, question.id), ()) for question in study.questions]
    repeated = [[one.response for one in repeats] for repeats in cells if len(repeats) > 1]
    if repeated and all(len(set(texts)) == 1 for texts in repeated):
        numbers = {"repeats": max(map(len, repeated)), "questions": len(repeated)}
        yield Finding("repeats_identical", numbers, run=run.name)


def model_family(model: str) -> str:
    """Return a model's family: its name without owner, version, size and tag.

    >>> names = ("meta-llama/Llama-3.1-8B-Instruct", "llama3.1:8b", "qwen2.5vl:7b")
    >>> [model_family(name) for name in names]
    ['llama', 'llama', 'qwen']
    """
    name = model.rpartition("/")[2].lower()
    return name[: next((at for at, c in enumerate(name) if not c.isalpha()), len(name))]


def single_cells(study: StudyTable) -> Iterator[Finding]:
    """Yield right answers with the worst possible score on few units, one finding per cell."""
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
    """Yield how many verdicts of each run are suspect, by reason."""
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
                "reasons": reasons["reason_disagrees"],
                "references": reasons["facts_left_out"],
            },
            run=run,
            questions=questions_of(rows),
        )


def facts_left_out(study: StudyTable, suspects: Sequence[Suspect]) -> Iterator[Finding]:
    """Yield for each run and context recall the facts of references that are in no claim."""
    omitting = [row for row in suspects if row.reason == "facts_left_out"]
    recalls = [m.name for m in study.scores.metrics if m.name.startswith("context_recall")]
    for run, metric in product(dict.fromkeys(row.run for row in omitting), recalls):
        rows = [row for row in omitting if row.run == run]
        yield Finding(
            "facts_left_out",
            groups={"facts": tuple(dict.fromkeys(row.text for row in rows))},
            run=run,
            metric=metric,
            questions=questions_of(rows),
        )


def questions_of(suspects: Sequence[Suspect]) -> tuple[str, ...]:
    """Return the questions that the verdicts are about, each once."""
    return tuple(dict.fromkeys(row.question_id for row in suspects))


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
