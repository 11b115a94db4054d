"""A study on disk that has something for every part of the report: seven runs, two repeats.

`text_k2`, `text_k4` and `text_k9` are a sweep; `text` and `ctx` under k = 4 and 9, and under two
prompts, are complete squares; retrieval and generation can be told apart. Answers are graded by
people, by `answer_match`, or by nobody; the system fails, refuses, and returns less than asked.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from harness.evaluate.merge import write_evaluation
from harness.questions import fingerprint, question_line, response_sha256
from harness.records import EvidencePlace, Passage, Question, Response, Score, Verdict
from harness.store import Run

JUDGE = {"judge": "chat", "chat": {"model": "llama3.1"}}
RUNS = {
    "text_k2": ("text", 2, "default"),
    "text_k4": ("text", 4, "default"),
    "text_k9": ("text", 9, "default"),
    "ctx_k4": ("ctx", 4, "default"),
    "ctx_k9": ("ctx", 9, "default"),
    "text_k4_strict": ("text", 4, "strict"),
    "ctx_k4_strict": ("ctx", 4, "strict"),
}
IDS = [f"q{n}" for n in range(1, 13)]
REPEATS = 2
INDEX = 10
REFUSAL = "The documents do not say."


def chance(*parts: object) -> float:
    """Return a number in [0, 1) that stands for these texts and numbers."""
    text = "\0".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def quote(question: str, at: int = 0) -> str:
    return f"Tower {question} was raised to {20 + at} metres by its second keeper."


def places(question: str) -> tuple[EvidencePlace, ...]:
    """q11 names no evidence; q1, q4, q7 and q10 name two places."""
    if question == "q11":
        return ()
    several = 2 if int(question[1:]) % 3 == 1 else 1
    return tuple(EvidencePlace("towers.pdf", 1, quote(question, at)) for at in range(several))


QUESTIONS = [
    Question(q, f"How high is tower {q}?", f"{q}: 20 metres.", "text", evidence=places(q),
             answerable=q != "q12")
    for q in IDS
]  # fmt: skip


def passages(run: str, question: str) -> tuple[Passage, ...]:
    """Return what a run retrieved: its index decides the ranks of the quotes."""
    contents, k, _ = RUNS[run]
    texts = [
        f"{contents} {question} {n}: of the sea, the fog and the keepers' cats." for n in range(9)
    ]
    for at, place in enumerate(places(question)):
        rank = 1 + int(10 * chance("rank", contents, question, at))
        if rank < len(texts):
            texts[rank] += f" {place.quote}"
    found = texts[: min(k, 8 if question == "q4" else 9)]
    return tuple(
        Passage(f"towers#1.{contents}.{question}.{n}", "towers", 1, "text", text)
        for n, text in enumerate(found)
    )


def answer(run: str, question: str, repeat: int) -> str | None:
    """Return what a run answered; None where it failed."""
    contents, k, prompt = RUNS[run]
    if (run, question) == ("text_k9", "q3") or (run, question, repeat) == ("ctx_k4", "q5", 1):
        return None
    if prompt == "strict" and chance("refuses", contents, question) < 0.25:
        return REFUSAL
    steady = 0 if chance("steady", question) < 0.7 else repeat
    skill = 0.35 + 0.05 * k + 0.25 * (contents == "ctx")
    right = chance("skill", contents, k, question, steady) < skill - 0.3 * chance("hard", question)
    return f"{question}: {20 if right else 21} metres{', all told' * steady}."


def is_right(text: str, question: str) -> bool:
    return "20 metres" in text or (question == "q12" and text == REFUSAL)


def response(run: str, question: Question, repeat: int) -> Response:
    text = answer(run, question.id, repeat)
    return Response(
        question_id=question.id,
        repeat=repeat,
        user_input=question.question,
        reference=question.reference,
        source=question.source,
        response=text,
        passages=passages(run, question.id),
        k_requested=RUNS[run][1],
        corpus_size=INDEX,
        error=None if text is not None else "TimeoutError: it took too long",
    )


def scores(run: str, row: Response) -> list[Score]:
    """Return one answer's rows: equal passages and texts have equal scores."""

    def score(metric: str, value: float | None, units: int | None, status: str = "ok") -> Score:
        judge = "llama3.1" if units is not None or status.startswith("judge") else None
        return Score(row.question_id, row.repeat, metric, value, units, status, judge)

    contents, k, _ = RUNS[run]
    if row.response is None:
        names = ("context_precision", "faithfulness", "hallucination", "answer_match")
        return [score(name, None, None, "not_answered") for name in names]
    right = is_right(row.response, row.question_id)
    seen = (contents, k, row.question_id)
    units = 2 + int(4 * chance("units", row.response))
    kept = round((0.6 * right + 0.4 * chance("faithful", row.response, *seen)) * units)
    faithful = min(kept, units) / units
    rows = [
        score("context_precision", round(chance("precision", *seen), 4), k),
        score("hallucination", 1 - faithful, units),
        score("input_tokens", 100.0 * k + int(50 * chance("tokens", *seen)), None),
        score("seconds", round(0.2 + chance("seconds", run, *seen, row.repeat), 3), None),
        score("passages_returned", float(row.k_returned), None),
    ]
    if row.response == REFUSAL:
        rows.append(score("faithfulness", None, None, "no_claims"))
    elif chance("unread", row.response, *seen) < 0.12:
        rows.append(score("faithfulness", None, None, "judge_unparsable"))
    else:
        rows.append(score("faithfulness", faithful, units))
    matched = int(row.question_id[1:]) >= 9 and row.question_id != "q11"
    rows.append(
        score("answer_match", float(right), None)
        if matched
        else score("answer_match", None, None, "no_answers")
    )
    return rows


