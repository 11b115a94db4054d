"""How large the page of a long study is, and how long Debian's chromium takes to open it.

    python tests/benchmarks/page_opening.py --json

A hundred questions under twelve variants, four or eight passages of some 500 characters each,
judged by the embedded judge and reported by the commands themselves. `open_seconds` is the clock
from asking for the file until the browser says that it is loaded and has drawn it, the best of
five; `busy_seconds` is the browser's own computing time, which other processes do not touch.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.written import article  # noqa: E402

VARIANTS = tuple(
    f"{contents}_k{k}{prompt}"
    for contents, k, prompt in product(("text", "caption", "ctx"), (4, 8), ("", "_strict"))
)
CHROMIUM = "/usr/bin/chromium"


def written(folder: Path, questions: int) -> Path:
    """Write the study, evaluate and report it; return its page."""
    article(folder / "large", questions=questions, variants=VARIANTS)
    for stage in ("evaluate", "report"):
        words = ["study=demo_baseline", f"root={folder}", "study.name=large", "study.testset=large"]
        subprocess.run(
            [sys.executable, "-m", f"harness.{stage}", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
        )
    return folder / "large" / "report" / "index.html"


def opened(page: Path) -> tuple[float, float, dict[str, Any]]:
    """Return seconds on the clock, seconds of computing, and what the page consists of."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page()
        session = tab.context.new_cdp_session(tab)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        start = time.perf_counter()
        tab.goto(page.as_uri())
        tab.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        seconds = time.perf_counter() - start
        told = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
        browser.close()
    parts = {"nodes": told["Nodes"], "heap_mb": round(told["JSHeapUsedSize"] / 1e6, 1)}
    return seconds, told["TaskDuration"], parts


def main() -> None:
    """Print the size of the page and what opening it takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="folder to keep the study in")
    chosen = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        page = written(chosen.keep or Path(folder), chosen.questions)
        made = time.perf_counter() - start
        tries = [opened(page) for _ in range(5)]
        found = {
            "megabytes": round(page.stat().st_size / 1e6, 2),
            "open_seconds": round(min(seconds for seconds, _, _ in tries), 2),
            "busy_seconds": round(min(busy for _, busy, _ in tries), 2),
            **tries[0][2],
            "made_in_seconds": round(made, 1),
            "questions": chosen.questions,
            "variants": len(VARIANTS),
        }
    print(json.dumps(found) if chosen.json else "\n".join(f"{k}={v}" for k, v in found.items()))


if __name__ == "__main__":
    main()
