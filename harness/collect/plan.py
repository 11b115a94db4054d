"""What one collection is about, and the tests its study declares, before anything is asked."""

import difflib
import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from harness.collect.handover import Handover, handover
from harness.config.composition import Composition, choices_of
from harness.config.factors import Factors, factors_of, neutral_keys, plain
from harness.config.paths import PROJECT, fingerprint, study_path, testset_path
from harness.config.run_names import run_name
from harness.config.schema import Collect, Declared, Study
from harness.errors import ConfigError, pick
from harness.metrics import METRICS
from harness.questions import TestSet, check_evidence, read_testset, select
from harness.records import Question
from harness.store import Run
from harness.systems import System

if TYPE_CHECKING:
    pass


log = logging.getLogger(__name__)


def check_declared(study: Study, factors: Factors) -> None:
    """Raise where a declared test names no metric; warn where this variant has no such factor.

    Another variant of the study may have it, but most often a name is mistyped, and after
    collecting it is too late to mend.
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


def declared_before(run: Run, study: Study) -> list[Declared]:
    """Return the tests that were declared when a run's first answers were collected already."""
    recorded = run.facts()["study"].get("primary", [])
    return [test for test in study.primary if asdict(test) in recorded]


IN_WORDS = {
    "corpus": "the documents",
    "testset_fingerprint": "the test set",
    "passages_from": "passages_from",
}
"""Part of a plan's setup, but the factors -> what an error calls it."""


BUILD_TOLD = " (weights, package, recording or processor of the model)"


@dataclass(frozen=True, slots=True)
class Plan:
    """What one collection is about, before anything is asked."""

    settings: Collect
    how: Composition
    system: System
    testset: TestSet
    run: Run
    setup: dict[str, Any]
    """What must be equal for two collections to be the same run."""
    handover: Handover | None = None
    """The run whose passages are read, where the variant does not retrieve for itself."""

    @property
    def wanted(self) -> list[tuple[Question, int]]:
        """The questions chosen, each as often as the study repeats them."""
        chosen = select(self.testset.questions, self.settings.questions, self.settings.limit)
        return [(q, repeat) for q in chosen for repeat in range(self.settings.study.repeats)]


def planned(settings: Collect, how: Composition) -> Plan:
    """Return what the settings ask for, having read the test set and hashed the corpus."""
    if settings.give_up_after < 1 or settings.study.repeats < 1:
        raise ConfigError("give_up_after and study.repeats must be 1 or more")
    system = settings.variant
    if system is None or "variant" not in how.choices:
        listed = ", ".join(settings.study.variants)
        raise ConfigError(f"no variant chosen: give variant=<name>; this study lists {listed}")
    testset = read_testset(testset_path(settings.study.testset))
    neutral = frozenset(neutral_keys(system))
    name = run_name(how.choices["variant"], how.overrides, settings.version, neutral)
    given = handover(study_path(settings), settings.passages_from, testset.fingerprint)
    factors = factors_of(system, how.choices, settings.version)
    check_declared(settings.study, factors)
    corpus = given.facts["corpus"] if given else system.documents(PROJECT)
    check_evidence(testset, corpus)
    setup = {
        "factors": plain(asdict(given.factors(factors) if given else factors)),
        "corpus": corpus,
        "corpus_fingerprint": fingerprint(corpus),
        "testset_fingerprint": testset.fingerprint,
        **({"passages_from": given.record} if given else {}),
    }
    return Plan(settings, how, system, testset, Run(study_path(settings) / name), setup, given)


def differing(facts: Mapping[str, Any], setup: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a run was collected with that is not the same now: of its factors, which.

    >>> before = {"factors": {"choices": {}, "leaves": {"top_k": 4, "chat.build": "1"}}}
    >>> list(differing(before, {"factors": {"choices": {}, "leaves": {"top_k": 6}}}))
    ['chat.build (weights, package, recording or processor of the model)', 'top_k']
    """
    yield from differing_factors(facts["factors"], setup["factors"])
    yield from (said for part, said in IN_WORDS.items() if facts.get(part) != setup.get(part))


def differing_factors(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of factors that are not the same."""
    for part in now:
        one, other = before.get(part), now[part]
        if not isinstance(one, dict) or not isinstance(other, dict):
            yield from [part] if one != other else []
            continue
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                yield name + (BUILD_TOLD if name.endswith(".build") else "")


def described(plan: Plan) -> dict[str, Any]:
    """Return what `run.json` says of a run before anything is asked."""
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
