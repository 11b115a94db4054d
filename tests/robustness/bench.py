"""A small study, the commands on it in this process, and what a fault mode does to its labels."""

import contextlib
import io
import json
import logging
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from harness.records import Question, Response
from tests.benchmarks.judge_stub import in_good_faith
from tests.conftest import Done, module
from tests.robustness.faults import MODES, Fault, written
from tests.stub_endpoint import Received, Reply, StubEndpoint
from tests.written import asked_of, chance, passage, write_run

SHARE = 0.3
"""Share of the replies that are faulty."""

DEPTHS = {"top_k2": 2, "top_k4": 4}
"""The runs: passages of each answer."""

Label = tuple[int | None, str | None, float | None]
Labels = dict[tuple[Any, ...], Label]
"""Run, question, check, item, passage -> label, text, similarity."""


def study(folder: Path, questions: int = 6) -> None:
    """Write two runs whose answers make three claims each."""
    asked = [
        Question(f"q{n}", f"第{n}題：{n}號塔有多高？", f"{n}號塔高{20 + n}公尺。", "text")
        for n in range(1, questions + 1)
    ]
    for name, depth in DEPTHS.items():
        rows = [
            Response(
                question_id=question.id,
                repeat=0,
                user_input=question.question,
                reference=question.reference,
                source="text",
                response=f"{question.reference}{question.id}的休館日為週1。塔為{depth}色。",
                passages=tuple(passage(question, "text", rank) for rank in range(depth)),
                k_requested=depth,
                corpus_size=400,
            )
            for question in asked
        ]
        write_run(folder / name, asked, rows, top_k=depth)


@contextmanager
def written_study(questions: int = 6) -> Iterator[Path]:
    """Give the root of a new study named `written`."""
    with tempfile.TemporaryDirectory() as folder:
        study(Path(folder) / "written", questions)
        yield Path(folder)


def settings(root: Path, url: str, *more: str) -> list[str]:
    """Return the settings of an evaluation whose judge and embedder are the stub."""
    return [
        *(f"root={root}", "study.name=written", "judge=chat", "judge.language=zh_hant"),
        *(f"judge.chat.base_url={url}", "judge.chat.model=stub", "judge.chat.backoff=0.01"),
        *("judge.strictness=1", "judge.batch_passages=true", "metrics=[ragas,cites_policy]"),
        *("embedder@judge.embedder=openai", "judge.embedder.model=stub"),
        *(f"judge.embedder.base_url={url}", "judge.embedder.query_prefix=''"),
        *("judge.embedder.passage_prefix=''", *more),
    ]


@dataclass(frozen=True)
class Ended(Done):
    """How a command ended in this process."""

    crash: str = ""
    """The exception that a user would see as a traceback."""

    @property
    def problem(self) -> str:
        """What is wrong with the way it ended; empty where nothing is."""
        if self.crash:
            return self.crash
        _, printed, rest = self.stderr.partition("Traceback")
        if printed:
            return printed + rest
        return "failed without a line" if self.returncode and not self.stderr.strip() else ""


def here(name: str, *words: str) -> Ended:
    """Run a command in this process."""
    out, error, code, crash = io.StringIO(), io.StringIO(), 0, ""
    before = sys.argv
    sys.argv = [f"harness.{name}", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            module(name).main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=error)
    except Exception as problem:  # noqa: BLE001  any exception is a traceback for the user
        code, crash = 1, f"{type(problem).__name__}: {problem}"
    finally:
        sys.argv = before
        logging.getLogger().handlers.clear()
    return Ended(code, out.getvalue(), error.getvalue(), crash)


def labels(root: Path) -> Labels:
    """Return the labels of all runs; what is NA is left out."""
    return {
        (name, *(row[key] for key in ("question_id", "check", "item", "against"))): (
            row["label"],
            row["text"],
            row["similarity"],
        )
        for name in DEPTHS
        if (file := root / "written" / name / "verdicts.parquet").exists()
        for row in pq.read_table(file).to_pylist()
        if row["error"] is None
    }


