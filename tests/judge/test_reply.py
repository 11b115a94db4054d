import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judge import json_repair, reply
from harness.judge.reply import UnreadableReply, read_reply
from harness.records import Status

BINARY = {"type": "integer", "enum": [0, 1]}
REASON = {"type": ["string", "null"]}


def an_object(**properties: dict[str, Any]) -> dict[str, Any]:
    required = [key for key in properties if properties[key] is not REASON]
    return {"type": "object", "properties": properties, "required": required}


def a_list(of: dict[str, Any], **bounds: int) -> dict[str, Any]:
    return {"type": "array", "items": of, **bounds}


VERDICT = an_object(verdict=BINARY, reason=REASON)
CLAIMS = an_object(claims=a_list({"type": "string"}))
LABEL = {"type": "string", "enum": ["entailed", "contradicted", "unknown"]}
STATEMENT = an_object(statement={"type": "string"}, verdict=BINARY, reason={"type": "string"})
NUMBERED = an_object(
    verdicts=a_list(an_object(id={"type": "integer"}, reason=REASON, verdict=LABEL))
)
SCHEMAS = {
    "verdict": VERDICT,
    "label3": an_object(label=LABEL),
    "claims": CLAIMS,
    "statements": an_object(statements=a_list(STATEMENT)),
    "statements3": an_object(statements=a_list(STATEMENT, minItems=3, maxItems=3)),
    "score": an_object(score={"type": "number", "minimum": 0, "maximum": 10}),
}
REPLIES = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "data/judge/malformed_json.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


def refusal(text: str, schema: dict[str, Any], ids: list[int] | None = None) -> UnreadableReply:
    with pytest.raises(UnreadableReply) as caught:
        read_reply(text, schema, ids)
    return caught.value


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: f"{reply['id']}-{reply['kind']}")
def test_malformed_replies(reply: dict[str, Any]) -> None:
    """Each of the 96 collected replies gives the value written beside it, or is refused."""
    schema = SCHEMAS[reply["schema"]]
    if reply["coerced"] == "reject":
        status = refusal(reply["text"], schema).status
        missing = reply["kind"] in {"truncated", "wrong_count"} or reply["id"] == "mj047"
        assert status is (Status.JUDGE_INCOMPLETE if missing else Status.JUDGE_UNPARSABLE)
    else:
        value = read_reply(reply["text"], schema)
        assert value == reply["coerced"]
        assert not any(isinstance(entry, bool) for entry in value.values())


# The cases of reports, by their number.


@pytest.mark.parametrize(
    "text",
    [
        "很抱歉，無法判斷",  # A11
        "I cannot evaluate this",  # C01
        "",  # C01, and C06: the server put the answer into the reasoning field
        "   \n",
        "No. As I said yesterday...",  # B13: holds the letters of yes
        "選2，因為1有誤",  # B13: holds the digit 1
        "無法比較",  # B13
        "1. …支持：是\n2. …矛盾：否",  # C13
    ],
)
def test_prose_is_no_verdict(text: str) -> None:
    """A reply without JSON is unparsable, whatever letters and digits it holds."""
    for schema in (VERDICT, NUMBERED, SCHEMAS["statements3"]):
        assert refusal(text, schema).status is Status.JUDGE_UNPARSABLE


def test_missing_verdicts_are_not_support() -> None:
    """B08: two verdicts for five statements are incomplete, and the message names the rest."""
    verdicts = [{"id": 1, "verdict": "entailed"}, {"id": 2, "verdict": "contradicted"}]
    error = refusal(json.dumps({"verdicts": verdicts}), NUMBERED, [1, 2, 3, 4, 5])
    assert error.status is Status.JUDGE_INCOMPLETE
    assert str(error) == "`verdicts` has 2 of 5 items: the ids [3, 4, 5] are missing"


def test_a_sentence_is_no_label() -> None:
    """B13: a label inside a sentence is not read, though its letters are there."""
    error = refusal('{"verdict": "No. As I said yesterday..."}', VERDICT)
    assert str(error) == '`verdict` is "No. As I said yesterday..."; expected one of 0, 1'


def test_cut_before_the_number() -> None:
    """C02: a reply cut before its value is incomplete, never zero."""
    for text in ('thought... {"score":', '{"reason": "the score is"'):
        assert refusal(text, SCHEMAS["score"]).status is Status.JUDGE_INCOMPLETE


