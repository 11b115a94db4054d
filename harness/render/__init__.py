"""What analysis says, in words: for the terminal, as Markdown, HTML, CSV and LaTeX. Pure.

A report is a tuple of `Section`s of plain text and tables (`report_sections`), which each form
of output prints in its own way; `words` holds one language's words, `sentence` puts a finding
into them.
"""

from harness.render.blocks import Section
from harness.render.csv_tables import csv_tables
from harness.render.markdown import markdown
from harness.render.sections import report_sections
from harness.render.sections.basis import StudyFacts
from harness.render.sections.finding_sentences import sentence
from harness.render.sections.metric_trust import suspects
from harness.render.terminal import terminal
from harness.render.vocabulary import LANGUAGES, words
