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
from harness.store import Run, chosen_runs
from harness.studies.study_tables import comparable, documents, study_tables

if TYPE_CHECKING:
    from harness.analysis import Analysis, Options, Primary, RunFacts, StudyTable

log = logging.getLogger(__name__)

CLUSTERS = ("question", "document")
"""What is sampled as a unit."""


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
    asked = options(settings, runs, table)
    return LoadedStudy(runs, judged_by_several(analyse(table, asked), tables, asked))


def options(settings: Report, runs: Sequence[Run], table: "StudyTable") -> "Options":
    """Return what the reader asks for, each name checked."""
    from harness.analysis import Options
    from harness.analysis.changes import Design

    if settings.baseline is not None:
        pick({run.name: run for run in table.runs}, settings.baseline, "baseline")
    if settings.factor is not None:
        changes = Design(table.runs).changes.values()
        differing = {change.factor: change for found in changes for change in found}
        pick(differing, settings.factor, "factor")
    return Options(
        baseline=settings.baseline,
        factor=settings.factor,
        primary=confirmed(runs, table.runs, settings.study),
        clusters=clusters(settings.cluster, table),
    )


def clusters(kind: str, table: "StudyTable") -> dict[str, str]:
    """Return question id -> the document it is drawn with; nothing where questions are drawn."""
    pick(dict.fromkeys(CLUSTERS), kind, "cluster")
    if kind == "question":
        return {}
    found = documents(table.questions)
    if not found:
        raise ConfigError(
            "cluster=document: no question says in which document its answer stands; "
            "give 'evidence' in the test set"
        )
    if without := [question.id for question in table.questions if question.id not in found]:
        log.warning("cluster=document: without evidence, so alone: %s", ", ".join(without))
    return found


def confirmed(
    runs: Sequence[Run], facts: Sequence["RunFacts"], study: Study
) -> tuple["Primary", ...]:
    """Return the tests that every run they rest on was collected after; others are exploratory.

    A test that a run has on record counts even if the study does not name it any more: nobody
    takes back what was declared, having seen the result.
    """
    from harness.analysis import Primary
    from harness.analysis.changes import Design

    records = {run.name: run.facts() for run in runs}
    declared = {
        name: [Primary(**test) for test in record["study"].get("primary", [])]
        for name, record in records.items()
    }
    wanted = [Primary(test.factor, test.metric) for test in study.primary]
    wanted += [test for tests in declared.values() for test in tests]
    resting: dict[str, set[str]] = defaultdict(set)
    for pair, change in Design(facts).contrasts if wanted else ():
        resting[change.factor] |= {facts[at].name for at in pair}
    found = []
    for test in dict.fromkeys(wanted):
        late = [n for n in records if n in resting[test.factor] and test not in declared[n]]
        if late:
            log.warning(
                "%s of %s is exploratory: it was declared after %s was collected (%s)",
                test.metric,
                test.factor,
                late[0],
                records[late[0]]["started"],
            )
        else:
            found.append(test)
    return tuple(found)
