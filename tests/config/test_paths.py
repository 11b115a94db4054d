"""Relative paths of the user, what is shipped with the project, and the names of runs."""

import json
import re
from pathlib import Path

import pytest

from harness.config import paths
from harness.config.paths import portable, run_name, study_folder
from harness.errors import ConfigError
from harness.files import PROJECT, input_path
from tests.conftest import Command

NEUTRAL = frozenset({"chat.base_url", "corpus"})


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_relative_path_belongs_to_the_working_folder(elsewhere: Path) -> None:
    """What is written, and what is read without being shipped, lies where the user works."""
    assert paths.user_path("runs") == elsewhere / "runs"
    assert paths.user_path("/data/runs") == Path("/data/runs")
    assert paths.user_path("~/runs") == Path.home() / "runs"
    assert paths.shown_path(elsewhere / "runs/demo") == "runs/demo"
    assert paths.shown_path(PROJECT / "runs/demo") == str(PROJECT / "runs/demo")


def test_shipped_files_are_found_from_anywhere(elsewhere: Path) -> None:
    """The demo's test set, documents and recording need no copy."""
    assert paths.testset_path("plurality") == PROJECT / "testsets/plurality"
    assert input_path("testsets/plurality/documents") == PROJECT / "testsets/plurality/documents"
    assert (
        paths.recording_path(None, "plurality") == PROJECT / "testsets/plurality/recorded.jsonl.gz"
    )


def test_files_of_the_working_folder_come_first(elsewhere: Path) -> None:
    """A test set or document of the same name in the working folder is the one that is meant."""
    (elsewhere / "testsets/plurality").mkdir(parents=True)

    assert paths.testset_path("plurality") == elsewhere / "testsets/plurality"
    assert input_path("testsets/plurality") == Path("testsets/plurality")


def test_a_test_set_may_lie_anywhere(elsewhere: Path) -> None:
    """A path is a path, also without a slash; what is not there is looked for under testsets/."""
    (elsewhere / "mine.jsonl").touch()

    assert paths.testset_path("mine.jsonl") == elsewhere / "mine.jsonl"
    assert paths.testset_folder("mine.jsonl") == elsewhere
    assert paths.testset_path("sets/mine.jsonl") == elsewhere / "sets/mine.jsonl"
    assert paths.testset_path("nowhere") == elsewhere / "testsets/nowhere"


def test_in_the_project_the_working_folder_is_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a command is started in the repository, both are the same."""
    monkeypatch.chdir(PROJECT)

    assert paths.user_path("runs") == PROJECT / "runs"
    assert paths.testset_path("census") == PROJECT / "testsets/census"
    assert paths.shown_path(PROJECT / "runs/demo/report/report.md") == "runs/demo/report/report.md"


def test_the_demo_is_collected_in_another_folder(command: Command, tmp_path: Path) -> None:
    """Its runs lie in the working folder; its record names the documents as the study does."""
    done = command("collect", "variant=text_k4", "limit=1")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("runs/demo/text_k4: 1 of 1 answered")
    record = json.loads((tmp_path / "runs/demo/text_k4/run.json").read_text(encoding="utf-8"))
    assert record["configuration"]["corpus"] == ["testsets/plurality/documents"]


@pytest.mark.parametrize(
    ("overrides", "version", "name"),
    [
        (["variant=ctx_k9"], None, "ctx_k9"),
        (["variant=ctx_k9", "variant.top_k=6"], None, "ctx_k9-top_k-6"),
        (["variant=ctx_k9"], "2026-w48", "ctx_k9-2026-w48"),
        (["study=census", "study.name=scratch", "limit=2", "cache=read"], None, "ctx_k9"),
        (["prompt=strict"], None, "ctx_k9-prompt-strict"),
        (["chat=openai", "variant.chat.model=m1"], None, "ctx_k9-chat-openai-chat.model-m1"),
        (["variant.chat.base_url=http://127.0.0.1:1/v1"], None, "ctx_k9"),
        (["chat@judge.chat=ollama", "judge.chat.model=m"], None, "ctx_k9"),
    ],
)
def test_names_say_what_was_run(overrides: list[str], version: str | None, name: str) -> None:
    """Settings that shape the answers are in the name; where and how much to run is not."""
    assert run_name("ctx_k9", overrides, version, NEUTRAL) == name


def test_the_order_of_overrides_does_not_matter() -> None:
    """The same settings give the same folder."""
    words = ["variant.top_k=6", "prompt=strict"]

    assert run_name("v", words, None) == run_name("v", words[::-1], None)


@pytest.mark.parametrize(
    "text",
    [
        "qwen2.5:7b/k4",
        "a*b",
        "CON",
        "x.",
        "文字_k4",
        "圖片_k4",
        "Model",
        "a,b=c",
        "x" * 300,
        "..",
        "nul.txt",
    ],
)
def test_every_name_is_portable(text: str) -> None:
    """Folder names hold letters, digits, `.`, `_`, `-` only, and are not reserved names."""
    name = portable(text)

    assert re.fullmatch(r"[a-z0-9._-]{1,120}", name)
    assert name.split(".")[0] not in {"con", "nul"}
    assert not name.startswith(".")
    assert not name.endswith(".")


def test_no_two_texts_share_a_folder() -> None:
    """Names that differ by case, or in replaced characters only, get different folders."""
    texts = ["文字_k4", "圖片_k4", "model", "Model", "MODEL", "a:b", "a/b", "a-b"]

    assert len({portable(text) for text in texts}) == len(texts)


@pytest.mark.parametrize("name", ["", "a/b", "..", "a:b", " a", "x\x00"])
def test_study_names_that_cannot_be_folders(name: str) -> None:
    """A study's name is used unchanged, so it must be a valid folder name."""
    with pytest.raises(ConfigError, match=r"study\.name="):
        study_folder(name)


def test_study_names_may_be_chinese() -> None:
    """`study.name=麻疹` writes to a folder of that name."""
    assert study_folder("麻疹") == "麻疹"
