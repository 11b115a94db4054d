"""What there is to grade: each answer text and each caption once, whoever gave it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.metrics import METRICS, assemble
from harness.questions import Subject, question_sha256, read_testset, response_sha256, select
from harness.records import Question, Response
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
        for row in caption_rows(run):
            caption = GivenCaption(
                figure=row["figure"],
                page=row["page"],
                image_sha256=row["image_sha256"],
                text=row["text"],
                picture=run.path / "figures" / Path(row["picture"]).name,
            )
            found.setdefault(caption.about, caption)
    return found


def caption_rows(run: Run) -> Iterator[Mapping[str, Any]]:
    """Yield the captions of a run that say something, as collecting wrote them."""
    file = run.path / "captions.jsonl"
    lines = file.read_text(encoding="utf-8").split("\n") if file.is_file() else []
    yield from (row for line in lines if line.strip() and (row := json.loads(line))["text"])


def wrong_captions(run: Run, verdicts: Mapping[Subject, int | None]) -> frozenset[str]:
    """Return the ids of a run's caption passages whose caption people graded wrong."""
    return frozenset(
        row["figure"]
        for row in caption_rows(run)
        if verdicts.get((row["image_sha256"], response_sha256(row["text"]))) == 0
    )
