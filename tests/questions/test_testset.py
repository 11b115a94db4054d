import json
import logging
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError, UnknownNameError
from harness.questions import (
    Gradebook,
    question_line,
    read_testset,
    response_sha256,
    select,
)
from harness.records import EvidencePlace, Grade

ROW = {"id": "q1", "question": "Which month?", "reference": "April.", "source": "text"}


def written(folder: Path, *rows: Any, name: str = "questions.jsonl") -> Path:
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_reads_every_key(tmp_path: Path) -> None:
    """A line becomes a question with all that people may write."""
    place = {"document": "report", "page": 2, "quote": "peaked in April"}
    row = {**ROW, "answers": [["April", "四月"], "12"], "evidence": [place], "tags": ["month"],
           "verified_by": "me", "verified_on": "2026-11-30"}  # fmt: skip

    (question,) = read_testset(written(tmp_path, row)).questions

    assert question.answers == (("April", "四月"), ("12",))
    assert question.evidence == (EvidencePlace("report", 2, quote="peaked in April"),)
    assert question.answerable
    assert question.verified_by == "me"


def test_a_question_is_written_as_it_was_read(tmp_path: Path) -> None:
    """What a run carries gives the same fingerprint as the test set it came from."""
    row = {**ROW, "answers": [["April"]], "evidence": [{"document": "d", "page": 1, "figure": "f"}]}
    first = read_testset(written(tmp_path, row))

    again = written(tmp_path, *map(question_line, first.questions), name="again.jsonl")

    assert read_testset(again).fingerprint == first.fingerprint


def test_a_folder_stands_for_its_questions_file(tmp_path: Path) -> None:
    """`testset: plurality` names a folder; the set is called after it."""
    folder = tmp_path / "plurality"
    folder.mkdir()
    written(folder, ROW)

    assert read_testset(folder).name == "plurality"


def test_missing_testset_guesses_the_nearest(tmp_path: Path) -> None:
    """A test set that is not there is answered with those that are."""
    (tmp_path / "plurality").mkdir()

    with pytest.raises(InputError, match="did you mean 'plurality'"):
        read_testset(tmp_path / "plurarity")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "the test set is empty"),
        ([ROW, ROW], "question id 'q1' occurs on more than one line"),
        ([ROW, {**ROW, "id": "q2", "reference": " "}], r"jsonl:2: 'reference' is empty"),
        ([{"id": "q1", "question": "?"}], r"jsonl:1: 'reference' is missing"),
        ([{**ROW, "sauce": "text"}], r"jsonl:1: unknown key 'sauce' \(did you mean 'source'\?\)"),
        ([{**ROW, "source": "video"}], "unknown source 'video'"),
        ([{**ROW, "answers": [["%"]]}], "'%' in 'answers' would match any answer"),
        ([{**ROW, "answers": [[]]}], "at least one accepted spelling"),
        ([{**ROW, "answers": ["1,240", "980"]}], "'answers' must be a list of lists: write"),
        ([{**ROW, "answerable": "no"}], "'answerable' must be true or false"),
        ([{**ROW, "answerable": False, "answers": ["12"]}], "contradicts answerable=false"),
        ([{**ROW, "evidence": [{"document": "d", "page": 0, "quote": "x"}]}], "page must be 1"),
        ([{**ROW, "evidence": [{"document": "d", "page": 1}]}], "either a quote or a figure"),
        (['{"id": "q1", "reference": "a", "reference": "b"}'], "'reference' occurs twice"),
        (["{oops"], "jsonl:1: not a JSON object"),
        (["[1]"], "expected a JSON object, found list"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, rows: list[Any], message: str) -> None:
    """An error says which line, which key, and what is wrong."""
    with pytest.raises(InputError, match=message):
        read_testset(written(tmp_path, *rows))


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    """An editor on Windows puts a mark in front; it is no part of the first line."""
    path = tmp_path / "questions.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW).encode())

    assert read_testset(path).questions[0].id == "q1"


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    """A file in another encoding is named, never misread."""
    path = tmp_path / "questions.jsonl"
    path.write_bytes(json.dumps({**ROW, "question": "何月"}, ensure_ascii=False).encode("cp932"))

    with pytest.raises(InputError, match="not UTF-8"):
        read_testset(path)


def test_csv_keeps_words_that_look_missing(tmp_path: Path) -> None:
    """'None' and 'N/A' are answers; only an empty cell is missing."""
    path = tmp_path / "questions.csv"
    path.write_text(
        "id,question,reference,source,answers,tags\n"
        'q4,Which one?,None,text,"[[""None""]]",\n'
        'q5,"Why,\nreally?",N/A,text,,\n',
        encoding="utf-8-sig",
    )

    q4, q5 = read_testset(path).questions

    assert (q4.reference, q4.answers) == ("None", (("None",),))
    assert (q5.question, q5.reference, q5.answers) == ("Why,\nreally?", "N/A", ())


