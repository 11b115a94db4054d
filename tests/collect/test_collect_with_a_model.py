"""Collecting from an endpoint: failures are rows, and answers are not requested again."""

import itertools
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pyarrow.parquet as pq
import pytest

from harness.store import Run
from tests.conftest import ROOT, Command, Study
from tests.stub_endpoint import Received, Reply, StubEndpoint

RUN = "text_k4-chat-openai-chat.model-stub-index.chunk_size-40"

UNDER_WAY = 2
"""Questions in flight when `concurrency` is 1: one sent, one waiting."""


def words(stub_url: str, study: Study) -> list[str]:
    """The settings for the small study and a stub as its generator, quick to give up on a call."""
    return [
        "variant=text_k4",
        *study.words,
        "chat=openai",
        "variant.chat.model=stub",
        f"variant.chat.base_url={stub_url}",
        "variant.chat.retries=0",
        "variant.chat.concurrency=1",
    ]


def rows(study: Study) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pq.read_table(study.run(RUN) / "responses.parquet").to_pylist()
    return found


def scripted(answers: dict[str, str | Reply]) -> Callable[[Received], str | Reply]:
    """Answer by what the question says; `echo` else."""

    def reply(received: Received) -> str | Reply:
        question = received.prompt.partition("問題：")[2]
        return next((a for key, a in answers.items() if key in question), "echo")

    return reply


def test_each_question_is_asked_with_its_passages(command: Command, study: Study) -> None:
    """The filled prompt goes out once a question; reply, tokens and times come back as a row."""
    with StubEndpoint(lambda received: received.prompt[-20:]) as stub:
        done = command("collect", *words(stub.base_url, study))

        assert done.returncode == 0, done.stderr
        assert len(stub.received) == 3
        assert "青嶼燈塔" in stub.received[0].prompt
        assert stub.received[0].body["temperature"] == 0.0
        assert stub.received[0].body["seed"] == 0
    found = rows(study)
    assert len({row["response"] for row in found}) == 3
    assert all(row["output_tokens"] == 7 for row in found)
    assert all(row["finish_reason"] == "stop" for row in found)
    assert all(row["generation_seconds"] > 0 for row in found)  # type: ignore[operator]


def test_a_wrong_address_blocks_nothing(command: Command, study: Study) -> None:
    """After wrong addresses of generator and embedder the right ones need no again=true."""
    with StubEndpoint("27公尺") as stub:
        embedder = ["embedder=openai", "variant.embedder.model=e", "variant.embedder.query_prefix=",
                    "variant.embedder.passage_prefix=", "variant.embedder.retries=0"]  # fmt: skip
        given = [*words(stub.base_url, study), *embedder]
        dead, right = "http://127.0.0.1:9/v1", f"variant.embedder.base_url={stub.base_url}"
        wrong_embedder = command("collect", *given, f"variant.embedder.base_url={dead}")
        wrong_chat = command("collect", *given, right, f"variant.chat.base_url={dead}")
        done = command("collect", *given, right)

    for wrong in (wrong_embedder, wrong_chat):
        assert wrong.returncode == 1
        assert "connection refused; start the server, or correct base_url" in wrong.stderr
    assert done.returncode == 0, done.stderr
    assert "3 of 3 answered" in done.stdout


def test_one_failure_is_one_row(command: Command, study: Study) -> None:
    """A question that fails keeps its reason; the others keep their answers; a rerun asks it."""
    answers: dict[str, str | Reply] = {"哪一年": Reply(status=500), "塔高": "27公尺"}
    with StubEndpoint(scripted(answers)) as stub:
        done = command("collect", *words(stub.base_url, study))
        assert done.returncode == 0, done.stderr
        assert "2 of 3 answered, 1 failed" in done.stdout
        first, second, third = rows(study)
        assert (first["response"], third["response"]) == ("27公尺", "echo")
        assert second["response"] is None
        assert "500" in str(second["error"])

        answers["哪一年"] = "1931年"
        before = len(stub.received)
        command("collect", *words(stub.base_url, study))
        assert len(stub.received) == before + 1
    assert rows(study)[1]["response"] == "1931年"


