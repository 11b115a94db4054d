"""The view of the page in a real browser: baseline, filters, order, marks, links, and print."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from harness.analysis.results import Confounded, Contrast
from harness.render.notation import signed
from tests.browser.grading_fixtures import browser
from tests.browser.test_report_page import Opened
from tests.render.html.pages import Shown, shown

pytestmark = pytest.mark.slow

__all__ = ["browser"]

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def study() -> Shown:
    """Three runs, of which the first and the last differ in two factors."""
    found = shown(
        names=("k2", "k4", "k6"),
        ids=tuple(f"q{at}" for at in range(1, 7)),
        answer=lambda run, question: f"The tower is {run[1:]}0 metres high, 塔高{run[1:]}公尺。",
    )
    details = found.details
    questions = [replace(one, tags=("chart",)) for one in details.questions[:2]]
    analysis = found.analysis
    fair = tuple(one for one in analysis.contrasts if {one.left, one.right} != {"k2", "k6"})
    change = fair[0].change
    pair = Confounded("k2", "k6", (change, replace(change, factor="prompt")), ("k4",), ())
    return replace(
        found,
        analysis=replace(analysis, contrasts=fair, confounded=(pair,)),
        details=replace(details, questions=(*questions, *details.questions[2:])),
    )


@pytest.fixture(scope="module")
def file(study: Shown, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page on disk."""
    path = tmp_path_factory.mktemp("view") / "index.html"
    path.write_text(study.page(), "utf-8")
    return path


@pytest.fixture
def opened(browser: Any, file: Path) -> Iterator[Any]:
    """The page in a window; it must not have complained."""
    window = Opened(browser, file, viewport={"width": 1280, "height": 800})
    yield window.page
    assert window.said == []
    window.context.close()


def choose(page: Any, **controls: str) -> None:
    """Choose options of the view by name."""
    for name, value in controls.items():
        page.locator(f"#view select[name={name}]").select_option(value)


def texts(page: Any, selector: str) -> list[str]:
    """Return the texts of what is visible."""
    return [one.inner_text() for one in page.locator(selector).all() if one.is_visible()]


def ids(page: Any) -> list[str]:
    """Return the ids of the questions that the list below shows."""
    return texts(page, "details.question > summary h3 > bdi:first-child")


def written(contrast: Contrast, turned: bool) -> list[str]:
    """Return the means of a contrast as the table should have them."""
    means = [(-1 if turned else 1) * (one.mean or 0) for one in contrast.differences]
    return [signed(mean + 0.0) for mean in means[:3]]


@pytest.mark.parametrize("baseline", ["k2", "k4", "k6"])
def test_every_run_is_compared_with_the_chosen_baseline(
    opened: Any, study: Shown, baseline: str
) -> None:
    """Differences are those of the report, turned round where the baseline is on the right."""
    choose(opened, baseline=baseline)

    for row in opened.locator("#deltas tbody tr").all():
        run = row.locator("th bdi").inner_text()
        cells = row.locator("td").all_inner_texts()
        pair = {baseline, run}
        if run == baseline:
            assert cells[1] == "baseline"
        elif pair == {"k2", "k6"}:
            assert cells[2] == "not comparable: differs in top_k and prompt"
        else:
            contrast = next(c for c in study.analysis.contrasts if {c.left, c.right} == pair)
            turned = contrast.right == baseline
            means = row.locator("td strong").all_inner_texts()
            assert means[:3] == written(contrast, turned)
            first = contrast.differences[0]
            ends = (first.low, first.high) if not turned else (-first.high, -first.low)
            assert f"[{signed(ends[0])}, {signed(ends[1])}]" in cells[2]
            assert "no evidence" in cells[2]


def test_questions_are_filtered_against_the_baseline(opened: Any, study: Shown) -> None:
    """Changed, regressed and won questions of one run are those of its contrast."""
    first = study.analysis.contrasts[0]
    right = first.difference("right")
    assert right is not None
    choose(opened, baseline=first.left, run=first.right)

    choose(opened, show="lost")
    assert tuple(ids(opened)) == right.lost
    choose(opened, show="won")
    assert tuple(ids(opened)) == right.won
    choose(opened, show="changed")
    assert set(ids(opened)) == {*right.won, *right.lost}
    choose(opened, show="")
    choose(opened, tag="chart")
    assert ids(opened) == ["q1", "q2"]
    choose(opened, source="image")
    assert ids(opened) == ["q2"]
    assert opened.locator("#view [role=status]").inner_text() == "1 of 6 questions"
    assert opened.locator("table.grid tr[data-question]:visible").count() == 1


