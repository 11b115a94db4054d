"""The CSV tables: tidy, whole, and harmless in a spreadsheet."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest

from harness.analysis import Analysis, MetricFacts, RunFacts
from harness.records import Layer
from harness.render import csv_tables
from harness.render.csv_tables import csv_text

Study = Callable[..., Analysis]
Runs = Callable[..., list[RunFacts]]

FAITHFULNESS = MetricFacts("faithfulness", Layer.GENERATION)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_article_tables(article: Analysis) -> None:
    """48 answers, 24 means, 35 differences and 8 confounded pairs, a row each.

    Of five squares of runs one is complete and has its five metrics; no sweep has three values,
    and each of the four pairs that differ before and after retrieval lacks a crossed run.
    """
    tables = {name: read(text) for name, text in csv_tables(article).items()}

    assert {name: len(rows) for name, rows in tables.items()} == {
        "right_wrong.csv": 48,
        "means.csv": 24,
        "trust.csv": 4,
        "effects.csv": 25,
        "contrasts.csv": 35,
        "corrected.csv": 5,
        "confounded.csv": 8,
        "curves.csv": 0,
        "interactions.csv": 5 + 4,
        "counterfactuals.csv": 4,
        "findings.csv": len(article.findings),
        "suspects.csv": len(article.suspects),
    }
    right = [row["run"] for row in tables["right_wrong.csv"] if row["right"] == "1.0"]
    assert [right.count(run.name) for run in article.runs] == [4, 5, 5, 5, 7, 5]


def test_numbers_are_the_analysis_own(article: Analysis) -> None:
    """A number read back is the number to the last digit."""
    frame = pd.read_csv(io.StringIO(csv_tables(article)["contrasts.csv"]))
    first = article.contrasts[0].differences

    assert [*frame["mean"][: len(first)]] == pytest.approx([row.mean for row in first], abs=1e-15)
    assert frame["questions"].dtype == "int64"
    assert [*frame["left_value"][: len(first)]] == ["4"] * len(first)


def test_na_is_an_empty_cell_with_its_reason(study: Study, runs: Runs) -> None:
    """What is NA is empty, never 0 or nan, and the status says why."""
    scores = {"k1": [None, None], "k2": [0.5, None]}
    found = study(runs(1, 2), {FAITHFULNESS: scores}, status="judge_failed")
    rows = read(csv_tables(found)["means.csv"])

    assert [(r["run"], r["mean"], r["status"], r["scored"]) for r in rows] == [
        ("k1", "", "judge_failed", "0"),
        ("k2", "0.5", "ok", "1"),
    ]
    assert json.loads(rows[1]["statuses"]) == {"judge_failed": 1}
    difference = read(csv_tables(found)["contrasts.csv"])[0]
    assert (difference["mean"], difference["status"]) == ("", "not_compared")


def test_long_lists_are_whole(study: Study, runs: Runs) -> None:
    """1,500 question ids come back out of their cell as 1,500."""
    size = 1500
    found = study(runs(1, 2), grades={"k1": [0] * size, "k2": [1] * size})
    row = read(csv_tables(found)["contrasts.csv"])[0]

    assert json.loads(row["won"]) == [f"q{n + 1}" for n in range(size)]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_formulas_are_text(study: Study, sign: str) -> None:
    """A name that a spreadsheet would work out begins with an apostrophe."""
    name = f'{sign}HYPERLINK("http://x","y")'
    found = study([RunFacts(name, "x")], grades={name: [1, 0]})

    assert read(csv_tables(found)["right_wrong.csv"])[0]["run"] == f"'{name}"


def test_numbers_stay_numbers(study: Study, runs: Runs) -> None:
    """A negative difference and a factor's number are no text."""
    found = study(runs(1, 2), {FAITHFULNESS: {"k1": [0.5, 0.5], "k2": [0.25, 0.25]}})
    row = read(csv_tables(found)["contrasts.csv"])[0]

    assert (row["mean"], row["left_value"], row["right_value"]) == ("-0.25", "1", "2")


def test_unreadable_characters(study: Study) -> None:
    """NUL and half a surrogate pair do not end the writing; line ends and commas survive it."""
    name = 'a,"b"\nc\x00\ud83d'
    text = csv_tables(study([RunFacts(name, "x")], grades={name: [1, 0]}))["right_wrong.csv"]

    text.encode("utf-8")
    assert read(text)[0]["run"] == 'a,"b"\nc\ufffd\ufffd'


def test_empty_tables_keep_their_header() -> None:
    """A table without rows can be read all the same."""
    assert csv_text(["left", "right"], []) == "left,right\n"


def test_rows_are_in_natural_order(study: Study, runs: Runs) -> None:
    """Runs are in the study's order and questions in natural order: q2 before q10."""
    ids = ["q10", "q2", "q1"]
    found = study(runs(2, 10), grades={"k2": [1, 1, 1], "k10": [1, 1, 1]}, questions=ids)
    rows = read(csv_tables(found)["right_wrong.csv"])

    assert [(row["run"], row["question"]) for row in rows] == [
        (run, question) for run in ("k2", "k10") for question in ("q1", "q2", "q10")
    ]