def test_an_endpoint_that_is_away(command: Command, study: Study) -> None:
    """An unreachable endpoint gives one line with the remedy, and exit code 1."""
    done = command("collect", *words("http://127.0.0.1:9/v1", study))

    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "http://127.0.0.1:9/v1" in done.stderr
    assert "run the same command to resume" in done.stderr
    assert not (study.run(RUN) / "run.json").exists()


def test_a_server_that_dies_stops_the_run(command: Command, study: Study) -> None:
    """After `give_up_after` consecutive failures it stops; answers are kept and not asked again."""
    answers: dict[str, str | Reply] = {"哪一年": Reply(status=500)}
    with StubEndpoint(scripted(answers)) as stub:
        done = command("collect", *words(stub.base_url, study), "give_up_after=1")
        assert done.returncode == 1
        assert "1 of 2 questions asked failed" in done.stderr
        assert not (study.run(RUN) / "run.json").exists()
        assert rows(study)[0]["response"] == "echo"

        answers.clear()
        before = len([r for r in stub.received if "塔高" in r.prompt.partition("問題：")[2]])
        assert command("collect", *words(stub.base_url, study)).returncode == 0
        after = len([r for r in stub.received if "塔高" in r.prompt.partition("問題：")[2]])
        assert (before, after) == (1, 1)


def test_lasting_failures_do_not_undo_a_finished_run(command: Command, study: Study) -> None:
    """Giving the command again while the same questions fail leaves run and scores alone."""
    answers: dict[str, str | Reply] = {"何月": Reply(status=500), "哪一年": Reply(status=500)}
    with StubEndpoint(scripted(answers)) as stub:
        assert command("collect", *words(stub.base_url, study)).returncode == 0
        before = (study.run(RUN) / "run.json").read_bytes()

        done = command("collect", *words(stub.base_url, study))

        assert done.returncode == 0
        assert (study.run(RUN) / "run.json").read_bytes() == before


def test_a_part_that_cannot_be_continued_stays(command: Command, study: Study) -> None:
    """If the server is unreachable when the rest is asked, the finished part is kept."""
    with StubEndpoint("ok") as stub:
        command("collect", *words(stub.base_url, study), "limit=1")
        kept = words(stub.base_url, study)

    done = command("collect", *kept)

    assert done.returncode == 1
    assert "is unchanged" in done.stderr
    assert len(rows(study)) == 1
    assert (study.run(RUN) / "run.json").exists()


def test_limit_then_everything_asks_nothing_twice(command: Command, study: Study) -> None:
    """`limit=2` and then the whole run send three requests, not five."""
    with StubEndpoint("ok") as stub:
        command("collect", *words(stub.base_url, study), "limit=2")
        command("collect", *words(stub.base_url, study))

        assert len(stub.received) == 3


@pytest.mark.slow
def test_a_killed_run_goes_on(study: Study) -> None:
    """kill -9 loses at most the requests in flight."""

    def start(stub: StubEndpoint) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-m", "harness.collect", *words(stub.base_url, study)], cwd=ROOT
        )

    turns = itertools.count()
    with StubEndpoint(lambda received: Reply("echo", hang=next(turns) > 0)) as stub:
        process = start(stub)
        deadline = time.monotonic() + 60
        while len(stub.received) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (study.run(RUN) / "run.json").exists()

        stub.script = "echo"
        assert start(stub).wait(timeout=100) == 0

        asked_again = len(stub.received) - 3
        assert asked_again <= UNDER_WAY
    assert [row["response"] for row in rows(study)] == ["echo"] * 3


def test_an_answer_in_the_reasoning_field_is_no_answer(command: Command, study: Study) -> None:
    """A server that moves the whole reply into its reasoning gives an error row, not a refusal."""
    with StubEndpoint(Reply(None, reasoning="It is 27.")) as stub:
        done = command("collect", *words(stub.base_url, study))

    assert done.returncode == 1
    assert "reasoning field" in done.stderr


THOUGHT = "Candidates: 27 or 28. The passage says 27."


