"""The grading page in a real browser: by keyboard, through a crash, in every language and theme."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.questions import CaptionGrade, Gradebook, response_sha256
from harness.records import Grade
from tests.browser.grading_fixtures import (
    Tab,
    browser,
    messy,
    serving,
    strange_texts,
    tab,
    ten,
)
from tests.grade.small import small

pytestmark = pytest.mark.slow

__all__ = ["browser"]

AXE = Path(__file__).parents[1] / "data/axe/axe.min.js"


def test_ten_answers_by_keyboard_and_a_crash(browser: Any, tmp_path: Path) -> None:
    """Ten answers are graded with a note, a skip, an undo and a crash, and no grade is lost."""
    study = ten(tmp_path)
    file = study.testset / "grades.jsonl"
    with serving(study) as page, tab(browser) as at:
        at.open(page.link)
        first = at.text("answer")
        for key in "10-1":
            at.press(key)
        assert [grade.grade for grade in Gradebook(file, Grade).read()] == [1, 0, None, 1]
        at.press("u")
        at.press("s")
        at.page.keyboard.press("n")
        at.page.keyboard.type("10s off")
        at.page.keyboard.press("Escape")
        at.press("0")
        assert at.text("count") == "4 of 12 graded"
        page.kill()
        at.page.keyboard.press("1")
        at.page.wait_for_selector("#failure:not([hidden])")
        assert "Not saved" in at.text("failure")

    before = Gradebook(file, Grade).read()
    assert [(grade.grade, grade.note) for grade in before] == [
        (1, None), (0, None), (None, None), (0, "10s off"),
    ]  # fmt: skip
    with serving(study) as page, tab(browser) as at:
        at.open(page.link)
        assert at.text("count") == "4 of 12 graded"
        assert at.text("answer") != first
        for key in "110011":
            at.press(key)
        assert at.text("count") == "10 of 12 graded"
        assert at.errors == []
        assert at.elsewhere == []
    grades = Gradebook(file, Grade).read()
    assert grades[:4] == before
    assert len({grade.question_id for grade in grades}) == 10


def test_a_held_key_and_a_shortcut_grade_nothing(browser: Any, tmp_path: Path) -> None:
    """Holding a key, Ctrl-1 or typing a note never gives a grade unseen."""
    study = ten(tmp_path)
    with serving(study) as page, tab(browser) as at:
        at.open(page.link)
        at.page.keyboard.press("Control+1")
        at.page.keyboard.press("n")
        at.page.keyboard.type("1010us")
        assert at.page.input_value("#note") == "1010us"
        at.page.keyboard.press("Escape")
        with at.page.expect_response(lambda reply: reply.url.endswith("/grade")):
            at.page.keyboard.down("1")
        at.page.wait_for_selector("#main[aria-busy=false]")
        at.page.keyboard.down("1")
        at.page.keyboard.down("1")
        at.page.keyboard.up("1")
        at.press("s")

    (kept,) = Gradebook(study.testset / "grades.jsonl", Grade).read()
    assert (kept.grade, kept.note) == (1, "1010us")


def test_buttons_and_captions(browser: Any, tmp_path: Path) -> None:
    """Buttons grade as keys do, and the figure is shown beside its caption."""
    study = small(tmp_path)
    with serving(study) as page, tab(browser) as at:
        at.open(page.link)
        at.page.click("text=Captions")
        at.page.wait_for_selector("#picture img")
        assert "April is the tallest" in at.text("caption")
        at.page.wait_for_function("document.querySelector('#picture img').naturalWidth === 1")
        at.page.click("button[data-key='0']")
        at.page.wait_for_selector("#over:not([hidden])")
        assert at.errors == []
    (kept,) = Gradebook(study.testset / "caption_grades.jsonl", CaptionGrade).read()
    assert kept.grade == 0


def test_the_rule_is_shown_after_the_grade(browser: Any, tmp_path: Path) -> None:
    """The proposal of `answer_match` is shown only after the grade."""
    with serving(small(tmp_path)) as page, tab(browser) as at:
        at.open(page.link)
        assert "answer_match" not in at.page.inner_text("body")
        at.press("1")
        assert "answer_match" in at.text("last")


def test_strange_texts_do_no_harm(browser: Any, tmp_path: Path) -> None:
    """Scripts, markup, endless words, right-to-left and control characters are shown as text."""
    seen = []
    with serving(messy(tmp_path)) as page, tab(browser, "narrow") as at:
        at.open(page.link)
        for _ in strange_texts():
            seen.append(at.text("answer"))
            assert at.overflow == 0, seen[-1][:80]
            at.press("1")
        at.page.goto(f"{page.link}captions")
        at.page.wait_for_selector("#item:not([hidden])")
        assert at.text("caption") == "<script>alert(2)</script>"
        assert at.errors == []
        assert at.elsewhere == []
    assert "<script>alert(1)</script>" in seen
    assert "(empty)" in seen


@pytest.fixture(scope="module")
def link(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page that only the last test grades on."""
    with serving(small(tmp_path_factory.mktemp("looked_at")), "language=ja") as page:
        yield page.link


@pytest.mark.parametrize("kind", ["answers", "captions"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_axe_finds_nothing(browser: Any, link: str, size: str, scheme: str, kind: str) -> None:
    """axe-core finds no fault in either theme and size, with the note closed and open."""
    with tab(browser, size, scheme) as at:
        at.open(f"{link}{kind}")
        assert faults(at) == []
        at.page.keyboard.press("n")
        assert faults(at) == []
        assert at.page.evaluate("document.documentElement.lang") == "ja"
        assert at.overflow == 0
        assert at.errors == []


@pytest.fixture(scope="module")
def second_look(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page with a disputed answer, and one whose question was edited after grading."""
    study = small(tmp_path_factory.mktemp("second_look"))
    texts = [response_sha256(text) for text in ("It is 27 metres tall.", "In 1913.")]
    Gradebook(study.testset / "grades.jsonl", Grade).add(
        [
            Grade("q1", texts[0], 1, "ann"),
            Grade("q1", texts[0], 0, "bob"),
            Grade("q2", texts[1], 0, "ann", question_sha256="before the edit"),
        ]
    )
    with serving(study, "second_look=true") as page:
        yield page.link


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_a_second_look_says_why(browser: Any, second_look: str, size: str, scheme: str) -> None:
    """Disputed and outdated answers come first, each with its flag, in any theme."""
    with tab(browser, size, scheme) as at:
        at.open(second_look)
        assert at.text("count") == "1 of 4 graded, 2 for a second look"
        shown = []
        for _ in range(2):
            shown += [name for name in ("disputed", "edited") if at.page.is_visible(f"#{name}")]
            assert faults(at) == []
            assert at.overflow == 0
            at.press("s")
        assert sorted(shown) == ["disputed", "edited"]
        assert not at.page.is_visible(".flag:not(#refusal)")
        at.press("u")
        at.press("u")
        assert at.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_at_the_end(browser: Any, link: str, scheme: str) -> None:
    """axe-core finds no fault in the page that says that nothing is left."""
    with tab(browser, "narrow", scheme) as at:
        at.open(f"{link}captions")
        at.press("1")
        assert at.page.is_visible("#over")
        assert faults(at) == []
        at.press("u")


def faults(at: Tab) -> list[str]:
    """Return the rules of axe-core that the page breaks."""
    at.page.evaluate(AXE.read_text("utf-8"))
    found = at.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{rule['id']}: {rule['help']}" for rule in found["violations"]]
