from typing import Any

import pytest

from harness.judge.reply import UnreadableReply, fit
from harness.records import Status

LABELS = {"enum": ["entailed", "contradicted", "unknown"]}
USEFUL = {"enum": ["useful", "not_useful"]}
ANSWERS = {"enum": ["yes", "no"]}
SCALE = {"enum": [0, 1, 2, 3]}
SIGNED = {"enum": [-1, 0, 1]}
BINARY = {"type": "integer", "enum": [0, 1]}
FLAG = {"type": "boolean"}
NUMBER = {"type": "number"}
INTEGER = {"type": "integer", "minimum": 1, "maximum": 5}
GRADES = {"type": "string", "enum": ["0", "1", "2"]}
STARS = {"type": "string", "enum": ["1", "2", "3", "4", "5"]}
DIGITS = {"type": "string", "enum": ["0", "1"]}
MOODS = {"type": "string", "enum": ["positive", "neutral", "negative"]}


@pytest.mark.parametrize(
    ("value", "schema", "fitted"),
    [
        ("ENTAILED", LABELS, "entailed"),
        ("**contradicted**.", LABELS, "contradicted"),
        ("「矛盾」", LABELS, "contradicted"),
        ("ｎｅｕｔｒａｌ", LABELS, "unknown"),
        ("Not useful", USEFUL, "not_useful"),
        ("not-useful", USEFUL, "not_useful"),
        (True, ANSWERS, "yes"),
        ("いいえ。", ANSWERS, "no"),
        ("2", SCALE, 2),
        (-1.0, SIGNED, -1),
        ("是", BINARY, 1),
        (False, BINARY, 0),
        (1, FLAG, True),
        ("No", FLAG, False),
        ("A", {"enum": ["a", "A"]}, "A"),
        (" ７ ", NUMBER, 7),
        ("+7.50", NUMBER, 7.5),
        ("4.0", INTEGER, 4),
        (None, {"type": ["string", "null"]}, None),
        ("7", {"type": ["null", "integer"], "minimum": 1}, 7),
        ({"any": [1]}, {}, {"any": [1]}),
        (2, GRADES, "2"),
        ("２", GRADES, "2"),
        ("1.0", DIGITS, "1"),
        ("useful!", USEFUL, "useful"),
        ("はい", ANSWERS, "yes"),
    ],
)
def test_what_is_taken_for_what_was_asked(
    value: object, schema: dict[str, Any], fitted: object
) -> None:
    """Spelling and words of the same meaning are taken, and the type is the schema's."""
    result = fit(value, schema)
    assert result == fitted
    assert type(result) is type(fitted)


@pytest.mark.parametrize(
    ("value", "schema", "message"),
    [
        ("not entailed", LABELS, 'expected one of "entailed", "contradicted", "unknown"'),
        ("entailed, unknown", LABELS, "expected one of"),
        (1, LABELS, "expected one of"),
        ("a", {"enum": ["A", "a "]}, "expected one of"),
        (True, SCALE, "expected one of 0, 1, 2, 3"),
        ("no", SIGNED, "expected one of"),
        ([1], BINARY, "expected one of 0, 1"),
        (0.5, BINARY, "expected one of 0, 1"),
        (None, BINARY, "expected one of 0, 1"),
        ("maybe", FLAG, "expected one of false, true"),
        *(
            (value, labels, "expected one of")
            for labels in (GRADES, STARS, DIGITS)
            for value in ("yes", True, False, "是", "no", "1/5", "one", -1, 1.5, "!1")
        ),
        *(
            (value, USEFUL, "expected one of")
            for value in ("!useful", "not_ useful?", "-useful", "~useful", "un-useful", "≠useful")
        ),
        *((value, USEFUL, "expected one of") for value in ("usefull", "use", "not", "yes", True)),
        *((value, MOODS, "expected one of") for value in ("unknown", "neither", "中立", "yes")),
        *((value, ANSWERS, "expected one of") for value in ("1", 1, 0, "not no", "ye", "no/yes")),
        *(
            (value, LABELS, "expected one of")
            for value in ("!entailed", "yes", "entail", "un known")
        ),
        (True, NUMBER, "the reply is true; expected a number"),
        ("7/10", NUMBER, "expected a number"),
        ("7 points", NUMBER, "expected a number"),
        (1.5, INTEGER, "the reply is 1.5; expected an integer"),
        (6, INTEGER, "the reply is 6; expected a number from 1 to 5"),
        (7, {"type": "string"}, "the reply is 7; expected a string"),
        ("abcd", {"type": "string", "maxLength": 3}, "4 characters; expected at most 3"),
        (None, INTEGER, "the reply is null; expected a number"),
        ("x" * 100, NUMBER, 'the reply is "' + "x" * 78 + "…; expected a number"),
        ([], {"type": "object"}, "the reply is []; expected an object"),
        ({}, {"type": "array"}, "the reply is {}; expected a list"),
        ([1, 2], {"type": "array", "maxItems": 1}, "2 items; expected at most 1"),
    ],
)
def test_what_is_refused(value: object, schema: dict[str, Any], message: str) -> None:
    """The message names the value and what was expected."""
    with pytest.raises(UnreadableReply) as caught:
        fit(value, schema)
    assert message in str(caught.value)
    assert caught.value.status is Status.JUDGE_UNPARSABLE


def test_too_few_items_are_incomplete() -> None:
    """A list that is too short is incomplete rather than wrong, and the message says where."""
    inner = {"type": "array", "items": NUMBER, "minItems": 2}
    outer = {"type": "array", "items": {"type": "object", "properties": {"b": inner}}}
    with pytest.raises(UnreadableReply) as caught:
        fit({"a": [{"b": [1, 2]}, {"b": [1]}]}, {"type": "object", "properties": {"a": outer}})
    assert str(caught.value) == "`a[1].b` has 1 items; expected at least 2"
    assert caught.value.status is Status.JUDGE_INCOMPLETE


def test_keys() -> None:
    """Keys are found in any case, must agree when doubled, and stay unless the schema is closed."""
    schema = {"type": "object", "properties": {"verdict": BINARY}, "required": ["verdict"]}
    assert fit({" Ｖerdict ": 1, "more": 2}, schema) == {"verdict": 1, "more": 2}
    assert fit({"verdict": 1, "Verdict": 1}, schema) == {"verdict": 1}
    assert fit({"verdict": 1, "more": 2}, {**schema, "additionalProperties": False}) == {
        "verdict": 1
    }
    for value, message in (
        ({"Verdict": 1, "verdict": 0}, "the reply has the key `verdict` twice, with 1 and 0"),
        ({"answer": 1}, 'the reply is {"answer": 1}; the key `verdict` is missing'),
    ):
        with pytest.raises(UnreadableReply) as caught:
            fit(value, schema)
        assert str(caught.value) == message


def test_value_is_not_written_into() -> None:
    """The value that was given stays as it was."""
    value = {"Verdict": "1", "items": ["2"]}
    schema = {"properties": {"items": {"type": "array", "items": NUMBER}, "verdict": NUMBER}}
    assert fit(value, {"type": "object", **schema}) == {"verdict": 1, "items": [2]}
    assert value == {"Verdict": "1", "items": ["2"]}
