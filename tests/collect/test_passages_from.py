"""One variant's generator on another run's passages, and the split that this makes possible."""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.collect.plan import Handover
from harness.config.factors import Factors
from harness.errors import ConfigError, RunError
from harness.llm import Calls
from harness.records import Question, Response
from harness.store import Run
from harness.systems import Bench, System
from tests.conftest import Command, Study

pytestmark = pytest.mark.slow

SHORT = ("variant=text_k4", "variant.top_k=1")
"""The first passage alone, quoted."""
MUTE = ("variant=text_k4", "variant.top_k=2", "variant.chat.threshold=2")
"""Two passages, and a generator that always refuses: nothing scores above 1."""
SHORT_RUN = "text_k4-index.chunk_size-40-top_k-1"
MUTE_RUN = "text_k4-chat.threshold-2-index.chunk_size-40-top_k-2"


@pytest.fixture
def short(command: Command, study: Study) -> Study:
    """One run, whose passages are to be read by others."""
    assert command("collect", *SHORT, *study.words).returncode == 0
    return study


def facts(study: Study, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((study.run(name) / "run.json").read_text("utf-8"))
    return content


def crossed_name(study: Study) -> str:
    """Return the name of the only run that reads another's passages."""
    [name] = [p.name for p in study.run("x").parent.iterdir() if "passages_from" in p.name]
    return name


def test_the_generator_reads_the_other_runs_passages(command: Command, short: Study) -> None:
    """Passages and their facts are exactly those of the other run; the answers are the variant's.

    Nothing is retrieved: the corpus need not even be there any more.
    """
    short.corpus.unlink()

    done = command("collect", *MUTE, *short.words, f"passages_from={SHORT_RUN}")

    assert done.returncode == 0, done.stderr
    crossed, other = Run(short.run(crossed_name(short))), Run(short.run(SHORT_RUN))
    for row, theirs in zip(crossed.responses(), other.responses(), strict=True):
        assert row.passages == theirs.passages
        assert (row.k_requested, row.corpus_size) == (1, theirs.corpus_size)
        assert row.response == "資料中沒有提到。" != theirs.response
    assert crossed.facts()["corpus"] == other.facts()["corpus"]
    assert crossed.facts()["made_with"]["index"] == other.facts()["made_with"]["index"]


def test_factors_are_those_of_what_acted(command: Command, short: Study) -> None:
    """Retrieval as in the other run, generation as in the variant; `passages_from` is inactive."""
    command("collect", *MUTE, *short.words, f"passages_from={SHORT_RUN}")

    record = facts(short, crossed_name(short))
    leaves = record["factors"]["leaves"]
    assert (leaves["top_k"], leaves["chat.threshold"]) == (1, 2)
    assert leaves["passages_from"] == record["passages_from"]["run"] == SHORT_RUN
    assert "passages_from" in record["factors"]["inactive"]


def pasted(page: str) -> list[list[str]]:
    """Return the words of each command that a page offers with `passages_from`."""
    lines = re.findall(r"^ *python -m harness\.collect (.*passages_from=.*)$", page, re.MULTILINE)
    return [shlex.split(line) for line in lines]


def parts(page: str, metric: str) -> list[float]:
    """Return a metric's difference, what retrieval and generation made of it, and the questions."""
    row = rf"^\| {MUTE_RUN} \| {SHORT_RUN} \| {metric} \| (.*) \|$"
    [numbers] = re.findall(row, page, re.MULTILINE)
    return [float(number) for number in numbers.split(" | ")]


def test_the_split_adds_up_to_the_total(command: Command, short: Study) -> None:
    """The report prints commands for the two missing runs; with them it splits the difference.

    Refusing loses every answer, whatever the passages: that is generation. One passage less
    comes back, whoever reads it: that is retrieval.
    """
    command("collect", *MUTE, *short.words)
    named = ("study=demo_baseline", f"root={short.folder / 'runs'}", "study.name=small")
    where = (*named, f"study.testset={short.testset}", "language=en")
    command("evaluate", *named)
    command("report", *where)
    report = short.folder / "runs/small/report"
    offered = pasted((report / "report.md").read_text("utf-8"))
    assert len(offered) == 2

    for words in offered:
        done = command("collect", *words)
        assert done.returncode == 0, done.stderr
    command("evaluate", *named)
    command("report", *where)

    page = (report / "report.md").read_text("utf-8").replace("\\_", "_")
    right = pd.read_csv(report / "right_wrong.csv").groupby("run")["right"].mean()
    difference = right[SHORT_RUN] - right[MUTE_RUN]
    assert difference > 0
    assert parts(page, "share right") == [difference, 0.0, difference, 3]
    assert parts(page, "passages returned") == [-1, -1, 0, 3]
    contrasts = pd.read_csv(report / "contrasts.csv").query("metric == 'right'")
    by_generation = contrasts[contrasts["factor"] == "chat.threshold"]
    assert set(by_generation["attribution"]) == {"generation"}
    assert len(by_generation) == 2
    assert {*contrasts["factor"]} == {"chat.threshold", "top_k"}


def test_passages_of_another_version_are_told_apart(command: Command, short: Study) -> None:
    """`version` may act on either side, so the run's name is the factor then."""
    command("collect", *SHORT, *short.words, "version=v2", f"passages_from={SHORT_RUN}")

    factors = facts(short, crossed_name(short))["factors"]
    assert factors["leaves"]["version"] == "v2"
    assert "passages_from" not in factors["inactive"]


def test_a_run_collected_anew_is_noticed(command: Command, short: Study) -> None:
    """A run on the old passages is not resumed with the new ones."""
    words = (*MUTE, *short.words, f"passages_from={SHORT_RUN}")
    command("collect", *words)
    run = Run(short.run(SHORT_RUN))
    first, *others = run.responses()
    run.write_responses([replace(first, passages=()), *others])

    done = command("collect", *words)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "was collected with other settings (changed: passages_from)" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["passages_from=text_k9"], "unknown run 'text_k9' (did you mean 'text_k4'?)"),
        (["passages_from=text_k4"], "text_k4 was collected on another test set"),
        (["study.name=other", "passages_from=text_k4"], "has no finished run"),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    words: list[str], message: str, command: Command, study: Study
) -> None:
    """A run that is not there, or that was asked other questions, is named."""
    Run(study.run("text_k4")).finish({"testset_fingerprint": "that of other questions"})

    done = command("collect", "variant=text_k4", *study.words, *words)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert message in done.stderr


