"""An evaluation: a judge's verdicts on what runs answered, and the scores they give."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from harness.config import Evaluate, project_path, study_path
from harness.errors import ConfigError, unknown
from harness.judge import Case, Judge, checks_for
from harness.llm import Calls
from harness.metrics import METRICS, PRESETS, assemble, resolve
from harness.questions import read_testset, select
from harness.records import Question, Response, Score, Verdict
from harness.store import Run, chosen_runs

Advance = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Item:
    """One response to be scored, with the question that its run carries."""

    run: Run
    question: Question
    response: Response

    @property
    def case(self) -> Case:
        """What the judge may see of it."""
        return Case(
            question_id=self.response.question_id,
            repeat=self.response.repeat,
            question=self.response.user_input,
            response=self.response.response or "",
            reference=self.response.reference,
            passages=tuple(passage.text for passage in self.response.passages),
        )


def evaluate(settings: Evaluate, advance: Advance) -> list[Run]:
    """Write verdicts and scores of every run chosen, and return the runs.

    All responses of all runs go to the judge together, so that what is alike is asked once.
    """
    runs = chosen_runs(study_path(settings), settings.runs)
    metrics = resolve_metrics(settings.metrics)
    items = [item for run in runs for item in items_of(run, settings)]
    judged = [item for item in items if item.response.response is not None]
    checks = checks_for(need for name in metrics for need in METRICS[name].needs)
    judge = settings.judge
    with closing(Calls(project_path(settings.root) / ".cache", settings.cache)) as calls:
        labels = judge.judge([item.case for item in judged], checks, calls, advance)
    verdicts = {id(item): rows for item, rows in zip(judged, labels, strict=True)}
    for run in runs:
        mine = [item for item in items if item.run == run]
        rows = [verdict for item in mine for verdict in verdicts.get(id(item), [])]
        scores = [
            score
            for item in mine
            for score in scored(item, verdicts.get(id(item), []), metrics, judge)
        ]
        run.write_evaluation(judge.label, judge.identity(), rows, scores)
    return runs


def resolve_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """Return the metrics that names and presets stand for, each once."""
    known = {**METRICS, **PRESETS}
    for name in names:
        if name not in known:
            raise ConfigError(unknown(name, known, "metric or preset"))
    return resolve(names)


def items_of(run: Run, settings: Evaluate) -> list[Item]:
    """Return the run's responses to the questions chosen, with the questions it carries."""
    carried = read_testset(run.path).questions
    chosen = {q.id: q for q in select(carried, settings.questions, settings.limit)}
    return [Item(run, chosen[r.question_id], r) for r in run.responses() if r.question_id in chosen]


def scored(
    item: Item, verdicts: Sequence[Verdict], metrics: Sequence[str], judge: Judge
) -> list[Score]:
    """Return one row a metric: a value, or NA with its reason."""
    evidence = assemble(item.response, item.question, verdicts)
    rows = []
    for name in metrics:
        metric = METRICS[name]
        found = metric.score(evidence)
        rows.append(
            Score(
                question_id=item.response.question_id,
                repeat=item.response.repeat,
                metric=name,
                value=found.value,
                units=found.units,
                status=found.status,
                judge=judge.label if metric.judged else None,
            )
        )
    return rows


def summary(scores: Sequence[Score]) -> str:
    """Say how many cells were scored, and count the NA by reason."""
    reasons: dict[str, int] = defaultdict(int)
    for score in scores:
        if score.value is None:
            reasons[score.status] += 1
    scored_cells = len(scores) - sum(reasons.values())
    told = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return f"{scored_cells} of {len(scores)} cells scored" + (f" (NA: {told})" if told else "")
