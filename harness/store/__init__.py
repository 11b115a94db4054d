"""Run folders on disk: this room alone opens the tables of a run."""

from harness.store.changed import Changed
from harness.store.run import Run, chosen_runs, finished_runs
from harness.store.standing import by_response
from harness.store.tables import write_whole

__all__ = ["Changed", "Run", "by_response", "chosen_runs", "finished_runs", "write_whole"]
