"""An evaluation: a judge's verdicts on what runs answered, and the scores they give."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import cache, partial
from itertools import chain
from typing import Any

from harness.config.paths import project_path, study_path
from harness.config.schema import Evaluate
from harness.errors import ConfigError, RunError
from harness.evaluate.merge import Changed, by_response, changed_for, write_evaluation
from harness.evaluate.request import Item, Wanted, items_of, wanted_of
from harness.evaluate.summary import FAILED, Cell, Evaluation, RunOutcome
from harness.judge import Judge
from harness.llm import Calls
from harness.llm.failures import one_line
from harness.metrics import METRICS, OF_THE_RESPONSE, Scored, assemble, custom_check_score
from harness.records import LOST, Score, Status, Verdict
from harness.store import Run, chosen_runs, finished_runs
from harness.store.provenance import now

Advance = Callable[[int, int], None]


def evaluate(settings: Evaluate, advance: Advance) -> Evaluation:
    """Write verdicts and scores of every run chosen, and what that took.

    All responses of all runs go to the judge together, so that what is alike is asked once.
    Labels that stand are never replaced by NA; labels under other settings, with `again`, only
    in runs in which no more than `most_unread` of the checks lost a label.
    Raises RunError, before anything is asked, where another judge goes by the same label.
    """
    if not 0.0 <= settings.most_unread <= 1.0:
        raise ConfigError(f"most_unread={settings.most_unread:g} is no share: give 0 to 1")
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
        anew = replaced(run, judge, identity, rows)
        most = settings.most_unread * len(anew)
        left = settings.again and sum(error is not None for error in anew) > most
        failed = left and sum(error in FAILED for error in anew) > most
        dropped = (
            0
            if left
            else write_evaluation(
                run, judge.label, identity, rows, scores, answers[run], settings.again
            )
        )
        run.log_evaluation(took)
        outcomes[run.name] = RunOutcome(
            run.scores(judge.label), brought, cut, left, failed, dropped
        )
    said = list(chain(*labels))
    came_not = sum(verdict.error in FAILED for verdict in said)
    return Evaluation(outcomes, calls, commonest_failure(said), (came_not, len(said)))


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
    run: Run, judge: Judge, identity: Mapping[str, Any], verdicts: Iterable[Verdict]
) -> list[str | None]:
    """Return, of each check of a response that takes the place of former labels, why one was lost.

    None where none was; no entry where no labels under other settings stand.
    """
    changed = changed_for(run, judge.label, identity)
    found: dict[tuple[str, int, str], str | None] = {}
    for one in verdicts if changed.settings else ():
        if not changed.keeps(one.check):
            place = one.question_id, one.repeat, one.check
            found[place] = found.get(place) or (one.error if one.error in LOST else None)
    return list(found.values())


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
        changed = changed_for(run, judge.label, identity)
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
        share = (
            custom_check_score(rows) if not item.failed else Scored(None, None, Status.NOT_ANSWERED)
        )
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
