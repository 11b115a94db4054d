"""Faults that other tools were reported for, in whole evaluations and sweeps."""

import dataclasses
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.store import Run
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
    """A07: metrics that were not run are absent, not zeros."""
    evaluate("metrics=[faithfulness]")
    assert {metric for _, metric in scores(root)} == {"faithfulness"}


def test_refused_and_cut_are_told_apart(evaluate: Evaluate, root: Path, stub: StubEndpoint) -> None:
    """A09: no claims and an unreadable reply have two reasons; only the second is tried again."""

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
    """C07: half of the cells without a readable reply are told, and above a fifth it is a failure.

    What could be scored is written all the same.
    """

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


def test_failed_calls_move_no_score(evaluate: Evaluate, root: Path, stub: StubEndpoint) -> None:
    """D01: q1 and q2 fail, q3 and q4 come last question first; each score stays with its own."""

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


def test_chosen_questions_keep_their_ids(evaluate: Evaluate, root: Path) -> None:
    """D02: scores of questions 2 and 4 alone stand under 2 and 4; a metric named twice is one."""
    evaluate("questions=[q2,q4]", "metrics=[faithfulness,faithfulness,ragas]",
             "embedder@judge.embedder=e5", "judge.strictness=1")  # fmt: skip
    found = scores(root)
    assert {question for question, _ in found} == {"q2", "q4"}
    assert len(found) == 2 * 4


def test_equal_questions_have_their_own_reference(
    evaluate: Evaluate, root: Path, stub: StubEndpoint
) -> None:
    """I06: two questions of one wording and one answer are judged by two references."""
    run = Run(root / "written" / "text_k4")
    first, *_ = run.responses()
    twin = dataclasses.replace(first, question_id="q2", reference="塔高99公尺。")
    run.write_responses([first, twin])

    evaluate("metrics=[recall]", "questions=[q1,q2]")

    assert scores(root)["q1", "recall"] == (1.0, "ok")
    assert scores(root)["q2", "recall"] == (0.0, "ok")


def judged(root: Path, run: str = "text_k4") -> dict[str, Any]:
    """Return what the run's record says of its last evaluation."""
    return Run(root / "written" / run).evaluations()[-1]


class TestRepairs:
    """C10: replies that could not be used as they came are counted, for each judge."""

    def test_a_preface_is_no_repair(
        self, evaluate: Evaluate, root: Path, stub: StubEndpoint
    ) -> None:
        """A sentence before a fence is left outside, and nothing has to be asked again."""
        stub.script = lambda received: f"以下是結果：\n```json\n{in_good_faith(received)}\n```"
        done = evaluate()

        assert all(status == "ok" for _, status in scores(root).values())
        assert "requested again" not in done.stdout
        assert judged(root)["repairs"] == {}

    def test_what_misses_a_field_is_counted(
        self, evaluate: Evaluate, root: Path, stub: StubEndpoint
    ) -> None:
        """Two replies miss `verdict`: one is mended by the repair call, the other by a fresh one.

        A third was cut by its length, and is whole with more room.
        """

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
        assert (judged(root)["judge"], judged(root)["repairs"]) == ("A", found)

        replayed = evaluate("judge.name=A")
        assert "calls: 0 asked" in replayed.stdout
        assert judged(root)["repairs"] == found


class TestRequests:
    """H07: the record has the requests that were sent, tries included, beside the calls."""

    def test_of_a_judge(self, evaluate: Evaluate, stub: StubEndpoint, root: Path) -> None:
        """Two calls and one try that failed are three requests, told and kept."""
        turns = itertools.count()
        stub.script = lambda received: (
            Reply(status=500) if next(turns) == 0 else in_good_faith(received)
        )
        done = evaluate("limit=1", "judge.chat.retries=2")

        assert "calls: 2 asked (3 requests" in done.stdout
        assert judged(root)["calls"] == {"asked": 2, "sent": 3, "remembered": 0}
        assert judged(root)["runs"] == ["text_k4"]

    def test_of_a_run(self, command: Command, study: Study) -> None:
        """Three questions, of which the first is refused once, took four requests."""
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


