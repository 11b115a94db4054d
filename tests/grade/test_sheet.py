import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.grade.session import answers_of
from harness.grade.sheet import COLUMNS, read_table, table
from harness.records import Chosen, Grade, Question
from harness.render.notation import csv_cell, text_of_cell
from tests.grade.small import Small
from tests.grade.small import small as written

STRANGE = [
    json.loads(line)["text"]
    for line in (Path(__file__).parents[1] / "data/messy/text_strings.jsonl")
    .read_text("utf-8")
    .splitlines()
] + ["=1+1", "+1", "-1", "@A1", "'=1", "''", "\t=1", "\r=1", "＝1", 'a"b,c\nd', "<script>"]


def sheet(small: Small, grades: list[Grade], file: Path) -> Path:
    file.write_text(table(answers_of(small.runs), grades, "ann"), encoding="utf-8-sig", newline="")
    return file


def some(small: Small) -> list[Grade]:
    one, two, *_ = answers_of(small.runs)
    return [
        Grade(*one, 1, "ann", "2026-11-30T00:00:00+00:00", "=HYPERLINK(1)\n-2", "a year off"),
        Grade(*two, 0, "bob", None, "'=x"),
        Grade("q8", "f" * 64, None, "bob", "2026-11-29T00:00:00+00:00"),
    ]


def test_grades_come_back_as_they_were(small: Small, tmp_path: Path) -> None:
    """Written and read into an empty test set, every grade is there, with note, time and rule."""
    given = some(small)

    back = read_table(sheet(small, given, tmp_path / "g.csv"), [], "ann")

    dated = [grade for grade in given if grade.time]
    assert [grade for grade in back if grade in dated] == dated
    (other,) = (grade for grade in back if grade not in dated)
    assert replace(other, time=None) == given[1]
    assert other.time


def test_reading_again_says_nothing_new(small: Small, tmp_path: Path) -> None:
    """Known grades are not added twice; a changed cell is a new grade with a new time."""
    given = some(small)
    file = sheet(small, given, tmp_path / "g.csv")

    assert read_table(file, given, "ann") == []
    file.write_bytes(file.read_bytes().replace(b",unclear,", b",0,"))
    (changed,) = read_table(file, given, "ann")
    assert (changed.question_id, changed.grade) == ("q8", 0)
    assert str(changed.time) > "2026-11-29T00:00:00+00:00"


def test_a_sheet_remembers_which_question_was_graded(small: Small, tmp_path: Path) -> None:
    """A row keeps the edition of the question that was graded, and is added once."""
    (about, answer), *_ = answers_of(small.runs).items()
    before = Grade(*about, 1, "ann", "2026-11-30T00:00:00+00:00", question_sha256=answer.edition)
    since = Grade(*about, 0, "ann", "2026-12-01T00:00:00+00:00", question_sha256="edited")
    file = sheet(small, [before], tmp_path / "g.csv")

    assert read_table(file, [], "ann") == [before]
    assert read_table(file, [since], "ann") == [before]
    assert read_table(file, [before, since], "ann") == []


def test_every_answer_has_a_row_and_no_variant(small: Small, tmp_path: Path) -> None:
    """A person sees each answer once, what is ungraded blank, and neither variant nor proposal."""
    file = sheet(small, some(small)[:1], tmp_path / "g.csv")
    text = file.read_text("utf-8-sig")

    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert file.read_bytes().startswith(b"\xef\xbb\xbf")
    assert tuple(rows[0]) == COLUMNS
    assert sorted(row["grade"] for row in rows) == ["", "", "", "1"]
    assert "k4" not in text


@pytest.mark.parametrize("strange", STRANGE)
def test_no_cell_is_a_formula(tmp_path: Path, strange: str) -> None:
    """Every answer is text in its cell, and a note is read back unchanged."""
    question = Question("q1", strange, strange, "text")
    small = written(tmp_path, [question], {"a": (strange,)})
    (about,) = answers_of(small.runs)
    given = Grade(*about, 1, strange.strip() or "ann", None, strange)

    text = table(answers_of(small.runs), [given], "ann")

    for row in csv.reader(io.StringIO(text, newline="")):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝")) for cell in row)
        assert "\x00" not in "".join(row[1:4])
    assert text_of_cell(csv_cell(strange)) == strange


@pytest.mark.parametrize(
    ("cell", "grade"),
    [
        ("1", 1),
        ("1.0", 1),
        ("0.0", 0),
        ("right", 1),
        ("Wrong", 0),
        ("0", 0),
        ("-", None),
        ("'-", None),
        ("Unclear", None),
    ],
)
def test_people_write_grades_in_several_ways(
    small: Small, tmp_path: Path, cell: str, grade: int | None
) -> None:
    """1, 0, -, and the words, in any case; a spreadsheet may have put a quote in front of -."""
    file = tmp_path / "g.csv"
    file.write_text(f"question_id,response_sha256,grade\nq1,{'a' * 64},{cell}\n")

    (found,) = read_table(file, [], "ann")

    assert (found.grade, found.grader) == (grade, "ann")
    assert found.time


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_spreadsheets_part_cells_in_several_ways(small: Small, tmp_path: Path, mark: str) -> None:
    """A table saved with semicolons or tabs, with commas in its texts, reads the same."""
    given = [grade for grade in some(small) if grade.time]
    rows = list(csv.reader(io.StringIO(table(answers_of(small.runs), given, "ann"), newline="")))
    file = tmp_path / "g.csv"
    with file.open("w", encoding="utf-8-sig", newline="") as sink:
        csv.writer(sink, delimiter=mark).writerows(rows)

    assert read_table(file, given, "ann") == []
    assert read_table(file, [], "ann") == given
    decimal = "1,0" if mark == ";" else "1.0"
    cells = mark.join(("q1", "a" * 64, f'"{decimal}"'))
    file.write_text(f"question_id{mark}response_sha256{mark}grade\n{cells}\n")
    assert read_table(file, [], "ann")[0].grade == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question_id,response_sha256,grade\nq1,a,2\n", "csv:2: 'grade' must be 1, 0 or unclear"),
        ("question_id,response_sha256,grade\nq1,,1\n", "csv:2: 'response_sha256' is missing"),
        ("question_id,sha,grade\nq1,a,1\n", "csv:2: unknown key 'sha'"),
    ],
)
def test_bad_cells_are_named(tmp_path: Path, text: str, message: str) -> None:
    """An error says which line, which column, and what is wrong; nothing is taken in."""
    file = tmp_path / "g.csv"
    file.write_text(text)

    with pytest.raises(InputError, match=message):
        read_table(file, [], "ann")


def test_a_sheet_keeps_why_an_answer_is_graded(small: Small, tmp_path: Path) -> None:
    """Drawn answers come first, with their chance; it comes back with the grade."""
    answers = answers_of(small.runs)
    file = tmp_path / "g.csv"
    file.write_text(table(answers, [], "ann", {"q2": 1.0}), encoding="utf-8")
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))

    assert [row["chosen"] for row in rows] == ["random", "random", "all", "all"]
    assert [row["question_id"] for row in rows[:2]] == ["q2", "q2"]
    for row in (rows[0], rows[-1]):
        row["grade"] = "1"
    rows[0]["probability"] = "0,25"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    drawn, other = read_table(file, [], "ann")

    assert (drawn.chosen, drawn.probability) == (Chosen.RANDOM, 0.25)
    assert (other.chosen, other.probability) == (Chosen.ALL, None)
    again = table(answers, [drawn], "ann", {})
    assert ",random,0.25" in again
