"""Every command that a report prints is whole, and does what the report says when it is pasted."""

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.llm import E5, Calls, Role
from harness.llm.embedders import Vector
from tests.conftest import Command, Done, Study
from tests.stub_endpoint import StubEndpoint, hashed_vector

pytestmark = pytest.mark.slow

START = "python -m harness."
SEPARATED = "Every factor that changed has a contrast of its own"


def printed_commands(done: Done, report: Path) -> list[str]:
    """Return the commands of the terminal, each of which report.md and the page have as well."""
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    found = [line.strip() for line in lines if line.startswith(f"  {START}")]
    markdown = (report / "report.md").read_text("utf-8")
    blocks = re.findall(r"^```shell\n(.*)\n```$", markdown, re.MULTILINE)
    assert set(found) <= set(blocks)
    assert (report / "index.html").read_text("utf-8").count(START) >= len(blocks)
    return list(dict.fromkeys(blocks))


def paste(line: str, command: Command) -> Done:
    """Give a printed line as a shell would."""
    stage, *words = shlex.split(line.removeprefix(START))
    done = command(stage, *words)
    assert done.returncode == 0, (line, done.stderr)
    return done


def test_the_runs_offered_separate_all_factors(
    command: Command, shell: Command, study: Study
) -> None:
    """Two runs of a model differ in four factors: three runs, collected as printed, separate them.

    The report goes to a pipe, and the path of the test set is longer than its lines.
    """
    folder = study.folder / ("a long folder " * 8).strip().replace(" ", "_")
    folder.mkdir()
    shutil.move(study.testset, folder / "questions.jsonl")
    study.testset = folder / "questions.jsonl"
    words = [word for word in study.words if not word.startswith("variant.")]
    with StubEndpoint(lambda received: received.prompt[-30:]) as stub:
        chat = ["chat=openai", "variant.chat.model=stub", f"variant.chat.base_url={stub.base_url}"]
        one = ["variant=text_k4", "variant.index.chunk_size=40"]
        other = ["variant=text_k9", "variant.index.chunk_size=60", "prompt=strict",
                 "variant.chat.temperature=0.5"]  # fmt: skip
        for variant in (one, other):
            done = command("collect", *words, *variant, *chat)
            assert done.returncode == 0, done.stderr
        assert command("evaluate", *words).returncode == 0

        done = shell("report", *words, "language=en")

        assert "3 further runs give each of these changes" in " ".join(done.stdout.split())
        assert "at most 3 answers by the model, free where cached" in " ".join(done.stdout.split())
        lines = printed_commands(done, study.run("report"))
        collecting = [line for line in lines if line.startswith(f"{START}collect")]
        assert len(collecting) == 5  # two of them on the other run's passages
        assert all(str(study.testset) in line for line in lines)
        for line in lines:
            paste(line, command)
        assert len(list(study.run("x").parent.glob("text_k*"))) == 7
        done = command("report", *words, "language=en")
        assert SEPARATED in " ".join(done.stdout.split())


def test_the_commands_of_the_census_run(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No factor is confounded; the run that shows whether effects depend on each other runs."""
    pytest.importorskip("rapidocr", reason="the captions of the census need the extra `ocr`")

    def hashed(
        self: E5, batches: Sequence[Sequence[str]], role: Role, calls: Calls
    ) -> Iterator[list[Vector]]:
        for batch in batches:
            yield [np.array(hashed_vector(text), np.float32) for text in batch]

    monkeypatch.setattr(E5, "vectors", hashed)
    study = ["study=census", f"root={tmp_path}"]

    lines = printed_commands(command("study", *study), tmp_path / "census/report")

    assert [line.split()[2:4] for line in lines] == [
        [f"harness.{stage}", "study=census"] for stage in ("collect", "evaluate", "report")
    ]
    paste(lines[0], command)
    assert (tmp_path / "census/caption_k4-top_k-9/run.json").is_file()
