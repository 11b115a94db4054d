"""Evaluation by a chat judge, from the command line: what is stored, counted, kept and refused."""

import dataclasses
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.store import Run
from harness.store.parquet import VERSION
from tests.conftest import Command, Done, Study
from tests.stub_endpoint import Received, Reply, StubEndpoint
from tests.written import article, asked_of, honest


def in_good_faith(received: Received) -> str:
    return honest(asked_of(received.messages))


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(in_good_faith) as running:
        yield running


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The root of a study: one run, four questions."""
    article(tmp_path / "written", questions=4, variants=("text_k4",))
    return tmp_path


Evaluate = Callable[..., Done]


@pytest.fixture
def evaluate(command: Command, stub: StubEndpoint, root: Path) -> Evaluate:
    def run(*words: str) -> Done:
        mine = [f"root={root}", "study.name=written", "judge=chat", "judge.language=zh_hant"]
        mine += [f"judge.chat.base_url={stub.base_url}", "judge.chat.model=stub"]
        limits = ("judge.chat.retries=0", "judge.chat.backoff=0.01")
        return command("evaluate", *mine, *limits, "metrics=[faithfulness]", *words)

    return run


def scores(root: Path, run: str = "text_k4") -> dict[tuple[str, str], tuple[Any, str]]:
    frame = pd.read_parquet(root / "written" / run / "scores.parquet")
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return {(r["question_id"], r["metric"]): (r["value"], r["status"]) for r in rows}


def test_subset_of_metrics(evaluate: Evaluate, root: Path) -> None:
    """Metrics that were not asked for have no rows, and no zeros."""
    evaluate("metrics=[faithfulness]")
    assert {metric for _, metric in scores(root)} == {"faithfulness"}


def test_no_claims_and_a_truncated_reply_differ(
    evaluate: Evaluate, root: Path, stub: StubEndpoint
) -> None:
    """No claims and a truncated reply are two reasons of NA; only the second is asked again."""

    def script(received: Received) -> str:
        asked = asked_of(received.messages)
        if "question" in asked and "2號塔" in asked["question"]:
            return '{"claims": ['
        return '{"claims": []}' if "question" in asked else honest(asked)

    stub.script = script
    done = evaluate("limit=2")

    assert scores(root)["q1", "faithfulness"] == (None, "no_claims")
    assert scores(root)["q2", "faithfulness"] == (None, "judge_incomplete")
    assert "NA: 1 judge_incomplete, 1 no_claims" in done.stdout
    tries = [asked_of(received.messages)["question"][1] for received in stub.chats]
    assert [tries.count(number) for number in "12"] == [1, 3]


def test_unreadable_share_fails_the_run(evaluate: Evaluate, stub: StubEndpoint, root: Path) -> None:
    """More unusable replies than `most_unread` allows is a failure; other scores are written."""

    def script(received: Received) -> str:
        lost = any(f"{number}號塔" in received.prompt for number in (1, 2))
        return "hm, let me think" if lost else in_good_faith(received)

    stub.script = script
    done = evaluate()

    assert done.returncode == 1
    assert "2 of 4 cells scored (NA: 2 judge_unparsable)" in done.stdout
    assert "no usable reply for 2 of 4 cells" in done.stderr
    assert evaluate("most_unread=0.5").returncode == 0
    assert scores(root)["q3", "faithfulness"][1] == "ok"


def test_unreadable_replies_are_asked_for_again(
    evaluate: Evaluate, stub: StubEndpoint, root: Path
) -> None:
    """The same command asks only what is missing, and `dry_run` counts it beforehand."""
    stub.script = lambda received: "hm" if "2號塔" in received.prompt else in_good_faith(received)
    evaluate("most_unread=1")
    assert scores(root)["q2", "faithfulness"] == (None, "judge_unparsable")

    stub.script = in_good_faith
    before = len(stub.chats)
    plan = evaluate("dry_run=true").stdout
    assert len(stub.chats) == before
    assert re.search(r"faithfulness +<=8 +6 +<=2 ", plan), plan

    done = evaluate()
    assert [
        number for number in "1234" for r in stub.chats[before:] if f"{number}號塔" in r.prompt
    ] == ["2", "2"]
    assert "calls: 2 asked" in done.stdout
    assert {status for _, status in scores(root).values()} == {"ok"}


def test_failed_calls_move_no_score(evaluate: Evaluate, root: Path, stub: StubEndpoint) -> None:
    """Failed and late replies change no other question's score."""

    def script(received: Received) -> Reply:
        number = next(n for n in range(1, 5) if f"{n}號塔" in received.prompt)
        if number <= 2:
            return Reply(status=400)
        claims = [{"id": 1, "reason": "r", "verdict": "entailed" if number == 4 else "unknown"}]
        said = {"verdicts": claims} if "claims" in asked_of(received.messages) else {"claims": [
            f"{number}號塔。"]}  # fmt: skip
        return Reply(json.dumps(said, ensure_ascii=False), delay=0.05 * (5 - number))

    stub.script = script
    evaluate("judge.chat.concurrency=4")

    assert {question: found for (question, _), found in scores(root).items()} == {
        "q1": (None, "judge_failed"),
        "q2": (None, "judge_failed"),
        "q3": (0.0, "ok"),
        "q4": (1.0, "ok"),
    }