def suspicious(run: str) -> list[Verdict]:
    """Return a judge's rows of which one denies a claim that is in the second passage."""
    if run != "text_k4":
        return []
    claims = ("text q2 1: of the sea, the fog", "The tower has a cat of its own.")
    return [
        row
        for item, claim in enumerate(claims)
        for row in (
            Verdict("llama3.1", "q2", 0, "claims_response", item, text=claim),
            Verdict("llama3.1", "q2", 0, "response_in_context", item, text=claim, label=0),
        )
    ]


@dataclass(frozen=True)
class Wide:
    """The study's root, which also holds its test set."""

    folder: Path

    @property
    def words(self) -> list[str]:
        """The settings that make a command work on this study."""
        return [
            *(f"root={self.folder}", "study.name=wide", f"study.testset={self.folder}"),
            *("judge=chat", "judge.chat.model=llama3.1", "language=en"),
        ]

    @property
    def study(self) -> Path:
        """The folder of its runs."""
        return self.folder / "wide"

    def write(self) -> None:
        """Write runs, scores, a verdict to look at, and people's grades of q1 to q8."""
        graded: dict[tuple[str, str], int] = {}
        for name in RUNS:
            run = Run(self.study / name)
            rows = [response(name, q, repeat) for q in QUESTIONS for repeat in range(REPEATS)]
            run.write_responses(rows)
            run.write_text("questions.jsonl", "".join(map(question_line, QUESTIONS)))
            told = [score for row in rows for score in scores(name, row)]
            write_evaluation(run, "llama3.1", JUDGE, suspicious(name), told)
            run.finish(facts(name))
            for row in rows:
                if row.response is not None and row.question_id in IDS[:8]:
                    about = row.question_id, response_sha256(row.response)
                    graded[about] = int(is_right(row.response, row.question_id))
        lines = [
            {"question_id": q, "response_sha256": key, "grade": grade, "grader": "ann"}
            for (q, key), grade in graded.items()
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (self.folder / "grades.jsonl").write_text(text, encoding="utf-8")


def facts(name: str) -> dict[str, object]:
    """Return what `run.json` says of a run."""
    contents, k, prompt = RUNS[name]
    return {
        "name": name,
        "variant": name,
        "factors": {
            "choices": {"prompt": prompt, "chat": "ollama"},
            "leaves": {"top_k": k, "index.contents": contents, "prompt.text": f"the {prompt} one"},
            "inactive": [],
        },
        "corpus_fingerprint": "towers",
        "testset_fingerprint": fingerprint(QUESTIONS),
        "study": {"name": "wide", "primary": []},
        "testset": {"name": "twelve", "questions": len(QUESTIONS)},
        "partial": False,
        "overrides": [f"variant={name}"],
        "made_with": {
            "generator": "qwen2.5",
            "models": {"chat": {"model": "qwen2.5"}},
            "notes": [],
        },
        "started": "2026-01-01T00:00:00+00:00",
        "ended": "2026-01-01T01:00:00+00:00",
    }
