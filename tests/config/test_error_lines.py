"""Mistakes on the command line, reported in its own words."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from harness.config.command import LogLine
from harness.config.composition import compose, prepare
from harness.config.error_lines import error_line
from harness.errors import ConfigError, HarnessError
from tests.conftest import Command, Study
from tests.stub_endpoint import Reply, StubEndpoint


@pytest.fixture(autouse=True)
def hydra() -> Iterator[None]:
    prepare()
    yield
    GlobalHydra.instance().clear()


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("judge.chat.modle=x", "unknown setting of judge.chat 'modle' (did you mean 'model'?)"),
        ("variant.topk=9", "unknown setting of variant 'topk' (did you mean 'top_k'?); known: "),
        ("metric=[recall]", "unknown setting 'metric' (did you mean 'metrics'?); known: again, "),
        (
            "variant.top_k=nine",
            "variant.top_k: must be a whole number (got nine)",
        ),
        (
            "variant.top_k=[4,9]",
            "variant.top_k: must be a whole number (got [4, 9]); for a sweep write: "
            "-m variant.top_k=4,9",
        ),
        ("most_unread=few", "most_unread: must be a number (got few)"),
        ("runs={a: 1}", "runs: must be a list: [a, b]"),
        ("study.corpus=x", "study.corpus: must be a list: "),
        ("budget.prices=[1]", "budget.prices: must be settings, not a list: write key: value"),
        ("variant.chat=x", "variant.chat: holds settings; make the choice with chat=..."),
        ("runs=[x", "runs=[x: close its brackets, and quote texts inside, such as ['a b=1', c]"),
        ("root=a(b", "root=a(b: quote it as text: \"root='a(b'\""),
        ("limit", "'limit' is not a setting: write limit=<value>"),
        ("=2", "'=2' is not a setting: write <key>=2"),
        ("variant.top_k=4,9", "variant.top_k=4,9: for a sweep write: -m variant.top_k=4,9; for"),
        (
            "judge.chat.structured=xml",
            "judge.chat.structured: Invalid value 'xml', expected one of [auto, json_schema, ",
        ),
        ("judge.chat.extra.x=1", "judge.chat.extra.x: Key 'x' is not in struct"),
    ],
)
def test_a_mistake_names_the_setting(word: str, line: str) -> None:
    """The setting is named as it was typed, with the nearest known name."""
    with pytest.raises((HydraException, OmegaConfBaseException, ConfigError)) as caught:
        compose("evaluate", ["judge=chat", word])

    assert error_line(caught.value).startswith(line)


@pytest.mark.parametrize("plus", ["+", "++"])
@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("variant.topk=3", "unknown setting of variant 'topk' (did you mean 'top_k'?); known: "),
        ("variant.chat.seeed=3", "unknown setting of variant.chat 'seeed' (did you mean 'seed'?)"),
        ("repeat=3", "unknown setting 'repeat'; known: again, "),
        ("study.repeat=3", "unknown setting of study 'repeat' (did you mean 'repeats'?)"),
    ],
)
def test_a_plus_adds_no_unknown_setting(plus: str, word: str, line: str) -> None:
    """Hydra would accept it, and the run would be named after a setting that did nothing."""
    with pytest.raises(ConfigError) as caught:
        compose("collect", ["variant=text_k4", "chat=openai", plus + word])

    assert str(caught.value).startswith(line)


def test_a_plus_adds_to_open_settings() -> None:
    """Prices of models, and parameters of an endpoint beyond its protocol, are open."""
    words = [
        "judge=chat",
        "+judge.chat.extra.think=false",
        "+budget.prices={m: {input: 1, output: 2}}",
    ]
    settings, _ = compose("evaluate", words)

    assert settings.judge.chat.extra == {"think": False}
    assert settings.budget.prices["m"].output == 2


@pytest.mark.parametrize(
    ("words", "end"),
    [
        (["judge.chat.model=x"], "known: entailed_from, name, useful_from; judge=chat has it"),
        (
            ["chat=extractive", "variant.chat.seed=1"],
            "; chat=openai or azure or ollama or llamacpp has it",
        ),
    ],
)
def test_a_setting_of_another_choice_names_the_choice(words: list[str], end: str) -> None:
    """The word that chooses it is what was forgotten."""
    with pytest.raises((HydraException, OmegaConfBaseException)) as caught:
        compose("collect", ["variant=text_k4", *words])

    assert error_line(caught.value).endswith(end)


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("budget=5", "budget=5: name the limit: write budget.calls=5"),
        ("budget.calls=-1", "budget.calls=-1: a limit is 0 or more; null is no limit"),
    ],
)
def test_a_wrong_budget_is_one_line(word: str, line: str) -> None:
    """A number alone does not say what is limited; a negative limit limits nothing."""
    with pytest.raises(Exception, match="budget") as caught:
        compose("evaluate", [word])

    assert error_line(caught.value) == line


def test_a_list_is_written_as_it_was_typed(command: Command) -> None:
    """The line can be copied."""
    done = command("evaluate", "runs=ctx_k9")

    assert done.stderr == "error: runs: must be a list: runs=[ctx_k9]\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "# @package _global_\ndefaults: [{override /prompt: shrt}]\n",
            "unknown prompt 'shrt'; known: default, strict",
        ),
        (
            "# @package _global_\ndefaults: [{override /index: contxt}]\n",
            "unknown index 'contxt' (did you mean 'ctx'?); known: caption, ctx, text",
        ),
        (
            "# @package _global_\nvariant: {top_k: nine}\n",
            "variant.top_k: must be a whole number (got nine)",
        ),
        ("variant: {top_k: 9}\n", "its first line must be: # @package _global_"),
    ],
)
def test_a_mistake_in_a_file_names_the_file(
    command: Command, conf: Path, text: str, line: str
) -> None:
    """Not the file that made the choice first, and no search path of Hydra."""
    (conf / "variant/mine.yaml").write_text(text, encoding="utf-8")

    done = command("collect", "variant=mine")

    assert done.stderr == f"error: conf/variant/mine.yaml: {line}\n"


def test_other_errors_are_unchanged() -> None:
    """Their text is shown, in one line."""
    assert error_line(ValueError("no\n such thing")) == "no such thing"


ACTIVE = "\x1b]0;title\x07\x9b2J\u202eabc\rx"


def test_no_character_acts_on_the_terminal() -> None:
    """What a server or a file's name puts into an error is shown escaped."""
    assert error_line(HarnessError(f"HTTP 500: {ACTIVE}")) == (
        r"HTTP 500: \x1b]0;title\x07\x9b2J\u202eabc x"
    )


