"""Agreement of two judges rests on what both labelled, and on nothing else."""

from collections.abc import Sequence

import pytest

from harness.analysis import Options
from harness.analysis.judges import agreements
from harness.analysis.results import CheckAgreement
from harness.records import Verdict


def claims(judge: str, question: str, *said: tuple[str, int]) -> list[Verdict]:
    """Return claims of one answer, each with its label against all passages."""
    return [
        row
        for at, (text, label) in enumerate(said)
        for row in (
            Verdict(judge, question, 0, "claims_response", at, text=text),
            Verdict(judge, question, 0, "response_in_context", at, text=text, label=label),
        )
    ]


def useful(judge: str, question: str, *labels: int) -> list[Verdict]:
    """Return which passages of one answer help."""
    return [
        Verdict(judge, question, 0, "passage_useful", at, label=label)
        for at, label in enumerate(labels)
    ]


def compared(first: Sequence[Verdict], second: Sequence[Verdict]) -> dict[str, CheckAgreement]:
    """Return check -> how far judges A and B agree about one run."""
    return {row.check: row for row in agreements({"A": {"run": first}, "B": {"run": second}})}


def test_passages_by_hand() -> None:
    """Nine passages of three questions: 7 labelled alike, kappa 22/40, four useful by either."""
    first = [*useful("A", "q1", 1, 1, 0), *useful("A", "q2", 1, 0, 0), *useful("A", "q3", 1, 0, 0)]
    second = [*useful("B", "q1", 1, 0, 0), *useful("B", "q2", 1, 0, 1), *useful("B", "q3", 1, 0, 0)]

    found = compared(first, second)["passage_useful"]

    assert (
        found.n,
        found.questions,
        found.agreed,
        (found.first_labelled, found.second_labelled),
    ) == (9, 3, 7, (9, 9))
    assert found.shares[1] == pytest.approx((4 / 9, 4 / 9))
    assert found.kappa == pytest.approx(0.55)
    assert found.undefined is None


def test_claims_are_matched_by_their_text() -> None:
    """A takes three claims, B two in another order; what only A claims is no disagreement.

    Two are matched, one of them labelled alike: 1/2, and 1/2 by chance, so kappa 0.
    """
    first = claims("A", "q1", ("The tower is white.", 1), ("It is 27 m high.", 1), ("It hums.", 0))
    second = claims("B", "q1", ("It is 27 m high", 1), ("the tower is white.", 0))

    found = compared(first, second)

    assert list(found) == ["response_in_context"]
    row = found["response_in_context"]
    assert (row.n, row.agreed, (row.first_labelled, row.second_labelled)) == (2, 1, (3, 2))
    assert row.shares == {0: (0.0, 0.5), 1: (1.0, 0.5)}
    assert row.kappa == pytest.approx(0.0)
    # A entails all it claims: kappa is 0 whatever B says, and that is told
    assert row.undefined == "one_constant"


def test_other_claims_are_no_disagreement() -> None:
    """Where no claim has the same text nothing was compared: n is 0, and kappa NA with reason."""
    row = compared(claims("A", "q1", ("White.", 1)), claims("B", "q1", ("Red.", 0)))[
        "response_in_context"
    ]

    assert (row.n, row.agreed, (row.first_labelled, row.second_labelled)) == (0, 0, (1, 1))
    assert (row.kappa, row.undefined, row.lacking) == (None, "other_claims", None)


def test_a_claim_that_stands_twice() -> None:
    """The first is matched with the first, and what B has but once is matched once."""
    first = claims("A", "q1", ("White.", 1), ("White.", 0))
    second = claims("B", "q1", ("White.", 1))

    row = compared(first, second)["response_in_context"]

    assert (row.n, row.agreed) == (1, 1)


def test_a_claim_is_matched_passage_by_passage() -> None:
    """The same claim against the other passage is another label."""
    key = ("q1", 0, "response_in_passages", 0)
    first = [Verdict("A", *key, 0, "White.", 1), Verdict("A", *key, 1, "White.", 0)]
    second = [Verdict("B", *key, 1, "White.", 0), Verdict("B", *key, 2, "White.", 1)]

    row = compared(first, second)["response_in_passages"]

    assert (row.n, row.agreed) == (1, 1)


