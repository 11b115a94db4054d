"""Hold what a study writes now against what another commit writes, by value.

    python -m tests.benchmarks.same_as_before --before 82fc78c

Runs `study=demo` with a checkout of the other commit and with this one, in folders of their own,
then compares, run by run: `responses.parquet`, `verdicts.parquet` and `scores.parquet`, the columns
that both have of every CSV table, and the numbers of `findings.json`. Measured seconds, and what is
computed from them, are left out. Exits with 1 and a line a difference where anything differs.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

PROJECT = Path(__file__).parents[2]
TABLES = ("responses", "verdicts", "scores")
MEASURED = ("retrieval_seconds", "generation_seconds", "seconds")
"""What a machine's clock says: columns of responses, and metrics of scores and tables."""


def main() -> None:
    """Run both, compare, print the differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--before", required=True, help="the commit to compare with")
    parser.add_argument("--study", default="demo")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git("worktree", "add", "--detach", str(tree), options.before)
        try:
            before = run(tree, Path(folder) / "before", options.study)
            after = run(PROJECT, Path(folder) / "after", options.study)
        finally:
            git("worktree", "remove", "--force", str(tree))
        found = list(differences(before, after))
    print("\n".join(found) if found else "equal by value")
    sys.exit(bool(found))


def git(*words: str) -> None:
    """Run git in the project."""
    subprocess.run(["git", "-C", str(PROJECT), *words], check=True, capture_output=True)


def run(tree: Path, root: Path, study: str) -> Path:
    """Run a study with the code of `tree`; return its folder."""
    words = ["-m", "harness.study", f"study={study}", f"root={root}"]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    subprocess.run(
        [sys.executable, *words], cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL
    )
    return next(path for path in root.iterdir() if not path.name.startswith("."))


def differences(before: Path, after: Path) -> Iterator[str]:
    """Yield what differs between two folders of one study."""
    runs = sorted(path.parent.name for path in before.glob("*/run.json"))
    if runs != sorted(path.parent.name for path in after.glob("*/run.json")):
        yield f"runs: {runs}"
        return
    compared = 0
    for name in runs:
        for table in TABLES:
            rows = [
                pq.read_table(at / name / f"{table}.parquet").to_pylist() for at in (before, after)
            ]
            yield from unequal(f"{name}/{table}", *map(timeless, rows))
            compared += len(rows[0])
    for file in sorted((before / "report").glob("*.csv")):
        frames = [pd.read_csv(at / "report" / file.name, dtype=str) for at in (before, after)]
        shared = [column for column in frames[0].columns if column in frames[1].columns]
        if gone := set(frames[0].columns) - set(shared):
            yield f"{file.name}: no column {', '.join(sorted(gone))}"
        rows = [timeless(frame[shared].to_dict("records")) for frame in frames]
        yield from unequal(file.name, *(sorted(map(repr, found)) for found in rows))
        compared += len(rows[0])
    facts = [
        json.loads((at / "report" / "findings.json").read_text("utf-8")) for at in (before, after)
    ]
    yield from unequal("findings.json", *facts)
    print(f"{compared} rows and {len(facts[0])} findings compared", file=sys.stderr)


def timeless(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without what a clock measured."""
    return [
        {name: value for name, value in row.items() if name not in MEASURED}
        for row in rows
        if row.get("metric") not in MEASURED
    ]


def unequal(place: str, one: Any, other: Any) -> Iterator[str]:
    """Yield the places in which two values differ; numbers count as equal to 1e-12."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one:
            yield from unequal(f"{place}.{key}", one[key], other.get(key))
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{place}: {len(one)} rows, now {len(other)}"
        for index, pair in enumerate(zip(one, other, strict=False)):
            yield from unequal(f"{place}[{index}]", *pair)
    elif isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12):
            yield f"{place}: {one!r}, now {other!r}"
    elif one != other:
        yield f"{place}: {one!r}, now {other!r}"


if __name__ == "__main__":
    main()
