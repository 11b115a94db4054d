"""Tests that a study declares before it collects, so that no result can choose them."""

import difflib
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.config import Declared, Factors, Study
from harness.config.entry import choices_of
from harness.errors import pick
from harness.metrics import METRICS
from harness.store import Run

if TYPE_CHECKING:
    from harness.analysis import Primary, RunFacts

log = logging.getLogger(__name__)


def check_declared(study: Study, factors: Factors) -> None:
    """Raise where a declared test names no metric; warn where this variant has no such factor.

    Another variant of the study may have it, but most often a name is mistyped, and after
    collecting it is too late to mend.
    """
    if not study.primary:
        return
    from harness.analysis import GOLD_METRICS, RIGHT

    metrics = (RIGHT, *METRICS, *(facts.name for facts in GOLD_METRICS), *choices_of("check"))
    names = (*factors.choices, *factors.leaves, "version")
    for test in study.primary:
        pick(dict.fromkeys(metrics), test.metric, "metric")
        if test.factor not in names:
            near = difflib.get_close_matches(test.factor, names, n=1)
            guess = f"; did you mean '{near[0]}'?" if near else ""
            log.warning("study.primary: this variant has no factor '%s'%s", test.factor, guess)


def declared_before(run: Run, study: Study) -> list[Declared]:
    """Return the tests that were declared when a run's first answers were collected already."""
    recorded = run.facts()["study"].get("primary", [])
    return [test for test in study.primary if asdict(test) in recorded]


def confirmed(
    runs: Sequence[Run], facts: Sequence["RunFacts"], study: Study
) -> tuple["Primary", ...]:
    """Return the tests that every run they rest on was collected after; others are exploratory.

    A test that a run has on record counts even if the study does not name it any more: nobody
    takes back what was declared, having seen the result.
    """
    from harness.analysis import Primary
    from harness.analysis.factors import Design

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
