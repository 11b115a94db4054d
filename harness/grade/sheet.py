"""Grades as a table for people who work in spreadsheets, written and read back."""

import csv
import io
import json
import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.errors import InputError, pick
from harness.grade.desk import GivenAnswer
from harness.grade.queue import shuffled
from harness.questions import (
    Row,
    Subject,
    last_words,
    of_edition,
    question_sha256,
    read_csv_rows,
    read_testset,
    response_sha256,
    subject,
)
from harness.questions.rows import no_double_keys, read_text
from harness.records import Grade
from harness.render.printable import plain
from harness.store import Run
from harness.store.provenance import now

COLUMNS = (
    *("question_id", "question", "reference", "response", "grade", "note", "grader", "time"),
    *("policy", "response_sha256", "question_sha256"),
)
WRITTEN = {1: "1", 0: "0", None: "unclear"}
READ: dict[str, int | None] = {
    **dict.fromkeys(("1", "1.0", "1,0", "right"), 1),
    **dict.fromkeys(("0", "0.0", "0,0", "wrong"), 0),
    **dict.fromkeys(("unclear", "-", "?")),
}
"""Some spreadsheets and data frames make a decimal number of 1, in the writing of their locale."""
LONGEST_CELL = 32_000
"""Characters; a spreadsheet takes 32,767, and the hash says which text is meant anyway."""
ACTIVE = re.compile(r"'*[=+\-@＝＋－＠\t\r\n]")
"""How a cell begins that a spreadsheet would work out instead of showing; quotes in front of it
are ours or are told apart from ours by one more."""


def table(answers: Mapping[Subject, GivenAnswer], grades: Iterable[Grade], grader: str) -> str:
    """Return CSV text: this grader's answers in their order, then what others graded.

    A row without a grade is still to be graded. What a grader said before changing their mind
    is left out, and so is what `answer_match` would say.
    """
    said = last_words(grades)
    mine = [(about, grader) for about in shuffled(answers, grader)]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for about, who in dict.fromkeys([*mine, *said]):
        cells = row(about, who, said.get((about, who)), answers.get(about))
        writer.writerow({name: safe(cell) for name, cell in cells.items()})
    return text.getvalue()


def row(
    about: Subject, grader: str, said: Grade | None, answer: GivenAnswer | None
) -> dict[str, str]:
    """Return column -> text; an answer of no run at hand has its grade and no text."""
    cells = dict.fromkeys(COLUMNS, "")
    cells |= {"question_id": about[0], "response_sha256": about[1], "grader": grader}
    if answer is not None:
        texts = (answer.question.question, answer.question.reference, answer.text)
        shown = [plain(text)[:LONGEST_CELL] for text in texts]
        cells |= dict(zip(("question", "reference", "response"), shown, strict=True))
        cells["question_sha256"] = answer.edition
    if said is not None:
        cells |= {name: getattr(said, name) or "" for name in ("note", "time", "policy")}
        cells["grade"] = WRITTEN[said.grade]
        cells["question_sha256"] = said.question_sha256 or ""  # by which it was graded, if known
    return cells


def read_table(file: Path, known: Iterable[Grade], grader: str) -> list[Grade]:
    """Return what a table says that is not known yet: new grades, and changes of mind.

    Args:
        file: As `table` writes it, or with semicolons or tabs between the cells; a row without
            a grade says nothing.
        known: The grades at hand.
        grader: Who graded where a row does not say.
    """
    said: dict[tuple[Subject, str], list[Grade]] = defaultdict(list)
    for grade in known:
        said[subject(grade), grade.grader].append(grade)
    found = []
    for line in read_csv_rows(file):
        line.only(COLUMNS)
        texts = {name: restored(str(cell)) for name, cell in line.values.items()}
        if not texts.get("grade", "").strip():
            continue
        new = graded(Row(dict(texts), line.where), grader)
        before = said[subject(new), new.grader]
        # what was said of another edition of the question is another matter
        alike = [old for old in before if of_edition(old, new.question_sha256)]
        old = alike[-1] if alike else None
        if old is None:
            found.append(new)
        elif (old.grade, old.note, old.policy) != (new.grade, new.note, new.policy):
            found.append(replace(new, time=now()))
    return found


