"""Evaluating, as a user does it: runs on disk, a judge's model on loopback."""

import dataclasses
import json
import sqlite3
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.evaluate.merge import write_evaluation
from harness.metrics import METRICS as TABLE
from harness.metrics import Metric, MetricValue
from harness.records import Layer
from harness.store import Run
from tests.conftest import Command, Done
from tests.stub_endpoint import Received, Reply, StubEndpoint
from tests.written import article, asked_of, honest

RUNS = ("text_k4", "ctx_k8", "ctx_k8_strict")
METRICS = "metrics=[faithfulness,context_recall]"


def in_good_faith(received: Received) -> str:
    return honest(asked_of(received.messages))


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint(in_good_faith) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study of three runs over two questions."""
    article(tmp_path / "runs" / "written", questions=2, variants=RUNS)
    return tmp_path / "runs" / "written"


Evaluate = Callable[..., Done]


@pytest.fixture
def evaluate(command: Command, stub: StubEndpoint, folder: Path) -> Evaluate:
    """Evaluate the study with the stub as judge; words of the test's own come last."""

    def run(*words: str) -> Done:
        mine = [f"root={folder.parent}", "study.name=written", "judge=chat"]
        mine += [f"judge.chat.base_url={stub.base_url}", "judge.chat.model=stub"]
        return command("evaluate", *mine, "judge.language=zh_hant", METRICS, *words)

    return run


def scores(folder: Path, run: str = "text_k4") -> dict[tuple[str, str], tuple[Any, str]]:
    """Return (question, metric) -> value and status."""
    frame = pd.read_parquet(folder / run / "scores.parquet")
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return {(r["question_id"], r["metric"]): (r["value"], r["status"]) for r in rows}


def numbers(line: str) -> list[int]:
    """Return the counts of a table's row: calls, known, to send."""
    return [int(word.lstrip("<=").replace(",", "")) for word in line.split()[-5:-2]]


def test_scores_and_verdicts_are_written(evaluate: Evaluate, folder: Path) -> None:
    """Two claims, one of them supported by the passages, score one half; calls are counted."""
    done = evaluate()

    assert done.returncode == 0, done.stderr
    assert scores(folder)["q1", "faithfulness"] == (0.5, "ok")
    assert scores(folder)["q1", "context_recall"] == (1.0, "ok")
    verdicts = pd.read_parquet(folder / "text_k4" / "verdicts.parquet")
    assert set(verdicts["judge"]) == {"stub"}
    assert "4 of 4 cells scored" in done.stdout
    assert "asked (" in done.stdout


def test_what_is_alike_is_asked_once(evaluate: Evaluate, stub: StubEndpoint) -> None:
    """Two runs with equal passages share the reference's labels; a reference is taken apart once.

    By question: claims of 3 responses and 1 reference; the responses in their passages, 3; the
    reference in 2 contexts: 9, for two questions 18.
    """
    evaluate()
    assert len(stub.chats) == 18


def too_wide(text: str) -> list[str]:
    """Return the lines that a terminal of 100 columns breaks, commands to be pasted left out."""
    return [line for line in text.splitlines() if len(line) > 100 and line[:5] != "next:"]


def test_lines_fit_the_terminal(evaluate: Evaluate, folder: Path, stub: StubEndpoint) -> None:
    """Bill and summary fit into 100 columns, also with long names and many NA."""
    (folder / "text_k4").rename(folder / ("long-" * 19))
    run = Run(folder / ("long-" * 19))
    run.finish({**json.loads((run.path / "run.json").read_text()), "name": run.name})
    price = "+budget.prices={stub: {input: 1000.0, output: 2.0}}"
    everything = "metrics=[ragas,ragchecker,cites_policy]"
    stub.script = "I cannot evaluate this"
    words = (price, everything, "judge.strictness=1", "most_unread=1")

    bill = evaluate("dry_run=true", *words)
    done = evaluate(*words)

    assert "long-" * 19 + ":" in done.stdout
    assert "judge_unparsable" in done.stdout
    assert too_wide(bill.stdout + done.stdout) == []


