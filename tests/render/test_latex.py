"""The tables for a paper."""

import re

import pytest

from harness.analysis import Analysis
from harness.render import LANGUAGES, StudyFacts
from harness.render.latex import escaped, latex
from harness.render.notation import interval, mean, signed


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_have_as_many_cells_as_columns(
    article: Analysis, facts: StudyFacts, language: str
) -> None:
    """Both are booktabs tables, and every row has the cells that its table declares."""
    text = latex(article, facts, language)
    tables = re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", text, re.DOTALL)

    assert len(tables) == 2
    for columns, body in tables:
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert len(rows) > 4
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(columns) - 1}
        assert all(rule in body for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    assert text.count("{") == text.count("}")


def test_means_have_their_interval_and_number_of_questions(
    article: Analysis, facts: StudyFacts
) -> None:
    """No mean without what it rests on; a metric that is not trusted is marked."""
    text = latex(article, facts)
    faithfulness = next(row for row in article.means if row.metric == "faithfulness")

    for cell in faithfulness.cells:
        ends = escaped(interval(cell.low, cell.high, mean))
        assert f"{mean(cell.mean)} {ends} ({cell.scored}/{cell.asked})" in text
    assert r"\textasciitilde{}context precision &" in text
    assert "\nfaithfulness &" in text
    assert "share right & 0.500 (8/8) & 0.625 (8/8)" in text


def test_contrasts_have_their_interval_and_p(article: Analysis, facts: StudyFacts) -> None:
    """A row a contrast, with the difference in right answers."""
    text = latex(article, facts)

    for contrast in article.contrasts:
        right = contrast.difference("right")
        assert right is not None
        runs = escaped(f"{contrast.left} -> {contrast.right}")
        ends = escaped(interval(right.low, right.high))
        row = f"{runs} & {signed(right.mean)} & {ends} & 8 & {right.wins}/{right.ties}/"
        assert row in text


@pytest.mark.parametrize("sign", list(r"\{}~^<>|#$%&_["))
def test_no_sign_is_an_instruction(sign: str) -> None:
    """What others write is set as it is: no command, no group, no comment comes of it."""
    assert escaped(f"a{sign}b") not in (f"a{sign}b", "ab")