class TestAnotherJudge:
    """L09: rows of two judges never stand in one column."""

    def test_under_another_name(self, evaluate: Evaluate, root: Path) -> None:
        """Half judged by A and half by B: the judge column keeps them apart."""
        evaluate("questions=[q1,q2]", "judge.name=A")
        evaluate("questions=[q3,q4]", "judge.name=B", "judge.reply_tokens=2048")
        frame = pd.read_parquet(root / "written" / "text_k4" / "scores.parquet")
        by_judge = frame.groupby("judge")["question_id"].apply(list).to_dict()
        assert by_judge == {"A": ["q1", "q2"], "B": ["q3", "q4"]}

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
        """Other sampling, prompts or model under one name: one line; nothing is asked or lost."""
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
        """A model that was pulled anew is another judge."""
        ollama = ("chat@judge.chat=ollama", f"judge.chat.base_url={stub.url}")
        stub.models = ["stub:latest"]
        evaluate("questions=[q1,q2]", *ollama)
        assert {question for question, _ in scores(root)} == {"q1", "q2"}

        with StubEndpoint(in_good_faith, models=["stub:latest"], digest="feed") as other:
            done = evaluate("questions=[q3]", *ollama, f"judge.chat.base_url={other.url}")

        assert done.returncode == 1
        assert '(chat.digest "sha256:0123", now "feed")' in done.stderr

    def test_replaced_on_demand(self, evaluate: Evaluate, root: Path) -> None:
        """`again=true` replaces what was said under the other settings, and loses no question."""
        evaluate("questions=[q1,q2]", "judge.name=A")
        changed = ("judge.name=A", "judge.reply_tokens=2048", "again=true")
        refused = evaluate("questions=[q3,q4]", *changed)
        assert "would drop the 8 labels of 2 other questions" in refused.stderr
        assert {question for question, _ in scores(root)} == {"q1", "q2"}

        done = evaluate("questions=[q1,q2,q3]", *changed)
        assert done.returncode == 0, done.stderr
        assert {question for question, _ in scores(root)} == {"q1", "q2", "q3"}

    def test_the_embedded_judge(self, command: Command, root: Path) -> None:
        """It is held to its thresholds too."""
        words = (f"root={root}", "study.name=written", "metrics=[faithfulness]", "judge=overlap")
        command("evaluate", *words)
        done = command("evaluate", *words, "judge.entailed_from=0.9")
        assert "(entailed_from 0.55, now 0.9): judge.name=<label>" in done.stderr

    def test_the_same_judge_goes_on(self, evaluate: Evaluate, root: Path) -> None:
        """An unchanged judge adds to what it said."""
        evaluate("questions=[q1,q2]", "judge.name=A")
        evaluate("questions=[q3,q4]", "judge.name=A")
        assert {question for question, _ in scores(root)} == {"q1", "q2", "q3", "q4"}


def test_a_sweep_that_was_interrupted(command: Command, study: Study) -> None:
    """J03: started again in another order, finished jobs are found by what they are, not by number.

    None is asked again or overwritten, and each folder holds the setting of its name.
    """
    sweep = ("collect", "-m", "variant=text_k9", *study.words)
    command(*sweep, "variant.top_k=1")
    first = study.run("text_k9-index.chunk_size-40-top_k-1")
    before = {file.name: file.stat().st_mtime_ns for file in first.iterdir()}

    done = command(*sweep, "variant.top_k=3,1,2")

    assert done.returncode == 0, done.stderr
    assert {file.name: file.stat().st_mtime_ns for file in first.iterdir()} == before
    for k in (1, 2, 3):
        run = study.run(f"text_k9-index.chunk_size-40-top_k-{k}")
        assert set(pd.read_parquet(run / "responses.parquet")["k_requested"]) == {k}


def test_rows_without_and_with_errors_are_read_together(tmp_path: Path) -> None:
    """K03: a run whose errors are all null and whose lists are empty has the types of another."""
    import pyarrow.dataset as ds

    questions = article(tmp_path, questions=1, variants=("text_k4",))[0]
    full = questions.responses()
    bare = [dataclasses.replace(row, passages=()) for row in full]
    failed = [dataclasses.replace(row, response=None, error="down") for row in full]
    for name, rows in (("bare", bare), ("failed", failed)):
        Run(tmp_path / name).write_responses(rows)

    files = [str(tmp_path / name / "responses.parquet") for name in ("bare", "failed")]
    table = ds.dataset(files).to_table()

    assert table["error"].to_pylist() == [None, "down"]
    assert [len(ids) for ids in table["retrieved_context_ids"].to_pylist()] == [0, 4]
