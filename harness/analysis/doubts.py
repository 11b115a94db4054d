"""What makes a metric or an answer doubtful: trust, single cells, refusals, the judge itself."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from harness.analysis.means import COARSE
from harness.analysis.results import Analysis, Finding, MetricTrust, Severity, Trust
from harness.analysis.tables import RunFacts, StudyTable
from harness.analysis.transitions import evidence_retrieved
from harness.records import Layer


def doubts(study: StudyTable, analysis: Analysis) -> Iterator[Finding]:
    """Yield what a reader must hold against the metrics, the judge and single answers."""
    for one in analysis.trust:
        yield about_trust(one)
    yield from single_cells(study)
    evidence = evidence_retrieved(study)
    for run in study.runs:
        yield from refusals(study, run, evidence)
        yield from same_family(run)
    suspect: dict[str, Counter[str]] = defaultdict(Counter)
    for row in analysis.suspects:
        suspect[row.run][row.reason] += 1
    for name, reasons in suspect.items():
        yield Finding(
            "suspect_verdicts",
            Severity.WARNING,
            numbers={
                "verbatim": reasons["verbatim_not_entailed"],
                "duplicates": reasons["duplicates_disagree"],
            },
            run=name,
            questions=tuple(
                dict.fromkeys(row.question_id for row in analysis.suspects if row.run == name)
            ),
        )


def about_trust(one: MetricTrust) -> Finding:
    """Return whether a metric can be believed."""
    if one.verdict is Trust.TOO_FEW_GRADES:
        return Finding(
            "too_few_grades",
            Severity.NOTE,
            numbers={"right": one.right, "wrong": one.wrong, "questions": one.questions},
            names={"graded_by": one.graded_by},
            metric=one.metric,
        )
    trusted = one.verdict is Trust.TRUSTED
    return Finding(
        "metric_trusted" if trusted else "metric_not_trusted",
        Severity.FINDING if trusted else Severity.WARNING,
        numbers={
            "auc": one.auc,
            "low": one.low,
            "high": one.high,
            "gap": one.gap,
            "right": one.right,
            "wrong": one.wrong,
            "questions": one.questions,
        },
        names={"graded_by": one.graded_by} | ({} if trusted else {"verdict": one.verdict.value}),
        metric=one.metric,
    )


def single_cells(study: StudyTable) -> Iterator[Finding]:
    """Yield right answers with the worst possible score on a handful of units: one cell each."""
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
                Severity.WARNING,
                numbers={"value": worst, "units": int(cube.units[run, question, k])},
                run=cube.runs[run],
                metric=facts.name,
                questions=(cube.questions[question],),
            )


def refusals(
    study: StudyTable, run: RunFacts, evidence: dict[tuple[str, str], bool]
) -> Iterator[Finding]:
    """Yield refusals although the evidence was there, and answers where there is none."""
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
            Severity.WARNING,
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
            Severity.WARNING,
            numbers={"answered": len(answered), "unanswerable": len(without)},
            run=run.name,
            questions=answered,
        )


def same_family(run: RunFacts) -> Iterator[Finding]:
    """Yield a judge that is of the generator's own family, which favours its own answers."""
    if run.generator and run.judge and family(run.generator) == family(run.judge):
        yield Finding(
            "judge_of_same_family",
            Severity.WARNING,
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