def test_thinking_is_no_part_of_the_answer(command: Command, study: Study) -> None:
    """What was thought is kept in a column of its own; a thought without end is a failure."""
    answers: dict[str, str | Reply] = {
        "哪一年": Reply(f"<think>{THOUGHT}", finish_reason="length"),
        "塔高": f"<think>{THOUGHT}</think>It is 28 metres tall.",
        "何月": Reply("[THINK]四月?[/THINK]四月", reasoning=THOUGHT),
    }
    with StubEndpoint(scripted(answers)) as stub:
        done = command("collect", *words(stub.base_url, study))

    assert "2 of 3 answered, 1 failed" in done.stdout
    found = {str(row["response"]): row for row in rows(study)}
    assert found.keys() == {"None", "It is 28 metres tall.", "四月"}
    assert found["It is 28 metres tall."]["thinking"] == THOUGHT
    assert found["四月"]["thinking"] == f"{THOUGHT}\n四月?"
    failed = found["None"]
    assert "its whole reply is thinking" in str(failed["error"])
    assert THOUGHT in str(failed["thinking"])
    assert failed["call"]
    assert failed["output_tokens"] == 7


def test_thinking_of_an_ollama_model_is_kept_apart(command: Command, study: Study) -> None:
    """The field of Ollama's own protocol, and marks in its text."""
    script = [Reply("It is 28 m.", reasoning=THOUGHT), f"<think>{THOUGHT}</think>It is 28 m."]
    with StubEndpoint(script) as stub:
        at = [f"variant.chat.base_url={stub.url}", "variant.chat.model=stub"]
        done = command("collect", "variant=text_k4", *study.words, "chat=ollama", *at, "limit=2")

    assert done.returncode == 0, done.stderr
    name = "text_k4-chat-ollama-chat.model-stub-index.chunk_size-40"
    found = pq.read_table(study.run(name) / "responses.parquet").to_pylist()
    assert [(row["response"], row["thinking"]) for row in found] == [("It is 28 m.", THOUGHT)] * 2


@pytest.mark.slow
def test_a_repaired_model_is_asked_again(command: Command, study: Study) -> None:
    """`version=` and `again=true` send the calls again, and nothing else does."""
    with StubEndpoint("25公尺") as stub:
        asked = words(stub.base_url, study)
        assert command("collect", *asked).returncode == 0
        first = {row["call"] for row in rows(study)}

        stub.script = "27公尺"
        done = command("collect", *asked, "version=fixed")
        assert "3 of 3 answered\n" in done.stdout
        table = pq.read_table(study.run(f"{RUN}-fixed") / "responses.parquet")
        assert table["response"].to_pylist() == ["27公尺"] * 3
        assert len(stub.received) == 6

        assert command("collect", *asked, "again=true").returncode == 0
        assert [row["response"] for row in rows(study)] == ["27公尺"] * 3
        assert len(stub.received) == 9
        assert not first & {row["call"] for row in rows(study)}

        stub.script = "28公尺"
        assert command("collect", *asked, "again=true").returncode == 0
        assert [row["response"] for row in rows(study)] == ["28公尺"] * 3
        assert Run(study.run(RUN)).facts()["generation"] == 2


@pytest.mark.slow
def test_an_interrupted_repetition_asks_for_no_answer_twice(command: Command, study: Study) -> None:
    """`again=true` that fails leaves the old run, and goes on where it was interrupted."""
    answers: dict[str, str | Reply] = {}
    with StubEndpoint(scripted(answers)) as stub:
        asked = words(stub.base_url, study)
        command("collect", *asked)
        before = rows(study)
        answers |= {"哪一年": Reply(status=500), "塔高": "27公尺"}

        done = command("collect", *asked, "again=true", "give_up_after=1")

        assert done.returncode == 1
        assert "is unchanged" in done.stderr
        assert rows(study) == before
        answers["哪一年"] = "1931年"
        sent = len(stub.received)
        done = command("collect", *asked, "again=true")
        assert "of 3 answers came from the cache" in done.stdout
        questions = [r.prompt.partition("問題：")[2] for r in stub.received[sent:]]
        assert not [question for question in questions if "塔高" in question]
    assert [row["response"] for row in rows(study)][:2] == ["27公尺", "1931年"]


def test_answers_from_the_cache_are_counted(command: Command, study: Study) -> None:
    """A run that is collected anew under the same name is told from one that was asked."""
    with StubEndpoint("25公尺") as stub:
        asked = words(stub.base_url, study)
        assert "came from" not in command("collect", *asked).stdout
        shutil.rmtree(study.run(RUN))

        done = command("collect", *asked)

        assert "3 of 3 answered; 3 of 3 answers came from the cache" in done.stdout
        assert len(stub.received) == 3


