import json
import logging

import pytest

from harness.errors import InputError, UnknownNameError
from harness.grade.desk import answers_of
from harness.grade.sheet import read_map
from harness.questions import subject
from harness.records import Grade
from tests.grade.small import Small


def taken(small: Small, found: object, known: list[Grade] | None = None) -> list[Grade]:
    file = small.folder / "graded.json"
    file.write_text(found if isinstance(found, str) else json.dumps(found), encoding="utf-8")
    return read_map(file, small.runs, known or [], "ann", "strict")


def test_a_map_becomes_grades_of_texts(small: Small) -> None:
    """Each cell grades the text that the variant gave; equal texts share one grade."""
    found = taken(small, {"text_k4": {"q1": 1, "q2": 0}, "ctx_k4": {"q1": 1, "q2": 1, "q3": None}})

    texts = {about: answer.text for about, answer in answers_of(small.runs).items()}
    assert [(texts[subject(g)], g.grade) for g in found] == [
        ("It is 27 metres tall.", 1),
        ("In 1913.", 0),
        ("In 1931.", 1),
        ("A man called Li.", None),
    ]
    assert {(g.grader, g.policy) for g in found} == {("ann", "strict")}
    assert taken(small, {"text_k4": {"q1": 1, "q2": 1}}, found)[0].grade == 1
    assert len(taken(small, {"text_k4": {"q1": 1, "q2": 1}}, found)) == 1


def test_equal_texts_graded_differently_are_left_out(
    small: Small, caplog: pytest.LogCaptureFixture
) -> None:
    """Two variants gave one text and the map says 1 and 0: a slip that a person must mend."""
    with caplog.at_level(logging.WARNING):
        found = taken(small, {"text_k4": {"q1": 1}, "ctx_k4": {"q1": 0}})

    assert found == []
    assert "text_k4, ctx_k4 answered q1 alike and are graded differently" in caplog.text


def test_a_failure_has_no_text_to_grade(small: Small, caplog: pytest.LogCaptureFixture) -> None:
    """Where the system failed there is nothing to keep the grade under; a warning says so."""
    with caplog.at_level(logging.WARNING):
        assert taken(small, {"text_k4": {"q3": 0}}) == []
    assert "text_k4 has no answer to q3" in caplog.text


@pytest.mark.parametrize(
    ("found", "error", "message"),
    [
        ({"text_k5": {"q1": 1}}, UnknownNameError, "unknown variant .* 'text_k5' .did you mean"),
        ({"text_k4": {"q9": 1}}, UnknownNameError, "unknown question of text_k4 'q9'"),
        ({"text_k4": {"q1": 2}}, InputError, "text_k4, q1: a grade is 1, 0 or null, found 2"),
        ({"text_k4": {"q1": 0.5}}, InputError, "found 0.5"),
        ({"text_k4": {"q1": []}}, InputError, "found \\[\\]"),
        ({"text_k4": [1, 0]}, InputError, "write {\"variant\""),
        ("{", InputError, "not JSON"),
        ('{"a": {"q1": 1, "q1": 0}}', InputError, "'q1' stands twice"),
    ],
)  # fmt: skip
def test_bad_maps_are_named(
    small: Small, found: object, error: type[Exception], message: str
) -> None:
    """What no run has, or is no grade, is named; nothing is taken in."""
    with pytest.raises(error, match=message):
        taken(small, found)
