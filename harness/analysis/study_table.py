"""The input of analysis: runs, questions, scores and outcomes, joined by key."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from harness.records import PASSAGES_FROM, Floats, Layer, Question, Response, Score, Status, Verdict
from harness.text import natural

RIGHT = "right"
"""The name of right/wrong wherever metrics are listed."""

ANSWER_MATCH = "answer_match"
"""The metric that decides right or wrong where no person graded."""

UNTESTED = frozenset({"retrieval_seconds", "generation_seconds", "seconds", "passages_returned"})
"""Metrics whose differences are shown but never tested, so that they are in no family.

All questions of a run share one machine at one moment: a difference in seconds may be due to that
moment, however many questions there are. The number of passages returned changes by construction
with the settings that ask for them."""


GOLD = ("gold_recall", "gold_precision", "gold_mrr", "gold_ndcg")
"""Metrics of the evidence that questions name: facts of retrieval, whether trusted or not."""

EVIDENCE = "gold_ndcg"
"""The one of them that stands for evidence retrieved: primary where a change acts on retrieval."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run: what was configured, and what it can be compared with."""

    name: str
    variant: str
    """The variant's name, as `variant=` takes it."""

    choices: Mapping[str, str] = field(default_factory=dict)
    """Whole groups and what was chosen: {"prompt": "strict", "chat": "ollama", ...}."""

    leaves: Mapping[str, object] = field(default_factory=dict)
    """Flat settings below the variant: {"top_k": 9, "index.contents": "ctx",
    "prompt.text": "...", "version": None, ...}. A leaf that starts with a group's name and a
    dot belongs to that group."""

    inactive: frozenset[str] = frozenset()
    """Groups or leaves that another setting switches off: they are not factors."""

    corpus: str = ""
    """Fingerprint of the corpus; runs over another corpus are never compared. Empty where it is
    not known."""

    testset: str = ""
    """Fingerprint of the test set; runs over another test set are never compared."""

    asked: frozenset[str] | None = None
    """Ids of the questions that were asked; None where all were."""

    refused: frozenset[str] = frozenset()
    """Ids of the questions that were answered by a refusal in some repeat."""

    refusals_judged: int = 0
    """Responses of which the judge, not sentence structure, said whether they refuse."""

    partial: bool = False
    part: tuple[int, int] | None = None
    """Of a partial run: questions that were asked, and those of the test set."""

    answers: int = 0
    """Rows of the whole run, whatever part of it is reported; 0 where that is not known."""

    notes: tuple[str, ...] = ()
    """Remarks on the run for the reader: `ignores_prompt`, `recorded`."""

    overrides: tuple[str, ...] = ()
    """The override words of this run beside `variant=...`, as they were typed."""

    scored_by: Mapping[str, str] = field(default_factory=dict)
    """Metric -> fingerprint of its judge and prompts; a metric whose fingerprint differs between
    two runs is not compared."""

    generator: str | None = None
    """The model that answers, if any: to see whether the judge is of the same family."""

    other_models: tuple[str, ...] = ()
    """Names of models that answered, by their server's word, in place of `generator`."""

    judge: str | None = None
    """The model that judged, if any."""

    @property
    def passages_from(self) -> str | None:
        """The run whose passages this one was given; None where it retrieved its own."""
        name = self.leaves.get(PASSAGES_FROM)
        return None if name is None else str(name)


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """What is known of a metric before any score is looked at."""

    name: str
    layer: Layer
    higher_is_better: bool | None = True
    """None where neither direction is better, as for the share of refusals."""
    bounded: bool = True
    """Scores lie in [0, 1]; seconds and tokens do not."""

    @property
    def limits(self) -> tuple[float, float]:
        """What no score lies beyond: seconds and tokens are never negative."""
        if self.bounded:
            return 0.0, 1.0
        return 0.0 if self.layer is Layer.COST else -math.inf, math.inf


@dataclass(frozen=True, slots=True)
class Primary:
    """A test that the study declared before collecting."""

    factor: str
    metric: str


