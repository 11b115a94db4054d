import pytest

from harness.analysis.suspects import OnWrongCaption
from harness.render import words
from harness.render.blocks import Items
from harness.render.sections.metric_trust import wrong_captions

PARTLY = OnWrongCaption("q1", 0, ("a#1.f1",), ("x",), supported=3)
ONLY = OnWrongCaption("q2", 0, ("a#1.f1", "a#2.f1"), ("x", "y"), supported=2)


def test_answers_that_rest_on_nothing_else_come_first() -> None:
    """The report names run, question and figure, and says how much of the answer is at stake."""
    section = wrong_captions({"ctx_k4": [PARTLY, ONLY]}, words("en"))

    assert section is not None
    items = section.blocks[0]
    assert isinstance(items, Items)
    assert items.texts == (
        "ctx_k4, q2: every part of the answer that a passage supports rests on a#1.f1, a#2.f1 "
        "alone.",
        "ctx_k4, q1: 1 of 3 supported claims rest on a#1.f1 alone.",
    )


@pytest.mark.parametrize("language", ["ja", "zh_hant"])
def test_every_language_names_them(language: str) -> None:
    """Run, question and figure are in the sentence of each language."""
    section = wrong_captions({"ctx_k4": [ONLY]}, words(language))

    assert section is not None
    assert all(name in str(section.blocks[0]) for name in ("ctx_k4", "q2", "a#2.f1"))


def test_no_wrong_caption_is_no_section() -> None:
    """Nothing is said where nothing rests on a wrong caption."""
    assert wrong_captions({}, words("en")) is None
    assert wrong_captions({"ctx_k4": []}, words("en")) is None
