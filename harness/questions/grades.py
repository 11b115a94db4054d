"""People's grades of answers and captions: read, appended durably, and reduced to one per text."""

import json
import logging
import math
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

from harness.errors import InputError
from harness.files import write_whole
from harness.questions.testset import FileRow, json_row, json_rows
from harness.records import Chosen, Grade, Question
from harness.text import fold_name, sha256

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CaptionGrade:
    """A person's grade of a caption of one picture."""

    image_sha256: str
    """Of the figure's pixels, as in a run's captions.jsonl."""
    caption_sha256: str
    """Of the caption's text."""
    grade: int | None
    """1 right, 0 wrong, None unclear."""
    grader: str
    time: str | None = None
    note: str | None = None
    policy: str | None = None


G = TypeVar("G", Grade, CaptionGrade)
Subject = tuple[str, str]
"""The subject of a grade: (question id, response hash), or (picture hash, caption hash)."""


def subject_of(grade: Grade | CaptionGrade) -> Subject:
    """Return the subject of a grade."""
    if isinstance(grade, Grade):
        return grade.question_id, grade.response_sha256
    return grade.image_sha256, grade.caption_sha256


def split_incomplete_line(content: bytes) -> tuple[bytes, bytes]:
    r"""Return a file's complete lines, and the rest if it is not a JSON object.

    >>> split_incomplete_line(b'{"a": 1}\n{"a": 2}'), split_incomplete_line(b'{"a": 1}\n{"a"')
    ((b'{"a": 1}\n{"a": 2}', b''), (b'{"a": 1}\n', b'{"a"'))
    """
    end = content.rfind(b"\n") + 1
    tail = content[end:]
    try:
        json_row(tail.decode("utf-8-sig"), "")
    except (InputError, UnicodeDecodeError):
        return (content[:end], tail) if tail.strip() else (content, b"")
    return content, b""


def read_grade(row: FileRow, kind: type[G]) -> G:
    """Return one grade; raise InputError naming the place and the invalid key."""
    first, second, _, _, *optional = (field.name for field in fields(kind))
    row.only((first, second, "grade", "grader", *optional))
    grade = row.values.get("grade")
    if grade is not None and (isinstance(grade, bool) or grade not in (0, 1)):
        raise row.error(f"'grade' must be 1 (right), 0 (wrong) or null (unclear), found {grade!r}")
    texts: dict[str, Any] = {name: row.text(name) for name in optional if name != "probability"}
    return kind(
        row.required(first),
        row.required(second),
        int(grade) if isinstance(grade, int | float) else None,
        row.required("grader"),
        **(texts | read_choice(row) if kind is Grade else texts),
    )


def read_choice(row: FileRow) -> dict[str, Any]:
    """Return why an answer was graded, and with what chance: a number, in a table as text."""
    reason, chance = row.text("chosen") or None, row.values.get("probability") or None
    if reason is not None and reason not in tuple(Chosen):
        raise row.error(f"'chosen' must be one of {', '.join(Chosen)}, found {reason!r}")
    try:
        number = None if chance is None else float(str(chance).replace(",", "."))
    except ValueError:
        number = math.nan
    drawn = number is not None and 0 < number <= 1
    if not drawn if reason == Chosen.RANDOM else number is not None:
        raise row.error(
            "'probability' must be above 0 and at most 1 where 'chosen' is random, and absent "
            f"elsewhere, found {chance!r}"
        )
    return {"chosen": reason and Chosen(reason), "probability": number}


def random_draws(grades: Iterable[Grade]) -> dict[str, float]:
    """Return question id -> the chance with which it was drawn at random for grading.

    A question that was drawn once remains part of the sample, whoever grades its answers and why.
    """
    drawn: dict[str, float] = {}
    for grade in grades:
        if grade.probability is not None:
            drawn.setdefault(grade.question_id, grade.probability)
    return drawn


def current_grades(grades: Iterable[G], editions: Mapping[str, str]) -> list[G]:
    """Return the grades without outdated ones, whose question was edited since; log their count.

    Args:
        grades: Of answers; or of captions, which belong to no question and are all kept.
        editions: Question id -> its `question_sha256` now. Grades of other questions, and those
            without a recorded edition, are kept.
    """
    kept: list[G] = []
    edited = Counter[str]()
    for grade in grades:
        if isinstance(grade, Grade) and not is_of_edition(grade, editions.get(grade.question_id)):
            edited[grade.question_id] += 1
        else:
            kept.append(grade)
    if edited:
        log.warning(
            "%d grades no longer count: the question or its reference was edited since (%s); "
            "harness.grade shows these answers again",
            edited.total(),
            ", ".join(edited),
        )
    return kept


def is_of_edition(grade: Grade, edition: str | None) -> bool:
    """Say whether a grade belongs to this edition of its question; unknown editions match any."""
    return edition is None or grade.question_sha256 in (None, edition)


def latest_grades(grades: Iterable[G]) -> dict[tuple[Subject, str], G]:
    """Return (subject, grader) -> the grader's latest grade of it."""
    return {(subject_of(grade), grade.grader): grade for grade in grades}


