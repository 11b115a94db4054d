import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from harness.analysis import GOLD_METRICS, gold_scores, rank_scores
from harness.analysis.rankings import holds, place_ranks
from harness.records import EvidencePlace, Passage, Question, Response
from harness.sources.corpus import KINDS
from harness.text import ENDINGS, document_name

DATA = Path(__file__).parent.parent / "data/analysis/jqara_ranks.json"
QUOTE = EvidencePlace("report", 2, "四月最多，共十二例")
CHART = EvidencePlace("report", 2, figure="report#2.f1")


def passage(name: str, text: str = "", page: int | None = 2, origin: str = "text") -> Passage:
    return Passage(name, "corpus/report.pdf", page, origin, text)


def response(*passages: Passage, text: str | None = "x", k: int | None = None) -> Response:
    return Response("q1", 0, "ask", "ref", "text", text, passages, k_requested=k)


@pytest.mark.parametrize("system", ["bm25", "multilingual-e5-small", "ruri-reranker-large"])
def test_published_figures_of_others_come_out(system: str) -> None:
    """nDCG@10 and MRR@10 of JQaRA's runs, 1,667 queries, within 0.0005 of its README."""
    data = json.loads(DATA.read_text("utf-8"))
    gold, ranked = {}, {}
    for at, (relevant, hits) in enumerate(
        zip(data["relevant"], data["ranks"][system], strict=True)
    ):
        places = {"123456789A".index(place) for place in hits}
        found = iter([f"g{n}" for n in range(relevant)])
        ranked[str(at)] = [next(found) if n in places else f"x{n}" for n in range(10)]
        gold[str(at)] = {f"g{n}": 1 for n in range(relevant)}

    scores = rank_scores(ranked, gold, 10).values()

    published = data["published"][system]
    for metric, name in (("gold_ndcg", "ndcg@10"), ("gold_mrr", "mrr@10")):
        assert np.mean([s[metric] for s in scores]) == pytest.approx(published[name], abs=5e-4)


def test_duplicates_count_once() -> None:
    """[A, A, A] finds half of [A, B]; [A, B, C] all of it."""
    gold = {"p": {"A": 1, "B": 1}, "q": {"A": 1, "B": 1}, "none": {"A": 0}}

    found = rank_scores({"p": ["A", "A", "A"], "q": ["A", "B", "C"]}, gold, 3)

    assert found.keys() == {"p", "q"}
    assert [found[q]["gold_recall"] for q in "pq"] == [0.5, 1.0]
    assert [found[q]["gold_precision"] for q in "pq"] == pytest.approx([1 / 3, 2 / 3])
    assert rank_scores({}, {"p": {"A": 1}}, 3)["p"]["gold_mrr"] == 0.0
    assert rank_scores({}, {}, 3) == {}


def test_evidence_named_twice_is_one_place() -> None:
    """Of the evidence [quote, chart, chart] a run that found the quote alone found half."""
    question = Question("q1", "ask", "ref", "text", evidence=(QUOTE, CHART, CHART))
    found = response(passage("report#2.1", "四月最多，共十二例"), passage("report#2.2", "塔高"))

    by_metric = {score.metric: score.value for score in gold_scores([question], [found])}

    assert by_metric["gold_recall"] == 0.5


def test_a_place_is_held_by_any_chunk_with_half_its_quote() -> None:
    """The same gold serves every index: width, blanks and case do not count."""
    assert holds(passage("report#2.1", "據統計，四 月最多,共十二例。"), QUOTE)
    assert holds(passage("report#2.2", "四月最多，共"), QUOTE)
    assert not holds(passage("report#2.3", "十二例"), QUOTE)
    assert holds(passage("report#2.1", "四月最多，共十二例", page=None), QUOTE)
    assert not holds(passage("report#3.1", "四月最多，共十二例", page=3), QUOTE)
    other = Passage("other#2.1", "other.pdf", 2, "text", "四月最多，共十二例")
    assert not holds(other, QUOTE)
    assert not holds(passage("report#2.1"), EvidencePlace("report", 2, ""))


def test_a_figure_is_held_by_its_caption() -> None:
    """By the caption's id, or its parts; by any caption of the page where no figure is named."""
    assert holds(passage("report#2.f1", origin="caption"), CHART)
    assert holds(passage("report#2.f1.2", origin="caption"), CHART)
    assert not holds(passage("report#2.f12", origin="caption"), CHART)
    assert not holds(passage("report#2.1", "四月"), CHART)
    any_figure = EvidencePlace("report", 2, figure="bar chart by month")
    assert holds(passage("report#2.f3", origin="caption"), any_figure)
    assert not holds(passage("report#2.3"), any_figure)


A, B, C = (EvidencePlace("report", 2, quote) for quote in ("四月最多", "五月最少", "塔高十公尺"))


def scored(passages: str, *places: EvidencePlace, k: int | None = None) -> dict[str, float | None]:
    """Score passages that each hold the named places: "AB - C"."""
    texts = {"A": "四月最多", "B": "五月最少", "C": "塔高十公尺", "-": "別的"}
    found = [
        passage(f"report#2.{n}", "。".join(texts[name] for name in names))
        for n, names in enumerate(passages.split(), 1)
    ]
    question = Question("q1", "ask", "ref", "text", evidence=places)
    return {row.metric: row.value for row in gold_scores([question], [response(*found, k=k)])}