def test_think_block_is_not_the_answer() -> None:
    """C04: the draft inside the think block does not count; the tag inside a string is text."""
    assert read_reply('<think>maybe {"verdict":0}</think>{"verdict":1}', VERDICT) == {"verdict": 1}
    for reason in ("the tag <think> opens it", "</think> closes it", "<think>x</think>"):
        value = {"verdict": 1, "reason": reason}
        written = json.dumps(value)
        for text in (written, f"```json\n{written}\n```", f"<think>x</think>{written}"):
            assert read_reply(text, VERDICT) == value


@pytest.mark.parametrize(
    "thought",
    [
        "<think>a {</think>",
        "<think>a</think>\n<think>{'verdict': 0}</think>",
        "<Thinking>\n[1] and {x: 1}\n</Thinking>",
        'no tag at the start {"verdict": 0, "reason": "dr </think>',
        'no tag at the start {"verdict": 0, "verdict": 1} </think>',
        "",
    ],
)
def test_replies_with_and_without_thought_read_alike(thought: str) -> None:
    """C07: reasoning before the answer changes nothing about the answer."""
    assert read_reply(thought + '{"verdict": 1}', VERDICT) == {"verdict": 1}


DRAFT = '{"verdicts": [{"id": 1, "reason": "r", "verdict": "contradicted"}]}'


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
        ("<seed:think>", "</seed:think>"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ],
)
def test_a_draft_in_any_mark_of_thinking_is_no_answer(begin: str, end: str) -> None:
    """A draft inside a thought is not read, whether or not the thought or an answer follows."""
    answer = DRAFT.replace("contradicted", "entailed")
    for text in (f"Maybe {DRAFT}? No, wait.", f"Maybe {DRAFT[:-9]}", f"```json\n{DRAFT}\n```"):
        refusal(f"{begin}{text}{end}The claim is entailed.", NUMBERED, [1])
        assert refusal(begin + text, NUMBERED, [1]).status is Status.JUDGE_INCOMPLETE
        read = read_reply(f"{begin}{text}{end}{answer}", NUMBERED, [1])
        assert read["verdicts"][0]["verdict"] == "entailed"


def test_wrong_bracket_does_not_lose_a_record() -> None:
    """C09: with a bracket of the wrong kind the list is refused, not read with fewer items."""
    record = an_object(claim={"type": "string"}, labels=a_list({"type": "string"}, minItems=2))
    text = '[{"claim":"甲","labels":["e","n"}]},{"claim":"乙","labels":["e","e"]}]'
    assert refusal(text, an_object(records=a_list(record))).status is Status.JUDGE_UNPARSABLE
    assert refusal(text, record).status is Status.JUDGE_UNPARSABLE


def test_preface_is_no_item() -> None:
    """C10: the sentence before a fence is left outside, and a required key stays required."""
    assert read_reply('以下是結果：\n```json\n{"claims": ["甲"]}\n```', CLAIMS) == {
        "claims": ["甲"]
    }
    pairs = an_object(arr=a_list(an_object(a=BINARY, b=BINARY)))
    refusal('{"arr":[{"a":1', pairs)
    assert "`b` is missing" in str(refusal('{"arr":[{"a":1}]}', pairs))


# JobAnswer the answer among other text.


@pytest.mark.parametrize(
    "text",
    [
        'Passage [1] and [2, 3] say so, [sic]: {"verdict": 1}',
        'The set {a, b} and {"a", "b"} [see below]: {"verdict": 1}',
        '{"type": "object"}\n{"verdict": 1}',
        'Example: {"verdict": 0}\nAnswer: {"verdict": 1}',
        '例如 {"verdict": 0}。{"verdict": 1}',
        '{"verdict": 1}, as {"verdict": true} says',
        '{"verdict": 1}}',
    ],
)
def test_answer_is_found_in_prose(text: str) -> None:
    """Brackets in prose, other objects and marked examples do not hide the answer."""
    assert read_reply(text, VERDICT) == {"verdict": 1}


