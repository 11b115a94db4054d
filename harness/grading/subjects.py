"""What there is to grade: each answer text and each caption once, whoever gave it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.metrics import METRICS, assemble
from harness.questions import Subject, read_testset, response_sha256, select
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

    `ids` and `limit` choose among the questions, as in every stage.
    """
    carried = {q.id: q for run in runs for q in read_testset(run.path).questions}
    chosen = {question.id: question for question in select(list(carried.values()), ids, limit)}
    found: dict[Subject, GivenAnswer] = {}
    for row in (row for run in runs for row in run.responses()):
        if row.response is not None and row.question_id in chosen:
            answer = GivenAnswer(chosen[row.question_id], row.response, row)
            found.setdefault(answer.about, answer)
    return found


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


def wrong_captions(run: Run, verdicts: Mapping[Subject, int]) -> frozenset[str]:
    """Return the ids of a run's caption passages whose caption people graded wrong."""
    return frozenset(
        row["figure"]
        for row in caption_rows(run)
        if verdicts.get((row["image_sha256"], response_sha256(row["text"]))) == 0
    )
