from collections.abc import Callable

import pytest

from harness.judge import Case, OverlapJudge, checks_for
from harness.judge.overlap_judge import coverage, pieces
from harness.llm import Calls
from harness.records import Status, Verdict


def labels(case: Case, check: str, calls: Calls) -> list[int | None]:
    return [row.label for row in rows(case, check, calls)]


def rows(case: Case, check: str, calls: Calls) -> list[Verdict]:
    (found,) = OverlapJudge().judge([case], [check], calls)
    return [row for row in found if row.check == check]


def test_quoted_claims_are_entailed(case: Case, calls: Calls) -> None:
    """A sentence that occurs in the passages is entailed, another is unknown."""
    assert labels(case, "response_in_context", calls) == [1, 0]


def test_a_number_that_is_not_there_decides(other: Callable[..., Case], calls: Calls) -> None:
    """A claim that shares two of three pieces but not its number is unknown, not contradicted."""
    (row,) = rows(other(response="塔高28公尺。"), "response_in_context", calls)
    assert (row.label, row.reason) == (0, "67% shared, without 28")


def test_all_sentences_become_claims(other: Callable[..., Case], calls: Calls) -> None:
    """Sentences without an ASCII full stop are found."""
    case = other(response="塔高27公尺。1931年啟用！真的嗎？是的")
    assert [row.text for row in rows(case, "claims_response", calls)] == [
        "塔高27公尺。",
        "1931年啟用！",
        "真的嗎？",
        "是的",
    ]


def test_a_refusal_has_no_claims(other: Callable[..., Case], calls: Calls) -> None:
    """A refusal has no claims, so it is NA; the reference is checked against it nevertheless."""
    refusal = other(response="很抱歉。資料中沒有提到。")
    (row,) = rows(refusal, "response_in_context", calls)
    assert (row.item, row.label, row.error) == (-1, None, Status.NO_CLAIMS)
    assert labels(refusal, "reference_in_response", calls) == [0]


def test_a_refusing_sentence_among_others_is_no_claim(
    other: Callable[..., Case], calls: Calls
) -> None:
    """That the documents do not say something is left out, what else is said stays."""
    case = other(response="塔高27公尺。資料中沒有提到顏色。")
    assert [row.text for row in rows(case, "claims_response", calls)] == ["塔高27公尺。"]


def test_useful_passage(case: Case, calls: Calls) -> None:
    """The passage with the reference's content is useful, the other is not."""
    assert labels(case, "passage_useful", calls) == [1, 0]


def test_it_cannot_ask_back(case: Case, calls: Calls) -> None:
    """Answer relevancy is NA under this judge, for a reason that says so."""
    (row,) = rows(case, "reverse_question", calls)
    assert (row.item, row.label, row.error) == (-1, None, Status.NOT_SUPPORTED_BY_JUDGE)


def test_measured_accuracy_belongs_to_the_shipped_thresholds() -> None:
    """A judge with other thresholds does not claim the accuracy that was measured."""
    assert str(OverlapJudge().accuracies[0]) == (
        "entailment (en): 0.52 right [0.46, 0.57], n=310, always the commoner label 0.72, "
        "AUC 0.59; ExpertQA, experts"
    )
    assert OverlapJudge(entailed_from=0.9).accuracies == ()


def test_measured_intervals_hold_their_accuracy() -> None:
    """Each figure is a share within its own interval."""
    for found in OverlapJudge().accuracies:
        assert 0 <= found.low <= found.accuracy <= found.high <= 1


def test_identity_changes_with_a_threshold() -> None:
    """Labels under another threshold are another judge's."""
    assert OverlapJudge().identity() != OverlapJudge(useful_from=0.5).identity()


def test_no_calls_are_made(case: Case) -> None:
    """The embedded judge asks no model."""
    store = Calls(None)
    OverlapJudge().judge([case], checks_for(["response_in_passages", "noncommittal"]), store)
    assert store.asked == 0


@pytest.mark.parametrize("text", ["", "Yes.", "<|im_end|>", "a" * 10_000])
def test_odd_claims_give_labels(text: str, other: Callable[..., Case], calls: Calls) -> None:
    """Whatever is written, each claim has a label or the check a reason."""
    for row in rows(other(response=text), "response_in_passages", calls):
        assert (row.label is None) == (row.error is not None)


def test_another_label_is_the_same_judge() -> None:
    """What it is called shapes no label: neither what was measured of it nor its identity."""
    named = OverlapJudge(name="second")

    assert named.label == "second"
    assert named.identity() == OverlapJudge().identity()
    assert named.accuracies == OverlapJudge().accuracies


def test_pieces_even_out_what_means_the_same() -> None:
    """Width, case, thousands separators, trailing zeros and word endings make no difference."""
    assert pieces("１，２００ Increased 2.40") == pieces("1200 increases 2.4")


def test_coverage_looks_at_one_stretch() -> None:
    """Words scattered over a long premise do not add up to a claim."""
    scattered = ["a", *["x"] * 40, "b", *["x"] * 40, "c"]
    assert coverage(["a", "b", "c"], scattered, 30) == pytest.approx(1 / 3)
    assert coverage(["a", "b", "c"], scattered) == 1.0
    assert coverage([], scattered) == 0.0
