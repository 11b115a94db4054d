"""Long rows become a study's table: joined by key, repeats averaged, nothing lost on the way."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from harness.analysis.order import natural
from harness.analysis.tables import (
    ANSWER_MATCH,
    MetricFacts,
    RightWrong,
    RunFacts,
    ScoreCube,
    StudyTable,
)
from harness.records import Floats, Question, Response, Score, Status, Verdict

ORIGINS = ("error", "answer_match", "grade")
"""Who says right or wrong, weakest first."""


def study_table(
    facts: Sequence[RunFacts],
    questions: Sequence[Question],
    metrics: Sequence[MetricFacts],
    scores: Mapping[str, Iterable[Score]],
    responses: Mapping[str, Iterable[Response]],
    grades: Mapping[tuple[str, str, int], int | None] | None = None,
    verdicts: Mapping[str, Iterable[Verdict]] | None = None,
) -> StudyTable:
    """Join everything a report rests on.

    Args:
        facts: The runs, in the study's order.
        questions: Those of the test set.
        metrics: Those that `scores` may name.
        scores: Run -> its rows, of one judge and of none.
        responses: Run -> its rows.
        grades: (run, question id, repeat) -> 1 right, 0 wrong, by a person; None where a person
            looked and could not tell, so that nobody and nothing decides.
        verdicts: Run -> its rows, of one judge.

    Raises:
        ValueError: A row stands twice, or names a run, question or metric that is not there.
    """
    names = unique("run", [run.name for run in facts])
    ordered = tuple(sorted(questions, key=lambda question: natural(question.id)))
    ids = unique("question", [question.id for question in ordered])
    kept: dict[str, list[Score]] = {run: list(rows) for run, rows in scores.items()}
    by_cell = responses_by_cell(names, ids, responses)
    return StudyTable(
        runs=tuple(facts),
        questions=ordered,
        scores=score_cube(names, ids, metrics, kept),
        right=right_wrong(names, ids, by_cell, kept, grades or {}),
        responses=by_cell,
        verdicts={run: tuple(rows) for run, rows in (verdicts or {}).items()},
    )


def score_cube(
    runs: Sequence[str],
    questions: Sequence[str],
    metrics: Sequence[MetricFacts],
    scores: Mapping[str, Iterable[Score]],
) -> ScoreCube:
    """Arrange scores by run, question and metric, the mean over the scored repeats."""
    shape = (len(runs), len(questions), len(metrics))
    rows = [(run, row) for run, own in scores.items() for row in own]
    at = (
        places(runs, [run for run, _ in rows], "run"),
        places(questions, [row.question_id for _, row in rows], "question"),
        places(metric_names(metrics), [row.metric for _, row in rows], "metric"),
    )
    cells = np.ravel_multi_index(at, shape) if rows else np.zeros(0, np.int64)
    check_once(cells, rows)
    values = column([row.value for _, row in rows])
    scored = ~np.isnan(values)
    size = int(np.prod(shape))
    count = np.bincount(cells[scored], minlength=size)
    total = np.bincount(cells[scored], values[scored], size).astype(np.float64)
    means = divide(total, count)
    if (count > 1).any():
        # neither the order in which repeats were summed nor how many there are may part equals
        means = np.round(means, 12)
    units = np.full(size, np.nan)
    np.fmin.at(units, cells, column([row.units for _, row in rows]))
    statuses = np.full(size, "", dtype=object)
    # where repeats differ in their reason the first stands, so it is written last
    reasons = np.array([row.status for _, row in rows], dtype=object)
    statuses[cells[~scored][::-1]] = reasons[~scored][::-1]
    statuses[count > 0] = Status.OK.value
    whole = ~scored | np.isin(values, (0.0, 1.0))
    return ScoreCube(
        tuple(runs),
        tuple(questions),
        tuple(metrics),
        means.reshape(shape),
        units.reshape(shape),
        statuses.reshape(shape),
        tuple(bool(whole[at[2] == k].all()) for k in range(len(metrics))),
    )


def metric_names(metrics: Sequence[MetricFacts]) -> list[str]:
    """Return the metrics' names."""
    return [metric.name for metric in metrics]


