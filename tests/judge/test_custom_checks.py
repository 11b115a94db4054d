import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import ConfigError, InputError
from harness.judge import Case, ChatJudge, CustomCheck, OverlapJudge, read_check
from harness.llm import Calls, Request
from harness.records import Status

YAML = """
question: Does the response name its source?
inputs: [question, response]
labels: [names_it, does_not]
counts: names_it
"""
Build = Callable[..., ChatJudge]
Other = Callable[..., Case]


@pytest.fixture
def cites(tmp_path: Path) -> CustomCheck:
    path = tmp_path / "cites_source.yaml"
    path.write_text(YAML, encoding="utf-8")
    return read_check(path)


def says(word: str) -> Callable[[Request], str]:
    return lambda _: json.dumps({"reason": "r", "verdict": word})


@pytest.mark.parametrize(("word", "label"), [("names_it", 1), ("does_not", 0)])
def test_one_label_counts_1(
    word: str, label: int, cites: CustomCheck, chat_judge: Build, case: Case, calls: Calls
) -> None:
    """The verdict is a row like any other, under the check's own name."""
    judge = chat_judge(says(word))
    (rows,) = judge.judge([case], [], calls, custom=[cites])
    assert [(r.check, r.item, r.against, r.label, r.reason, r.error) for r in rows] == [
        ("cites_source", 0, -1, label, "r", None)
    ]


def test_only_its_inputs_are_shown(
    cites: CustomCheck, chat_judge: Build, case: Case, calls: Calls
) -> None:
    """The model sees the question, the verdicts to choose from, and the inputs that are named."""
    judge = chat_judge(says("names_it"))
    judge.judge([case], [], calls, custom=[cites])

    (request,) = judge.chat.asked
    assert "Does the response name its source?" in request.messages[0].content
    assert "names_it, does_not" in request.messages[0].content
    assert json.loads(request.messages[-1].content) == {
        "question": case.question,
        "response": case.response,
    }


def test_what_it_does_not_look_at_costs_nothing(
    cites: CustomCheck, chat_judge: Build, other: Other, calls: Calls
) -> None:
    """Two variants that differ in their passages alone are asked about once."""
    judge = chat_judge(says("names_it"))
    judge.judge([other(), other(passages=("別的。",))], [], calls, custom=[cites])
    assert len(judge.chat.asked) == 1


def test_each_passage_by_itself(chat_judge: Build, case: Case, calls: Calls) -> None:
    """With `passage` among the inputs there is a label for each, in rank order."""
    dated = CustomCheck("dated", "Dated?", ("passage",), ("yes", "no"), "yes")

    def script(request: Request) -> str:
        passage = json.loads(request.messages[-1].content)["passage"]
        return says("yes" if "休館" in passage else "no")(request)

    (rows,) = chat_judge(script).judge([case], [], calls, custom=[dated])
    assert [(row.item, row.label) for row in rows] == [(0, 0), (1, 1)]


@pytest.mark.parametrize("name", ["passage", "passages"])
def test_without_passages(name: str, chat_judge: Build, other: Other, calls: Calls) -> None:
    """A check that looks at passages is NA where there are none."""
    check = CustomCheck("dated", "Dated?", (name,), ("yes", "no"), "yes")
    (rows,) = chat_judge(says("yes")).judge([other(passages=())], [], calls, custom=[check])
    assert [(row.item, row.error) for row in rows] == [(-1, Status.NO_PASSAGES)]


def test_all_passages_at_once(chat_judge: Build, case: Case, calls: Calls) -> None:
    """With `passages` there is one label for all of them."""
    check = CustomCheck("dated", "Dated?", ("passages",), ("yes", "no"), "yes")
    judge = chat_judge(says("yes"))
    (rows,) = judge.judge([case], [], calls, custom=[check])

    assert [(row.item, row.label) for row in rows] == [(0, 1)]
    assert [p["id"] for p in json.loads(judge.chat.asked[0].messages[-1].content)["passages"]] == [
        1,
        2,
    ]


def test_label_outside_the_set_is_na(
    cites: CustomCheck, chat_judge: Build, case: Case, calls: Calls
) -> None:
    """It is validated like the built-in checks: another word is no answer, not a 0."""
    (rows,) = chat_judge(says("perhaps")).judge([case], [], calls, custom=[cites])
    assert [(row.label, row.error) for row in rows] == [(None, Status.JUDGE_UNPARSABLE)]


def test_overlap_cannot_answer_it(cites: CustomCheck, case: Case, calls: Calls) -> None:
    """A judge without a language model says so."""
    (rows,) = OverlapJudge().judge([case], [], calls, custom=[cites])
    assert [row.error for row in rows] == [Status.NOT_SUPPORTED_BY_JUDGE]


def test_taken_names_are_refused(chat_judge: Build, case: Case, calls: Calls) -> None:
    """A custom check does not shadow a built-in one, nor another of its name."""
    taken = CustomCheck("passage_useful", "?", ("question",), ("yes", "no"), "yes")
    with pytest.raises(ConfigError, match="passage_useful"):
        chat_judge().judge([case], [], calls, custom=[taken])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("counts: names_it", "", r"write exactly the keys .*; found question, inputs, labels"),
        ("counts: names_it", "counts: name_it", r"counts: .*did you mean 'names_it'"),
        ("[question, response]", "[responses]", r"inputs: .*did you mean 'response'"),
        ("[question, response]", "[passage, passages]", r"one by one"),
        ("[names_it, does_not]", "[names_it]", r"give two answers or more"),
        ("[names_it, does_not]", "[yes, no]", r"labels: write a list of words; quote yes"),
        ("[names_it, does_not]", "[names_it, names_it]", r"each of them once"),
        ("[question, response]", "[]", r"inputs: give at least one word, each of them once"),
        ("inputs:", "inputs: [", r"cites\.yaml: "),
    ],
)
def test_mistakes_name_the_file_and_the_key(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    """A check that cannot be is one line that says where and what to write."""
    path = tmp_path / "cites.yaml"
    path.write_text(YAML.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=message) as error:
        read_check(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_question_is_put_in_the_judges_language(tmp_path: Path) -> None:
    """A wording per language is chosen by the judge's; a language without one gets the English."""
    path = tmp_path / "cites.yaml"
    wordings = 'question: {en: "Does it?", ja: 根拠を挙げていますか。}'
    text = YAML.replace("question: Does the response name its source?", wordings)
    path.write_text(text, encoding="utf-8")

    assert read_check(path, "ja").question == "根拠を挙げていますか。"
    assert read_check(path, "zh_hans").question == "Does it?"

    path.write_text(text.replace('en: "Does it?", ', ""), encoding="utf-8")
    with pytest.raises(InputError, match="or one per language, 'en' among them"):
        read_check(path)


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(InputError, match=r"nowhere\.yaml"):
        read_check(tmp_path / "nowhere.yaml")
