"""What a report prints: its Markdown taken apart, and the number tokens in a text."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from tests.conftest import ROOT

TOKEN = re.compile(r"(?<![\w.])(?:<|[-+])?\d+(?:\.\d+)?(?!\w)|\bNA\b")
"""A number, or NA. Digits inside a name (q1, text_k4, llama3.1) are part of the name."""

Number = float | int | None


@dataclass(frozen=True)
class Table:
    """A table as its reader sees it."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass
class Section:
    """A part of the report: each block is (the heading above it, a text or a table)."""

    title: str
    blocks: list[tuple[str, "str | Table"]] = field(default_factory=list)


def sections(text: str) -> list[Section]:
    """Take a report.md apart."""
    found = [Section("")]
    heading = ""
    for block in re.split(r"\n{2,}", text.strip()):
        if block.startswith("```"):
            found[-1].blocks.append((heading, block.strip("`").removeprefix("shell").strip()))
        elif block.startswith("### "):
            heading = seen(block[4:])
        elif block.startswith(("# ", "## ")):
            heading = ""
            found.append(Section(seen(block.partition(" ")[2])))
        elif block.startswith("|"):
            found[-1].blocks.append((heading, table(block)))
        elif block.startswith("- "):
            found[-1].blocks += [(heading, seen(item)) for item in block[2:].split("\n- ")]
        else:
            found[-1].blocks.append((heading, seen(block)))
    return found[1:]


def table(block: str) -> Table:
    """Take a pipe table apart; a pipe in a cell is escaped."""
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in block.split("\n")]
    head, _, *rows = [tuple(seen(cell.strip()) for cell in line) for line in lines]
    return Table(head, tuple(rows))


def seen(text: str) -> str:
    """Return a text as a reader of Markdown sees it."""
    bare = re.sub(r"(?<!\\)\*\*", "", text)
    bare = re.sub(r"\\([^\w\s])", r"\1", bare)
    return bare.replace("&lt;", "<").replace("&amp;", "&")


def tokens(text: str) -> list[str]:
    """Return the numbers of a text, in order."""
    return TOKEN.findall(text)


def agrees(token: str, value: Number) -> bool:
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


def check(text: str, expected: Sequence[Number], where: object) -> None:
    """Raise where a text's numbers are not exactly the expected ones, in order."""
    found = tokens(text)
    right = len(found) == len(expected) and all(map(agrees, found, expected))
    assert right, f"{where}: printed {text!r}, worked out {list(expected)}"


LISTED = ("gained", "lost", "questions")
LIST = r"[^\s,;]+(?:, [^\s,;]+)*"
"""Slots that hold questions, and what those look like."""

SLOT = re.compile(r"\{(\w+)(?::(\w+)|\|([^|{}]*)\|([^|{}]*))?\}")
WORDS: dict[str, Any] = yaml.safe_load((ROOT / "harness/render/words/en.yaml").read_text("utf-8"))


@dataclass(frozen=True)
class Said:
    """A sentence of the report, and what stands in the slots of its template."""

    kind: str
    numbers: dict[str, str]
    texts: dict[str, str]

    def names(self, slot: str) -> list[str]:
        """Return the names that are listed in a slot; none where it was not said."""
        text = self.texts.get(slot, "")
        return text.split(", ") if text else []


def pattern(template: str | dict[str, str]) -> re.Pattern[str]:
    """Return what a template looks like when it is filled; parts of one may be left out."""
    if isinstance(template, str):
        return re.compile(slots(template) + r"\Z")
    parts = "".join(rf"(?: ?{slots(part, name)})?" for name, part in template.items())
    return re.compile(rf"(?=.){parts}\Z")


def slots(template: str, part: str = "") -> str:
    """Return a pattern with a group a slot; the group's name says slot, style and place."""
    pieces, at = [], 0
    for number, slot in enumerate(SLOT.finditer(template)):
        pieces.append(re.escape(template[at : slot.start()]))
        name, style, one, many = slot.groups()
        if one is not None:
            pieces.append(f"(?:{re.escape(one)}|{re.escape(many)})")
        elif style:
            lead = "p (?:= )?" if style == "p" else ""
            pieces.append(rf"{lead}(?P<n_{name}__{part}{number}>(?:< |[-+<])?\d+(?:\.\d+)?|NA)")
            pieces.append(" %" if style == "percent" else "")
        else:
            text = LIST if name in LISTED else ".+?"
            pieces.append(f"(?P<t_{name}__{part}{number}>{text})")
        at = slot.end()
    return "".join([*pieces, re.escape(template[at:])])


PATTERNS = {
    **{f"kind {name}": pattern(words) for name, words in WORDS["kinds"].items()},
    **{f"line {name}": pattern(words) for name, words in WORDS["lines"].items()},
}


def read(text: str, *kinds: str) -> Said | None:
    """Return what a sentence says, by the first of these templates that it fits; None by none."""
    for kind in kinds:
        found = PATTERNS[kind].match(text)
        if found is None:
            continue
        said = Said(kind, {}, {})
        for group, filled in found.groupdict().items():
            if filled is not None:
                name, value = group[2:].rpartition("__")[0], filled.replace("< ", "<")
                table = said.numbers if group.startswith("n_") else said.texts
                assert table.setdefault(name, value) == value, f"{text!r}: {name} says two things"
        return said
    return None


def literals() -> Iterator[str]:
    """Yield the numbers that stand in the templates themselves: they are words, no results."""
    for table_ in ("kinds", "lines"):
        for words in WORDS[table_].values():
            for part in [words] if isinstance(words, str) else words.values():
                yield from tokens(SLOT.sub(" ", part))
