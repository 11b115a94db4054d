"""Relative paths of the user, and what is shipped with the project."""

import json
from pathlib import Path

import pytest

from harness.config import paths
from harness.files import PROJECT, input_path
from tests.conftest import Command


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
