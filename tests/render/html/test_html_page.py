"""The page: its sections, links that lead somewhere, and texts that cannot act."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from harness.analysis import Analysis
from harness.render import LANGUAGES, StudyFacts
from harness.render.html import Details, html_page
from harness.render.notation import mean, signed
from tests.render.html.pages import shown

STRINGS = Path(__file__).parents[2] / "data" / "messy" / "text_strings.jsonl"
NASTY = [json.loads(line)["text"] for line in STRINGS.read_text("utf-8").splitlines()]
HOSTILE = (
    "<script>alert(1)</script>",
    "</td></tr></table><b>",
    "</style><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "javascript:alert(4)",
    "\u202eRTL \u0645\u0631\u062d\u0628\u0627 \U0001f600 \x00 nul",
    "w" * 10_000,
    "{{ 7 * 7 }} {% raw %}",
)
VOID = {"meta", "link", "br", "hr", "img", "input"}
ORDER = (
    *("right_wrong", "against", "findings", "contrasts", "curves", "pairs", "means"),
    *("trust", "suspects", "questions", "made", "reading"),
)


class Reader(HTMLParser):
    """Reads a page and keeps its tags, ids, links and texts; raises where tags do not nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.headings: list[int] = []
        self.cells: list[int] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name == "href"]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "tr":
            self.cells.append(0)
        if tag in ("td", "th"):
            self.cells[-1] += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


@pytest.mark.parametrize("language", LANGUAGES)
def test_parts_stand_in_order(language: str) -> None:
    """The sections come in the order of a reader's questions, in every language."""
    page = Reader(shown(names=("k2", "k4", "k6")).page(language))

    parts = [name for name in page.ids if name in ORDER]

    assert tuple(parts) == ORDER
    assert ("lang", {"zh_hant": "zh-Hant", "zh_hans": "zh-Hant"}.get(language, language)) in (
        page.attributes
    )


def test_every_link_stays_on_the_page() -> None:
    """A finding, question or passage links to a place that is there, and nothing links away."""
    page = Reader(shown().page())
    own = [link[1:] for link in page.links if link.startswith("#")]

    assert set(own) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith(("#", "data:")) for link in page.links)


def test_headings_go_down_one_by_one(article: Analysis, facts: StudyFacts) -> None:
    """No level of heading is left out, and there is one first."""
    for text in (shown().page(), html_page(article, facts, Details())):
        levels = Reader(text).headings

        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_table_is_told_and_headed() -> None:
    """Each table has a caption, and each of its headings says what it heads."""
    page = shown().page()

    assert page.count("<table") == page.count("<caption>")
    assert not re.search(r"<th(?! scope)[ >]", page)


def test_nothing_is_asked_of_the_network() -> None:
    """No address, no foreign style, font or script: a browser that asks is not allowed to."""
    page = shown().page()

    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", page)
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def everywhere(text: str) -> str:
    """Return a page that has a text wherever somebody else can put one."""
    return shown(
        names=(f"a{text}", f"b{text}"),
        ids=(f"1{text}", f"2{text}"),
        answer=lambda run, question: text,
        passage=lambda run, question: text,
        wording=lambda question: text,
        label=text,
    ).page()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_shown_and_do_nothing(text: str) -> None:
    """In names, questions, answers, passages, claims and captions a text is only text."""
    hostile = everywhere(text)

    read, harmless = Reader(hostile), Reader(everywhere("harmless"))

    assert read.tags.count("script") == harmless.tags.count("script") == 2
    assert read.tags.count("table") == harmless.tags.count("table")
    assert "img" not in read.tags
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert not [link for link in read.links if not link.startswith(("#", "data:"))]
    assert not re.search(r"[\x00-\x08\u202e]", hostile)
    assert text.replace("\x00", "\ufffd").replace("\u202e", "\ufffd")[:30] in read.text


def test_the_common_strings_that_break_things_are_shown() -> None:
    """Each of the strings that are known to break pages comes out, and the tags still nest."""
    page = shown(
        ids=tuple(f"q{at}" for at in range(len(NASTY))),
        answer=lambda run, question: NASTY[int(question[1:])],
    ).page()

    text = Reader(page).text

    for string in NASTY:
        if string.isprintable():
            assert string in text


def test_cells_of_a_table_agree_with_its_columns() -> None:
    """Signs of a table's end in a text are shown as they are, and leave every row its cells."""
    plain = Reader(shown(answer=lambda run, question: "x").page())
    broken = Reader(shown(answer=lambda run, question: "1<2 </td><td> | a\nb").page())

    assert broken.cells == plain.cells
    assert "1<2 </td><td> | a\nb" in broken.text


