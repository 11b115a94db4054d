"""An evaluation: a judge's verdicts on what runs answered, and the scores they give."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from harness.config import PROJECT, Evaluate, project_path, study_path
from harness.errors import ConfigError, EndpointError, unknown
from harness.judge import CHECKS, Case, Judge, OwnCheck, checks_for, read_check
from harness.llm import Calls
from harness.metrics import METRICS, PRESETS, Scored, assemble, own_share, resolve
from harness.questions import read_testset, select
from harness.records import Question, Response, Score, Status, Verdict
from harness.store import Run, chosen_runs

Advance = Callable[[int, int], None]

OWN_CHECKS = PROJECT / "conf" / "check"

UNREAD = (Status.JUDGE_UNPARSABLE, Status.JUDGE_INCOMPLETE, Status.JUDGE_FAILED)
"""Reasons that lie with the judge and its endpoint, so that another judge may do better."""


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


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be scored."""

    metrics: tuple[str, ...]
    own: tuple[OwnCheck, ...]
    """Checks of one's own: each is a metric under its name."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The built-in checks that the metrics rest on."""
        return checks_for(need for name in self.metrics for need in METRICS[name].needs)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was done."""

    runs: tuple[Run, ...]
    calls: Calls
    """The account of the model calls."""


def evaluate(settings: Evaluate, advance: Advance) -> Evaluation:
    """Write verdicts and scores of every run chosen.

    All responses of all runs go to the judge together, so that what is alike is asked once.
    """
    wanted = wanted_of(settings.metrics)
    runs = chosen_runs(study_path(settings), settings.runs)
    answers = {run: run.answers for run in runs}
    items = [item for run in runs for item in items_of(run, settings)]
    judged = [item for item in items if item.response.response is not None]
    judge = settings.judge
    folder = project_path(settings.root) / ".cache"
    with closing(Calls(folder, settings.cache, settings.budget)) as calls:
        cases = [item.case for item in judged]
        labels = judge.judge(cases, wanted.checks, calls, advance, wanted.own)
    verdicts = {id(item): rows for item, rows in zip(judged, labels, strict=True)}
    for run in runs:
        mine = [item for item in items if item.run == run]
        rows = [verdict for item in mine for verdict in verdicts.get(id(item), [])]
        scores = [
            score
            for item in mine
            for score in scored(item, verdicts.get(id(item), []), wanted, judge)
        ]
        identity = identity_of(judge, wanted, run)
        run.write_evaluation(judge.label, identity, rows, scores, answers[run])
    return Evaluation(tuple(runs), calls)


def wanted_of(names: Sequence[str]) -> Wanted:
    """Return what metrics, presets and checks of one's own are meant, each once.

    A check is named by its file in `conf/check`, or given as the path of one.
    """
    files = {path.stem: path for path in sorted(OWN_CHECKS.glob("*.yaml"))}
    known = {**METRICS, **PRESETS}
    own: dict[str, OwnCheck] = {}
    for name in names:
        if name in known:
            continue
        if name not in files and not name.endswith((".yaml", ".yml")):
            raise ConfigError(unknown(name, [*known, *files], "metric, preset or check"))
        check = read_check(files.get(name) or project_path(name))
        if check.name in {**known, **CHECKS} or own.get(check.name, check) != check:
            raise ConfigError(f"check '{check.name}' is there already; give yours another name")
        own[check.name] = check
    return Wanted(resolve(name for name in names if name in known), tuple(own.values()))


def items_of(run: Run, settings: Evaluate) -> list[Item]:
    """Return the run's responses to the questions chosen, with the questions it carries."""
    carried = read_testset(run.path).questions
    chosen = {q.id: q for q in select(carried, settings.questions, settings.limit)}
    return [Item(run, chosen[r.question_id], r) for r in run.responses() if r.question_id in chosen]


def identity_of(judge: Judge, wanted: Wanted, run: Run) -> dict[str, Any]:
    """Return what shapes the judge's labels of a run.

    A check of one's own that is not asked this time keeps its labels, and its place here.
    """
    before: Mapping[str, Any] = run.judges().get(judge.label, {})
    own = {check.name: asdict(check) for check in wanted.own}
    for check in own.values():
        del check["name"]
    made = {**before.get("own", {}), **own}
    return {**judge.identity(), **({"own": made} if made else {})}


def scored(item: Item, verdicts: Sequence[Verdict], wanted: Wanted, judge: Judge) -> list[Score]:
    """Return one row a metric: a value, or NA with its reason."""
    evidence = assemble(item.response, item.question, verdicts)
    found = [(name, METRICS[name].score(evidence), METRICS[name].judged) for name in wanted.metrics]
    for check in wanted.own:
        rows = [verdict for verdict in verdicts if verdict.check == check.name]
        answered = item.response.response is not None
        share = own_share(rows) if answered else Scored(None, None, Status.NOT_ANSWERED)
        found.append((check.name, share, True))
    return [
        Score(
            question_id=item.response.question_id,
            repeat=item.response.repeat,
            metric=name,
            value=score.value,
            units=score.units,
            status=score.status,
            judge=judge.label if judged else None,
        )
        for name, score, judged in found
    ]


def check_unread(scores: Iterable[Score], most: float) -> None:
    """Raise EndpointError where the judge left more than this share of its cells unscored."""
    judged = [score for score in scores if score.judge is not None]
    unread = [score for score in judged if score.status in UNREAD]
    if judged and len(unread) / len(judged) > most:
        raise EndpointError(
            f"the judge gave no usable reply for {len(unread)} of {len(judged)} cells, which are "
            f"NA now (most_unread={most:g} is allowed); python -m harness.doctor tells what ails it"
        )


def summary(scores: Iterable[Score]) -> str:
    """Say how many cells were scored, and count the NA by reason."""
    cells = list(scores)
    reasons: dict[str, int] = defaultdict(int)
    for score in cells:
        if score.value is None:
            reasons[score.status] += 1
    told = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return f"{len(cells) - sum(reasons.values())} of {len(cells)} cells scored" + (
        f" (NA: {told})" if told else ""
    )
