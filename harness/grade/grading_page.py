"""The grading page: one template, its words in each language, a style sheet and a script."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from harness.render import LANGUAGES

TAGS = {"en": "en", "ja": "ja", "zh_hant": "zh-Hant", "zh_hans": "zh-Hans"}
"""Language tags for the browser, so that it chooses the right glyphs."""


@dataclass(frozen=True, slots=True)
class SiteFile:
    """A file of the page."""

    media: str
    text: str


def site(kinds: Sequence[str], language: str, study_language: str) -> dict[str, SiteFile]:
    """Return path -> file: a page for each kind of thing graded, the first at `/` too.

    They contain no text of the study: the script requests those and inserts them as text.

    Args:
        kinds: The kinds of things to grade: answers, captions.
        language: Of the page; KeyError for one that is not in `LANGUAGES`.
        study_language: Of questions and answers.
    """
    pages = {f"/{kind}": SiteFile("text/html", page(kinds, kind, language, study_language))
             for kind in kinds}  # fmt: skip
    return {
        "/": pages[f"/{kinds[0]}"],
        **pages,
        "/page.css": SiteFile("text/css", asset("page.css")),
        "/page.js": SiteFile("text/javascript", asset("page.js")),
    }


def page(kinds: Sequence[str], kind: str, language: str, study_language: str) -> str:
    """Return the page for one kind of thing, with links to the others."""
    from jinja2 import Environment, StrictUndefined

    name = LANGUAGES[language]
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(asset("page.html"))
    return template.render(
        kinds=kinds,
        kind=kind,
        words=words(name),
        language=TAGS[name],
        study_language=TAGS.get(study_language, ""),
    )


@cache
def words(language: str) -> dict[str, Any]:
    """Return the page's words in one language."""
    import yaml  # type: ignore[import-untyped, unused-ignore]

    file = files("harness.grade").joinpath("words", f"{language}.yaml")
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return found


@cache
def asset(name: str) -> str:
    """Return a file of the page."""
    return files("harness.grade").joinpath("assets", name).read_text(encoding="utf-8")