def test_names_and_replies_are_shown_escaped(
    command: Command, study: Study, tmp_path: Path
) -> None:
    """Neither a file's name nor a server's error reaches the terminal as a control sequence."""
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a\x1b]0;title\x07.xyz").touch()
    named = command("collect", *study.words, "variant=text_k4", "study.corpus=[corpus]")
    with StubEndpoint(Reply(status=400, error=ACTIVE)) as stub:
        words = ["chat=openai", f"variant.chat.base_url={stub.base_url}", "variant.chat.model=stub"]
        replied = command("collect", *study.words, "variant=text_k4", *words)

    for done in (named, replied):
        assert done.returncode == 1
        assert r"\x1b]0;title\x07" in done.stderr
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.stdout + done.stderr)


def test_log_lines_are_shown_escaped() -> None:
    """Warnings are printed at one place, the line ends of a traceback kept."""
    record = logging.makeLogRecord({"msg": "%s\nnext", "args": (ACTIVE,)})

    assert LogLine().format(record) == r"\x1b]0;title\x07\x9b2J\u202eabc\rx" + "\nnext"


def test_the_first_cause_is_found() -> None:
    """Hydra wraps an error of OmegaConf once or twice."""
    error = HydraException("In 'study/mine': raised while composing config")
    error.__cause__ = HydraException("again")
    error.__cause__.__context__ = OmegaConfBaseException("Key 'x' is not in struct")

    assert error_line(error) == "In 'study/mine': Key 'x' is not in struct"


@pytest.mark.parametrize("sweep", [[], ["-m"]])
@pytest.mark.parametrize("url", ["http://me:se{cret@host/v1", "'http://me:secret@host/v1'"])
def test_a_password_in_an_address_is_not_repeated(
    command: Command, tmp_path: Path, sweep: list[str], url: str
) -> None:
    """Neither in the error nor in the file that Hydra writes of a sweep."""
    done = command("collect", *sweep, "variant=text_k4", f"variant.chat.base_url={url}")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "base_url=http://***@host/v1 is not an address" in done.stderr
    assert "without user and password" in done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_judge_needs_a_chat_model(command: Command) -> None:
    """The extractive reader answers questions and is not a chat model: one line, exit code 1."""
    for name in ("evaluate", "doctor"):
        done = command(name, "judge=chat", "chat@judge.chat=extractive")

        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert done.stderr.startswith(
            "error: chat@judge.chat=extractive: this choice cannot be used here; choose recorded, "
        )
