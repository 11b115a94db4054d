"""Bits that flip in the files of a run and in the call store: named in a line, or harmless."""

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.judge_stub import in_good_faith
from tests.robustness.bench import Ended, Labels, here, labels, settings, study
from tests.stub_endpoint import StubEndpoint

QUESTIONS = 2
RUN = "top_k2"
"""The run whose files are damaged; the other one stays whole."""


@dataclass(frozen=True)
class Flip:
    """One bit of a file."""

    file: str
    byte: int
    bit: int

    def apply(self, root: Path) -> None:
        """Change the bit."""
        path = root / self.file
        content = bytearray(path.read_bytes())
        content[self.byte] ^= 1 << self.bit
        path.write_bytes(content)


def draw_flips(root: Path, files: list[str], number: int, seed: int) -> list[Flip]:
    """Return bits of the files, in turn, at random places."""
    draw = random.Random(seed)
    return [
        Flip(file, draw.randrange((root / file).stat().st_size), draw.randrange(8))
        for file in (files[n % len(files)] for n in range(number))
    ]


def numbers(root: Path) -> dict[str, bytes]:
    """Return the tables and findings of the last report."""
    report = root / "written" / "report"
    return {
        file.name: file.read_bytes()
        for file in sorted([*report.glob("*.csv"), *report.glob("findings.json")])
    }


@dataclass
class Bench:
    """A finished study, its labels and its report, to be damaged over and over."""

    whole: Path
    stub: StubEndpoint
    right_labels: Labels
    right_numbers: dict[str, bytes]

    def after(self, flip: Flip, check: Callable[["Bench", Path, Flip], str]) -> str:
        """Return what a flip came to, on a copy of the study."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "runs"
            shutil.copytree(self.whole, root)
            flip.apply(root)
            return check(self, root, flip)


def named(ended: Ended, flip: Flip) -> bool:
    """Say whether a line of the command names the damaged file or its run."""
    return any(name in ended.stderr for name in (Path(flip.file).name, RUN))


def run_file(bench: Bench, root: Path, flip: Flip) -> str:
    """Report on a study with a damaged run file, then evaluate it again, and report again."""
    words = settings(root, bench.stub.base_url)
    found = "harmless"
    for name in ("report", "evaluate", "report"):
        ended = here(name, *(word for word in words if name == "evaluate" or keeps(word)))
        if ended.problem:
            return f"{name}: {ended.problem}"
        if named(ended, flip):
            found = "named"
        elif ended.returncode:
            return f"{name}: fails without naming it: {ended.stderr.strip()[-200:]}"
        elif name == "report" and numbers(root) != bench.right_numbers:
            return f"{name}: other numbers in {differing(numbers(root), bench.right_numbers)}"
    return found


def keeps(word: str) -> bool:
    """Say whether a setting of `evaluate` is one of `report`."""
    return not word.startswith("metrics=")


def store(bench: Bench, root: Path, flip: Flip) -> str:
    """Evaluate the answers anew, from a damaged call store: what it cannot give is asked again."""
    shutil.rmtree(root / "written")
    study(root / "written", QUESTIONS)
    ended = here("evaluate", *settings(root, bench.stub.base_url))
    if ended.problem:
        return f"evaluate: {ended.problem}"
    if ended.returncode:
        names_it = Path(flip.file).name in ended.stderr
        return "named" if names_it else f"fails without naming it: {ended.stderr.strip()[-200:]}"
    if labels(root) != bench.right_labels:
        return f"other labels, {len(labels(root))} for {len(bench.right_labels)}"
    return "named" if Path(flip.file).name in ended.stderr else "harmless"


def differing(found: dict[str, bytes], right: dict[str, bytes]) -> list[str]:
    """Return the names of the files that differ."""
    return [name for name in right if found.get(name) != right[name]]


def flips(number: int = 300, seed: int = 7) -> dict[str, Any]:
    """Flip bits, one at a time, two thirds of them in the files of a run."""
    outcomes: Counter[str] = Counter()
    problems: list[str] = []
    with ExitStack() as stack:
        stub = stack.enter_context(StubEndpoint(in_good_faith))
        whole = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "runs"
        study(whole / "written", QUESTIONS)
        words = settings(whole, stub.base_url)
        for name in ("evaluate", "report"):
            ended = here(name, *(word for word in words if name == "evaluate" or keeps(word)))
            assert not ended.returncode, ended
        bench = Bench(whole, stub, labels(whole), numbers(whole))
        folder = whole / "written" / RUN
        of_run = sorted(str(f.relative_to(whole)) for f in folder.rglob("*") if f.is_file())
        of_store = sorted(str(f.relative_to(whole)) for f in whole.glob(".cache/calls.sqlite*"))
        drawn = [
            *((flip, run_file) for flip in draw_flips(whole, of_run, number - number // 3, seed)),
            *((flip, store) for flip in draw_flips(whole, of_store, number // 3, seed)),
        ]
        for flip, check in drawn:
            came = bench.after(flip, check)
            good = came in ("named", "harmless")
            outcomes[f"{Path(flip.file).name} {came if good else 'BAD'}"] += 1
            if not good:
                problems.append(f"{flip.file} byte {flip.byte} bit {flip.bit}: {came}")
    return {"flips": number, "outcomes": dict(sorted(outcomes.items())), "problems": problems}
