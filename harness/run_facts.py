"""What is known of runs and metrics before any score is looked at, read from runs' records."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.config.naming import NOT_PART_OF_A_NAME
from harness.judge import own_layers
from harness.metrics import METRICS, is_refusal
from harness.records import Layer, Response, Score
from harness.store import Run

if TYPE_CHECKING:
    from harness.analysis import MetricFacts, RunFacts

NOT_TO_REPEAT = NOT_PART_OF_A_NAME - {"version"}
"""Overrides that say where or how much to run: a command made from a run leaves them out."""

OF_THE_STUDY = ("study.corpus", "study.testset", "study.language", "study.repeats")
"""Overrides of a study without which the same run would not come out."""


def metric_facts(
    scores: Mapping[str, Sequence[Score]], runs: Sequence[Run], judge: str
) -> list["MetricFacts"]:
    """Return what is known of each metric that is scored: the table's, checks of one's own, gold.

    A metric that nobody knows any more is told by its numbers alone: neither way is better.
    """
    from harness.analysis import GOLD_METRICS, MetricFacts

    named = dict.fromkeys(score.metric for rows in scores.values() for score in rows)
    own = {name: layer for run in runs for name, layer in own_layers(run.judges()[judge]).items()}
    facts = {
        name: MetricFacts(name, metric.layer, metric.higher_is_better, metric.bounded)
        for name, metric in METRICS.items()
    }
    facts |= {name: MetricFacts(name, layer) for name, layer in own.items()}
    facts |= {gold.name: gold for gold in GOLD_METRICS}
    facts |= {
        name: MetricFacts(name, Layer.OVERALL, None, bounded=False)
        for name in named
        if name not in facts
    }
    return [known for name, known in facts.items() if name in named]


def run_facts(
    run: Run, judge: str, responses: Sequence[Response], scores: Sequence[Score]
) -> "RunFacts":
    """Return what analysis has to know of one run."""
    from harness.analysis import RunFacts

    facts: Mapping[str, Any] = run.facts()
    factors, made_with = facts["factors"], facts["made_with"]
    identity: Mapping[str, Any] = run.judges()[judge]
    return RunFacts(
        name=run.name,
        variant=facts["variant"],
        choices=factors["choices"],
        leaves=factors["leaves"],
        inactive=frozenset(factors["inactive"]),
        corpus=facts["corpus_fingerprint"],
        testset=facts["testset_fingerprint"],
        asked=frozenset(row.question_id for row in responses),
        refused=frozenset(
            r.question_id for r in responses if r.response and is_refusal(r.response)
        ),
        partial=facts["partial"],
        part=part_of(run) if facts["partial"] else None,
        notes=tuple(made_with["notes"]),
        overrides=tuple(word for word in facts["overrides"] if to_repeat(word)),
        scored_by={s.metric: mark(identity, s.metric) for s in scores if s.judge is not None},
        generator=model(made_with["models"].get("chat"), made_with["generator"]),
        judge=model(identity.get("chat"), judge),
    )


def part_of(run: Run) -> tuple[int, int] | None:
    """Return how many questions were asked, of how many; None where the latter is not known."""
    of = (run.facts().get("testset") or {}).get("questions")
    return None if of is None else (len({row.question_id for row in run.responses()}), of)


def mark(identity: Mapping[str, Any], metric: str) -> str:
    """Return a hash of what shaped a metric's labels: the judge, or a check of one's own too.

    Other checks of one's own have no part in it.
    """
    shaped = {**identity, "own": identity.get("own", {}).get(metric)}
    return hashlib.sha256(json.dumps(shaped, sort_keys=True).encode()).hexdigest()


def model(identity: Mapping[str, Any] | None, label: str) -> str | None:
    """Return the name of a model: that of its identity, else its label; None where there is none.

    >>> model({"model": "llama3.1"}, "ours"), model({"weights": "0f3c"}, "ours"), model(None, "it")
    ('llama3.1', 'ours', None)
    """
    return None if identity is None else str(identity.get("model") or label)


def to_repeat(word: str) -> bool:
    """Say whether an override must be given again to make a run like this one.

    >>> [to_repeat(w) for w in ("variant.top_k=6", "prompt=strict", "variant=a", "limit=2")]
    [True, True, False, False]
    """
    key, _, package = word.lstrip("+~").partition("=")[0].partition("@")
    if key.startswith("variant.") or key in OF_THE_STUDY:
        return True
    return key.partition(".")[0] not in NOT_TO_REPEAT and not package.startswith("judge")


def ordered(facts: Sequence["RunFacts"], variants: Sequence[str]) -> list["RunFacts"]:
    """Return the runs in the order in which the study lists its variants, others after them.

    A run that read another's passages comes last: it stands for no configuration of its own.
    """
    from harness.analysis.order import natural

    place = {variant.split()[0]: number for number, variant in enumerate(variants)}

    def order(run: "RunFacts") -> tuple[object, ...]:
        borrowed = run.passages_from is not None
        return borrowed, place.get(run.variant, len(place)), natural(run.name)

    return sorted(facts, key=order)
