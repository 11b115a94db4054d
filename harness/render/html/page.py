"""The report as one HTML document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.analysis import Analysis, Severity
from harness.records import Layer
from harness.render.blocks import Block, Heading, Items, Section
from harness.render.contrasts import family, in_short
from harness.render.counterfactuals import counterfactuals
from harness.render.curves import points
from harness.render.details import reading, retrieval, suspects
from harness.render.facts import StudyFacts
from harness.render.found import SENTENCES, TITLES, merged
from harness.render.html.answers import CLAIMS
from harness.render.html.averages import average_rows, passages_returned
from harness.render.html.curves import by_question, pictures
from harness.render.html.details import Details
from harness.render.html.environment import allowed, environment, source
from harness.render.html.forest import IN_FULL, contrast_parts
from harness.render.html.grid import grid_rows, grid_totals
from harness.render.html.links import Link, Places, places_of
from harness.render.html.making import corpus_of, recorded, settings, spending, versions
from harness.render.html.questions import asked, room_for
from harness.render.html.spread import spreads
from harness.render.interactions import interactions
from harness.render.judges import judges
from harness.render.kinds import kinds_of
from harness.render.means import corrected, notes, unscored
from harness.render.missing import missing
from harness.render.opening import answered, graded, graded_by, judged, opening
from harness.render.pairs import pairs
from harness.render.right_wrong import told
from harness.render.sentences import sentence
from harness.render.trust import trust
from harness.render.wording import Words, words

LISTED = 40
"""Names of a list that are written out."""

CODES = {"zh_hant": "zh-Hant", "zh_hans": "zh-Hant"}
"""Language -> what a browser calls the language of the page's words."""

LEARNT = (Severity.ERROR, Severity.FINDING)
CAUTIONS = (Severity.WARNING, Severity.NOTE)


@dataclass(frozen=True, slots=True)
class Said:
    """One finding as a sentence, and where on the page it can be checked."""

    text: str
    place: str
    further: tuple[Link, ...]
    """The questions that it names."""


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one severity."""

    severity: str
    title: str
    said: tuple[Said, ...]
    more: str
    """How many are left out; empty where none is."""


def html_page(analysis: Analysis, facts: StudyFacts, details: Details, language: str = "en") -> str:
    """Return the page; KeyError for a language that `LANGUAGES` does not hold.

    Everything stands in the one text: style, script and pictures. It asks no network, and reads
    without its script.
    """
    said = arrowed(words(language, LISTED))
    style, script = source("style.css"), source("script.js")
    template = environment().get_template("page.html.jinja")
    return template.render(
        words=said,
        t=translator(said),
        language=CODES.get(language, language),
        facts=facts,
        details=details,
        analysis=analysis,
        style=style,
        script=script,
        style_hash=allowed(style),
        script_hash=allowed(script),
        **parts(analysis, facts, details, said),
    )


def arrowed(words: Words) -> Words:
    """Return the words with a drawn arrow for the one that is typed, which breaks over lines."""

    def drawn(texts: Any) -> Any:
        if isinstance(texts, str):
            return texts.replace(" -> ", " → ")
        return {key: drawn(text) for key, text in texts.items()}

    return replace(words, texts=drawn(words.texts))


def parts(analysis: Analysis, facts: StudyFacts, details: Details, words: Words) -> dict[str, Any]:
    """Return what the template shows, part by part."""
    others = others_of(analysis, facts, words)
    places = places_of(analysis, frozenset({*others, *PARTS}), IN_FULL)
    known = {question.id: question for question in details.questions}
    return {
        "runs": tuple(run.name for run in analysis.runs),
        **opening_of(analysis, facts, words),
        "learnt": tuple(groups(analysis, LEARNT, places, words)),
        "cautions": tuple(groups(analysis, CAUTIONS, places, words)),
        "family": tuple(family(analysis, words)),
        "contrasts": tuple(contrast_parts(analysis, words)),
        "rest": rest(analysis, words),
        "sweeps": tuple(sweeps(analysis, details, words)),
        "others": others,
        "grid": tuple(grid_rows(analysis, known)),
        "totals": grid_totals(analysis, words),
        "grid_said": tuple(told(analysis.outcomes, words)),
        **means(analysis, words),
        "trust": trust(analysis, words, brief=False),
        "metric_places": list(places.metrics.values()),
        "spreads": tuple(spreads(analysis, details.scores, words)),
        "asked": tuple(asked(analysis, details, words)),
        "cut": room_for(details),
        "pictures": {picture.source: at for at, picture in enumerate(details.pictures, 1)},
        "figures": {picture.figure: picture for picture in details.pictures},
        "claim_checks": CLAIMS,
        "differing": settings(details.made, words)[0],
        "same": settings(details.made, words)[1],
        "made_facts": recorded(details.made),
        "packages": versions(details.made),
        "corpus": corpus_of(details.made),
        "spent": spending(details.made),
        "reading": reading(analysis, words),
    }


PARTS = ("findings", "contrasts", "grid", "means", "trust", "warnings", "questions", "made")
"""The page's parts, in order."""


