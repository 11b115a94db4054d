"""A grader's desk: the queue of what is left to grade, and what is shown beside each item."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic

from harness.grade.evidence_pages import EvidencePages, QuotedPage, quoted_pages
from harness.grade.session import GivenAnswer, GivenCaption
from harness.questions import CaptionGrade, Gradebook, Subject, is_of_edition, subject_of
from harness.questions.grades import G
from harness.records import Chosen, Grade
from harness.render.notation import plain
from harness.store.run import now
from harness.text import sha256


@dataclass(frozen=True, slots=True)
class Act(Generic[G]):
    """One action of the grader: a grade or a skip."""

    about: Subject
    grade: G | None
    """None for a skip."""


class Queue(Generic[G]):
    """What one grader has left to grade. Every grade is on disk when a method returns."""

    def __init__(
        self,
        book: Gradebook[G],
        subjects: Collection[Subject],
        grader: str,
        policy: str | None = None,
        disputes: Collection[Subject] = (),
        editions: Mapping[Subject, str] | None = None,
        draws: Mapping[str, float] | None = None,
    ) -> None:
        """Start, or resume where this grader stopped.

        Args:
            book: Where the grades are kept.
            subjects: What there is to grade.
            grader: Who grades; each grader has their own order.
            policy: The rule that is kept with each grade.
            disputes: Offered first, even if this grader has graded them before.
            editions: Subject -> `question_sha256`, which is kept with each grade. What was graded
                by another edition of the question is offered again, before the rest.
            draws: Question id -> its chance of being drawn first, which is kept with each grade;
                the answers of other questions come after those.
        """
        self.book: Gradebook[G] = book
        self.grader = grader
        self.policy = policy
        self.draws = draws or {}
        self.order = shuffled(subjects, grader, self.draws)
        self.disputes = frozenset(disputes) & set(self.order)
        self.editions = editions or {}
        mine = [one for one in book.read() if one.grader == grader and subject_of(one) in subjects]
        self.edited = frozenset(subject_of(one) for one in mine if not self.is_current(one))
        """What this grader graded by a question or reference that was edited since."""
        current = filter(self.is_current, mine)
        self.acts: list[Act[G]] = [Act(subject_of(one), one) for one in current]
        """All actions, the last at the end; those of earlier sessions first."""
        self.before = len(self.acts)
        """The number of actions of earlier sessions."""
        self.returned: Subject | None = None
        """What the last undo has brought back."""

    @property
    def graded(self) -> set[Subject]:
        """What this grader has graded."""
        return {act.about for act in self.acts if act.grade is not None}

    @property
    def due(self) -> list[Subject]:
        """What is left, the next first: the last undo, second looks, the rest, then the skipped."""
        this_session = self.acts[self.before :]
        looked_at = {act.about for act in this_session if act.grade is not None}
        graded = self.graded
        again = (self.disputes - looked_at) | (self.edited - graded)
        skipped = {act.about: n for n, act in enumerate(this_session) if act.grade is None}

        def place(about: Subject) -> tuple[bool, int, bool]:
            return about != self.returned, skipped.get(about, -1), about not in again

        left = [about for about in self.order if about in again or about not in graded]
        if self.returned is not None and self.returned not in left:
            left.append(self.returned)
        return sorted(left, key=place)

    @property
    def last(self) -> Act[G] | None:
        """The last action of this session."""
        return self.acts[-1] if len(self.acts) > self.before else None

    @property
    def again(self) -> frozenset[Subject]:
        """What is left for a second look: disputes, and what was graded before an edit."""
        return (self.disputes | self.edited) & set(self.due)

    def is_current(self, grade: G) -> bool:
        """Say whether a grade was given by the question and reference as they are now."""
        return not isinstance(grade, Grade) or is_of_edition(
            grade, self.editions.get(subject_of(grade))
        )

    def grade(self, about: Subject, value: int | None, note: str | None) -> None:
        """Save a grade: 1 right, 0 wrong, None unclear."""
        more: dict[str, Any] = self.choice(about) if self.book.kind is Grade else {}
        if about in self.editions:
            more["question_sha256"] = self.editions[about]
        grade = self.book.kind(*about, value, self.grader, now(), note, self.policy, **more)
        self.book.add([grade])
        self._append(Act(about, grade))

    def choice(self, about: Subject) -> dict[str, Any]:
        """Return why an answer is offered, as its grade records it."""
        if about in self.disputes:
            return {"chosen": Chosen.DISPUTE}
        return choice(about, self.draws)

    def skip(self, about: Subject) -> None:
        """Put a subject behind all others, for this session."""
        self._append(Act(about, None))

    def _append(self, act: Act[G]) -> None:
        self.acts.append(act)
        self.returned = None

    def undo(self) -> None:
        """Take back the last action and offer its subject again; without any, do nothing.

        Grades of earlier sessions can be taken back too.
        """
        if not self.acts:
            return
        act = self.acts.pop()
        if act.grade is not None:
            self.book.take_back(act.grade)
        self.before = min(self.before, len(self.acts))
        self.returned = act.about


def choice(about: Subject, draws: Mapping[str, float]) -> dict[str, Any]:
    """Return why an answer is graded: its question is drawn at random, or all answers are."""
    if about[0] in draws:
        return {"chosen": Chosen.RANDOM, "probability": draws[about[0]]}
    return {"chosen": Chosen.ALL}


def shuffled(
    subjects: Iterable[Subject], grader: str, draws: Mapping[str, float] = MappingProxyType({})
) -> list[Subject]:
    """Return the subjects in an order that looks random and is the same whenever a grader starts.

    An answer that is collected later is inserted among the others and moves none of them.

    Args:
        subjects: In any order.
        grader: Each has their own order.
        draws: Question id -> its chance of being drawn first: these questions come first, as if
            drawn one by one without replacement, each with all its answers.

    >>> some = [("q1", "a"), ("q1", "b"), ("q2", "c")]
    >>> shuffled(some, "ann") == shuffled(some[::-1], "ann")
    True
    """

    def turn(question: str) -> float:
        # the first of independent exponential clocks rings with the chance that is its rate
        if question not in draws:
            return math.inf
        uniform = (int(ticket((question, ""), grader)[:13], 16) + 0.5) / 16**13
        return -math.log(uniform) / draws[question]

    return sorted(subjects, key=lambda about: (turn(about[0]), ticket(about, grader)))


def ticket(about: Subject, grader: str) -> str:
    """Return a name for a subject that does not reveal it."""
    return sha256("\0".join((grader, *about)))


@dataclass
class Desk(Generic[G]):
    """A queue as the page sees it. A subclass says what is shown of a subject."""

    queue: Queue[G]

    def __post_init__(self) -> None:
        grader = self.queue.grader
        self.tickets: dict[str, Subject] = {ticket(a, grader): a for a in self.queue.order}

    def now(self) -> dict[str, Any]:
        """Return the next item, the progress, and the last action."""
        due = self.queue.due
        last = self.queue.last
        return {
            "total": len(self.queue.order),
            "done": len(self.queue.graded),
            "left": len(due),
            "again": len(self.queue.again),
            "can_undo": bool(self.queue.acts),
            "grader": plain(self.queue.grader),
            "policy": plain(self.queue.policy or ""),
            "last": None
            if last is None
            else {
                "grade": "skip" if last.grade is None else last.grade.grade,
                "proposal": None if last.grade is None else self.proposal(last.about),
            },
            "item": self.item(due[0]) if due else None,
        }

    def item(self, about: Subject) -> dict[str, Any]:
        """Return a subject as the page shows it."""
        return {
            "ticket": ticket(about, self.queue.grader),
            "disputed": about in self.queue.disputes,
            "edited": about in self.queue.edited - self.queue.graded,
            **self.content(about),
        }

    def content(self, about: Subject) -> Mapping[str, Any]:
        """Return the texts and pictures of a subject."""
        raise NotImplementedError

    def proposal(self, about: Subject) -> int | None:
        """Return the grade that a rule would give; None without one."""
        return None

    def picture(self, name: str) -> bytes | None:
        """Return the PNG of that name; None for an unknown name."""
        raise NotImplementedError


@dataclass
class AnswerDesk(Desk[Grade]):
    """Answers, beside the reference and the pages that are its evidence."""

    answers: Mapping[Subject, GivenAnswer]
    pages: EvidencePages
    prospect: Sequence[Mapping[str, Any]] = ()
    """What more grades could decide when the page was opened: slots of the page's sentences."""

    def __post_init__(self) -> None:
        super().__post_init__()
        places = {
            place for a in self.answers.values() for place in quoted_pages(a.question.evidence)
        }
        drawable = sorted(place for place in places if self.pages.file(place[0]) is not None)
        self.names: dict[QuotedPage, str] = {place: str(n) for n, place in enumerate(drawable)}

    def now(self) -> dict[str, Any]:
        """Return what the page shows now, what more grades could decide included."""
        return {**super().now(), "prospect": self.prospect}

    def content(self, about: Subject) -> Mapping[str, Any]:
        """Return question, reference, evidence and answer; nothing reveals whose answer it is."""
        answer = self.answers[about]
        question = answer.question
        return {
            "question": plain(question.question),
            "reference": plain(question.reference),
            "answerable": question.answerable,
            "evidence": [
                {
                    "document": plain(document),
                    "page": page,
                    "quotes": [plain(quote) for quote in quotes],
                    "picture": self.names.get((document, page, quotes)),
                }
                for document, page, quotes in quoted_pages(question.evidence)
            ],
            "answer": plain(answer.text),
        }

    def proposal(self, about: Subject) -> int | None:
        """Return the grade of an answer by `answer_match`."""
        return self.answers[about].proposal

    def picture(self, name: str) -> bytes | None:
        """Return the picture of a page that is evidence."""
        places = [place for place, number in self.names.items() if number == name]
        return self.pages.picture(*places[0]) if places else None


@dataclass
class CaptionDesk(Desk[CaptionGrade]):
    """Captions, beside their pictures."""

    captions: Mapping[Subject, GivenCaption]

    def content(self, about: Subject) -> Mapping[str, Any]:
        """Return the caption and the name of its picture."""
        caption = self.captions[about]
        return {
            "figure": plain(caption.figure),
            "caption": plain(caption.text),
            "picture": caption.image_sha256,
        }

    def picture(self, name: str) -> bytes | None:
        """Return a figure by the hash of its pixels."""
        found = [c.picture for c in self.captions.values() if c.image_sha256 == name]
        return found[0].read_bytes() if found and found[0].is_file() else None
