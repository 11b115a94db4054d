from harness.evaluate.merge import write_evaluation
from harness.questions import CaptionGrade, caption_grades, response_sha256
from harness.records import Verdict
from harness.studies.graders import answers_on_wrong_captions, model_names, wrong_caption_ids
from tests.grade.small import CAPTION, Small


def test_models_are_named_by_label_and_model(small: Small) -> None:
    """Generator and judges of all runs, by label and by model, and the judge configured now."""
    first, second = small.runs
    made_with = {"generator": "ours", "notes": [], "models": {"chat": {"model": "llama3.1"}}}
    first.finish(first.facts() | {"made_with": made_with})
    write_evaluation(second, "strict judge", {"chat": {"model": "gpt-9"}}, [], [])

    assert model_names(small.runs, "overlap") == {
        *("overlap", "ours", "llama3.1", "written", "strict judge", "gpt-9")
    }


def test_answers_on_wrong_captions(small: Small) -> None:
    """Answers that only a wrong caption supports are listed for the run that retrieved it."""
    run = small.runs[1]
    rows = [Verdict("overlap", q, 0, "response_in_passages", 0, 0, "27 metres", label)
            for q, label in (("q1", 1), ("q2", 0))]  # fmt: skip
    write_evaluation(run, "overlap", {}, rows, [])
    book = caption_grades(small.testset)
    about = ("ab" * 32, response_sha256(CAPTION))

    assert answers_on_wrong_captions(small.runs, small.testset, "overlap") == {}
    book.add([CaptionGrade(*about, 0, "overlap")])
    assert answers_on_wrong_captions(small.runs, small.testset, "overlap") == {}
    book.add([CaptionGrade(*about, 0, "ann")])

    found = answers_on_wrong_captions(small.runs, small.testset, "overlap")
    assert list(found) == ["ctx_k4"]
    assert [(a.question_id, a.figures, a.only) for a in found["ctx_k4"]] == [
        ("q1", ("tower#1.f1",), True)
    ]


def test_wrong_captions_are_passages(small: Small) -> None:
    """A caption graded wrong is named by the id under which it is retrieved."""
    about = ("ab" * 32, response_sha256(CAPTION))

    assert wrong_caption_ids(small.runs[1], {about: 0}) == {"tower#1.f1"}
    assert wrong_caption_ids(small.runs[1], {about: 1}) == frozenset()
    assert wrong_caption_ids(small.runs[0], {about: 0}) == frozenset()
