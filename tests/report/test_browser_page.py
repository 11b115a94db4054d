"""The page as the report writes it, with what it reads from the runs."""

import io
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

from harness.report.browser_page import LONGEST_SIDE, judge_record, thumbnail
from harness.store import Run
from tests.article import Article
from tests.conftest import Command


@pytest.fixture
def article(tmp_path: Path) -> Article:
    """The article's study with its grades."""
    study = Article(tmp_path)
    for name in ("text_k4", "text_k9", "ctx_k9", "ctx_k9_strict"):
        study.write(name)
    study.grade()
    return study


def page_of(article: Article) -> str:
    """Return the page that the last report wrote."""
    return (article.folder / "article/report/index.html").read_text("utf-8")


def test_the_report_writes_the_page(article: Article, command: Command) -> None:
    """The page is one file under two megabytes, and the report prints its path."""
    done = command("report", *article.words)

    assert done.returncode == 0, done.stderr
    assert "article/report/index.html" in done.stdout
    page = page_of(article)
    assert len(page.encode()) < 2_000_000
    for question in ("question q1", "reference q8"):
        assert question in page


def test_every_mean_is_that_of_the_parquet_files(article: Article, command: Command) -> None:
    """Each printed mean and its count equal those of the stored scores."""
    command("report", *article.words)
    page = re.sub(r"<[^>]+>", " ", page_of(article))
    for name in ("text_k4", "ctx_k9_strict"):
        rows = pq.read_table(article.run(name).path / "scores.parquet").to_pylist()
        for metric in {row["metric"] for row in rows}:
            values = [r["value"] for r in rows if r["metric"] == metric and r["value"] is not None]
            asked = sum(row["metric"] == metric for row in rows)
            told = rf"{sum(values) / len(values):.3f}\s+\[[^\]]+\]\s+\({len(values)}/{asked}\)"

            assert re.search(told, page), (name, metric)


def test_the_page_speaks_the_language_asked_for(article: Article, command: Command) -> None:
    """`language=` sets the words of the page and its language tag."""
    command("report", *article.words[:-1], "language=ja")

    assert '<html lang="ja">' in page_of(article)
    assert "一度に一つの要因" in page_of(article)


def test_pictures_stand_beside_what_was_said_of_them(article: Article, command: Command) -> None:
    """A figure and its caption are read from the run's own folder."""
    run = article.run("ctx_k9")
    out = io.BytesIO()
    Image.new("RGBA", (2_000, 500), (255, 0, 0, 128)).save(out, "PNG")
    run.write({"figures/a.png": out.getvalue()})
    row = {"figure": "d#2.f1", "document": "d", "page": 2, "image_sha256": "a", "captioner": "ocr",
           "text": "a red <field>", "picture": "figures/a.png"}  # fmt: skip
    run.write_text("captions.jsonl", json.dumps(row) + "\n")

    command("report", *article.words)

    assert page_of(article).count("data:image/webp;base64,") == 1
    assert "a red &lt;field&gt;" in page_of(article)


def test_pictures_are_made_small() -> None:
    """Pictures are scaled down, and files that are no picture are left out."""
    out = io.BytesIO()
    Image.new("L", (3_000, 30)).save(out, "PNG")

    drawn = thumbnail(out.getvalue())

    assert drawn is not None
    assert max(drawn[1:]) == LONGEST_SIDE
    assert thumbnail(b"no picture") is None
    assert thumbnail(None) is None


def test_a_run_reads_no_file_outside_itself(article: Article) -> None:
    """A picture's name cannot lead out of the run's folder."""
    (article.folder / "secret").write_text("secret", "utf-8")

    assert Run(article.run("text_k4").path).file("../../secret") is None


def test_format_latex_writes_a_papers_tables(article: Article, command: Command) -> None:
    """`format=latex` adds the tables; another format is refused."""
    folder = article.folder / "article/report"

    assert "report.tex" in command("report", *article.words, "format=latex").stdout
    assert r"\toprule" in (folder / "report.tex").read_text("utf-8")
    assert "did you mean 'latex'?" in command("report", *article.words, "format=latx").stderr


def test_repairs_and_requests_are_counted_once_per_evaluation(tmp_path: Path) -> None:
    """A record that covers both runs is counted once; another judge's records are left out."""
    first = {
        "judge": "m", "ended": "2026-11-30T10:00:00+00:00", "runs": ["a", "b"],
        "calls": {"asked": 7, "sent": 9, "remembered": 2}, "repairs": {"replies": 3, "fresh": 3},
    }  # fmt: skip
    later = {**first, "ended": "2026-11-30T11:00:00+00:00", "runs": ["b"], "repairs": {}}
    later["reply_formats"] = {"json_schema": 6, "ignored": 1}
    other = {**first, "judge": "n"}
    runs = [Run(tmp_path / name) for name in "ab"]
    for run, records in zip(runs, ([first, other], [first, later]), strict=True):
        run.path.mkdir()
        for record in records:
            run.log_evaluation(record)

    record = judge_record(runs, "m")

    assert record["evaluations"] == "2"
    assert (record["calls.asked"], record["calls.sent"]) == ("14", "18")
    assert record["repairs.replies"] == "3"
    assert (record["reply_formats.json_schema"], record["reply_formats.ignored"]) == ("6", "1")
