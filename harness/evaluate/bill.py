"""The bill of an evaluation, before it: what would be asked, and what that would cost."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

from harness.config.command import WIDTH, folded
from harness.config.paths import project_path, study_path
from harness.config.schema import Evaluate
from harness.evaluate.request import Wanted, items_of, wanted_of
from harness.judge import ChatJudge, Planned, checks_for
from harness.llm import Calls, Price, Remote, Usual
from harness.metrics import METRICS
from harness.store import chosen_runs


@dataclass(frozen=True, slots=True)
class Sum:
    """Calls that are to be made, identical ones folded."""

    calls: int
    known: int
    prompt_tokens: int
    """Of those to send, estimated rather too high."""
    reply_tokens: int
    """Of those to send, at most."""
    exact: bool
    """False where some rest on claims that are not taken yet."""
    replies: int
    """To those to send: more than calls where one brings several samples."""

    @property
    def to_send(self) -> int:
        """Calls that the store cannot answer."""
        return self.calls - self.known


@dataclass(frozen=True, slots=True)
class Bill:
    """What an evaluation would ask."""

    rows: tuple[tuple[str, str, Sum], ...]
    """Run, metric, and what that metric needs by itself on that run."""
    total: Sum
    """Of all together, which is less: metrics share checks, and runs share texts."""


def bill(settings: Evaluate) -> Bill:
    """Return what would be asked, having asked nothing."""
    wanted = wanted_of(settings.metrics)
    runs = chosen_runs(study_path(settings), settings.runs)
    items = [item for run in runs for item in items_of(run, settings)]
    judged = [item for item in items if not item.failed]
    folder = project_path(settings.root) / ".cache" if settings.cache != "off" else None
    with closing(Calls(folder, "read")) as calls:
        cases = [item.case for item in judged]
        planned = settings.judge.planned(cases, wanted.checks, calls, wanted.own)
    by_run: dict[str, list[Planned]] = {run.name: [] for run in runs}
    for item, needed in zip(judged, planned, strict=True):
        by_run[item.run.name] += needed
    rows = [
        (run, metric, summed(row for row in found if row.check in checks))
        for run, found in by_run.items()
        for metric, checks in checks_by_metric(wanted).items()
    ]
    everything = summed(row for found in by_run.values() for row in found)
    return Bill(tuple(rows), everything)


def checks_by_metric(wanted: Wanted) -> dict[str, tuple[str, ...]]:
    """Return the checks of each metric that asks a judge."""
    own = {check.name: (check.name,) for check in wanted.own}
    judged = {name: checks_for(METRICS[name].needs) for name in wanted.metrics}
    return {name: checks for name, checks in (judged | own).items() if checks}


def summed(planned: Iterable[Planned]) -> Sum:
    """Return the calls with identical ones folded."""
    distinct = {row.key: row for row in planned}.values()
    sent = [row for row in distinct if not row.known]
    return Sum(
        calls=len(distinct),
        known=len(distinct) - len(sent),
        prompt_tokens=sum(row.prompt_tokens for row in sent),
        reply_tokens=sum(row.reply_tokens for row in sent),
        exact=all(row.exact for row in distinct),
        replies=sum(row.replies for row in sent),
    )


def print_bill(settings: Evaluate) -> None:
    """Print what would be asked, what it would cost and how long it would take."""
    from rich.console import Console
    from rich.table import Table

    found = bill(settings)
    if not found.total.calls:
        print(f"judge {settings.judge.label} asks no model: nothing to send, nothing to pay")
        return
    table = Table("run", "metric", box=None, pad_edge=False)
    for heading in ("calls", "known", "to send", "prompt tokens", "reply tokens"):
        table.add_column(heading, justify="right")
    for run, metric, needed in found.rows:
        table.add_row(run, metric, *cells(needed))
    table.add_row("all", "identical calls folded", *cells(found.total), style="bold")
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    console.print(table)
    print("\n".join(map(folded, notes(settings, found.total))))


def cells(needed: Sum) -> list[str]:
    """Return a sum as cells of the table; a bound is marked."""
    bound = "" if needed.exact else "<="
    counts = [f"{bound}{needed.calls:,}", f"{needed.known:,}", f"{bound}{needed.to_send:,}"]
    if not needed.to_send:
        return [*counts, "0", "0"]
    return [*counts, f"<={needed.prompt_tokens:,}", f"<={needed.reply_tokens:,}"]


def notes(settings: Evaluate, total: Sum) -> list[str]:
    """Return what the numbers mean, the money and the time."""
    if not total.to_send:
        return ["everything is remembered: nothing to send, nothing to pay"]
    judge = settings.judge
    assert isinstance(judge, ChatJudge)
    model = judge.chat.label
    with closing(Calls(project_path(settings.root) / ".cache", "read")) as calls:
        usual = calls.usual(f"chat {model}")
    lines = ["tokens are those to send: prompts estimated high, replies at most; no repairs"]
    if not total.exact:
        lines.append(
            "<= calls: some rest on claims that are not taken yet; each asks for one call at most, "
            "with claims reckoned at twice their text"
        )
    if total.replies > total.to_send:
        lines.append(
            f"several samples of a prompt are one call ({total.replies:,} replies in all); an "
            "endpoint that gives one reply a call is asked for each, which is more calls"
        )
    if isinstance(judge.embedder, Remote):
        lines.append("calls of the embedder are not counted")
    lines.append(money(total, settings.budget.prices.get(model), usual, model))
    lines.append(duration(total, usual, judge))
    return lines


def money(total: Sum, price: Price | None, usual: Usual | None, model: str) -> str:
    """Say what the calls to send cost."""
    if price is None:
        return f"money: no price of {model} in conf/prices.yaml"
    most = dollars(price, total.prompt_tokens, total.reply_tokens)
    if usual is None or usual.output_tokens is None:
        return f"money: at most {most:.2f} USD at {price.input:g}/{price.output:g} a million tokens"
    expected = dollars(price, total.prompt_tokens, round(usual.output_tokens * total.replies))
    return (
        f"money: about {expected:.2f} USD with replies of {usual.output_tokens:.0f} tokens, as "
        f"{usual.calls} calls had; at most {most:.2f}"
    )


def dollars(price: Price, read: int, written: int) -> float:
    """Return what so many tokens cost."""
    return (read * price.input + written * price.output) / 1e6


def duration(total: Sum, usual: Usual | None, judge: ChatJudge) -> str:
    """Say how long the calls to send take."""
    if usual is None:
        return f"time: no call of {judge.chat.label} is remembered yet, so its pace is not known"
    at_once = judge.chat.concurrency if isinstance(judge.chat, Remote) else judge.chat.width
    minutes = total.to_send * usual.seconds / max(1, at_once) / 60.0
    return (
        f"time: about {minutes:.1f} minutes at {usual.seconds:.2f} s a call, as {usual.calls} "
        f"calls took, {at_once} at once"
    )
