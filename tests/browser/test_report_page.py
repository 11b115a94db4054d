"""The page in a real browser: Debian's chromium, driven by Playwright.

Skipped, and said so, where one of the two is not installed: `apt-get install chromium`,
`pip install playwright`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.render.html.pages import shown

CHROMIUM = "/usr/bin/chromium"
AXE = Path(__file__).parents[1] / "data" / "axe" / "axe.min.js"
SERIOUS = ("serious", "critical")

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path(CHROMIUM).exists(), reason=f"{CHROMIUM} is not installed: apt-get install chromium"
    ),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the module."""
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page on disk whose texts would act if they could."""
    nasty = "<script>window.acted = 1</script><img src=x onerror='window.acted = 1'>"
    study = shown(
        names=(f"k2{nasty}", "k4", "k6"),
        answer=lambda run, question: f"{nasty} {'wide' * 2_000} 塔高{run}公尺",
        wording=lambda question: f"{nasty} {question}",
    )
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(study.page(), "utf-8")
    return path


class Opened:
    """A page in the browser, with all that it complained of or asked for."""

    def __init__(self, browser: Any, file: Path, **settings: Any) -> None:
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    def unfold(self) -> None:
        """Open every fold."""
        self.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_opens_quietly(browser: Any, file: Path, width: int, scheme: str) -> None:
    """In both themes and widths: no error, no request, no sideways scrolling, nothing acts."""
    opened = Opened(browser, file, viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened.unfold()
    page = opened.page
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith("data:")] == [file.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.acted") is None
    assert (ground == "rgb(22, 24, 28)") is (scheme == "dark")
    opened.context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_everyone_can_use_it(browser: Any, file: Path, width: int, scheme: str) -> None:
    """axe-core finds nothing serious in the page with every fold open."""
    opened = Opened(browser, file, viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened.unfold()
    opened.page.evaluate(AXE.read_text("utf-8"))
    found = opened.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    opened.context.close()

    assert [
        (one["id"], one["nodes"][0]["html"][:120])
        for one in found["violations"]
        if one["impact"] in SERIOUS
    ] == []


def test_it_reads_without_scripts(browser: Any, file: Path) -> None:
    """Folds open by themselves, and every text is there."""
    opened = Opened(browser, file, java_script_enabled=False)
    question = opened.page.locator("#question-2")
    question.locator("summary").first.click()

    assert question.get_attribute("open") is not None
    assert question.locator("article").first.is_visible()
    assert opened.page.locator("table").first.is_visible()
    opened.context.close()


def test_the_keyboard_is_enough(browser: Any, file: Path) -> None:
    """The first key leads past the head, a heading sorts, and a search leaves what it finds."""
    opened = Opened(browser, file)
    page = opened.page
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.className")
    heading = page.locator("table.grid thead th").first
    heading.locator("button").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.locator("#question-tools input").fill("q3")

    assert first == "skip"
    assert heading.get_attribute("aria-sort") == "descending"
    assert page.locator("table.grid tbody th a").first.inner_text().startswith("q4")
    assert page.locator("details.question:visible").count() == 1
    opened.context.close()


def test_a_link_opens_the_fold_it_leads_to(browser: Any, file: Path) -> None:
    """From the grid to a question that is folded; the browser tells the page a moment later."""
    opened = Opened(browser, file)
    assert opened.page.locator("#question-3[open]").count() == 0
    opened.page.locator("table.grid a[href='#question-3']").click()

    opened.page.locator("#question-3[open]").wait_for(state="attached")
    opened.context.close()
