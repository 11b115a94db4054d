from dataclasses import replace
from pathlib import Path

from harness.grade.session import answers_of, captions_of
from harness.questions import question_line, response_sha256
from tests.grade.small import ANSWERS, CAPTION, QUESTIONS, Small


def test_equal_answers_are_one(small: Small) -> None:
    """Equal answers to one question are graded once, and a failed question has no answer."""
    found = answers_of(small.runs)

    assert {(a.question.id, a.text) for a in found.values()} == {
        ("q1", "It is 27 metres tall."),
        ("q2", "In 1913."),
        ("q2", "In 1931."),
        ("q3", "A man called Li."),
    }
    assert all(about == answer.about for about, answer in found.items())
    assert ANSWERS["text_k4"][2] is None


def test_an_answer_to_an_older_edition_is_left_out(small: Small) -> None:
    """Where the newest run asks a question in other words, only its answers are graded."""
    old, new = small.runs
    questions = [replace(q, reference="28 m.") if q.id == "q1" else q for q in QUESTIONS]
    new.write_text("questions.jsonl", "".join(map(question_line, questions)))
    old.finish(old.facts() | {"ended": "2026-01-01T00:00:00+00:00"})
    first = new.responses()[0]
    new.write_responses([replace(first, response="It is 28 m."), *new.responses()[1:]])

    found = answers_of(small.runs)

    assert [a.text for a in found.values() if a.question.id == "q1"] == ["It is 28 m."]
    assert {a.text for a in found.values() if a.question.id == "q2"} == {"In 1913.", "In 1931."}


def test_questions_and_limit_choose(small: Small) -> None:
    """`questions=` and `limit=` work as in every stage."""
    assert {about[0] for about in answers_of(small.runs, ["q2"])} == {"q2"}
    assert {about[0] for about in answers_of(small.runs, [], 1)} == {"q1"}


def test_answer_match_proposes(small: Small) -> None:
    """The proposal is the rule's word: right, wrong, and wrong for an answer made up."""
    proposals = {a.text: a.proposal for a in answers_of(small.runs).values()}

    assert proposals["It is 27 metres tall."] == 1
    assert proposals["In 1913."] == 0
    assert proposals["A man called Li."] == 0


def test_captions_and_their_pictures(small: Small) -> None:
    """A caption is known by picture and words; a run without captions has none."""
    ((about, caption),) = captions_of(small.runs).items()

    assert about == ("ab" * 32, response_sha256(CAPTION))
    assert caption.text == CAPTION
    assert caption.picture.read_bytes().startswith(b"\x89PNG")
    assert captions_of(small.runs[:1]) == {}


def test_a_picture_is_never_outside_its_run(small: Small) -> None:
    """A captions.jsonl from elsewhere cannot make the page show another file."""
    text = (small.runs[1].file("captions.jsonl") or b"").decode()
    other = text.replace("figures/abab.png", "../../../../secret.png")
    small.runs[1].write_text("captions.jsonl", other)

    (caption,) = captions_of(small.runs).values()

    assert caption.picture == Path(small.runs[1].path, "figures", "secret.png")
