"""Grades of answers and captions by people: read, appended durably, and reduced to one per text."""

import hashlib
import json
import logging
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Generic, TypeVar

from harness.errors import InputError
from harness.files import write_whole
from harness.questions.rows import Row, json_row
from harness.records import Grade, Question

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CaptionGrade:
    """A person's verdict on what a captioner said about one picture."""

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
"""What a grade is about: (question id, response hash), or (picture hash, caption hash)."""


def subject(grade: Grade | CaptionGrade) -> Subject:
    """Return what a grade is about."""
    if isinstance(grade, Grade):
        return grade.question_id, grade.response_sha256
    return grade.image_sha256, grade.caption_sha256


def read_grades(file: Path) -> list[Grade]:
    """Return people's verdicts, in the order they were given; none where there is no file.

    A last line that a crash cut short is left out with a warning.
    """
    return read_rows(file, Grade)


def read_caption_grades(file: Path) -> list[CaptionGrade]:
    """Return people's verdicts on captions, as `read_grades` does those on answers."""
    return read_rows(file, CaptionGrade)


def read_rows(file: Path, kind: type[G]) -> list[G]:
    """Return the grades that a file holds, one a line."""
    if not file.exists():
        return []
    whole, torn = parted(file.read_bytes())
    if torn:
        log.warning("%s: the last line was cut short by a crash and is left out", file)
    try:
        lines = whole.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    numbered = enumerate(lines, start=1)
    return [grade_from(json_row(line, f"{file}:{n}"), kind) for n, line in numbered if line.strip()]


def parted(content: bytes) -> tuple[bytes, bytes]:
    r"""Return a file's whole lines, and the piece of a line behind them that is no object.

    >>> parted(b'{"a": 1}\n{"a": 2}'), parted(b'{"a": 1}\n{"a"')
    ((b'{"a": 1}\n{"a": 2}', b''), (b'{"a": 1}\n', b'{"a"'))
    """
    end = content.rfind(b"\n") + 1
    tail = content[end:]
    try:
        json_row(tail.decode("utf-8-sig"), "")
    except (InputError, UnicodeDecodeError):
        return (content[:end], tail) if tail.strip() else (content, b"")
    return content, b""


def grade_from(row: Row, kind: type[G]) -> G:
    """Return one grade, or raise naming the place and the key that is wrong."""
    first, second, _, _, *told = (field.name for field in fields(kind))
    row.only((first, second, "grade", "grader", *told))
    grade = row.values.get("grade")
    if grade is not None and (isinstance(grade, bool) or grade not in (0, 1)):
        raise row.wrong(f"'grade' must be 1 (right), 0 (wrong) or null (unclear), found {grade!r}")
    return kind(
        row.required(first),
        row.required(second),
        int(grade) if isinstance(grade, int | float) else None,
        row.required("grader"),
        **{name: row.text(name) for name in told},
    )


def still_meant(grades: Iterable[G], editions: Mapping[str, str]) -> list[G]:
    """Return the grades without those of a question that was edited since; a warning counts them.

    Args:
        grades: Of answers, or of captions, which belong to no question and are all kept.
        editions: Question id -> its `question_sha256` now. Grades of other questions, and those
            that do not say what they were graded by, are kept.
    """
    kept: list[G] = []
    edited = Counter[str]()
    for grade in grades:
        if isinstance(grade, Grade) and not of_edition(grade, editions.get(grade.question_id)):
            edited[grade.question_id] += 1
        else:
            kept.append(grade)
    if edited:
        log.warning(
            "%d grades no longer count: the question or its reference was edited since (%s); "
            "harness.grade offers these answers again",
            edited.total(),
            ", ".join(edited),
        )
    return kept


def of_edition(grade: Grade, edition: str | None) -> bool:
    """Say whether a grade was given by this edition of its question, as far as either is known."""
    return edition is None or grade.question_sha256 in (None, edition)


def last_words(grades: Iterable[G]) -> dict[tuple[Subject, str], G]:
    """Return (subject, grader) -> what the grader said of it last."""
    return {(subject(grade), grade.grader): grade for grade in grades}


