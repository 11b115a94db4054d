"""What only the full report holds: ranks, doubtful verdicts, and how to read it all."""

from harness.analysis.results import Analysis, RetrievalFacts
from harness.metrics import METRICS
from harness.render.blocks import Block, Cell, Column, Line, Section, Table, Tone
from harness.render.wording import Words

DIRECTIONS: dict[bool | None, str] = {True: "higher", False: "lower", None: "neither"}

LOOKED_AT = 50
"""Doubtful verdicts that are shown."""


def retrieval(analysis: Analysis, words: Words) -> Section | None:
    """Return at which rank each run's first useful passage stood."""
    if not analysis.retrieval:
        return None
    columns = (
        Column(words.get("columns", "run")),
        Column(words.get("columns", "first_rank"), long=True),
        Column(words.get("columns", "hits"), long=True),
    )
    rows = tuple(
        (Cell(row.run), Cell(ranks(row, words)), Cell(hits(row, words)))
        for row in analysis.retrieval
    )
    sources = dict.fromkeys(words.get("sources", row.source) for row in analysis.retrieval)
    blocks = (Table(columns, rows), Line(words.line("useful_by", sources=sources), Tone.MUTED))
    return Section("retrieval", words.get("headings", "retrieval"), blocks)


def ranks(row: RetrievalFacts, words: Words) -> str:
    """Return each question with the rank of its first useful passage."""
    told = [
        words.line(
            "rank", question=question, rank=words.line("rank_none") if at is None else str(at)
        )
        for question, at in zip(row.questions, row.first_useful, strict=True)
    ]
    return words.list(told)


def hits(row: RetrievalFacts, words: Words) -> str:
    """Return the share of questions with a useful passage among the first k."""
    return words.list(words.line("hits", k=k, hit=hit) for k, hit in enumerate(row.hits, 1))


def suspects(analysis: Analysis, words: Words) -> Section | None:
    """Return the verdicts that a person should look at."""
    if not analysis.suspects:
        return None
    keys = ("run", "question", "check", "claim", "doubt")
    columns = tuple(
        Column(words.get("columns", key), long=key in ("claim", "doubt")) for key in keys
    )
    rows = tuple(
        (
            Cell(row.run),
            Cell(row.question_id),
            Cell(row.check),
            Cell(row.text),
            Cell(words.get("suspect", row.reason)),
        )
        for row in analysis.suspects[:LOOKED_AT]
    )
    blocks: list[Block] = [Table(columns, rows)]
    more = len(analysis.suspects) - len(rows)
    if more > 0:
        blocks.append(Line(words.line("more", more=more)))
    return Section("suspects", words.get("headings", "suspects"), tuple(blocks))


def reading(analysis: Analysis, words: Words) -> Section:
    """Return what each metric measures, under the spelling that the command line knows."""
    keys = ("metric", "name", "layer", "direction", "meaning")
    rows = []
    for metric in analysis.means:
        better = DIRECTIONS[metric.higher_is_better]
        rows.append(
            (
                Cell(words.metric(metric.metric)),
                Cell(metric.metric),
                Cell(words.get("layers", metric.layer.value)),
                Cell(words.get("directions", better)),
                Cell(meaning(metric.metric, words)),
            )
        )
    columns = tuple(Column(words.get("columns", key)) for key in keys)
    return Section("reading", words.get("headings", "reading"), (Table(columns, tuple(rows)),))


def meaning(metric: str, words: Words) -> str:
    """Return what a metric measures: translated, else the first line of its docstring."""
    meanings, base = words.texts["meanings"], metric.partition("@")[0]
    described = METRICS[metric].about if metric in METRICS else ""
    return meanings.get(metric) or meanings.get(base) or described