def test_a_sweep_is_drawn_in_number_order_with_its_band() -> None:
    """2, 4 ... 10, never 10 before 2; the band is the interval over the questions of all runs."""
    page = shown(names=("k2", "k4", "k6", "k8", "k10")).page()
    plot = page[page.index('class="curve') :]

    ticks = re.findall(r'text-anchor="middle">(\d+)</text>', plot[: plot.index("</svg>")])

    assert ticks == ["2", "4", "6", "8", "10"]
    assert plot.index('class="band"') < plot.index("</svg>")


def test_a_sweep_over_one_question_has_no_band() -> None:
    """A mean of one question has no interval, so there is no band, and the page says so."""
    page = shown(names=("k2", "k4", "k6"), ids=("q1",)).page()

    assert 'class="band"' not in page
    assert "no band" in page


def test_distributions_hold_every_scored_and_graded_answer() -> None:
    """The counts above right and wrong are those of the trust table."""
    study = shown()
    page = study.page()

    for row in study.analysis.trust:
        if row.right + row.wrong:
            assert f"right: {row.right}, mean {mean(row.mean_right)}" in page
            assert f"wrong: {row.wrong}, mean {mean(row.mean_wrong)}" in page


def test_numbers_are_those_of_the_analysis() -> None:
    """Each mean and each difference is on the page with the digits of the other reports."""
    study = shown()
    text = Reader(study.page()).text

    for metric in study.analysis.means:
        for cell in metric.cells:
            if cell.mean is not None and metric.bounded:
                assert mean(cell.mean) in text
                assert f"({cell.scored}/{cell.asked})" in text
    for contrast in study.analysis.contrasts:
        for difference in contrast.differences:
            assert signed(difference.mean) in text or difference.mean is None


def test_answers_stand_once_with_their_differences() -> None:
    """Runs that answer alike share a text; another wording shows what is only in it."""
    page = shown(answer=lambda run, question: f"塔高{'27' if run == 'k2' else '72'}公尺。").page()

    assert "<del>27</del><ins>72</ins>公尺。" in page
    assert shown(answer=lambda run, question: "alike").page().count("<article") == 4


def test_passages_show_what_they_entail_and_contradict() -> None:
    """The wording of a claim is marked by its verdict on that passage, with the reason beside."""
    page = shown().page()

    assert '<mark class="entailed">the tower is 27 metres high</mark>' in page
    assert '<mark class="contradicted">the tower is 27 metres high</mark>' in page
    assert "it says 72" in page
    assert "gives the height" in page


def test_verdicts_on_all_passages_mark_faintly() -> None:
    """A verdict on all passages together is not shown as one on a single passage."""
    study = shown()
    joint = {
        run: tuple(row for row in rows if row.check != "response_in_passages")
        for run, rows in study.details.verdicts.items()
    }
    details = Details(study.details.questions, study.details.responses, joint)

    page = html_page(study.analysis, study.facts, details)

    assert '<mark class="entailed-by-all">' in page
    assert '<mark class="entailed">' not in page


def test_a_picture_is_kept_once_and_shown_beside_its_caption() -> None:
    """However often a figure is shown, its data are on the page once."""
    page = shown().page()

    assert page.count("R0lGODlh") == 1
    assert page.count('<use href="#picture-1"/>') > 4


def test_what_is_not_trusted_is_grey(article: Analysis, facts: StudyFacts) -> None:
    """A metric that cannot tell right from wrong is drawn grey and hollow in every contrast."""
    page = html_page(article, facts, Details())
    rows = re.findall(r'<tr( class="grey")?><th[^>]*><bdi>~context precision</bdi></th>', page)

    assert rows
    assert all(rows)
    assert 'class="interval muted"' in page


def test_findings_of_the_article_lead_to_their_evidence(
    article: Analysis, facts: StudyFacts
) -> None:
    """The sentences are those of the other reports, each a link to the contrast or metric."""
    page = html_page(article, facts, Details())

    assert re.search(r'<a href="#contrast-\d"><bdi>[^<]*q1 and? ?q?2? ?turned wrong|turned', page)
    assert re.search(r'<a href="#metric-1"><bdi>context precision is not shown to', page)
    assert re.search(r'<a href="#right_wrong"><bdi>4 of 8 questions are informative', page)


@pytest.mark.slow
def test_long_studies_stay_small() -> None:
    """A hundred questions under twelve variants stay under 10 MB, with other passages in each."""
    study = shown(
        names=tuple(f"v{at}" for at in range(12)),
        ids=tuple(f"q{at}" for at in range(100)),
        answer=lambda run, question: f"燈塔{run}高二十七公尺，{question}如此說。" * 8,
        passage=lambda run, question: f"{run}{question}的燈塔高二十七公尺。" * 35,
        passages=6,
    )

    page = study.page()

    assert len(page.encode()) < 10_000_000
    assert "Passages are cut to" in page


def test_an_empty_study_still_reads(article: Analysis, facts: StudyFacts) -> None:
    """Without answers, verdicts or records the tables are there, and nothing is printed as None."""
    page = Reader(html_page(article, facts, Details()))

    assert "q1" in page.text
    assert "None" not in page.text
