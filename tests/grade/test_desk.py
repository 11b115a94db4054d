from pathlib import Path

import pytest

from harness.grade.desk import Queue, shuffled
from harness.questions import Gradebook, Subject
from harness.records import Chosen, Grade

SUBJECTS = [(f"q{n}", f"{n:064x}") for n in range(12)]


@pytest.fixture
def book(tmp_path: Path) -> Gradebook[Grade]:
    return Gradebook(tmp_path / "grades.jsonl", Grade)


def queue(book: Gradebook[Grade], grader: str = "ann", **settings: list[Subject]) -> Queue[Grade]:
    return Queue(book, SUBJECTS, grader, **settings)


def test_the_order_is_the_graders_own(book: Gradebook[Grade]) -> None:
    """The order looks random, is the same on every start, and differs between graders."""
    anns, bobs = queue(book).order, queue(book, "bob").order

    assert anns == queue(book).order
    assert sorted(anns) == sorted(bobs) == sorted(SUBJECTS)
    assert anns != bobs
    assert anns != SUBJECTS


def test_a_later_answer_moves_no_other() -> None:
    """A later answer is inserted without changing the order of the others."""
    more = [*SUBJECTS, ("q99", "f" * 64)]

    assert [about for about in shuffled(more, "ann") if about[0] != "q99"] == shuffled(
        SUBJECTS, "ann"
    )


def test_grades_are_kept_with_rule_note_and_time(book: Gradebook[Grade]) -> None:
    """A grade is written with grader, rule, note and time before the next item is shown."""
    at = Queue(book, SUBJECTS, "ann", "a year off is wrong")
    first = at.due[0]

    at.grade(first, 0, "1913, not 1931")

    (kept,) = book.read()
    assert (kept.question_id, kept.response_sha256) == first
    assert (kept.grade, kept.grader) == (0, "ann")
    assert (kept.note, kept.policy) == ("1913, not 1931", "a year off is wrong")
    assert kept.time is not None
    assert at.due == at.order[1:]


def test_a_new_sitting_goes_on(book: Gradebook[Grade]) -> None:
    """A new session offers what this grader has not graded, whatever others graded."""
    at = queue(book)
    at.grade(at.due[0], 1, None)
    at.grade(at.due[0], None, None)

    assert queue(book).due == at.order[2:]
    assert len(queue(book, "bob").due) == len(SUBJECTS)


def test_skipped_comes_last(book: Gradebook[Grade]) -> None:
    """Skipping puts an answer behind the others, in the order of skipping; nothing is written."""
    at = queue(book)
    first, second = at.due[:2]
    at.skip(first)
    at.skip(second)

    assert at.due == [*at.order[2:], first, second]
    assert book.read() == []


def test_undo_takes_back_the_last_act(book: Gradebook[Grade]) -> None:
    """Undo removes the grade and offers its answer next, then the act before that one."""
    at = queue(book)
    first, second, third = at.due[:3]
    at.grade(first, 1, None)
    at.skip(second)
    at.grade(third, 0, None)

    at.undo()
    assert at.due[0] == third
    assert [grade.question_id for grade in book.read()] == [first[0]]
    at.undo()
    assert at.due[0] == second
    at.undo()
    at.undo()
    assert at.due == at.order
    assert book.read() == []


def test_undo_reaches_into_an_earlier_sitting(book: Gradebook[Grade]) -> None:
    """After a restart the grader's last grade can still be undone, and only their own."""
    first = queue(book).due[0]
    queue(book).grade(first, 1, None)
    queue(book, "bob").grade(first, 0, None)

    again = queue(book)
    assert again.last is None
    again.undo()

    assert again.due == again.order
    assert [grade.grader for grade in book.read()] == ["bob"]


def test_an_edited_question_is_graded_again(book: Gradebook[Grade]) -> None:
    """A grade of an older edition is offered first and marked; one without an edition counts."""
    old, current, undated = SUBJECTS[:3]
    book.add(
        [
            Grade(*old, 1, "ann", question_sha256="before"),
            Grade(*current, 1, "ann", question_sha256="now"),
            Grade(*undated, 1, "ann"),
        ]
    )

    at = Queue(book, SUBJECTS, "ann", editions=dict.fromkeys(SUBJECTS, "now"))

    assert at.due[0] == old
    assert at.again == {old}
    assert not {current, undated} & set(at.due)
    at.grade(old, 0, None)
    assert old not in at.due
    assert at.again == frozenset()
    assert book.read()[-1] == Grade(
        *old, 0, "ann", book.read()[-1].time, question_sha256="now", chosen=Chosen.ALL
    )
    at.undo()
    assert at.due[0] == old


def test_disputes_come_first(book: Gradebook[Grade]) -> None:
    """A second look offers what graders dispute, even what this grader has graded, once."""
    seen = queue(book)
    disputed, other = seen.order[5], seen.order[0]
    seen.grade(disputed, 1, None)
    seen.grade(other, 1, None)

    at = queue(book, disputes=[disputed, ("q77", "gone")])
    assert at.due[0] == disputed
    assert len(at.due) == len(SUBJECTS) - 1
    at.grade(disputed, 0, None)

    assert disputed not in at.due
    assert [grade.grade for grade in book.read()] == [1, 1, 0]
    at.undo()
    assert at.due[0] == disputed
    assert [grade.grade for grade in book.read()] == [1, 1]


def test_every_grade_says_why(book: Gradebook[Grade]) -> None:
    """Drawn at random with a chance, disputed, or one of all."""
    at = Queue(book, SUBJECTS, "ann", disputes=[SUBJECTS[1]], draws={"q0": 0.25, "q1": 0.75})
    for about in (SUBJECTS[1], SUBJECTS[0], SUBJECTS[2]):
        at.grade(about, 1, None)

    assert [(grade.chosen, grade.probability) for grade in book.read()] == [
        (Chosen.DISPUTE, None),
        (Chosen.RANDOM, 0.25),
        (Chosen.ALL, None),
    ]


def test_questions_are_drawn_with_their_chances() -> None:
    """Of two questions the likelier comes first as often as it should; the others come last.

    3,000 graders and a chance of 0.8: the standard error is 0.0073.
    """
    subjects = [("often", "a"), ("rare", "b"), ("equal", "c"), ("often", "d")]
    draws = {"often": 0.8, "rare": 0.2}

    orders = [shuffled(subjects, f"grader {n}", draws) for n in range(3000)]

    first = sum(order[0][0] == "often" for order in orders) / len(orders)
    assert first == pytest.approx(0.8, abs=0.03)
    assert {order[-1][0] for order in orders} == {"equal"}
    together = [[about[0] for about in order].index("often") for order in orders]
    assert all(order[at][0] == order[at + 1][0] for order, at in zip(orders, together, strict=True))
