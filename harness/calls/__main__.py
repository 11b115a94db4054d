"""The cache of model calls: show its size, prune it, or record a study's calls for replay.

python -m harness.calls                            the number of cached calls, by model
python -m harness.calls prune=all days=30          delete calls older than 30 days
python -m harness.calls 'prune=chat gpt-4o'        delete one model's calls, whatever their age
python -m harness.calls record=replies.jsonl.gz study=demo_live
                                                   write its replies and vectors to a file, to
                                                   replay it with chat=recorded embedder=recorded
"""

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from harness.config.command import Argument, light
from harness.text import visible

if TYPE_CHECKING:
    from harness.llm import Calls

SETTINGS = (
    Argument("root", "runs", "The folder of the studies; the cache is in its .cache."),
    Argument("prune", "", "What to delete: all, chat, 'chat <model>' or vector."),
    Argument("days", "", "Delete only calls older than this number of days.", float),
    Argument("record", "", "The file (.jsonl.gz) to write a study's replies and vectors to."),
    Argument("study", "", "The study to record: its folder under root."),
)
KINDS = ("all", "chat", "vector")
DAY = 86_400.0


def main() -> None:
    """Show the call cache of a root, prune it, or record a study from it."""
    light(__doc__ or "", SETTINGS, manage_cache)


def manage_cache(given: dict[str, Any]) -> None:
    """Record or delete calls as the settings say, then print the size of the cache."""
    from harness.config.paths import shown_path, user_path
    from harness.errors import ConfigError
    from harness.llm import Calls

    settings = {**{setting.name: setting.default for setting in SETTINGS}, **given}
    with closing(Calls(user_path(settings["root"]) / ".cache")) as calls:
        if settings["record"]:
            record(calls, settings)
        elif settings["prune"]:
            prune(calls, settings["prune"], given.get("days"))
        elif "days" in given:
            raise ConfigError("days=... needs prune=...: say what to delete")
        assert calls.path is not None
        print(f"{shown_path(calls.path)}: {visible(size(calls))}")


def prune(calls: "Calls", what: str, days: float | None) -> None:
    """Delete the calls named, and print how many."""
    from harness.errors import pick

    cached = calls.size().calls
    if not any(kind.startswith(f"{what} ") for kind in cached):
        pick(dict.fromkeys([*KINDS, *cached]), what, "kind of call")
    before = None if days is None else time.time() - days * DAY
    count = calls.prune(before, None if what == "all" else what)
    print(f"deleted: {count}")


def record(calls: "Calls", settings: dict[str, str]) -> None:
    """Write a study's replies, and the vectors it was searched with, to a file."""
    from harness.calls.recording import record_study
    from harness.config.paths import shown_path, user_path
    from harness.errors import ConfigError

    if not settings["study"]:
        raise ConfigError("record=... needs study=...: say which study to record")
    path = user_path(settings["record"])
    recording = record_study(user_path(settings["root"]) / settings["study"], calls, path)
    print(
        f"{shown_path(path)}: {len(recording.replies)} replies, {len(recording.vectors)} vectors, "
        f"{path.stat().st_size / 1e3:.0f} kB"
    )


def size(calls: "Calls") -> str:
    """Return the size of a cache, and the number of its calls by kind."""
    found = calls.size()
    kinds = [f"\n  {count:>9,}  {kind}" for kind, count in found.calls.items()]
    vectors = [f"\n  {found.vectors:>9,}  vector"] if found.vectors else []
    return f"{found.bytes / 1e6:.1f} MB" + "".join(kinds + vectors)


if __name__ == "__main__":
    main()
