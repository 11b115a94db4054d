"""What analysis says, in words: for the terminal, as Markdown and as CSV. Pure.

A report is a tuple of `Section`s of plain text and tables (`page`), which each form of output
prints in its own way; `words` holds one language's words, `sentence` puts a finding into them.
"""

from harness.render.blocks import (
    Block,
    Cell,
    Column,
    Command,
    Heading,
    Items,
    Line,
    Section,
    Table,
    Tone,
)
from harness.render.facts import Agreement, StudyFacts
from harness.render.markdown import markdown
from harness.render.page import page
from harness.render.sentences import sentence
from harness.render.tables import csv_tables
from harness.render.terminal import terminal
from harness.render.wording import LANGUAGES, Words, words

__all__ = [
    "LANGUAGES",
    "Agreement",
    "Block",
    "Cell",
    "Column",
    "Command",
    "Heading",
    "Items",
    "Line",
    "Section",
    "StudyFacts",
    "Table",
    "Tone",
    "Words",
    "csv_tables",
    "markdown",
    "page",
    "sentence",
    "terminal",
    "words",
]
