import re

import pytest

from harness.analysis.results import Prospect
from harness.grade.server import asset, page_words, site
from harness.render import LANGUAGES

each_language = pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))


def slots(found: object) -> object:
    """Return the words' keys, and the slots of each, without the words."""
    if isinstance(found, dict):
        return {key: slots(value) for key, value in found.items()}
    return sorted(re.findall(r"\{\w+\}", str(found)))


@each_language
def test_every_language_says_the_same_things(language: str) -> None:
    """Each language has every key of the English words, with the same slots."""
    assert slots(page_words(language)) == slots(page_words("en"))


@each_language
def test_the_page_speaks_one_language(language: str) -> None:
    """The page is tagged with its language, and the study's texts with theirs."""
    page = bytes(site(["answers", "captions"], language, "zh_hant")["/answers"].body).decode()

    assert f'<html lang="{language.replace("zh_hant", "zh-Hant")}">' in page
    assert 'id="answer" class="text" lang="zh-Hant"' in page
    assert page_words(language)["title"] in page


def test_one_kind_needs_no_choice() -> None:
    """Where there are no captions there is no link to them."""
    files = site(["answers"], "en", "en")

    assert b"captions" not in files["/"].body
    assert sorted(files) == ["/", "/answers", "/page.css", "/page.js"]


def test_the_script_never_writes_markup() -> None:
    """Texts of the study reach the page as text: no innerHTML, no eval, no inline handler."""
    script = asset("page.js")

    for way in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function("):
        assert way not in script
    assert 'on="' not in asset("page.html")


def test_the_script_has_all_words_it_asks_for() -> None:
    """Each `words.x` of the script is one of the words handed to it."""
    asked = set(re.findall(r"words\.(\w+)", asset("page.js")))

    assert asked <= set(page_words("en")["script"])


@each_language
def test_each_prospect_has_a_sentence(language: str) -> None:
    """What `harness.analysis` can say of a change is said in every language."""
    assert set(page_words(language)["script"]["prospects"]) == set(Prospect)
