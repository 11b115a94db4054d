"""The two tables of an ablation for a paper, to be read in with \\input."""

import re
from collections.abc import Sequence

from harness.analysis.results import Analysis, MetricMeans
from harness.analysis.study_table import RIGHT
from harness.records import Layer
from harness.render.blocks import Cell, Table
from harness.render.notation import mean, one_line
from harness.render.sections.averages import legend, means_table
from harness.render.sections.basis import StudyFacts
from harness.render.sections.one_factor import overview
from harness.render.vocabulary import IN_FULL, Words, words

PREAMBLE = r"""% \usepackage{booktabs,graphicx}
% Chinese or Japanese: xelatex and \usepackage{xeCJK}"""

COLUMNS = ("change", "interval", "questions", "won_tied_lost", "p", "adjusted")
"""Of the table of contrasts."""

SIGNS = {
    "\\": r"\textbackslash{}",
    "[": "{[}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "→": r"$\rightarrow$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    **{sign: "\\" + sign for sign in "{}#$%&_"},
}


def latex(analysis: Analysis, facts: StudyFacts, language: str = "en") -> str:
    """Return the tables of means and of contrasts; KeyError for an unknown language."""
    said = words(language, IN_FULL)
    numbers = {
        "runs": len(analysis.runs),
        "questions": len(analysis.questions),
        "tests": analysis.family.tests,
    }
    captions = {key: said.fill(text, {}, numbers) for key, text in said.texts["latex"].items()}
    label = re.sub(r"[^A-Za-z0-9-]+", "-", facts.study).strip("-") or "study"
    parts = [PREAMBLE]
    quality = [metric for metric in analysis.means if metric.layer is not Layer.COST]
    if (means := ablation(quality, analysis, said)) is not None:
        notes = [line.text for line in legend(quality, analysis, said)]
        caption = said.join("parts", [captions["ablation"], *notes])
        parts.append(floating(means, caption, f"tab:{label}-ablation"))
    if analysis.contrasts:
        table = overview(analysis.contrasts, analysis, said, keys=COLUMNS)
        parts.append(floating(table, captions["contrasts"], f"tab:{label}-contrasts"))
    return "\n\n".join(parts) + "\n"


def ablation(metrics: Sequence[MetricMeans], analysis: Analysis, words: Words) -> Table | None:
    """Return a table with one row per metric, the share right first; None without scores."""
    blocks = means_table(metrics, analysis, words, brief=False)
    table = next((block for block in blocks if isinstance(block, Table)), None)
    if table is None:
        return None
    rows = analysis.outcomes.rows
    shares = (
        words.line("scored", mean=mean(row.share), scored=row.known, asked=row.asked)
        for row in rows
    )
    first = (Cell(words.metric(RIGHT)), *map(Cell, shares))
    return Table(table.columns, (first, *table.rows))


def floating(table: Table, caption: str, label: str) -> str:
    """Return a table with its caption, made smaller where it is wider than the text."""
    import pandas as pd

    heads = [escaped(column.title) for column in table.columns]
    cells = [[escaped(cell.text) for cell in row] for row in table.body]
    columns = "".join("r" if column.number else "l" for column in table.columns)
    style = pd.DataFrame(cells, columns=heads).style.hide(axis="index")
    tabular = style.to_latex(hrules=True, column_format=columns).rstrip()
    return rf"""\begin{{table}}
\centering\small
\caption{{{escaped(caption)}}}
\label{{{label}}}
\resizebox{{\ifdim\width>\linewidth\linewidth\else\width\fi}}{{!}}{{%
{tabular}}}
\end{{table}}"""


def escaped(text: str) -> str:
    """Return a text that LaTeX sets as it is.

    >>> print(escaped("ctx_k9 & 50% -> {x} a" + chr(92)))
    ctx\\_k9 \\& 50\\% $\\rightarrow$ \\{x\\} a\\textbackslash{}
    """
    arrows = one_line(text).replace("->", "→")
    return re.sub(r"[\\\[{}~^→<>|±#$%&_]", lambda sign: SIGNS[sign.group()], arrows)
