"""Reports on small studies written by hand: numbers, names and order agree in every output."""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from harness.evaluate.merge import write_evaluation
from harness.questions import Gradebook, response_sha256
from harness.records import Grade, Passage, Question, Response, Score
from harness.render.csv_tables import csv_text
from harness.store import Run
from tests.conftest import Command
from tests.grade.small import PNG
from tests.printed.cells import PrintedPage, PrintedTable, even, numbers, report_page
from tests.written import write_run

JUDGE = {"judge": "overlap"}


@dataclass
class WrittenStudy:
    """A study written by hand, and the report on it."""

    folder: Path
    command: Command

    @property
    def words(self) -> list[str]:
        """The settings that make a command work on this study."""
        return [
            *("study=demo_baseline", "study.name=written", "study.variants=[]"),
            *(f"root={self.folder}", f"study.testset={self.folder}"),
        ]

    def write(
        self,
        name: str,
        values: Sequence[float | None],
        questions: Sequence[Question],
        answers: Sequence[str] | None = None,
        passages: Sequence[Passage] = (),
        identity: dict[str, object] | None = None,
        of: int | None = None,
        **leaves: object,
    ) -> Run:
        """Write a run with one metric and a score per question; its index has `of` passages."""
        k = leaves["top_k"]
        assert isinstance(k, int)
        texts = answers or [f"{name} answers {q.id}" for q in questions]
        rows = [
            Response(q.id, 0, q.question, q.reference, q.source, text, tuple(passages), k, of)
            for q, text in zip(questions, texts, strict=True)
        ]
        run = write_run(self.folder / "written" / name, questions, rows, **leaves)
        scores = [
            Score(q.id, 0, "context_recall", value, 4, "ok" if value is not None else "no_claims",
                  "overlap")
            for q, value in zip(questions, values, strict=True)
        ]  # fmt: skip
        write_evaluation(run, "overlap", identity or JUDGE, [], scores)
        return run

    def report(self) -> "WrittenStudy":
        """Report the study; an error fails the test."""
        done = self.command("report", *self.words, "language=en")
        assert done.returncode == 0, done.stderr
        return self

    def file(self, name: str) -> str:
        """Return a file of the report."""
        return (self.folder / "written/report" / name).read_text("utf-8-sig")

    def table(self, section: str, heading: str = "") -> PrintedTable:
        """Return the first table of report.md under a section and a heading."""
        found = report_page(self.file("report.md")).tables
        return next(t for t in found if (t.section, t.heading) == (section, heading))

    @property
    def page(self) -> PrintedPage:
        """The page for a browser."""
        return PrintedPage(self.file("index.html"))


@pytest.fixture
def written(tmp_path: Path, command: Command) -> WrittenStudy:
    return WrittenStudy(tmp_path, command)


def asked(count: int) -> list[Question]:
    return [Question(f"q{n}", f"ask {n}", f"reference {n}", "text") for n in range(1, count + 1)]


def test_one_mean_in_every_place(written: WrittenStudy) -> None:
    """0.9, NA, 0.4 and 0.75 have the mean 0.683 of 3 of 4 in Markdown, page and CSV."""
    run = written.write("k4", [0.9, None, 0.4, 0.75], asked(4), top_k=4)
    written.report()

    column = pd.read_parquet(run.path / "scores.parquet")["value"]
    assert (round(column.mean(), 3), column.count()) == (0.683, 3)
    cell = written.table("Mean scores").by_row["context recall"]["k4"]
    assert numbers(cell)[0] == "0.683"
    assert cell.endswith("(3/4)")
    means = next(t for t in written.page.tables if t.section == "Mean scores")
    assert means.by_row["context recall"]["k4"] == cell
    [line] = csv.DictReader(io.StringIO(written.file("means.csv")))
    assert float(line["mean"]) == pytest.approx(column.mean())
    assert (line["scored"], line["asked"]) == ("3", "4")


def test_a_saturated_index_and_a_caption_that_misreads(written: WrittenStudy) -> None:
    """An index that is returned whole is marked; a caption is shown beside its picture."""
    misread = "A map of population density; the darkest county has 480 people per km2."
    chunks = [Passage(f"map#1.{n}", "map", 1, "text", f"chunk {n}") for n in (1, 2, 3, 4, 6)]
    c5 = Passage("map#1.f1", "map", 1, "caption", misread)
    chunks.insert(4, c5)
    questions = asked(2)
    written.write("k4", [0.5, 0.75], questions, None, chunks[:4], of=6, top_k=4)
    run = written.write("k9", [1.0, 1.0], questions, None, chunks, of=6, top_k=9)
    row = {"figure": c5.id, "document": "map", "page": 1, "image_sha256": "ab" * 32,
           "captioner": "ocr", "text": misread, "picture": "figures/map.png"}  # fmt: skip
    run.write_text("captions.jsonl", json.dumps(row) + "\n")
    run.write({"figures/map.png": PNG})
    written.report()

    text = written.file("report.md")
    assert (
        "k9 returned 6 of 6 passages: saturated. The whole index comes back, so retrieval scores "
        "say nothing about retrieval, a recall of 1.0 included."
    ) in text.replace("\\", "")
    means = written.table("Mean scores").by_row
    assert means["passages returned"]["k9"] == "*6 of 6"
    assert means["context recall"]["k9"].startswith("*1.000")
    assert not means["context recall"]["k4"].startswith("*")
    html = written.file("index.html")
    beside = re.search(r'<div class="beside"><svg.*?<use href="#picture-1"/>.*?</div>', html, re.S)
    assert beside is not None
    assert misread in beside.group()


