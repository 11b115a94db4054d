"""The page's part about several judges."""

from dataclasses import replace
from itertools import pairwise

import pytest

from harness.analysis.findings import strongest_first
from harness.analysis.findings.study_findings import judge_findings
from harness.render import LANGUAGES, words
from tests.render.html.pages import Shown, shown
from tests.render.html.test_html_page import HOSTILE, Reader
from tests.render.sections.test_several_judges import BETTER, FOUND, MATCHED


def judged(name: str = "third") -> Shown:
    """Return a page whose judges are these, the last of them under this name."""
    found = replace(
        FOUND,
        names=("overlap", "llama3.1", name),
        agreements=(*FOUND.agreements, replace(MATCHED, second=name)),
        findings=(replace(BETTER, finding=replace(BETTER.finding, left="k2", right="k4")),),
    )
    page = shown()
    findings = strongest_first([*page.analysis.findings, *judge_findings(found)])
    return replace(page, analysis=replace(page.analysis, judges=found, findings=findings))


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_stands_after_trust_with_its_numbers(language: str) -> None:
    """The part has its heading, the contents lead to it, and its findings as well."""
    page = Reader(judged().page(language))
    said = words(language)

    parts = [name for name in page.ids if name in ("trust", "judges", "suspects")]
    assert parts == ["trust", "judges", "suspects"]
    assert said.get("headings", "judges") in page.text
    assert said.get("agreed_checks", "passage_useful") in page.text
    assert "[-0.406,\xa01.000]" in page.text
    # once from the contents, once from what holds under some, and once an agreement
    assert page.links.count("#judges") == 2 + len(FOUND.agreements) + 1


def test_one_judge_has_no_part() -> None:
    """Where but one has judged, nothing is said of others."""
    page = Reader(shown().page())

    assert "judges" not in page.ids
    assert "#judges" not in page.links


@pytest.mark.parametrize("name", HOSTILE)
def test_a_judge_may_be_called_anything(name: str) -> None:
    """The label of a judge is text: every tag still nests, no heading is left out."""
    page = Reader(judged(name).page())

    assert page.tags.count("script") == 2
    assert all(after - before <= 1 for before, after in pairwise(page.headings))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
