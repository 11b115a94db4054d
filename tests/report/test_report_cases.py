"""Faults that other tools were reported for, in reports and records; each test names its case."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.config.run_names import portable
from harness.evaluate.merge import write_evaluation
from harness.questions import Gradebook, response_sha256
from harness.records import Grade, Passage, Question, Response, Score
from harness.render.csv_tables import csv_text
from harness.store import Run
from harness.store.parquet import VERSION
from tests.conftest import ROOT, Command, Study
from tests.grade.small import PNG
from tests.printed.cells import PrintedPage, PrintedTable, even, numbers, report_page
from tests.written import write_run

JUDGE = {"judge": "overlap"}


@dataclass
class Told:
    """A study written by hand, and the report on it."""

    folder: Path
    command: Command

    @property
    def words(self) -> list[str]:
        """The settings that make a command work on this study."""
        return [
            *("study=demo_baseline", "study.name=told", "study.variants=[]"),
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
        """Write a run with one metric, a score a question; its index holds `of` passages."""
        k = leaves["top_k"]
        assert isinstance(k, int)
        texts = answers or [f"{name} answers {q.id}" for q in questions]
        rows = [
            Response(q.id, 0, q.question, q.reference, q.source, text, tuple(passages), k, of)
            for q, text in zip(questions, texts, strict=True)
        ]
        run = write_run(self.folder / "told" / name, questions, rows, **leaves)
        scores = [
            Score(q.id, 0, "context_recall", value, 4, "ok" if value is not None else "no_claims",
                  "overlap")
            for q, value in zip(questions, values, strict=True)
        ]  # fmt: skip
        write_evaluation(run, "overlap", identity or JUDGE, [], scores)
        return run

    def report(self) -> "Told":
        """Report the study, having said what went wrong where something did."""
        done = self.command("report", *self.words, "language=en")
        assert done.returncode == 0, done.stderr
        return self

    def file(self, name: str) -> str:
        """Return a file of the report."""
        return (self.folder / "told/report" / name).read_text("utf-8-sig")

    def table(self, section: str, heading: str = "") -> PrintedTable:
        """Return the first table of report.md under a section and a heading."""
        found = report_page(self.file("report.md")).tables
        return next(t for t in found if (t.section, t.heading) == (section, heading))

    @property
    def page(self) -> PrintedPage:
        """The page for a browser."""
        return PrintedPage(self.file("index.html"))


@pytest.fixture
def told(tmp_path: Path, command: Command) -> Told:
    return Told(tmp_path, command)


def asked(count: int) -> list[Question]:
    return [Question(f"q{n}", f"ask {n}", f"reference {n}", "text") for n in range(1, count + 1)]


def test_one_mean_in_every_place(told: Told) -> None:
    """Case A13: 0.9, NA, 0.4 and 0.75 have the mean 0.683 of 3 of 4, in Markdown, page and CSV."""
    run = told.write("k4", [0.9, None, 0.4, 0.75], asked(4), top_k=4)
    told.report()

    column = pd.read_parquet(run.path / "scores.parquet")["value"]
    assert (round(column.mean(), 3), column.count()) == (0.683, 3)
    cell = told.table("Mean scores").by_row["context recall"]["k4"]
    assert numbers(cell)[0] == "0.683"
    assert cell.endswith("(3/4)")
    means = next(t for t in told.page.tables if t.section == "Mean scores")
    assert means.by_row["context recall"]["k4"] == cell
    [line] = csv.DictReader(io.StringIO(told.file("means.csv")))
    assert float(line["mean"]) == pytest.approx(column.mean())
    assert (line["scored"], line["asked"]) == ("3", "4")


def test_a_saturated_index_and_a_caption_that_misreads(told: Told) -> None:
    """Case F10: k = 9 of 6 passages is `6 of 6: saturated`, and its recall of 1.0 says nothing.

    The caption of c5, which misreads the map, stands beside the picture it was made of.
    """
    misread = "A map of population density; the darkest county has 480 people per km2."
    chunks = [Passage(f"map#1.{n}", "map", 1, "text", f"chunk {n}") for n in (1, 2, 3, 4, 6)]
    c5 = Passage("map#1.f1", "map", 1, "caption", misread)
    chunks.insert(4, c5)
    questions = asked(2)
    told.write("k4", [0.5, 0.75], questions, None, chunks[:4], of=6, top_k=4)
    run = told.write("k9", [1.0, 1.0], questions, None, chunks, of=6, top_k=9)
    row = {"figure": c5.id, "document": "map", "page": 1, "image_sha256": "ab" * 32,
           "captioner": "ocr", "text": misread, "picture": "figures/map.png"}  # fmt: skip
    run.write_text("captions.jsonl", json.dumps(row) + "\n")
    (run.path / "figures").mkdir()
    (run.path / "figures/map.png").write_bytes(PNG)
    told.report()

    text = told.file("report.md")
    assert (
        "k9 returned 6 of 6 passages: saturated. The whole index comes back, so retrieval scores "
        "say nothing about retrieval, a recall of 1.0 included."
    ) in text.replace("\\", "")
    means = told.table("Mean scores").by_row
    assert means["returned"]["k9"] == "*6 of 6"
    assert means["context recall"]["k9"].startswith("*1.000")
    assert not means["context recall"]["k4"].startswith("*")
    html = told.file("index.html")
    beside = re.search(r'<div class="beside"><svg.*?<use href="#picture-1"/>.*?</div>', html, re.S)
    assert beside is not None
    assert misread in beside.group()


@pytest.mark.parametrize("texts", [["甲", "乙"], [], [""], ["a\nb"]])
def test_lists_of_texts_come_back_as_lists(tmp_path: Path, texts: list[str]) -> None:
    """Case K01: a list is list[str] again, also an empty one, and NA beside it stays NA."""
    passages = tuple(Passage(f"d#1.{n}", "d", 1, "text", text) for n, text in enumerate(texts))
    rows = [
        Response("q1", 0, "ask", "reference", "text", "an answer", passages),
        Response("q2", 0, "ask", "reference", "text", None, error="down"),
    ]
    Run(tmp_path).write_responses(rows)

    assert Run(tmp_path).responses() == rows
    found = pq.read_table(tmp_path / "responses.parquet").to_pylist()
    assert [row["retrieved_contexts"] for row in found] == [texts, []]
    assert [row["response"] for row in found] == ["an answer", None]
    json.dumps(found)


def test_long_lists_in_a_csv_are_whole() -> None:
    """Case K02: 1,500 contexts go into one cell as JSON and come out as 1,500."""
    contexts = [f"context {n}, 甲" for n in range(1_500)]
    text = csv_text(["question", "contexts"], [{"question": "q1", "contexts": contexts}])

    [row] = csv.DictReader(io.StringIO(text))
    assert json.loads(row["contexts"]) == contexts


def test_signs_of_markup_are_text(told: Told) -> None:
    """Case L01: '<', '&', '|' and a line end are shown; cells and columns stay as many."""
    answer, name = "溫度<5℃ & 風>3 <b>粗</b>", "a|b\nc"
    questions = [Question(name, name, "1<2?", "text"), *asked(1)]
    told.write("k1", [0.5, 1.0], questions, [answer, "plain"], top_k=1)
    told.write("k2", [1.0, 1.0], questions, [answer, answer], top_k=2)
    book = Gradebook(told.folder / "grades.jsonl", Grade)
    book.add([Grade(name, response_sha256(answer), 1, "ann")])
    told.report()

    page = told.page
    assert answer in page.text
    assert all(len(row) == len(table.columns) for table in page.tables for row in table.rows)
    assert "<b>粗</b>" not in told.file("index.html")
    for table in report_page(told.file("report.md")).tables:
        assert {len(row) for row in table.rows} <= {len(table.columns)}
    assert told.table("Right and wrong").columns[2:] == ("a|b c", "q1")
    assert even(name) in page.text


def test_ten_comes_after_nine(told: Told) -> None:
    """Case L03: a sweep over k = 2, 4, 9, 10, 16 and questions q1 to q12 stand in that order."""
    sizes = (2, 4, 9, 10, 16)
    for k in sizes:
        values = [min(1.0, 0.04 * k + 0.01 * n) for n in range(12)]
        told.write(f"ctx_k{k}", values, asked(12), top_k=k)
    told.report()

    names = [f"ctx_k{k}" for k in sizes]
    assert list(told.table("Mean scores").columns[1:]) == names
    sweep = next(t for t in report_page(told.file("report.md")).tables if t.section == "Sweeps")
    assert [row[:2] for row in sweep.rows] == [(str(k), f"ctx_k{k}") for k in sizes]
    [axis] = re.findall(r'<svg class="curve.*?</svg>', told.file("index.html"), re.S)
    assert re.findall(r'y="135"[^>]*>([^<]+)<', axis) == [str(k) for k in sizes]
    html = told.file("index.html")
    questions = re.findall(r'<details class="question".*?<bdi>(q\d+)</bdi>', html, re.S)
    assert questions == [f"q{n}" for n in range(1, 13)]


def test_scores_of_two_prompts_are_not_compared(told: Told) -> None:
    """Case L17: the judge's prompt is h1 in one run and h2 in the other: no difference is worked
    out, and the report says why."""
    for name, prompt, values in (("k4", "h1", [0.5, 0.5]), ("k9", "h2", [0.75, 1.0])):
        identity = {"judge": "chat", "prompts": {"recall": prompt}, "chat": {"model": "m"}}
        told.write(name, values, asked(2), identity=identity, top_k=int(name[1:]))
    told.report()

    contrasts = told.table("One variable at a time", "top_k: 4 -> 9 (k4 -> k9)")
    [row] = contrasts.by_row.values()
    assert row["reading"] == "not compared"
    assert (row["p"], row["adj. p"]) == ("NA", "NA")
    assert "was scored by another judge or another prompt on the two sides" in told.file(
        "report.md"
    )


def test_what_shaped_a_score_is_in_every_run(command: Command, study: Study) -> None:
    """Case L17: prompt hash, models with their digests, judge and packages are recorded."""
    assert command("collect", "variant=text_k4", *study.words).returncode == 0
    assert command("evaluate", *study.words, "metrics=[recall]").returncode == 0

    [run] = [Run(file.parent) for file in (study.folder / "runs/small").glob("*/run.json")]
    facts = run.facts()
    made = facts["made_with"]
    assert "prompt_sha256" in made
    assert len(made["models"]["embedder"]["weights"]) == 43, "a SHA-256 in base 64"
    assert {"pyarrow", "chromadb"} <= facts["packages"].keys()
    assert run.judges()["overlap"]["judge"] == "overlap"


def test_two_collects_at_once(study: Study) -> None:
    """Case J02: two variants started at once have a folder each, both whole; of one variant
    started twice there is one run, and no folder is named after a second of the clock."""
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


def test_names_like_numbers_and_dates_stay_text(told: Told) -> None:
    """Case K06: runs called 1, 01, 2024-05-01 and true are called so in every table."""
    names = ["1", "01", "2024-05-01", "true"]
    for k, name in enumerate(names):
        told.write(name, [0.5, 1.0], asked(2), top_k=k)
    told.report()

    rows = list(csv.DictReader(io.StringIO(told.file("means.csv"))))
    assert sorted(row["run"] for row in rows) == sorted(names)
    assert sorted(told.table("Mean scores").columns[1:]) == sorted(names)
    said = {Run(told.folder / "told" / name).facts()["name"] for name in names}
    assert said == set(names)
    frame = pd.read_parquet(told.folder / "told" / "01" / "scores.parquet")
    assert list(frame["question_id"]) == ["q1", "q2"]


def test_scores_of_an_older_schema_are_left_alone(told: Told, command: Command) -> None:
    """Case K07: evaluating a run whose table is of another version is an error, and its bytes
    stay; our own tables carry their version in the file."""
    run = told.write("k4", [0.5], asked(1), top_k=4)
    file = run.path / "scores.parquet"
    assert (pq.read_schema(file).metadata or {})[b"harness"] == str(VERSION).encode()
    pq.write_table(pa.table({"question_id": ["q1"], "score": [0.5]}), file)
    before = file.read_bytes()

    done = command("evaluate", *told.words, "metrics=[recall]")

    assert done.returncode == 1
    assert "was written by another version of the harness" in done.stderr
    assert file.read_bytes() == before


def test_numbers_that_are_none_are_not_stored(tmp_path: Path) -> None:
    """Case L04: NaN and infinity are refused where a score is stored; NA is null."""
    run, score = Run(tmp_path), Score("q1", 0, "recall", None, None, "no_claims", "overlap")
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write_evaluation(run, "overlap", JUDGE, [], [replace(score, value=value)])
        assert not (tmp_path / "scores.parquet").exists()

    write_evaluation(run, "overlap", JUDGE, [], [score])
    assert pq.read_table(tmp_path / "scores.parquet")["value"].null_count == 1


def test_a_metric_with_a_comma_in_its_name_is_refused(told: Told, command: Command) -> None:
    """Case L04: `recall,k=4` is none of the metrics, which the error lists."""
    told.write("k4", [0.5], asked(1), top_k=4)
    done = command("evaluate", *told.words, "metrics=['recall,k=4']")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "'recall,k=4'" in done.stderr


def test_a_run_keeps_its_true_name(command: Command, study: Study) -> None:
    """Case L06: the folder is portable, and what it was called is in its record."""
    done = command("collect", "variant=text_k4", 'version="qwen2.5:7b/k4"', *study.words)
    assert done.returncode == 0, done.stderr

    [file] = (study.folder / "runs/small").glob("*/run.json")
    facts = json.loads(file.read_text("utf-8"))
    assert re.fullmatch(r"[a-z0-9._-]+", file.parent.name)
    assert (facts["variant"], facts["version"]) == ("text_k4", "qwen2.5:7b/k4")
    named = {portable(name) for name in ("文字_k4", "圖片_k4", "_k4", "Text_k4", "text_k4")}
    assert len(named) == 5


def test_half_a_character_costs_one_row_its_own_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Case N07: of eight answers the fifth ends in half an emoji: it is stored with the sign for
    what cannot be read and a warning names it; the other seven are as they were."""
    rows = [Response(q.id, 0, "ask", "reference", "text", f"answer {q.id}") for q in asked(8)]
    rows[4] = replace(rows[4], response="ok\ud83d")
    Run(tmp_path).write_responses(rows)

    found = Run(tmp_path).responses()
    assert found[4].response == "ok\ufffd"
    assert found[:4] + found[5:] == rows[:4] + rows[5:]
    [record] = caplog.records
    assert "q5" in record.getMessage()
