"""Grading from the command line: the page in its own process, and grades in files."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.evaluate.merge import write_evaluation
from harness.questions import (
    Gradebook,
    question_line,
    question_sha256,
    response_sha256,
)
from harness.records import Grade
from tests.analysis.conftest import CELLS, VARIANTS
from tests.article import JUDGE, Article
from tests.conftest import ROOT, Command
from tests.grade.small import QUESTIONS, Small
from tests.grade.small import small as written


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """Two runs over three questions, with one caption."""
    return written(tmp_path)


@contextmanager
def page(words: list[str]) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Yield the link of a page in its own process, which is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.grade", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert process.stdout is not None
    try:
        said = ""
        while not (link := re.search(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", said)):
            assert process.poll() is None, said
            said += process.stdout.readline()
        yield link.group(), process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def ask(link: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(link, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        return json.load(reply)


@pytest.mark.slow
def test_a_crash_loses_nothing(small: Small) -> None:
    """A killed page resumes where it stopped, also after an incomplete line."""
    with page(small.words) as (link, process):
        for value in (1, 0):
            item = ask(f"{link}answers/now")["item"]
            ask(f"{link}answers/grade", {"ticket": item["ticket"], "grade": value})
        process.send_signal(signal.SIGKILL)
    file = small.testset / "grades.jsonl"
    kept = Gradebook(file, Grade).read()
    with file.open("ab") as stream:
        stream.write(b'{"question_id": "q1", "respon')

    with page(small.words) as (link, process):
        now = ask(f"{link}answers/now")
        assert (now["done"], now["left"]) == (2, 2)
        ask(f"{link}answers/grade", {"ticket": now["item"]["ticket"], "grade": None})
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        said = process.stdout.read()

    assert [grade.grade for grade in kept] == [1, 0]
    assert Gradebook(file, Grade).read()[:2] == kept
    assert [grade.grade for grade in Gradebook(file, Grade).read()] == [1, 0, None]
    assert "answers: 3 of 4 graded by ann" in said
    assert "captions: 0 of 1 graded by ann" in said
    assert "next: python -m harness.report study=demo_baseline" in said
    assert "Traceback" not in said


def test_what_is_graded_is_drawn_among_answers_that_changed(small: Small) -> None:
    """Runs that nobody scored yet: the two questions whose answers differ are drawn, then all."""
    with page(small.words) as (link, _):
        for _ in range(4):
            item = ask(f"{link}answers/now")["item"]
            ask(f"{link}answers/grade", {"ticket": item["ticket"], "grade": 1})

    grades = Gradebook(small.testset / "grades.jsonl", Grade).read()
    assert [grade.chosen for grade in grades] == ["random"] * 3 + ["all"]
    assert {grade.question_id for grade in grades[:3]} == {"q2", "q3"}
    assert [grade.probability for grade in grades] == [0.5, 0.5, 0.5, None]


def test_the_page_says_what_more_grades_could_do(tmp_path: Path) -> None:
    """Each change of a factor has its prospect: how many grades would decide it, or why none."""
    article = Article(tmp_path)
    for name in VARIANTS:
        article.write(name)
    article.grade()
    with page([*article.words, "grader=ann"]) as (link, _):
        rows = ask(f"{link}answers/now")["prospect"]

    assert "top_k 4 → 9" in [row["change"] for row in rows]
    assert {(row["prospect"], row["questions"]) for row in rows} == {("questions", 8)}
    assert len(rows) == 5


def test_a_corpus_elsewhere_is_no_hindrance(small: Small) -> None:
    """Answers are graded without pictures of pages if the corpus is missing."""
    words = [word for word in small.words if not word.startswith("study.corpus")]
    with page([*words, f"study.corpus=[{small.folder / 'gone'}]"]) as (link, _):
        now = ask(f"{link}answers/now")
    assert now["left"] == 4
    assert all(place["picture"] is None for place in now["item"]["evidence"])


def test_merge_prints_kappa_and_disputes(small: Small, command: Command) -> None:
    """Another grader's file is merged once; agreement, base rates and disputes are printed."""
    texts = [("q1", "It is 27 metres tall."), ("q2", "In 1913."), ("q2", "In 1931."),
             ("q3", "A man called Li.")]  # fmt: skip
    for file, grader, values in (
        (small.testset / "grades.jsonl", "ann", (1, 0, 1, 0)),
        (small.folder / "other.jsonl", "bob", (1, 1, 1, 0)),
    ):
        Gradebook(file, Grade).add(
            [Grade(q, response_sha256(text), value, grader)
             for (q, text), value in zip(texts, values, strict=True)]
        )  # fmt: skip

    done = command("grade", *small.words, f"merge={small.folder / 'other.jsonl'}")

    assert done.returncode == 0, done.stderr
    assert "4 of 4 grades added to" in done.stdout
    assert "ann and bob: the same grade on 3 of 4; Cohen's kappa 0.50" in done.stdout
    assert "(right by ann 50%, by bob 75%; chance alone would agree on 50%)" in done.stdout
    assert "q2: ann wrong, bob right: In 1913." in done.stdout
    assert "second_look=true" in done.stdout
    again = command("grade", *small.words, f"merge={small.folder / 'other.jsonl'}")
    assert "0 of 4 grades added to" in again.stdout


