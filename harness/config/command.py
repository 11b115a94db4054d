"""How a command starts and ends: help, interruption, errors, a progress bar.

What `--help` prints (a command, its settings and the choices) needs no composition.
"""

import logging
import os
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any

from harness.config import paths
from harness.config.schema import REQUIRED, STAGES, Study
from harness.text import single_spaced, visible

WIDTH = 100
"""Columns of what is printed, except a command to be pasted."""

RESUME = (
    "interrupted: replies of models are cached, answers of other systems are not; run the same "
    "command to resume"
)
INTERRUPTED, UNREAD = 130, 141
"""Exit codes of a shell for a process that SIGINT or SIGPIPE ended."""

FIRST = ("study", "variant", "system")
"""Groups that are listed before the others."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One `name=value` that a command takes."""

    name: str
    default: str
    meaning: str
    kind: Callable[[str], Any] = str
    """What reads the text of the value: str, int or float."""


def stage(
    name: str, listed: bool = True, interrupted: str = RESUME
) -> Callable[[Callable[[Any, Any], None]], Callable[[], None]]:
    """Make a function of (settings, composition) a command configured by `conf/<name>.yaml`.

    `--help` is answered here, without composing a configuration or importing what a run needs:
    that would take seconds. It lists the settings and choices if `listed`.
    """

    def decorate(task: Callable[[Any, Any], None]) -> Callable[[], None]:
        def command() -> None:
            if {"--help", "-h"} & set(sys.argv[1:]):
                about = str(task.__globals__["__doc__"]).strip()
                print(help_text(name, about) if listed else about)
                return
            with ending(interrupted):
                from harness.config.composition import run_stage

                run_stage(name, task)

        return command

    return decorate


class LogLine(logging.Formatter):
    """A message of the log, its control characters escaped."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


@contextmanager
def ending(interrupted: str) -> Iterator[None]:
    """End without a traceback on Ctrl-C, where the output is closed (`... | head`), and where the
    operating system refuses something.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(LogLine("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"\n{interrupted}", file=sys.stderr, flush=True)
        waiting = {thread for thread in threading.enumerate() if not thread.daemon}
        if waiting - {threading.main_thread()}:
            os._exit(INTERRUPTED)  # the interpreter would wait for these threads
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # Flushing the rest when the interpreter exits would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(UNREAD) from None
    except OSError as error:
        from harness.errors import system_error_line

        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        print(f"error: {visible(system_error_line(error))}", file=sys.stderr)
        raise SystemExit(1) from None


def light(about: str, known: Sequence[Argument], run: Callable[[dict[str, Any]], None]) -> None:
    """Run a command that needs no configuration: its help, its arguments, an error in one line."""
    if {"--help", "-h"} & set(sys.argv[1:]):
        print("\n".join([about.strip(), "\nSettings (key=value):", *map(line, known)]))
        return
    from harness.errors import HarnessError

    with ending("interrupted"):
        try:
            run(given(sys.argv[1:], known))
        except HarnessError as error:
            print(f"error: {visible(single_spaced(str(error)))}", file=sys.stderr)
            raise SystemExit(1) from None


def given(words: Sequence[str], known: Sequence[Argument]) -> dict[str, Any]:
    """Return argument -> value, of those on the command line.

    Raises ConfigError for an argument that is unknown, has no value, or is not a number.
    """
    from harness.errors import ConfigError, pick

    by_name = {argument.name: argument for argument in known}
    found = {}
    for word in words:
        name, sign, value = word.rstrip("\r").partition("=")
        argument = pick(by_name, name, "setting")
        if not sign or not value:
            raise ConfigError(f"'{word}' has no value: write {name}=<value>")
        try:
            found[name] = argument.kind(value.strip("'\""))
        except ValueError:
            what = "a whole number" if argument.kind is int else "a number"
            raise ConfigError(f"{name}={value}: give {what}") from None
    return found


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to be called with how many are done, and of how many."""
    if not sys.stderr.isatty():
        yield lambda done, of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(title), total=None)

        def advance(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        yield advance


def wrapped(line: str) -> str:
    """Return a long line wrapped to `WIDTH` columns; a word is never broken."""
    return textwrap.fill(
        visible(line), WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def help_text(name: str, about: str) -> str:
    """Return what a stage does, its settings, and the choices of each group in `conf/`."""
    groups = sorted(path.name for path in paths.CONF.iterdir() if path.is_dir())
    groups = [*FIRST, *(name for name in groups if name not in (*FIRST, "check"))]
    return "\n".join(
        [
            about,
            "\nSettings (key=value):",
            *map(line, arguments(STAGES[name])),
            "\nSettings of the study (study.key=value):",
            *map(line, arguments(Study)),
            "\nChoices (group=choice; their settings: variant.top_k=6, variant.chat.model=...):",
            *(f"  {group:<15} {', '.join(choices(group))}" for group in groups),
            f"\nCustom checks (metrics=[...]): {', '.join(choices('check'))}",
            "\n--cfg job shows the settings in force; -m runs a sweep (variant.top_k=2,4,6).",
        ]
    )


def line(argument: Argument) -> str:
    """Return one argument as a line of the help."""
    return f"  {argument.name + '=' + argument.default:<22} {argument.meaning}".rstrip()


def arguments(settings: type[Any]) -> Iterator[Argument]:
    """Yield the settings of a dataclass that have a help text, in the order of its fields."""
    for field in fields(settings):
        if meaning := field.metadata.get("help"):
            yield Argument(field.name, default_text(field), meaning)


def default_text(field: Field[Any]) -> str:
    """Return a default as it is typed; empty for a list, and where there is no default."""
    if field.default in (MISSING, REQUIRED, None):
        return ""
    return str(field.default).lower()


def choices(group: str) -> list[str]:
    """Return the files of a group in `conf/`."""
    return sorted(path.stem for path in (paths.CONF / group).glob("*.yaml"))
