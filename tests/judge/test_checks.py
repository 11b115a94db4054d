import pytest

from harness.errors import UnknownNameError
from harness.judge import CHECKS, Case, checks_for
from harness.metrics.evidence import Evidence


def test_faithfulness_needs_claims_first() -> None:
    """Texts are split into claims before these are checked against the passages."""
    assert checks_for(["response_in_context"]) == ("claims_response", "response_in_context")


def test_both_fields_of_a_reverse_question_come_of_one_check() -> None:
    """Similarity and flag are asked for together, so they cost one check."""
    assert checks_for(["question_similarity", "noncommittal"]) == ("reverse_question",)


def test_fields_without_judge_need_no_check() -> None:
    """What the run itself tells costs no call."""
    assert checks_for(["response_text", "answers", "input_tokens"]) == ()


def test_unknown_field_is_refused() -> None:
    """A metric with unknown evidence is an error, not ignored."""
    with pytest.raises(UnknownNameError, match="did you mean 'response_in_context'"):
        checks_for(["response_in_contexts"])


def test_every_label_of_the_evidence_comes_of_exactly_one_check() -> None:
    """What a metric may need of a judge can be had."""
    given = sorted(field for check in CHECKS.values() for field in check.gives)
    judged = [name for name, kind in Evidence.__annotations__.items() if _is_array(kind)]
    assert given == sorted(judged)


def _is_array(kind: object) -> bool:
    return "ndarray" in str(kind)


def test_context_is_the_passages_line_by_line(case: Case) -> None:
    """The joined passages are one text; otherwise each passage is a text."""
    assert CHECKS["response_in_context"].texts(case) == ("塔高27公尺。\n休館日為週一。",)
    assert CHECKS["response_in_passages"].texts(case) == case.passages
