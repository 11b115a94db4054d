"""An evaluation: the metrics asked for, the responses, a judge's verdicts and the scores."""

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import chain
from numbers import Real
from typing import Any

from harness.config import paths
from harness.config.composition import Composition
from harness.config.paths import study_path, user_path
from harness.config.schema import Evaluate
from harness.errors import ConfigError, HarnessError, RunError, unknown
from harness.evaluate.merge import (
    CellKey,
    IdentityChange,
    Scorer,
    as_json,
    cell_key,
    change_since_labelled,
    write_evaluation,
)
from harness.evaluate.summary import FAILED, Evaluation, RunOutcome
from harness.judge import (
    CHECKS,
    DECLINES,
    Case,
    ChatJudge,
    CustomCheck,
    Judge,
    checks_for,
    language,
    read_check,
)
from harness.llm import Calls
from harness.metrics import (
    METRICS,
    OF_THE_RESPONSE,
    PRESETS,
    Evidence,
    MetricValue,
    assemble,
    custom_check_score,
    resolve,
)
from harness.questions import read_testset, select
from harness.records import LOST, Question, Response, Score, Status, Verdict, rows_by_response
from harness.store import Run, finished_runs
from harness.store.run import now
from harness.studies.sound_runs import sound_runs
from harness.text import single_spaced

log = logging.getLogger(__name__)

Advance = Callable[[int, int], None]
"""Called with the number of calls done and the number of calls in all."""

NEAR = 1e-6
"""By which rounding may carry a score beyond its bounds."""

LONGEST_FAILURE = 300
"""Characters of a judge's failure that the summary quotes."""


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """The metrics and custom checks that are asked for."""

    metrics: tuple[str, ...]
    custom_checks: tuple[CustomCheck, ...]
    """Each is a metric under its name."""

    @property
    def checks(self) -> tuple[str, ...]:
        """The built-in checks that the metrics depend on."""
        return checks_for(need for name in self.metrics for need in METRICS[name].needs)


@dataclass(frozen=True, slots=True)
class RunResponse:
    """One response to be scored, with its run and with the question as the run carries it."""

    run: Run
    question: Question
    response: Response

    @property
    def failed(self) -> bool:
        """Whether the system gave no answer, so that there is nothing to judge."""
        return self.response.response is None

    @property
    def case(self) -> Case:
        """The part of it that the judge may see."""
        return Case(
            question_id=self.response.question_id,
            repeat=self.response.repeat,
            question=self.response.user_input,
            response=self.response.response or "",
            reference=self.response.reference,
            passages=tuple(passage.text for passage in self.response.passages),
        )


def read_request(names: Sequence[str], judge: Judge) -> EvaluationRequest:
    """Return the metrics, presets and custom checks of these names, each once.

    A custom check is named by its file in `conf/check`, or given as the path of a file. With the
    metric `refusal`, a model as judge is also asked whether each response declines.
    """
    files = {path.stem: path for path in sorted((paths.CONF / "check").glob("*.yaml"))}
    known = {**METRICS, **PRESETS}
    for name in files.keys() & {*known, *CHECKS}:
        raise ConfigError(f"{files[name]}: '{name}' already exists; give your check another name")
    metrics = resolve(name for name in names if name in known)
    custom: dict[str, CustomCheck] = {}
    code = "en"
    if isinstance(judge, ChatJudge):
        code = language(judge.language)
        names = [*names, *([DECLINES] if "refusal" in metrics else [])]
    for name in names:
        if name in known:
            continue
        if name not in files and not name.endswith((".yaml", ".yml")):
            raise ConfigError(unknown(name, [*known, *files], "metric, preset or check"))
        check = read_check(files.get(name) or paths.user_path(name), code)
        if check.name in {**known, **CHECKS} or custom.get(check.name, check) != check:
            raise ConfigError(f"check '{check.name}' already exists; give yours another name")
        custom[check.name] = check
    return EvaluationRequest(metrics, tuple(custom.values()))


def responses_to_score(run: Run, settings: Evaluate) -> list[RunResponse]:
    """Return the run's responses to the questions chosen."""
    carried = read_testset(run.path).questions
    chosen = {q.id: q for q in select(carried, settings.questions, settings.limit)}
    return [
        RunResponse(run, chosen[row.question_id], row)
        for row in run.responses()
        if row.question_id in chosen
    ]