def test_findings_have_their_sentence_in_the_language(article: Analysis) -> None:
    """Numbers and names as JSON, and the sentence in the report's language."""
    rows = read(csv_tables(article, "ja")["findings.csv"])
    row = next(r for r in rows if r["kind"] == "turned_in_every_contrast")

    assert json.loads(row["questions"]) == ["q1", "q5"]
    assert json.loads(row["numbers"])["contrasts"] == 2
    assert row["sentence"].startswith("q1、q5 は top_k 4 -> 9 の比較2件のすべてで正解になりました")


def test_confounded_pairs_name_what_is_missing(study: Study) -> None:
    """The override words of a missing variant are a list."""
    pair = [
        RunFacts("a", "a", {"prompt": "default"}, {"top_k": 4}),
        RunFacts("b", "b", {"prompt": "strict"}, {"top_k": 9}),
    ]
    row = read(csv_tables(study(pair, grades={"a": [1], "b": [1]}))["confounded.csv"])[0]

    assert row["separated"] == "False"
    assert json.loads(row["changes"]) == {"prompt": ["default", "strict"], "top_k": [4, 9]}
    assert json.loads(row["missing"])[0][0].startswith("variant=")


def test_trust_has_a_row_a_metric(article: Analysis) -> None:
    """The gap that the article found by hand, beside how many answers of each kind there are."""
    rows = {row["metric"]: row for row in read(csv_tables(article)["trust.csv"])}

    assert round(float(rows["faithfulness"]["gap"]), 3) == 0.441
    assert (rows["faithfulness"]["verdict"], rows["faithfulness"]["right"]) == ("trusted", "30")
    assert rows["context_precision"]["verdict"] == "no_evidence"


def test_a_sweep_has_a_row_a_run_and_metric(study: Study, runs: Runs) -> None:
    """In number order, over the one question that all three runs have scored."""
    scores = {"k2": [0.5, None], "k10": [0.75, 1.0], "k4": [0.25, 1.0]}
    grades = {"k2": [1, 0], "k10": [1, 1], "k4": [0, 1]}
    rows = read(csv_tables(study(runs(2, 10, 4), {FAITHFULNESS: scores}, grades))["curves.csv"])

    assert [
        tuple(row[name] for name in ("value", "run", "mean", "status", "questions"))
        for row in rows
        if row["metric"] == "faithfulness"
    ] == [
        ("2.0", "k2", "0.5", "ok", "1"),
        ("4.0", "k4", "0.25", "ok", "1"),
        ("10.0", "k10", "0.75", "ok", "1"),
    ]
    assert sum(row["metric"] == "right" for row in rows) == 3


def crossed(*others: str) -> list[RunFacts]:
    """Return runs named by their prompt and top_k, a1 and those asked for."""
    return [
        RunFacts(name, name, {"prompt": name[0]}, {"top_k": int(name[1])})
        for name in ("a1", *others)
    ]


def test_a_square_is_its_corners_and_its_difference(study: Study) -> None:
    """Prompt b wins one of two questions at k = 2 and none at k = 1: half a question more."""
    grades = {"a1": [0, 0], "a2": [1, 0], "b1": [0, 0], "b2": [1, 1]}
    tables = csv_tables(study(crossed("a2", "b1", "b2"), grades=grades))
    [row] = read(tables["interactions.csv"])

    assert (row["first"], row["second"]) == ("prompt", "top_k")
    assert (row["metric"], row["mean"], row["second_right_value"]) == ("right", "0.5", "2")
    assert json.loads(row["corners"]) == ["a1", "b1", "a2", "b2"]
    assert json.loads(row["won"]) == ["q2"]
    [lacking] = read(csv_tables(study(crossed("a2", "b1")))["interactions.csv"])
    assert (lacking["metric"], lacking["mean"], lacking["status"]) == ("", "", "missing_run")
    assert json.loads(lacking["corners"])[3] is None


def test_a_split_adds_up(study: Study) -> None:
    """Of a difference of 1, retrieval made (0.5 + 1) / 2 and generation (0 + 0.5) / 2."""
    grades = {"a1": [0, 0], "a2": [1, 0], "b1": [0, 0], "b2": [1, 1]}
    rows = read(csv_tables(study(crossed("a2", "b1", "b2"), grades=grades))["counterfactuals.csv"])
    [row] = [row for row in rows if (row["left"], row["right"]) == ("a1", "b2")]

    assert (row["total"], row["retrieval"], row["generation"]) == ("1.0", "0.75", "0.25")
    assert (row["left_on_right"], row["right_on_left"], row["questions"]) == ("a2", "b1", "2")
    [lacking] = read(csv_tables(study(crossed("b2")))["counterfactuals.csv"])
    assert (lacking["total"], lacking["status"]) == ("", "missing_run")
    assert len(json.loads(lacking["missing"])) == 2


def test_failures_have_their_status(article: Analysis) -> None:
    """A question that the system failed on is wrong because it was not answered."""
    grid = article.outcomes
    row = replace(grid.rows[0], origins=("error", *grid.rows[0].origins[1:]))
    found = replace(article, outcomes=replace(grid, rows=(row, *grid.rows[1:])))
    first = read(csv_tables(found)["right_wrong.csv"])[0]

    assert (first["right"], first["status"], first["graded_by"]) == ("0.0", "not_answered", "error")
