"""What stands beside a run's name in every table."""

from collections.abc import Iterable

import numpy as np

from harness.analysis.measures import asked
from harness.analysis.results import RunSummary
from harness.analysis.tables import RunFacts, StudyTable
from harness.records import Response


def summaries(study: StudyTable) -> tuple[RunSummary, ...]:
    """Summarise each run, in the study's order."""
    were_asked = asked(study).sum(axis=1)
    return tuple(
        summary(
            run,
            int(count),
            [
                response
                for question in study.questions
                for response in study.responses.get((run.name, question.id), ())
            ],
        )
        for run, count in zip(study.runs, were_asked, strict=True)
    )


def summary(run: RunFacts, count: int, responses: list[Response]) -> RunSummary:
    """Summarise one run from its answers."""
    answered = [response for response in responses if response.response is not None]
    shares = [r.k_returned / r.corpus_size for r in answered if r.corpus_size]
    return RunSummary(
        name=run.name,
        variant=run.variant,
        partial=run.partial,
        part=run.part,
        asked=count,
        errors=len({r.question_id for r in responses if r.response is None}),
        k_requested=largest(r.k_requested for r in answered),
        k_returned=median([float(r.k_returned) for r in answered]),
        corpus_size=largest(r.corpus_size for r in answered),
        saturation=median(shares),
        notes=run.notes,
    )


def largest(values: Iterable[int | None]) -> int | None:
    """Return the largest of the known values."""
    return max((value for value in values if value is not None), default=None)


def median(values: list[float]) -> float | None:
    """Return the median, None of nothing."""
    return float(np.median(values)) if values else None
