"""The same simulated studies through this project and its peers: who errs, who finds, how exactly.

    python -m tests.peers --json               every number as JSON
    python -m tests.peers --studies 100        a table; 12 minutes on two busy cores
    python -m tests.peers --folder /tmp/peers  keeps environments and peers' results, and resumes;
                                               to be removed where a world changes

Peers: evalstats (`compare`), truescore (`mcnemar`, `paired_bootstrap`, `holm`, `ppi_compare`) and
Lasagna (`significance_test`, `pairwise_significance`), each by its defaults, in a virtual
environment that this script makes with pip. Lasagna is installed without its dependencies (torch
and more, several GB), which its statistics do not use. evalstats refuses fewer than 15 questions.
Where a peer cannot be installed or refuses, its column is NA with the reason.

Worlds (`worlds.py`): two runs, with and without an effect, in right/wrong, ratio and continuous
scores, right/wrong in 3 repeats, and scores of which 85 % are tied; six variants (three prompts
times two temperatures); and 100 questions with a judge and few grades, 30 % of the answers changed.

Cells: `error` is the share of null studies with a claim at 0.05, `wrong claims` that of studies of
six variants with a claim that is not true although others are; `coverage` and `half-width` are
those of the 95 % interval, `power` the share of studies with a true claim. At equal grades, the
mean and the difference are corrected by a judge, with as many answers graded: one that both runs
gave costs one grade, for every column. Ours grades only answers that changed, the others draw from
all questions.

First (*) are, within two standard errors of the paired difference to the best: the smallest error
and best coverage, where all that reach their nominal level are equal; the greatest power among
those that keep their level; the smallest half-width among those that cover with and without an
effect. Below the table are the cells in which this project is not first. Seeds are fixed, so a run
repeats to the digit.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.records import Floats
from tests.peers.our_column import our_column
from tests.peers.worlds import World, worlds

OURS = "ours"
PEERS: dict[str, tuple[list[str], ...]] = {
    "evalstats": (["evalstats==0.3.3"],),
    "truescore": (["truescore==0.7.4"],),
    "lasagna-rag": (["--no-deps", "lasagna-rag==0.1.0"], ["numpy", "loguru", "pydantic"]),
}
"""Peer -> what pip installs, one call each."""

Column = Mapping[str, Floats] | str
"""`claimed`, `low` and `high` of (studies, pairs); or the reason why there are none."""
Values = Floats | str
"""(studies,) of one column in one cell; or the reason why there are none."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One number of every column."""

    world: str
    n: int
    metric: str
    columns: dict[str, Values]
    allowed: frozenset[str]
    """Columns that keep the level that this number depends on."""

    @property
    def first(self) -> list[str]:
        """The columns that are first, or equal first."""
        known = {name: v for name, v in self.columns.items() if not isinstance(v, str)}
        if self.metric.startswith(("error", "wrong", "coverage")):
            reached = [name for name, values in known.items() if nominal(self.metric, values)]
            if reached:
                return reached
        else:
            known = {name: values for name, values in known.items() if name in self.allowed}
        turn = -1 if self.metric.startswith(("error", "wrong", "half-width")) else 1
        best = max(known.values(), key=lambda values: turn * values.mean(), default=None)
        return [name for name, values in known.items() if equal(values, best)]


def nominal(metric: str, values: Floats) -> bool:
    """Return whether an error or a coverage reaches its level, within its Monte-Carlo error."""
    error = 2 * np.sqrt(0.05 * 0.95 / values.size)
    off = 1 - values.mean() if metric.startswith("coverage") else values.mean()
    return bool(off <= 0.05 + error)


def equal(values: Floats, best: Floats | None) -> bool:
    """Return whether two columns of the same studies are within Monte-Carlo error."""
    assert best is not None
    apart = values - best
    return bool(abs(apart.mean()) <= 2 * standard_error(apart))


def standard_error(values: Floats) -> float:
    """Return the Monte-Carlo error of a mean."""
    return float(values.std(ddof=1)) / float(np.sqrt(values.size))


def per_study(world: World, metric: str, pair: int, column: Column) -> Values:
    """Return a column's number of every study of a world."""
    if isinstance(column, str):
        return column
    truth, claimed = np.sign(world.truth), column["claimed"]
    low, high = column["low"][:, pair], column["high"][:, pair]
    if metric not in ("coverage", "half-width") and np.isnan(claimed).all(axis=0)[0]:
        return "claims nothing"
    true = claimed == truth
    if metric == "power":
        return np.asarray((true & (truth != 0)).any(axis=1), float)
    if metric in ("error", "wrong claims"):
        return np.asarray(((np.abs(claimed) == 1) & ~true).any(axis=1), float)
    if np.isnan(low).any():
        return "gives none"
    value = world.truth[pair]
    covered = (low <= value + 1e-9) & (value - 1e-9 <= high)
    return np.asarray(covered, float) if metric == "coverage" else np.asarray((high - low) / 2)