@pytest.mark.parametrize(
    "text",
    [
        'I cannot judge this. For example, a reply would be: {"verdict": 1}',
        'I am unable to judge this. The reply could be: {"verdict": 1}',
        'A reply would look like this:\n\n```json\n{"verdict": 1}\n```',
        'Here is an example: {"verdict": 1}',
        'E.g. {"verdict": 1}',
        '{"verdict": 1} is only an example.',
        'I cannot decide. Something like {"verdict": 1}',
        'A typical reply: {"verdict": 1}',
        'The reply could be {"verdict": 1}',
        '{"verdict": 1} (This is only an illustration.)',
        '判断できません。例を挙げると：{"verdict": 1}',
        '見本: {"verdict": 1}',
        '{"verdict": 1}\n上記は見本です。',
        '無法判斷。舉例來說：{"verdict": 1}',
        '格式如下：{"verdict": 1}',
        '{"verdict": 1}\n以上只是示範。',
        '```json\n{"verdict": 1}\n```\n(This is an example.)',
        '無法判斷。例如，回覆會是：{"verdict": 1}',
        '无法判断。比如：{"verdict": 1}',
        '判断できません。例えば、次のように返します：{"verdict": 1}',
        '{"verdict": 1} これは一例です。',
    ],
)
def test_an_example_alone_is_no_answer(text: str) -> None:
    """What is shown as an example of a reply is not read as one."""
    assert str(refusal(text, VERDICT)) == "the reply gives an example; expected an answer"


@pytest.mark.parametrize(
    "text",
    [
        'The passage gives an example of a tower. My verdict: {"verdict": 1}',
        'Following the example, my reply is: {"verdict": 1}',
        'Here is the JSON in the format you asked for:\n{"verdict": 1}',
        '指定の形式で回答します。\n{"verdict": 1}',
        '按照要求的格式：\n{"verdict": 1}',
        'I cannot find a year in it. {"verdict": 1}',
        '{"verdict": 1}\n\nFor example, the second line says so.',
        '{"verdict": 1}\nNo other fact is given. Actual figures may differ.',
        '資料舉例說明了這一點。{"verdict": 1} 例外不計。',
    ],
)
def test_an_answer_beside_an_example(text: str) -> None:
    """A word for an example elsewhere does not make one of the answer."""
    assert read_reply(text, VERDICT) == {"verdict": 1}


def labelled(*labels: str, first: int = 1) -> str:
    rows = [{"id": n, "reason": "r", "verdict": word} for n, word in enumerate(labels, first)]
    return json.dumps({"verdicts": rows})


@pytest.mark.parametrize(
    "words",
    [
        "Correction:",
        "Wait, the second is wrong.",
        "I made a mistake. Corrected:",
        "更正：",
        "訂正します。",
        "改正如下：",
    ],
)
def test_the_corrected_whole_is_the_answer(words: str) -> None:
    """A whole that is announced as a correction replaces what stands before it."""
    text = f"{labelled('entailed', 'entailed')}\n{words} {labelled('entailed', 'unknown')}"
    read = read_reply(text, NUMBERED, [1, 2])
    assert [row["verdict"] for row in read["verdicts"]] == ["entailed", "unknown"]


def test_an_explanation_is_no_correction() -> None:
    """Prose after the answer that repeats its labels, or speaks of others, leaves it as it is."""
    answer = labelled("entailed", "unknown")
    for words in (
        "Claim 2 is unknown, as no year is given.",
        "Sorry for the delay.",
        "A contradicted claim would name another year.",
    ):
        read = read_reply(f"{answer}\n\n{words}", NUMBERED, [1, 2])
        assert [row["verdict"] for row in read["verdicts"]] == ["entailed", "unknown"]