def column(values: Sequence[float | None]) -> Floats:
    """Return numbers as an array, None as nan."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


def places(names: Sequence[str], wanted: Sequence[str], kind: str) -> NDArray[np.int64]:
    """Return where each name stands; a row that names nothing known must not vanish."""
    table = {name: at for at, name in enumerate(names)}
    strangers = set(wanted) - table.keys()
    if strangers:
        raise ValueError(f"unknown {kind} {min(strangers)!r}; known: {', '.join(names)}")
    return np.array([table[name] for name in wanted], np.int64)


def check_once(cells: NDArray[np.int64], rows: Sequence[tuple[str, Score]]) -> None:
    """Refuse two scores for one repeat of one cell: neither is the right one."""
    keys = np.stack([cells, np.array([row.repeat for _, row in rows], np.int64)])
    _, first = np.unique(keys, axis=1, return_index=True)
    if first.size < len(rows):
        run, row = rows[min(set(range(len(rows))) - set(first.tolist()))]
        raise ValueError(
            f"two scores for {run}, {row.question_id}, {row.metric}, repeat {row.repeat}"
        )


def right_wrong(
    runs: Sequence[str],
    questions: Sequence[str],
    responses: Mapping[tuple[str, str], Sequence[Response]],
    scores: Mapping[str, Iterable[Score]],
    grades: Mapping[tuple[str, str, int], int | None],
) -> RightWrong:
    """Say which answers were right: by a person, else by `answer_match`; a failure is wrong."""
    matches = {
        (run, row.question_id, row.repeat): row.value
        for run, rows in scores.items()
        for row in rows
        if row.metric == ANSWER_MATCH and row.value is not None
    }
    shape = (len(runs), len(questions))
    values, errors = np.full(shape, np.nan), np.zeros(shape, np.int64)
    origins = np.full(shape, "", dtype=object)
    for i, run in enumerate(runs):
        for j, question in enumerate(questions):
            known = {}
            for response in responses.get((run, question), ()):
                key = (run, question, response.repeat)
                if response.response is None:
                    errors[i, j] += 1
                    known[response.repeat] = ("error", 0.0)
                elif key in grades:
                    if (grade := grades[key]) is not None:
                        known[response.repeat] = ("grade", float(grade))
                elif key in matches:
                    known[response.repeat] = (ANSWER_MATCH, matches[key])
            if known:
                values[i, j] = math.fsum(value for _, value in known.values()) / len(known)
                origins[i, j] = max((name for name, _ in known.values()), key=ORIGINS.index)
    return RightWrong(values, origins, errors)


def responses_by_cell(
    runs: Sequence[str], questions: Sequence[str], responses: Mapping[str, Iterable[Response]]
) -> dict[tuple[str, str], tuple[Response, ...]]:
    """Group responses by run and question, repeats in order."""
    cells: dict[tuple[str, str], list[Response]] = defaultdict(list)
    for run, rows in responses.items():
        for row in rows:
            cells[run, row.question_id].append(row)
    places(runs, list(responses), "run")
    places(questions, [question for _, question in cells], "question")
    for (run, question), own in cells.items():
        unique(f"repeat of {question} in {run}:", [str(row.repeat) for row in own])
    return {cell: tuple(sorted(own, key=lambda r: r.repeat)) for cell, own in cells.items()}


def unique(kind: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, each of which must stand once."""
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        raise ValueError(f"{kind} stands twice: {', '.join(doubled)}")
    return tuple(names)


def divide(total: Floats, count: NDArray[np.int64]) -> Floats:
    """Return the means, nan where nothing was counted."""
    means = np.full(total.shape, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means
