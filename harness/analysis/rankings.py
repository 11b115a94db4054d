"""Retrieval measured by rank: against gold evidence, and by the judge's usefulness labels.

Gold is a place in the corpus (document, page, quote or figure), not a passage, so the same
gold serves every index, whatever its chunks.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from harness.analysis.results import RetrievalFacts
from harness.analysis.study_table import MetricFacts, StudyTable
from harness.records import EvidencePlace, Label, Layer, Passage, Question, Response, Score, Status
from harness.text import covers, document_name

MEASURES = {"gold_recall": "R", "gold_precision": "P", "gold_mrr": "RR", "gold_ndcg": "nDCG"}
"""Metric -> the measure of `ir-measures` (trec_eval's) that it is.

- R: gold items found / gold items
- P: ranks that hold gold / cutoff, even where fewer passages were retrieved; `gold_scores` divides
  by the number retrieved
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

    A question without evidence, or on which the system failed, is NA with its reason. The cutoff
    is the number of passages requested, else of those retrieved. Precision divides by the number
    retrieved: equal passages have equal scores, whatever was requested.
    """
    places = {question.id: tuple(dict.fromkeys(question.evidence)) for question in questions}
    rows = list(responses)
    by_cutoff: dict[int, list[int]] = defaultdict(list)
    for at, response in enumerate(rows):
        if places[response.question_id] and response.response is not None:
            by_cutoff[response.k_requested or max(1, response.k_returned)].append(at)
    found: dict[str, dict[str, float]] = {}
    for cutoff, members in by_cutoff.items():
        sought = {at: places[rows[at].question_id] for at in members}
        ranked = {str(at): as_gold(rows[at].passages, sought[at]) for at in members}
        gold = {str(at): {str(n): 1 for n in range(len(sought[at]))} for at in members}
        for key, scores in rank_scores(ranked, gold, cutoff).items():
            # divided by the ranks that hold a passage, or 1 where nothing was retrieved
            held = max(1, min(len(ranked[key]), cutoff))
            scores["gold_precision"] = scores["gold_precision"] * cutoff / held
            found[key] = scores
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


def as_gold(passages: Sequence[Passage], places: Sequence[EvidencePlace]) -> list[str]:
    """Replace ranked passages by the gold that they are the first to hold.

    A passage that holds only gold found at a higher rank is left out: duplicates count once. One
    that holds several places gives each of them.
    """
    names: list[str] = []
    for passage in passages:
        held = [str(at) for at, place in enumerate(places) if holds(passage, place)]
        names += [name for name in held if name not in names] if held else [f"-{passage.id}"]
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
