"""The runs of a study that can be read; damaged ones are named and left out."""

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.config.composition import Composition
from harness.errors import DamagedRunError, RunError
from harness.store import Run, chosen_runs, unfinished_runs

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SoundRuns:
    """The runs that a command works on."""

    runs: Sequence[Run]
    left_out: int = 0
    """How many others were chosen and cannot be read."""

    def check(self) -> None:
        """Raise RunError where runs were left out, at the end of a command that did the rest."""
        if self.left_out:
            raise RunError(
                f"{self.left_out} of {self.left_out + len(self.runs)} runs left out (see above)"
            )


def sound_runs(
    folder: Path, names: Sequence[str], how: Composition, again: bool = False
) -> SoundRuns:
    """Return the finished runs of these names, or all, without those that cannot be read.

    Each of those is printed in one line with the command that repairs it. Raises RunError if no
    run is left.

    Args:
        folder: The study's folder.
        names: Names of runs; all of the study without any.
        how: What the settings were composed of, for the command.
        again: Whether labels and scores that cannot be read are removed, to be made again.
    """
    chosen, runs, lines = chosen_runs(folder, names, how.study_words), [], []
    for run in [] if names else unfinished_runs(folder):
        log.warning(
            "%s is unfinished and left out; give the command that collected it again to resume",
            run.name,
        )
    for run in chosen:
        error = run.damage()
        of_evaluation = isinstance(error, DamagedRunError) and error.of_evaluation
        if error is not None and of_evaluation and again:
            log.warning("%s; its labels and scores are made again", error)
            run.forget_evaluation()
            error = None
        if error is None:
            runs.append(run)
        elif of_evaluation:
            command = how.command("evaluate", f"'runs=[{run.name}]'", "again=true")
            lines.append(f"{error}: {command}")
        else:
            lines.append(str(error))
    if not runs:
        raise RunError("; ".join(lines))
    for line in lines:
        print(f"error: {line}", file=sys.stderr)
    return SoundRuns(runs, len(lines))
