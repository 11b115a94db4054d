"""What is remembered of model calls: how much, to forget some of it, or to pass it on.

python -m harness.calls                            how much there is, by model
python -m harness.calls prune=all days=30          forget what is older than 30 days
python -m harness.calls 'prune=chat gpt-4o'        forget one model's calls, whatever their age
python -m harness.calls record=replies.jsonl.gz study=demo_live
                                                   keep its replies and vectors, to replay it with
                                                   chat=recorded embedder=recorded
"""

import time
from contextlib import closing
from typing import TYPE_CHECKING

from harness.config.command import Setting, light

if TYPE_CHECKING:
    from harness.llm.calls import Calls

SETTINGS = (
    Setting("root", "runs", "The folder that holds the studies; the store lies in its .cache."),
    Setting("prune", "", "What to forget: all, chat, 'chat <model>' or vector."),
    Setting("days", "", "Forget only what is older than so many days."),
    Setting("record", "", "A file (.jsonl.gz) to write a study's replies and vectors to."),
    Setting("study", "", "The study that is recorded: its folder under root."),
)
KINDS = ("all", "chat", "vector")
DAY = 86_400.0


def main() -> None:
    """Show the call store of a root, prune it, or record a study's generator from it."""
    light(__doc__ or "", SETTINGS, run)


def run(given: dict[str, str]) -> None:
    """Record or forget what is asked for, then print what the store holds."""
    from harness.config.paths import project_path, shown_path
    from harness.errors import ConfigError
    from harness.llm.calls import Calls

    settings = {**{setting.name: setting.default for setting in SETTINGS}, **given}
    with closing(Calls(project_path(settings["root"]) / ".cache")) as calls:
        if settings["record"]:
            record(calls, settings)
        elif settings["prune"]:
            prune(calls, settings["prune"], settings["days"])
        elif settings["days"]:
            raise ConfigError("days=... goes with prune=...: say what to forget")
        assert calls.path is not None
        print(f"{shown_path(calls.path)}: {size(calls)}")


def prune(calls: "Calls", what: str, days: str) -> None:
    """Forget what is named, and say how much went."""
    from harness.errors import ConfigError, pick

    if not what.startswith("chat "):
        pick(dict.fromkeys(KINDS), what, "kind of call")
    try:
        before = time.time() - float(days) * DAY if days else None
    except ValueError:
        raise ConfigError(f"days={days} is no number") from None
    gone = calls.prune(before, None if what == "all" else what)
    print(f"forgotten: {gone}")


def record(calls: "Calls", settings: dict[str, str]) -> None:
    """Write what a study's generator replied, and the vectors it was searched by, to a file."""
    from harness.calls.recording import record_study
    from harness.config.paths import project_path, shown_path
    from harness.errors import ConfigError

    if not settings["study"]:
        raise ConfigError("record=... goes with study=...: say which is recorded")
    path = project_path(settings["record"])
    made = record_study(project_path(settings["root"]) / settings["study"], calls, path)
    print(
        f"{shown_path(path)}: {len(made.replies)} replies, {len(made.vectors)} vectors, "
        f"{path.stat().st_size / 1e3:.0f} kB"
    )


def size(calls: "Calls") -> str:
    """Say what a store holds."""
    found = calls.size()
    kinds = [f"\n  {count:>9,}  {kind}" for kind, count in found.calls.items()]
    vectors = [f"\n  {found.vectors:>9,}  vector"] if found.vectors else []
    return f"{found.bytes / 1e6:.1f} MB" + "".join(kinds + vectors)


if __name__ == "__main__":
    main()
