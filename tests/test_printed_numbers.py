"""The report can be believed: every number, worked out again from the run folders.

Nothing here calls `harness.analysis`. `tests/printed/facts.py` joins the Parquet files with
pandas, `statistics.py` does the statistics by brute force, scipy and statsmodels, `expected.py`
puts them together; `files.py` and `findings.py` compare them with the CSV files and findings.json
to the last digit. What report.md and index.html print must then be the numbers of the CSV files.
"""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.analysis.conftest import VARIANTS
from tests.article import Article
from tests.conftest import ROOT
from tests.printed.cells import PrintedPage, PrintedTable, agrees, numbers, report_page
from tests.printed.expected import Expected
from tests.printed.facts import METRICS, Facts
from tests.printed.files import check_files
from tests.printed.findings import VERDICTS, check_finding
from tests.printed.wide import Wide

pytestmark = pytest.mark.slow

SIDES = ("left_value", "right_value")
SOURCES = {
    "": "effects",
    "Mean scores": "means",
    "Which metrics can be trusted": "trust",
    "One variable at a time": "contrasts",
    "Sweeps": "curves",
    "Does one effect depend on another": "interactions",
    "Retrieval or generation": "counterfactuals",
}
"""Section -> the CSV file that holds the numbers of its tables; the answer has no heading."""

DECLARED = [
    {"factor": "prompt", "metric": "faithfulness"},
    {"factor": "top_k", "metric": "right"},
    {"factor": "top_k", "metric": "answer_relevancy"},
]

OPENING = {"evidence found (nDCG)": "gold nDCG", "tokens": "input tokens"}
"""Column of the answer -> the metric that it is about, where that is not right answers."""

CHANGES = "Right answers by change, from a random sample of grades"
"""A table among the mean scores that has a CSV file of its own."""


@dataclass(frozen=True)
class ReportedStudy:
    """A study and its report on disk."""

    study: Path
    grades: Path

    @cached_property
    def expected(self) -> Expected:
        """The study's numbers; which run of a contrast is left is the report's choice."""
        sides = self.table("contrasts")[["left", "right"]].drop_duplicates()
        pairs = list(sides.itertuples(index=False, name=None))
        return Expected(Facts(self.study, "llama3.1", self.grades), pairs)

    def file(self, name: str) -> str:
        return (self.study / "report" / name).read_text("utf-8-sig")

    def table(self, name: str) -> pd.DataFrame:
        return pd.read_csv(self.study / f"report/{name}.csv")

    def page(self, name: str) -> PrintedPage:
        """Return report.md or index.html as its reader sees it."""
        text = self.file(name)
        return report_page(text) if name.endswith(".md") else PrintedPage(text)


