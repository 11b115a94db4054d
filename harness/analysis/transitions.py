"""Evidence there or not, answer right or not, on either side of a contrast."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from harness.analysis.ranks import gold_flags
from harness.analysis.results import Transition
from harness.analysis.tables import StudyTable

Evidence = Mapping[tuple[str, str], bool]
"""(run, question id) -> whether any gold evidence was retrieved."""


def evidence_retrieved(study: StudyTable) -> dict[tuple[str, str], bool]:
    """Say where some of the gold evidence came back, in any repeat."""
    found: dict[tuple[str, str], bool] = {}
    for run in study.runs:
        for (question, _), flags in gold_flags(study, run.name).items():
            found[run.name, question] = found.get((run.name, question), False) or any(flags)
    return found


def transitions(
    study: StudyTable, evidence: Evidence, left: int, right: int
) -> tuple[Transition, ...]:
    """Table what happened to evidence and answers between two runs.

    Only questions count for which both facts are known on both sides; of repeats, most must be
    right.
    """
    cells: dict[tuple[bool, bool, bool, bool], list[str]] = defaultdict(list)
    for at, question in enumerate(study.questions):
        facts: list[bool] = []
        for run in (left, right):
            retrieved = evidence.get((study.runs[run].name, question.id))
            value = study.right.values[run, at]
            if retrieved is None or np.isnan(value):
                break
            facts += [retrieved, bool(value > 0.5)]
        else:
            cells[facts[0], facts[1], facts[2], facts[3]].append(question.id)
    return tuple(Transition(*facts, tuple(ids)) for facts, ids in sorted(cells.items()))
