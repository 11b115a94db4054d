"""What a judge gives back of its prompt is no answer, and no claim either."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness.judge import Case, ChatJudge, CustomCheck
from harness.judge.checks import CheckKind
from harness.judge.contract import Job
from harness.judge.prompt import fenced, languages, prompt, prompt_for
from harness.llm import Calls, Completion
from harness.records import Status, Verdict

Build = Callable[..., ChatJudge]
Other = Callable[..., Case]

CUSTOM = CustomCheck("cites", "Does it name its source?", ("response",), ("names_it", "not"), "not")
TOWER = "The tower is 27 metres tall."
JOBS = {
    CheckKind.CLAIMS: Job(CheckKind.CLAIMS, "How tall is the tower?", TOWER),
    CheckKind.ENTAILMENT: Job(CheckKind.ENTAILMENT, text=TOWER, items=("a 1.", "b 2.", "c 3.")),
    CheckKind.USEFULNESS: Job(CheckKind.USEFULNESS, "How tall?", "", TOWER, ("a 1.", "b 2.")),
    CheckKind.REVERSE_QUESTION: Job(CheckKind.REVERSE_QUESTION, text=TOWER),
    CheckKind.CUSTOM_CHECK: Job(CheckKind.CUSTOM_CHECK, text=TOWER, custom=CUSTOM),
}
each_language = pytest.mark.parametrize("language", languages())
each_job = pytest.mark.parametrize("job", JOBS.values(), ids=[str(kind) for kind in JOBS])


def answered(judge: ChatJudge, job: Job, *replies: str) -> tuple[Status | None, int]:
    """Return why there is no answer to a job, and how often the model was asked."""
    following = iter(replies)
    judge.chat.script = lambda _: next(following, replies[-1])
    (answer,) = judge.answer([job], Calls(None), lambda: None)
    return answer.error, len(judge.chat.asked)


@each_language
@each_job
def test_the_form_of_the_reply_is_an_echo(job: Job, language: str, chat_judge: Build) -> None:
    """The line that shows the form is refused, alone or inside the whole prompt."""
    judge = chat_judge(language=language)
    wording = prompt_for(language, job)
    (form,) = wording.forms
    line = wording.instructions[wording.instructions.rindex(f'{{"{next(iter(form))}"') :]
    assert line.endswith("}")

    assert answered(judge, job, json.dumps(form)) == (Status.JUDGE_ECHO, 3)
    for reply in (line, wording.instructions, f"```json\n{line}\n```"):
        judge.chat.asked.clear()
        assert answered(judge, job, reply) == (Status.JUDGE_ECHO, 3)


@each_language
@each_job
def test_a_worked_example_is_an_echo(job: Job, language: str, chat_judge: Build) -> None:
    """The reply of an example, its input, and the object asked about are no answers."""
    for given, reply in prompt(language, job.kind).examples:
        echoes: list[Any] = [given, reply] if reply != {"claims": []} else [given]
        for echo in echoes:
            judge = chat_judge(language=language)
            assert answered(judge, job, fenced(echo)) == (Status.JUDGE_ECHO, 3)


@each_language
def test_a_part_of_an_example_is_an_echo(language: str, chat_judge: Build) -> None:
    """One row of an example makes the whole reply an echo, whatever its label and stops."""
    for kind in (CheckKind.ENTAILMENT, CheckKind.USEFULNESS):
        ((_, reply),) = prompt(language, kind).examples
        row = {**reply["verdicts"][0], "reason": f" {reply['verdicts'][0]['reason']}  "}
        job = replace(JOBS[kind], items=("a 1.", "b 2."))
        own = {**reply["verdicts"][1], "reason": "It says 27 metres."}
        reply = json.dumps({"verdicts": [row, own]})
        assert answered(chat_judge(language=language), job, reply)[0] is Status.JUDGE_ECHO


def test_an_echo_is_repaired_then_asked_afresh(chat_judge: Build) -> None:
    """An answer to either of the two further calls counts."""
    job = JOBS[CheckKind.ENTAILMENT]
    rows = [{"id": n, "reason": "r", "verdict": "unknown"} for n in (1, 2, 3)]
    echo, answer = fenced(prompt("en", job.kind).examples[0][1]), json.dumps({"verdicts": rows})

    assert answered(chat_judge(language="en"), job, echo, answer) == (None, 2)
    assert answered(chat_judge(language="en"), job, echo, echo, answer) == (None, 3)
    assert answered(chat_judge(language="en"), job, f"The form: {echo} Mine: {answer}") == (None, 1)


def test_the_labels_of_an_example_are_no_echo(chat_judge: Build) -> None:
    """An answer with the labels of the example and reasons of its own is an answer."""
    job = JOBS[CheckKind.ENTAILMENT]
    ((_, reply),) = prompt("en", job.kind).examples
    rows = [{**row, "reason": f"It says {n}."} for n, row in enumerate(reply["verdicts"])]
    assert answered(chat_judge(language="en"), job, json.dumps({"verdicts": rows})) == (None, 1)


@pytest.mark.parametrize(
    ("language", "text", "claim", "reason"),
    [
        ("en", "Line 9 runs hourly.", "It takes bicycles.", "The text does not mention bicycles."),
        ("ja", "9番線は毎時。", "自転車を載せられます。", "自転車については何も書かれていない。"),
        ("zh_hant", "九號線每小時一班。", "九號線可以載運腳踏車。", "文中沒有提到腳踏車。"),
    ],
)
def test_a_reason_that_equals_the_example_s(
    language: str, text: str, claim: str, reason: str, chat_judge: Build
) -> None:
    """What an example says of bicycles is an answer where bicycles were asked about."""
    reply = json.dumps({"verdicts": [{"id": 1, "reason": reason, "verdict": "unknown"}]})
    about, other = (Job(CheckKind.ENTAILMENT, text=text, items=(item,)) for item in (claim, "甲 a"))

    assert answered(chat_judge(language=language), about, reply) == (None, 1)
    assert answered(chat_judge(language=language), other, reply)[0] is Status.JUDGE_ECHO


def test_a_job_about_the_example_s_subject(chat_judge: Build) -> None:
    """The example's own input may be asked about, and its own answer is then the answer."""
    given, reply = prompt("en", CheckKind.REVERSE_QUESTION).examples[0]
    job = Job(CheckKind.REVERSE_QUESTION, "When?", given["text"])
    assert answered(chat_judge(language="en"), job, fenced(reply)) == (None, 1)

    (given, reply), _ = prompt("en", CheckKind.CLAIMS).examples
    job = Job(CheckKind.CLAIMS, given["question"], given["text"])
    assert answered(chat_judge(language="en"), job, fenced(reply)) == (None, 1)


