"""A command: its help at once, everything else through Hydra; its progress bar."""

import ast
import atexit
import gc
import os
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CONF = HERE.parents[1] / "conf"
SCHEMA = HERE / "schema.py"
GROUPS = (
    "study", "variant", "index", "prompt", "chat", "embedder", "captioner", "judge",
)  # fmt: skip

WIDTH = 100
"""Columns of what is printed, except a command to be pasted."""

GO_ON = "interrupted: the replies so far are kept, and the same command goes on from there"
INTERRUPTED, UNREAD = 130, 141
"""Exit codes, as a shell gives them to what SIGINT or SIGPIPE ended."""


def stage(name: str) -> Callable[[Callable[[Any, Any], None]], Callable[[], None]]:
    """Make a function of (settings, composition) a command configured by `conf/<name>.yaml`.

    `--help` is answered here, from the sources: composing a configuration to show it, and
    importing all that takes part in a run, would take seconds.
    """

    def decorate(task: Callable[[Any, Any], None]) -> Callable[[], None]:
        def command() -> None:
            if {"--help", "-h"} & set(sys.argv[1:]):
                print(help_text(name, str(task.__globals__["__doc__"])))
                return
            # A start makes a million objects that stay. To go through them for garbage again and
            # again takes a tenth of its time, and once more at the exit a third of a second.
            gc.set_threshold(50_000, 50, 100)
            atexit.register(gc.freeze)
            with ending(GO_ON):
                from harness.config.composition import run_stage

                run_stage(name, task)

        return command

    return decorate


@contextmanager
def ending(interrupted: str) -> Iterator[None]:
    """End without a traceback where the user interrupts, or reads no further (`... | head`)."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"\n{interrupted}", file=sys.stderr, flush=True)
        waiting = {thread for thread in threading.enumerate() if not thread.daemon}
        if waiting - {threading.main_thread()}:
            os._exit(INTERRUPTED)  # the user will not wait for them, the interpreter would
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        # What is still to be flushed at the exit of the interpreter would fail once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(UNREAD) from None


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of a stage's settings, as its source says."""

    name: str
    default: str
    about: str


def light(about: str, settings: Sequence[Setting], run: Callable[[dict[str, str]], None]) -> None:
    """Run a command that needs no configuration: its help, its words, its errors in a line each."""
    if {"--help", "-h"} & set(sys.argv[1:]):
        print("\n".join([about.strip(), "\nSettings (key=value):", *map(line, settings)]))
        return
    from harness.errors import HarnessError

    with ending("interrupted"):
        try:
            run(given(sys.argv[1:], settings))
        except HarnessError as error:
            print(f"error: {error}", file=sys.stderr)
            raise SystemExit(1) from None


def given(words: Sequence[str], settings: Sequence[Setting]) -> dict[str, str]:
    """Return setting -> value of those given.

    Raises ConfigError where a word sets nothing that is known.
    """
    from harness.errors import ConfigError, pick

    known = {setting.name: setting for setting in settings}
    found = {}
    for word in words:
        name, sign, value = word.rstrip("\r").partition("=")
        pick(known, name, "setting")
        if not sign or not value:
            raise ConfigError(f"'{word}' sets nothing: write {name}=<value>")
        found[name] = value.strip("'\"")
    return found


def help_text(name: str, about: str) -> str:
    """Return what a stage does, its settings, and the choices in `conf/`."""
    kind = {"study": "StudyRun"}.get(name, name.capitalize())
    own = [
        setting
        for setting in settings_of(kind)
        if setting.name not in ("study", "variant", "judge")
    ]
    return "\n".join(
        [
            about.strip(),
            "\nSettings (key=value):",
            *map(line, own),
            "\nThe study's own (study.key=value):",
            *map(line, settings_of("Study")),
            "\nChoices (group=choice; their settings: variant.top_k=6, variant.chat.model=...):",
            *(f"  {group:<15} {', '.join(choices(group))}" for group in GROUPS),
            "\n--cfg job shows the settings in force; -m runs a sweep (top_k=2,4,6).",
        ]
    )


def line(setting: Setting) -> str:
    """Return one setting as a line of the help."""
    return f"  {setting.name + '=' + setting.default:<22} {setting.about}".rstrip()


def settings_of(kind: str) -> Iterator[Setting]:
    """Yield the settings of a class in the schema, those of the classes it extends first."""
    tree = ast.parse(SCHEMA.read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    node = classes[kind]
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            yield from settings_of(base.id)
    for place, field in enumerate(node.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            after = node.body[place + 1] if place + 1 < len(node.body) else None
            yield Setting(field.target.id, default_of(field.value), text_of(after))


def default_of(value: ast.expr | None) -> str:
    """Return a default as it would be typed; nothing where it must be given or is a list."""
    known = isinstance(value, ast.Constant) and value.value is not None
    return str(ast.literal_eval(value)).lower() if known and value else ""


def text_of(node: ast.stmt | None) -> str:
    """Return the docstring under a field, in one line."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def choices(group: str) -> list[str]:
    """Return the files of a group in `conf/`."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that is told how many of how many are done."""
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
        task = bar.add_task(title, total=None)

        def advance(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        yield advance


def folded(line: str) -> str:
    """Return a line in as many as the width takes; what holds no blank stays whole."""
    return textwrap.fill(
        line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
