"""The page for a browser, taken apart: its tables, and all its text."""

import re
from html.parser import HTMLParser

from tests.printed.printed import Table

VOID = {
    "meta",
    "link",
    "path",
    "circle",
    "rect",
    "image",
    "use",
    "polyline",
    "polygon",
    "input",
    "br",
}


class Page(HTMLParser):
    """Keeps each table with what it is called, and the words in the order of the page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[tuple[str, Table]] = []
        self.said: list[str] = []
        self.labels: list[str] = []
        """What a screen reader is told of each picture."""
        self.within: list[str] = []
        self.rows: list[list[list[str]]] = []
        self.caption: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "svg" and told.get("aria-label"):
            self.labels.append(even(told["aria-label"] or ""))
        if tag not in VOID:
            self.within.append(tag)
        if tag == "table":
            self.rows, self.caption = [], []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append([])

    def handle_endtag(self, tag: str) -> None:
        while self.within and self.within.pop() != tag:
            pass
        if tag == "table":
            rows = [tuple(even(" ".join(cell)) for cell in row) for row in self.rows]
            self.tables.append((even(" ".join(self.caption)), Table(rows[0], tuple(rows[1:]))))

    def handle_data(self, data: str) -> None:
        if {"style", "script"} & set(self.within):
            return
        if "svg" not in self.within:
            self.said.append(data)
        if "caption" in self.within:
            self.caption.append(data)
        elif {"th", "td"} & set(self.within) and "svg" not in self.within:
            self.rows[-1][-1].append(data)

    @property
    def text(self) -> str:
        """All the text of the page on one line."""
        return even("".join(self.said))


def even(text: str) -> str:
    """Return a text on one line, with the arrow that Markdown has."""
    return re.sub(r"\s+", " ", text.replace("→", "->")).strip()