def test_a_failed_question_fails_again(command: Command, short: Study) -> None:
    """Where the other run has no passages the row says why; the others are answered."""
    run = Run(short.run(SHORT_RUN))
    rows = run.responses()
    run.write_responses([row("q1", response=None), *rows[1:]])

    done = command("collect", *MUTE, *short.words, f"passages_from={SHORT_RUN}")

    assert "2 of 3 answered, 1 failed" in done.stdout


def test_what_a_study_declares_is_recorded(
    command: Command, study: Study, caplog: pytest.LogCaptureFixture
) -> None:
    """Declared tests are recorded with commit and time; earlier parts stay undeclared."""
    declared = "study.primary=[{factor:prompt,metric:faithfulness},{factor:promt,metric:right}]"
    name = "text_k4-index.chunk_size-40"
    command("collect", "variant=text_k4", *study.words, declared, "limit=2")

    assert facts(study, name)["study"]["primary"] == [
        {"factor": "prompt", "metric": "faithfulness"},
        {"factor": "promt", "metric": "right"},
    ]
    assert {"git_commit", "started"} <= facts(study, name).keys()
    assert [record.getMessage() for record in caplog.records] == [
        "study.primary: this variant has no factor 'promt'; did you mean 'prompt'?"
    ]

    later = declared.replace("{factor:promt,metric:right}", "{factor:top_k,metric:right}")
    command("collect", "variant=text_k4", *study.words, later)

    assert facts(study, name)["study"]["primary"] == [
        {"factor": "prompt", "metric": "faithfulness"}
    ]


