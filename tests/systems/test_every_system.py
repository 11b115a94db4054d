"""What holds for every system of the table, and the row of the table as a user follows it."""

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hydra.core.global_hydra import GlobalHydra

from harness.collect.collection import ask_question
from harness.config.composition import compose, prepare
from harness.config.conf import ConfFiles
from harness.config.factors import factors_of
from harness.llm import Calls
from harness.records import Answer, Passage, Query, Question
from harness.systems import SYSTEMS, Bench, Provenance, System
from harness.systems.system import DirectAnswerer
from tests.conftest import Command, Study

FULL = "塔高27公尺，射程18浬。燈塔於1931年啟用。霧日最多為四月。"


@dataclass
class HttpApp(System):
    """An application that answers `POST {question, mode}`: the whole of what a user writes."""

    url: str = field(default="", metadata={"factor": False})
    mode: str = "full"

    def answer(self, query: Query) -> Answer:
        """Return what the application answers, with the passages it says it read."""
        body = json.dumps({"question": query.text, "mode": self.mode}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as reply:
            said = json.load(reply)
        passages = (Passage(f"app#{n}", "app", None, "text", t) for n, t in enumerate(said["read"]))
        return Answer(said["answer"], tuple(passages))


class Server(BaseHTTPRequestHandler):
    """Answers in full, or with a shrug."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = FULL if asked["mode"] == "full" else "不清楚。"
        body = json.dumps({"answer": answer, "read": [FULL]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """An application on loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/ask"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def hydra() -> Iterator[None]:
    """Leave no composition behind."""
    yield
    GlobalHydra.instance().clear()


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in the table."""
    monkeypatch.setitem(SYSTEMS, "app", HttpApp)


VARIANT = """# @package _global_
defaults:
  - override /system: app
variant:
  url: {url}
  mode: {mode}
"""


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("name", [*SYSTEMS, "app"])
def test_every_system_answers_and_reports_on_itself(
    name: str, study: Study, url: str, tmp_path: Path
) -> None:
    """It opens with its settings alone, answers, and what it says of itself fits into JSON."""
    prepare()
    own = [f"variant.url={url}"] if name == "app" else ["variant.corpus=${study.corpus}"]
    words = [word for word in study.words if not word.startswith("variant.")]
    settings, how = compose("collect", [*words, f"system={name}", *own])
    system = settings.variant
    with closing(Calls(tmp_path)) as calls, system.open(Bench(calls, tmp_path)) as answerer:
        answer = answerer.answer(Query("q1", "塔高多少公尺？", 0))
        record = answerer.provenance.record()

    assert answer.text
    assert all(isinstance(passage, Passage) for passage in answer.passages)
    assert Provenance.from_record(json.loads(json.dumps(record))).record() == record
    assert system.concurrency >= 1
    assert all(isinstance(digest, str) for digest in system.documents().values())
    factors = factors_of(system, how.choices, None)
    assert json.loads(json.dumps(factors.leaves)) == factors.leaves
    assert system.inactive() <= {*factors.leaves, *factors.choices}


def test_a_system_without_its_method_is_named() -> None:
    """A class that defines neither `answer` nor `open` says so when it is asked."""
    with pytest.raises(NotImplementedError, match="System defines neither answer nor open"):
        System().answer(Query("q1", "?", 0))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (None, "the system returned NoneType; return Answer(text, passages), of harness.records"),
        (FULL, "the system returned str; return Answer(text, passages), of harness.records"),
        (Answer(None, ()), "the answer's text is NoneType, not str; return Answer("),  # type: ignore[arg-type]
        (Answer("", (FULL,)), "not every passage of the answer is a Passage; return"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_answer_is_a_failure(
    given: Any, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row says what the system returned and what it must; it does not count as answered."""
    monkeypatch.setattr(HttpApp, "answer", lambda self, query: given)

    row = ask_question(DirectAnswerer(HttpApp()), (Question("q1", "?", FULL, "text"), 0))

    assert row.response is None
    assert (row.error or "").startswith(error)


@pytest.mark.usefixtures("app")
@pytest.mark.slow
def test_an_application_from_configuration_to_report(
    command: Command,
    study: Study,
    conf: Path,
    url: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two variants of an app differ in one setting: the report finds the contrast and a verdict.

    The study is one of RAG variants. What it sets for them is not used, and one line says so.
    """
    monkeypatch.setattr(ConfFiles, "_warned", set())
    for mode in ("full", "none"):
        text = VARIANT.format(url=url, mode=mode)
        (conf / "variant" / f"app_{mode}.yaml").write_text(text, encoding="utf-8")
    words = [word for word in study.words if not word.startswith("variant.")]

    done = command("study", *words, "study.variants=[app_full,app_none]")

    assert done.returncode == 0, done.stderr
    record = json.loads((study.run("app_full") / "run.json").read_text(encoding="utf-8"))
    assert record["factors"]["choices"] == {"system": "app"}
    assert record["factors"]["leaves"] == {"mode": "full"}
    assert record["configuration"] == {"url": url, "mode": "full"}
    assert record["made_with"] == {"models": {}, "notes": []}
    contrasts = pd.read_csv(study.folder / "runs/small/report/contrasts.csv")
    assert set(contrasts["factor"]) == {"mode"}
    findings = json.loads((study.folder / "runs/small/report/findings.json").read_text("utf-8"))
    assert any(finding["factor"] == "mode" for finding in findings)
    lines = [record.message for record in caplog.records]
    assert lines == ["study=demo_baseline sets captioner, chat, embedder: not used by system=app"]


@pytest.mark.usefixtures("app")
@pytest.mark.slow
def test_an_application_beside_rag_in_one_study(
    command: Command, study: Study, conf: Path, url: str
) -> None:
    """Both are reported; an app that names no documents is not compared with one that has them."""
    text = VARIANT.format(url=url, mode="full")
    (conf / "variant/app_full.yaml").write_text(text, encoding="utf-8")
    words = [word for word in study.words if not word.startswith("variant.")]

    done = command("study", *words, "study.variants=[text_k4,app_full]")

    assert done.returncode == 0, done.stderr
    report = study.folder / "runs/small/report"
    assert pd.read_csv(report / "contrasts.csv").empty
    findings = json.loads((report / "findings.json").read_text(encoding="utf-8"))
    assert "not_comparable" in {finding["kind"] for finding in findings}


@pytest.mark.usefixtures("app")
@pytest.mark.slow
def test_a_sweep_over_variants_of_two_systems(
    command: Command, study: Study, conf: Path, url: str
) -> None:
    """Each job is composed with the groups of its own system."""
    text = VARIANT.format(url=url, mode="full")
    (conf / "variant/app_full.yaml").write_text(text, encoding="utf-8")
    words = [word for word in study.words if not word.startswith("variant.")]

    done = command("collect", "-m", "variant=app_full,text_k4", *words, "limit=1")

    assert done.returncode == 0, done.stderr
    kinds = {
        name: json.loads((study.run(name) / "run.json").read_text(encoding="utf-8"))["choices"]
        for name in ("app_full", "text_k4")
    }
    assert kinds["app_full"]["system"] == "app"
    assert "chat" not in kinds["app_full"]
    assert kinds["text_k4"]["chat"] == "extractive"
