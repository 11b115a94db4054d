"""What holds for every judge of the table; it runs on a new entry unchanged."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.judge import CHECKS, JUDGES, Case, Judge, checks_for
from harness.llm import Calls
from harness.metrics import assemble
from harness.metrics.evidence import Evidence
from harness.records import Passage, Question, Response, Status, Verdict

FIELDS = [name for name in Evidence.__dataclass_fields__ if name != "missing"]
Other = Callable[..., Case]


@pytest.fixture(params=JUDGES)
def judge(request: pytest.FixtureRequest, chat_judge: Callable[..., Judge]) -> Judge:
    return chat_judge() if request.param == "chat" else JUDGES[request.param]()


def rows(judge: Judge, case: Case, calls: Calls) -> dict[str, list[Verdict]]:
    (found,) = judge.judge([case], checks_for(FIELDS), calls)
    return {name: [row for row in found if row.check == name] for name in CHECKS}


def errors(found: dict[str, list[Verdict]]) -> dict[str, str | None]:
    """Return why each check has no labels; checks that have some are left out."""
    return {name: got[0].error for name, got in found.items() if got[0].item == -1}


def test_every_check_has_rows(judge: Judge, case: Case, calls: Calls) -> None:
    """A check gives labels, or one row that says why there are none."""
    for name, got in rows(judge, case, calls).items():
        whole = [row for row in got if row.item == -1]
        assert got, name
        assert not whole or len(got) == 1
        assert all(row.error for row in whole)


def test_matrices_are_whole(judge: Judge, case: Case, calls: Calls) -> None:
    """Every claim meets every passage."""
    found = rows(judge, case, calls)
    for side in ("response", "reference"):
        size = len(found[f"claims_{side}"])
        places = {(row.item, row.against) for row in found[f"{side}_in_passages"]}
        assert places == {(item, passage) for item in range(size) for passage in range(2)}


def test_labels_are_codes(judge: Judge, case: Case, calls: Calls) -> None:
    """No label is outside -1, 0, 1; one that is missing has its reason."""
    for got in rows(judge, case, calls).values():
        for row in got:
            assert row.label in (None, -1, 0, 1)
            assert row.check.startswith("claims_") or (row.label is None) == bool(row.error)


def test_cases_keep_their_place(judge: Judge, other: Other, calls: Calls) -> None:
    """The verdicts are in the order of the cases, although equal questions were asked once."""
    cases = [other(question_id=name, repeat=n) for n, name in enumerate("abc")]
    found = judge.judge(cases, ["passage_useful"], calls)
    assert [(got[0].question_id, got[0].repeat) for got in found] == [("a", 0), ("b", 1), ("c", 2)]


def test_empty_response(judge: Judge, other: Other, calls: Calls) -> None:
    """An empty answer makes no claims, and truly holds nothing of the reference."""
    found = rows(judge, other(response=""), calls)

    assert [row.label for row in found["reference_in_response"]] == [0]
    assert found["passage_useful"][0].label == 1
    assert found["reference_in_context"][0].label == 1
    missing = errors(found)
    for name in ("claims_response", "response_in_context", "response_in_reference"):
        assert missing[name] == Status.NO_CLAIMS
    assert missing["reverse_question"] in (
        Status.NO_REVERSE_QUESTIONS,
        Status.NOT_SUPPORTED_BY_JUDGE,
    )


def test_no_passages(judge: Judge, other: Other, calls: Calls) -> None:
    """Without passages what rests on them is NA, what does not is there."""
    found = rows(judge, other(passages=()), calls)

    missing = errors(found)
    for name, check in CHECKS.items():
        if check.of in ("passages", "context"):
            assert missing[name] == Status.NO_PASSAGES
    assert found["response_in_reference"][0].label == 1


def test_blank_reference(judge: Judge, other: Other, calls: Calls) -> None:
    """Without a reference nothing is checked against it."""
    missing = errors(rows(judge, other(reference=" "), calls))
    for name in ("claims_reference", "passage_useful", "response_in_reference"):
        assert missing[name] == Status.NO_REFERENCE_CLAIMS


def test_blank_passage_is_useless(judge: Judge, other: Other, calls: Calls) -> None:
    """An empty passage supports nothing, which needs no judge."""
    found = rows(judge, other(passages=("", "塔高27公尺。")), calls)
    assert [row.label for row in found["passage_useful"]] == [0, 1]
    assert [row.label for row in found["reference_in_passages"]] == [0, 1]


def test_no_cases(judge: Judge, calls: Calls) -> None:
    """Nothing to judge gives nothing."""
    assert judge.judge([], checks_for(FIELDS), calls) == []


def test_identity_is_json(judge: Judge) -> None:
    """What shaped the labels can be written down, and names the judge's rules."""
    assert isinstance(judge.identity()["rules"], int)
    assert judge.label


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"response": ""},
        {"response": "資料中沒有"},
        {"passages": ()},
        {"passages": ("", "")},
        {"passages": ("塔高27公尺。",) * 3},
    ],
    ids=str,
)
def test_rows_make_evidence(
    change: dict[str, Any], judge: Judge, other: Other, calls: Calls
) -> None:
    """Whatever was judged, the rows fit together as arrays, or each gap has its reason."""
    case = other(**change)
    (found,) = judge.judge([case], checks_for(FIELDS), calls)
    passages = tuple(Passage(str(n), "d", 1, "text", t) for n, t in enumerate(case.passages))
    response = Response("q1", 0, case.question, case.reference, "text", case.response, passages)
    question = Question("q1", case.question, case.reference, "text")

    evidence = assemble(response, question, found)

    for check in CHECKS.values():
        for name in check.gives:
            assert (getattr(evidence, name) is None) == (name in evidence.missing)
    if case.passages:
        assert evidence.passage_useful is not None
        assert evidence.passage_useful.shape == (len(case.passages),)