def evaluate(settings: Evaluate, how: Composition, advance: Advance) -> Evaluation:
    """Write verdicts and scores of every run chosen; return the outcome and the calls it took.

    Damaged runs are named and left out; damaged labels are made again with `again`.

    All responses of all runs go to the judge together, so that identical calls are made once.
    Existing labels are never replaced by NA; labels made under other settings are replaced only
    with `again`, and only in runs where at most `most_unread` of the checks lost a label.

    Raises RunError, before anything is asked, where another judge has the same label.
    """
    if not 0.0 <= settings.most_unread <= 1.0:
        raise ConfigError(f"most_unread must be between 0 and 1 (got {settings.most_unread:g})")
    request = read_request(settings.metrics, settings.judge)
    chosen = sound_runs(study_path(settings), settings.runs, how, settings.again)
    runs = chosen.runs
    identity = judge_identity(settings.judge, request)
    check_same_judge(identity, runs, settings, how.study_words)
    answers = {run: run.answers for run in runs}
    responses = {run: responses_to_score(run, settings) for run in runs}
    with closing(
        Calls(user_path(settings.root) / ".cache", settings.cache, settings.budget)
    ) as calls:
        found = ask_judge(responses, request, settings.judge, calls, advance)
    log_entry = evaluation_record(settings.judge, request, runs, calls)
    outcomes = {}
    for run in runs:
        score = cache(partial(scores_of, responses[run], request, settings.judge))
        cut = cut_cells(responses[run], request)
        outcomes[run.name] = write_run(
            run, found[run], identity, settings, score, answers[run], cut
        )
        run.log_evaluation(log_entry)
    verdicts = list(chain.from_iterable(found.values()))
    return Evaluation(
        runs=outcomes,
        calls=calls,
        chosen=chosen,
        failure=commonest_failure(verdicts),
        labels_failed=sum(verdict.error in FAILED for verdict in verdicts),
        labels_asked=len(verdicts),
    )


def ask_judge(
    responses: Mapping[Run, Sequence[RunResponse]],
    request: EvaluationRequest,
    judge: Judge,
    calls: Calls,
    advance: Advance,
) -> dict[Run, list[Verdict]]:
    """Return the judge's verdicts on the chosen responses of each run."""
    answered = [row for rows in responses.values() for row in rows if not row.failed]
    cases = [row.case for row in answered]
    labels = judge.judge(cases, request.checks, calls, advance, request.custom_checks)
    verdicts: dict[Run, list[Verdict]] = {run: [] for run in responses}
    for row, found in zip(answered, labels, strict=True):
        verdicts[row.run] += found
    return verdicts


def write_run(
    run: Run,
    verdicts: Sequence[Verdict],
    identity: Mapping[str, Any],
    settings: Evaluate,
    score: Scorer,
    answers: str,
    cut: set[CellKey],
) -> RunOutcome:
    """Merge new verdicts into a run's tables, with the scores that follow; return the outcome."""
    judge = settings.judge
    losses = losses_by_replacement(run, judge, identity, verdicts)
    most = settings.most_unread * len(losses)
    unchanged = settings.again and sum(error is not None for error in losses) > most
    dropped = 0
    if not unchanged:
        dropped = write_evaluation(
            run, judge.label, identity, verdicts, score, answers, settings.again
        )
    new_scores = score(tuple(verdicts))
    asked = set(map(cell_key, new_scores))
    return RunOutcome(
        scores=[row for row in run.scores(judge.label) if cell_key(row) in asked],
        new_scores=new_scores,
        cut=cut,
        unchanged=unchanged,
        failed=unchanged and sum(error in FAILED for error in losses) > most,
        dropped=dropped,
    )


def losses_by_replacement(
    run: Run, judge: Judge, identity: Mapping[str, Any], verdicts: Iterable[Verdict]
) -> list[str | None]:
    """Return the reason a label was lost, or None, of each check that would replace old labels.

    Old labels are those that the judge made under other settings; without any, the list is empty.
    A check is one check of one response.
    """
    change = change_since_labelled(run, judge.label, identity)
    losses: dict[tuple[str, int, str], str | None] = {}
    for one in verdicts if change.settings else ():
        if not change.keeps(one.check):
            place = one.question_id, one.repeat, one.check
            losses[place] = losses.get(place) or (one.error if one.error in LOST else None)
    return list(losses.values())


def scores_of(
    responses: Sequence[RunResponse],
    request: EvaluationRequest,
    judge: Judge,
    verdicts: Sequence[Verdict],
) -> list[Score]:
    """Return a row for each response and metric: a value, or NA with its reason."""
    by_response = rows_by_response(verdicts)
    not_answered = MetricValue(None, None, Status.NOT_ANSWERED)
    scores = []
    for one in responses:
        place = one.response.question_id, one.response.repeat
        rows = by_response.get(place, {})
        evidence = assemble(one.response, one.question, chain.from_iterable(rows.values()))
        found = [(name, metric_value(name, evidence, place[0])) for name in request.metrics]
        found += [
            (name, not_answered if one.failed else custom_check_score(rows.get(name, ())))
            for name in (check.name for check in request.custom_checks)
        ]
        scores += [
            Score(
                *place,
                metric=name,
                value=score.value,
                units=score.units,
                status=score.status,
                judge=None if name in METRICS and not METRICS[name].needs_judge else judge.label,
            )
            for name, score in found
        ]
    return scores


