"""The bill of an evaluation before it runs: its model calls, their cost and their duration."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass

from harness.config.command import WIDTH, wrapped
from harness.config.composition import Composition
from harness.config.paths import study_path, user_path
from harness.config.schema import Evaluate
from harness.evaluate.evaluation import read_request, responses_to_score
from harness.judge import ChatJudge, PlannedCall, checks_for
from harness.llm import Budget, Calls, Remote, Usual
from harness.metrics import METRICS
from harness.store import Run
from harness.studies.sound_runs import sound_runs


@dataclass(frozen=True, slots=True)
class CallTotals:
    """Totals over model calls, identical calls counted once."""

    calls: int
    to_send: int
    """Those that the cache cannot answer."""
    prompt_tokens: int
    """Of the calls to send, an estimate on the high side."""
    reply_tokens: int
    """Of the calls to send, at most."""
    exact: bool
    """False where some calls depend on claims that are not extracted yet."""
    replies: int
    """To the calls to send: more than calls where one call returns several samples."""


def print_bill(settings: Evaluate, how: Composition) -> None:
    """Print the calls that would be made, what they would cost and how long they would take."""
    from rich.console import Console
    from rich.table import Table

    chosen = sound_runs(study_path(settings), settings.runs, how)
    rows, total = estimate(settings, chosen.runs)
    if not total.calls:
        print(f"judge {settings.judge.label} calls no model: nothing to send, nothing to pay")
        return
    table = Table("run", "metric", box=None, pad_edge=False)
    for heading in ("calls", "cached", "to send", "prompt tokens", "reply tokens"):
        table.add_column(heading, justify="right")
    for run, metric, totals in rows:
        table.add_row(run, metric, *columns(totals))
    table.add_row("all", "identical calls once", *columns(total), style="bold")
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    console.print(table)
    print("\n".join(map(wrapped, notes(settings, total))))
    chosen.check()


def estimate(
    settings: Evaluate, runs: Sequence[Run]
) -> tuple[list[tuple[str, str, CallTotals]], CallTotals]:
    """Return what each metric alone needs on each run, and the total, without making a call.

    The total is less than the sum of the rows: metrics share checks, and runs share texts.
    """
    request = read_request(settings.metrics, settings.judge)
    answered = [row for run in runs for row in responses_to_score(run, settings) if not row.failed]
    folder = user_path(settings.root) / ".cache" if settings.cache != "off" else None
    with closing(Calls(folder, "read")) as calls:
        cases = [row.case for row in answered]
        planned = settings.judge.planned_calls(cases, request.checks, calls, request.custom_checks)
    checks_by_metric = {name: checks_for(METRICS[name].needs) for name in request.metrics}
    checks_by_metric |= {check.name: (check.name,) for check in request.custom_checks}
    by_run: dict[str, list[PlannedCall]] = {run.name: [] for run in runs}
    for row, needed in zip(answered, planned, strict=True):
        by_run[row.run.name] += needed
    rows = [
        (run, metric, call_totals(one for one in found if one.check in checks))
        for run, found in by_run.items()
        for metric, checks in checks_by_metric.items()
        if checks
    ]
    return rows, call_totals(one for found in by_run.values() for one in found)


def call_totals(planned: Iterable[PlannedCall]) -> CallTotals:
    """Return the totals of these calls, identical calls counted once."""
    distinct = {row.key: row for row in planned}.values()
    sent = [row for row in distinct if not row.known]
    return CallTotals(
        calls=len(distinct),
        to_send=len(sent),
        prompt_tokens=sum(row.prompt_tokens for row in sent),
        reply_tokens=sum(row.reply_tokens for row in sent),
        exact=all(row.exact for row in distinct),
        replies=sum(row.replies for row in sent),
    )


def columns(totals: CallTotals) -> list[str]:
    """Return totals as columns of the table; an upper bound is marked with `<=`."""
    bound = "" if totals.exact else "<="
    cached = totals.calls - totals.to_send
    counts = [f"{bound}{totals.calls:,}", f"{cached:,}", f"{bound}{totals.to_send:,}"]
    if not totals.to_send:
        return [*counts, "0", "0"]
    return [*counts, f"<={totals.prompt_tokens:,}", f"<={totals.reply_tokens:,}"]


def notes(settings: Evaluate, total: CallTotals) -> list[str]:
    """Return the notes below the table: what the numbers mean, the cost and the duration."""
    if not total.to_send:
        return ["every call is cached: nothing to send, nothing to pay"]
    judge = settings.judge
    assert isinstance(judge, ChatJudge)
    model = judge.chat.label
    with closing(Calls(user_path(settings.root) / ".cache", "read")) as calls:
        usual = calls.usual(f"chat {model}")
    lines = [
        "tokens: of the calls to send (prompts estimated high, replies at most, without repairs)"
    ]
    if not total.exact:
        lines.append(
            "<= calls: some depend on claims that are not extracted yet; each is counted as one "
            "call, with claims estimated at twice the length of their text"
        )
    if total.replies > total.to_send:
        lines.append(
            f"several samples of a prompt count as one call ({total.replies:,} replies in all); "
            "an endpoint that returns one reply per call needs more calls"
        )
    if isinstance(judge.embedder, Remote):
        lines.append("calls to the embedder are not counted")
    lines.append(cost_estimate(total, settings.budget, usual, model))
    lines.append(duration(total, usual, judge))
    return lines


def cost_estimate(total: CallTotals, budget: Budget, usual: Usual | None, model: str) -> str:
    """Say what the calls to send would cost."""
    price = budget.prices.get(model)
    if price is None:
        return f"cost: no price for {model} in conf/prices.yaml"
    most = budget.cost({model: (total.prompt_tokens, total.reply_tokens)})
    if usual is None or usual.output_tokens is None:
        return (
            f"cost: at most {most:.2f} USD at {price.input:g}/{price.output:g} per million tokens"
        )
    replies = round(usual.output_tokens * total.replies)
    expected = budget.cost({model: (total.prompt_tokens, replies)})
    return (
        f"cost: about {expected:.2f} USD with replies of {usual.output_tokens:.0f} tokens (mean of "
        f"{usual.calls} cached calls); at most {most:.2f}"
    )


def duration(total: CallTotals, usual: Usual | None, judge: ChatJudge) -> str:
    """Say how long the calls to send would take."""
    if usual is None:
        return f"time: unknown, as no call to {judge.chat.label} is cached yet"
    at_once = judge.chat.concurrency if isinstance(judge.chat, Remote) else judge.chat.width
    minutes = total.to_send * usual.seconds / max(1, at_once) / 60.0
    return (
        f"time: about {minutes:.1f} minutes at {usual.seconds:.2f} s per call (mean of "
        f"{usual.calls} cached calls), {at_once} in parallel"
    )