def test_regressions_come_first(opened: Any, study: Shown) -> None:
    """Sorted by regression, the lost questions precede the unchanged and these the won ones."""
    first = study.analysis.contrasts[0]
    right = first.difference("right")
    assert right is not None
    choose(opened, baseline=first.left, run=first.right, sort="regression")

    assert tuple(ids(opened)[: len(right.lost)]) == right.lost
    assert tuple(ids(opened)[-len(right.won) :]) == right.won
    choose(opened, sort="")
    assert ids(opened) == [f"q{at}" for at in range(1, 7)]


def test_the_address_states_the_view(opened: Any) -> None:
    """A reload keeps the view, the back button returns to the one before, a link keeps it."""
    choose(opened, baseline="k4", show="lost")
    lost = ids(opened)
    assert opened.url.endswith("#baseline=k4&show=lost")

    opened.reload()
    assert ids(opened) == lost
    opened.locator("nav a[href='#means']").click()
    opened.wait_for_url("**#means&baseline=k4&show=lost")
    assert ids(opened) == lost
    opened.go_back()
    opened.go_back()
    opened.wait_for_url("**#baseline=k4")
    opened.wait_for_function("document.querySelector('#view [name=show]').value === ''")
    assert len(ids(opened)) == 6
    opened.go_back()
    opened.wait_for_function("document.querySelector('#view [name=baseline]').value === 'k2'")


def test_an_address_may_be_anything(browser: Any, file: Path) -> None:
    """Unknown controls, values and places in an address leave the page as it is at first."""
    window = Opened(browser, file)
    window.page.goto(f"{file.as_uri()}#nowhere&baseline=gone&show=x&find=%&y=1")

    assert window.said == []
    assert window.page.locator("#view [name=baseline]").input_value() == "k2"
    window.context.close()


def test_answers_are_marked_against_the_baseline(opened: Any) -> None:
    """Beside the baseline's answer stand the words that differ, by word and by character."""
    opened.locator("#question-1 > summary").click()
    choose(opened, baseline="k6", run="k2")
    answers = opened.locator("#question-1 .answer:visible")
    other = opened.locator("#question-1 .answer:visible:not(.first)")

    assert answers.count() == 2
    assert other.locator("> .text del").all_inner_texts() == ["60", "6"]
    assert other.locator("> .text ins").all_inner_texts() == ["20", "2"]
    assert "the answer of k6" in opened.locator("#question-1 > .how").inner_text()


def test_contrasts_are_closed_at_first(opened: Any) -> None:
    """The overview of contrasts is in view, what each of them changed on demand."""
    assert opened.locator("#contrasts details.part[open]").count() == 0
    assert opened.locator("#contrasts table").first.is_visible()


def test_on_a_phone_the_grid_is_near_the_top(browser: Any, file: Path) -> None:
    """Right and wrong end within three screens of a phone."""
    window = Opened(browser, file, viewport=PHONE)
    box = window.page.locator("table.grid").bounding_box()

    assert box["y"] + box["height"] <= 3 * PHONE["height"]
    window.context.close()


def test_a_study_of_one_run_has_filters_alone(browser: Any, tmp_path: Path) -> None:
    """There is no baseline to choose; questions are filtered and opened all the same."""
    path = tmp_path / "index.html"
    path.write_text(shown(names=("k2",)).page(), "utf-8")
    window = Opened(browser, path)
    window.page.locator("#question-1 > summary").click()
    choose(window.page, show="wrong")

    assert window.said == []
    assert window.page.locator("#view select[name=baseline], #deltas").count() == 0
    assert ids(window.page) == ["q1", "q3"]
    window.context.close()


@pytest.mark.parametrize("questions", [6, 60])
def test_it_prints_on_two_pages(
    browser: Any,
    tmp_path: Path,
    questions: int,
) -> None:
    """The printed summary is the opening and the main tables, however long the study is."""
    path = tmp_path / "index.html"
    names = tuple(f"k{2 * at}" for at in range(1, 13))
    study = shown(names=names, ids=tuple(f"q{at}" for at in range(questions)))
    long = replace(study, facts=replace(study.facts, question="What helps? " * 20 * questions))
    path.write_text(long.page(), "utf-8")
    window = Opened(browser, path)

    printed = pypdfium2.PdfDocument(window.page.pdf(prefer_css_page_size=True))

    assert len(printed) <= 2
    printed.close()
    window.context.close()