def grade_by_text(
    grades: Iterable[G], refused: Collection[str | None] = ()
) -> dict[Subject, int | None]:
    """Return (question id, response hash) -> 1 right, 0 wrong, by the majority of the graders.

    The latest grade of each grader counts. None where there is no majority: they are evenly
    split, or all graded it unclear.

    Args:
        grades: Of answers, or of captions: the keys are then (picture hash, caption hash).
        refused: Names whose grades are no evidence, such as the study's judge and generator: a
            metric compared with its own judge's opinion looks better than it is.
    """
    by_subject: dict[Subject, list[int | None]] = defaultdict(list)
    left_out = Counter[str]()
    names = {fold_name(name) for name in refused if name}
    for (about, grader), grade in latest_grades(grades).items():
        if fold_name(grader) in names:
            left_out[grader] += 1
        else:
            by_subject[about].append(grade.grade)
    for grader, count in left_out.items():
        log.warning(
            "%d grades by '%s' are left out: it is this study's judge or generator, "
            "so its grades are no evidence about its own metrics",
            count,
            grader,
        )
    return {
        about: majority([one for one in given if one is not None])
        for about, given in by_subject.items()
    }


def majority(given: Sequence[int]) -> int | None:
    """Return the grade that most gave; None without a majority.

    >>> majority([1, 1, 0]), majority([1, 0]), majority([])
    (1, None, None)
    """
    return None if 2 * sum(given) == len(given) else int(2 * sum(given) > len(given))


def disputes(grades: Iterable[G]) -> tuple[Subject, ...]:
    """Return the subjects that one grader calls right and another wrong, by their latest grades."""
    opinions: dict[Subject, set[int | None]] = defaultdict(set)
    for (about, _), grade in latest_grades(grades).items():
        opinions[about].add(grade.grade)
    return tuple(about for about, grades_of in opinions.items() if {0, 1} <= grades_of)


def question_sha256(question: Question) -> str:
    """Return the hash of an edition of a question: of its text and its reference."""
    text = json.dumps([question.question, question.reference])
    return sha256(text)


def response_sha256(response: str) -> str:
    """Return the hash under which grades of this text are kept."""
    return sha256(response)


@dataclass(frozen=True, slots=True)
class Gradebook(Generic[G]):
    """A file of grades of a test set. Several processes may write to it at the same time."""

    path: Path
    kind: type[G]

    def read(self) -> list[G]:
        """Return all grades, in the order they were given; empty without a file.

        An incomplete last line, as a crash leaves it, is ignored with a warning.
        """
        if not self.path.exists():
            return []
        whole, incomplete = split_incomplete_line(self.path.read_bytes())
        if incomplete:
            log.warning("%s: the last line is incomplete (a crash?) and is ignored", self.path)
        return [read_grade(row, self.kind) for row in json_rows(whole, self.path)]

    def add(self, grades: Sequence[G]) -> None:
        """Append grades; once this returns they survive a crash of the machine."""
        if not grades:
            return
        with self.locked():
            content = self.path.read_bytes() if self.path.exists() else b""
            whole, incomplete = split_incomplete_line(content)
            if incomplete:
                log.warning("%s: removed an incomplete last line (a crash?)", self.path)
            if incomplete or not content:
                write_whole(self.path, whole, durable=True)
            end = b"\n" if whole and not whole.endswith(b"\n") else b""
            with self.path.open("ab") as stream:
                stream.write(end + b"".join(map(json_line, grades)))
                stream.flush()
                os.fsync(stream.fileno())

    def take_back(self, grade: G) -> None:
        """Remove the last line of this grade, if there is one."""
        with self.locked():
            kept = self.read()
            if grade in kept:
                del kept[len(kept) - 1 - kept[::-1].index(grade)]
                self.replace(kept)

    def merge(self, others: Iterable[G]) -> int:
        """Add the grades that are not in the file yet, sort all by time, and return their number.

        The order matters where both files have grades by the same grader: the latest counts. A
        grade without a time comes before those with one.
        """
        with self.locked():
            mine = dict.fromkeys(self.read())
            both = {**mine, **dict.fromkeys(others)}
            if len(both) > len(mine):
                self.replace(sorted(both, key=lambda grade: grade.time or ""))
            return len(both) - len(mine)

    def replace(self, grades: Iterable[G]) -> None:
        """Replace the content of the file atomically."""
        write_whole(self.path, b"".join(map(json_line, grades)), durable=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing at the same time."""
        from filelock import FileLock

        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_name(f".{self.path.name}.lock")):
            yield


def answer_grades(folder: Path) -> Gradebook[Grade]:
    """Return the grades of answers of the test set in a folder."""
    return Gradebook(folder / "grades.jsonl", Grade)


def caption_grades(folder: Path) -> Gradebook[CaptionGrade]:
    """Return the grades of captions of the test set in a folder."""
    return Gradebook(folder / "caption_grades.jsonl", CaptionGrade)


def json_line(grade: G) -> bytes:
    """Return a grade as a line of the file; only the grade itself is written as `null`."""
    row = {k: v for k, v in asdict(grade).items() if v is not None or k == "grade"}
    return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")