OUTCOMES = ("better", "worse", "same")
"""What can be expected of a change."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the study expected of a change before collecting."""

    factor: str
    outcome: str = "better"
    """One of `OUTCOMES`."""
    metric: str = "right"
    to: object = None
    """The value changed to; None for every change of the factor."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to analyse, and which part to show."""

    baseline: str | None = None
    """A run: only its contrasts are shown, with it on the left. The family is not narrowed."""
    factor: str | None = None
    """Only this factor's contrasts are shown. The family is not narrowed."""
    alpha: float = 0.05
    power: float = 0.8
    primary: tuple[Primary, ...] = ()
    expect: tuple[Expectation, ...] = ()
    clusters: Mapping[str, str] = field(default_factory=dict)
    """Question id -> its cluster (document); a question that is absent is a cluster by itself.
    Empty where questions are independent."""
    flips: int = 9_999
    """Random sign flips where there are too many to enumerate all."""
    seed: int = 0

    def cluster(self, question: str) -> str:
        """Return the cluster of a question."""
        return self.clusters.get(question, f"question {question}")


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCube:
    """Scores of runs x questions x metrics, each the mean over repeats."""

    runs: tuple[str, ...]
    questions: tuple[str, ...]
    metrics: tuple[MetricFacts, ...]

    values: Floats
    """(runs, questions, metrics), nan where NA."""

    units: Floats
    """(runs, questions, metrics): the smallest denominator among the repeats; nan where unknown."""

    statuses: NDArray[np.object_]
    """(runs, questions, metrics): `ok` where there is a value, else the reason why there is none;
    the empty string where there was no row."""

    binary: tuple[bool, ...]
    """(metrics,): whether each single score was 0 or 1, before repeats were averaged."""

    def measure(self, at: int) -> "Measure":
        """Return one metric over all runs."""
        values, units = self.values[:, :, at], self.units[:, :, at]
        return Measure(self.metrics[at], values, units, self.binary[at])


@dataclass(frozen=True, slots=True, eq=False)
class RightWrong:
    """Which answers were right, and by which source."""

    values: Floats
    """(runs, questions): 1 right, 0 wrong, the mean over repeats; nan where unknown.
    A question on which the system failed counts as wrong."""

    origins: NDArray[np.object_]
    """(runs, questions): `grade`, `answer_match`, `error`, or the empty string where unknown.
    Where repeats differ: `grade` before `answer_match` before `error`."""

    errors: NDArray[np.int64]
    """(runs, questions): repeats on which the system under test failed."""

    drawn: Floats
    """(runs, questions): where people looked at every answer, the chance that the question had of
    being drawn first, or 0 where it was not drawn at random; nan where an answer is ungraded."""


@dataclass(frozen=True, slots=True, eq=False)
class StudyTable:
    """Everything that a report rests on; `study_table` builds it."""

    runs: tuple[RunFacts, ...]
    """In the study's order."""

    questions: tuple[Question, ...]
    scores: ScoreCube
    """Over the same runs and questions, in the same order."""

    right: RightWrong
    responses: Mapping[tuple[str, str], tuple[Response, ...]]
    """(run, question id) -> its repeats in order; absent where it was not asked."""

    verdicts: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    """Run -> one judge's verdicts; may be empty, and what needs them is then left out."""

    def answers(self, run: str) -> Iterator[tuple[Question, Response]]:
        """Yield each question that a run was asked with its responses, failures among them."""
        for question in self.questions:
            for response in self.responses.get((run, question.id), ()):
                yield question, response


def study_table(
    runs: Sequence[RunFacts],
    questions: Sequence[Question],
    metrics: Sequence[MetricFacts],
    scores: Mapping[str, Iterable[Score]],
    responses: Mapping[str, Iterable[Response]],
    grades: Mapping[tuple[str, str, int], int | None] = MappingProxyType({}),
    verdicts: Mapping[str, Iterable[Verdict]] = MappingProxyType({}),
) -> StudyTable:
    """Join everything a report rests on.

    Args:
        runs: In the study's order.
        questions: Those of the test set.
        metrics: Those that `scores` may name.
        scores: Run -> its rows, of one judge and of none.
        responses: Run -> its rows.
        grades: (run, question id, repeat) -> 1 right, 0 wrong, by a person; None where a person
            could not decide, which leaves the answer ungraded whatever `answer_match` says.
        verdicts: Run -> its rows, of one judge.

    Raises:
        ValueError: A row occurs twice, or names an unknown run, question or metric.
    """
    names = unique("run", [run.name for run in runs])
    ordered = tuple(sorted(questions, key=lambda question: natural(question.id)))
    ids = unique("question", [question.id for question in ordered])
    rows: dict[str, list[Score]] = {run: list(own) for run, own in scores.items()}
    cells = responses_by_cell(names, ids, responses)
    return StudyTable(
        runs=tuple(runs),
        questions=ordered,
        scores=score_cube(names, ids, metrics, rows),
        right=right_wrong(names, ids, cells, rows, grades),
        responses=cells,
        verdicts={run: tuple(own) for run, own in verdicts.items()},
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
        places([metric.name for metric in metrics], [row.metric for _, row in rows], "metric"),
    )
    cells = np.ravel_multi_index(at, shape) if rows else np.zeros(0, np.int64)
    check_once(cells, rows)
    values = column([row.value for _, row in rows])
    scored = ~np.isnan(values)
    size = int(np.prod(shape))
    count = np.bincount(cells[scored], minlength=size)
    total = np.bincount(cells[scored], values[scored], size).astype(np.float64)
    means = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    if (count > 1).any():
        # equal means must stay equal whatever the order and the number of the repeats
        means = np.round(means, 12)
    units = np.full(size, np.nan)
    np.fmin.at(units, cells, column([row.units for _, row in rows]))
    statuses = np.full(size, "", dtype=object)
    # where repeats differ in their reason the first counts, so it is written last
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


