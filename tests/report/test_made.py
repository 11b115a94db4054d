"""What judging took, as the page tells it beside what shaped the judge."""

from pathlib import Path

from harness.report.browser_page import judge_of
from harness.store import Run


def test_repairs_and_requests_are_counted_per_judge_and_once_an_evaluation(tmp_path: Path) -> None:
    """Cases C10, H07: a record covers both runs and lies beside each; another judge's is out."""
    first = {
        "judge": "m", "ended": "2026-11-30T10:00:00+00:00", "runs": ["a", "b"],
        "calls": {"asked": 7, "sent": 9, "remembered": 2}, "repairs": {"replies": 3, "fresh": 3},
    }  # fmt: skip
    later = {**first, "ended": "2026-11-30T11:00:00+00:00", "runs": ["b"], "repairs": {}}
    other = {**first, "judge": "n"}
    runs = [Run(tmp_path / name) for name in "ab"]
    for run, records in zip(runs, ([first, other], [first, later]), strict=True):
        run.path.mkdir()
        for record in records:
            run.log_evaluation(record)

    told = judge_of(runs, "m")

    assert told["evaluations"] == "2"
    assert (told["calls.asked"], told["calls.sent"]) == ("14", "18")
    assert told["repairs.replies"] == "3"