@pytest.mark.parametrize(
    "correction",
    [
        "Correction: " + labelled("contradicted", first=2),
        labelled("contradicted", first=2),
        'Correction: {"id": 2, "verdict": "contradicted"}',
        '{"id": 2, "verdict": "contradicted"}',
        'Correction: {"2": "contradicted"}',
        "Correction: claim 2 is contradicted.",
        "Wait, claim 2 is contradicted.",
        "Claim 2 should be contradicted.",
        "On second thought, both are unknown.",
        "On reflection, the last one fails.",
        "Upon closer inspection, the last one fails.",
        "Strike that.",
        "The verdict is incorrect.",
        "いや、2は矛盾です。",
        "見直した結果、2は不明です。",
        "重新檢查後，第二項應是矛盾。",
        "等等，第二項不對。",
        "EDIT: the second fails.",
        "The second one is contradicted.",
        "Update: id 2 -> contradicted",
        "第二項其實是 contradicted。",
        "抱歉，第二項有誤。",
        "申し訳ありません、2は誤りです。",
        "更正：第二項應為 contradicted。",
        "訂正：2 は contradicted です。",
        f"{labelled('unknown', 'unknown')} Correction: {labelled('unknown', 'entailed')}",
    ],
)
def test_a_correction_of_a_part_is_no_answer(correction: str) -> None:
    """Where it is not certain what the corrected whole is, nothing is read."""
    refusal(f"{labelled('entailed', 'entailed')} {correction}", NUMBERED, [1, 2])


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": 0}\n{"verdict": 1}',
        'For example {"verdict": 0}, for example {"verdict": 1}',
        '{"verdict": 1}, {"verdict": 1, "reason": null}',
        '{"verdict": 1} {"verdict": 0, "reason',
        '{"verdict": 1} <think>or {"verdict": 0}?',
        '[{"verdict": 1}, {"verdict": 0}]',
        '[{"verdict": 1}, {"verdict',
        '{"verdict": 1, "Verdict": 0}',
    ],
)
def test_two_answers_are_none(text: str) -> None:
    """Where a reply can be read in two ways, it is not read."""
    refusal(text, VERDICT)


def test_list_that_closes_too_early_is_refused() -> None:
    """What follows a closing bracket by a comma belonged to the list."""
    error = refusal('["a"], "b"]', CLAIMS)
    assert str(error) == 'the JSON goes on with ", \\"b\\"]"'


def test_longest_misfit_is_told() -> None:
    """The error speaks of the answer, not of a small object beside it."""
    error = refusal('{"a": 1} then {"verdict": "maybe", "reason": "long"}', VERDICT)
    assert str(error) == '`verdict` is "maybe"; expected one of 0, 1'


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "nan"])
def test_no_number_is_refused(number: str) -> None:
    """NaN and infinities are refused wherever they occur."""
    for text in ('{"score": %s}', '{"score": 1, "other": %s}', "{'score': 1, 'other': %s}"):
        refusal(text % number, SCHEMAS["score"])


@pytest.mark.parametrize("text", ['{"score": %s}' % ("1" * 5000), '{"score": 007}', '{"score":}'])
def test_what_json_cannot_read_is_refused(text: str) -> None:
    """What still is no JSON when mended is refused like the rest."""
    refusal(text, SCHEMAS["score"])


@pytest.mark.parametrize("levels", [33, 5000])
def test_deep_nesting_is_refused(levels: int) -> None:
    """Brackets beyond the 32nd level are refused, before and beyond Python's own limit."""
    error = refusal("[" * levels + "]" * levels, VERDICT)
    assert str(error) == "the reply nests more than 32 levels of brackets"


@pytest.mark.parametrize(
    "text", ['{"a": "\\ud800", "a": 1}', '{"\\ud800": 1, "\\ud800": 2}', "\ud800"]
)
def test_message_can_be_sent(text: str) -> None:
    """The message holds no half surrogate pair, so it can be sent and stored."""
    str(refusal(text, VERDICT)).encode("utf-8")


# Ids.


def test_items_come_back_in_the_order_asked() -> None:
    """The order of the items is that of the ids, whatever the model wrote."""
    text = '{"verdicts": [{"id": "2", "verdict": "unknown"}, {"id": 1, "verdict": "Entailed."}]}'
    assert read_reply(text, NUMBERED, range(1, 3)) == {
        "verdicts": [{"id": 1, "verdict": "entailed"}, {"id": 2, "verdict": "unknown"}]
    }


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 1], "`verdicts` has the ids [1] more than once"),
        ([1, 2, 3], "`verdicts` has the ids [3], which were not asked for"),
        ([0, 1], "`verdicts` has the ids [0], which were not asked for"),
        ([1], "`verdicts` has 1 of 2 items: the ids [2] are missing"),
        ([], "`verdicts` has 0 of 2 items: the ids [1, 2] are missing"),
    ],
)
def test_ids_must_be_those_asked(ids: list[int], message: str) -> None:
    """An id that is missing, doubled or new is refused."""
    verdicts = [{"id": number, "verdict": "unknown"} for number in ids]
    error = refusal(json.dumps({"verdicts": verdicts}), NUMBERED, [1, 2])
    assert str(error) == message
    assert (error.status is Status.JUDGE_INCOMPLETE) == ("missing" in message)


# What holds for every text.

PROPERTY = settings(deadline=None, derandomize=True, database=None)