def names_model(model: str) -> Callable[[Received], Reply]:
    """Answer as a server does that names this model in its replies."""
    message = {"role": "assistant", "content": "27公尺"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    ollama = {"message": message, "done": True, "done_reason": "stop"}
    body = {"model": model, "choices": [choice], **ollama}
    return lambda _: Reply(raw=json.dumps(body).encode())


@pytest.mark.parametrize("model", ["stub-2026-08-06", "other"])
def test_the_model_that_answered_is_recorded(
    command: Command, study: Study, caplog: pytest.LogCaptureFixture, model: str
) -> None:
    """Both names are in run.json; a warning says so where they cannot mean one model."""
    with StubEndpoint(names_model(model)) as stub:
        assert command("collect", *words(stub.base_url, study)).returncode == 0

    facts = Run(study.run(RUN)).facts()
    assert facts["made_with"]["models"]["chat"]["model"] == "stub"
    assert facts["models_answered"] == [model]
    assert {row["model"] for row in rows(study)} == {model}
    warned = f"stub was requested, but the server says that {model} answered" in caplog.text
    assert warned is (model == "other")


@pytest.mark.slow
def test_a_prompt_that_is_read_in_part_is_a_failure(command: Command, study: Study) -> None:
    """A server that reads half of the configured window answers nothing that counts."""
    lines = (
        f"The lighthouse number {n} was completely restored last year.\n\n" for n in range(600)
    )
    study.corpus.write_text("".join(lines), encoding="utf-8")
    with StubEndpoint("27公尺", window=4098) as stub:
        wide = [*words(stub.base_url, study), "variant.index.chunk_size=6000"]
        done = command("collect", *wide, "variant.chat.context=8192", "limit=1")

    assert done.returncode == 1
    assert "read 4098 tokens of a prompt" in done.stderr


def test_repeats_are_asked_apart(command: Command, study: Study) -> None:
    """`study.repeats=2` sends each question twice, and keeps both rows."""
    with StubEndpoint("ok") as stub:
        command("collect", *words(stub.base_url, study), "study.repeats=2", "limit=1")

        assert len(stub.received) == 2
    assert [(row["question_id"], row["repeat"]) for row in rows(study)] == [("q1", 0), ("q1", 1)]


def test_secrets_stay_in_the_environment(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key goes to the endpoint and into no file."""
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    with StubEndpoint("ok") as stub:
        command("collect", *words(stub.base_url, study), "variant.chat.api_key_env=MY_KEY")

        assert stub.received[0].headers["authorization"] == "Bearer sk-very-secret"
    files = [path for path in (study.folder / "runs").rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"sk-very-secret" in path.read_bytes()]


def test_the_configuration_wins_over_the_environment(
    command: Command, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPENAI_BASE_URL does not move a call to another server, and the record says where it went."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with StubEndpoint("ok") as stub:
        done = command("collect", *words(stub.base_url, study))

        assert done.returncode == 0, done.stderr
        assert len(stub.received) == 3
        record = json.loads((study.run(RUN) / "run.json").read_text(encoding="utf-8"))
        assert record["configuration"]["chat"]["base_url"] == stub.base_url


def test_answers_that_are_none_are_told(
    command: Command, study: Study, caplog: pytest.LogCaptureFixture
) -> None:
    """Truncated and empty answers count as answered, so a warning reports them."""

    def script(received: Received) -> Reply:
        if "哪一年" in received.prompt:
            return Reply("")
        return Reply("27", finish_reason="length" if "多少" in received.prompt else "stop")

    with StubEndpoint(script) as stub:
        at = [f"variant.chat.base_url={stub.base_url}", "variant.chat.model=stub"]
        done = command("collect", *study.words, "variant=text_k4", "chat=openai", *at)

    assert "3 of 3 answered" in done.stdout
    assert "1 of 3 answers were truncated at the token limit" in caplog.text
    assert "1 of 3 answers are empty" in caplog.text


def test_requests_are_counted(command: Command, study: Study) -> None:
    """Three calls, one of them retried, are four requests in the record."""
    turns = itertools.count()
    script = lambda _: Reply(status=500) if next(turns) == 0 else "27公尺"  # noqa: E731
    with StubEndpoint(script) as generator:
        done = command(
            "collect", "variant=text_k4", *study.words, "chat=openai", "captioner=none",
            f"variant.chat.base_url={generator.base_url}", "variant.chat.model=stub",
            "variant.chat.backoff=0.01",
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    run = study.run("text_k4-captioner-none-chat-openai-chat.model-stub-index.chunk_size-40")
    calls = Run(run).facts()["calls"]
    assert (calls["sent"], len(generator.chats)) == (4, 4)
    assert calls["asked"] == 3


def test_again_leaves_the_old_run_until_the_new_one_is_whole(
    command: Command, study: Study
) -> None:
    """A server that is gone, or answers a part, changes nothing of a finished run."""
    with StubEndpoint("ok") as stub:
        assert command("collect", *words(stub.base_url, study)).returncode == 0
    command("evaluate", *study.words, "metrics=[recall]")
    before = {path: path.read_bytes() for path in study.run(RUN).iterdir()}
    again = ("again=true", "cache=off")

    done = command("collect", *words("http://127.0.0.1:9/v1", study), *again)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "is unchanged: " in done.stderr
    with StubEndpoint(scripted({"哪一年": Reply(status=500)})) as stub:
        part = command("collect", *words(stub.base_url, study), *again, "give_up_after=1")
    assert part.returncode == 1

    assert {path: path.read_bytes() for path in study.run(RUN).iterdir()} == before
    assert not list((study.folder / "runs/small/.old").glob("*"))
    with StubEndpoint("better") as stub:
        assert command("collect", *words(stub.base_url, study), *again).returncode == 0
    assert [row["response"] for row in rows(study)] == ["better"] * 3
    assert Run(study.run(RUN)).scores() == []
    old = Run(study.folder / "runs/small/.old" / f"{RUN}-1")
    assert {file.name: file.read_bytes() for file in old.path.iterdir()} == {
        path.name: content for path, content in before.items()
    }


@pytest.mark.slow
def test_again_survives_a_kill(study: Study) -> None:
    """kill -9 while the new answers are collected leaves the old run."""
    with StubEndpoint("ok") as stub:
        collect = [sys.executable, "-m", "harness.collect", *words(stub.base_url, study)]
        assert subprocess.run(collect, cwd=ROOT, check=False).returncode == 0
        before = {path: path.read_bytes() for path in study.run(RUN).iterdir()}
        turns = itertools.count()
        stub.script = lambda received: Reply("other", hang=next(turns) > 0)
        sent = len(stub.received)
        process = subprocess.Popen([*collect, "again=true", "cache=off"], cwd=ROOT)
        while len(stub.received) < sent + 2:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()

    assert {path: path.read_bytes() for path in study.run(RUN).iterdir()} == before


def test_continuing_keeps_the_labels_of_unchanged_answers(command: Command, study: Study) -> None:
    """Those of all judges, with their scores; a question that failed is judged anew."""
    answers: dict[str, str | Reply] = {"哪一年": Reply(status=500), "塔高": "27公尺"}
    metrics = "metrics=[recall,answer_match]"
    with StubEndpoint(scripted(answers)) as stub:
        command("collect", *words(stub.base_url, study), "limit=2")
        for name in ("overlap", "second"):
            done = command("evaluate", *study.words, metrics, f"judge.name={name}")
            assert done.returncode == 0, done.stderr
        run = Run(study.run(RUN))
        labels = [verdict for verdict in run.verdicts() if verdict.question_id == "q1"]
        scores = [score for score in run.scores() if score.question_id == "q1"]
        assert {verdict.judge for verdict in labels} == {"overlap", "second"}

        answers.clear()
        assert command("collect", *words(stub.base_url, study)).returncode == 0

    assert (run.verdicts(), run.scores()) == (labels, scores)
    assert set(run.judges()) == {"overlap", "second"}
    assert len(run.evaluations()) == 2
    assert run.damage() is None
    done = command("evaluate", *study.words, metrics)
    assert "6 of 6 cells scored" in done.stdout
    second = [verdict for verdict in labels if verdict.judge == "second"]
    assert [v for v in run.verdicts() if v.judge == "second"] == second