@pytest.mark.parametrize(
    ("passages", "places", "k", "recall", "precision", "ndcg"),
    [
        # nDCG of three places: 1 + 1/log2(3) + 1/log2(5), of 1 + 1/log2(3) + 1/2 = 2.1309
        ("AB - - C", (A, B, C), 4, 1.0, 0.5, 0.96747),
        ("ABC", (A, B, C), 1, 1.0, 1.0, 1.0),
        ("AB C", (A, B, C), 2, 1.0, 1.0, 1.0),
        ("ABC - - -", (A, B, C), 4, 1.0, 0.25, 1.0),
        ("A A A -", (A,), 4, 1.0, 0.75, 1.0),
        # 1/log2(3) + 1/2, of 1 + 1/log2(3)
        ("- AB", (A, B), 4, 1.0, 0.5, 0.69343),
        # 1 of 1 + 1/log2(3), the same whether one passage or nine were requested
        ("A", (A, B), 1, 0.5, 1.0, 0.61315),
        ("A", (A, B), 9, 0.5, 1.0, 0.61315),
        # the third passage was not asked for
        ("A - B", (A, B), 2, 0.5, 0.5, 0.61315),
        ("- -", (A, B), 2, 0.0, 0.0, 0.0),
    ],
)
def test_recall_and_precision_count_passages(
    passages: str,
    places: tuple[EvidencePlace, ...],
    k: int,
    recall: float,
    precision: float,
    ndcg: float,
) -> None:
    """Recall is over places, precision over passages, and no passage takes up two ranks."""
    found = scored(passages, *places, k=k)

    assert (found["gold_recall"], found["gold_precision"]) == (recall, precision)
    assert found["gold_ndcg"] == pytest.approx(ndcg, abs=1e-5)


def test_more_passages_never_lower_recall_or_ndcg() -> None:
    """Every list of three passages over three places: in [0, 1], and 1 for a place at each rank."""
    kinds = ("-", "A", "B", "C", "AB", "BC", "ABC")
    for names in product(kinds, repeat=3):
        values = [scored(" ".join(names[:n]), A, B, C)["gold_ndcg"] or 0.0 for n in (1, 2, 3)]

        assert 0 <= values[0] <= values[1] <= values[2] <= 1 + 1e-12
        best = all(len(set("".join(names[:n])) & set("ABC")) >= n for n in (1, 2, 3))
        assert (values[2] == pytest.approx(1)) is best


def test_a_place_stands_at_the_first_rank_that_holds_it() -> None:
    """A passage that only repeats what was found keeps its rank; the second place of a passage
    takes the next free one."""
    assert place_ranks([[], [0, 1], [1], [2]]) == ["-1", "0", "1", "2"]
    assert place_ranks([[0], [0], [0], [1]]) == ["0", "-2", "-3", "1"]
    assert place_ranks([]) == []


def test_gold_scores_are_rows_like_any_other() -> None:
    """One of two places at rank 2 of the two that came; what failed or has no gold is NA."""
    questions = [
        Question("q1", "ask", "ref", "text", evidence=(QUOTE, CHART, QUOTE)),
        Question("q2", "ask", "ref", "text"),
    ]
    hit = response(passage("report#2.9", "別的"), passage("report#2.1", "四月最多，共十二例"), k=4)
    none = Response("q2", 0, "ask", "ref", "text", "x")
    failed = Response("q1", 1, "ask", "ref", "text", None)
    empty = Response("q1", 2, "ask", "ref", "text", "x")

    rows = gold_scores(questions, [hit, none, failed, empty])

    names = [facts.name for facts in GOLD_METRICS]
    values = [{r.metric: r.value for r in rows[at : at + 4]} for at in range(0, 16, 4)]
    assert values[0] == pytest.approx(
        # gain 1 / log2(3) of an ideal 1 + 1 / log2(3)
        {"gold_recall": 0.5, "gold_precision": 0.5, "gold_mrr": 0.5, "gold_ndcg": 0.386853},
        abs=1e-6,
    )
    assert values[1] == values[2] == dict.fromkeys(names)
    assert values[3] == dict.fromkeys(names, 0.0)
    assert [rows[at].status for at in (0, 4, 8, 12)] == ["ok", "no_evidence", "not_answered", "ok"]
    assert [rows[at].units for at in (0, 4)] == [2, None]


def test_a_document_has_one_name() -> None:
    """Its folder, and the ending of every kind of file that is read, are no part of the name."""
    assert [document_name(n) for n in ("a/b.pdf", "a\\b.PDF", "b", "v2.0")] == [
        "b",
        "b",
        "b",
        "v2.0",
    ]
    assert ENDINGS == KINDS
    assert {document_name(f"麻疹 2024 #3{kind}") for kind in KINDS} == {"麻疹_2024_3"}


def test_equal_passages_score_alike_whatever_was_asked_for() -> None:
    """One passage came back and holds the evidence: precision 1, under top_k 4 and 9 alike."""
    place = EvidencePlace("d", 1, quote="fog in April")
    asked = Question("q", "When?", "April.", "text", evidence=(place,))
    passage = Passage("d#1.1", "d", 1, "text", "Most fog in April.")
    scores = [
        gold_scores(
            [asked],
            [Response("q", 0, "When?", "April.", "text", "April", (passage,), k_requested=k)],
        )
        for k in (4, 9)
    ]

    assert scores[0] == scores[1]
    assert {score.value for score in scores[0]} == {1.0}