def test_what_is_too_large_or_too_deep(tmp_path: Path) -> None:
    """A file over the limit, a cell of megabytes and endless brackets are one line each."""
    files = {"a.jsonl": "x" * 1_000_001, "b.csv": f"id,question\nq1,{'x' * 200_000}\n",
             "c.jsonl": '{"id": ' + "[" * 200_000}  # fmt: skip
    lines = []
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(InputError) as raised:
            read_testset(tmp_path / name, largest_mb=1)
        lines.append(str(raised.value).removeprefix(f"{tmp_path}/"))

    assert lines[0].startswith("a.jsonl: larger than 1 MB (decompressed); split it, or raise study")
    assert lines[1] == "b.csv:1: not a row of CSV (field larger than field limit (131072))"
    assert lines[2].startswith("c.jsonl:1: not a JSON object on one line (maximum recursion depth")


def test_csv_with_a_ragged_row_is_refused(tmp_path: Path) -> None:
    """A row with more cells than the header would shift its values."""
    path = tmp_path / "questions.csv"
    path.write_text("id,question,reference\nq1,a,b,c\n", encoding="utf-8")

    with pytest.raises(InputError, match="csv:2: the row and the header differ"):
        read_testset(path)


def test_equal_wording_is_kept_apart_and_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Two questions may share their text; they stay two."""
    with caplog.at_level(logging.WARNING):
        found = read_testset(written(tmp_path, ROW, {**ROW, "id": "q7", "reference": "September."}))

    assert len(found.questions) == 2
    assert "'q7' has the same text" in caplog.text


def test_evidence_that_repeats_a_place_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """[A, B, B] are two places: it is read, and one line gives the number that counts."""
    first, second = ({"document": "d", "page": page, "quote": "April"} for page in (1, 2))
    with caplog.at_level(logging.WARNING):
        read_testset(written(tmp_path, {**ROW, "evidence": [first, second, second]}))

    assert "question 'q1' repeats a place in its evidence" in caplog.text
    assert "(2 distinct)" in caplog.text


def test_fingerprint_follows_what_shapes_a_result(tmp_path: Path) -> None:
    """A new reference is another test set; a new tag, or another order, is not."""
    two = {**ROW, "id": "q2"}
    plain = read_testset(written(tmp_path, ROW, two)).fingerprint

    assert read_testset(written(tmp_path, two, {**ROW, "tags": ["x"]})).fingerprint == plain
    assert read_testset(written(tmp_path, {**ROW, "reference": "May."}, two)).fingerprint != plain


def test_select(tmp_path: Path) -> None:
    """`questions=` and `limit=` take some; an unknown id is guessed at."""
    questions = read_testset(
        written(tmp_path, *({**ROW, "id": f"q{n}"} for n in (1, 2, 3)))
    ).questions

    assert [q.id for q in select(questions, [], 2)] == ["q1", "q2"]
    assert [q.id for q in select(questions, ["q3", "q1"], None)] == ["q3", "q1"]
    with pytest.raises(UnknownNameError, match="unknown question 'q9'"):
        select(questions, ["q9"], None)
    with pytest.raises(InputError, match="got 0"):
        select(questions, [], 0)


def test_grades(tmp_path: Path) -> None:
    """Grades are keyed by question and text; 'unclear' is null; no file is no grades."""
    path = tmp_path / "grades.jsonl"
    key = response_sha256("April.")
    rows = [
        {"question_id": "q1", "response_sha256": key, "grade": 1, "grader": "ann"},
        {"question_id": "q1", "response_sha256": key, "grade": None, "grader": "bob"},
    ]
    written(tmp_path, *rows, name="grades.jsonl")

    assert Gradebook(path, Grade).read() == [
        Grade("q1", key, 1, "ann"),
        Grade("q1", key, None, "bob"),
    ]
    assert Gradebook(tmp_path / "none.jsonl", Grade).read() == []


def test_a_grade_is_zero_or_one(tmp_path: Path) -> None:
    """Anything but 1, 0 or null is refused with its line."""
    row = {"question_id": "q1", "response_sha256": "x", "grade": 2, "grader": "ann"}

    with pytest.raises(InputError, match="jsonl:1: 'grade' must be 1"):
        Gradebook(written(tmp_path, row, name="grades.jsonl"), Grade).read()


def test_a_folder_without_questions_says_what_is_missing(tmp_path: Path) -> None:
    """The name is right and the file is not there: no guess at another name."""
    (tmp_path / "mine").mkdir()
    with pytest.raises(InputError, match=r"mine has no questions\.jsonl"):
        read_testset(tmp_path / "mine")
