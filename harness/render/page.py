"""The report as sections, in the order in which each kind of page shows them."""

from harness.analysis.results import Analysis
from harness.render.blocks import Section
from harness.render.contrasts import contrasts
from harness.render.counterfactuals import counterfactuals
from harness.render.curves import curves
from harness.render.details import reading, retrieval, suspects
from harness.render.facts import StudyFacts
from harness.render.found import found
from harness.render.interactions import interactions
from harness.render.judges import judges
from harness.render.means import means
from harness.render.opening import opening
from harness.render.pairs import pairs
from harness.render.right_wrong import right_wrong
from harness.render.trust import trust
from harness.render.wording import Words


def page(
    analysis: Analysis, facts: StudyFacts, words: Words, brief: bool = False
) -> tuple[Section, ...]:
    """Return the sections of a report.

    In brief the findings stand last, next to the prompt of the terminal, and leave out what a
    section above them said; in full they stand first.
    """
    findings = found(analysis, words, brief)
    tables: list[Section | None] = [
        right_wrong(analysis, words, brief),
        means(analysis, words, brief),
        trust(analysis, words, brief),
        judges(analysis, words, brief),
        contrasts(analysis, words, brief),
        curves(analysis, words, brief),
    ]
    crossed = counterfactuals(analysis, facts, words, brief)
    between = pairs(analysis, facts, words, brief)
    if brief:
        tables += [crossed, between, findings]
    else:
        tables = [findings, *tables, between]
        tables += [
            crossed,
            interactions(analysis, words),
            retrieval(analysis, words),
            suspects(analysis, words),
            reading(analysis, words),
        ]
    return (opening(analysis, facts, words, brief), *(part for part in tables if part is not None))
