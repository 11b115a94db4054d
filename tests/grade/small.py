"""A small study on disk: two runs, four answers of which two are alike, one caption."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.questions import question_line
from harness.records import EvidencePlace, Passage, Question, Response
from harness.store import Run
from tests.sources.pdfs import text, write_pdf
from tests.written import write_run

QUESTIONS = (
    Question(
        "q1",
        "How tall is the tower?",
        "27 metres.",
        "text",
        answers=(("27",),),
        evidence=(EvidencePlace("tower", 1, quote="The tower is 27 metres tall."),),
    ),
    Question("q2", "When was it lit first?", "In 1931.", "text", answers=(("1931",),)),
    Question("q3", "Who built it?", "The document does not say.", "none", answerable=False),
)
ANSWERS = {
    "text_k4": ("It is 27 metres tall.", "In 1913.", None),
    "ctx_k4": ("It is 27 metres tall.", "In 1931.", "A man called Li."),
}
PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00"
    b"\x90wS\xde\x00\x00\x00\x0cIDATx\x9cc\xf8\xff\xff?\x00\x05\xfe\x02\xfe\r\xefF\xb8\x00\x00"
    b"\x00\x00IEND\xaeB`\x82"
)
"""One white pixel."""
CAPTION = "A bar for each month; April is the tallest."


@dataclass(frozen=True)
class Small:
    """The study's folders, and the words that make `harness.grade` work on it."""

    folder: Path
    runs: tuple[Run, ...]

    @property
    def testset(self) -> Path:
        return self.folder / "testset"

    @property
    def words(self) -> list[str]:
        return [
            "study=demo_baseline",
            f"root={self.folder / 'runs'}",
            "study.name=small",
            f"study.testset={self.testset}",
            f"study.corpus=[{self.folder / 'documents'}]",
            "language=en",
            "grader=ann",
        ]


def small(
    folder: Path,
    questions: Sequence[Question] = QUESTIONS,
    answers: dict[str, tuple[str | None, ...]] = ANSWERS,
    caption: str = CAPTION,
) -> Small:
    """Write the study: its document, test set and finished runs."""
    (folder / "documents").mkdir(parents=True)
    write_pdf(
        folder / "documents" / "tower.pdf", [text(72, 700, "The tower is 27", "metres tall.")]
    )
    (folder / "testset").mkdir()
    lines = "".join(map(question_line, questions))
    (folder / "testset" / "questions.jsonl").write_text(lines, encoding="utf-8")
    runs = [
        write_run(folder / "runs" / "small" / name, questions, rows(questions, said), run=name)
        for name, said in answers.items()
    ]
    add_caption(runs[-1], caption)
    return Small(folder, tuple(runs))


def rows(questions: Sequence[Question], said: Sequence[str | None]) -> list[Response]:
    return [
        Response(
            question_id=question.id,
            repeat=0,
            user_input=question.question,
            reference=question.reference,
            source=question.source,
            response=answer,
            passages=(Passage("tower#1.f1", "tower", 1, "caption", CAPTION),),
            error=None if answer is not None else "TimeoutError: it took too long",
        )
        for question, answer in zip(questions, said, strict=True)
    ]


def add_caption(run: Run, caption: str) -> None:
    row = {
        "figure": "tower#1.f1",
        "document": "tower",
        "page": 1,
        "box": None,
        "image_sha256": "ab" * 32,
        "captioner": "ocr",
        "text": caption,
        "picture": "figures/abab.png",
    }
    run.write({"figures/abab.png": PNG})
    run.write_text("captions.jsonl", json.dumps(row, ensure_ascii=False) + "\n")
