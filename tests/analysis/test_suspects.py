from collections.abc import Callable
from dataclasses import replace

from harness.analysis import StudyTable, analyse
from harness.records import Verdict

Builder = Callable[..., StudyTable]
CLAIM = "彰化縣的發生率最高，為1.05。"


def rows(check: str, labels: list[int | None], against: int = -1) -> list[Verdict]:
    return [Verdict("j", "q1", 0, check, n, against, label=x) for n, x in enumerate(labels)]


def claims(*texts: str) -> list[Verdict]:
    return [Verdict("j", "q1", 0, "claims_response", n, text=t) for n, t in enumerate(texts)]


def judged(study: Builder, verdicts: list[Verdict]) -> list[tuple[str, int, int, str]]:
    table = study(right={"P": [1]}, passages={"P": [["別的", f"據統計，{CLAIM}另外。"]]})
    found = analyse(replace(table, verdicts={"P": tuple(verdicts)}))
    listed = [(s.check, s.item, s.against, s.reason) for s in found.suspects]
    findings = [f for f in found.findings if f.kind == "suspect_verdicts"]
    assert bool(findings) == bool(listed)
    if findings:
        assert findings[0].questions == ("q1",)
        assert sum(findings[0].numbers.values()) == len(listed)  # type: ignore[arg-type]
    return listed


def test_a_claim_that_stands_in_the_text_is_entailed(study: Builder) -> None:
    """Word for word in a passage, yet not entailed: a person should look."""
    verdicts = [*claims(CLAIM, "南投縣次之，為0.98。"), *rows("response_in_context", [0, 0])]

    assert judged(study, verdicts) == [("response_in_context", 0, -1, "verbatim_not_entailed")]


def test_each_passage_answers_for_itself(study: Builder) -> None:
    """Not entailed by the passage without it is right; by the one with it, suspect."""
    verdicts = [
        *claims(CLAIM),
        *rows("response_in_passages", [0], against=0),
        *rows("response_in_passages", [-1], against=1),
    ]

    assert judged(study, verdicts) == [("response_in_passages", 0, 1, "verbatim_not_entailed")]


def test_equal_claims_get_equal_verdicts(study: Builder) -> None:
    """Nearly the same claim twice, labelled differently."""
    twice = claims("The county has the highest rate.", "The county has the highest rate", "Else.")
    verdicts = [*twice, *rows("response_in_context", [1, 0, 0])]

    assert judged(study, verdicts) == [("response_in_context", 1, -1, "duplicates_disagree")]


def test_nothing_to_suspect(study: Builder) -> None:
    """Entailed, unlabelled, or too short to be more than chance; claims of no letters."""
    assert judged(study, [*claims(CLAIM), *rows("response_in_context", [1])]) == []
    assert judged(study, [*claims(CLAIM), *rows("response_in_context", [None])]) == []
    assert judged(study, [*claims("別的"), *rows("response_in_context", [0])]) == []
    assert judged(study, rows("response_in_context", [0])) == []
    assert judged(study, [*claims(".", "."), *rows("response_in_context", [0, 1])]) == []