def verdict_by_text(
    grades: Iterable[G], refused: Collection[str | None] = ()
) -> dict[Subject, int | None]:
    """Return (question id, response hash) -> 1 right, 0 wrong, by most of the graders.

    A grader's last word counts. None where they looked and could not tell: they are evenly split,
    or each called it unclear.

    Args:
        grades: Of answers, or of captions: the keys are then (picture hash, caption hash).
        refused: Names whose grades are no evidence, as those of the study's judge and
            generator: a metric held against its own judge's opinion looks better than it is.
    """
    words: dict[Subject, list[int | None]] = defaultdict(list)
    left_out = Counter[str]()
    names = {folded(name) for name in refused if name}
    for (about, grader), said in last_words(grades).items():
        if folded(grader) in names:
            left_out[grader] += 1
        else:
            words[about].append(said.grade)
    for grader, count in left_out.items():
        log.warning(
            "%d grades by '%s' are left out: it is this study's judge or generator, "
            "which is no witness of how good its own metrics are",
            count,
            grader,
        )
    return {
        about: most([one for one in given if one is not None]) for about, given in words.items()
    }


def most(given: Sequence[int]) -> int | None:
    """Return the grade that most gave; None where there is none.

    >>> most([1, 1, 0]), most([1, 0]), most([])
    (1, None, None)
    """
    return None if 2 * sum(given) == len(given) else int(2 * sum(given) > len(given))


def disputed(grades: Iterable[G]) -> tuple[Subject, ...]:
    """Return what one grader calls right and another wrong, by the last word of each."""
    opinions: dict[Subject, set[int | None]] = defaultdict(set)
    for (about, _), said in last_words(grades).items():
        opinions[about].add(said.grade)
    return tuple(about for about, said in opinions.items() if {0, 1} <= said)


def folded(name: str) -> str:
    """Return a name as it is compared: case and blanks around it do not count."""
    return name.strip().casefold()


def question_sha256(question: Question) -> str:
    """Return what tells an edition of a question from others: its text and its reference."""
    text = json.dumps([question.question, question.reference])
    return hashlib.sha256(text.encode()).hexdigest()


def response_sha256(response: str) -> str:
    """Return the key under which a person's grade of this text is kept."""
    return hashlib.sha256(response.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Gradebook(Generic[G]):
    """The grades of a test set. Two people, or two processes, may write at the same time."""

    path: Path
    kind: type[G]

    def read(self) -> list[G]:
        """Return every grade, in the order they were given."""
        return read_rows(self.path, self.kind)

    def add(self, grades: Sequence[G]) -> None:
        """Append grades; when this returns they survive a crash of the machine."""
        if not grades:
            return
        with self.locked():
            end = self.heal()
            with self.path.open("ab") as stream:
                stream.write(end + b"".join(map(line, grades)))
                stream.flush()
                os.fsync(stream.fileno())

    def take_back(self, grade: G) -> None:
        """Remove a grade's last line, where it is still there."""
        with self.locked():
            kept = self.read()
            if grade in kept:
                del kept[len(kept) - 1 - kept[::-1].index(grade)]
                self.replace(kept)

    def merge(self, others: Iterable[G]) -> int:
        """Add the grades that are not there yet, all in the order of their time; say how many.

        The order counts where both files hold words of the same grader: the last is the one
        in force. A grade without a time comes before those with one.
        """
        with self.locked():
            mine = dict.fromkeys(self.read())
            both = {**mine, **dict.fromkeys(others)}
            if len(both) > len(mine):
                self.replace(sorted(both, key=lambda grade: grade.time or ""))
            return len(both) - len(mine)

    def heal(self) -> bytes:
        """Cut off what a crash left of a last line; return the line end that is missing."""
        if not self.path.exists():
            write_whole(self.path, b"", durable=True)
        content = self.path.read_bytes()
        whole, torn = parted(content)
        if torn:
            log.warning("%s: a last line cut short by a crash is taken out", self.path)
            write_whole(self.path, whole, durable=True)
        return b"\n" if whole and not whole.endswith(b"\n") else b""

    def replace(self, grades: Iterable[G]) -> None:
        """Write the whole file anew, or leave it as it is."""
        write_whole(self.path, b"".join(map(line, grades)), durable=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing at the same time."""
        from filelock import FileLock

        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_name(f".{self.path.name}.lock")):
            yield


def line(grade: G) -> bytes:
    """Return a grade as a line of the file; `null` is written only where it says 'unclear'."""
    row = {k: v for k, v in asdict(grade).items() if v is not None or k == "grade"}
    return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace")