def cells(studies: list[World], found: Mapping[str, Mapping[str, Column]]) -> Iterator[Cell]:
    """Yield every cell.

    Args:
        studies: All worlds.
        found: World -> column -> what it says.
    """
    for null in studies:
        effect = next(w for w in studies if (w.kind, w.n) == (null.kind, null.n) and w.effect)
        if null.effect:
            continue

        def cell(
            world: World, metric: str, allowed: frozenset[str] = frozenset(), pair: int = 0
        ) -> Cell:
            label = f"{metric}{', mean' * (pair == 1)}"
            if metric in ("coverage", "half-width"):
                label += ", effect" if world.effect else ", null"
            values = {
                name: per_study(world, metric, pair, column)
                for name, column in found[world.name].items()
            }
            return Cell(world.kind, world.n, label, values, allowed)

        two = len(null.truth) < 3
        errors = [cell(null, "error")] + [cell(effect, "wrong claims")] * (not two)
        yield from errors
        yield cell(effect, "power", frozenset.intersection(*map(keeping, errors)))
        for pair in range(len(null.truth)) if two else ():
            covered = [cell(world, "coverage", pair=pair) for world in (null, effect)]
            yield from covered
            both = frozenset.intersection(*map(keeping, covered))
            for world in (null, effect):
                yield cell(world, "half-width", both, pair)


def keeping(cell: Cell) -> frozenset[str]:
    """Return the columns of an error or a coverage that reach its level."""
    return frozenset(
        name
        for name, values in cell.columns.items()
        if not isinstance(values, str) and nominal(cell.metric, values)
    )


def environment(folder: Path, peer: str) -> tuple[Path, str]:
    """Return the Python of a peer's environment, made if need be, and the peer's version.

    Raises:
        CalledProcessError: pip failed.
    """
    home = folder / "environments" / peer
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    version = f"from importlib.metadata import version; print(version({peer!r}))"
    if subprocess.run([python, "-c", version], capture_output=True, check=False).returncode:
        for words in PEERS[peer]:
            command = [python, "-m", "pip", "install", "--quiet", *words]
            subprocess.run(command, check=True, capture_output=True, text=True)
    done = subprocess.run([python, "-c", version], check=True, capture_output=True, text=True)
    return python, done.stdout.strip()


def compare_columns(folder: Path, studies: list[World]) -> tuple[dict[str, str], list[Cell]]:
    """Send all studies through all columns; return the versions of the peers and the cells."""
    (folder / "worlds").mkdir(parents=True, exist_ok=True)
    for world in studies:
        path = folder / "worlds" / f"{world.name}.npz"
        np.savez(path, binary=np.array(world.binary), **world.arrays)
    versions, running = {}, {}
    for peer in PEERS:
        try:
            python, versions[peer] = environment(folder.parent, peer)
        except subprocess.CalledProcessError as error:
            versions[peer] = f"not installed: {(error.stderr or str(error)).strip()[-200:]}"
            continue
        script = Path(__file__).with_name("peer_columns.py")
        running[peer] = subprocess.Popen([python, script, peer, folder])
    found: dict[str, dict[str, Column]] = {w.name: {OURS: our_column(w)} for w in studies}
    for peer in PEERS:
        failed = peer in running and running[peer].wait() != 0
        for world in studies:
            path = folder / peer / f"{world.name}.npz"
            missing = "the script failed" if failed else versions[peer]
            found[world.name][peer] = read(path) if path.exists() else missing
    return versions, list(cells(studies, found))


def read(path: Path) -> Column:
    """Return what a peer wrote of one world."""
    with np.load(path) as data:
        return str(data["reason"]) if "reason" in data else dict(data)


def as_json(cell: Cell) -> dict[str, object]:
    """Return one cell with each column's mean and its Monte-Carlo error."""
    columns = {
        name: {"reason": values}
        if isinstance(values, str)
        else {"value": float(values.mean()), "error": standard_error(values)}
        for name, values in cell.columns.items()
    }
    named = {"world": cell.world, "n": cell.n, "metric": cell.metric}
    return named | {"columns": columns, "first": cell.first}


def as_line(cell: Cell) -> str:
    """Return one row of the table."""
    texts = [
        "NA"
        if isinstance(values, str)
        else f"{values.mean():.3f} ±{standard_error(values):.3f}{'*' * (name in cell.first)}"
        for name, values in cell.columns.items()
    ]
    return " | ".join(["", f"{cell.world} {cell.n}", cell.metric, *texts, ""]).strip()


def not_first(found: list[Cell]) -> list[str]:
    """Name the cells in which this project is not first, with who is."""
    return [
        f"{cell.world} {cell.n} {cell.metric}: {', '.join(cell.first) or 'nobody'}"
        for cell in found
        if OURS not in cell.first and not isinstance(cell.columns[OURS], str)
    ]


def main() -> int:
    """Print the table, or all of it as JSON."""
    assert __doc__
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=200, help="a world (a third for six runs)")
    parser.add_argument("--folder", type=Path, help="where to keep environments and results")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (chosen.folder or Path(temporary)) / str(chosen.studies)
        versions, found = compare_columns(folder.absolute(), list(worlds(chosen.studies)))
    behind = not_first(found)
    if chosen.json:
        rows = [as_json(cell) for cell in found]
        print(json.dumps({"versions": versions, "cells": rows, "not_first": behind}, indent=1))
        return 0
    print(" ".join(f"{name}={version}" for name, version in versions.items()))
    print("| world | cell |", " | ".join([OURS, *PEERS]), "|\n|", "---|" * (len(PEERS) + 3))
    print("\n".join(map(as_line, found)))
    print(f"not first in {len(behind)} of {len(found)} cells:", *behind, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
