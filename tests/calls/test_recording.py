"""A study's models are recorded, and the study replayed without them."""

import gzip
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from harness.llm import E5
from harness.store import Run
from tests.conftest import Command, Done, Study
from tests.stub_endpoint import Received, Reply, StubEndpoint

pytestmark = pytest.mark.slow


def answers(study: Study, root: str) -> list[tuple[str, list[dict[str, Any]], str]]:
    """Question, passages and answer of the one run below the root."""
    (path,) = (study.folder / root / "small").glob("*/responses.parquet")
    table = pq.read_table(path).to_pydict()
    return list(zip(table["question_id"], table["passages"], table["response"], strict=True))


def live(stub: StubEndpoint, study: Study) -> list[str]:
    """The words of a variant with the stub as its model."""
    settings = [f"variant.chat.base_url={stub.base_url}", "variant.chat.model=stub"]
    return [*study.words, "variant=text_k4", "chat=openai", *settings]


def replayed(study: Study, file: Path) -> list[str]:
    words = [word for word in study.words if not word.startswith("root=")]
    return [
        *words, f"root={study.folder / 'elsewhere'}", "variant=text_k4", "chat=recorded",
        "embedder=recorded", f"study.recording={file}",
    ]  # fmt: skip


def test_what_was_recorded_is_replayed_elsewhere(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same passages and answers without the models, from one small file, by another root."""
    file = study.folder / "replies.jsonl.gz"
    with StubEndpoint("27公尺") as stub:
        assert command("collect", *live(stub, study)).returncode == 0
        asked = len(stub.chats)
    done = command("calls", f"root={study.folder / 'runs'}", "study=small", f"record={file}")
    assert done.returncode == 0, done.stderr
    (record,) = (study.folder / "runs/small").glob("*/run.json")
    passages = json.loads(record.read_text("utf-8"))["made_with"]["index"]["passages"]
    assert f"{asked} replies, {passages + asked} vectors" in done.stdout
    monkeypatch.delattr(E5, "vectors")

    again = command("collect", *replayed(study, file))

    assert again.returncode == 0, again.stderr
    assert answers(study, "elsewhere") == answers(study, "runs")


def test_another_text_is_not_embedded_otherwise(command: Command, study: Study) -> None:
    """Passages without a recorded vector are an error with the remedies."""
    file = recorded(command, study)

    done = command("collect", *replayed(study, file), "variant.index.chunk_size=20")

    assert done.returncode == 1
    assert "replies.jsonl.gz holds no vector of '" in done.stderr
    assert "embedder=e5" in done.stderr


def test_a_changed_prompt_is_not_answered_with_an_old_reply(command: Command, study: Study) -> None:
    """A changed prompt has no recorded reply: the run fails with the reason and is not finished."""
    file = study.folder / "replies.jsonl.gz"
    with StubEndpoint("27公尺") as stub:
        command("collect", *live(stub, study))
    command("calls", f"root={study.folder / 'runs'}", "study=small", f"record={file}")

    done = command("collect", *replayed(study, file), "prompt=strict")

    assert done.returncode == 1
    assert "holds no reply of stub to this prompt" in done.stderr


def test_nothing_to_record_is_told(command: Command, study: Study) -> None:
    """A study whose generator is no model, or a study not named, is an error and writes nothing."""
    command("collect", *study.words, "variant=text_k4")
    file = study.folder / "replies.jsonl.gz"
    root = f"root={study.folder / 'runs'}"

    unnamed = command("calls", root, f"record={file}")
    empty = command("calls", root, f"record={file}", "study=small")

    assert "record=... needs study=..." in unnamed.stderr
    assert "extractive" in empty.stderr
    assert "makes no model calls, so there is nothing to record" in empty.stderr
    assert not file.exists()


def test_answers_without_a_model_are_not_recorded(command: Command, study: Study) -> None:
    """Answers of a system that makes no cached calls leave nothing to record, and no advice."""
    command("collect", *study.words, "variant=text_k4")
    run = Run(study.run("text_k4-index.chunk_size-40"))
    facts = run.facts()
    facts["made_with"]["notes"] = []
    run.finish(facts)

    done, _ = record(command, study)

    assert done.returncode == 1
    assert "its answers need no model, so there is nothing to record" in done.stderr
    assert "delete" not in done.stderr


def record(command: Command, study: Study) -> tuple[Done, Path]:
    """Record what the study has; return how that ended, and the file."""
    file = study.folder / "replies.jsonl.gz"
    root = f"root={study.folder / 'runs'}"
    return command("calls", root, "study=small", f"record={file}"), file


def recorded(command: Command, study: Study) -> Path:
    """Have a stub answer the study, and record what it said."""
    with StubEndpoint("27公尺") as stub:
        command("collect", *live(stub, study))
    return record(command, study)[1]


def test_a_replayed_study_is_not_recorded_again(command: Command, study: Study) -> None:
    """A study that is itself replayed cannot be recorded; its recording can be shared."""
    command("collect", *replayed(study, recorded(command, study)))
    again = study.folder / "again.jsonl.gz"

    done = command("calls", f"root={study.folder / 'elsewhere'}", "study=small", f"record={again}")

    assert done.returncode == 1
    assert "is itself replayed from a recording: share that file" in done.stderr
    assert not again.exists()


def test_an_edited_recording_does_not_continue_a_run(command: Command, study: Study) -> None:
    """One run has the replies of one content; the error says that the model's build differs."""
    file = recorded(command, study)
    assert command("collect", *replayed(study, file), "limit=1").returncode == 0
    rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    edited = [rows[0], *({**row, "text": "28公尺"} if "text" in row else row for row in rows[1:])]
    text = "".join(json.dumps(row) + "\n" for row in edited)
    whole = file.read_bytes()
    file.write_bytes(gzip.compress(text.encode()))

    mixed = command("collect", *replayed(study, file))
    file.write_bytes(whole)
    continued = command("collect", *replayed(study, file))

    assert mixed.returncode == 1
    assert (
        "changed: chat.build (weights, package, recording or processor of the model)"
        in mixed.stderr
    )
    assert continued.returncode == 0, continued.stderr
    assert {answer for _, _, answer in answers(study, "elsewhere")} == {"27公尺"}


def test_the_index_says_what_it_ranked_by(command: Command, study: Study) -> None:
    """Vectors pruned from the call cache are still read from the index."""
    with StubEndpoint("27公尺") as stub:
        file, root = study.folder / "replies.jsonl.gz", f"root={study.folder / 'runs'}"
        command("collect", *live(stub, study))
        whole = command("calls", root, "study=small", f"record={file}").stdout
        command("calls", root, "prune=vector")
        lost = command("calls", root, "study=small", f"record={file}")
        command("collect", *live(stub, study), "again=true")
        again = command("calls", root, "study=small", f"record={file}").stdout

    assert "0 of the 3 vectors of questions are cached" in lost.stderr
    assert again.splitlines()[0] == whole.splitlines()[0]


def test_an_index_that_is_gone_is_told(command: Command, study: Study) -> None:
    """Nothing is written that would replay in part."""
    with StubEndpoint("27公尺") as stub:
        command("collect", *live(stub, study))
    shutil.rmtree(study.folder / "runs/.cache/chroma")

    done, file = record(command, study)

    assert done.returncode == 1
    assert "passages of an index are cached; delete its runs" in done.stderr
    assert not file.exists()


def test_vectors_that_did_not_rank_are_not_recorded(command: Command, study: Study) -> None:
    """A non-deterministic embedder is refused: the cached vectors give other similarities."""
    with StubEndpoint("27公尺") as stub:
        command("collect", *live(stub, study))
    store = sqlite3.connect(study.folder / "runs/.cache/calls.sqlite")
    with store:
        store.execute("UPDATE vectors SET vector = (SELECT max(vector) FROM vectors)")
        store.execute("DELETE FROM sums")
    store.close()

    done, file = record(command, study)

    assert done.returncode == 1
    assert "was retrieved with other vectors than the cached ones" in done.stderr
    assert not file.exists()


def test_two_generators_are_not_one_recording(command: Command, study: Study) -> None:
    """Runs of two models cannot be recorded together; the error says what to do."""
    with StubEndpoint("27公尺") as stub:
        command("collect", *live(stub, study))
        command("collect", *live(stub, study)[:-1], "variant.chat.model=other")

    done, _ = record(command, study)

    assert "its runs have 2 different models as chat" in done.stderr
    assert "study.name=" in done.stderr


def test_an_answer_that_failed_is_not_recorded(
    command: Command, study: Study, caplog: pytest.LogCaptureFixture
) -> None:
    """Captions by a model are not in the recording, so a warning says it."""

    def script(received: Received) -> Reply:
        return Reply("27公尺", status=400 if "四月" in received.prompt else 200)

    with StubEndpoint(script) as stub:
        command("collect", *live(stub, study), "variant.chat.retries=0", "variant.top_k=1")

    done, _ = record(command, study)

    assert done.returncode == 0, done.stderr
    assert "answers failed and are not recorded" in caplog.text