def test_one_label_only() -> None:
    """All useful by both: they agree on all four, and kappa is NA, not 1 and not 0."""
    row = compared(useful("A", "q1", 1, 1, 1, 1), useful("B", "q1", 1, 1, 1, 1))["passage_useful"]

    assert (row.n, row.agreed, row.kappa, row.low, row.undefined) == (4, 4, None, None, "one_label")


def test_what_a_judge_cannot_do() -> None:
    """B's reason why it gave no label is the reason why nothing can be compared."""
    first = [Verdict("A", "q1", 0, "reverse_question", 0, text="How high?", label=0)]
    second = [Verdict("B", "q1", 0, "reverse_question", -1, error="not_supported_by_judge")]

    row = compared(first, second)["reverse_question"]

    assert (row.n, row.lacking, row.undefined) == (0, "B", "not_supported_by_judge")


def test_reverse_questions_are_matched_by_sample() -> None:
    """Each judge asks back in its own words; whether the answer evades is the same question."""
    first = [Verdict("A", "q1", 0, "reverse_question", 0, text="How high?", label=0)]
    second = [Verdict("B", "q1", 0, "reverse_question", 0, text="What height?", label=1)]

    row = compared(first, second)["reverse_question"]

    assert (row.n, row.agreed) == (1, 0)


def test_only_answers_of_both_count() -> None:
    """A judged q1 and q2, B q2 and q3: the labels that could be matched are those on q2."""
    first = [*useful("A", "q1", 1, 0), *useful("A", "q2", 1, 0)]
    second = [*useful("B", "q2", 1, 0), *useful("B", "q3", 1, 1)]

    row = compared(first, second)["passage_useful"]

    assert (row.n, row.questions, (row.first_labelled, row.second_labelled)) == (2, 1, (2, 2))


def test_no_answer_in_common() -> None:
    """A judged q1, B q2: nothing says anything about agreement."""
    row = compared(useful("A", "q1", 1), useful("B", "q2", 1))["passage_useful"]

    assert (row.n, row.kappa, row.undefined, row.lacking) == (0, None, "nothing_in_common", None)


def test_a_check_that_one_was_not_asked() -> None:
    """B made no such check of the answer that both judged."""
    first = [*useful("A", "q1", 1), *claims("A", "q1", ("White.", 1))]

    row = compared(first, claims("B", "q1", ("White.", 1)))["passage_useful"]

    assert (row.n, row.lacking, row.undefined) == (0, "B", "not_asked")


def test_every_pair_of_judges() -> None:
    """Three judges are three pairs, each with its own numbers; runs are kept apart."""
    said = {
        "A": {"one": useful("A", "q1", 1, 0), "two": useful("A", "q1", 0, 0)},
        "B": {"one": useful("B", "q1", 1, 0), "two": useful("B", "q1", 1, 0)},
        "C": {"two": useful("C", "q1", 0, 0)},
    }

    found = [(row.first, row.second, row.n, row.agreed) for row in agreements(said)]

    assert found == [("A", "B", 4, 3), ("A", "C", 2, 2), ("B", "C", 2, 1)]


def test_kappa_leaves_out_one_document_at_a_time() -> None:
    """Three questions of one document are one unit, with the fourth two: a wider interval."""
    first = [row for n in range(1, 5) for row in useful("A", f"q{n}", 1, 1, 0, 0)]
    second = [row for n in range(1, 5) for row in useful("B", f"q{n}", 1, n > 2, 0, 0)]
    verdicts = {"A": {"run": first}, "B": {"run": second}}

    [alone] = agreements(verdicts)
    [together] = agreements(verdicts, Options(clusters=dict.fromkeys(("q1", "q2", "q3"), "d")))

    assert alone.kappa == together.kappa == pytest.approx(0.75)
    # without the document 1, without q4 2/3: t(1) x half their distance
    assert together.low == pytest.approx(-1.0)
    assert alone.low is not None
    assert alone.low > 0.2
    assert (alone.questions, together.questions) == (4, 4)