@dataclass
class FaultyJudge:
    """Gives the fault in place of a share of the replies.

    Whether it does is drawn from the question and how often it was put, so that it depends on
    neither the order of the requests nor the clock.
    """

    name: str
    fault: Fault
    share: float = SHARE
    seed: int = 7
    sound: dict[str, list[bool]] = field(default_factory=dict)
    """Question -> whether each reply to it was sound."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, received: Received) -> str | Reply:
        question = json.dumps(asked_of(received.messages), ensure_ascii=False)
        said = in_good_faith(received)
        answer = json.loads(said)
        if str(received.messages[0]["content"]).startswith("Reference ") and not self.fault.lasts:
            return said  # a prompt made longer to measure the window: its reply is not read
        with self.lock:
            replies = self.sound.setdefault(question, [])
            turn = 0 if self.fault.lasts else len(replies)
            drawn = chance(f"{self.seed} {self.name} {question} {turn}")
            due = drawn < self.share
            if self.name == "other_reply_each_time":
                due = bool(replies)
            bad = self.fault.speak(answer, received) if due else None
            replies.append(bad in (None, said, written(answer)))
        return said if bad is None else bad

    def lost(self) -> set[str]:
        """Return the questions that may stay without a label."""
        tries = self.fault.tries
        if not tries:
            return set()
        return {
            question
            for question, replies in self.sound.items()
            if len(replies) >= tries and not any(replies)
        }


@dataclass(frozen=True)
class Outcome:
    """What a fault mode did to the labels."""

    mode: str
    kind: str
    requests: int
    faulty: int
    labels: int
    wrong: int
    na: int
    na_at_most: int
    why: str
    healed_wrong: int
    """Wrong labels after the same command against a judge that is well again."""
    healed_na: int
    healed_requests: int
    exit: int
    problem: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether no label is wrong, none is missing without need, and all come when it is well."""
        lost = self.na > self.na_at_most or self.healed_na > 0
        return not (self.wrong or self.healed_wrong or lost or self.problem)


def compare(found: Labels, right: Labels) -> tuple[int, int]:
    """Return how many labels are wrong, or belong nowhere, and how many are missing."""
    wrong = sum(right.get(key) != label for key, label in found.items())
    return wrong, len(right.keys() - found.keys())


@cache
def honest_labels(questions: int) -> Labels:
    """Return the labels of a judge that answers everything in good faith."""
    with written_study(questions) as root, StubEndpoint(in_good_faith) as stub:
        ended = here("evaluate", *settings(root, stub.base_url))
        assert ended.returncode == 0, ended
        return labels(root)


def run_mode(name: str, most: int = 6) -> Outcome:
    """Evaluate under a fault, count, and evaluate again once the judge is well.

    Args:
        name: Of the mode.
        most: Questions of the study, unless the mode takes fewer.
    """
    fault = MODES[name]
    questions = min(most, fault.questions)
    right = honest_labels(questions)
    judge = FaultyJudge(name, fault)
    started = time.perf_counter()
    with written_study(questions) as root, StubEndpoint(judge) as stub:
        words = settings(root, stub.base_url, *fault.settings)
        ended = here("evaluate", *words)
        wrong, na = compare(labels(root), right)
        requests = len(stub.chats)
        stub.script = in_good_faith
        # Another deadline is another client, as in a process of its own: none is given up yet.
        healed = here("evaluate", *words, "judge.chat.deadline=301")
        healed_wrong, healed_na = compare(labels(root), right)
        asked_again = len(stub.chats) - requests
    return Outcome(
        mode=name,
        kind=fault.kind,
        requests=requests,
        faulty=sum(not sound for replies in judge.sound.values() for sound in replies),
        labels=len(right),
        wrong=wrong,
        na=na,
        na_at_most=len(right) if fault.tries is None else unavoidable(judge, right, questions),
        why=fault.why,
        healed_wrong=healed_wrong,
        healed_na=healed_na,
        healed_requests=asked_again,
        exit=ended.returncode,
        problem=ended.problem or healed.problem or healed.stderr * (healed.returncode != 0),
        seconds=round(time.perf_counter() - started, 1),
    )


def unavoidable(judge: FaultyJudge, right: Labels, questions: int) -> int:
    """Return how many labels are missing where exactly the questions that are lost get no answer.

    Measured by an evaluation of its own, as labels rest on each other.
    """
    lost = judge.lost()
    if not lost:
        return 0

    def script(received: Received) -> str:
        asked = json.dumps(asked_of(received.messages), ensure_ascii=False)
        return "" if asked in lost else in_good_faith(received)

    with written_study(questions) as root, StubEndpoint(script) as stub:
        here("evaluate", *settings(root, stub.base_url))
        return compare(labels(root), right)[1]
