"""How far the overlap judge agrees with people, and which thresholds it should have.

    python tests/benchmarks/overlap_judge.py <folder of labels> [--retrieval <folder>]

Each set is split in two by question. Thresholds are chosen on the first half; what is printed,
and kept in `ACCURACIES`, is the second half under the judge's thresholds.
The folders are not part of this project: labels from ExpertQA, SciFact, HalluQA, NoMIRACL and
RAGChecker, and with --retrieval paragraphs and questions of DRCD and JSQuAD, one JSON object a
line.
"""

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.analysis.statistics.intervals import wilson_interval
from harness.judge.overlap_judge import Overlap, OverlapJudge, answer_in, claim_in, claims, pieces

GRID = np.arange(0.2, 0.91, 0.05).round(2)


@dataclass(frozen=True)
class Item:
    """One labelled decision."""

    question: str
    """Decides the half."""
    score: float
    """Share of pieces in common; 0 where a number is missing."""
    right: bool
    """What the people said."""

    @property
    def first_half(self) -> bool:
        return hashlib.sha256(self.question.encode()).digest()[0] % 2 == 0


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-lines file, gzipped or not."""
    zipped = path.with_name(path.name + ".gz")
    text = gzip.decompress(zipped.read_bytes()) if zipped.exists() else path.read_bytes()
    yield from (json.loads(line) for line in text.splitlines() if line.strip())


def score(shared: Overlap) -> float:
    """Return what the judge's threshold is held against; 0 where a number is missing."""
    return 0.0 if shared.missing else shared.share


def expertqa(folder: Path) -> Iterator[Item]:
    """Claims against the passages cited for them: Complete against Partial and Incomplete."""
    for row in rows(folder / "expertqa_claims.jsonl"):
        for claim in row["human"]["claims"]:
            cited = [row["retrieved_contexts"][i] for i in claim["evidence"]]
            if cited and claim["support"] in ("Complete", "Partial", "Incomplete"):
                premise = "\n".join(re.sub(r"^\[\d+\] \S+\s+", "", text) for text in cited)
                shared = claim_in(premise, claim["claim"])
                yield Item(row["user_input"], score(shared), claim["support"] == "Complete")


def scifact(folder: Path) -> Iterator[Item]:
    """Claims against one abstract: entailed against contradicted and unknown."""
    for row in rows(folder / "scifact_entailment.jsonl"):
        shared = claim_in(row["retrieved_contexts"][0], row["response"])
        yield Item(row["response"], score(shared), row["human"]["label"] == "entailed")


def halluqa(folder: Path) -> Iterator[Item]:
    """Whether an answer holds the best-covered of the reference answers; labelled by GPT-4."""
    for row in rows(folder / "halluqa_zh_modeljudged.jsonl"):
        references = [row["reference"], *row["alt_references"]]
        best = max(score(claim_in(row["response"], text)) for text in references)
        yield Item(row["user_input"], best, not row["human"]["hallucination"])


def nomiracl(folder: Path, language: str) -> Iterator[Item]:
    """Whether any of ten passages is relevant to the question; there is no reference."""
    for row in rows(folder / "nomiracl_answerability.jsonl"):
        if row["lang"] == language:
            passages = row["retrieved_contexts"]
            best = max(score(answer_in(text, row["user_input"], "")) for text in passages)
            yield Item(row["user_input"], best, row["human"]["any_context_relevant"])


def paragraphs(folder: Path) -> Iterator[Item]:
    """A question's own paragraph against the one that shares most with the question."""
    texts = {row["_id"]: row["text"] for row in rows(folder / "corpus.jsonl")}
    parts = {key: frozenset(pieces(text)) for key, text in texts.items()}
    lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    own = {line.split("\t")[0]: line.split("\t")[1] for line in lines}
    for row in rows(folder / "queries.jsonl"):
        asked = frozenset(pieces(row["text"]))
        right = own[row["_id"]]
        other = max((k for k in texts if k != right), key=lambda k: (len(asked & parts[k]), k))
        for key in (right, other):
            shared = answer_in(texts[key], row["text"], row["answers"][0])
            yield Item(row["text"], score(shared), key == right)