def opening_of(analysis: Analysis, facts: StudyFacts, words: Words) -> dict[str, Any]:
    """Return the head of the page; the judge's agreement with people stands with the trust."""
    judge, *agreements = judged(facts, words)
    measured = facts.agreement and agreements
    said = (
        graded(analysis, words),
        *graded_by(analysis, facts, words),
        judge,
        *(() if measured else agreements),
        *answered(analysis, facts, words),
    )
    blocks = opening(analysis, facts, words).blocks
    return {
        "opening": (*(one for one in blocks if not isinstance(one, Items)), Items(said)),
        "agreements": measured or (),
    }


def means(analysis: Analysis, words: Words) -> dict[str, Any]:
    """Return the tables of means, what is missing from them, and the costs."""
    quality = [m for m in analysis.means if m.layer is not Layer.COST]
    costs = [m for m in analysis.means if m.layer is Layer.COST]
    kinds = kinds_of(analysis)
    return {
        "quality": tuple(average_rows(quality, analysis, words)),
        "returned": passages_returned(quality, analysis, words),
        "mean_notes": (*unscored(quality, kinds, words), *notes(quality, analysis, words)),
        "missing": tuple(b for b in missing(quality, words) if not isinstance(b, Heading)),
        "corrected": tuple(corrected(quality, words)),
        "costs": tuple(average_rows(costs, analysis, words)),
        "cost_notes": tuple(unscored(costs, kinds, words)),
    }


def others_of(analysis: Analysis, facts: StudyFacts, words: Words) -> dict[str, Section]:
    """Return the sections that stand inside a part, by their key."""
    found: list[Section | None] = [
        interactions(analysis, words),
        counterfactuals(analysis, facts, words),
        pairs(analysis, facts, words, brief=False),
        retrieval(analysis, words),
        suspects(analysis, words),
        judges(analysis, words, brief=False),
    ]
    return {section.key: section for section in found if section is not None}


def groups(
    analysis: Analysis, severities: Sequence[Severity], places: Places, words: Words
) -> Iterator[Group]:
    """Yield the findings of these severities, strongest first."""
    every = merged(analysis.findings, words)
    for severity in severities:
        found = [finding for finding in every if finding.severity is severity]
        if not found:
            continue
        more = len(found) - SENTENCES
        yield Group(
            severity=severity.value,
            title=words.get("headings", TITLES[severity]),
            said=tuple(
                Said(
                    sentence(finding, words, analysis.family.alpha),
                    places.of(finding),
                    tuple(places.further(finding, len(analysis.questions))),
                )
                for finding in found[:SENTENCES]
            ),
            more=words.line("csv", more=more, file="findings.csv") if more > 0 else "",
        )


def rest(analysis: Analysis, words: Words) -> tuple[Block, ...]:
    """Return the contrasts that have no part of their own, a row each."""
    found = analysis.contrasts[IN_FULL:]
    return (in_short(found, words),) if found else ()


def sweeps(analysis: Analysis, details: Details, words: Words) -> Iterator[dict[str, Any]]:
    """Yield each sweep with its pictures and its table."""
    kinds = kinds_of(analysis)
    values = by_question(analysis, details.scores)
    for curve in analysis.curves:
        yield {
            "title": words.line("sweep", factor=curve.factor),
            "pictures": tuple(pictures(analysis, curve, values, words)),
            "table": points(curve, kinds, words, brief=False),
        }


def translator(words: Words) -> Any:
    """Return what the templates ask for the page's own words."""

    def told(key: str, **values: Any) -> str:
        return words.fill(str(words.texts["html"][key]), values, values)

    return told
