"""Whether the product's retrieval metrics give what others published for their runs.

    python tests/benchmarks/jqara.py <folder with *.trec.gz, qrels.trec.gz, expected_metrics.json>

JQaRA's evaluator (hotchpotch/JQaRA, MIT) published nDCG@10 and MRR@10 of its systems over 1,667
Japanese questions. Exit code 1 where one is off by more than 0.0005. The folder is not part of
this project; `tests/analysis/test_gold.py` holds the ranks of the relevant passages alone.
"""

import argparse
import gzip
import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from harness.analysis import rank_scores

CUTOFF = 10
ALLOWED = 0.0005


def rows(file: Path) -> list[list[str]]:
    """Return the words of each line."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [line.split() for line in lines]


def main() -> int:
    """Print each system's figures beside the published ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder

    gold: dict[str, dict[str, int]] = defaultdict(dict)
    for question, _, passage, relevance in rows(folder / "qrels.trec.gz"):
        gold[question][passage] = int(relevance)
    expected = json.loads((folder / "expected_metrics.json").read_text("utf-8"))
    off = False
    for system, figures in expected.items():
        ranked: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for question, _, passage, rank, *_ in rows(folder / f"{system}.trec.gz"):
            ranked[question].append((int(rank), passage))
        lists = {question: [name for _, name in sorted(hits)] for question, hits in ranked.items()}
        scores = rank_scores(lists, gold, CUTOFF).values()
        found = {
            "ndcg@10": fmean(score["gold_ndcg"] for score in scores),
            "mrr@10": fmean(score["gold_mrr"] for score in scores),
        }
        published = figures["published_readme"] or figures["recomputed_here"]
        for name, value in found.items():
            difference = value - published[name]
            off = off or abs(difference) > ALLOWED
            print(f"{system:<24} {name:<8} {value:.4f}  published {published[name]:.4f} "
                  f" {difference:+.4f}  n={len(scores)}")  # fmt: skip
    return int(off)


if __name__ == "__main__":
    raise SystemExit(main())
