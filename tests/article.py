"""The article's study as folders on disk, as its author's harness would have left them."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.evaluate.merge import write_evaluation
from harness.questions import fingerprint, question_line, response_sha256
from harness.records import Question
from harness.store import Run
from tests.analysis import conftest as cells

JUDGE = {"judge": "chat", "chat": {"model": "llama3.1"}}
QUESTIONS = [
    Question(q, f"question {q}", f"reference {q}", cells.SOURCES[q])
    for q in cells.CELLS["questions"]
]


@dataclass
class Article:
    """A root with the study's runs, and a test set with what people said of the answers."""

    folder: Path
    primary: list[dict[str, str]] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        """The settings that make `report` work on this study."""
        return [
            f"root={self.folder}",
            "study.name=article",
            f"study.testset={self.folder}",
            "judge=chat",
            "judge.chat.model=llama3.1",
            "language=en",
        ]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What the last report found, narrowed or not: strict JSON, without NaN or infinity."""
        written = (self.folder / "article/report").rglob("findings.json")
        text = max(written, key=lambda file: file.stat().st_mtime_ns).read_text("utf-8")
        found: list[dict[str, Any]] = json.loads(text, parse_constant=refuse)
        return found

    def run(self, name: str) -> Run:
        """Return one run."""
        return Run(self.folder / "article" / name)

    def write(self, name: str, questions: list[Question] = QUESTIONS, **said: Any) -> Run:
        """Write one variant's run; `said` stands in `run.json` instead of what else would."""
        asked = {question.id for question in questions}
        at, run = cells.CELLS["variants"].index(name), self.run(name)
        rows = [row for row in cells.responses(at) if row.question_id in asked]
        run.write_responses(rows)
        run.write_text("questions.jsonl", "".join(map(question_line, questions)))
        scores = [score for score in cells.scores(at) if score.question_id in asked]
        write_evaluation(run, "llama3.1", JUDGE, [], scores)
        run.finish(self.facts(name, questions) | said)
        return run

    def facts(self, name: str, questions: list[Question]) -> dict[str, Any]:
        """Return what `run.json` says of one variant."""
        facts = cells.facts(name)
        return {
            "name": name,
            "variant": name,
            "factors": {
                "choices": facts.choices,
                "leaves": facts.leaves,
                "inactive": sorted(facts.inactive),
            },
            "corpus_fingerprint": facts.corpus,
            "testset_fingerprint": fingerprint(QUESTIONS),
            "study": {"name": "article", "primary": self.primary},
            "testset": {"name": "yearbook", "questions": len(QUESTIONS)},
            "partial": len(questions) < len(QUESTIONS),
            "overrides": [f"variant={name}"],
            "made_with": {
                "generator": "llama3.1",
                "models": {"chat": {"model": "llama3.1"}},
                "notes": [],
            },
            "started": "2026-01-01T00:00:00+00:00",
            "ended": "2026-01-01T01:00:00+00:00",
        }

    def grade(self) -> None:
        """Write the article's 48 grades beside the test set."""
        lines = [
            {
                "question_id": row.question_id,
                "response_sha256": response_sha256(str(row.response)),
                "grade": cells.CELLS["grades"][at][number],
                "grader": "the author",
            }
            for at in range(len(cells.CELLS["variants"]))
            for number, row in enumerate(cells.responses(at))
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.folder / "grades.jsonl").write_text(text, encoding="utf-8")


def refuse(constant: str) -> None:
    """Raise for a constant that JSON does not have."""
    raise AssertionError(constant)