PIECES = [
    *"{[(}])\"'“”｛：:,\\/1x例 \n\0\ud800",
    *("//", "/*", "*/", "```", "<|", "<think>", "</think>", "+7.", "NaN", "true", "None", "'s"),
    *('{"verdict":', '"verdict"', "verdict:", "yes", '{"claims":[', '"claims"', '"id":1'),
]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


def outcome(text: str, schema: dict[str, Any]) -> Any:
    """Return the value, or the error in its place."""
    try:
        return read_reply(text, schema)
    except UnreadableReply as error:
        return error


@settings(PROPERTY, max_examples=300)
@given(TEXTS)
def test_any_text_fits_or_is_refused(text: str) -> None:
    """Whatever a model writes gives a value of the schema, or an error that can be sent."""
    for schema in (VERDICT, CLAIMS, NUMBERED):
        value = outcome(text, schema)
        if isinstance(value, UnreadableReply):
            assert value.status in (Status.JUDGE_UNPARSABLE, Status.JUDGE_INCOMPLETE)
            str(value).encode("utf-8")
        else:
            jsonschema.validate(value, schema)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")) | st.just(" "))
VALUES = st.one_of(
    st.fixed_dictionaries({"claims": st.lists(WORDS, max_size=4)}),
    st.fixed_dictionaries({"verdict": st.sampled_from([0, 1]), "reason": WORDS}),
)


def schema_of(value: dict[str, Any]) -> dict[str, Any]:
    return CLAIMS if "claims" in value else VERDICT


@PROPERTY
@given(VALUES, st.sampled_from(["%s", "```json\n%s\n```", "<think>[{</think>%s", "So: %s."]))
def test_valid_json_is_never_altered(value: dict[str, Any], frame: str) -> None:
    """Valid JSON is returned unchanged, whatever its strings contain and whatever surrounds it."""
    assert outcome(frame % json.dumps(value), schema_of(value)) == value
    assert outcome(frame % json.dumps(value, ensure_ascii=False), schema_of(value)) == value


@PROPERTY
@given(VALUES)
def test_python_repr_is_read_as_python_does(value: dict[str, Any]) -> None:
    """A dict as Python prints it gives that dict."""
    assert outcome(repr(value), schema_of(value)) == value


@PROPERTY
@given(VALUES, st.sampled_from([json.dumps, repr]), st.data())
def test_cut_reply_gives_all_or_nothing(
    value: dict[str, Any], write: Callable[[object], str], data: st.DataObject
) -> None:
    """However short a reply is cut, what is read is the whole of what was written."""
    written = write(value)
    text = written[: data.draw(st.integers(1, len(written)))]
    read = outcome(text, schema_of(value))
    assert read == value or read.status is Status.JUDGE_INCOMPLETE


HEAVY = [
    "[", "{", "［", "[1,", "{a:", '{"a":', '{"a":[', '["', '"', "{'a", "(", "{}", '["a"', "{a:1}",
    '{"a": "b" ', '["a" ', "{//", "{/*", "{a:'a'", "[“", "<think>", "{a:“</think>", "</think>",
    "\n", "［1，", "[[1 ", '{"a":1', '{"a":"', "1", "\\", '\\"', ", ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HEAVY)
def test_work_is_bounded(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokens read one by one are bounded, however a long reply is made up."""
    tokens = 0
    read_token = json_repair.JsonRepairer._token

    def counted(repairer: json_repair.JsonRepairer, mark: str) -> bool:
        nonlocal tokens
        tokens += 1
        return read_token(repairer, mark)

    monkeypatch.setattr(json_repair.JsonRepairer, "_token", counted)
    for opening in ("", '{"a":[', "{'a':'", "［"):
        tokens = 0
        text = (opening + piece * reply.LONGEST)[: reply.LONGEST]
        refusal(text, VERDICT)
        assert tokens <= reply.WORK + json_repair.MOST_TOKENS


def test_too_long_a_reply_is_not_read() -> None:
    """A reply beyond the cap is refused by its length alone."""
    text = '{"verdict": 1}' + " " * reply.LONGEST
    assert "200014 characters" in str(refusal(text, VERDICT))
    assert read_reply(text[: reply.LONGEST], VERDICT) == {"verdict": 1}
    assert read_reply(text[::-1][: reply.LONGEST - 14] + '{"verdict": 1}', VERDICT)
