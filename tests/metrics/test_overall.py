"""The answer as a whole: claims both ways, right or wrong without a judge, and measured costs."""

from collections.abc import Callable

import pytest

from harness.metrics import METRICS, MetricValue
from harness.metrics.evidence import Evidence
from harness.records import Status

Make = Callable[..., Evidence]

REFUSAL = "資料中沒有提到。"


def match(
    response: str | None, answers: list[list[str]] | None = None, answerable: bool = True
) -> MetricValue:
    groups = tuple(tuple(group) for group in answers or [])
    return METRICS["answer_match"].score(
        Evidence(response_text=response, answers=groups, answerable=answerable)
    )


def test_precision_and_recall_look_opposite_ways(evidence: Make) -> None:
    """Three of four claims are right; half of the reference was said: F1 is 0.6 of six claims."""
    known = evidence(response_in_reference="EEEC", reference_in_response="EN")

    assert METRICS["precision"].score(known) == MetricValue(0.75, 4)
    assert METRICS["recall"].score(known) == MetricValue(0.5, 2)
    assert METRICS["f1"].score(known) == MetricValue(pytest.approx(0.6), 6)


def test_f1_of_nothing_right_is_zero(evidence: Make) -> None:
    """Where both shares are 0 nothing is right, and that is known."""
    known = evidence(response_in_reference="NC", reference_in_response="N")

    assert METRICS["f1"].score(known) == MetricValue(0.0, 3)


def test_every_group_must_appear() -> None:
    """An answer in two parts is right only with both, each in any of its spellings."""
    answers = [["16", "十六"], ["72", "七十二"]]

    assert match("第 16 位與第七十二位", answers) == MetricValue(1.0)
    assert match("第 16 位", answers) == MetricValue(0.0)


def test_unanswerable_is_right_when_refused() -> None:
    """Where the corpus holds no answer, a refusal alone is right."""
    assert match("資料中沒有提到", answerable=False) == MetricValue(1.0)
    assert match("是 3.2%。", answerable=False) == MetricValue(0.0)
    assert match("", answerable=False) == MetricValue(0.0)


def test_refusal_with_an_invented_answer_is_wrong() -> None:
    """Who declines and then answers anyway has not declined."""
    assert match("資料中沒有提到，但一般約為 3.2%。", answerable=False) == MetricValue(0.0)


def test_answerable_is_wrong_when_refused() -> None:
    """A refusal is wrong even if it repeats the words that were looked for."""
    assert match("資料中沒有提到", [["男性"]]) == MetricValue(0.0)
    assert match("資料中沒有提到男性是否較多。", [["男性"]]) == MetricValue(0.0)


def test_answer_that_reads_like_a_refusal() -> None:
    """Where "not mentioned" is the accepted answer, saying so is right."""
    assert match("文件沒有說明。", [["沒有說明", "文件沒有說明"]]) == MetricValue(1.0)


def test_remark_does_not_spoil_a_right_answer() -> None:
    """A right answer that adds what the documents leave out stays right."""
    assert match("彰化縣，文件未提及原因。", [["彰化縣"]]) == MetricValue(1.0)


def test_failure_to_answer_is_wrong() -> None:
    """Of ten questions six are right, two wrong and two failed: 0.6, not 6 of 8."""
    answers = [["18浬"]]
    responses = ["18 浬"] * 6 + ["16 浬"] * 2 + [None] * 2

    scored = [match(response, answers) for response in responses]

    assert all(one.status is Status.OK for one in scored)
    assert sum(one.value or 0.0 for one in scored) / len(scored) == 0.6
    assert match(None, answerable=False) == MetricValue(0.0)


def test_no_accepted_answers_is_na() -> None:
    """Without accepted answers right or wrong is unknown, whatever the response."""
    assert match("18浬") == match(None) == MetricValue(None, 0, Status.NO_ANSWERS)


def test_char_f1_needs_no_words() -> None:
    """Six characters shared of seven and six: 12/13, and 1 for equal texts."""
    metric = METRICS["answer_char_f1"]

    def score(response: str | None, reference: str) -> MetricValue:
        return metric.score(Evidence(response_text=response, reference_text=reference))

    assert score("霧日最多為四月", "四月霧日最多") == MetricValue(pytest.approx(12 / 13))
    assert score("四月霧日最多", "四月霧日最多") == MetricValue(1.0)
    assert score("晴", "雨") == score("", "雨") == score(None, "雨") == MetricValue(0.0)
    assert score("晴", "——") == MetricValue(None, 0, Status.NO_REFERENCE)


def test_costs_are_what_was_measured() -> None:
    """Each cost is its own number; seconds add up retrieval and generation."""
    known = Evidence(
        retrieval_seconds=0.25,
        generation_seconds=1.5,
        input_tokens=900.0,
        output_tokens=40.0,
        passages_returned=6.0,
    )

    values = {name: METRICS[name].score(known) for name in METRICS if name.endswith("seconds")}
    assert values == {
        "retrieval_seconds": MetricValue(0.25),
        "generation_seconds": MetricValue(1.5),
        "seconds": MetricValue(1.75),
    }
    assert METRICS["input_tokens"].score(known) == MetricValue(900.0)
    assert METRICS["output_tokens"].score(known) == MetricValue(40.0)
    assert METRICS["passages_returned"].score(known) == MetricValue(6.0)


def test_half_a_time_is_no_time() -> None:
    """Where one part was not measured there is no total."""
    known = Evidence(generation_seconds=1.5, missing={"retrieval_seconds": Status.NOT_MEASURED})

    assert METRICS["seconds"].score(known) == MetricValue(None, None, Status.NOT_MEASURED)


def test_less_is_better_but_for_passages() -> None:
    """Nobody can say whether more passages are better."""
    assert METRICS["seconds"].higher_is_better is False
    assert METRICS["passages_returned"].higher_is_better is None