def test_an_example_inside_a_custom_question(chat_judge: Build) -> None:
    """A custom check's own example is a part of the prompt as well."""
    shown = '{"reason": "It names ISO 9001.", "verdict": "names_it"}'
    job = replace(
        JOBS[CheckKind.CUSTOM_CHECK],
        custom=replace(CUSTOM, question=f"Does it name its source? A reply may be {shown}"),
    )
    assert answered(chat_judge(), job, shown)[0] is Status.JUDGE_ECHO
    assert answered(chat_judge(), job, shown.replace("9001", "27"))[0] is None


@pytest.mark.parametrize(
    "text", ["...", "……", '" "', "?", "<your question here>", "質問文", "問句"]
)
def test_a_reverse_question_without_a_letter(text: str, chat_judge: Build) -> None:
    """A placeholder is no question."""
    reply = json.dumps({"question": text, "reason": "It commits.", "noncommittal": True})
    job = JOBS[CheckKind.REVERSE_QUESTION]
    assert answered(chat_judge(), job, reply)[0] is Status.JUDGE_ECHO


# Claims.


MAY, OPENED = "Was the bridge opened in May?", "The bridge was opened in May."


def claims(judge: ChatJudge, case: Case, *texts: str) -> list[Verdict]:
    judge.chat.script = lambda _: json.dumps({"claims": texts}, ensure_ascii=False)
    (rows,) = judge.judge([case], ["claims_response"], Calls(None))
    return rows