def test_two_ways_of_overflow_have_one_heading(
    evaluate: Evaluate, root: Path, stub: StubEndpoint
) -> None:
    """A refused prompt, and one of which only a part was read, are counted under one reason."""

    def script(received: Received) -> str | Reply:
        said = in_good_faith(received)
        if "1號塔" in received.prompt:
            return Reply(status=400, error="This model's maximum context length is 512 tokens")
        return Reply(said, prompt_tokens=512) if "2號塔" in received.prompt else said

    stub.script = script
    done = evaluate("limit=3")

    assert [scores(root)[name, "faithfulness"][1] for name in ("q1", "q2", "q3")] == [
        *("context_overflow", "context_overflow", "ok")
    ]
    assert "NA: 2 context_overflow" in done.stdout


def test_requests_at_once_change_no_score(
    evaluate: Evaluate, root: Path, stub: StubEndpoint
) -> None:
    """One request at a time and four give the same tables, to the byte, for the same requests."""
    tables = []
    for at_once in (1, 4):
        evaluate(f"judge.chat.concurrency={at_once}", "again=true", "cache=off")
        files = sorted((root / "written" / "text_k4").glob("[sv]*s.parquet"))
        tables.append([file.read_bytes() for file in files])

    assert len(tables[0]) == 2
    assert tables[0] == tables[1]
    prompts = sorted(received.prompt for received in stub.chats)
    assert prompts[::2] == prompts[1::2]


def test_a_useful_passage_counts_by_its_rank(
    evaluate: Evaluate, root: Path, stub: StubEndpoint
) -> None:
    """Of two passages, each asked about by itself, the useful one is worth 1/2 second, 1 first."""
    run = Run(root / "written" / "text_k4")
    first, second, *_ = run.responses()
    closed, answer, *_ = sorted(first.passages, key=lambda one: first.reference in one.text)[::3]
    assert first.reference in answer.text
    assert first.reference not in closed.text
    run.write_responses(
        [
            dataclasses.replace(first, passages=(closed, answer)),
            dataclasses.replace(
                second, reference=first.reference, user_input=first.user_input,
                passages=(answer, closed),
            ),
        ]
    )  # fmt: skip

    evaluate("metrics=[context_precision]", "questions=[q1,q2]")

    assert scores(root)["q1", "context_precision"] == (0.5, "ok")
    assert scores(root)["q2", "context_precision"] == (1.0, "ok")
    asked = [asked_of(received.messages)["passages"] for received in stub.chats]
    assert [len(passages) for passages in asked] == [1, 1]


