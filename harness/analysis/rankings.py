"""Retrieval measured by rank: against gold evidence, and by the judge's usefulness labels.

Gold is a place in the corpus (document, page, quote or figure), not a passage, so the same
gold serves every index, whatever its chunks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from harness.analysis.results import RetrievalFacts
from harness.analysis.study_table import GOLD, MetricFacts, StudyTable
from harness.records import EvidencePlace, Label, Layer, Passage, Question, Response, Score, Status
from harness.text import covers, document_name

MEASURES = dict(zip(GOLD, ("R", "P", "RR", "nDCG"), strict=True))
"""Metric -> the measure of `ir-measures` (trec_eval's) that it is.

- R: gold items found / gold items
- P: ranks that hold gold / cutoff, even where fewer were retrieved; `gold_scores` counts passages
- RR: 1 / rank of the first gold, 0 where there is none
- nDCG: gain is the relevance itself, discount log2(rank + 1), ideal over all gold
"""

GOLD_METRICS = tuple(MetricFacts(name, Layer.RETRIEVAL) for name in MEASURES)
"""The metrics of `gold_scores`, over the whole retrieved list."""


def rank_scores(
    ranked: Mapping[str, Sequence[str]], gold: Mapping[str, Mapping[str, int]], cutoff: int
) -> dict[str, dict[str, float]]:
    """Compute the `MEASURES` of each question with gold.

    Args:
        ranked: Question -> names in rank order; a repeated name counts once.
        gold: Question -> name -> relevance; names at 0 are known to be irrelevant.
        cutoff: Number of ranks that count.

    Returns:
        Question -> metric -> score. A question without gold above 0 has none: it is NA, never 0.

    >>> rank_scores({"q": ["A", "A", "A"]}, {"q": {"A": 1, "B": 1}}, 3)["q"]["gold_recall"]
    0.5
    """
    import ir_measures

    asked = [name for name, items in gold.items() if any(grade > 0 for grade in items.values())]
    lists = {name: list(dict.fromkeys(ranked.get(name, ())))[:cutoff] for name in asked}
    qrels = [
        ir_measures.Qrel(name, item, grade) for name in asked for item, grade in gold[name].items()
    ]
    run = [
        ir_measures.ScoredDoc(name, item, float(-rank))
        for name in asked
        for rank, item in enumerate(lists[name])
    ]
    metrics = {f"{measure}@{cutoff}": metric for metric, measure in MEASURES.items()}
    found = {name: dict.fromkeys(MEASURES, 0.0) for name in asked}
    measures = map(ir_measures.parse_measure, metrics)
    for row in ir_measures.iter_calc(measures, qrels, run) if run else ():
        found[row.query_id][metrics[str(row.measure)]] = float(row.value)
    return found


def gold_scores(questions: Iterable[Question], responses: Iterable[Response]) -> list[Score]:
    """Score one run's passages against the evidence that its questions name.

    Over the passages that count, which are those requested, else all retrieved:

    - recall: share of the places that some passage holds
    - precision: share of the passages that hold a place, 0 where nothing was retrieved
    - MRR and nDCG: of the ranks by `place_ranks`, the ideal being one place at each rank

    So equal passages have equal scores, whatever was requested. A question without evidence, or
    on which the system failed, is NA with its reason.
    """
    places = {question.id: tuple(dict.fromkeys(question.evidence)) for question in questions}
    rows = list(responses)
    held = {
        str(at): [
            [n for n, place in enumerate(places[row.question_id]) if holds(passage, place)]
            for passage in row.passages[: row.k_requested or None]
        ]
        for at, row in enumerate(rows)
        if places[row.question_id] and row.response is not None
    }
    gold = {at: {str(n): 1 for n in range(len(places[rows[int(at)].question_id]))} for at in held}
    ranked = {at: place_ranks(passages) for at, passages in held.items()}
    deepest = max((len(names) for names in (*ranked.values(), *gold.values())), default=1)
    found = rank_scores(ranked, gold, deepest)
    for at, passages in held.items():
        found[at]["gold_precision"] = sum(map(bool, passages)) / max(1, len(passages))
    return [
        score
        for at, response in enumerate(rows)
        for score in rows_of(response, len(places[response.question_id]), found.get(str(at)))
    ]


def rows_of(response: Response, items: int, found: Mapping[str, float] | None) -> Iterator[Score]:
    """Yield one response's scores, NA with the reason where there are none."""
    status = Status.OK
    if found is None:
        status = Status.NOT_ANSWERED if items else Status.NO_EVIDENCE
    for metric in MEASURES:
        value = None if found is None else found[metric]
        yield Score(
            response.question_id, response.repeat, metric, value, items or None, status, None
        )


def place_ranks(passages: Sequence[Sequence[int]]) -> list[str]:
    """Return what each rank holds: the name of a place, or `-` and the rank.

    A place gets the rank of the first passage that holds it, or the next free rank: a passage with
    two places counts like two passages in a row, and later passages keep their ranks. So nDCG lies
    in [0, 1], and indices with other chunks are scored alike.

    >>> place_ranks([[0, 1], [], [1], [2]])
    ['0', '1', '-3', '2']
    """
    names: list[str] = []
    for rank, places in enumerate(passages, 1):
        names += [str(place) for place in places if str(place) not in names]
        names += [f"-{free}" for free in range(len(names) + 1, rank + 1)]
    return names


def holds(passage: Passage, place: EvidencePlace) -> bool:
    """Return whether a passage holds a place of evidence: its caption or half its quote."""
    if document_name(passage.document) != document_name(place.document):
        return False
    if passage.page is not None and passage.page != place.page:
        return False
    if place.figure is not None:
        own = passage.id == place.figure or passage.id.startswith(f"{place.figure}.")
        return own or (passage.origin == "caption" and "#" not in place.figure)
    return covers(passage.text, place.quote or "")


USEFUL = "passage_useful"
"""The check on which ranks by a judge rest."""

BY_GOLD, BY_JUDGE = "gold", "judge"
"""The source of which passages are useful: the evidence of the questions, else the judge."""


def retrieval_facts(study: StudyTable) -> tuple[RetrievalFacts, ...]:
    """Return the rank of the first useful passage of every question in every run."""
    by_gold = any(question.evidence for question in study.questions)
    found = []
    for run in study.runs:
        flags = gold_flags(study, run.name) if by_gold else useful_flags(study, run.name)
        questions = [q.id for q in study.questions if (q.id, 0) in flags]
        if not questions:
            continue
        first = [
            flags[question, 0].index(True) + 1 if True in flags[question, 0] else None
            for question in questions
        ]
        depth = max(len(flags[question, 0]) for question in questions)
        ranks = np.array([np.inf if rank is None else rank for rank in first])
        found.append(
            RetrievalFacts(
                run.name,
                tuple(questions),
                tuple(first),
                tuple(float((ranks <= k).mean()) for k in range(1, depth + 1)),
                BY_GOLD if by_gold else BY_JUDGE,
            )
        )
    return tuple(found)


def gold_flags(study: StudyTable, run: str) -> dict[tuple[str, int], tuple[bool, ...]]:
    """Return for each passage whether it holds gold evidence of its question."""
    return {
        (question.id, response.repeat): tuple(
            any(holds(passage, place) for place in question.evidence)
            for passage in response.passages
        )
        for question, response in study.answers(run)
        if question.evidence and response.response is not None
    }


def useful_flags(study: StudyTable, run: str) -> dict[tuple[str, int], tuple[bool, ...]]:
    """Return for each passage whether the judge called it useful, where it labelled all of them."""
    labels = {
        (verdict.question_id, verdict.repeat, verdict.item): verdict.label == Label.ENTAILED
        for verdict in study.verdicts.get(run, ())
        if verdict.check == USEFUL and verdict.label is not None
    }
    found = {}
    for question, response in study.answers(run):
        keys = [(question.id, response.repeat, at) for at in range(len(response.passages))]
        if keys and all(key in labels for key in keys):
            found[question.id, response.repeat] = tuple(labels[key] for key in keys)
    return found