def test_long_lists_in_a_csv_are_whole() -> None:
    """1,500 contexts are written to one cell as JSON and read back complete."""
    contexts = [f"context {n}, 甲" for n in range(1_500)]
    text = csv_text(["question", "contexts"], [{"question": "q1", "contexts": contexts}])

    [row] = csv.DictReader(io.StringIO(text))
    assert json.loads(row["contexts"]) == contexts


def test_signs_of_markup_are_text(written: WrittenStudy) -> None:
    """'<', '&', '|' and line ends are shown as text, and tables keep their columns."""
    answer, name = "溫度<5℃ & 風>3 <b>粗</b>", "a|b\nc"
    questions = [Question(name, name, "1<2?", "text"), *asked(1)]
    written.write("k1", [0.5, 1.0], questions, [answer, "plain"], top_k=1)
    written.write("k2", [1.0, 1.0], questions, [answer, answer], top_k=2)
    book = Gradebook(written.folder / "grades.jsonl", Grade)
    book.add([Grade(name, response_sha256(answer), 1, "ann")])
    written.report()

    page = written.page
    assert answer in page.text
    assert [
        (table.section, row)
        for table in page.tables
        for row in table.rows
        if len(row) != len(table.columns)
    ] == []
    assert "<b>粗</b>" not in written.file("index.html")
    for table in report_page(written.file("report.md")).tables:
        assert {len(row) for row in table.rows} <= {len(table.columns)}
    assert written.table("Right and wrong").columns[2:] == ("a|b c", "q1")
    assert even(name) in page.text


def test_ten_comes_after_nine(written: WrittenStudy) -> None:
    """Runs and questions are in the order of their numbers: 10 after 9."""
    sizes = (2, 4, 9, 10, 16)
    for k in sizes:
        values = [min(1.0, 0.04 * k + 0.01 * n) for n in range(12)]
        written.write(f"ctx_k{k}", values, asked(12), top_k=k)
    written.report()

    names = [f"ctx_k{k}" for k in sizes]
    assert list(written.table("Mean scores").columns[1:]) == names
    sweep = next(t for t in report_page(written.file("report.md")).tables if t.section == "Sweeps")
    assert [row[:2] for row in sweep.rows] == [(str(k), f"ctx_k{k}") for k in sizes]
    [axis] = re.findall(r'<svg class="curve.*?</svg>', written.file("index.html"), re.S)
    assert re.findall(r'y="135"[^>]*>([^<]+)<', axis) == [str(k) for k in sizes]
    html = written.file("index.html")
    questions = re.findall(r'<details class="question".*?<bdi>(q\d+)</bdi>', html, re.S)
    assert questions == [f"q{n}" for n in range(1, 13)]


def test_scores_of_two_prompts_are_not_compared(written: WrittenStudy) -> None:
    """Scores by two prompts of the judge are not compared, and the report says why."""
    for name, prompt, values in (("k4", "h1", [0.5, 0.5]), ("k9", "h2", [0.75, 1.0])):
        identity = {"judge": "chat", "prompts": {"recall": prompt}, "chat": {"model": "m"}}
        written.write(name, values, asked(2), identity=identity, top_k=int(name[1:]))
    written.report()

    contrasts = written.table("One variable at a time", "top_k: 4 -> 9 (k4 -> k9)")
    [row] = contrasts.by_row.values()
    assert row["reading"] == "not compared"
    assert (row["p"], row["adj. p"]) == ("NA", "NA")
    assert "was scored by another judge or another prompt on the two sides" in written.file(
        "report.md"
    )


def test_names_like_numbers_and_dates_stay_text(written: WrittenStudy) -> None:
    """Runs named 1, 01, 2024-05-01 and true keep these names in every table."""
    names = ["1", "01", "2024-05-01", "true"]
    for k, name in enumerate(names):
        written.write(name, [0.5, 1.0], asked(2), top_k=k)
    written.report()

    rows = list(csv.DictReader(io.StringIO(written.file("means.csv"))))
    assert sorted(row["run"] for row in rows) == sorted(names)
    assert sorted(written.table("Mean scores").columns[1:]) == sorted(names)
    said = {Run(written.folder / "written" / name).facts()["name"] for name in names}
    assert said == set(names)
    frame = pd.read_parquet(written.folder / "written" / "01" / "scores.parquet")
    assert list(frame["question_id"]) == ["q1", "q2"]