def test_chosen_questions_keep_their_ids(evaluate: Evaluate, root: Path) -> None:
    """Chosen questions keep their ids, and a metric that is named twice is scored once."""
    evaluate("questions=[q2,q4]", "metrics=[faithfulness,faithfulness,ragas]",
             "embedder@judge.embedder=e5", "judge.strictness=1")  # fmt: skip
    found = scores(root)
    assert {question for question, _ in found} == {"q2", "q4"}
    assert len(found) == 2 * 4


def test_equal_questions_have_their_own_reference(
    evaluate: Evaluate, root: Path, stub: StubEndpoint
) -> None:
    """Two questions with equal text and answer are judged by their own references."""
    run = Run(root / "written" / "text_k4")
    first, *_ = run.responses()
    twin = dataclasses.replace(first, question_id="q2", reference="塔高99公尺。")
    run.write_responses([first, twin])

    evaluate("metrics=[recall]", "questions=[q1,q2]")

    assert scores(root)["q1", "recall"] == (1.0, "ok")
    assert scores(root)["q2", "recall"] == (0.0, "ok")


def test_a_metric_with_a_comma_in_its_name_is_refused(evaluate: Evaluate) -> None:
    """A text that is no metric's name is an error that quotes it."""
    done = evaluate("metrics=['recall,k=4']")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "'recall,k=4'" in done.stderr


def test_scores_of_an_older_schema_are_left_alone(evaluate: Evaluate, root: Path) -> None:
    """A table of another version is an error and is not changed; ours carry their version."""
    evaluate("limit=1")
    file = root / "written" / "text_k4" / "scores.parquet"
    assert (pq.read_schema(file).metadata or {})[b"harness"] == str(VERSION).encode()
    pq.write_table(pa.table({"question_id": ["q1"], "score": [0.5]}), file)
    file.with_name("SHA256SUMS").unlink()
    before = file.read_bytes()

    done = evaluate("limit=1")

    assert done.returncode == 1
    assert "was written by another version of the harness" in done.stderr
    assert file.read_bytes() == before


def test_what_shaped_a_score_is_in_every_run(command: Command, study: Study) -> None:
    """Prompt hash, models with their digests, judge and packages are recorded."""
    assert command("collect", "variant=text_k4", *study.words).returncode == 0
    assert command("evaluate", *study.words, "metrics=[recall]").returncode == 0

    [run] = [Run(file.parent) for file in (study.folder / "runs/small").glob("*/run.json")]
    facts = run.facts()
    made = facts["made_with"]
    assert "prompt_sha256" in made
    assert len(made["models"]["embedder"]["weights"]) == 43, "a SHA-256 in base 64"
    assert {"pyarrow", "chromadb"} <= facts["packages"].keys()
    assert run.judges()["overlap"]["judge"] == "overlap"


def last_evaluation(root: Path, run: str = "text_k4") -> dict[str, Any]:
    """Return the log entry of the last evaluation of a run."""
    return Run(root / "written" / run).evaluations()[-1]


