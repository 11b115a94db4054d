"""The report as one HTML document."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from harness.analysis.results import Analysis
from harness.render.blocks import Block, Heading, Place, Section, Table
from harness.render.html.baselines import baseline_view, choices
from harness.render.html.page_details import Details, how_made
from harness.render.html.plots import across, distributions, sweep_plots
from harness.render.html.questions import details_shown, longest_passage, question_views
from harness.render.notation import plain, quantity
from harness.render.sections import report_sections
from harness.render.sections.basis import StudyFacts
from harness.render.sections.right_wrong import SIGN_NAMES
from harness.render.vocabulary import IN_FULL, LANGUAGES, Words, language_tag, words

if TYPE_CHECKING:
    from jinja2 import Environment

ORDER = (
    *("right_wrong", "against", "findings", "contrasts", "curves", "interactions"),
    *("counterfactuals", "pairs", "means", "retrieval", "trust", "judges", "suspects"),
    *("wrong_captions", "questions", "basis", "made", "reading", "next"),
)
"""The sections in the order of a reader's questions."""

CLOSEST = {"contrast": "contrasts", "metric": "means", "question": "right_wrong"}
"""What a place is about -> the section to link to where the page does not have that place."""


def html_page(analysis: Analysis, facts: StudyFacts, details: Details, language: str = "en") -> str:
    """Return the page; KeyError for a language that `LANGUAGES` does not hold.

    Style, script and pictures are part of the one text. It makes no request, and all but
    the comparison with a chosen baseline reads without its script.
    """
    said = with_arrows(words(language, IN_FULL))
    opening, *sections = sections_of(analysis, facts, details, said)
    shown = details_shown(analysis, details)
    views = tuple(question_views(analysis, shown, said))
    compared = baseline_view(analysis, details, said)
    style, script = source("style.css"), source("script.js")
    page = PageIds(sections, {view["id"]: view["place"] for view in views})
    return (
        environment()
        .get_template("page.html.jinja")
        .render(
            words=said,
            t=said.on_page,
            language=language_tag(LANGUAGES[language]),
            facts=facts,
            opening=opening,
            sections=sections,
            page=page,
            plotted_at=plots_of(analysis, details, said),
            sign_names=SIGN_NAMES,
            views=views,
            question_numbers={name: at for at, name in enumerate(analysis.outcomes.questions)},
            runs=tuple(run.name for run in analysis.runs),
            cut=longest_passage(shown),
            compared=compared,
            choices=choices(compared, said),
            pictures=details.pictures,
            numbered={picture.source: at for at, picture in enumerate(details.pictures, 1)},
            figures={picture.figure: picture for picture in details.pictures},
            style=style,
            script=script,
            style_hash=allowed(style),
            script_hash=allowed(script),
        )
    )


def sections_of(
    analysis: Analysis, facts: StudyFacts, details: Details, words: Words
) -> list[Section]:
    """Return the opening, then the sections of every report and those of the page alone."""
    questions = {question.id: question for question in details.questions}
    opening, *sections = report_sections(analysis, facts, words, questions=questions)
    sections += [
        Section("questions", words.on_page("every_question"), ()),
        how_made(details, words),
    ]
    if len(analysis.runs) > 1:
        sections.append(Section("against", words.on_page("against"), ()))
    return [opening, *sorted(sections, key=lambda section: ORDER.index(section.key))]


def with_arrows(words: Words) -> Words:
    """Return the words with a drawn arrow for the typed one, which breaks over lines."""
    texts = json.dumps(words.texts, ensure_ascii=False).replace(" -> ", " → ")
    return replace(words, texts=json.loads(texts))


class PageIds:
    """The ids of a page: what the sections are about gets one; texts of others are in none."""

    def __init__(self, sections: Sequence[Section], questions: Mapping[str, str]) -> None:
        self.ids: dict[Place, str] = {("section", one.key): one.key for one in sections}
        self.ids |= {("question", name): place for name, place in questions.items()}
        counts: Counter[str] = Counter()
        for place in dict.fromkeys(place for section in sections for place in places_in(section)):
            counts[place[0]] += 1
            self.ids[place] = f"{place[0]}-{counts[place[0]]}"

    def link(self, place: Place) -> str:
        """Return the id that a place can be linked by; empty where the page has none."""
        return self.ids.get(place, "")

    def closest(self, place: Place) -> str:
        """Return the id of a place, or of the section closest to it."""
        if not place or place in self.ids:
            return self.link(place)
        section = CLOSEST.get(place[0], "findings")
        return self.link(("section", section)) or "findings"


def places_in(section: Section) -> Iterator[Place]:
    """Yield what the headings and rows of a section are about."""
    for block in section.blocks:
        if isinstance(block, Table):
            yield from block.places
        elif isinstance(block, Heading) and block.place:
            yield block.place


def by_heading(blocks: Sequence[Block]) -> list[tuple[Heading | None, list[Block]]]:
    """Return the blocks under their headings; those before the first heading have none."""
    found: list[tuple[Heading | None, list[Block]]] = [(None, [])]
    for block in blocks:
        if isinstance(block, Heading):
            found.append((block, []))
        else:
            found[-1][1].append(block)
    return found if found[0][1] else found[1:]


def plots_of(analysis: Analysis, details: Details, words: Words) -> dict[Place, list[Any]]:
    """Return what is drawn at the head of a section, or under a heading."""
    plots: dict[Place, list[Any]] = {
        ("sweep", curve.factor): list(sweep_plots(analysis, curve, words))
        for curve in analysis.curves
    }
    plots["section", "trust"] = list(distributions(analysis, details.scores, words))
    return {place: found for place, found in plots.items() if found}


def unbroken(text: str) -> str:
    """Return a text in which a browser breaks no interval over lines.

    >>> unbroken("0.5 [0.4, 0.6] (8/8)")
    '0.5 [0.4,\xa00.6] (8/8)'
    """
    return re.sub(r"(?<=,) (?=[^\[\]]*\])", "\N{NO-BREAK SPACE}", text)


@cache
def environment() -> "Environment":
    """Return the templates; every value is escaped, and control characters are replaced.

    A slot that the page does not fill is an error, never an empty string.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def harmless(value: Any) -> Any:
        text = isinstance(value, str) and not isinstance(value, Markup)
        return plain(value) if text else value

    templates = Environment(
        loader=PackageLoader("harness.render.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    filters = {"quantity": quantity, "across": across, "by_heading": by_heading}
    templates.filters |= {**filters, "unbroken": unbroken}
    return templates


def source(name: str) -> str:
    """Return the text of the style or the script."""
    loader = environment().loader
    assert loader is not None
    return loader.get_source(environment(), name)[0]


def allowed(text: str) -> str:
    """Return the hash under which a browser lets this style or script act, and no other."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