def test_captions_merge_into_their_own_file(small: Small, command: Command) -> None:
    """A file of caption grades is recognised by its first line."""
    other = small.folder / "other.jsonl"
    row = {"image_sha256": "ab" * 32, "caption_sha256": "c", "grade": 0, "grader": "bob"}
    other.write_text(json.dumps(row) + "\n", encoding="utf-8")

    done = command("grade", *small.words, f"merge={other}")

    assert done.returncode == 0, done.stderr
    assert json.loads((small.testset / "caption_grades.jsonl").read_text()) == row
    assert not (small.testset / "grades.jsonl").exists()


def test_a_spreadsheet_goes_out_and_comes_back(small: Small, command: Command) -> None:
    """`write=` gives a table, a person fills in a column, and `read=` adds it once."""
    sheet = small.folder / "grades.csv"
    done = command("grade", *small.words, f"write={sheet}")
    assert done.returncode == 0, done.stderr
    assert "read=grades.csv" in done.stdout

    text = sheet.read_text("utf-8-sig")
    sheet.write_text(text.replace("In 1931.,,", "In 1931.,1,"), "utf-8-sig", newline="")
    done = command("grade", *small.words, f"read={sheet}")

    assert "1 new grades added to" in done.stdout
    (kept,) = Gradebook(small.testset / "grades.jsonl", Grade).read()
    assert (kept.question_id, kept.grade, kept.grader) == ("q2", 1, "ann")
    assert "0 new grades" in command("grade", *small.words, f"read={sheet}").stdout


def test_a_table_of_another_grader_is_refused(small: Small, command: Command) -> None:
    """Without `grader=`, a table is written with the login name in each row."""
    sheet = small.folder / "grades.csv"
    command("grade", *small.words, "grader=login", f"write={sheet}")
    text = sheet.read_text("utf-8-sig")
    sheet.write_text(text.replace("In 1931.,,", "In 1931.,1,"), "utf-8-sig", newline="")

    done = command("grade", *small.words, f"read={sheet}")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "column 'grader' says login beside new grades, but grader=ann is given" in done.stderr
    words = [word for word in small.words if word != "grader=ann"]
    assert "1 new grades added to" in command("grade", *words, f"read={sheet}").stdout


@pytest.mark.parametrize("filled", ["In 1931.,1,", "In 1931.,,ask again", "In 1931.,0,a year off"])
def test_what_people_wrote_is_not_overwritten(small: Small, command: Command, filled: str) -> None:
    """`write=` on a table with unrecorded grades or notes is refused; once recorded, it is made."""
    sheet = small.folder / "grades.csv"
    command("grade", *small.words, f"write={sheet}")
    untouched = sheet.read_bytes()
    assert command("grade", *small.words, f"write={sheet}").returncode == 0
    assert sheet.read_bytes() == untouched
    text = sheet.read_text("utf-8-sig").replace("In 1931.,,", filled)
    sheet.write_text(text, "utf-8-sig", newline="")
    written = sheet.read_bytes()

    done = command("grade", *small.words, f"write={sheet}")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "grades.csv is not overwritten: 1 of its rows" in done.stderr
    assert sheet.read_bytes() == written
    if ",," not in filled:
        command("grade", *small.words, f"read={sheet}")
        assert command("grade", *small.words, f"write={sheet}").returncode == 0
        assert filled.strip(",") in sheet.read_text("utf-8-sig")


def test_another_file_is_not_overwritten(small: Small, command: Command) -> None:
    """A table of something else under this name stays."""
    sheet = small.folder / "grades.csv"
    sheet.write_text("name,mark\nann,1\n")

    done = command("grade", *small.words, f"write={sheet}")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert sheet.read_text() == "name,mark\nann,1\n"


