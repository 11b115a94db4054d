"""The tables and the paragraph for a paper, and its plots."""

import re

import pytest

from harness.analysis import Analysis
from harness.render import LANGUAGES, StudyFacts, words
from harness.render.kinds import Kinds
from harness.render.latex import escaped, latex
from harness.render.quantities import interval, mean
from tests.render.html.pages import shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_have_as_many_cells_as_columns(
    article: Analysis, facts: StudyFacts, language: str
) -> None:
    """Every line of both tables ends, and has the cells that the table declares."""
    text = latex(article, facts, {"numpy": "2.4"}, language)
    tables = re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", text, re.DOTALL)

    assert len(tables) == 2
    for columns, body in tables:
        for line in re.findall(r"^[^\\\n].*\\\\", body, re.MULTILINE):
            assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1
    assert text.count("{") == text.count("}")


def test_means_stand_with_their_interval_and_n(article: Analysis, facts: StudyFacts) -> None:
    """No mean without what it rests on; a metric that is not trusted is marked."""
    text = latex(article, facts, {})
    faithfulness = next(row for row in article.means if row.metric == "faithfulness")

    for cell in faithfulness.cells:
        assert mean(cell.mean) in text
        assert f"{interval(cell.low, cell.high, mean)} $n={cell.scored}$" in text
    assert r"context precision$^{\dagger}$" in text
    assert r"faithfulness$^{\dagger}$" not in text


def test_methods_tell_what_was_done(article: Analysis, facts: StudyFacts) -> None:
    """Test set, judge, tests, definitions and versions stand in the paragraph."""
    methods = latex(article, facts, {"numpy": "2.4.6"}).partition(r"\paragraph")[2]

    for told in (facts.testset, "llama3.1", "Holm", "McNemar", "numpy 2.4.6",
                 "share of the answer's claims that the passages together entail"):  # fmt: skip
        assert told in methods


@pytest.mark.parametrize("sign", list(r"\{}~^<>|#$%&_["))
def test_no_sign_is_an_instruction(sign: str) -> None:
    """What others write is set as it is: no command, no group, no comment comes of it."""
    assert escaped(f"a{sign}b") not in (f"a{sign}b", "ab")


def test_a_score_that_is_not_trusted_is_drawn_dashed() -> None:
    """One style is set and not two, of which matplotlib would warn."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from harness.render.drawn import sweep

    (curve, *_) = shown(names=("k2", "k4", "k6")).analysis.curves
    metric = next(name for name, mean in curve.points[0].means.items() if mean is not None)
    nothing: frozenset[str] = frozenset()
    kinds = Kinds(nothing, nothing, frozenset([metric]), nothing)
    dashes = {line.get_linestyle() for line in sweep(curve, kinds, words("en")).axes[0].lines}

    assert dashes == {"-", "--"}


def test_plots_are_pdf_and_repeat_themselves() -> None:
    """The contrasts and each sweep, the same bytes each time, whatever the names hold."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from harness.render.drawn import plots

    study = shown(names=("k2", "k4 $x_", "圖_k6"))
    found = plots(study.analysis, "zh_hant")

    assert list(found) == ["contrasts.pdf", "sweep-1.pdf"]
    assert all(content.startswith(b"%PDF") for content in found.values())
    assert plots(study.analysis, "zh_hant") == found