def column(values: Sequence[float | None]) -> Floats:
    """Return numbers as an array, None as nan."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


def places(names: Sequence[str], wanted: Sequence[str], kind: str) -> NDArray[np.int64]:
    """Return each name's index; refuse unknown names, so that no row is lost."""
    table = {name: at for at, name in enumerate(names)}
    strangers = set(wanted) - table.keys()
    if strangers:
        raise ValueError(f"unknown {kind} {min(strangers)!r}; known: {', '.join(names)}")
    return np.array([table[name] for name in wanted], np.int64)


def check_once(cells: NDArray[np.int64], rows: Sequence[tuple[str, Score]]) -> None:
    """Refuse two scores for one repeat of one cell."""
    keys = np.stack([cells, np.array([row.repeat for _, row in rows], np.int64)])
    _, first = np.unique(keys, axis=1, return_index=True)
    if first.size < len(rows):
        run, row = rows[min(set(range(len(rows))) - set(first.tolist()))]
        raise ValueError(
            f"two scores for {run}, {row.question_id}, {row.metric}, repeat {row.repeat}"
        )


ORIGINS = ("error", "answer_match", "grade")
"""Sources of right and wrong, weakest first."""


def right_wrong(
    runs: Sequence[str],
    questions: Sequence[str],
    responses: Mapping[tuple[str, str], Sequence[Response]],
    scores: Mapping[str, Iterable[Score]],
    grades: Mapping[tuple[str, str, int], int | None],
) -> RightWrong:
    """Decide which answers were right: by a person, else by `answer_match`; a failure is wrong."""
    matches = {
        (run, row.question_id, row.repeat): row.value
        for run, rows in scores.items()
        for row in rows
        if row.metric == ANSWER_MATCH and row.value is not None
    }
    shape = (len(runs), len(questions))
    values, errors = np.full(shape, np.nan), np.zeros(shape, np.int64)
    drawn = np.full(shape, np.nan)
    origins = np.full(shape, "", dtype=object)
    for i, run in enumerate(runs):
        for j, question in enumerate(questions):
            known = {}
            given = responses.get((run, question), ())
            answers = [(run, question, r.repeat) for r in given if r.response is not None]
            if answers and all(key in grades for key in answers):
                drawn[i, j] = 0.0
            for response in given:
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
    return RightWrong(values, origins, errors, drawn)


def with_draws(study: StudyTable, draws: Mapping[str, float]) -> StudyTable:
    """Return the study with the questions that were drawn at random for grading.

    Args:
        study: As `study_table` returns it, in which none was.
        draws: Question id -> the chance that it had of being drawn first.
    """
    chances = [draws.get(question.id, 0.0) for question in study.questions]
    drawn = np.where(np.isnan(study.right.drawn), np.nan, chances)
    return replace(study, right=replace(study.right, drawn=drawn))


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
    """Return the names, each of which must occur once."""
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        raise ValueError(f"{kind} occurs twice: {', '.join(doubled)}")
    return tuple(names)


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """One metric over all runs, or right/wrong as if it were one."""

    facts: MetricFacts
    values: Floats
    """(runs, questions), nan where NA."""
    units: Floats
    """(runs, questions), nan where unknown."""
    binary: bool

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.facts.name

    @property
    def tested(self) -> bool:
        """Whether a difference in it is tested against chance."""
        return self.name not in UNTESTED

    @property
    def direction(self) -> int:
        """-1 where lower is better, else 1."""
        return -1 if self.facts.higher_is_better is False else 1

    @property
    def extremes(self) -> tuple[float, float]:
        """The worst and the best score in [0, 1]; without a direction, the least and the most."""
        return (0.0, 1.0) if self.direction > 0 else (1.0, 0.0)


def measures(study: StudyTable) -> tuple[Measure, ...]:
    """List what is compared: right/wrong first, then the metrics.

    `answer_match` is left out where right/wrong is the same thing: it is tested once.
    """
    cube, right = study.scores, study.right
    found = []
    if not np.isnan(right.values).all():
        facts = MetricFacts(RIGHT, Layer.OVERALL)
        found.append(Measure(facts, right.values, np.full(right.values.shape, np.nan), True))
    graded = bool((right.origins == "grade").any())
    for at, facts in enumerate(cube.metrics):
        if facts.name != ANSWER_MATCH or graded or not found:
            found.append(cube.measure(at))
    return tuple(found)


def asked_mask(study: StudyTable) -> NDArray[np.bool_]:
    """Return (runs, questions): whether the run was asked the question."""
    return np.array(
        [
            [run.asked is None or question.id in run.asked for question in study.questions]
            for run in study.runs
        ],
        dtype=bool,
    ).reshape(len(study.runs), len(study.questions))


def names_where(names: Sequence[str], mask: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return the names where the mask is true."""
    return tuple(names[at] for at in np.flatnonzero(mask).tolist())