def test_second_run_asks_nothing(evaluate: Evaluate, stub: StubEndpoint, folder: Path) -> None:
    """The same evaluation again sends no call and writes the same bytes."""
    evaluate()
    tables = {path: path.read_bytes() for path in folder.rglob("*.parquet")}
    asked = len(stub.chats)

    done = evaluate()

    assert len(stub.chats) == asked
    assert {path: path.read_bytes() for path in folder.rglob("*.parquet")} == tables
    assert "calls: 0 asked, 18 cached" in done.stdout


def test_prompts_that_begin_alike_are_neighbours(evaluate: Evaluate, stub: StubEndpoint) -> None:
    """One at a time, the texts that claims are held against come each in one stretch."""
    evaluate("judge.chat.concurrency=1")
    texts = [asked["text"] for r in stub.chats if "claims" in (asked := asked_of(r.messages))]

    assert sum(a != b for a, b in pairwise(texts)) == len(set(texts)) - 1


class TestDryRun:
    """`dry_run=true` says what would be asked, and asks nothing."""

    def test_before_anything_is_known(self, evaluate: Evaluate, stub: StubEndpoint) -> None:
        """All is to be sent; what rests on claims is a bound; identical calls are folded."""
        done = evaluate("dry_run=true")

        assert stub.chats == []
        lines = done.stdout.splitlines()
        row = next(line for line in lines if line.startswith("text_k4 ") and "faith" in line)
        assert numbers(row) == [4, 0, 4]
        total = next(line for line in lines if line.startswith("all "))
        assert numbers(total) == [18, 0, 18]
        assert "<=18" in total
        assert "no price for stub in conf/prices.yaml" in done.stdout
        assert "time: unknown" in done.stdout

    def test_bound_holds(self, evaluate: Evaluate, stub: StubEndpoint) -> None:
        """No more is asked than was announced, in calls and in tokens of prompts."""
        done = evaluate("dry_run=true")
        total = next(line for line in done.stdout.splitlines() if line.startswith("all "))
        cells = [cell.strip("<=").replace(",", "") for cell in total.split()]
        calls, prompt_tokens = int(cells[-5]), int(cells[-2])

        evaluate()

        assert len(stub.chats) <= calls
        assert sum(len(r.prompt.encode()) // 3 + 1 for r in stub.chats) <= prompt_tokens

    def test_once_claims_are_known_the_rest_is_exact(self, evaluate: Evaluate) -> None:
        """After faithfulness, a metric over the same claims is announced without a bound."""
        evaluate("metrics=[faithfulness]")
        done = evaluate("dry_run=true", "metrics=[faithfulness,precision]")

        rows = [line for line in done.stdout.splitlines() if line.startswith("ctx_k8 ")]
        assert [numbers(row) for row in rows] == [[4, 4, 0], [4, 2, 2]]
        assert "<=2 " not in done.stdout
        assert "estimated at twice" not in done.stdout
        assert "time: about" in done.stdout

    def test_when_all_is_known(self, evaluate: Evaluate) -> None:
        """Nothing is to be sent, and nothing to be paid."""
        evaluate()
        done = evaluate("dry_run=true")
        total = next(line for line in done.stdout.splitlines() if line.startswith("all "))
        assert numbers(total) == [18, 18, 0]
        assert "nothing to send, nothing to pay" in done.stdout

    def test_without_a_cache_nothing_is_known(self, evaluate: Evaluate) -> None:
        """With `cache=off` everything would be asked again, and a dry run still asks nothing."""
        evaluate()
        done = evaluate("dry_run=true", "cache=off")
        total = next(line for line in done.stdout.splitlines() if line.startswith("all "))
        assert numbers(total) == [18, 0, 18]

    def test_money(self, evaluate: Evaluate, stub: StubEndpoint) -> None:
        """With a price the money is named: at most, and as replies were so far."""
        price = "+budget.prices={stub: {input: 1000.0, output: 0.0}}"
        before = evaluate("dry_run=true", price)
        assert "cost: at most" in before.stdout
        evaluate("limit=1")
        after = evaluate("dry_run=true", price)
        assert "USD with replies of 7 tokens (mean of 9 cached calls)" in after.stdout

    def test_list_prices(self, evaluate: Evaluate) -> None:
        """A model that conf/prices.yaml has is reckoned at its price."""
        done = evaluate("dry_run=true", "judge.chat.model=gpt-4.1-mini")
        assert "USD at 0.4/1.6 per million tokens" in done.stdout

    def test_a_judge_without_a_model(self, command: Command, folder: Path) -> None:
        """The embedded judge calls no model."""
        done = command("evaluate", f"root={folder.parent}", "study.name=written", "dry_run=true")
        assert "judge overlap calls no model" in done.stdout


class TestBudget:
    """A limit ends the evaluation cleanly, and a higher one resumes it."""

    def test_calls(self, evaluate: Evaluate, stub: StubEndpoint, folder: Path) -> None:
        """What was not asked is NA `budget`, which is no failure; the next run asks only that.

        Five calls take claims, and score nothing: 12 of 12 cells are still to be asked.
        """
        done = evaluate("budget.calls=5", "judge.chat.concurrency=1")

        assert done.returncode == 0, done.stderr
        assert "still billed); raise budget.calls=5 and" in " ".join(done.stdout.split())
        assert len(stub.chats) == 5
        statuses = {status for run in RUNS for _, status in scores(folder, run).values()}
        assert statuses <= {"ok", "budget"}
        assert "budget" in statuses
        assert evaluate("budget.calls=0").returncode == 0

        evaluate()

        assert len(stub.chats) == 18
        assert all(status == "ok" for _, status in scores(folder).values())

    @pytest.mark.parametrize(
        ("limit", "asked"),
        [
            ("budget.tokens=1", 0),
            ("budget.tokens=1000", 1),
            ("budget.minutes=0", 0),
            ("budget.usd=1e-9", 0),
        ],
    )
    def test_other_limits(
        self, limit: str, asked: int, evaluate: Evaluate, stub: StubEndpoint, folder: Path
    ) -> None:
        """Tokens, minutes and money end it too: before a call for which too little is left."""
        price = "+budget.prices={stub: {input: 1.0, output: 1.0}}"
        evaluate(limit, price, "judge.chat.concurrency=1", "judge.chat.retries=0")

        # One and a half times the concurrency may be waiting for the first answer.
        assert asked <= len(stub.chats) <= 2 * asked
        assert ("q2", "faithfulness") in scores(folder)
        assert scores(folder)["q2", "faithfulness"] == (None, "budget")

    def test_money_needs_a_price(self, evaluate: Evaluate, stub: StubEndpoint) -> None:
        """A limit in money for a model without a price is an error before anything is paid."""
        done = evaluate("budget.usd=1")

        assert done.returncode == 1
        assert "no price is known for stub; add it to conf/prices.yaml" in done.stderr
        assert stub.chats == []


class TestOwnCheck:
    """A custom check is one YAML file, without Python."""

    YAML = """\
question: Does the response say what colour the tower is?
inputs: [response]
labels: [says_it, says_nothing]
counts: says_it
"""

    @pytest.fixture
    def colour(self, tmp_path: Path, stub: StubEndpoint) -> Path:
        def script(received: Received) -> str:
            asked = asked_of(received.messages)
            if set(asked) != {"response"}:
                return honest(asked)
            said = "says_it" if "色" in asked["response"] else "says_nothing"
            return json.dumps({"reason": "r", "verdict": said})

        stub.script = script
        path = tmp_path / "colour.yaml"
        path.write_text(self.YAML, encoding="utf-8")
        return path

    def test_is_a_metric(self, evaluate: Evaluate, colour: Path, folder: Path) -> None:
        """Its share of labels that count 1 is scored beside the built-in metrics."""
        done = evaluate(f"metrics=[faithfulness,{colour}]")

        assert done.returncode == 0, done.stderr
        assert scores(folder, "text_k4")["q1", "colour"] == (1.0, "ok")
        assert scores(folder, "ctx_k8_strict")["q1", "colour"] == (0.0, "ok")
        verdicts = pd.read_parquet(folder / "text_k4" / "verdicts.parquet")
        rows = verdicts[verdicts["check"] == "colour"]
        assert list(rows["label"]) == [1, 1]
        assert all(rows["call"].str.len() == 64)

    def test_is_remembered(self, evaluate: Evaluate, colour: Path, stub: StubEndpoint) -> None:
        """It is asked once a text, and never again while its words stay."""
        evaluate(f"metrics=[{colour}]")
        assert len(stub.chats) == 6
        evaluate(f"metrics=[{colour}]")
        assert len(stub.chats) == 6

    def test_changed_words_are_asked_anew(
        self, evaluate: Evaluate, colour: Path, stub: StubEndpoint, folder: Path
    ) -> None:
        """Labels of the old wording give way to the new on demand only, and nothing else does."""
        evaluate(f"metrics=[context_recall,{colour}]")
        asked = len(stub.chats)
        colour.write_text(self.YAML.replace("colour the", "colours the"), encoding="utf-8")

        refused = evaluate(f"metrics=[{colour}]")
        assert refused.returncode == 1
        assert "colour.question" in refused.stderr
        assert "judge.name" not in refused.stderr
        assert len(stub.chats) == asked
        done = evaluate(f"metrics=[{colour}]", "again=true")

        assert done.returncode == 0, done.stderr
        assert len(stub.chats) == asked + 6
        assert ("q2", "context_recall") in scores(folder)
        assert "dropped" not in done.stdout

    def test_another_evaluation_keeps_its_wording(
        self, evaluate: Evaluate, colour: Path, stub: StubEndpoint, folder: Path
    ) -> None:
        """What is recorded of a check while another is asked stays: an edited one is refused."""
        other = colour.with_name("tower.yaml")
        other.write_text(self.YAML.replace("colour the", "kind the"), encoding="utf-8")
        evaluate(f"metrics=[{colour}]")
        run = Run(folder / "text_k4")
        first = run.judges()["stub"]
        run.table("scores").unlink()

        def meanwhile(received: Received) -> str:
            write_evaluation(run, "stub", first, [], [])
            return json.dumps({"reason": "r", "verdict": "says_it"})

        stub.script = meanwhile
        assert evaluate(f"metrics=[{other}]").returncode == 0

        assert set(run.judges()["stub"]["own"]) == {"colour", "tower"}
        colour.write_text(self.YAML.replace("colour the", "colours the"), encoding="utf-8")
        assert "colour.question" in evaluate(f"metrics=[{colour}]").stderr

    def test_is_planned(self, evaluate: Evaluate, colour: Path) -> None:
        """A dry run counts it under its name."""
        done = evaluate(f"metrics=[{colour}]", "dry_run=true")
        row = next(line for line in done.stdout.splitlines() if line.startswith("ctx_k8_strict"))
        assert row.split()[1] == "colour"
        assert numbers(row) == [2, 0, 2]

    def test_shipped_example_is_found_by_name(
        self, evaluate: Evaluate, colour: Path, folder: Path, stub: StubEndpoint
    ) -> None:
        """`cites_policy` is a file in conf/check and a metric by that name."""
        stub.script = json.dumps({"reason": "r", "verdict": "names_it"})
        evaluate("metrics=[cites_policy]")
        assert scores(folder)["q1", "cites_policy"] == (1.0, "ok")

    def test_a_model_decides_what_refuses(
        self, evaluate: Evaluate, folder: Path, command: Command, stub: StubEndpoint
    ) -> None:
        """With the metric `refusal` the judge is asked too, in its language, once per answer; the
        report rests on its labels and says so."""
        stub.script = json.dumps({"reason": "r", "verdict": "declines"})
        evaluate("metrics=[refusal]", "runs=[text_k4]")
        asked = [received.messages for received in stub.chats]
        again = evaluate("metrics=[refusal]", "runs=[text_k4]")

        assert len(asked) == 2
        assert all("是否拒絕作答" in messages[0]["content"] for messages in asked)
        assert "calls: 0 asked, 2 cached" in again.stdout
        assert scores(folder)["q1", "declines"] == (1.0, "ok")
        assert scores(folder)["q1", "refusal"] == (0.0, "ok")

        done = command(
            "report", f"root={folder.parent}", "study.name=written", "judge=chat", "language=en",
            "judge.chat.model=stub", "judge.language=zh_hant", "runs=[text_k4]",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        text = (folder / "report/runs-text_k4/report.md").read_text("utf-8")
        assert "The judge decided for 2 of 2 answers whether they refuse" in text

    def test_is_contrasted(
        self, evaluate: Evaluate, colour: Path, command: Command, folder: Path
    ) -> None:
        """The report shows it like any other metric: the strict prompt costs it all of its 1.0."""
        evaluate(f"metrics=[faithfulness,{colour}]")

        done = command(
            "report", f"root={folder.parent}", "study.name=written", "judge=chat",
            "judge.chat.model=stub", "judge.language=zh_hant",
        )  # fmt: skip

        assert done.returncode == 0, done.stderr
        table = pd.read_csv(folder / "report" / "contrasts.csv")
        (row,) = table[table["metric"] == "colour"].to_dict("records")
        assert (row["factor"], row["left_mean"], row["right_mean"]) == ("strict", 1.0, 0.0)
        assert row["attribution"] == "generation"

    def test_unknown_name(self, evaluate: Evaluate) -> None:
        """A name that is neither metric nor check is an error with the nearest guess."""
        done = evaluate("metrics=[cites_polic]")
        assert done.returncode == 1
        assert "did you mean 'cites_policy'?" in done.stderr

    def test_name_of_a_metric_is_taken(self, evaluate: Evaluate, colour: Path) -> None:
        """A file called like a metric does not shadow it."""
        taken = colour.rename(colour.with_name("faithfulness.yaml"))
        done = evaluate(f"metrics=[{taken}]")
        assert done.returncode == 1
        assert "check 'faithfulness' already exists" in done.stderr

    def test_a_file_in_conf_is_not_ignored(self, evaluate: Evaluate, conf: Path) -> None:
        """Else the metric of its name would be computed in silence."""
        file = conf / "check/faithfulness.yaml"
        file.write_text((conf / "check/declines.yaml").read_text(encoding="utf-8"), "utf-8")
        done = evaluate()
        assert done.returncode == 1
        assert "faithfulness.yaml: 'faithfulness' already exists; give" in done.stderr


def wrong_value(value: Any) -> Callable[..., Any]:
    """Return a metric's function that gives this, or raises it."""

    def compute(response_text: str) -> Any:
        """Give it."""
        if isinstance(value, Exception):
            raise value
        return value

    return compute


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero; correct the"),
        (MetricValue(float("nan")), "nan is not between 0 and 1: correct its function, or give Me"),
        (
            MetricValue(7.0),
            "7.0 is not between 0 and 1: correct its function, or give Metric(bound",
        ),
        (MetricValue("high"), "high is not between 0 and 1"),  # type: ignore[arg-type]
        (0.5, "TypeError: it returned 0.5, not a MetricValue; correct the function"),
    ],
)
def test_a_wrong_metric_is_named(
    value: Any, message: str, evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name, the question and the remedy are in one line, and nothing is averaged."""
    monkeypatch.setitem(TABLE, "mine", Metric(wrong_value(value), Layer.GENERATION))

    done = evaluate("metrics=[mine]")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"metric 'mine', question 'q1': {message}" in done.stderr


def test_the_summary_counts_what_was_asked(evaluate: Evaluate) -> None:
    """Scores of an earlier evaluation are not counted again."""
    evaluate()

    assert "text_k4: 2 of 2 cells scored" in evaluate("metrics=[answer_char_f1]").stdout


def test_a_system_that_failed_is_not_judged(
    evaluate: Evaluate, folder: Path, stub: StubEndpoint
) -> None:
    """A question without a response is NA `not_answered` in every metric, custom checks too."""
    run = Run(folder / "text_k4")
    first, second = run.responses()
    failed = dataclasses.replace(first, response=None, error="the endpoint was down")
    run.write_responses([failed, second])
    stub.script = Reply(json.dumps({"reason": "r", "verdict": "names_it"}))

    evaluate("runs=[text_k4]", "metrics=[cites_policy,answer_match]")

    assert scores(folder)["q1", "cites_policy"] == (None, "not_answered")
    assert scores(folder)["q2", "cites_policy"] == (1.0, "ok")
    assert len(stub.chats) == 1


class TestLabelsThatStand:
    """What a judge could be read for is never lost to what it could not be read for."""

    @pytest.fixture
    def whole(self, evaluate: Evaluate, command: Command, folder: Path) -> dict[Path, bytes]:
        """Evaluate all, forget every call, and return the tables."""
        assert evaluate().returncode == 0
        command("calls", f"root={folder.parent}", "prune=chat")
        return {path: path.read_bytes() for path in folder.rglob("*.parquet")}

    @pytest.mark.parametrize(
        ("word", "why"), [("budget.calls=5", "budget"), ("cache=read", "judge_failed")]
    )
    def test_after_calls_are_forgotten(
        self, word: str, why: str, evaluate: Evaluate, whole: dict[Path, bytes]
    ) -> None:
        """Neither a budget nor a store that may only be read costs a label; the account says so."""
        done = evaluate(word, "judge.chat.concurrency=1")

        assert {path: path.read_bytes() for path in whole} == whole
        assert done.returncode == (0 if why == "budget" else 1)
        assert "4 of 4 cells scored" in done.stdout
        assert f" {why})" in done.stdout
        assert "kept: " in done.stdout
        assert ("budget spent: " in done.stdout) == (why == "budget")

    def test_other_settings_need_labels(
        self, evaluate: Evaluate, whole: dict[Path, bytes], stub: StubEndpoint
    ) -> None:
        """`again=true` with a server that refuses leaves every run as it was."""
        stub.script = Reply(status=400)
        done = evaluate("again=true", "judge.chat.temperature=0.5")

        assert done.returncode == 1
        assert "text_k4: kept its previous labels" in done.stdout
        assert {path: path.read_bytes() for path in whole} == whole

        stub.script = in_good_faith
        done = evaluate("again=true", "judge.chat.temperature=0.5", "budget.calls=1")
        assert done.returncode == 0, done.stderr
        assert "text_k4: kept its previous labels" in done.stdout
        assert "budget spent: " in done.stdout
        assert {path: path.read_bytes() for path in whole} == whole

        done = evaluate("again=true", "judge.chat.temperature=0.5")
        assert done.returncode == 0, done.stderr
        assert {path: path.read_bytes() for path in whole} != whole

    def test_scores_follow_from_what_stands(
        self, evaluate: Evaluate, whole: dict[Path, bytes], stub: StubEndpoint, folder: Path
    ) -> None:
        """New claims with a check that fails do not come beside the labels of the old claims."""

        def script(received: Received) -> str | Reply:
            if "claims" in asked_of(received.messages):
                return Reply(status=400)
            return json.dumps({"claims": ["甲。", "乙。", "丙。"]}, ensure_ascii=False)

        stub.script = script
        assert evaluate("judge.chat.retries=0").returncode == 1

        assert {path: path.read_bytes() for path in whole} == whole
        assert scores(folder)["q1", "faithfulness"] == (0.5, "ok")


class TestOneLabelOneJudge:
    """One judge's name means the same settings in all runs of a study."""

    def test_another_run_counts(self, evaluate: Evaluate, stub: StubEndpoint) -> None:
        """A run that is not chosen refuses other settings, with `again` too; all at once may."""
        evaluate("runs=[text_k4]")
        asked = len(stub.chats)
        for again in ("again=false", "again=true"):
            refused = evaluate("runs=[ctx_k8]", "judge.chat.temperature=0.9", again)
            assert refused.returncode == 1
            assert "text_k4: the judge 'stub' labelled it under other settings" in refused.stderr
            assert "again=true without runs= replaces" in refused.stderr
            assert "python -m harness.evaluate study=" in refused.stderr
            assert "judge=" in refused.stderr
        assert len(stub.chats) == asked
        assert evaluate("judge.chat.temperature=0.9", "again=true").returncode == 0

    def test_the_same_judge_under_another_name(
        self, evaluate: Evaluate, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Its agreement with itself is no evidence, which is said; that of another judge may be."""
        evaluate()
        evaluate("judge.name=other", "judge.strictness=2")
        assert not caplog.records

        done = evaluate("judge.name=second")

        assert done.returncode == 0
        (line,) = [one.message for one in caplog.records]
        assert "the judge 'second' has the settings of 'stub'" in line

    def test_again_with_a_part_of_the_questions(
        self, evaluate: Evaluate, stub: StubEndpoint
    ) -> None:
        """Labels of other questions would go, so it is refused, with their number.

        Of q2 there are two claims of the response and one of the reference, each with a label
        against all passages at once: 2 + 2 + 1 + 1 = 6 rows.
        """
        evaluate("runs=[text_k4]")
        asked = len(stub.chats)
        refused = evaluate("again=true", "limit=1", "judge.chat.temperature=0.9")

        assert refused.returncode == 1
        assert "again=true would drop the 6 labels of 1 other question:" in refused.stderr
        assert len(stub.chats) == asked

    def test_metrics_that_are_not_asked_anew(self, evaluate: Evaluate) -> None:
        """Labels that go with the settings they were given under are counted.

        Of each of two questions one claim of the reference and its label, in three runs: 12.
        """
        evaluate()
        done = evaluate("again=true", "metrics=[faithfulness]", "judge.chat.temperature=0.9")

        assert done.returncode == 0, done.stderr
        assert "dropped: 12 labels made under the judge's earlier settings" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE calls SET payload = 'no JSON'",
        "UPDATE calls SET payload = '{}'",
        "UPDATE vectors SET vector = zeroblob(1536)",
        "UPDATE vectors SET vector = x'0000c07f0000c07f'",
        "UPDATE vectors SET vector = x'00'",
    ],
)
@pytest.mark.parametrize("hashed", [True, False])
def test_a_damaged_store_changes_no_score(
    evaluate: Evaluate, folder: Path, damage: str, hashed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Its rows are named, dropped and asked again."""
    words = ("metrics=[faithfulness,answer_relevancy]", "judge.strictness=1", "runs=[text_k4]")
    assert evaluate(*words).returncode == 0
    before = {path: path.read_bytes() for path in folder.rglob("*.parquet")}
    with sqlite3.connect(folder.parent / ".cache/calls.sqlite") as store:
        store.execute(damage)
        if not hashed:
            store.execute("DELETE FROM sums")
    store.close()

    done = evaluate(*words)

    assert done.returncode == 0, done.stderr
    assert "is damaged and dropped" in caplog.text
    assert {path: path.read_bytes() for path in folder.rglob("*.parquet")} == before