class TestRepairs:
    """Unusable replies that were requested again are counted, for each judge."""

    def test_a_preface_is_no_repair(
        self, evaluate: Evaluate, root: Path, stub: StubEndpoint
    ) -> None:
        """A sentence before a code fence is ignored, and nothing is requested again."""
        stub.script = lambda received: f"以下是結果：\n```json\n{in_good_faith(received)}\n```"
        done = evaluate()

        assert all(status == "ok" for _, status in scores(root).values())
        assert "requested again" not in done.stdout
        assert last_evaluation(root)["repairs"] == {}

    def test_unusable_replies_are_counted(
        self, evaluate: Evaluate, root: Path, stub: StubEndpoint
    ) -> None:
        """Replies without a field, and truncated ones, are counted by how they were repaired."""

        def script(received: Received) -> str | Reply:
            asked, said = asked_of(received.messages), in_good_faith(received)
            number = next(n for n in range(1, 5) if f"{n}號塔" in received.prompt)
            tries[number, "claims" in asked] += 1
            turn = tries[number, "claims" in asked]
            if "claims" not in asked or number == 4 or turn > number:
                return said
            if number == 3:
                return Reply(said[:9], finish_reason="length") if turn == 1 else said
            return '{"verdicts": [{"id": 1, "reason": "r"'

        tries: Counter[tuple[int, bool]] = Counter()
        stub.script = script
        done = evaluate("judge.name=A")

        assert all(status == "ok" for _, status in scores(root).values())
        said = "replies requested again: 3 (1 with more tokens, 2 quoting the error, 1 fresh)"
        assert said in done.stdout
        found = {"replies": 3, "more_room": 1, "repair": 2, "fresh": 1}
        assert (last_evaluation(root)["judge"], last_evaluation(root)["repairs"]) == ("A", found)

        replayed = evaluate("judge.name=A")
        assert "calls: 0 asked" in replayed.stdout
        assert last_evaluation(root)["repairs"] == found


def test_requests_are_counted(evaluate: Evaluate, stub: StubEndpoint, root: Path) -> None:
    """Two calls, one of them retried, are three requests in the output and in the log."""
    turns = itertools.count()
    stub.script = lambda received: (
        Reply(status=500) if next(turns) == 0 else in_good_faith(received)
    )
    done = evaluate("limit=1", "judge.chat.retries=2")

    assert "calls: 2 asked (3 requests" in done.stdout
    assert last_evaluation(root)["calls"] == {"asked": 2, "sent": 3, "remembered": 0}
    assert last_evaluation(root)["runs"] == ["text_k4"]


@pytest.mark.parametrize(
    ("prose", "structured", "formats", "said"),
    [
        ("2號塔", "auto", {"json_schema": 9, "ignored": 3}, "the schema: it accepts it, but 3"),
        ("號塔", "json_object", {"json_object": 12, "ignored": 12}, "JSON mode: it accepts it"),
        ("號塔", "prose", {"prose": 12}, None),
        ("no prompt", "auto", {"json_schema": 8}, None),
    ],
)
def test_a_format_that_the_endpoint_ignores_is_named_and_recorded(
    evaluate: Evaluate,
    stub: StubEndpoint,
    root: Path,
    prose: str,
    structured: str,
    formats: dict[str, int],
    said: str | None,
) -> None:
    """Status 200 and prose: one line in the output, counts in the log, and not one call more."""
    stub.script = lambda received: "Yes." if prose in received.prompt else in_good_faith(received)
    done = evaluate("most_unread=1", f"judge.chat.structured={structured}")

    assert last_evaluation(root)["reply_formats"] == formats
    assert sum(formats.values()) - formats.get("ignored", 0) == len(stub.chats)
    lines = [line for line in done.stdout.splitlines() if "does not enforce" in line]
    assert len(lines) == (said is not None)
    assert (said or "") in "".join(lines)


