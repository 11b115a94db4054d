import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.questions import (
    CaptionGrade,
    Gradebook,
    current_grades,
    disputes,
    grade_by_text,
    latest_grades,
    question_sha256,
    random_draws,
)
from harness.records import Chosen, Grade, Question

A = ("q1", "a")


def grade(value: int | None, grader: str, about: tuple[str, str] = A) -> Grade:
    return Grade(*about, value, grader)


def test_most_graders_decide() -> None:
    """The majority decides; a tie is None; unclear does not count."""
    grades = [grade(1, "ann"), grade(1, "bob"), grade(0, "cho")]

    assert grade_by_text(grades) == {A: 1}
    assert grade_by_text(grades[1:]) == {A: None}
    assert grade_by_text([grade(0, "ann"), grade(None, "bob")]) == {A: 0}


def test_why_an_answer_was_graded_is_kept(tmp_path: Path) -> None:
    """A question that was drawn at random once stays drawn, whoever grades its answers and why."""
    book = Gradebook(tmp_path / "grades.jsonl", Grade)
    given = [
        Grade(*A, 1, "ann", chosen=Chosen.RANDOM, probability=0.125),
        Grade(*A, 0, "bob", chosen=Chosen.DISPUTE),
        Grade("q2", "b", 1, "ann", chosen=Chosen.ALL),
        Grade("q3", "c", 1, "ann"),
    ]
    book.add(given)

    assert book.read() == given
    assert random_draws(book.read()) == {"q1": 0.125}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"chosen": "chance"}, "'chosen' must be one of all, random, suspect, dispute"),
        ({"chosen": "random"}, "'probability' must be above 0 and at most 1 where 'chosen' is"),
        ({"chosen": "random", "probability": 1.5}, "found 1.5"),
        ({"chosen": "random", "probability": "often"}, "found 'often'"),
        ({"chosen": "all", "probability": 0.5}, "absent elsewhere, found 0.5"),
        ({"probability": 0.5}, "absent elsewhere, found 0.5"),
    ],
)
def test_a_strange_choice_is_refused(
    tmp_path: Path, words: dict[str, object], message: str
) -> None:
    """An unknown reason, or a chance that is none or belongs to no random choice, is an error."""
    row = {"question_id": "q1", "response_sha256": "a", "grade": 1, "grader": "ann", **words}
    file = tmp_path / "grades.jsonl"
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")

    with pytest.raises(InputError, match=message):
        Gradebook(file, Grade).read()


def test_the_latest_grade_counts() -> None:
    """The latest grade of a grader counts."""
    grades = [grade(1, "ann"), grade(0, "ann")]

    assert grade_by_text(grades) == {A: 0}
    assert list(latest_grades(grades).values()) == grades[1:]


def test_the_judges_own_grades_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    """A grade by the study's judge or generator is no evidence, and a warning counts them."""
    grades = [grade(1, "llama3.1"), grade(1, " Llama3.1 ", ("q2", "b")), grade(0, "ann")]

    with caplog.at_level(logging.WARNING):
        found = grade_by_text(grades, refused={"LLAMA3.1", None})

    assert found == {A: 0}
    assert "1 grades by 'llama3.1' are left out" in caplog.text


def test_a_grade_of_an_edited_question_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """It was given by another question or reference: it no longer counts, and the report says so.

    One that does not say by which, one of a question that is not asked, and one of a caption
    are kept.
    """
    old, new = Grade("q1", "a", 1, "ann", question_sha256="old"), grade(0, "bob")
    other = Grade("q2", "b", 1, "ann", question_sha256="old")
    caption = CaptionGrade("p", "c", 0, "ann")

    assert current_grades([old, new, other], {"q1": "now"}) == [new, other]
    assert current_grades([caption], {"q1": "now"}) == [caption]
    assert [record.getMessage() for record in caplog.records] == [
        "1 grades no longer count: the question or its reference was edited since (q1); "
        "harness.grade shows these answers again"
    ]


def test_an_edition_is_the_question_and_its_reference() -> None:
    """Either makes another edition; a tag, the evidence or the source does not."""
    asked = Question("q1", "How tall?", "27 m.", "text")

    editions = {
        question_sha256(replace(asked, **changed))
        for changed in ({}, {"question": "How high?"}, {"reference": "28 m."})
    }

    assert len(editions) == 3
    assert question_sha256(replace(asked, tags=("x",), source="both")) in editions


def test_disputed_is_right_against_wrong() -> None:
    """A dispute is one grader's right against another's wrong; unclear disputes nothing."""
    grades = [grade(1, "ann"), grade(0, "bob"), grade(1, "ann", ("q2", "b")),
            grade(None, "bob", ("q2", "b"))]  # fmt: skip

    assert disputes(grades) == (A,)
    assert disputes([*grades, grade(1, "bob")]) == ()


@pytest.mark.parametrize(
    "torn", [b'{"question_id": "q2", "respo', '{"question_id": "ㄅ'.encode()[:-1], b"\0\0\0", b"{"]
)
def test_a_torn_last_line_is_left_out(
    tmp_path: Path, torn: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """An incomplete last line is ignored with a warning, even half a character."""
    file = tmp_path / "grades.jsonl"
    whole = {"question_id": "q1", "response_sha256": "a", "grade": 1, "grader": "ann"}
    file.write_bytes(json.dumps(whole).encode() + b"\n" + torn)

    assert Gradebook(file, Grade).read() == [Grade("q1", "a", 1, "ann")]
    assert "the last line is incomplete" in caplog.text


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    """An invalid line before the last is an error, as no crash produces it."""
    file = tmp_path / "grades.jsonl"
    file.write_text('{"question_id"\n{}\n', encoding="utf-8")

    with pytest.raises(InputError, match=r"jsonl:1: not a JSON object"):
        Gradebook(file, Grade).read()


def test_a_last_line_without_its_end_is_whole(tmp_path: Path) -> None:
    """An editor that writes no line end at the end of a file loses no grade."""
    file = tmp_path / "grades.jsonl"
    file.write_text(
        '{"question_id": "q1", "response_sha256": "a", "grade": null, "grader": "ann"}',
        encoding="utf-8-sig",
    )

    assert Gradebook(file, Grade).read() == [Grade("q1", "a", None, "ann")]


def test_captions_are_keyed_by_picture_and_text(tmp_path: Path) -> None:
    """A caption's grade names the picture and the words, so a new caption is graded again."""
    file = tmp_path / "caption_grades.jsonl"
    row = {"image_sha256": "p", "caption_sha256": "c", "grade": 0, "grader": "ann"}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")

    assert Gradebook(file, CaptionGrade).read() == [CaptionGrade("p", "c", 0, "ann")]
    assert grade_by_text(Gradebook(file, CaptionGrade).read()) == {("p", "c"): 0}
