"""Damaged runs are named and left out; the command in the message repairs them."""

import shlex
from pathlib import Path

import pytest

from harness.store import Run
from tests.conftest import Command, Done, Study

pytestmark = pytest.mark.slow

JUDGED = "metrics=[recall,answer_match]"


@pytest.fixture
def runs(command: Command, study: Study) -> list[Run]:
    """Three runs of the study, evaluated."""
    sweep = ("-m", "variant=text_k4", "variant.top_k=1,2,3")
    assert command("collect", *sweep, *study.words).returncode == 0
    assert command("evaluate", *study.words, JUDGED).returncode == 0
    return [Run(file.parent) for file in sorted((study.folder / "runs/small").glob("*/run.json"))]


def flip(path: Path) -> None:
    """Flip one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def advised(command: Command, message: str) -> Done:
    """Give the command that a message ends with."""
    _, _, stage, *words = shlex.split(message[message.index("python -m harness.") :])
    return command(stage.removeprefix("harness."), *words)


@pytest.mark.parametrize("name", ["verdicts.parquet", "scores.parquet", "evaluations.jsonl"])
@pytest.mark.parametrize("stage", ["report", "evaluate"])
def test_damaged_labels(
    name: str, stage: str, runs: list[Run], command: Command, study: Study
) -> None:
    """The other runs are evaluated or reported; the exit code and a line say that one is not."""
    before = runs[1].scores()
    flip(runs[1].path / name)

    done = command(stage, *study.words)

    assert done.returncode == 1
    line, last = done.stderr.splitlines()
    assert last == "error: 1 of 3 runs left out (see above)"
    assert f"{runs[1].path / name} is damaged" in line
    assert runs[0].name in done.stdout
    assert f"{runs[1].name}:" not in done.stdout

    assert advised(command, line + f" {JUDGED}").returncode == 0
    assert runs[1].damage() is None
    assert runs[1].scores() == before
    assert command("report", *study.words).returncode == 0


@pytest.mark.parametrize("name", ["responses.parquet", "questions.jsonl", "run.json", "SHA256SUMS"])
def test_damaged_answers(name: str, runs: list[Run], command: Command, study: Study) -> None:
    """The command collects the run again, beside a copy of the damaged one."""
    before = runs[1].responses()
    flip(runs[1].path / name)

    done = command("report", *study.words)

    assert done.returncode == 1
    line, _ = done.stderr.splitlines()
    assert str(runs[1].path) in line
    done = advised(command, line)
    assert done.returncode == 0, done.stderr
    assert [r.response for r in runs[1].responses()] == [r.response for r in before]
    assert command("evaluate", *study.words, JUDGED).returncode == 0
    assert command("report", *study.words).returncode == 0


def test_a_study_goes_on_without_a_damaged_run(
    runs: list[Run], command: Command, study: Study
) -> None:
    """`harness.study` evaluates and reports the others, and ends with exit code 1."""
    flip(runs[0].path / "responses.parquet")
    variants = ",".join(f"'text_k4 variant.top_k={k}'" for k in (1, 2, 3))

    done = command("study", *study.words, f"study.variants=[{variants}]", JUDGED)

    assert done.returncode == 1
    assert "1 of 3 runs left out (see above)" in done.stderr
    assert f"{runs[0].path / 'responses.parquet'} is damaged" in done.stderr
    assert "report: " in done.stdout


def test_no_run_is_left(runs: list[Run], command: Command, study: Study) -> None:
    """If all runs that were chosen are damaged, there is nothing to report: an error."""
    flip(runs[0].path / "scores.parquet")

    done = command("report", *study.words, f"runs=[{runs[0].name}]")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "scores.parquet is damaged" in done.stderr
    assert f"'runs=[{runs[0].name}]' again=true" in done.stderr


def test_a_damaged_run_is_not_recorded(runs: list[Run], command: Command, study: Study) -> None:
    """A recording holds the replies of all runs, or it is not made; grading leaves the run out."""
    flip(runs[0].path / "responses.parquet")
    root = f"root={study.folder / 'runs'}"

    assert "is damaged" in command("calls", root, "study=small", "record=r.jsonl.gz").stderr
    done = command("grade", *study.words, "write=grades.csv")
    assert done.returncode == 1
    assert "1 of 3 runs left out (see above)" in done.stderr
    assert (study.folder / "grades.csv").is_file()


def test_an_unfinished_run_is_named(
    runs: list[Run], command: Command, study: Study, caplog: pytest.LogCaptureFixture
) -> None:
    """A run that stopped before it was complete is not left out in silence."""
    (runs[1].path / "run.json").unlink()
    (runs[1].path / "SHA256SUMS").unlink()

    assert command("report", *study.words).returncode == 0

    assert f"{runs[1].name} is unfinished and left out" in caplog.text


def test_a_part_does_not_overwrite_the_whole_report(
    runs: list[Run], command: Command, study: Study
) -> None:
    """Some runs or questions are reported in a subfolder of their own."""
    assert command("report", *study.words).returncode == 0
    whole = study.run("report") / "report.md"
    before = whole.read_bytes()

    for word, part in [
        ("limit=2", "limit-2"),
        ("questions=[q1]", "questions-q1"),
        (f"runs=[{runs[0].name},{runs[1].name}]", "runs-*"),
    ]:
        assert command("report", *study.words, word).returncode == 0
        assert list(study.run("report").glob(f"{part}/report.md"))

    assert whole.read_bytes() == before


def test_the_command_for_a_study_without_runs_names_the_study(
    command: Command, study: Study
) -> None:
    """The advice can be given as it is, with a variant."""
    done = command("report", *study.words)

    assert "python -m harness.collect study=demo_baseline" in done.stderr
    assert "study.name=small" in done.stderr


def test_a_sweep_without_a_job(command: Command, study: Study) -> None:
    """A pattern that matches no variant is an error, wherever `-m` is given."""
    pattern = "variant=glob(zzz*)"
    for words in (["-m", pattern, *study.words], [*study.words, "-m", pattern]):
        done = command("collect", *words)

        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "this sweep has no job; nothing matches" in done.stderr
