"""How long the whole analysis takes for 100 variants x 1,000 questions x 10 metrics.

    python tests/benchmarks/report_scale.py --json

A million scores, two factors of ten values each: 900 fair contrasts, 9,900 tests. Building the
rows is not counted; joining them is. The page is made from the same rows, after the peak of memory
is read. Never a timed test: the figure depends on the machine.
"""

import argparse
import json
import resource
import time
from itertools import product
from pathlib import Path

import numpy as np

from harness.analysis import MetricFacts, RunFacts, analyse, study_table
from harness.records import Layer, Passage, Question, Response, Score
from harness.render import StudyFacts
from harness.render.html import Details, html_page

METRICS = tuple(
    MetricFacts(f"metric_{n}", layer, bounded=layer is not Layer.COST)
    for n, layer in enumerate(
        [Layer.RETRIEVAL] * 3 + [Layer.GENERATION] * 4 + [Layer.OVERALL] * 2 + [Layer.COST]
    )
)


def rows_of(
    run: int, ids: list[str], ease: np.ndarray, pool: list[Passage]
) -> tuple[list[Score], list[Response], dict[int, int]]:
    """Draw one run's scores, answers and grades; half of the runs answer a little better."""
    random, shared = np.random.default_rng(run), np.random.default_rng(1_000 + run // 10)
    ability = 1 / (1 + np.exp(-(ease + 0.3 * (run % 2))))
    units = random.integers(2, 9, (len(ids), len(METRICS)))
    values = random.binomial(units, ability[:, None]) / units
    missing = random.random(values.shape) < 0.03
    # runs of one k have the same passages, and so the same retrieval scores
    retrieval = [k for k, facts in enumerate(METRICS) if facts.layer is Layer.RETRIEVAL]
    values[:, retrieval] = shared.integers(0, 6, (len(ids), len(retrieval))) / 5
    missing[:, retrieval] = False
    scores = [
        Score(q, 0, facts.name, None, None, "judge_unparsable", "judge")
        if missing[j, k]
        else Score(q, 0, facts.name, float(values[j, k]), int(units[j, k]), "ok", "judge")
        for j, q in enumerate(ids)
        for k, facts in enumerate(METRICS)
    ]
    first = shared.integers(0, 40, len(ids))
    responses = [
        Response(q, 0, q, q, "text", f"{run} {q}", tuple(pool[at : at + 9]), 9, 50)
        for q, at in zip(ids, first.tolist(), strict=True)
    ]
    return scores, responses, dict(enumerate((random.random(len(ids)) < ability).astype(int)))


def main() -> None:
    """Print the time, the peak of memory, and how much was compared."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--page", type=Path, help="file to keep the page in")
    chosen = parser.parse_args()

    ids = [f"q{n}" for n in range(1, chosen.questions + 1)]
    ease = np.random.default_rng(0).normal(0.4, 1.2, len(ids))
    pool = [Passage(f"d#1.{n}", "d", 1, "text", f"passage {n}") for n in range(50)]
    facts = [
        RunFacts(f"k{k}_{prompt}", f"k{k}", {"prompt": f"p{prompt}"}, {"top_k": k})
        for k, prompt in product(range(1, 11), range(10))
    ]
    drawn = {run.name: rows_of(n, ids, ease, pool) for n, run in enumerate(facts)}

    start = time.perf_counter()
    questions = tuple(Question(q, q, q, "text") for q in ids)
    table = study_table(
        facts,
        questions,
        METRICS,
        {name: scores for name, (scores, _, _) in drawn.items()},
        {name: responses for name, (_, responses, _) in drawn.items()},
        {(n, ids[at], 0): g for n, (_, _, grades) in drawn.items() for at, g in grades.items()},
    )
    joined = time.perf_counter()
    analysis = analyse(table)
    end = time.perf_counter()
    found = {
        "seconds": round(end - start, 1),
        "joining_seconds": round(joined - start, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "scores": len(facts) * len(ids) * len(METRICS),
        "contrasts": len(analysis.contrasts),
        "tests": analysis.family.tests,
        "interactions": len(analysis.interactions),
        "findings": len(analysis.findings),
    }
    details = Details(
        questions,
        {name: tuple(responses) for name, (_, responses, _) in drawn.items()},
        scores={name: tuple(scores) for name, (scores, _, _) in drawn.items()},
    )
    page = html_page(analysis, StudyFacts("large"), details)
    found["page_megabytes"] = round(len(page.encode()) / 1e6, 1)
    found["page_seconds"] = round(time.perf_counter() - end, 1)
    if chosen.page:
        chosen.page.write_text(page, "utf-8")
    print(json.dumps(found) if chosen.json else "\n".join(f"{k}={v}" for k, v in found.items()))


if __name__ == "__main__":
    main()
