"""Run folders on disk: only this room reads and writes the tables of a run."""

from harness.store.run import Run, chosen_runs, finished_runs, unfinished_runs
