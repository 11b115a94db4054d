"""Small studies, analysed for real, whose every number can be worked out by hand."""

import json
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from harness.analysis import Analysis, MetricFacts, Options, RunFacts, analyse, study_table
from harness.records import Layer, Passage, Question, Response, Score
from harness.render import StudyFacts

CELLS = json.loads(
    (Path(__file__).parent.parent / "data/analysis/article_c_cells.json").read_text("utf-8")
)
ARTICLE = {
    "text_k4": ("text", 4, "default", 6),
    "text_k9": ("text", 9, "default", 6),
    "caption_k4": ("caption", 4, "default", 9),
    "ctx_k4": ("ctx", 4, "default", 9),
    "ctx_k9": ("ctx", 9, "default", 9),
    "ctx_k9_strict": ("ctx", 9, "strict", 9),
}
FOUR = {
    "context_precision": Layer.RETRIEVAL,
    "context_recall": Layer.RETRIEVAL,
    "faithfulness": Layer.GENERATION,
    "answer_relevancy": Layer.GENERATION,
}

Rows = Mapping[str, Sequence[float | None]]
"""Run -> the values of q1, q2, ..."""


def analysed(
    runs: Sequence[RunFacts],
    metrics: Mapping[MetricFacts, Rows] | None = None,
    grades: Rows | None = None,
    passages: Mapping[str, tuple[int, int]] | None = None,
    questions: Sequence[str] | None = None,
    status: str = "no_claims",
    options: Options = Options(),  # noqa: B008
) -> Analysis:
    """Analyse a study.

    Args:
        runs: The runs, in order.
        metrics: Scores; None is NA for the reason `status`.
        grades: 1 right, 0 wrong, None not graded.
        passages: Run -> how many of how many passages come back; 1 of 10 where it is not named.
        questions: Their ids; q1, q2, ... where they are not given.
        status: Why scores are NA.
        options: Of the analysis.
    """
    tables = [*(metrics or {}).values(), grades or {}]
    size = max((len(row) for table in tables for row in table.values()), default=2)
    ids = list(questions or [f"q{n + 1}" for n in range(size)])

    def response(run: RunFacts, question: str) -> Response:
        k, corpus = (passages or {}).get(run.name, (1, 10))
        contents = run.leaves.get("index.contents", "text")
        found = [
            Passage(f"{contents}#{n}", "d.pdf", 1, "text", f"{contents} {n}") for n in range(k)
        ]
        asked = run.leaves.get("top_k")
        return Response(
            question_id=question,
            repeat=0,
            user_input=f"ask {question}",
            reference="reference",
            source="text",
            response=f"{run.name} answers {question}",
            passages=tuple(found),
            k_requested=asked if isinstance(asked, int) else k,
            corpus_size=corpus,
        )

    return analyse(
        study_table(
            runs,
            [Question(q, f"ask {q}", "reference", "text") for q in ids],
            list(metrics or {}),
            {
                run.name: [
                    Score(q, 0, metric.name, value, 8, status if value is None else "ok", "judge")
                    for metric, rows in (metrics or {}).items()
                    for q, value in zip(ids, rows[run.name], strict=True)
                ]
                for run in runs
            },
            {run.name: [response(run, q) for q in ids] for run in runs},
            {
                (name, q, 0): int(value)
                for name, row in (grades or {}).items()
                for q, value in zip(ids, row, strict=True)
                if value is not None
            },
        ),
        options,
    )


def sweep(*values: int, name: str = "k{}") -> list[RunFacts]:
    """Return runs that differ in `top_k` only."""
    return [RunFacts(name.format(k), name.format(k), leaves={"top_k": k}) for k in values]


@pytest.fixture(scope="session")
def article() -> Analysis:
    """The article's study of six variants and eight questions."""
    runs = [
        RunFacts(
            name,
            name,
            choices={"prompt": prompt},
            leaves={"top_k": k, "index.contents": contents, "prompt.text": f"the {prompt} one"},
        )
        for name, (contents, k, prompt, _) in ARTICLE.items()
    ]
    metrics = {
        MetricFacts(name, layer): {
            run: [None if value is None else abs(value) for value in row]
            for run, row in zip(ARTICLE, CELLS["scores"][name], strict=True)
        }
        for name, layer in FOUR.items()
    }
    return analysed(
        runs,
        metrics,
        dict(zip(ARTICLE, CELLS["grades"], strict=True)),
        {name: (min(k, size), size) for name, (_, k, _, size) in ARTICLE.items()},
        status="judge_unparsable",
    )


@pytest.fixture
def study() -> Callable[..., Analysis]:
    """The builder of analyses."""
    return analysed


@pytest.fixture
def runs() -> Callable[..., list[RunFacts]]:
    """The builder of runs that differ in `top_k`."""
    return sweep


@pytest.fixture
def facts() -> StudyFacts:
    """A study judged by a model."""
    return StudyFacts("measles", "Which change helped?", "eight", "llama3.1")


@pytest.fixture
def printed() -> Callable[..., str]:
    """What a console shows, without colours."""

    def show(shown: RenderableType, width: int = 100) -> str:
        console = Console(width=width, record=True, file=StringIO())
        console.print(shown)
        return console.export_text()

    return show