@pytest.fixture(scope="module", params=["article", "declared", "wide"])
def reported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> ReportedStudy:
    """The article's study, the same with primary tests that were declared, and one that has
    something for every part; each reported once."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "wide":
        wide = Wide(folder)
        wide.write()
        words, study = wide.words, wide.study
    else:
        article = Article(folder, DECLARED if request.param == "declared" else [])
        for name in VARIANTS:
            article.write(name)
        article.grade()
        words, study = article.words, folder / "article"
    subprocess.run(
        [sys.executable, "-m", "harness.report", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    return ReportedStudy(study, folder / "grades.jsonl")


def test_the_csv_files_hold_the_numbers(reported: ReportedStudy) -> None:
    """Every row of every CSV file holds what the run folders give, to the last digit."""
    assert check_files(reported.study / "report", reported.expected) > 100


def test_the_findings_hold_the_numbers(reported: ReportedStudy) -> None:
    """Every number of findings.json, and the questions it names, are worked out again."""
    findings = json.loads(reported.file("findings.json"))

    assert sum(check_finding(finding, reported.expected) for finding in findings) > 80


def test_every_verdict_on_a_change_is_a_finding(reported: ReportedStudy) -> None:
    """What is better, worse, suggested or undecided is found, change by change, and no more."""
    found = [
        (one["kind"], one["factor"], *map(one["names"].get, SIDES), one["metric"])
        for one in json.loads(reported.file("findings.json"))
        if one["kind"] in VERDICTS
    ]
    rows = {key: reported.expected.effect(*key) for key in reported.expected.claims}
    told = [
        (row.verdict, *change, metric)
        for (change, metric), row in rows.items()
        if row.verdict in VERDICTS
    ]

    assert sorted(found) == sorted(told)
    assert len(reported.table("effects")) == len(rows)


@pytest.mark.parametrize("name", ["report.md", "index.html"])
def test_printed_cells_are_those_of_the_csv_files(reported: ReportedStudy, name: str) -> None:
    """Each number in a table of results is one that the CSV file has for that run and metric."""
    seen = 0
    for where, printed, values in printed_numbers(reported, name):
        for token in printed:
            seen += 1
            assert any(agrees(token, value) for value in values), (where, token)

    assert seen > 500


def test_a_wrong_number_is_caught(reported: ReportedStudy) -> None:
    """A number changed in its first decimal digits is hardly ever another number of its rows."""
    caught = [
        not any(agrees(token[:-2] + "37", value) for value in values)
        for _, printed, values in printed_numbers(reported, "report.md")
        for token in printed
        if "." in token and len(token) > 4
    ]

    assert len(caught) > 300
    assert sum(caught) > 0.95 * len(caught)


def printed_numbers(
    reported: ReportedStudy, name: str
) -> Iterator[tuple[object, list[str], list[float | None]]]:
    """Yield where a cell is, its numbers, and those that the CSV file has for it."""
    page = reported.page(name)
    shown = {table.section for table in page.tables}
    for section, file in SOURCES.items():
        rows = reported.table(file)
        assert section in shown or not (rows["status"] == "ok").any()
        for table in page.tables:
            if table.section == section:
                changes = table.heading == CHANGES
                yield from cells_of(table, reported.table("corrected") if changes else rows)


def cells_of(
    table: PrintedTable, rows: pd.DataFrame
) -> Iterator[tuple[object, list[str], list[float | None]]]:
    """Yield the cells of a table with the numbers of the CSV rows about their run and metric.

    How many passages came back and what settings are called is in no CSV file.
    """
    lines = [(subjects(line), list(values_of(line))) for line in rows.to_dict("records")]
    for row in table.rows:
        if row[0] == "passages returned":
            continue
        for title, cell in zip(table.columns, row, strict=True):
            if title in (
                "run",
                "runs",
                "factor",
                "metric",
                "effect of",
                "between",
                "left",
                "change",
            ):
                continue
            if not table.section and title == "change":
                continue
            printed = numbers(cell.replace("every NA", "").replace("the NA", ""))
            topic = OPENING.get(title, title)
            words = " | ".join((table.heading, topic, *table.columns[:1], *row))
            if printed:
                about = [found for names, found in lines if all(name in words for name in names)]
                values = [value for found in about for value in found]
                yield (table.heading, row[0], title, cell), printed, values


def subjects(line: Mapping[Any, Any]) -> list[str]:
    """Return the runs or the change, and the metric, that a CSV row is about, as printed."""
    names = [line[name] for name in ("run", "left", "right") if isinstance(line.get(name), str)]
    if "acts_on" in line:
        names.append(f"{line['factor']} {line['left_value']} -> {line['right_value']}")
    metric = line.get("metric")
    if isinstance(metric, str) and metric != "right":
        names.append(METRICS[metric].title)
    return names


def values_of(line: Mapping[Any, Any]) -> Iterator[float | None]:
    """Yield the numbers of a CSV row: those in JSON, and how many names a list has, too."""
    for value in line.values():
        if isinstance(value, str) and value[:1] in "[{":
            read = json.loads(value)
            yield len(read)
            if isinstance(read, dict):
                yield from read.values()
        elif isinstance(value, int | float):
            yield None if math.isnan(value) else value
    if line.get("metric") == "input_tokens" and "acts_on" in line:
        share = abs(line["mean"] / line["left_mean"])
        percent = round(100 * share) if share >= 0.0095 or not share else round(100 * share, 1)
        yield math.copysign(percent, line["mean"])
