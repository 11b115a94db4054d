"""A sheet of grades: a CSV table for spreadsheets, written and read back."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from harness.grade.desk import choice, shuffled
from harness.grade.session import GivenAnswer
from harness.questions import (
    FileRow,
    Subject,
    is_of_edition,
    latest_grades,
    read_choice,
    read_csv_rows,
    subject_of,
)
from harness.records import Grade
from harness.render.notation import csv_cell, plain, text_of_cell
from harness.store.run import now
from harness.text import fold_name

COLUMNS = (
    *("question_id", "question", "reference", "response", "grade", "note", "grader", "time"),
    *("policy", "response_sha256", "question_sha256", "chosen", "probability"),
)
WRITTEN = {1: "1", 0: "0", None: "unclear"}
READ: dict[str, int | None] = {
    **dict.fromkeys(("1", "1.0", "1,0", "right"), 1),
    **dict.fromkeys(("0", "0.0", "0,0", "wrong"), 0),
    **dict.fromkeys(("unclear", "-", "?")),
}
"""Some spreadsheets and data frames turn 1 into a decimal number, in the format of their locale."""
LONGEST_CELL = 32_000
"""Characters; a spreadsheet takes 32,767, and the hash says which text is meant anyway."""


def table(
    answers: Mapping[Subject, GivenAnswer],
    grades: Iterable[Grade],
    grader: str,
    draws: Mapping[str, float] = MappingProxyType({}),
) -> str:
    """Return CSV text: this grader's answers in their order, then what others graded.

    A row without a grade is still to be graded. Earlier grades that a grader has changed are left
    out, and so is the proposal of `answer_match`. `draws` is as for `shuffled`.
    """
    latest = latest_grades(grades)
    mine = [(about, grader) for about in shuffled(answers, grader, draws)]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for about, who in dict.fromkeys([*mine, *latest]):
        cells = row(about, who, latest.get((about, who)), answers.get(about))
        if (about, who) not in latest:
            cells |= {name: str(value) for name, value in choice(about, draws).items()}
        writer.writerow({name: csv_cell(cell) for name, cell in cells.items()})
    return text.getvalue()


def row(
    about: Subject, grader: str, grade: Grade | None, answer: GivenAnswer | None
) -> dict[str, str]:
    """Return column -> text; without its answer, a row has a grade and no text."""
    cells = dict.fromkeys(COLUMNS, "")
    cells |= {"question_id": about[0], "response_sha256": about[1], "grader": grader}
    if answer is not None:
        texts = (answer.question.question, answer.question.reference, answer.text)
        shown = [plain(text)[:LONGEST_CELL] for text in texts]
        cells |= dict(zip(("question", "reference", "response"), shown, strict=True))
        cells["question_sha256"] = answer.edition
    if grade is not None:
        cells |= {name: getattr(grade, name) or "" for name in ("note", "time", "policy")}
        cells |= {name: str(getattr(grade, name) or "") for name in ("chosen", "probability")}
        cells["grade"] = WRITTEN[grade.grade]
        cells["question_sha256"] = grade.question_sha256 or ""  # the edition that was graded
    return cells


def read_table(file: Path, known: Iterable[Grade], grader: str) -> list[Grade]:
    """Return the grades of a table that are not known yet: new ones, and changed ones.

    Args:
        file: As `table` writes it, or with semicolons or tabs between the cells; rows without a
            grade are skipped.
        known: The existing grades.
        grader: The grader of rows that name none.
    """
    earlier: dict[tuple[Subject, str], list[Grade]] = defaultdict(list)
    for grade in known:
        earlier[subject_of(grade), grade.grader].append(grade)
    found = []
    for line in read_csv_rows(file):
        line.only(COLUMNS)
        texts = {name: text_of_cell(str(cell)) for name, cell in line.values.items()}
        if not texts.get("grade", "").strip():
            continue
        new = grade_from_row(FileRow(dict(texts), line.where), grader)
        before = earlier[subject_of(new), new.grader]
        # grades of another edition of the question are independent of this one
        same = [old for old in before if is_of_edition(old, new.question_sha256)]
        old = same[-1] if same else None
        if old is None:
            found.append(new)
        elif (old.grade, old.note, old.policy) != (new.grade, new.note, new.policy):
            found.append(replace(new, time=now()))
    return found


def unrecorded_rows(file: Path, known: Iterable[Grade], grader: str) -> int:
    """Return how many rows of a table hold what a new table would lose: new grades, lone notes.

    Args:
        file: As for `read_table`; a file that is no such table is an InputError.
        known: The existing grades.
        grader: The grader of rows that name none.
    """
    rows = [line.values for line in read_csv_rows(file)]
    cells = [{name: str(row.get(name, "")).strip() for name in ("grade", "note")} for row in rows]
    lone = sum(bool(row["note"]) and not row["grade"] for row in cells)
    return len(read_table(file, known, grader)) + lone


def grade_from_row(row: FileRow, grader: str) -> Grade:
    """Return the grade of a row, or raise naming the line and the cell that is wrong."""
    word = fold_name(row.required("grade"))
    if word not in READ:
        raise row.error(f"'grade' must be 1, 0 or unclear, found {word!r}")
    return Grade(
        question_id=row.required("question_id"),
        response_sha256=row.required("response_sha256"),
        grade=READ[word],
        grader=row.text("grader") or grader,
        time=row.text("time") or now(),
        note=row.text("note"),
        policy=row.text("policy"),
        question_sha256=row.text("question_sha256"),
        **read_choice(row),
    )
