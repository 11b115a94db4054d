"""Collect, evaluate and report every variant that a study lists.

python -m harness.study study=demo
python -m harness.study study=demo chat=openai variant.chat.model=...
"""

import re
import shlex
import sys
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from harness.config.command import stage

if TYPE_CHECKING:
    from harness.config.composition import Composition
    from harness.config.schema import StudyRun
    from harness.store import Run


@stage("study")
def main(settings: "StudyRun", how: "Composition") -> None:
    """Collect, evaluate and report the whole study."""
    from harness.collect.collection import collect, from_cache
    from harness.config.command import progress
    from harness.config.composition import compose
    from harness.errors import ConfigError, DamagedRunError
    from harness.evaluate.evaluation import evaluate, read_request
    from harness.evaluate.summary import check_unread, summary
    from harness.judge import language
    from harness.report.writing import report
    from harness.studies.loaded_study import report_language
    from harness.studies.sound_runs import SoundRuns

    if not settings.study.variants:
        raise ConfigError(f"study '{how.choices['study']}' lists no variants; see study.variants")
    # Settings of the later stages are checked before anything is asked.
    planned = [
        compose("collect", [f"variant={name}", *overrides, *words_for("collect", how)])
        for name, *overrides in map(shlex.split, settings.study.variants)
    ]
    evaluating, evaluate_how = compose("evaluate", words_for("evaluate", how))
    reporting, report_how = compose("report", words_for("report", how))
    read_request(evaluating.metrics, evaluating.judge)
    report_language(reporting.language, language(reporting.study.language))
    runs: dict[str, Run] = {}
    damaged = 0
    for collected, choices in planned:
        name = choices.choices["variant"]
        with progress(f"collect {name}") as advance:
            try:
                run = collect(collected, choices, advance)
            except DamagedRunError as error:
                print(f"error: {error}", file=sys.stderr)
                damaged += 1
                continue
        again = " again: the study lists it twice" if run.name in runs else ""
        print(f"collected {run.name}{again}{from_cache(run.facts())}", flush=True)
        runs[run.name] = run
    chosen = SoundRuns(list(runs.values()), damaged)
    if not runs:
        chosen.check()
    with progress("evaluate") as advance:
        done = evaluate(replace(evaluating, runs=list(runs)), evaluate_how, advance)
    print(summary(done), flush=True)
    check_unread(done, settings.most_unread)
    report(replace(reporting, runs=list(runs)), report_how)
    chosen.check()


def words_for(stage_name: str, how: "Composition") -> list[str]:
    """Return the words of the command line that this stage has a setting for."""
    from harness.config.schema import STAGES

    known = {field.name for field in fields(STAGES[stage_name])} | set(how.choices)
    return [word for word in how.overrides if re.split("[=@.]", word.lstrip("+~"))[0] in known]


if __name__ == "__main__":
    main()