def test_a_grade_ends_with_the_question_it_was_given_by(
    small: Small, command: Command, caplog: pytest.LogCaptureFixture
) -> None:
    """After an edit of the reference the old grade no longer counts, and is kept."""
    sheet = small.folder / "grades.csv"
    command("grade", *small.words, f"write={sheet}")
    text = sheet.read_text("utf-8-sig")
    sheet.write_text(text.replace("In 1931.,,", "In 1931.,1,"), "utf-8-sig", newline="")
    command("grade", *small.words, f"read={sheet}")
    (kept,) = Gradebook(small.testset / "grades.jsonl", Grade).read()
    edited = [replace(q, reference="In 1930.") if q.id == "q2" else q for q in QUESTIONS]
    for run in small.runs:
        run.write_text("questions.jsonl", "".join(map(question_line, edited)))
    caplog.clear()

    command("grade", *small.words, f"write={sheet}")

    assert kept.question_sha256 == question_sha256(QUESTIONS[1])
    assert "1 grades no longer count: the question or its reference was edited since (q2)" in (
        caplog.text
    )
    rows = csv.DictReader(io.StringIO(sheet.read_text("utf-8-sig"), newline=""))
    assert {row["grade"] for row in rows} == {""}
    assert Gradebook(small.testset / "grades.jsonl", Grade).read() == [kept]


def test_the_articles_table_gives_the_articles_counts(tmp_path: Path, command: Command) -> None:
    """The article's 48 grades are read from a table, and the report counts them."""
    article = Article(tmp_path)
    lines = ["question_id,response_sha256,grade"]
    for at, name in enumerate(VARIANTS):
        article.write(name)
        grades = dict(zip(CELLS["questions"], CELLS["grades"][at], strict=True))
        lines += [
            f"{row.question_id},{response_sha256(row.response or '')},{grades[row.question_id]}"
            for row in article.run(name).responses()
        ]
    (tmp_path / "grades.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    words = [*article.words, "grader=the author", f"read={tmp_path / 'grades.csv'}"]
    done = command("grade", *words)
    assert done.returncode == 0, done.stderr
    assert "48 new grades added to" in done.stdout
    report = command("report", *article.words)

    assert report.returncode == 0, report.stderr
    table = (tmp_path / "article/report/right_wrong.csv").read_text("utf-8-sig")
    for name, count in zip(VARIANTS, (4, 5, 5, 5, 7, 5), strict=True):
        assert len(re.findall(rf"^{name},\w+,1\.0,ok,grade$", table, re.MULTILINE)) == count


def test_a_json_file_is_refused_with_the_way_to_a_table(small: Small, command: Command) -> None:
    """`read=` takes a table only; a .json gets one line that names `write=`."""
    file = small.folder / "graded.json"
    file.write_text('{"text_k4": {"q1": 1}}', encoding="utf-8")

    done = command("grade", *small.words, f"read={file}")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "read= takes a .csv; write the template with write=grades.csv" in done.stderr
    assert not (small.testset / "grades.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["grader=llama3.1"], "grader=llama3.1 is this study's judge or generator"),
        (["grader=' LLAMA3.1 '"], "is this study's judge or generator"),
        (["grader=''"], "grader= is empty"),
        (["merge=a.jsonl", "read=b.csv"], "merge= and read= exclude each other"),
        (["read=none.csv"], "none.csv: no such file"),
        (["merge=none.jsonl"], "none.jsonl: no such file"),
        (["read=README.md"], "read= takes a .csv"),
        (["write=grades.xlsx"], "give a name that ends in .csv"),
        (["language=fr"], "unknown language 'fr'"),
        (["runs=[text_k5]"], "unknown run 'text_k5' (did you mean 'text_k4'?)"),
        (["port=99999"], "port=99999"),
    ],
)
def test_what_cannot_be_is_one_line(
    small: Small, command: Command, words: list[str], message: str
) -> None:
    """Each wrong setting is named in one line, with what to do."""
    run = small.runs[0]
    run.finish(run.facts() | {"made_with": {"generator": "llama3.1", "notes": []}})

    done = command("grade", *small.words[:-1], *words)

    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_judges_grades_are_kept_and_warned_of(
    small: Small, command: Command, caplog: pytest.LogCaptureFixture
) -> None:
    """Grades by the judge are kept; a warning says that they are no evidence."""
    write_evaluation(small.runs[0], "llama3.1", JUDGE, [], [])
    other = Gradebook(small.folder / "other.jsonl", Grade)
    other.add([Grade("q1", "a" * 64, 1, "Llama3.1")])

    done = command("grade", *small.words, f"merge={other.path}")

    assert done.returncode == 0, done.stderr
    assert "'Llama3.1' is this study's judge or generator" in caplog.text


def test_help_is_light(shell: Command) -> None:
    """`--help` names the settings without importing what serves a page."""
    done = shell("grade", "--help")

    assert done.returncode == 0
    for setting in ("grader=", "second_look=", "merge=", "read=", "write=", "policy="):
        assert setting in done.stdout
