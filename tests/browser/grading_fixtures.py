"""A real browser, and a grading page in a process of its own.

Both are skipped, visibly, where Playwright or Debian's chromium is missing.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.records import EvidencePlace, Question
from tests.conftest import ROOT
from tests.grade.small import Small, small

CHROMIUM = Path("/usr/bin/chromium")
SIZES = {"wide": (1280, 800), "narrow": (390, 844)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("no /usr/bin/chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield opened
        opened.close()


@dataclass
class Serving:
    """A page that is being served."""

    link: str
    process: "subprocess.Popen[str]"

    def kill(self) -> None:
        """End the process as a crash does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def serving(study: Small, *words: str) -> Iterator[Serving]:
    """Give a grading page of a study."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.grade", *study.words, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert process.stdout is not None
    said = ""
    try:
        while not (link := re.search(r"http://\S+", said)):
            assert process.poll() is None, said
            said += process.stdout.readline()
        yield Serving(link.group(), process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@dataclass
class Tab:
    """A tab that notes what goes wrong in it."""

    page: Any
    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    """Requests to any address but the page's own."""

    def open(self, link: str) -> None:
        """Go to a page and wait until it shows something to grade."""
        host = link.split("/")[2]
        self.page.on("console", lambda said: self.errors.append(said.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(f"dialog {dialog.message}"))
        self.page.on(
            "request",
            lambda asked: host in asked.url or self.elsewhere.append(asked.url),
        )
        self.page.goto(link)
        self.page.wait_for_selector("#item:not([hidden])")

    def press(self, key: str) -> None:
        """Press a key, and wait until the server has answered and the page shows it."""
        act = {"s": "skip", "u": "undo"}.get(key, "grade")
        with self.page.expect_response(lambda reply: reply.url.endswith(f"/{act}")):
            self.page.keyboard.press(key)
        self.page.wait_for_selector("#main[aria-busy=false]")

    @property
    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        wider = "[document.documentElement, at('main')].map(e => e.scrollWidth - e.clientWidth)"
        return max(self.page.evaluate(wider))

    def text(self, name: str) -> str:
        """Return what an element shows."""
        found: str = self.page.text_content(f"#{name}")
        return found


@contextmanager
def tab(browser: Any, size: str = "wide", scheme: str = "light") -> Iterator[Tab]:
    """Give a tab of a certain size and theme."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    try:
        yield Tab(context.new_page())
    finally:
        context.close()


def strange_texts() -> list[str]:
    """Return texts that have broken pages: from the data, and those that the issue names."""
    file = Path(__file__).parents[1] / "data/messy/text_strings.jsonl"
    known = [json.loads(line)["text"] for line in file.read_text("utf-8").splitlines()]
    return [
        *known,
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</td></table></main>",
        "javascript:alert(1)",
        "x" * 10_000,
        "\u202eright to left\u202c and العربية שלום",
        "👩‍👩‍👧‍👦🏳️‍🌈 e\u0301",
        "=1+1",
        "{{ 7 * 7 }} {total}",
        "",
    ]


def messy(folder: Path) -> Small:
    """Write a study whose questions, answers, caption and variants are strange texts."""
    texts = strange_texts()
    questions = [
        Question(f"q{n}", text.strip() or "?", text.strip() or "!", "text",
                 evidence=(EvidencePlace("tower", 1, quote=text.strip() or "?"),))
        for n, text in enumerate(texts)
    ]  # fmt: skip
    return small(folder, questions, {"a": tuple(texts)}, caption="<script>alert(2)</script>")


def ten(folder: Path) -> Small:
    """Write a study of twelve answers, ten of which will be graded."""
    questions = [Question(f"q{n}", f"How high is tower {n}?", f"{n} m.", "text") for n in range(12)]
    return small(folder, questions, {"a": tuple(f"It is {n} metres high." for n in range(12))})
