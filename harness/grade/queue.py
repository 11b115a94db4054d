"""What one person is still to grade, in a random order, and what they have graded so far."""

import hashlib
import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic

from harness.questions import (
    Gradebook,
    Subject,
    of_edition,
    subject,
)
from harness.questions.grades import G
from harness.records import Grade
from harness.store.provenance import now


@dataclass(frozen=True, slots=True)
class Act(Generic[G]):
    """A key that was pressed."""

    about: Subject
    grade: G | None
    """None where it was skipped."""


class Queue(Generic[G]):
    """The subjects of one page for one grader. Every grade is on the disk when it returns."""

    def __init__(
        self,
        book: Gradebook[G],
        subjects: Collection[Subject],
        grader: str,
        policy: str | None = None,
        disputed: Collection[Subject] = (),
        editions: Mapping[Subject, str] | None = None,
    ) -> None:
        """Begin, or go on where this grader stopped.

        Args:
            book: Where the grades are kept.
            subjects: What there is to grade.
            grader: Who grades: the order is theirs.
            policy: The rule that is kept with each grade.
            disputed: Offered first, even where this grader has spoken before.
            editions: Subject -> `question_sha256`, which is kept with each grade. What was graded
                by another edition of the question is offered again, before the rest.
        """
        self.book: Gradebook[G] = book
        self.grader = grader
        self.policy = policy
        self.order = shuffled(subjects, grader)
        self.disputed = frozenset(disputed) & set(self.order)
        self.editions = editions or {}
        known = set(self.order)
        mine = [said for said in book.read() if said.grader == grader and subject(said) in known]
        older = [said for said in mine if not self.is_current(said)]
        self.edited = frozenset(subject(said) for said in older)
        """What this grader graded by a question or reference that was edited since."""
        mine = [said for said in mine if said not in older]
        self.acts: list[Act[G]] = [Act(subject(said), said) for said in mine]
        """What was done, the last at the end; earlier sittings first."""
        self.before = len(self.acts)
        """How many of the acts are of earlier sittings."""
        self.returned: Subject | None = None
        """What undo has brought back."""

    @property
    def graded(self) -> set[Subject]:
        """What this grader has spoken of."""
        return {act.about for act in self.acts if act.grade is not None}

    @property
    def due(self) -> list[Subject]:
        """What is left, the next first: what undo brought back, disputes, the rest, the skipped."""
        sitting = self.acts[self.before :]
        looked_at = {act.about for act in sitting if act.grade is not None}
        graded = self.graded
        again = (self.disputed - looked_at) | (self.edited - graded)
        skipped = {act.about: number for number, act in enumerate(sitting) if act.grade is None}

        def place(about: Subject) -> tuple[bool, int, bool]:
            return about != self.returned, skipped.get(about, -1), about not in again

        left = [about for about in self.order if about in again or about not in graded]
        if self.returned is not None and self.returned not in left:
            left.append(self.returned)
        return sorted(left, key=place)

    @property
    def last(self) -> Act[G] | None:
        """What was done last in this sitting."""
        return self.acts[-1] if len(self.acts) > self.before else None

    @property
    def again(self) -> frozenset[Subject]:
        """What is due a second look: disputes, and what was graded before an edit."""
        return (self.disputed | self.edited) & set(self.due)

    def is_current(self, said: G) -> bool:
        """Say whether a grade was given by the question and reference as they are now."""
        return not isinstance(said, Grade) or of_edition(said, self.editions.get(subject(said)))

    def grade(self, about: Subject, value: int | None, note: str | None) -> None:
        """Keep a grade: 1 right, 0 wrong, None unclear."""
        edition = {"question_sha256": self.editions[about]} if about in self.editions else {}
        said = self.book.kind(*about, value, self.grader, now(), note, self.policy, **edition)
        self.book.add([said])
        self.did(Act(about, said))

    def skip(self, about: Subject) -> None:
        """Put a subject behind all others, for this sitting."""
        self.did(Act(about, None))

    def did(self, act: Act[G]) -> None:
        """Note what was done."""
        self.acts.append(act)
        self.returned = None

    def undo(self) -> None:
        """Take back what was done last, and offer its subject again; nothing where there is none.

        What was graded before a restart can be taken back too.
        """
        if not self.acts:
            return
        act = self.acts.pop()
        if act.grade is not None:
            self.book.take_back(act.grade)
        self.before = min(self.before, len(self.acts))
        self.returned = act.about


def shuffled(subjects: Iterable[Subject], grader: str) -> list[Subject]:
    """Return the subjects in an order that looks random and is this grader's on every start.

    An answer that is collected later takes its place among the others and moves none of them.

    >>> some = [("q1", "a"), ("q1", "b"), ("q2", "c")]
    >>> shuffled(some, "ann") == shuffled(some[::-1], "ann")
    True
    """
    return sorted(subjects, key=lambda about: ticket(about, grader))


def ticket(about: Subject, grader: str) -> str:
    """Return a name for a subject that tells nothing of it."""
    return hashlib.sha256("\0".join((grader, *about)).encode("utf-8", "replace")).hexdigest()


log = logging.getLogger(__name__)