class TestAnotherJudge:
    """Labels of two judges are never mixed under one name."""

    def test_under_another_name(self, evaluate: Evaluate, root: Path) -> None:
        """Rows of judges A and B have their own name in the judge column."""
        evaluate("questions=[q1,q2]", "judge.name=A")
        evaluate("questions=[q3,q4]", "judge.name=B", "judge.reply_tokens=2048")
        frame = pd.read_parquet(root / "written" / "text_k4" / "scores.parquet")
        by_judge = frame.groupby("judge")["question_id"].apply(list).to_dict()
        assert by_judge == {"A": ["q1", "q2"], "B": ["q3", "q4"]}

    @pytest.mark.parametrize("metrics", ["[faithfulness]", "[context_recall,cites_policy]"])
    def test_after_a_wrong_address(self, evaluate: Evaluate, root: Path, metrics: str) -> None:
        """What brought no label leaves nothing behind: the right address needs no again=true."""
        asked = (f"metrics={metrics}", "limit=2")
        wrong = evaluate(*asked, "judge.chat.base_url=http://127.0.0.1:9/v1")
        right = evaluate("limit=2")

        assert (wrong.returncode, right.returncode) == (1, 0), right.stderr
        assert "connection refused; start the server, or correct base_url" in wrong.stderr
        assert {scores(root)[question, "faithfulness"][1] for question in ("q1", "q2")} == {"ok"}

    @pytest.mark.parametrize(
        ("word", "differs"),
        [
            ("judge.chat.temperature=0.7", "chat.temperature 0.0, now 0.7"),
            ("judge.language=en", 'language "zh_hant", now "en"; prompts.claims; '),
            ("judge.chat.model=other", 'chat.model "stub", now "other"'),
        ],
    )
    def test_under_the_same_name(
        self, word: str, differs: str, evaluate: Evaluate, root: Path, stub: StubEndpoint
    ) -> None:
        """Other sampling, prompts or model under one name are refused; nothing is asked or lost."""
        evaluate("questions=[q1,q2]", "judge.name=A")
        asked = len(stub.chats)

        done = evaluate("questions=[q3,q4]", "judge.name=A", word)

        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert f"text_k4: the judge 'A' labelled it under other settings ({differs}" in done.stderr
        assert "judge.name=<label> keeps both judges" in done.stderr
        assert len(stub.chats) == asked
        assert {question for question, _ in scores(root)} == {"q1", "q2"}

    def test_other_weights_under_the_same_name(
        self, evaluate: Evaluate, root: Path, stub: StubEndpoint
    ) -> None:
        """A model whose weights changed is another judge."""
        ollama = ("chat@judge.chat=ollama", f"judge.chat.base_url={stub.url}")
        stub.models = ["stub:latest"]
        evaluate("questions=[q1,q2]", *ollama)
        assert {question for question, _ in scores(root)} == {"q1", "q2"}

        with StubEndpoint(in_good_faith, models=["stub:latest"], digest="feed") as other:
            done = evaluate("questions=[q3]", *ollama, f"judge.chat.base_url={other.url}")

        assert done.returncode == 1
        assert '(chat.digest "sha256:0123", now "feed")' in done.stderr

    def test_replaced_on_demand(self, evaluate: Evaluate, root: Path) -> None:
        """`again=true` replaces labels made under other settings, and loses no question."""
        evaluate("questions=[q1,q2]", "judge.name=A")
        changed = ("judge.name=A", "judge.reply_tokens=2048", "again=true")
        refused = evaluate("questions=[q3,q4]", *changed)
        assert "would drop the 8 labels of 2 other questions" in refused.stderr
        assert {question for question, _ in scores(root)} == {"q1", "q2"}

        done = evaluate("questions=[q1,q2,q3]", *changed)
        assert done.returncode == 0, done.stderr
        assert {question for question, _ in scores(root)} == {"q1", "q2", "q3"}

    def test_the_embedded_judge(self, command: Command, root: Path) -> None:
        """The thresholds of the embedded judge are settings of the judge too."""
        words = (f"root={root}", "study.name=written", "metrics=[faithfulness]", "judge=overlap")
        command("evaluate", *words)
        done = command("evaluate", *words, "judge.entailed_from=0.9")
        assert "(entailed_from 0.55, now 0.9): judge.name=<label>" in done.stderr

    def test_the_same_judge_adds_labels(self, evaluate: Evaluate, root: Path) -> None:
        """An unchanged judge adds to its labels."""
        evaluate("questions=[q1,q2]", "judge.name=A")
        evaluate("questions=[q3,q4]", "judge.name=A")
        assert {question for question, _ in scores(root)} == {"q1", "q2", "q3", "q4"}