def test_what_a_study_expects_is_recorded(command: Command, study: Study) -> None:
    """Expectations are recorded like declared tests, and an outcome must be one of three."""
    words = "study.expect=[{factor:top_k,outcome:better},{factor:prompt,outcome:same}]"
    command("collect", "variant=text_k4", *study.words, words)

    expected = facts(study, "text_k4-index.chunk_size-40")["study"]["expect"]
    assert [(one["factor"], one["outcome"], one["metric"], one["to"]) for one in expected] == [
        ("top_k", "better", "right", None),
        ("prompt", "same", "right", None),
    ]
    refused = command("collect", "variant=text_k4", *study.words, words.replace("same", "equal"))
    assert "unknown outcome 'equal'" in refused.stderr


def test_a_declared_metric_must_be_one(command: Command, study: Study) -> None:
    """A mistyped metric is named before anything is asked."""
    word = "study.primary=[{factor:prompt,metric:faithfullness}]"

    done = command("collect", "variant=text_k4", *study.words, word)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "unknown metric 'faithfullness' (did you mean 'faithfulness'?)" in done.stderr


def row(question: str, repeat: int = 0, response: str | None = "x") -> Response:
    return Response(question, repeat, "ask", "reference", "text", response, k_requested=4)


@pytest.fixture
def given(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Handover]:
    """Build a finished run as the source of passages."""

    def build(*rows: Response, **factors: Any) -> Handover:
        said = {"choices": {}, "leaves": {}, "inactive": [], **factors}
        run = Run(tmp_path_factory.getbasetemp() / "ctx_k9")
        return Handover(run, {"factors": said}, rows)

    return build


def test_repeats_beyond_the_other_runs_get_its_first(given: Callable[..., Handover]) -> None:
    """Missing repeats get the passages of the first; a failed question has none."""
    asked = [Question(q, "ask", "reference", "text") for q in ("q1", "q2")]

    found = given(row("q1"), row("q2", response=None)).passages_for(
        [(asked[0], 0), (asked[0], 1), (asked[1], 0)]
    )

    assert list(found) == [("q1", 0), ("q1", 1)]
    assert found["q1", 1].k_requested == 4


def test_questions_that_the_other_run_was_not_asked(given: Callable[..., Handover]) -> None:
    """A part of a run has passages for that part only."""
    missing = Question("q2", "ask", "reference", "text")

    with pytest.raises(
        RunError, match=r"ctx_k9 was not asked q2.*collect that run completely first"
    ):
        given(row("q1")).passages_for([(missing, 0)])


def test_one_embedder_is_recorded_where_one_acts(given: Callable[..., Handover]) -> None:
    """Extractive answers use an embedder too, which must be that of the index."""
    own = Factors({"chat": "extractive", "embedder": "e5"}, {"embedder.build": "1"}, ())
    other = Factors({**own.choices, "chat": "ollama"}, own.leaves, ())
    run = given(choices={"embedder": "openai"}, leaves={"embedder.model": "m"})

    with pytest.raises(ConfigError, match="chat=extractive uses the variant's embedder"):
        run.factors(own)
    assert run.factors(other).leaves == {"embedder.model": "m", "passages_from": "ctx_k9"}
    assert run.factors(other).choices == {"embedder": "openai", "chat": "ollama"}


def test_systems_that_retrieve_for_themselves_are_named(tmp_path: Path) -> None:
    """An application behind HTTP cannot be given passages."""
    with pytest.raises(ConfigError, match="passages_from= needs system=rag"):
        System().open_on({}, Bench(Calls(None), tmp_path))
