"""What only the full report holds: ranks, doubtful verdicts, wrong captions, definitions."""

from collections.abc import Mapping, Sequence

from harness.analysis.results import Analysis, RetrievalFacts
from harness.analysis.suspects import OnWrongCaption
from harness.metrics import METRICS
from harness.render.blocks import Block, Items, Paragraph, Section, Tone, text_table
from harness.render.vocabulary import Words

DIRECTIONS: dict[bool | None, str] = {True: "higher", False: "lower", None: "neither"}

MOST_SUSPECTS = 50
"""Doubtful verdicts that are shown."""


def retrieval(analysis: Analysis, words: Words) -> Section | None:
    """Return the rank of each run's first useful passage, question by question."""
    if not analysis.retrieval:
        return None
    keys = ("run", "first_rank", "hits")
    rows = [(row.run, ranks(row, words), hits(row, words)) for row in analysis.retrieval]
    sources = dict.fromkeys(words.get("sources", row.source) for row in analysis.retrieval)
    blocks = (
        text_table(words.columns(keys, long=keys[1:]), rows),
        Paragraph(words.line("useful_by", sources=sources), Tone.MUTED),
    )
    return Section("retrieval", words.get("headings", "retrieval"), blocks, aside=True)


def ranks(row: RetrievalFacts, words: Words) -> str:
    """Return each question with the rank of its first useful passage."""
    return words.list(
        words.line(
            "rank", question=question, rank=words.line("rank_none") if at is None else str(at)
        )
        for question, at in zip(row.questions, row.first_useful, strict=True)
    )


def hits(row: RetrievalFacts, words: Words) -> str:
    """Return the share of questions with a useful passage among the first k."""
    return words.list(words.line("hits", k=k, hit=hit) for k, hit in enumerate(row.hits, 1))


def suspects(analysis: Analysis, words: Words) -> Section | None:
    """Return the verdicts that a person should look at."""
    if not analysis.suspects:
        return None
    rows = [
        (row.run, row.question_id, row.check, row.text, words.get("suspect", row.reason))
        for row in analysis.suspects[:MOST_SUSPECTS]
    ]
    keys = ("run", "question", "check", "claim", "doubt")
    blocks: list[Block] = [text_table(words.columns(keys, long=keys[3:]), rows)]
    if more := len(analysis.suspects) - len(rows):
        blocks.append(Paragraph(words.line("more", more=more)))
    return Section("suspects", words.get("headings", "suspects"), tuple(blocks))


def wrong_captions(found: Mapping[str, Sequence[OnWrongCaption]], words: Words) -> Section | None:
    """Return the answers that rest on a caption graded wrong, on nothing else first; None if none.

    Args:
        found: Run -> its answers on wrong captions.
        words: The report's language.
    """
    answers = [(run, answer) for run, rows in found.items() for answer in rows]
    if not answers:
        return None
    answers.sort(key=lambda pair: not pair[1].only)
    sentences = tuple(
        words.line(
            "wrong_caption_only" if answer.only else "wrong_caption_partly",
            run=run,
            question=answer.question_id,
            figures=answer.figures,
            claims=len(answer.claims),
            supported=answer.supported,
        )
        for run, answer in answers
    )
    note = Paragraph(words.line("wrong_caption_note"), Tone.MUTED)
    title = words.get("headings", "wrong_captions")
    return Section("wrong_captions", title, (Items(sentences), note))


def definitions(analysis: Analysis, words: Words) -> Section:
    """Return what each metric measures, under the spelling that the command line knows."""
    rows = [
        (
            words.metric(metric.metric),
            metric.metric,
            words.get("layers", metric.layer.value),
            words.get("directions", DIRECTIONS[metric.higher_is_better]),
            meaning(metric.metric, words),
        )
        for metric in analysis.means
    ]
    columns = words.columns(("metric", "name", "layer", "direction", "meaning"))
    title = words.get("headings", "reading")
    return Section("reading", title, (text_table(columns, rows),), aside=True)


def meaning(metric: str, words: Words) -> str:
    """Return what a metric measures: translated, else the first line of its docstring."""
    meanings, base = words.texts["meanings"], metric.partition("@")[0]
    described = METRICS[metric].about if metric in METRICS else ""
    return meanings.get(metric) or meanings.get(base) or described
