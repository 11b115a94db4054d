from harness.analysis.suspects import OnWrongCaption, on_wrong_captions
from harness.records import Passage, Response, Verdict

PASSAGES = (
    Passage("a#1.1", "a", 1, "text", "the tower is 27 metres tall"),
    Passage("a#1.f1", "a", 1, "caption", "April is the tallest"),
    Passage("a#2.f1", "a", 2, "caption", "the lamp is red"),
)
WRONG = {"a#1.f1", "a#9.f9"}


def response(question: str = "q1") -> Response:
    return Response(question, 0, "?", "!", "both", "...", PASSAGES)


def verdicts(*entailed: tuple[int, int], question: str = "q1") -> list[Verdict]:
    """Rows of three claims against three passages, entailed at these places only."""
    return [
        Verdict("j", question, 0, "response_in_passages", item, against, f"claim {item}",
                int((item, against) in entailed))
        for item in range(3) for against in range(3)
    ]  # fmt: skip


def test_an_answer_that_rests_only_on_a_wrong_caption() -> None:
    """Its one supported claim is entailed by the wrong caption and by nothing else."""
    found = on_wrong_captions([response()], verdicts((1, 1)), WRONG)

    assert found == (OnWrongCaption("q1", 0, ("a#1.f1",), ("claim 1",), supported=1),)
    assert found[0].only


def test_other_support_clears_a_claim() -> None:
    """A text, or a caption that nobody called wrong, may have told it too."""
    assert on_wrong_captions([response()], verdicts((1, 1), (1, 0)), WRONG) == ()
    assert on_wrong_captions([response()], verdicts((1, 1), (1, 2)), WRONG) == ()


def test_an_answer_that_rests_on_it_in_part() -> None:
    """Another claim stands on the text: the answer is named, and not as resting on it only."""
    (found,) = on_wrong_captions([response()], verdicts((0, 0), (1, 1)), WRONG)

    assert (found.claims, found.supported, found.only) == (("claim 1",), 2, False)


def test_no_support_is_no_caption() -> None:
    """A claim that nothing entails was made up, and not read off a caption."""
    assert on_wrong_captions([response()], verdicts(), WRONG) == ()
    assert on_wrong_captions([response()], [], WRONG) == ()


def test_only_captions_count_and_each_answer_its_own() -> None:
    """A text passage is no caption, and one answer's verdicts are not another's."""
    rows = verdicts((0, 0)) + verdicts((2, 1), question="q2")

    found = on_wrong_captions([response(), response("q2")], rows, {*WRONG, "a#1.1"})

    assert [answer.question_id for answer in found] == ["q2"]
