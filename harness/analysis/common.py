"""The part of a study that several judges have scored, so that only like is held against like."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.analysis.measures import asked, named
from harness.analysis.tables import RightWrong, ScoreCube, StudyTable

FEWEST_RUNS = 2
"""Runs that a judge must have scored for its findings to be compared: one is no contrast."""


@dataclass(frozen=True, slots=True, eq=False)
class CommonPart:
    """What each of these judges has scored."""

    tables: Mapping[str, StudyTable]
    """Judge -> the same runs, questions and metrics by this judge; empty below two judges."""
    metrics: tuple[str, ...]
    """Those of them that rest on a judge."""
    uncommon: tuple[str, ...]
    """Metrics that rest on a judge and that not each judge has scored."""


def judged(study: StudyTable) -> list[str]:
    """Return the metrics that rest on what a judge said."""
    known = {metric for run in study.runs for metric in run.scored_by}
    return [facts.name for facts in study.scores.metrics if facts.name in known]


def common_part(tables: Mapping[str, StudyTable]) -> CommonPart:
    """Return what all judges have scored, but those that scored fewer than two of the runs.

    A question counts where each judge has scored it in each common run that was asked it, if
    only as NA; a metric, where it has a score by each judge at all: what a judge cannot score
    is not something that it finds otherwise.
    """
    lead, *others = tables
    ours = [run.name for run in tables[lead].runs]
    having = {name: {run.name for run in tables[name].runs} & set(ours) for name in others}
    taken = [lead, *(name for name in others if len(having[name]) >= FEWEST_RUNS)]
    runs = [run for run in ours if all(run in having[name] for name in taken[1:])]
    if len(taken) < 2 or len(runs) < FEWEST_RUNS:
        return CommonPart({}, (), ())
    own = {name: judged(tables[name]) for name in taken}
    shared = [metric for metric in own[lead] if all(metric in own[name] for name in taken)]
    seen = {name: part(tables[name], runs, None, None) for name in taken}
    metrics, scored = [], []
    for metric in shared:
        at = {name: column(seen[name], metric) for name in taken}
        if all(scored_in(seen[name], at[name]).any() for name in taken):
            metrics.append(metric)
            scored += [has_row(seen[name], at[name]) for name in taken]
    free = [m.name for m in seen[lead].scores.metrics if m.name not in own[lead]]
    every = np.all(scored, axis=0) if scored else np.ones(len(seen[lead].questions), dtype=bool)
    questions = named([question.id for question in seen[lead].questions], every)
    if not questions:
        return CommonPart({}, (), ())
    kept = [m.name for m in seen[lead].scores.metrics if m.name in {*metrics, *free}]
    uncommon = dict.fromkeys(m for name in taken for m in own[name] if m not in metrics)
    return CommonPart(
        {name: part(seen[name], runs, questions, kept) for name in taken},
        tuple(metrics),
        tuple(uncommon),
    )


def column(study: StudyTable, metric: str) -> int:
    """Return a metric's place in the cube."""
    return [facts.name for facts in study.scores.metrics].index(metric)


def scored_in(study: StudyTable, metric: int) -> NDArray[np.bool_]:
    """Return (runs, questions): where this metric has a value."""
    return ~np.isnan(study.scores.values[:, :, metric])


def has_row(study: StudyTable, metric: int) -> NDArray[np.bool_]:
    """Return (questions,): whether the metric was scored, or is NA, wherever it was asked."""
    return np.asarray(((study.scores.statuses[:, :, metric] != "") | ~asked(study)).all(axis=0))


def part(
    study: StudyTable,
    runs: Sequence[str],
    questions: Sequence[str] | None,
    metrics: Sequence[str] | None,
) -> StudyTable:
    """Return these runs, questions and metrics of a study; None keeps all of a kind."""
    rows = places([run.name for run in study.runs], runs)
    columns = places([question.id for question in study.questions], questions)
    layers = places([facts.name for facts in study.scores.metrics], metrics)
    cube, right = study.scores, study.right
    cells, cell = np.ix_(rows, columns, layers), np.ix_(rows, columns)
    ids = {study.questions[at].id for at in columns}
    return StudyTable(
        runs=tuple(
            run if run.asked is None else replace(run, asked=run.asked & ids)
            for run in (study.runs[at] for at in rows)
        ),
        questions=tuple(study.questions[at] for at in columns),
        scores=ScoreCube(
            tuple(cube.runs[at] for at in rows),
            tuple(cube.questions[at] for at in columns),
            tuple(cube.metrics[at] for at in layers),
            cube.values[cells],
            cube.units[cells],
            cube.statuses[cells],
            tuple(cube.binary[at] for at in layers),
        ),
        right=RightWrong(right.values[cell], right.origins[cell], right.errors[cell]),
        responses={
            (run, question): answers
            for (run, question), answers in study.responses.items()
            if run in runs and question in ids
        },
        verdicts={
            run: tuple(row for row in said if row.question_id in ids)
            for run, said in study.verdicts.items()
            if run in runs
        },
    )


def places(names: Sequence[str], chosen: Sequence[str] | None) -> list[int]:
    """Return where the chosen names stand, in the order of the choice; all where it is None."""
    at = {name: place for place, name in enumerate(names)}
    return list(at.values()) if chosen is None else [at[name] for name in chosen]
