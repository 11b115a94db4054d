"""How far published metrics agree with people, by the code of the trust table.

    python tests/benchmarks/human_labels.py <folder>

The folder holds ragchecker_pairs.jsonl and ragchecker_responses.jsonl. Two annotators said of
each of 134 pairs of answers which is more correct, more complete and better
(amazon-science/RAGChecker, Apache-2.0). The difference of RAGChecker's own scores is held against
each annotator's label: Pearson 0.4238, 0.6319 and 0.5992. Exit code 1 where one is off by more
than 0.0005. The folder is not part of this project.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness.analysis.statistics.concordance import pearson

EXPECTED = {"correctness": 0.4238, "completeness": 0.6319, "overall": 0.5992}
"""What people were asked -> the correlation with RAGChecker's score for it."""


def rows(file: Path) -> list[dict[str, Any]]:
    """Return the file's objects."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def main() -> int:
    """Print each correlation beside the expected one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder

    pairs = rows(folder / "ragchecker_pairs.jsonl")
    scores = {
        row["id"]: row["source_metrics"]["ragchecker"]
        for row in rows(folder / "ragchecker_responses.jsonl")
    }
    off = False
    for asked, expected in EXPECTED.items():
        metric = f"{asked}_label"
        labels = [label for pair in pairs for label in pair["human"][asked]]
        differences = [
            scores[pair["b"]][metric] - scores[pair["a"]][metric]
            for pair in pairs
            for _ in pair["human"][asked]
        ]
        found = pearson(np.array(differences, float), np.array(labels, float))
        off = off or found is None or abs(found - expected) > 0.0005
        print(f"{asked:<13} {found:.4f}  expected {expected:.4f}  "
              f"labels={len(labels)} pairs={len(pairs)}")  # fmt: skip
    return int(off)


if __name__ == "__main__":
    raise SystemExit(main())
