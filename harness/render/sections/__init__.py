"""The sections of a report, each made once for every form of output."""

from collections.abc import Mapping

from harness.analysis.results import Analysis
from harness.records import Question
from harness.render.blocks import Section
from harness.render.sections.answer import answer
from harness.render.sections.averages import averages, definitions, retrieval
from harness.render.sections.basis import StudyFacts, basis
from harness.render.sections.finding_sentences import findings
from harness.render.sections.metric_trust import metric_trust, suspects, wrong_captions
from harness.render.sections.one_factor import one_factor
from harness.render.sections.right_wrong import right_wrong
from harness.render.sections.several_judges import several_judges
from harness.render.sections.several_runs import counterfactuals, interactions, pairs, sweeps
from harness.render.sections.what_next import what_next
from harness.render.vocabulary import Words


def report_sections(
    analysis: Analysis,
    facts: StudyFacts,
    words: Words,
    brief: bool = False,
    questions: Mapping[str, Question] | None = None,
) -> tuple[Section, ...]:
    """Return the sections of a report.

    In brief the findings come late, near the prompt of the terminal, and leave out what a section
    above them says; in full they come first. What to do next is always last.

    Args:
        analysis: What the report says.
        facts: What it says of its study.
        words: Its language.
        brief: For a terminal.
        questions: By id, for a report that shows each question's answers.
    """
    tables: list[Section | None] = [
        right_wrong(analysis, words, brief, questions),
        averages(analysis, words, brief),
        metric_trust(analysis, facts, words, brief),
        several_judges(analysis, words, brief),
        one_factor(analysis, words, brief),
        sweeps(analysis, words, brief),
    ]
    crossed = counterfactuals(analysis, words, brief)
    between = pairs(analysis, words, brief)
    listed = findings(analysis, words, brief)
    if brief:
        tables += [crossed, between, listed]
    else:
        tables = [listed, *tables, between, crossed, interactions(analysis, words)]
        tables += [retrieval(analysis, words), suspects(analysis, words)]
        tables.append(definitions(analysis, words))
    tables.append(wrong_captions(facts.wrong_captions, words))
    tables.append(what_next(analysis, facts, words, brief))
    first = (answer(analysis, facts, words, brief), basis(analysis, facts, words, brief))
    return (*first, *(part for part in tables if part is not None))
