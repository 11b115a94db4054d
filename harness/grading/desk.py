"""What lies before a grader: one answer, or one caption, and what it is to be held against."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic

from harness.grading.evidence import Pages, Place, places_of
from harness.grading.queue import Queue, ticket
from harness.grading.subjects import GivenAnswer, GivenCaption
from harness.questions import CaptionGrade, Subject
from harness.questions.grades import G
from harness.records import Grade
from harness.render.printable import plain


@dataclass
class Desk(Generic[G]):
    """A queue as the page sees it. A subclass says what is shown of a subject."""

    queue: Queue[G]

    def __post_init__(self) -> None:
        grader = self.queue.grader
        self.tickets: dict[str, Subject] = {ticket(a, grader): a for a in self.queue.order}

    def now(self) -> dict[str, Any]:
        """Return what is to be graded next, how far it is, and what was done last."""
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
            "disputed": about in self.queue.disputed,
            "edited": about in self.queue.edited - self.queue.graded,
            **self.shown(about),
        }

    def shown(self, about: Subject) -> Mapping[str, Any]:
        """Return the texts and pictures of a subject."""
        raise NotImplementedError

    def proposal(self, about: Subject) -> int | None:
        """Return what a rule makes of a subject, None where none can tell."""
        return None

    def picture(self, name: str) -> bytes | None:
        """Return the PNG of that name, None where no subject has one."""
        raise NotImplementedError


@dataclass
class AnswerDesk(Desk[Grade]):
    """Answers, held against the reference and the pages that it stands on."""

    answers: Mapping[Subject, GivenAnswer]
    pages: Pages

    def __post_init__(self) -> None:
        super().__post_init__()
        places = {place for a in self.answers.values() for place in places_of(a.question.evidence)}
        drawable = sorted(place for place in places if self.pages.file(place[0]) is not None)
        self.names: dict[Place, str] = {place: str(n) for n, place in enumerate(drawable)}

    def shown(self, about: Subject) -> Mapping[str, Any]:
        """Return question, reference, evidence and answer; nothing tells whose answer it is."""
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
                for document, page, quotes in places_of(question.evidence)
            ],
            "answer": plain(answer.text),
        }

    def proposal(self, about: Subject) -> int | None:
        """Return what `answer_match` makes of an answer."""
        return self.answers[about].proposal

    def picture(self, name: str) -> bytes | None:
        """Return a page that some evidence names."""
        places = [place for place, number in self.names.items() if number == name]
        return self.pages.picture(*places[0]) if places else None


@dataclass
class CaptionDesk(Desk[CaptionGrade]):
    """Captions, held against their pictures."""

    captions: Mapping[Subject, GivenCaption]

    def shown(self, about: Subject) -> Mapping[str, Any]:
        """Return the caption and where its picture is."""
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
