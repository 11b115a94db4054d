"""The whole report as Markdown: every number, and user text shown as it is."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape

import pytest
from markdown_it import MarkdownIt

from harness.analysis import Analysis, MetricFacts, RunFacts
from harness.analysis.results import Suspect
from harness.records import Layer
from harness.render import LANGUAGES, StudyFacts, markdown
from harness.render.blocks import Block, Cell, Column, Items, Paragraph, Table
from harness.render.markdown import block
from harness.render.notation import one_line

Study = Callable[..., Analysis]
Runs = Callable[..., list[RunFacts]]

FAITHFULNESS = MetricFacts("faithfulness", Layer.GENERATION)
NASTY = [
    "a|b\nc",
    "溫度<5℃ & 風>3 <b>粗</b>",
    "</td><script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "`code` ``` *bold* _em_ ~~gone~~ $x$",
    "| a |\n|---|\n| b |",
    "# not a heading",
    "1. no list",
    "\\",
    "__init__ and ***all*** of ~~it~~",
    "&amp; &#65; <!-- c --> <http://x.y>",
    "![i](u) [a][b]",
    "- [ ] x",
    "nul\x00 and \x1b[31m and \u202e and \ud83d",
]


def tables(text: str) -> Iterator[list[list[str]]]:
    """Yield each table's rows as a Markdown reader cuts them."""
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("| "):
            cells = re.split(r"(?<!\\)\|", line)
            rows.append([cell.strip() for cell in cells[1:-1]])
        elif rows:
            yield rows
            rows = []


def in_table(text: str) -> Block:
    """Return a table of one cell."""
    return Table((Column("head"),), ((Cell(text),),))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_table_keeps_its_columns(article: Analysis, facts: StudyFacts, language: str) -> None:
    """Each row of a table has as many cells as its head, in every language."""
    found = list(tables(markdown(article, facts, language)))

    assert len(found) > 10
    for rows in found:
        assert {len(row) for row in rows} == {len(rows[0])}
        assert all(re.fullmatch(r"-{3}:?", cell) for cell in rows[1])


@pytest.mark.parametrize("text", NASTY)
def test_user_text_is_shown_as_it_is(study: Study, text: str) -> None:
    """No name, question or claim breaks a table, opens a tag or becomes a link."""
    runs = [RunFacts(text, "x", leaves={"top_k": 4}), RunFacts("y", "y", leaves={"top_k": text})]
    found = study(runs, grades={text: [1, 0], "y": [0, 1]}, questions=[text, "q2"])
    found = replace(
        found, suspects=(Suspect(text, text, 0, "claims", 0, 0, "duplicates_disagree", text),)
    )
    shown = markdown(found, StudyFacts(text, text, text, text))

    for rows in tables(shown):
        assert {len(row) for row in rows} == {len(rows[0])}
    assert not re.search(r"<(?=[a-zA-Z/])", shown)
    assert not re.search(r"(?<!\\)\]\(", shown)
    assert not re.search("[\x00\x1b\u202e\ud83d]", shown)
    assert [line for line in shown.splitlines() if line.startswith("# ")] == [shown.splitlines()[0]]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("where", [Paragraph, lambda text: Items((text,)), in_table])
def test_a_reader_of_markdown_sees_the_text(where: Callable[[str], Block], text: str) -> None:
    """Parsed and read back, a text is itself, but for line ends and unreadable characters."""
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(block(where(text)))
    seen = re.findall(r"<(?:td|p|li)[^>]*>(.*?)</(?:td|p|li)>", html, re.DOTALL)

    assert [" ".join(unescape(part).split()) for part in seen] == [one_line(text)]


def test_literal_text(study: Study, facts: StudyFacts) -> None:
    """`a|b`, a line end and `<b>` come out as the characters that they are."""
    ids = ["a|b\nc", "溫度<5℃ & 風>3 <b>粗</b>"]
    runs = [RunFacts("x", "x"), RunFacts("y", "y", leaves={"k": 1})]
    shown = markdown(study(runs, grades={"x": [1, 0], "y": [1, 0]}, questions=ids), facts)

    assert "| a\\|b c |" in shown
    assert "| 溫度&lt;5℃ & 風>3 &lt;b>粗&lt;/b> |" in shown


