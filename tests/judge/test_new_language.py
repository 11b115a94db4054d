"""A judge language is a folder of YAML prompts: a new one is used without any other change."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.judge import Case, ChatJudge, CustomCheck, checks_for
from harness.judge import prompt as prompts
from harness.judge.checks import CheckKind
from harness.judge.fitness import examine
from harness.llm import Calls, Request
from harness.metrics import METRICS, assemble
from harness.records import Passage, Question, Response
from tests.conftest import Command, Study
from tests.judge.conftest import honest
from tests.stub_endpoint import Received, StubEndpoint
from tests.written import asked_of
from tests.written import honest as honest_reply

Build = Callable[..., ChatJudge]


@pytest.fixture
def korean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Write the folder `ko`: every prompt of English, with instructions in Korean."""
    for file in sorted((prompts.FOLDER / "en").glob("*.yaml")):
        text = file.read_text(encoding="utf-8")
        head, rest = text.split("instructions: |\n", 1)
        path = tmp_path / "ko" / file.name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{head}instructions: |\n  한국어로 답하라: {file.stem}.\n{rest}", "utf-8")
    shutil.copytree(prompts.FOLDER / "en", tmp_path / "en")
    monkeypatch.setattr(prompts, "FOLDER", tmp_path)
    prompts.prompt.cache_clear()
    yield "ko"
    prompts.prompt.cache_clear()


def test_it_judges_from_the_prompt_to_the_score(
    korean: str, chat_judge: Build, case: Case, calls: Calls
) -> None:
    """Its instructions are sent with every question, and its labels become a score.

    The response has two sentences, of which the passages hold one: faithfulness 1/2.
    """
    judge = chat_judge(honest, language=korean)
    metric = METRICS["faithfulness"]

    (rows,) = judge.judge([case], checks_for(metric.needs), calls)

    sent = [request.messages[0].content for request in judge.chat.asked]
    assert [text.splitlines()[0] for text in sent] == [
        "한국어로 답하라: claims.",
        "한국어로 답하라: entailment.",
    ]
    passages = tuple(Passage(str(n), "d", 1, "text", t) for n, t in enumerate(case.passages))
    response = Response("q1", 0, case.question, case.reference, "text", case.response, passages)
    question = Question("q1", case.question, case.reference, "text")
    assert metric.score(assemble(response, question, rows)).value == 0.5


def test_it_is_part_of_the_identity(korean: str, chat_judge: Build) -> None:
    """Labels by its prompts are not mixed with those of another language."""
    identity = chat_judge(language=korean).identity()

    assert identity["language"] == "ko"
    assert identity["prompts"] != chat_judge(language="en").identity()["prompts"]


def test_it_asks_custom_checks_and_repairs(
    korean: str, chat_judge: Build, case: Case, calls: Calls
) -> None:
    """A reply that is no JSON is sent back with the repair prompt of the language."""
    check = CustomCheck("dated", "Dated?", ("response",), ("yes", "no"), "yes")
    judge = chat_judge(lambda _: "무엇?", language=korean)

    judge.judge([case], [], calls, custom=[check])

    turns = [turn.content for request in judge.chat.asked for turn in request.messages]
    assert any(turn.startswith(f"한국어로 답하라: {CheckKind.CUSTOM_CHECK}.") for turn in turns)
    assert any(turn.startswith("한국어로 답하라: repair.") for turn in turns)


def test_the_doctor_says_that_accuracy_is_not_measured(
    korean: str, chat_judge: Build, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without questions with known answers there is one line for that, and no crash."""
    monkeypatch.setattr("harness.judge.fitness.labelled_languages", lambda: ("en",))

    def script(request: Request) -> str:
        return honest(request) if request.messages[-1].content.startswith("{") else "yes"

    found = {one.name: one for one in examine(chat_judge(script, language=korean), calls)}

    assert found["accuracy (ko)"].result.startswith("not measured: there are no questions")
    assert "labelled/ko.yaml" in found["accuracy (ko)"].advice
    assert "accuracy (en)" in found


@pytest.mark.slow
def test_a_study_in_it_from_collect_to_report(
    korean: str,
    command: Command,
    study: Study,
    conf: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its prompt is a text in the prompt's file; the report is in English, as one line says."""
    with (conf / "prompt/default.yaml").open("a", encoding="utf-8") as file:
        file.write("ko: |\n  다음 자료로 답하라.\n  {passages}\n  질문: {question}\n")

    def script(received: Received) -> str:
        asked = received.messages[-1]["content"]
        return honest_reply(asked_of(received.messages)) if asked[0] == "{" else "塔高27公尺。"

    with StubEndpoint(script) as stub:
        model = [f"base_url={stub.base_url}", "model=stub"]
        words = [*study.words, "study.variants=[text_k4]", "study.language=ko", "judge=chat"]
        words += ["chat=openai", *(f"variant.chat.{word}" for word in model)]
        words += [f"judge.chat.{word}" for word in model]
        done = command("study", *words, "metrics=[faithfulness]", "captioner=none")

    assert done.returncode == 0, done.stderr
    asked = [chat.messages[0]["content"] for chat in stub.chats]
    assert sum(text.startswith("다음 자료로 답하라.") for text in asked) == 3
    assert sum(text.startswith("한국어로 답하라: ") for text in asked) == len(asked) - 3
    lines = [one.message for one in caplog.records if "words of the report" in one.message]
    assert len(lines) == 1
    assert "no words of the report in 'ko' (known: en, ja, zh_hans, zh_hant)" in lines[0]
    (report,) = study.folder.glob("runs/*/report/report.md")
    assert "Faithfulness" in report.read_text(encoding="utf-8").title()


def test_an_unknown_language_lists_it(korean: str) -> None:
    """The languages are those that have a folder."""
    with pytest.raises(ConfigError, match=r"klingon.*known: en, ko"):
        prompts.language("klingon")
