"""A metric is one function and one line in `METRICS`: a new one runs from evaluate to report."""

import inspect
from pathlib import Path

import pandas as pd
import pytest

from harness.metrics import METRICS, Metric, MetricValue, entailed, share
from harness.records import Labels, Layer
from tests.conftest import Command
from tests.metrics import test_every_metric as contract
from tests.written import article


def question_marks(response_text: str) -> MetricValue:
    """Share of the response's sentences that are questions."""
    sentences = [part for part in response_text.replace("？", "？。").split("。") if part]
    if not sentences:
        return MetricValue(0.0)
    return MetricValue(sum(part.endswith("？") for part in sentences) / len(sentences))


def first_passage_useful(passage_useful: Labels) -> MetricValue:
    """1 where the first passage is useful, else 0."""
    return share(entailed(passage_useful[:1]))


NEW = {
    "question_marks": Metric(question_marks, Layer.GENERATION, higher_is_better=False),
    "first_passage_useful": Metric(first_passage_useful, Layer.RETRIEVAL),
}


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the lines to the table."""
    for name, metric in NEW.items():
        monkeypatch.setitem(METRICS, name, metric)


@pytest.mark.parametrize("metric", NEW.values(), ids=list(NEW))
def test_the_contract_holds(metric: Metric) -> None:
    """Every test of the contract passes on a new entry, with a judge and without."""
    tests = [one for name, one in vars(contract).items() if name.startswith("test_")]
    for test in tests:
        parameters = inspect.signature(test).parameters
        for axis in contract.SIZES if "axis" in parameters else (None,):
            if "metric" in parameters:
                test(**{"metric": metric} | ({"axis": axis} if axis else {}))


def test_it_is_evaluated_and_reported(added: None, command: Command, tmp_path: Path) -> None:
    """Its scores are in `scores.parquet`; means, differences and description in the report."""
    folder = tmp_path / "runs" / "written"
    article(folder, questions=3, variants=("text_k4", "ctx_k9", "ctx_k9_strict"))
    words = [f"root={folder.parent}", "study.name=written", "judge=overlap"]

    done = command("evaluate", *words, f"metrics=[{','.join(NEW)}]")
    assert done.returncode == 0, done.stderr
    reported = command("report", *words)
    assert reported.returncode == 0, reported.stderr

    scores = pd.read_parquet(folder / "ctx_k9" / "scores.parquet").set_index("metric")
    assert set(scores.index) == set(NEW)
    assert (scores["status"] == "ok").all()
    means = pd.read_csv(folder / "report" / "means.csv")
    assert set(NEW) <= set(means["metric"])
    assert set(NEW) <= set(pd.read_csv(folder / "report" / "contrasts.csv")["metric"])
    report = (folder / "report" / "report.md").read_text(encoding="utf-8")
    for metric in NEW.values():
        assert metric.about in report
