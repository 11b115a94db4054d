"""The whole report as Markdown, fit for a pull request."""

import re

from harness.analysis.results import Analysis
from harness.render.blocks import (
    Block,
    Command,
    Heading,
    Items,
    Paragraph,
    Section,
    Table,
    Tone,
)
from harness.render.notation import one_line, plain
from harness.render.sections import report_sections
from harness.render.sections.basis import StudyFacts
from harness.render.vocabulary import IN_FULL, words

LIVE = re.compile(r"[\\`*~|$]|<(?=\S)|&(?=[#\w])|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])")
"""Characters with a meaning in Markdown or in GitHub's mathematics."""

ENTITIES = {"<": "&lt;", "&": "&amp;"}

OPENING = re.compile(r"^(\d*)([#>+=-]|(?<=\d)[.)])")
"""Beginnings that turn a line into a heading, quotation or list."""


def markdown(analysis: Analysis, facts: StudyFacts, language: str = "en") -> str:
    """Return the report; KeyError for a language that `LANGUAGES` does not hold."""
    sections = report_sections(analysis, facts, words(language, IN_FULL))
    return "\n\n".join(part for at, one in enumerate(sections) for part in section(one, at)) + "\n"


def section(part: Section, at: int) -> list[str]:
    """Return a section's heading, of the first level for the first section, and its blocks."""
    return [f"{'##' if at else '#'} {escaped(part.title)}", *(block(one) for one in part.blocks)]


def block(one: Block) -> str:
    """Return one block."""
    match one:
        case Heading():
            return f"### {escaped(one.text)}"
        case Paragraph():
            return toned(opened(one.text), one.tone)
        case Items():
            return "\n".join(f"- {opened(text)}" for text in one.texts)
        case Command():
            return fenced(plain(one.text))
        case Table():
            return table(one)


def table(one: Table) -> str:
    """Return a pipe table; every row has as many cells as there are columns."""
    rules = ["---:" if column.number else "---" for column in one.columns]
    rows = [
        [escaped(column.title) for column in one.columns],
        rules,
        *([toned(escaped(cell.text), cell.tone) for cell in row] for row in one.body),
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def toned(text: str, tone: Tone) -> str:
    """Mark a text that is strong: of the tones Markdown shows this one."""
    return f"**{text}**" if tone is Tone.STRONG and text else text


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line.

    >>> print(escaped("a|b" + chr(10) + "1<2 & `x` *y* ctx_k9 [l](javascript:1)"))
    a\\|b 1&lt;2 & \\`x\\` \\*y\\* ctx_k9 [l\\](javascript:1)
    """
    return LIVE.sub(lambda sign: ENTITIES.get(sign.group(), "\\" + sign.group()), one_line(text))


def opened(text: str) -> str:
    """Return a text that starts no heading, quotation or list at the beginning of a line.

    >>> print(opened("1. #"), opened("# 1"), opened("8 of 9"))
    1\\. # \\# 1 8 of 9
    """
    return OPENING.sub(r"\1\\\2", escaped(text))


def fenced(text: str) -> str:
    """Return a block of code whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}shell\n{text}\n{fence}"
