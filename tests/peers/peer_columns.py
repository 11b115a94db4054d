"""What each peer says of the studies of a world; runs in that peer's own environment.

    python peer_columns.py PEER FOLDER

Reads FOLDER/worlds/*.npz and writes FOLDER/PEER/*.npz.

Each peer is called as its own documentation and command line do, with its defaults.
"""

import importlib.util
import logging
import sys
import types
import warnings
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

Found = tuple[Any, Any, Any]
"""(claimed, low, high), each (pairs,): -1, 0 or 1, and the interval of right - left, or nan."""


def sign(mean: float, p: float) -> int:
    """Return what is claimed of a difference."""
    return int(np.sign(mean)) if p <= 0.05 else 0


def evalstats(arrays: dict[str, Any]) -> Found:
    """`compare` of a table of scores; of grades, `judge_debias_mean_ci`."""
    import evalstats as package
    import pandas as pd

    if "order" in arrays:
        human = np.where(arrays["drawn"] > 0, arrays["right"][1], np.nan)
        mean = package.judge_debias_mean_ci(arrays["judged"][1], human, rng=0)
        return [np.nan] * 2, [np.nan, mean.ci_low], [np.nan, mean.ci_high]
    scores = arrays["scores"]
    runs, questions, repeats = np.indices(scores.shape).reshape(3, -1)
    table = pd.DataFrame({"model": [f"v{run}" for run in runs], "score": scores.ravel()})
    table["item"] = [f"q{question}" for question in questions]
    if scores.shape[2] > 1:
        table["run"] = repeats
    kind = "binary" if np.isin(scores, (0, 1)).all() and arrays["binary"] else "continuous"
    data = package.load_from(table, metric_cols={"score": kind})
    found = package.compare(data, factors="model", metric="score", alpha=0.05)
    rows = [found.pairwise.get(f"v{j}", f"v{i}") for i, j in combinations(range(len(scores)), 2)]
    claimed = [sign(row.point_diff, row.p_value) for row in rows]
    if len(scores) > 2:  # its intervals are then simultaneous
        return claimed, [np.nan] * len(rows), [np.nan] * len(rows)
    return claimed, [row.ci_low for row in rows], [row.ci_high for row in rows]


def truescore(arrays: dict[str, Any]) -> Found:
    """`mcnemar` or `paired_bootstrap`, then `holm`; `ppi_compare` and `ppi_estimate` of grades."""
    import truescore as package

    if "order" in arrays:
        judged, right, at = arrays["judged"], arrays["right"], np.flatnonzero(arrays["drawn"])
        both = package.ppi_compare(judged[1], judged[0], right[1][at], right[0][at], at)
        mean = package.ppi_estimate(judged[1], right[1][at], at)
        sure = sign(both.difference, both.p_value)
        return [sure, np.nan], [both.low, mean.low], [both.high, mean.high]
    scores = arrays["scores"]
    rows = []
    for i, j in combinations(range(len(scores)), 2):
        if scores.shape[2] > 1:
            clusters = np.repeat(np.arange(scores.shape[1]), scores.shape[2])
            row = package.paired_bootstrap(scores[j].ravel(), scores[i].ravel(), clusters=clusters)
        elif arrays["binary"]:
            row = package.mcnemar(scores[j, :, 0].astype(int), scores[i, :, 0].astype(int))
        else:
            row = package.paired_bootstrap(scores[j, :, 0], scores[i, :, 0])
        rows.append(row)
    adjusted = package.holm([row.p_value for row in rows])
    claimed = [sign(row.difference, p) for row, p in zip(rows, adjusted, strict=True)]
    return claimed, [row.low for row in rows], [row.high for row in rows]


def lasagna(arrays: dict[str, Any]) -> Found:
    """`significance_test` of two variants, `pairwise_significance` of more."""
    if "lasagna" not in sys.modules:
        spec = importlib.util.find_spec("lasagna")
        root = Path(spec.origin).parent  # type: ignore[union-attr, arg-type]
        # its own __init__ modules would import torch and LangChain
        for name in ("lasagna", "lasagna.core", "lasagna.knowledge_evaluation_sdk"):
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = [str(root.joinpath(*name.split(".")[1:]))]
    from lasagna.knowledge_evaluation_sdk.results import BenchmarkResults
    from lasagna.knowledge_evaluation_sdk.runner import TaskResult
    from loguru import logger

    logger.remove()
    scores = arrays["scores"]
    tasks = [
        TaskResult(
            f"{run} {repeat}",
            "benchmark",
            f"v{run}",
            repeat,
            per_sample_scores=[
                {"_sample_id": at, "score": float(value)}
                for at, value in enumerate(scores[run, :, repeat])
            ],
        )
        for run in range(len(scores))
        for repeat in range(scores.shape[2])
    ]
    results = BenchmarkResults(tasks)
    if len(scores) == 2:
        row = results.significance_test("v1", "v0", "score", "benchmark")
        low, high = row["confidence_interval"]
        return [sign(row["difference"], row["p_value"])], [low], [high]
    found = {}
    for row in results.pairwise_significance("score", "benchmark"):
        i, j = (int(row[side][1:]) for side in ("config_a", "config_b"))
        towards = 1 if i > j else -1
        found[min(i, j), max(i, j)] = sign(row["difference"] * towards, row["p_adjusted"])
    claimed = [found[pair] for pair in combinations(range(len(scores)), 2)]
    return claimed, [np.nan] * len(claimed), [np.nan] * len(claimed)


PEERS: dict[str, Callable[[dict[str, Any]], Found]] = {
    "evalstats": evalstats,
    "truescore": truescore,
    "lasagna-rag": lasagna,
}


def main(peer: str, folder: Path) -> None:
    """Analyse the worlds of a folder, but for those that are there already."""
    warnings.simplefilter("ignore")
    logging.disable()
    (folder / peer).mkdir(exist_ok=True)
    for source in sorted((folder / "worlds").glob("*.npz")):
        target = folder / peer / source.name
        if not target.exists():
            with np.load(source) as data:
                np.savez(target, **column(peer, dict(data)))


def column(peer: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the findings of all studies, or the `reason` why there are none."""
    if peer == "lasagna-rag" and "order" in arrays:
        return {"reason": "corrects nothing by grades"}
    binary, found = bool(arrays.pop("binary")), []
    for at in range(len(next(iter(arrays.values())))):
        study = {name: values[at] for name, values in arrays.items()}
        try:
            found.append(PEERS[peer]({**study, "binary": binary}))
        except Exception as error:  # noqa: BLE001 whatever a peer raises is its answer
            return {"reason": f"{type(error).__name__}: {error}"[:120]}
    claimed, low, high = (np.array(part, float) for part in zip(*found, strict=True))
    return {"claimed": claimed, "low": low, "high": high}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
