"""What there is to grade, and what a grader is shown beside one answer or caption."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from harness.grade.evidence_pages import Pages, Place, places_of
from harness.grade.queue import Queue, ticket
from harness.metrics import METRICS, assemble
from harness.questions import (
    CaptionGrade,
    Subject,
    question_sha256,
    read_testset,
    response_sha256,
    select,
)
from harness.questions.grades import G
from harness.records import Grade, Question, Response
from harness.render.printable import plain
from harness.store import Run


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """A text that answers a question; which variants gave it is left out on purpose."""

    question: Question
    text: str
    response: Response
    """One of the rows that hold it."""

    @property
    def about(self) -> Subject:
        """What a grade of it is kept under."""
        return self.question.id, response_sha256(self.text)

    @property
    def edition(self) -> str:
        """What a grade of it says that it was given by."""
        return question_sha256(self.question)

    @property
    def proposal(self) -> int | None:
        """What `answer_match` makes of it: 1, 0, or None where it cannot tell."""
        scored = METRICS["answer_match"].score(assemble(self.response, self.question, []))
        return None if scored.value is None else int(scored.value)


@dataclass(frozen=True, slots=True)
class GivenCaption:
    """What a captioner said about a picture."""

    figure: str
    page: int | None
    image_sha256: str
    text: str
    picture: Path

    @property
    def about(self) -> Subject:
        """What a grade of it is kept under."""
        return self.image_sha256, response_sha256(self.text)


def answers_of(
    runs: Sequence[Run], ids: Sequence[str] = (), limit: int | None = None
) -> dict[Subject, GivenAnswer]:
    """Return every answer of the runs, equal ones once; what failed has no answer to grade.

    An answer to an older edition of its question is left out: nobody reports it any more.
    `ids` and `limit` choose among the questions, as in every stage.
    """
    newest_last = sorted(runs, key=lambda run: str(run.facts().get("ended")))
    carried = {run: {q.id: q for q in read_testset(run.path).questions} for run in newest_last}
    newest = {name: q for questions in carried.values() for name, q in questions.items()}
    chosen = {question.id: question for question in select(list(newest.values()), ids, limit)}
    found: dict[Subject, GivenAnswer] = {}
    for run in runs:
        for row in run.responses():
            question = chosen.get(row.question_id)
            if row.response is None or question is None:
                continue
            if question_sha256(carried[run][question.id]) == question_sha256(question):
                answer = GivenAnswer(question, row.response, row)
                found.setdefault(answer.about, answer)
    return found


def editions(answers: Iterable[GivenAnswer]) -> dict[str, str]:
    """Return question id -> the edition of it that is asked now."""
    return {answer.question.id: answer.edition for answer in answers}


def captions_of(runs: Sequence[Run]) -> dict[Subject, GivenCaption]:
    """Return every caption that the indices of the runs were told, equal ones once."""
    found: dict[Subject, GivenCaption] = {}
    for run in runs:
        for row in run.captions():
            if not row["text"]:
                continue
            caption = GivenCaption(
                figure=row["figure"],
                page=row["page"],
                image_sha256=row["image_sha256"],
                text=row["text"],
                picture=run.path / "figures" / Path(row["picture"]).name,
            )
            found.setdefault(caption.about, caption)
    return found


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
