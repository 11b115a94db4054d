"""Studies to analyse: the article's six variants rebuilt, and small ones worked by hand."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from harness.analysis import MetricFacts, RunFacts, StudyTable, study_table
from harness.records import Layer, Passage, Question, Response, Score, Verdict

CELLS = json.loads(
    (Path(__file__).parent.parent / "data/analysis/article_c_cells.json").read_text("utf-8")
)
VARIANTS = {
    "text_k4": ("text", 4, "default"),
    "text_k9": ("text", 9, "default"),
    "caption_k4": ("caption", 4, "default"),
    "ctx_k4": ("ctx", 4, "default"),
    "ctx_k9": ("ctx", 9, "default"),
    "ctx_k9_strict": ("ctx", 9, "strict"),
}
SOURCES = dict(zip(CELLS["questions"], ["text"] * 5 + ["image"] + ["both"] * 2, strict=True))
METRICS = (
    MetricFacts("context_precision", Layer.RETRIEVAL),
    MetricFacts("context_recall", Layer.RETRIEVAL),
    MetricFacts("faithfulness", Layer.GENERATION),
    MetricFacts("answer_relevancy", Layer.GENERATION),
)
SIZES = {"text": 6, "caption": 9, "ctx": 9}


def article_study() -> StudyTable:
    """Return the article's study as the report stage would build it."""
    return study_table(
        [facts(name) for name in VARIANTS],
        [Question(q, f"question {q}", f"reference {q}", SOURCES[q]) for q in CELLS["questions"]],
        METRICS,
        {run: scores(i) for i, run in enumerate(CELLS["variants"])},
        {run: responses(i) for i, run in enumerate(CELLS["variants"])},
        {
            (run, question, 0): CELLS["grades"][i][j]
            for i, run in enumerate(CELLS["variants"])
            for j, question in enumerate(CELLS["questions"])
        },
        # the two passages that help with q1 stand at ranks 8 and 9: average precision 0.174
        {
            "ctx_k9": [
                Verdict("llama3.1", "q1", 0, "passage_useful", rank, label=int(rank >= 7))
                for rank in range(9)
            ]
        },
    )


def facts(name: str) -> RunFacts:
    """Return one variant's configuration."""
    contents, top_k, prompt = VARIANTS[name]
    return RunFacts(
        name=name,
        variant=name,
        choices={"prompt": prompt, "chat": "ollama", "embedder": "nomic", "captioner": "vision"},
        leaves={
            "top_k": top_k,
            "index.contents": contents,
            "prompt.text": f"the {prompt} prompt",
            "captioner.model": "qwen2.5vl:7b",
            "chat.model": "llama3.1",
            "version": None,
        },
        inactive=frozenset({"captioner"} if contents == "text" else ()),
        corpus="chapter",
        testset="eight",
        generator="llama3.1",
        judge="llama3.1",
    )


def scores(run: int) -> list[Score]:
    """Return one run's cells; the one cell of two claims is the one the article opens."""
    return [
        Score(
            question,
            0,
            metric,
            None if value is None else abs(value),
            2 if (run, question, metric) == (4, "q1", "faithfulness") else 8,
            "judge_unparsable" if value is None else "ok",
            "llama3.1",
        )
        for metric, rows in CELLS["scores"].items()
        for question, value in zip(CELLS["questions"], rows[run], strict=True)
    ]


def responses(run: int) -> list[Response]:
    """Return one run's answers with ranked passages: k of the index's, in a fixed order."""
    name = CELLS["variants"][run]
    contents, top_k, _ = VARIANTS[name]
    passages = tuple(
        Passage(f"{contents}#{n}", "chapter.pdf", 1, "text", f"{contents} passage {n}")
        for n in range(min(top_k, SIZES[contents]))
    )
    return [
        Response(
            question_id=question,
            repeat=0,
            user_input=f"question {question}",
            reference=f"reference {question}",
            source=SOURCES[question],
            response=f"{name} answers {question}",
            passages=passages,
            k_requested=top_k,
            corpus_size=SIZES[contents],
        )
        for question in CELLS["questions"]
    ]


@pytest.fixture(scope="session")
def article() -> StudyTable:
    """The article's study: 48 grades and cells that agree with its published tables."""
    return article_study()


Cells = Mapping[str, Sequence[float | None]]
"""Run -> values of q1, q2, ...; None is NA."""


def small_study(
    right: Cells | None = None,
    metrics: Mapping[MetricFacts, Cells] | None = None,
    runs: Mapping[str, RunFacts] | None = None,
    passages: Mapping[str, Sequence[Sequence[str]]] | None = None,
    answers: Mapping[str, Sequence[str | None]] | None = None,
) -> StudyTable:
    """Build a study whose runs differ in `top_k` only: 1, 2, ... in the order they are given.

    Args:
        right: Human grades; None is a question that nobody graded.
        metrics: Scores; None is NA.
        runs: Facts that replace the plain ones.
        passages: Run -> passage texts of each question, in rank order.
        answers: Run -> text of each answer; None is a failure of the system.
    """
    tables = [right or {}, *(metrics or {}).values(), passages or {}, answers or {}]
    names = list(dict.fromkeys(name for table in tables for name in table))
    ids = [f"q{n + 1}" for n in range(max(len(row) for t in tables for row in t.values()))]
    plain = {name: RunFacts(name, name, leaves={"top_k": n}) for n, name in enumerate(names, 1)}

    def response(name: str, at: int) -> Response:
        texts = (passages or {}).get(name, [()] * len(ids))[at]
        found = tuple(Passage(f"d#1.{t}", "d", 1, "text", t) for t in texts)
        text = (answers or {}).get(name, [f"{name} says {n}" for n in ids])[at]
        return Response(ids[at], 0, f"ask {ids[at]}", "reference", "text", text, found)

    return study_table(
        [(runs or {}).get(name, plain[name]) for name in names],
        [Question(q, f"ask {q}", "reference", "text") for q in ids],
        list(metrics or {}),
        {
            name: [
                Score(q, 0, facts.name, value, None, "no_claims" if value is None else "ok", None)
                for facts, rows in (metrics or {}).items()
                for q, value in zip(ids, rows[name], strict=True)
            ]
            for name in names
        },
        {name: [response(name, at) for at in range(len(ids))] for name in names},
        {
            (name, q, 0): int(value)
            for name, row in (right or {}).items()
            for q, value in zip(ids, row, strict=True)
            if value is not None
        },
    )


@pytest.fixture(scope="session")
def study() -> Callable[..., StudyTable]:
    """The builder of small studies."""
    return small_study
