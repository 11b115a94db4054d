"""The tables of report.md and index.html as their reader sees them, and the numbers in a text."""

import math
import re
from dataclasses import dataclass
from html.parser import HTMLParser

from markdown_it import MarkdownIt

NUMBER = re.compile(r"(?<![\w.])(?:<|[-+])?\d+(?:\.\d+)?(?!\w)|\bNA\b")
"""A number, or NA. Digits inside a name (q1, text_k4, llama3.1) are part of the name."""


@dataclass(frozen=True)
class PrintedTable:
    """A table, and the headings above it."""

    section: str
    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def by_row(self) -> dict[str, dict[str, str]]:
        """The first cell of each row -> its other cells by column."""
        return {row[0]: dict(zip(self.columns[1:], row[1:], strict=True)) for row in self.rows}


class PrintedPage(HTMLParser):
    """Keeps the tables of a page, each under its headings, and all its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[PrintedTable] = []
        self.texts: list[str] = []
        self.section, self.heading = "", ""
        self.rows: list[list[str]] = []
        self.within: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.within.append(tag)
        if tag == "h2":
            self.section, self.heading = "", ""
        elif tag == "h3":
            self.heading = ""
        elif tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self.within and self.within.pop() != tag:
            pass
        if tag == "table":
            columns, *rows = [tuple(even(cell) for cell in row) for row in self.rows]
            found = PrintedTable(even(self.section), even(self.heading), columns, tuple(rows))
            self.tables.append(found)

    def handle_data(self, data: str) -> None:
        if {"style", "script", "svg"} & set(self.within):
            return
        self.texts.append(data)
        if "h2" in self.within:
            self.section += data
        elif "h3" in self.within:
            self.heading += data
        elif {"th", "td"} & set(self.within):
            self.rows[-1][-1] += data

    @property
    def text(self) -> str:
        """All the text of the page on one line."""
        return even("".join(self.texts))


def report_page(markdown: str) -> PrintedPage:
    """Return report.md as a reader sees it."""
    return PrintedPage(MarkdownIt("commonmark").enable("table").render(markdown))


def even(text: str) -> str:
    """Return a text on one line, with the arrow that Markdown has."""
    return re.sub(r"\s+", " ", text.replace("→", "->")).strip()


def numbers(text: str) -> list[str]:
    """Return the numbers of a text, in order."""
    return NUMBER.findall(text)


def agrees(token: str, value: float | None) -> bool:
    """Say whether a printed number is this one, to the digits that it is printed with.

    >>> agrees("0.415", 0.41549), agrees("0.415", 0.4156), agrees("NA", None), agrees("<0.001", 0)
    (True, False, True, True)
    """
    if value is None or math.isnan(value):
        return token == "NA"
    if token == "NA":
        return False
    if token.startswith("<"):
        return token == "<0.001" and value < 0.001
    digits = len(token.partition(".")[2])
    return abs(float(token) - value) <= 0.5 * 10**-digits + 1e-9