def test_means_are_the_scores_own(study: Study, runs: Runs, facts: StudyFacts) -> None:
    """The mean of four rows, one of them NA, is that of the three, with three of four beside it."""
    scores = {"k1": [0.8, 0.8, None, 0.5], "k2": [0.1, 0.2, 0.3, 0.4]}
    shown = markdown(study(runs(1, 2), {FAITHFULNESS: scores}), facts)
    rows = next(rows for rows in tables(shown) if rows[0] == ["metric", "k1", "k2"])

    assert sum([0.8, 0.8, 0.5]) / 3 == pytest.approx(0.7)
    assert rows[2][0] == "faithfulness"
    assert re.fullmatch(r"0\.700 \[.*\] \(3/4\)", rows[2][1])
    assert re.fullmatch(r"0\.250 \[.*\] \(4/4\)", rows[2][2])


def test_missing_scores_have_their_bounds(study: Study, runs: Runs, facts: StudyFacts) -> None:
    """A mean with NA has its reason, its bounds and its mean over common questions."""
    scores = {"k1": [0.9, None, None, 0.9], "k2": [0.9, 0.5, 0.5, 0.9]}
    shown = markdown(study(runs(1, 2), {FAITHFULNESS: scores}), facts)
    rows = next(rows for rows in tables(shown) if "why NA" in rows[0])

    # (0.9 + 0 + 0 + 0.9) / 4 = 0.45 and (0.9 + 1 + 1 + 0.9) / 4 = 0.95
    assert rows[2] == [
        *("faithfulness", "k1", "2 of 4", "no claims in the answer", "0.900"),
        *("[0.450, 0.950]", "0.900"),
    ]
    assert "Over the 2 questions that every run has scored (q1, q4): k1\xa00.900" in shown


def test_every_contrast_is_there_in_full(article: Analysis, facts: StudyFacts) -> None:
    """Seven contrasts, each with all its metrics and the questions that changed."""
    shown = markdown(article, facts)
    found = [rows for rows in tables(shown) if rows[0][1] == "change"]

    assert len(found) == 7
    assert all(len(rows) == 2 + 5 for rows in found)
    assert "identical by construction" in {row[0]: row for row in found[-1]}["\\~context precision"]


def test_findings_come_first(article: Analysis, facts: StudyFacts) -> None:
    """A reader of a pull request sees what was found before any table but that of the answer."""
    headings = re.findall(r"^## (.*)$", markdown(article, facts), re.MULTILINE)

    assert headings[:3] == ["What this rests on", "Findings", "Right and wrong"]


def test_runs_that_say_the_same_share_a_sentence(article: Analysis, facts: StudyFacts) -> None:
    """Two saturated runs are one sentence."""
    shown = markdown(article, facts)

    assert "- ctx_k9, ctx_k9_strict returned 9 of 9 passages: saturated." in shown


def test_many_questions_stand_upright(study: Study, runs: Runs, facts: StudyFacts) -> None:
    """More than twenty questions are rows, so that the page stays narrow."""
    grades = {"k1": [1] * 30, "k2": [0] * 30}
    _, rows, *_ = tables(markdown(study(runs(1, 2), grades=grades), facts))

    assert rows[0] == ["question", "k1", "k2"]
    assert rows[2] == ["q1", "✓", "✗"]
    assert rows[-1] == ["**right**", "**30 of 30**", "**0 of 30**"]


def test_metrics_are_defined_under_their_spelling(article: Analysis, facts: StudyFacts) -> None:
    """A reader finds what a metric measures, and how the command line calls it."""
    last = list(tables(markdown(article, facts, "zh_hant")))[-1]

    assert last[2] == [
        *("上下文精確度", "context_precision", "檢索", "越高越好"),
        "有用段落的平均精確率，名次有影響",
    ]


def test_commands_stand_in_a_block_of_their_own(study: Study, facts: StudyFacts) -> None:
    """A command is copied from a block of code, also where it holds backticks."""
    pair = [
        RunFacts("a", "a", {"prompt": "x"}, {"top_k": "```"}),
        RunFacts("b", "b", {"prompt": "y"}, {"top_k": 9}),
    ]
    shown = markdown(study(pair, grades={"a": [1], "b": [1]}), facts)

    assert re.search(r"^(`{3,})shell\npython -m harness\.collect .*\n\1$", shown, re.MULTILINE)


def test_borrowed_words_are_named(article: Analysis, facts: StudyFacts) -> None:
    """A report in zh_hans says that it is in Traditional Chinese; one in zh_hant need not."""
    line = "language=zh_hans 尚無自己的用語，本報告以 zh_hant（繁體中文）顯示。"

    assert line in markdown(article, facts, "zh_hans")
    assert line not in markdown(article, facts, "zh_hant")