def metric_value(name: str, evidence: Evidence, question: str) -> MetricValue:
    """Return a metric's score. Raises HarnessError where the metric's function is wrong."""
    metric = METRICS[name]
    where = f"metric '{name}', question '{question}'"
    try:
        found = metric.score(evidence)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise HarnessError(f"{where}: {why}; correct the function of the metric") from error
    low, high = metric.bounds
    inside = isinstance(found.value, Real) and low - NEAR <= float(found.value) <= high + NEAR
    if found.value is not None and not (inside and math.isfinite(found.value)):
        raise HarnessError(
            f"{where}: {found.value} is not between {low:g} and {high:g}: correct its function, or "
            "give Metric(bounds=...); where it is undefined return MetricValue(None, 0, <reason>)"
        )
    return found


def cut_cells(responses: Iterable[RunResponse], request: EvaluationRequest) -> set[CellKey]:
    """Return the cells that are NA because the answer was truncated, whoever judges it."""
    metrics = [n for n in request.metrics if set(METRICS[n].needs) & set(OF_THE_RESPONSE)]
    return {
        (one.response.question_id, one.response.repeat, name)
        for one in responses
        if one.response.cut
        for name in metrics
    }


def judge_identity(judge: Judge, request: EvaluationRequest) -> dict[str, Any]:
    """Return what shapes the labels that are asked for: the judge's settings and custom checks."""
    custom = {content.pop("name"): content for content in map(asdict, request.custom_checks)}
    return {**judge.identity(), **({"own": custom} if custom else {})}


def check_same_judge(
    identity: Mapping[str, Any], runs: Sequence[Run], settings: Evaluate, study_words: str
) -> None:
    """Raise RunError where labels under one name would come from different settings.

    Warns of labels under another name that come from the same settings: how far the two agree
    says nothing.

    Every finished run of the study's folder counts, as a report compares all of them. With
    `again` the runs chosen may change, but then all runs with such labels must be chosen, and
    all their questions.
    """
    twins: set[str] = set()
    for run in finished_runs(study_path(settings)):
        if run.damage() is not None:
            continue
        judges = {label: {**other, "own": {}} for label, other in run.judges().items()}
        same = as_json({**identity, "own": {}})
        twins |= {
            label for label in judges.keys() - {settings.judge.label} if judges[label] == same
        }
        change = change_since_labelled(run, settings.judge.label, identity)
        if not change.settings:
            continue
        if settings.again and run in runs:
            check_nothing_dropped(run, change, settings)
            continue
        everywhere = "" if run in runs else " without runs="
        command = f"python -m harness.evaluate {study_words} again=true"
        ways = [f"{command}{everywhere} replaces its labels"]
        if change.itself:
            ways.insert(0, "judge.name=<label> keeps both judges")
        raise RunError(
            f"{run.name}: the judge '{settings.judge.label}' labelled it under other settings "
            f"({change}): {', '.join(ways)}"
        )
    if twins:
        log.warning(
            "the judge '%s' has the settings of '%s': it is the same judge under another name, so "
            "their agreement is no evidence; judge with another model",
            settings.judge.label, "', '".join(sorted(twins)),
        )  # fmt: skip


def check_nothing_dropped(run: Run, change: IdentityChange, settings: Evaluate) -> None:
    """Raise RunError where labels of questions that are not chosen would be dropped."""
    chosen = {one.response.question_id for one in responses_to_score(run, settings)}
    lost = [
        verdict
        for verdict in run.verdicts(settings.judge.label)
        if verdict.question_id not in chosen and not change.keeps(verdict.check)
    ]
    if lost:
        questions = len({verdict.question_id for verdict in lost})
        raise RunError(
            f"{run.name}: again=true would drop the {len(lost)} labels of {questions} other "
            f"question{'s' if questions > 1 else ''}: remove limit= and questions="
        )


def evaluation_record(
    judge: Judge, request: EvaluationRequest, runs: Sequence[Run], calls: Calls
) -> dict[str, Any]:
    """Return the log entry of an evaluation, over all its runs: identical calls are made once."""
    return {
        "judge": judge.label,
        "identity": judge.identity(),
        "ended": now(),
        "metrics": [*request.metrics, *(check.name for check in request.custom_checks)],
        "runs": [run.name for run in runs],
        "calls": {"asked": calls.asked, "sent": calls.sent, "remembered": calls.remembered},
        "tokens": {model: list(tokens) for model, tokens in calls.tokens.items()},
        "repairs": dict(calls.repairs),
        "reply_formats": dict(calls.reply_formats),
    }


def commonest_failure(verdicts: Iterable[Verdict]) -> str:
    """Return the reason that most failed labels give; empty where none failed."""
    reasons = Counter(v.reason for v in verdicts if v.error in FAILED and v.reason)
    if not reasons:
        return ""
    return single_spaced(reasons.most_common(1)[0][0], LONGEST_FAILURE)
