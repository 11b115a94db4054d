import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.questions import Gradebook
from harness.records import Grade


@pytest.fixture
def book(tmp_path: Path) -> Gradebook[Grade]:
    return Gradebook(tmp_path / "set" / "grades.jsonl", Grade)


def grade(question: str, value: int | None = 1, grader: str = "ann", time: str = "") -> Grade:
    return Grade(question, "a" * 64, value, grader, time or None)


def test_what_is_added_is_read(book: Gradebook[Grade]) -> None:
    """Grades come back as they were given, in their order, 'unclear' and notes too."""
    first = Grade(
        "q1", "a", None, "安", "2026-11-30T00:00:00+00:00", "=1\n'2'", "a year off: wrong"
    )
    book.add([first])
    book.add([grade("q2"), grade("q3", 0)])

    assert book.read() == [first, grade("q2"), grade("q3", 0)]


def test_each_grade_is_forced_to_the_disk(
    book: Gradebook[Grade], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`add` returns after fsync of file and folder."""
    synced: list[int] = []
    sync = os.fsync

    def noted(number: int) -> None:
        synced.append(os.fstat(number).st_ino)
        sync(number)

    monkeypatch.setattr(os, "fsync", noted)

    book.add([grade("q1")])

    assert {book.path.stat().st_ino, book.path.parent.stat().st_ino} <= set(synced)


def test_a_torn_line_is_taken_out_before_the_next(book: Gradebook[Grade]) -> None:
    """After a crash in the middle of a write the next grade begins on a new line."""
    book.add([grade("q1")])
    with book.path.open("ab") as stream:
        stream.write(b'{"question_id": "q2", "resp')

    book.add([grade("q3")])

    assert book.read() == [grade("q1"), grade("q3")]
    assert b"q2" not in book.path.read_bytes()


def test_a_missing_line_end_is_added(book: Gradebook[Grade]) -> None:
    """Grades are appended correctly to a file without a final line end."""
    book.add([grade("q1")])
    book.path.write_bytes(book.path.read_bytes().rstrip())

    book.add([grade("q2")])

    assert book.read() == [grade("q1"), grade("q2")]


def test_take_back_removes_one_line(book: Gradebook[Grade]) -> None:
    """The last of equal grades goes; what others wrote in the meantime stays."""
    book.add([grade("q1"), grade("q1"), grade("q2", grader="bob")])

    book.take_back(grade("q1"))
    book.take_back(grade("q9"))

    assert book.read() == [grade("q1"), grade("q2", grader="bob")]


def test_a_failed_rewrite_leaves_the_old_file(
    book: Gradebook[Grade], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash while a grade is taken back loses none of the others."""
    book.add([grade("q1"), grade("q2")])

    def crash(number: int) -> None:
        raise OSError(errno.EIO, "the plug was pulled")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(OSError, match="plug"):
        book.take_back(grade("q1"))

    assert book.read() == [grade("q1"), grade("q2")]


def test_merge_orders_by_time_and_adds_nothing_twice(book: Gradebook[Grade]) -> None:
    """The latest grade counts whatever the order of merging; merging again changes nothing."""
    book.add([grade("q1", 0, time="2026-11-30T09:00:00+00:00")])
    other = [grade("q1", 1, time="2026-11-29T09:00:00+00:00"), grade("q2", 1, "bob")]

    assert book.merge(other) == 2
    assert book.merge(other) == 0
    assert [g.grade for g in book.read()] == [1, 1, 0]


def test_many_writers_lose_nothing(book: Gradebook[Grade]) -> None:
    """Eight who write at the same time leave eight whole lines each."""

    def write(number: int) -> None:
        for n in range(8):
            Gradebook(book.path, Grade).add([grade(f"q{n}", grader=f"g{number}")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))

    assert len(set(book.read())) == 64
