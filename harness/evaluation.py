"""An evaluation: a judge's verdicts on what runs answered, and the scores they give."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import chain
from typing import Any

from harness.account import FAILED, Cell, Evaluation, RunOutcome, lost
from harness.config import PROJECT, Evaluate, project_path, study_path
from harness.errors import ConfigError, RunError, unknown
from harness.judge import CHECKS, Case, Judge, OwnCheck, checks_for, read_check
from harness.llm import Calls
from harness.llm.failures import one_line
from harness.metrics import (
    METRICS,
    OF_THE_RESPONSE,
    PRESETS,
    Scored,
    assemble,
    own_share,
    resolve,
)
from harness.provenance import now
from harness.questions import read_testset, select
from harness.records import Question, Response, Score, Status, Verdict
from harness.store import Changed, Run, by_response, chosen_runs, finished_runs

Advance = Callable[[int, int], None]

OWN_CHECKS = PROJECT / "conf" / "check"


@dataclass(frozen=True, slots=True)
class Item:
    """One response to be scored, with the question that its run carries."""

    run: Run
    question: Question
    response: Response

    @property
    def failed(self) -> bool:
        """Whether the system gave no answer, so that there is nothing to judge."""
        return self.response.response is None

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


def evaluate(settings: Evaluate, advance: Advance) -> Evaluation:
    """Write verdicts and scores of every run chosen, and what that took.

    All responses of all runs go to the judge together, so that what is alike is asked once.
    Labels that stand are never replaced by NA; labels under other settings, with `again`, only
    in runs of which no more than `most_unread` of the cells came to nothing.
    Raises RunError, before anything is asked, where another judge goes by the same label.
    """
    wanted = wanted_of(settings.metrics)
    runs = chosen_runs(study_path(settings), settings.runs)
    judge = settings.judge
    identity = identity_of(judge, wanted)
    check_same_judge(judge, identity, runs, settings)
    answers = {run: run.answers for run in runs}
    items = {run: items_of(run, settings) for run in runs}
    asked = [item for mine in items.values() for item in mine if not item.failed]
    folder = project_path(settings.root) / ".cache"
    with closing(Calls(folder, settings.cache, settings.budget)) as calls:
        cases = [item.case for item in asked]
        labels = judge.judge(cases, wanted.checks, calls, advance, wanted.own)
    took = record(judge, wanted, runs, calls)
    verdicts = {id(item): rows for item, rows in zip(asked, labels, strict=True)}
    outcomes = {}
    for run, mine in items.items():
        rows = [verdict for item in mine for verdict in verdicts.get(id(item), [])]
        scores = cache(partial(scores_of, mine, wanted, judge))
        brought = scores(tuple(rows))
        cut = cut_cells(mine, wanted)
        anew = replaced(run, judge, identity, brought)
        left = settings.again and len(lost(anew, cut)) > settings.most_unread * len(anew)
        dropped = (
            0
            if left
            else run.write_evaluation(
                judge.label, identity, rows, scores, answers[run], settings.again
            )
        )
        run.log_evaluation(took)
        outcomes[run.name] = RunOutcome(run.scores(judge.label), brought, cut, left, dropped)
    return Evaluation(outcomes, calls, commonest_failure(chain(*labels)))


def commonest_failure(verdicts: Iterable[Verdict]) -> str:
    """Return what was said of most labels that did not come; nothing where all did."""
    said = Counter(v.reason for v in verdicts if v.error in FAILED and v.reason)
    return one_line(said.most_common(1)[0][0]) if said else ""


def scores_of(
    items: Sequence[Item], wanted: Wanted, judge: Judge, verdicts: Sequence[Verdict]
) -> list[Score]:
    """Return the scores of a run's items by one judge's verdicts on them."""
    by_item = by_response(verdicts)
    found = []
    for item in items:
        checks = by_item.get((item.response.question_id, item.response.repeat), {})
        found += scored(item, [row for rows in checks.values() for row in rows], wanted, judge)
    return found


def cut_cells(items: Iterable[Item], wanted: Wanted) -> set[Cell]:
    """Return the cells that are NA as the answer was cut: of metrics that rest on its claims."""
    resting = [name for name in wanted.metrics if set(METRICS[name].needs) & set(OF_THE_RESPONSE)]
    return {
        (item.response.question_id, item.response.repeat, name)
        for item in items
        if item.response.cut
        for name in resting
    }


def replaced(
    run: Run, judge: Judge, identity: Mapping[str, Any], scores: Iterable[Score]
) -> list[Score]:
    """Return the scores that stand for labels under other settings; none where there are none."""
    changed = run.changed(judge.label, identity)
    if not changed.settings:
        return []
    return [s for s in scores if s.judge is not None and not changed.keeps(s.metric)]


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


def identity_of(judge: Judge, wanted: Wanted) -> dict[str, Any]:
    """Return what shapes the labels that are asked for now."""
    own = {check.name: asdict(check) for check in wanted.own}
    for check in own.values():
        del check["name"]
    return {**judge.identity(), **({"own": own} if own else {})}


def check_same_judge(
    judge: Judge, identity: Mapping[str, Any], runs: Sequence[Run], settings: Evaluate
) -> None:
    """Raise RunError where one label would stand for several settings in a study.

    Every finished run of the study's folder counts, as a report sets all of them side by side.
    With `again` the runs chosen may change, but all runs with such labels must be chosen, and
    all their questions.
    """
    for run in finished_runs(study_path(settings)):
        changed = run.changed(judge.label, identity)
        if not changed.settings:
            continue
        if settings.again and run in runs:
            check_whole(judge, run, changed, settings)
            continue
        everywhere = "" if run in runs else ", without runs=,"
        ways = [f"python -m harness.evaluate again=true{everywhere} replaces what it said"]
        if changed.itself:
            ways.insert(0, "judge.name=<label> puts this one beside it")
        raise RunError(
            f"{run.name}: '{judge.label}' judged it under other settings ({changed}): "
            + ", ".join(ways)
        )


def check_whole(judge: Judge, run: Run, changed: Changed, settings: Evaluate) -> None:
    """Raise RunError where labels of questions that are not chosen would be dropped."""
    chosen = {item.response.question_id for item in items_of(run, settings)}
    lost = [
        verdict
        for verdict in run.verdicts(judge.label)
        if verdict.question_id not in chosen and not changed.keeps(verdict.check)
    ]
    if lost:
        questions = len({verdict.question_id for verdict in lost})
        raise RunError(
            f"{run.name}: again=true would drop the {len(lost)} labels of {questions} other "
            f"question{'s' if questions > 1 else ''}: leave limit= and questions= away"
        )


def record(judge: Judge, wanted: Wanted, runs: Sequence[Run], calls: Calls) -> dict[str, Any]:
    """Return what an evaluation took, over all its runs: what is alike was asked once for all."""
    return {
        "judge": judge.label,
        "identity": judge.identity(),
        "ended": now(),
        "metrics": [*wanted.metrics, *(check.name for check in wanted.own)],
        "runs": [run.name for run in runs],
        "calls": {"asked": calls.asked, "sent": calls.sent, "remembered": calls.remembered},
        "tokens": {model: list(tokens) for model, tokens in calls.tokens.items()},
        "repairs": dict(calls.repairs),
    }


def scored(item: Item, verdicts: Sequence[Verdict], wanted: Wanted, judge: Judge) -> list[Score]:
    """Return one row a metric: a value, or NA with its reason."""
    evidence = assemble(item.response, item.question, verdicts)
    found = [(name, METRICS[name].score(evidence), METRICS[name].judged) for name in wanted.metrics]
    for check in wanted.own:
        rows = [verdict for verdict in verdicts if verdict.check == check.name]
        share = own_share(rows) if not item.failed else Scored(None, None, Status.NOT_ANSWERED)
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
