"""The page can be believed: every number that a report prints, worked out again from the files.

Nothing here calls `harness.analysis`. `tests/printed/facts.py` joins the Parquet files with
pandas, `statistics.py` does the statistics by brute force, scipy and statsmodels, `expected.py`
puts them together, `tables.py` and `sentences.py` hold them against report.md cell by cell and
sentence by sentence. A number that nobody explains fails the test.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from tests.analysis.conftest import VARIANTS
from tests.article import Article
from tests.conftest import ROOT
from tests.printed.expected import Expected
from tests.printed.facts import Facts
from tests.printed.files import check_files
from tests.printed.page import Page, even
from tests.printed.printed import TOKEN, Section, Table, literals, read, sections, tokens
from tests.printed.sentences import SENTENCES, check_sentence
from tests.printed.tables import check_table
from tests.printed.wide import Wide

CONSTANTS = {"95", "80", "0.5", "0.50", "1.0", "0", "1", "3", "NA"}
"""As in `95 % interval`, `chance is 0.5`, `at most 3 units`."""


@dataclass(frozen=True)
class Reported:
    """A study and its report on disk."""

    study: Path
    grades: Path

    @cached_property
    def expected(self) -> Expected:
        [section] = [one for one in self.sections if one.title == "One variable at a time"]
        headings = dict.fromkeys(heading for heading, _ in section.blocks if heading)
        said = [read(heading, "line contrast") for heading in headings]
        pairs = [(one.texts["left"], one.texts["right"]) for one in said if one is not None]
        return Expected(Facts(self.study, "llama3.1", self.grades), pairs)

    @property
    def sections(self) -> list[Section]:
        return sections((self.study / "report/report.md").read_text("utf-8"))


@pytest.fixture(scope="module", params=["article", "wide"])
def reported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """The article's study, and one that has something for every part; each reported once."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "wide":
        wide = Wide(folder)
        wide.write()
        return told(Reported(wide.study, folder / "grades.jsonl"), wide.words)
    article = Article(folder)
    for name in VARIANTS:
        article.write(name)
    article.grade()
    return told(Reported(folder / "article", folder / "grades.jsonl"), article.words)