def auc(items: list[Item]) -> float:
    """Return how often a positive item scores above a negative one; ties count half."""
    up = np.array([item.score for item in items if item.right])[:, None]
    down = np.array([item.score for item in items if not item.right])
    return float((up > down).mean() + (up == down).mean() / 2)


def balanced(items: list[Item], threshold: float) -> float:
    """Return the mean of the share found right and the share found wrong."""
    return float(
        np.mean(
            [
                np.mean([(item.score >= threshold) == side for item in items if item.right == side])
                for side in (True, False)
            ]
        )
    )


def choose(sets: list[list[Item]]) -> float:
    """Return the threshold with the best mean balanced accuracy on the first halves."""
    halves = [[item for item in items if item.first_half] for items in sets]
    means = [np.mean([balanced(half, t) for half in halves]) for t in GRID]
    print("   ", "  ".join(f"{t:.2f}:{mean:.3f}" for t, mean in zip(GRID, means, strict=True)))
    return float(GRID[int(np.argmax(means))])


def say(name: str, items: list[Item], threshold: float) -> None:
    """Print the second half under the judge's threshold."""
    half = [item for item in items if not item.first_half]
    hits = sum((item.score >= threshold) == item.right for item in half)
    low, high = wilson_interval(hits, len(half))
    positive = sum(item.right for item in half) / len(half)
    print(
        f"{name:24} n={len(half):4} accuracy {hits / len(half):.3f} [{low:.3f}, {high:.3f}]"
        f" majority {max(positive, 1 - positive):.3f}"
        f" balanced {balanced(half, threshold):.3f} AUC {auc(half):.3f}"
    )


def pairs(folder: Path, judge: OverlapJudge) -> None:
    """Print how differences of precision, recall and F1 follow people's preferences."""
    scored = {row["id"]: f1(judge, row) for row in rows(folder / "ragchecker_responses.jsonl")}
    for place, name in enumerate(("correctness", "completeness", "overall")):
        ours, theirs = [], []
        for row in rows(folder / "ragchecker_pairs.jsonl"):
            for label in row["human"][name]:
                ours.append(scored[row["b"]][place] - scored[row["a"]][place])
                theirs.append(label)
        r = float(np.corrcoef(ours, theirs)[0, 1])
        print(f"ragchecker {name:13} (en) {len(ours)} labels of {len(ours) // 2} pairs: r={r:.3f}")


def f1(judge: OverlapJudge, row: dict[str, Any]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of a response; 0 where it makes no claim."""

    def supported(text: str, premise: str) -> float:
        scores = [score(claim_in(premise, claim)) for claim in claims(text)]
        return float(np.mean([s >= judge.entailed_from for s in scores])) if scores else 0.0

    p = supported(row["response"], row["reference"])
    r = supported(row["reference"], row["response"])
    return p, r, 2 * p * r / (p + r) if p + r else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels", type=Path)
    parser.add_argument("--retrieval", type=Path)
    folders = parser.parse_args()
    judge = OverlapJudge()
    entailment = {
        "expertqa (en)": list(expertqa(folders.labels)),
        "scifact (en)": list(scifact(folders.labels)),
        "halluqa (zh_hans, weak)": list(halluqa(folders.labels)),
    }
    useful = {}
    if folders.retrieval:
        for name, language in (("drcd_zh_hant", "zh_hant"), ("jsquad_ja", "ja")):
            found = list(paragraphs(folders.retrieval / name))
            useful[f"{name.split('_')[0]} ({language})"] = found
    print("entailed_from, by the first halves:", choose(list(entailment.values())))
    if useful:
        print("useful_from, by the first halves:", choose(list(useful.values())))
    for name, items in entailment.items():
        say(name, items, judge.entailed_from)
    for name, items in useful.items():
        say(name, items, judge.useful_from)
    for language in ("en", "ja", "zh"):
        items = list(nomiracl(folders.labels, language))
        say(f"nomiracl ({language})", items, judge.useful_from)
    pairs(folders.labels, judge)


if __name__ == "__main__":
    main()
