from collections.abc import Callable
from dataclasses import replace

from harness.analysis import Analysis, MetricFacts, StudyTable, analyse
from harness.analysis.suspects import OnWrongCaption, on_wrong_captions
from harness.records import Layer, Passage, Response, Verdict

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


def test_a_reason_that_states_another_label(study: Builder) -> None:
    """Also beside references and other passages, and for usefulness, by the passage's id."""
    why = "The passage does not mention this, so it is not supported."
    reasoned = [
        replace(row, reason=why)
        for check in ("response_in_context", "response_in_reference", "passage_useful")
        for row in rows(check, [1, 0])
    ]
    found = judged(study, [*claims("The tower is tall.", "It is old."), *reasoned])

    assert [(check, item, reason) for check, item, _, reason in found] == [
        ("response_in_context", 0, "reason_disagrees"),
        ("response_in_reference", 0, "reason_disagrees"),
        ("passage_useful", 0, "reason_disagrees"),
    ]


def test_a_label_without_its_reason(study: Builder) -> None:
    """A missing reason contradicts nothing, and neither does a reason without a label."""
    verdicts = rows("passage_useful", [1, None])
    lost = replace(verdicts[1], reason="It does not help.")
    assert judged(study, [*claims("It is old."), verdicts[0], lost]) == []


REFERENCE = "It is 27 metres tall. It was opened in 1931. It was built by the river guild."


def of_reference(study: Builder, *verdicts: Verdict) -> Analysis:
    metrics = {
        MetricFacts(name, Layer.RETRIEVAL): {"P": [1.0]} for name in ("context_recall", "recall")
    }
    table = study(right={"P": [1]}, metrics=metrics)
    (response,) = table.responses["P", "q1"]
    responses = {("P", "q1"): (replace(response, reference=REFERENCE),)}
    return analyse(replace(table, responses=responses, verdicts={"P": verdicts}))


def test_facts_of_the_reference_in_no_claim(study: Builder) -> None:
    """The cell is a suspect, and context recall says what it does not count."""
    claim = Verdict("j", "q1", 0, "claims_reference", 0, text="It is 27 metres tall.")
    analysis = of_reference(study, claim)

    (row,) = analysis.suspects
    assert (row.check, row.item, row.reason) == ("claims_reference", -1, "facts_left_out")
    assert row.text == "1931"
    (note,) = (f for f in analysis.findings if f.kind == "facts_left_out")
    assert (note.run, note.metric, note.questions) == ("P", "context_recall", ("q1",))
    assert note.groups == {"facts": ("1931",)}


def test_claims_that_are_whole_or_missing(study: Builder) -> None:
    """Nothing is left out of all claims; without any the facts are; a failed judge omits none."""
    whole = [
        Verdict("j", "q1", 0, "claims_reference", n, text=f"{sentence}.")
        for n, sentence in enumerate(REFERENCE.rstrip(".").split(". "))
    ]
    assert of_reference(study, *whole).suspects == ()
    lost = Verdict("j", "q1", 0, "claims_reference", -1, error="judge_echo")
    assert of_reference(study, lost).suspects == ()
    (row,) = of_reference(study, replace(lost, error="no_reference_claims")).suspects
    assert row.text == "27; 1931"


PASSAGES = (
    Passage("a#1.1", "a", 1, "text", "the tower is 27 metres tall"),
    Passage("a#1.f1", "a", 1, "caption", "April is the tallest"),
    Passage("a#2.f1", "a", 2, "caption", "the lamp is red"),
)
WRONG = {"a#1.f1", "a#9.f9"}


def response(question: str = "q1") -> Response:
    return Response(question, 0, "?", "!", "both", "...", PASSAGES)


def supports(*entailed: tuple[int, int], question: str = "q1") -> list[Verdict]:
    """Rows of three claims against three passages, entailed at these places only."""
    return [
        Verdict("j", question, 0, "response_in_passages", item, against, f"claim {item}",
                int((item, against) in entailed))
        for item in range(3) for against in range(3)
    ]  # fmt: skip


def test_an_answer_that_rests_only_on_a_wrong_caption() -> None:
    """Its one supported claim is entailed by the wrong caption and by nothing else."""
    found = on_wrong_captions([response()], supports((1, 1)), WRONG)

    assert found == (OnWrongCaption("q1", 0, ("a#1.f1",), ("claim 1",), supported=1),)
    assert found[0].only


def test_other_support_clears_a_claim() -> None:
    """A text, or a caption that is not graded wrong, supports the claim as well."""
    assert on_wrong_captions([response()], supports((1, 1), (1, 0)), WRONG) == ()
    assert on_wrong_captions([response()], supports((1, 1), (1, 2)), WRONG) == ()


def test_an_answer_that_rests_on_it_in_part() -> None:
    """Another claim rests on the text: the answer is listed, but does not rest on captions only."""
    (found,) = on_wrong_captions([response()], supports((0, 0), (1, 1)), WRONG)

    assert (found.claims, found.supported, found.only) == (("claim 1",), 2, False)


def test_no_support_is_no_caption() -> None:
    """A claim that nothing entails was made up, and not read off a caption."""
    assert on_wrong_captions([response()], supports(), WRONG) == ()
    assert on_wrong_captions([response()], [], WRONG) == ()


def test_only_captions_count_and_each_answer_its_own() -> None:
    """A text passage is no caption, and one answer's verdicts are not another's."""
    rows = supports((0, 0)) + supports((2, 1), question="q2")

    found = on_wrong_captions([response(), response("q2")], rows, {*WRONG, "a#1.1"})

    assert [answer.question_id for answer in found] == ["q2"]
