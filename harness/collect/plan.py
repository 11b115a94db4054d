"""The plan of a collection: what is asked, of which system, before anything is asked."""

import difflib
import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from harness.collect.handover import Handover, read_handover
from harness.config.composition import Composition
from harness.config.factors import Factors, factors_of, neutral_keys, plain
from harness.config.paths import fingerprint, study_path, testset_path
from harness.config.registry import choices_of
from harness.config.run_names import run_name
from harness.config.schema import Collect, PrimaryTest, Study
from harness.errors import ConfigError, pick
from harness.metrics import METRICS
from harness.questions import TestSet, check_evidence, read_testset, select
from harness.records import Question
from harness.store import Run
from harness.systems import System

log = logging.getLogger(__name__)

QuestionRepeat = tuple[Question, int]
"""A question, and which repeat of it, counted from 0."""

PARTS = {
    "corpus": "the documents",
    "testset_fingerprint": "the test set",
    "passages_from": "passages_from",
}
"""Part of a plan's setup, other than the factors -> its name in an error."""

BUILD = " (weights, package, recording or processor of the model)"


@dataclass(frozen=True, slots=True)
class Plan:
    """What one collection asks, of which system, and the run that it writes."""

    settings: Collect
    how: Composition
    system: System
    testset: TestSet
    run: Run
    setup: dict[str, Any]
    """What must be equal for two collections to be the same run."""
    handover: Handover | None = None
    """The run whose passages are used, where the variant does no retrieval."""

    @property
    def questions(self) -> list[QuestionRepeat]:
        """The questions chosen, each with every repeat that the study asks for."""
        chosen = select(self.testset.questions, self.settings.questions, self.settings.limit)
        return [(q, repeat) for q in chosen for repeat in range(self.settings.study.repeats)]


def make_plan(settings: Collect, how: Composition) -> Plan:
    """Return the plan that the settings describe, having read the test set and hashed the corpus.

    Raises ConfigError or InputError for settings and test sets that cannot be used.
    """
    if settings.give_up_after < 1 or settings.study.repeats < 1:
        raise ConfigError("give_up_after and study.repeats must be 1 or more")
    system = settings.variant
    if system is None or "variant" not in how.choices:
        names = ", ".join(settings.study.variants)
        raise ConfigError(f"no variant chosen: give variant=<name>; this study lists {names}")
    testset = read_testset(testset_path(settings.study.testset))
    neutral = frozenset(neutral_keys(system))
    name = run_name(how.choices["variant"], how.overrides, settings.version, neutral)
    handover = read_handover(study_path(settings), settings.passages_from, testset.fingerprint)
    factors = factors_of(system, how.choices, settings.version)
    check_declarations(settings.study, factors)
    corpus = handover.facts["corpus"] if handover else system.documents()
    check_evidence(testset, corpus)
    setup = {
        "factors": plain(asdict(handover.factors(factors) if handover else factors)),
        "corpus": corpus,
        "corpus_fingerprint": fingerprint(corpus),
        "testset_fingerprint": testset.fingerprint,
        **({"passages_from": handover.record} if handover else {}),
    }
    return Plan(settings, how, system, testset, Run(study_path(settings) / name), setup, handover)


def plan_facts(plan: Plan) -> dict[str, Any]:
    """Return the part of `run.json` that is known before anything is asked."""
    return {
        "name": plan.run.name,
        "variant": plan.how.choices["variant"],
        "version": plan.settings.version,
        **plan.setup,
        "testset": {"name": plan.testset.name, "questions": len(plan.testset.questions)},
        "configuration": plain(asdict(plan.system)),
        "choices": plan.how.choices,
        "overrides": list(plan.how.overrides),
    }


def check_declarations(study: Study, factors: Factors) -> None:
    """Raise where a declared test names an unknown metric; warn where this variant lacks a factor.

    Another variant of the study may have the factor, but most often its name is misspelt, and
    after collecting it is too late to correct it.
    """
    if not study.primary:
        return
    from harness.analysis import GOLD_METRICS, RIGHT

    metrics = (RIGHT, *METRICS, *(facts.name for facts in GOLD_METRICS), *choices_of("check"))
    names = (*factors.choices, *factors.leaves, "version")
    for test in study.primary:
        pick(dict.fromkeys(metrics), test.metric, "metric")
        if test.factor not in names:
            near = difflib.get_close_matches(test.factor, names, n=1)
            guess = f"; did you mean '{near[0]}'?" if near else ""
            log.warning("study.primary: this variant has no factor '%s'%s", test.factor, guess)


def earlier_declarations(run: Run, study: Study) -> list[PrimaryTest]:
    """Return the study's tests that were declared before a run's first answers were collected."""
    recorded = run.facts()["study"].get("primary", [])
    return [test for test in study.primary if asdict(test) in recorded]


def changed_parts(facts: Mapping[str, Any], setup: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs between a finished run and a plan's setup; of the factors, their names.

    >>> before = {"factors": {"choices": {}, "leaves": {"top_k": 4, "chat.build": "1"}}}
    >>> list(changed_parts(before, {"factors": {"choices": {}, "leaves": {"top_k": 6}}}))
    ['chat.build (weights, package, recording or processor of the model)', 'top_k']
    """
    yield from changed_factors(facts["factors"], setup["factors"])
    yield from (name for part, name in PARTS.items() if facts.get(part) != setup.get(part))


def changed_factors(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of factors that differ."""
    for part in now:
        one, other = before.get(part), now[part]
        if not isinstance(one, dict) or not isinstance(other, dict):
            yield from [part] if one != other else []
            continue
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                yield name + (BUILD if name.endswith(".build") else "")