@pytest.mark.parametrize(
    "text",
    [
        *("None", "none.", "N/A", "n.a.", "(None)", "Null", "Nothing", "no claims", "No claim."),
        *("There are no claims.", "No factual claims were made.", "The text makes no claims."),
        *("None found", "N / A", "There aren't any claims.", "No claims to verify.", "Zero claims"),
        *("回答に主張はありません。", "主張は見当たりません", "検証可能な主張はない"),
        *("該回答未包含任何主張", "此回答沒有事實陳述", "無相關陳述"),
        *("No verifiable statements found", "Not applicable", '"None"', "It contains no facts."),
        *(
            "なし",
            "なし。",
            "特になし",
            "該当なし",
            "主張はありません。",
            "該当する主張はありません",
        ),
        *(
            "無",
            "無。",
            "无",
            "沒有",
            "没有任何陈述",
            "無任何可查證的陳述。",
            "文中沒有陳述",
            "不適用",
        ),
        " ",
    ],
)
def test_a_claim_that_is_none_is_no_claim(text: str, chat_judge: Build, case: Case) -> None:
    """A word that says that there are no claims is not taken for one."""
    (row,) = claims(chat_judge(), case, text)
    assert (row.item, row.text, row.error) == (-1, None, Status.NO_CLAIMS)

    (row,) = claims(chat_judge(), case, "塔高27公尺。", text)
    assert row.text == "塔高27公尺。"


@pytest.mark.parametrize(
    "text",
    [
        "None of the towers is open.",
        "There are no claims against the insurer.",
        "No fact sheet was published.",
        "入場料なしで見学できる。",
        "沒有人受傷。",
        "無人機可以飛行。",
    ],
)
def test_a_claim_that_begins_like_none(text: str, chat_judge: Build, case: Case) -> None:
    """A sentence that goes on is a claim."""
    assert [row.text for row in claims(chat_judge(), case, text)] == [text]


@pytest.mark.parametrize(
    "texts",
    [
        ["..."],
        ["...", "..."],
        ["……"],
        ["…", " "],
        ["claim 1", "claim 2"],
        ["<string>"],
        ["<your first claim>"],
        ["簡短的陳述。"],
        ["主张一", "主张二"],
    ],
)
def test_placeholders_are_an_echo(texts: list[str], chat_judge: Build, case: Case) -> None:
    """A list of dots or numbered places is the form of the reply, not a text without claims."""
    (row,) = claims(chat_judge(), case, *texts)
    assert (row.item, row.error) == (-1, Status.JUDGE_ECHO)


@pytest.mark.parametrize(
    ("language", "question", "response", "claim", "kept"),
    [
        ("en", MAY, "Yes, in May. It has a toll of 3 dollars.", OPENED, True),
        ("en", MAY, "Yes.", OPENED, True),
        ("en", MAY, "It was, and it has a toll.", OPENED, True),
        ("en", "Was the bridge opened in May or June?", "In May.", OPENED, True),
        ("en", "Has the bridge had a toll?", "No.", "The bridge has never had a toll.", True),
        ("en", MAY, "No, never.", "The bridge was not opened in May.", True),
        ("en", "When did the bridge open?", "In May.", "The bridge opened in May.", True),
        ("ja", "橋は5月に開通しましたか。", "はい、5月です。", "橋は5月に開通しました。", True),
        ("zh_hant", "大橋是五月通車的嗎？", "是的，五月。", "大橋於五月通車。", True),
        ("zh_hans", "大桥是五月通车的吗？", "对，五月。", "大桥于五月通车。", True),
        ("en", MAY, "It has a toll of 3 dollars.", OPENED, False),
        ("zh_hans", "大桥是五月通车的吗？", "没错。", "大桥于五月通车。", True),
        ("ja", "橋は5月に開通しましたか。", "その通りです。", "橋は5月に開通しました。", True),
        ("en", MAY, "Certainly.", OPENED, True),
        ("en", MAY, "I do not know.", OPENED, False),
        ("en", MAY, "No information is given.", OPENED, False),
        (
            "en",
            "When was it opened?",
            "In May.",
            "The Redpine Bridge was opened in May 1988.",
            False,
        ),
    ],
)
def test_a_claim_in_the_words_of_the_question(
    language: str, question: str, response: str, claim: str, kept: bool,
    chat_judge: Build, other: Other,
) -> None:  # fmt: skip
    """A short answer takes its words from the question; the question alone makes no claim."""
    case = other(question=question, response=response)
    rows = claims(chat_judge(language=language), case, claim, "It is 27 metres.")
    assert [row.text for row in rows] == [*[claim] * kept, "It is 27 metres."]


def test_unread_replies_are_echoes_in_the_table(
    chat_judge: Build, case: Case, calls: Calls
) -> None:
    """The row of an echo says what was wrong, and quotes the reply."""
    echo = Completion('{"claims": ["...", "..."]}', "stop", 100, 50, 0.01)
    (row,) = chat_judge(lambda _: echo).judge([case], ["claims_response"], calls)[0]
    assert row.reason is not None
    assert row.reason.startswith("the reply repeats the prompt; expected an answer about the last")
