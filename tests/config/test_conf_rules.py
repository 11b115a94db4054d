"""Files of `conf/` are data: what they must not hold is refused before Hydra acts on it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra

from harness.config import conf_rules
from harness.config.composition import compose, prepare
from harness.errors import ConfigError
from tests.conftest import Command, Study

HEADER = "# @package _global_\n"
COPIES = """
    copy:
      _target_: shutil.copyfile
      src: {source}
      dst: {copied}
"""
BOMB = "a: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
RUNS = f"hydra:\n  callbacks:{COPIES}"
WITH_M = ("collect", "-m", "study=x", "variant=text_k4,text_k9", "limit=1")
ALONE = ("collect", "study=x", "variant=text_k4", "limit=1")


@pytest.fixture(autouse=True)
def hydra() -> Iterator[None]:
    prepare()
    yield
    GlobalHydra.instance().clear()


def write(conf: Path, name: str, text: str) -> None:
    (conf / f"{name}.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("words", [WITH_M, ALONE], ids=["-m", "alone"])
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("study/x", HEADER + RUNS),
        ("variant/text_k4", HEADER + RUNS),
        ("study/x", "# @package hydra\ncallbacks:" + COPIES),
        ("study/x", HEADER + "defaults:\n  - /prompt@hydra.callbacks: y\n"),
        ("study/x", HEADER + "defaults:\n  - override /hydra/launcher: basic\n"),
        ("study/x", HEADER + "defaults:\n  - /hydra/callbacks/y\n"),
        ("study/x", HEADER + "hydra:\n  job:\n    env_set: {PYTHONPATH: /tmp}\n"),
        ("study/x", HEADER + "hydra:\n  searchpath: [file:///tmp]\n"),
        ("study/x", HEADER + "hydra:\n  sweep: {dir: '{copied}'}\n  run: {dir: '{copied}'}\n"),
        ("prompt/default", HEADER + RUNS),
        ("study/x", HEADER + "study:\n  name:" + COPIES),
    ],
)
def test_no_file_configures_hydra(
    command: Command, conf: Path, tmp_path: Path, words: tuple[str, ...], file: str, text: str
) -> None:
    """Callbacks, launchers, the environment and targets are one line, and nothing was run."""
    (tmp_path / "secret").write_text("s", encoding="utf-8")
    for name in {"study/x", "prompt/y", file} - {"prompt/default", "variant/text_k4"}:
        write(conf, name, HEADER + "study: {name: x}\n")
    text = text.replace("{source}", str(tmp_path / "secret"))
    write(conf, file, text.replace("{copied}", str(tmp_path / "copied")))

    done = command(*words)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert done.stderr.startswith(f"error: conf/{file}.yaml: ")
    assert "remove it" in done.stderr
    assert not (tmp_path / "copied").exists()
    assert os.environ.get("PYTHONPATH") != "/tmp"


@pytest.mark.parametrize("words", [WITH_M, ALONE], ids=["-m", "alone"])
@pytest.mark.parametrize(
    "line",
    [
        "study: {question: '${oc.env:MY_KEY}'}",
        "study: {question: '${ oc.env : MY_KEY }'}",
        "study: {question: 'a ${study.name} ${oc.env:MY_KEY,none}'}",
        "study: {question: '${oc.${study.name}:MY_KEY}', name: env}",
        "study: {question: '${${study.language}}', language: hydra.runtime.cwd}",
        "study: {question: '${hydra.runtime.cwd}'}",
        "study: {question: '${oc.decode:\"${oc.env:MY_KEY}\"}'}",
        "study: {corpus: ['${user_path:x}']}",
        "study: {variants: ['text_k4 study.question=${oc.env:MY_KEY}']}",
        "study: {variants: ['text_k4 study.question=\\${oc.env:MY_KEY}']}",
        "variant: {chat: {base_url: 'http://127.0.0.1:9/${oc.env:MY_KEY}'}}",
        "defaults: [{override /prompt: '${oc.env:MY_KEY}'}]",
    ],
)
def test_no_file_reads_the_environment(
    command: Command,
    conf: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    line: str,
) -> None:
    """Only references to settings are resolved; the error names file, key and value."""
    monkeypatch.setenv("MY_KEY", "sk-123")
    write(conf, "study/x", f"{HEADER}{line}\n")

    done = command(*words)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert done.stderr.startswith("error: conf/study/x.yaml: ")
    assert "would be evaluated; write the value" in done.stderr
    assert "sk-123" not in done.stdout + done.stderr


@pytest.mark.parametrize("words", [WITH_M, ALONE], ids=["-m", "alone"])
def test_the_command_line_reads_no_environment(
    command: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """A value that would be read from the environment is left to the shell."""
    monkeypatch.setenv("MY_KEY", "sk-123")

    words = tuple(word for word in words if word != "study=x")
    done = command(*words, "study.question=${oc.env:MY_KEY}")

    assert done.returncode == 1
    assert done.stderr.startswith("error: study.question=${oc.env:MY_KEY}: the value would be")


def test_references_and_texts_are_kept(conf: Path) -> None:
    """A file may refer to other settings, and a prompt may hold a dollar sign."""
    write(conf, "study/x", f"{HEADER}study: {{name: x, testset: '${{study.name}}'}}\n")
    prompt = "# @package variant.prompt\ndefaults: [/schema/prompt/prompt@_here_]\n"
    write(conf, "prompt/default", prompt + "en: 'Cost in $: {passages} {question}'\n")

    settings, _ = compose("collect", ["study=x", "variant=text_k4"])

    assert settings.study.testset == "x"
    assert settings.variant.prompt.en.startswith("Cost in $")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- a\n", "write settings as key: value"),
        ("defaults: {a: b}\n", "defaults: write a list"),
        ("defaults: [[a]]\n", "defaults: write a list"),
        ("# @package a b\n", "Too many components"),
        ("study: {name: '${a'}\n", r"study.name: '\${' begins the name"),
        (BOMB, "more than 10 aliases"),
        ("\udcff", "'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(conf: Path, text: str, line: str) -> None:
    """Whatever is wrong with it, one line names the file."""
    (conf / "study/x.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(ConfigError, match=f"conf/study/x.yaml: {line}"):
        compose("collect", ["study=x", "variant=text_k4"])


@pytest.mark.parametrize("name", ["/../outside", "../../outside", "/{absolute}/outside"])
def test_files_outside_of_conf_are_not_read(conf: Path, name: str) -> None:
    """A defaults list reaches the files of `conf/` only."""
    write(conf.parent, "outside", "study: {name: taken}\n")
    write(conf, "study/x", f"{HEADER}defaults:\n  - {name.format(absolute=conf.parent)}\n")

    with pytest.raises(ConfigError, match="only files of conf/ can be chosen; copy it there"):
        compose("collect", ["study=x", "variant=text_k4"])


@pytest.mark.parametrize(
    "word", ["hydra.searchpath=[file:///tmp]", "--config-dir=/tmp", "+hydra.job.env_set.A=1"]
)
def test_variants_of_a_study_do_not_configure_hydra(conf: Path, word: str) -> None:
    """The overrides in `study.variants` are settings."""
    with pytest.raises(ConfigError, match="a study must not configure Hydra"):
        compose("collect", ["study=demo", "variant=text_k4", word])


def test_files_of_another_folder_are_data_too(command: Command, tmp_path: Path) -> None:
    """A folder that is given with --config-dir may come from somebody else."""
    (tmp_path / "got/theirs").mkdir(parents=True)
    text = RUNS.replace("{source}", "a").replace("{copied}", "b")
    write(tmp_path, "got/theirs/x", HEADER + text)

    done = command("collect", "--config-dir", str(tmp_path / "got"), "+theirs=x")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "theirs/x.yaml: hydra: a file must not configure Hydra" in done.stderr


def test_a_password_in_a_file_is_not_repeated(command: Command, conf: Path, tmp_path: Path) -> None:
    """An address with a password is refused before a run is begun."""
    chat = "{base_url: 'http://me:secret@host/v1', model: m}"
    body = f"defaults: [override /chat: openai]\nvariant: {{chat: {chat}}}\n"
    write(conf, "variant/text_k4", HEADER + body)

    done = command("collect", "study=demo_baseline", "variant=text_k4", "limit=1")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "base_url=http://***@host/v1 is not an address; write it as" in done.stderr
    runs = tmp_path / "runs"
    assert not [p for p in runs.rglob("*") if p.is_file() and b"secret" in p.read_bytes()]


class TestPathsOutsideOfTheWorkingFolder:
    """They are named, once, where a file set them; the project's own and what is typed are not."""

    @pytest.fixture(autouse=True)
    def _fresh(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(conf_rules, "_named", set())

    def test_named(
        self, command: Command, study: Study, conf: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A line for each, before anything is read."""
        lines = ["corpus: [/etc/hostname, '../else', testsets/plurality/documents]",
                 "recording: ~/r.gz"]  # fmt: skip
        body = "".join(f"  {line}\n" for line in lines)
        write(conf, "study/x", f"{HEADER}study:\n  name: x\n  testset: plurality\n{body}")

        command("collect", "study=x", "variant=text_k4", f"study.testset={study.testset}")

        named = [r.message for r in caplog.records if "outside" in r.message]
        assert [line.partition(" ")[0] for line in named] == [
            "study.corpus=/etc/hostname", "study.corpus=../else", "study.recording=~/r.gz",
        ]  # fmt: skip

    def test_not_named(
        self, command: Command, study: Study, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The demo, and what the user types himself."""
        command("collect", "variant=text_k4", "limit=1", "root=/tmp/../nowhere/x", "cache=read")

        assert not [r.message for r in caplog.records if "outside" in r.message]
