"""A study loaded from its folder and analysed, as report and later commands share it."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.config.composition import Composition
from harness.config.paths import study_path
from harness.config.schema import Report, Study
from harness.errors import ConfigError, pick
from harness.records import Question
from harness.store import Run, chosen_runs
from harness.studies.study_tables import comparable, study_tables

if TYPE_CHECKING:
    from harness.analysis import Analysis, Options, Primary, RunFacts, StudyTable

log = logging.getLogger(__name__)

CLUSTERS = ("question", "document")
"""The units that are resampled."""


@dataclass(frozen=True, slots=True)
class LoadedStudy:
    """The runs of a study that can be compared, and their analysis."""

    runs: Sequence[Run]
    analysis: "Analysis"


def load_study(settings: Report, how: Composition) -> LoadedStudy:
    """Return the study that the settings choose, read from its folder and analysed."""
    from harness.analysis import analyse, judged_by_several

    runs = comparable(chosen_runs(study_path(settings), settings.runs))
    tables = study_tables(runs, settings, how)
    table = tables[settings.judge.label]
    options = read_options(settings, runs, table)
    return LoadedStudy(runs, judged_by_several(analyse(table, options), tables, options))


def read_options(settings: Report, runs: Sequence[Run], table: "StudyTable") -> "Options":
    """Return the options of the analysis, each name checked."""
    from harness.analysis import Options
    from harness.analysis.changes import Design

    if settings.baseline is not None:
        pick({run.name: run for run in table.runs}, settings.baseline, "baseline")
    if settings.factor is not None:
        changes = Design(table.runs).changes.values()
        factors = {change.factor: change for found in changes for change in found}
        pick(factors, settings.factor, "factor")
    return Options(
        baseline=settings.baseline,
        factor=settings.factor,
        primary=confirmatory_tests(runs, table.runs, settings.study),
        clusters=clusters(settings.cluster, table),
    )


def clusters(unit: str, table: "StudyTable") -> dict[str, str]:
    """Return question id -> the document it is resampled with; empty if questions are the unit."""
    pick(dict.fromkeys(CLUSTERS), unit, "cluster")
    if unit == "question":
        return {}
    documents = documents_of(table.questions)
    if not documents:
        raise ConfigError(
            "cluster=document: no question says which document its answer is in; "
            "give 'evidence' in the test set"
        )
    if without := [question.id for question in table.questions if question.id not in documents]:
        log.warning(
            "cluster=document: without evidence, so alone: %s",
            ", ".join(without),
        )
    return documents


def documents_of(questions: Sequence[Question]) -> dict[str, str]:
    """Return question id -> the document of its first evidence; no entry without evidence."""
    return {q.id: q.evidence[0].document for q in questions if q.evidence}


def confirmatory_tests(
    runs: Sequence[Run], facts: Sequence["RunFacts"], study: Study
) -> tuple["Primary", ...]:
    """Return the tests that were declared before all runs they compare were collected.

    Other tests are exploratory. A test that a run has on record counts even if the study no
    longer names it: a declaration cannot be withdrawn once the result is known.
    """
    from harness.analysis import Primary
    from harness.analysis.changes import Design

    records = {run.name: run.facts() for run in runs}
    declared = {
        name: [Primary(**test) for test in record["study"].get("primary", [])]
        for name, record in records.items()
    }
    tests = [Primary(test.factor, test.metric) for test in study.primary]
    tests += [test for recorded in declared.values() for test in recorded]
    compared: dict[str, set[str]] = defaultdict(set)
    for pair, change in Design(facts).contrasts if tests else ():
        compared[change.factor] |= {facts[at].name for at in pair}
    confirmatory = []
    for test in dict.fromkeys(tests):
        late = [n for n in records if n in compared[test.factor] and test not in declared[n]]
        if late:
            log.warning(
                "%s of %s is exploratory: it was declared after %s was collected (%s)",
                test.metric, test.factor, late[0], records[late[0]]["started"],
            )  # fmt: skip
        else:
            confirmatory.append(test)
    return tuple(confirmatory)