def told(reported: Reported, words: list[str]) -> Reported:
    """Report the study by the command itself."""
    subprocess.run(
        [sys.executable, "-m", "harness.report", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    return reported


def test_every_number_of_the_report(reported: Reported) -> None:
    """Each cell and each sentence says what the files say, and no number is left unexplained."""
    found = reported.expected
    seen = 0
    for section in reported.sections:
        for heading, block in section.blocks:
            seen += check_block(section.title, heading, block, found)
        for heading in dict.fromkeys(heading for heading, _ in section.blocks if tokens(heading)):
            check_sentence(heading, found)

    assert seen > 1000


def check_block(section: str, heading: str, block: str | Table, found: Expected) -> int:
    """Raise where a table or paragraph says what the files do not; return how many numbers it has.

    A command to paste holds settings only.
    """
    if isinstance(block, Table):
        return len(list(check_table(section, heading, block, found)))
    if block.startswith("python -m "):
        words = block[block.index(" variant=") :]
        assert set(tokens(words)) <= found.facts.factor_values, block
        return 0
    return sum(len(check_sentence(text, found, **said)) for text, said in said_in(heading, block))


def said_in(heading: str, text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the sentences of a paragraph, each with what it is about where it does not say so."""
    if heading == "Missing scores" and ": " in text:
        lead, said = text.split(": ", 1)
        yield said, {"lead": lead}
    elif ": other passages" in text or ": another order" in text:
        for part in text.partition(": ")[2].split(", "):
            yield part, {"heading": heading}
    elif ": the system failed on" in text:
        for part in re.split(r"(?<=\.) (?=\S+: the system failed)", text):
            yield part, {}
    elif tokens(text) or read(text, *SENTENCES):
        yield text, {"heading": heading}


def test_numbers_in_the_wording_are_words() -> None:
    """What numbers stand in the report's own sentences: few, and none of them a result."""
    assert set(literals()) <= CONSTANTS


def test_a_wrong_number_is_caught(reported: Reported) -> None:
    """A number changed in its last digit, in any sentence or row, fails the test above."""
    changed = 0
    for section in reported.sections:
        for heading, block in section.blocks:
            if heading in WORDS_ONLY or section.title in WORDS_ONLY:
                continue
            for damaged in spoiled(block):
                changed += 1
                with pytest.raises((AssertionError, KeyError, ValueError, StopIteration)):
                    check_block(section.title, heading, damaged, reported.expected)

    assert changed > 100


WORDS_ONLY = ("How to read this", "Verdicts to look at")


def spoiled(block: str | Table) -> Iterator[str | Table]:
    """Yield a text, or a table for each of its rows, with one number changed."""
    if isinstance(block, str):
        if tokens(block) and not block.startswith("python"):
            yield changed_once(block)
        return
    for at, row in enumerate(block.rows):
        places = [place for place, cell in enumerate(row) if tokens(cell)]
        if places:
            place = places[at % len(places)]
            cells = (*row[:place], changed_once(row[place]), *row[place + 1 :])
            yield Table(block.columns, (*block.rows[:at], cells, *block.rows[at + 1 :]))


def changed_once(text: str) -> str:
    """Return a text with its last number changed in its last digit; NA becomes 0."""
    last = list(TOKEN.finditer(text))[-1]
    token = last.group()
    step = 2 if "." in token else 1  # 0.0625 may be printed as 0.062 or 0.063
    digit = "0" if token == "NA" else f"{token[:-1]}{(int(token[-1]) + step) % 10}"
    return text[: last.start()] + digit + text[last.end() :]


def test_the_csv_tables_show_the_same(reported: Reported) -> None:
    """Every row of every CSV holds the numbers at full length."""
    assert check_files(reported.study / "report", reported.expected) > 100


def test_the_page_shows_the_same(reported: Reported) -> None:
    """Each sentence and each cell with a number of report.md stands on the page for a browser."""
    page = Page((reported.study / "report/index.html").read_text("utf-8"))
    for section in reported.sections:
        for heading, block in section.blocks:
            if isinstance(block, str):
                assert even(block) in page.text, block
            else:
                on_page(page, section.title, heading, block)


def on_page(page: Page, section: str, heading: str, table: Table) -> None:
    """Raise where a table of report.md is not on the page, with the same numbers."""
    if heading == "Costs" or (section == "Mean scores" and not heading):
        [found] = [t for _, t in page.tables if t.columns[0] == "metric" and
                   t.columns[1:] == tuple(row[0] for row in table.rows) and
                   {row[0] for row in t.rows} == set(table.columns[1:])]  # fmt: skip
        cells = {(row[0], run): cell for row in found.rows
                 for run, cell in zip(found.columns[1:], row[1:], strict=True)}  # fmt: skip
        for run, *texts in table.rows:
            for title, text in zip(table.columns[1:], texts, strict=True):
                assert tokens(cells[title, run]) == tokens(text), (title, run)
    elif section == "Right and wrong":
        [found] = [t for _, t in page.tables if t.columns[:2] == ("question", "answer stands in")]
        signs = {(run, row[0].split()[0].lstrip("◆")): sign for row in found.rows
                 for run, sign in zip(found.columns[2:], row[2:], strict=True)}  # fmt: skip
        for run, total, *marks in table.rows:
            assert signs[run, "right"] == total
            for question, mark in zip(table.columns[2:], marks, strict=True):
                assert sign_of(found, run, question) == mark, (run, question)
    elif section == "One variable at a time":
        found = next(t for c, t in page.tables if c == even(heading) and "detectable" in t.columns)
        rows = {row[0]: dict(zip(found.columns, row, strict=True)) for row in found.rows}
        for title, *texts in table.rows:
            named = dict(zip(table.columns[1:], texts, strict=True))
            for column in set(named) & set(found.columns):
                assert rows[title][column] == even(named[column]), (heading, title, column)
    else:
        rows = [tuple(map(even, row)) for row in table.rows]
        assert any(list(t.rows) == rows for _, t in page.tables), (section, heading)


def sign_of(grid: Table, run: str, question: str) -> str:
    """Return the sign of an answer in the page's grid."""
    [row] = [row for row in grid.rows if question in row[0].replace("◆", " ").split()]
    return row[grid.columns.index(run)]