def graded(row: Row, grader: str) -> Grade:
    """Return the grade of a row, or raise naming the line and the cell that is wrong."""
    word = row.required("grade").strip().casefold()
    if word not in READ:
        raise row.wrong(f"'grade' must be 1, 0 or unclear, found {word!r}")
    return Grade(
        question_id=row.required("question_id"),
        response_sha256=row.required("response_sha256"),
        grade=READ[word],
        grader=row.text("grader") or grader,
        time=row.text("time") or now(),
        note=row.text("note"),
        policy=row.text("policy"),
        question_sha256=row.text("question_sha256"),
    )


def safe(text: str) -> str:
    """Return a cell that a spreadsheet shows as it is; `restored` gives the text back.

    >>> [safe(text) for text in ("=1+1", "'=1", "it's -1")]
    ["'=1+1", "''=1", "it's -1"]
    """
    return f"'{text}" if ACTIVE.match(text) else text


def restored(cell: str) -> str:
    """Return the text that `safe` made a cell of.

    >>> [restored(safe(text)) for text in ("=1+1", "'=1", "it's -1")]
    ['=1+1', "'=1", "it's -1"]
    """
    return cell[1:] if cell.startswith("'") and ACTIVE.match(cell) else cell


log = logging.getLogger(__name__)


def read_map(
    file: Path, runs: Sequence[Run], known: Iterable[Grade], grader: str, policy: str | None
) -> list[Grade]:
    """Return the grades of a map, as grades of the texts that the runs hold now.

    What the grader said already is not said twice.

    Variants that answered alike share one grade. Where the map grades equal texts differently,
    neither is taken and a warning says so: one of them must be a slip.

    Raises InputError or UnknownNameError for a variant or question that no run has.
    """
    wanted = map_of(file)
    named = {name: run for run in runs for name in (str(run.facts()["variant"]), run.name)}
    said: dict[tuple[Subject, str], dict[str, int | None]] = defaultdict(dict)
    for variant, cells in wanted.items():
        run = pick(named, variant, f"variant in {file}")
        texts = texts_of(run)
        asked = {q.id: question_sha256(q) for q in read_testset(run.path).questions}
        for question, grade in cells.items():
            text = pick(texts, question, f"question of {variant}")
            if text is None:
                log.warning("%s: %s has no answer to %s: left out", file, variant, question)
            else:
                said[(question, response_sha256(text)), asked[question]][variant] = grade
    before = last_words(known)
    found = []
    for (about, edition), by_variant in said.items():
        grade, *others = set(by_variant.values())
        if not others:
            old = before.get((about, grader))
            if old is None or old.grade != grade:
                found.append(Grade(*about, grade, grader, now(), None, policy, edition))
        else:
            log.warning(
                "%s: %s answered %s alike and are graded differently; left out: grade it by hand",
                file,
                ", ".join(by_variant),
                about[0],
            )
    return found


def texts_of(run: Run) -> dict[str, str | None]:
    """Return question id -> the first answer to it, None where the system failed."""
    texts: dict[str, str | None] = {}
    for row in run.responses():
        texts.setdefault(row.question_id, row.response)
    return texts


def map_of(file: Path) -> Mapping[str, Mapping[str, int | None]]:
    """Return variant -> question -> grade, each value checked."""
    try:
        found: Any = json.loads(read_text(file), object_pairs_hook=no_double_keys)
    except ValueError as error:
        raise InputError(f"{file}: not JSON ({error})") from None
    if not isinstance(found, dict) or not all(isinstance(cells, dict) for cells in found.values()):
        raise InputError(f'{file}: write {{"variant": {{"question": 1}}}}, with 1, 0 or null')
    for variant, cells in found.items():
        for question, grade in cells.items():
            if grade is not None and (isinstance(grade, float) or grade not in (0, 1)):
                raise InputError(
                    f"{file}: {variant}, {question}: a grade is 1, 0 or null, found {grade!r}"
                )
    return {
        variant: {q: None if grade is None else int(grade) for q, grade in cells.items()}
        for variant, cells in found.items()
    }
