"""The plan of a collection: what is asked, of which system, before anything is asked.

A handover is part of it: one variant's generator answers from the passages that another run
retrieved. Where two runs differ in retrieval and in generation, each side's generator on the other
side's passages shows which of the two made the difference.
"""

import difflib
import json
import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness.config.composition import Composition
from harness.config.conf import choices_of
from harness.config.factors import Factors, factors_of, neutral_keys, plain
from harness.config.paths import run_name, study_path, testset_path
from harness.config.schema import Collect, Expected, PrimaryTest, Study
from harness.errors import ConfigError, RunError, pick
from harness.llm.call_store import MODES
from harness.metrics import METRICS
from harness.questions import TestSet, check_evidence, read_testset, select
from harness.records import PASSAGES_FROM, Answer, Question, Response, acts_after_retrieval
from harness.store import Run, chosen_runs
from harness.systems import Found, Provenance, System
from harness.text import sha256

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
class Handover:
    """A finished run as the source of passages."""

    run: Run
    facts: Mapping[str, Any]
    responses: tuple[Response, ...]

    @property
    def record(self) -> dict[str, str]:
        """The run's name, and the SHA-256 of all that it retrieved."""
        passages = [
            [r.question_id, r.repeat, [[p.id, p.text] for p in r.passages]] for r in self.responses
        ]
        text = json.dumps(passages, ensure_ascii=False)
        return {"run": self.run.name, "sha256": sha256(text)}

    def passages_for(self, questions: Collection[tuple[Question, int]]) -> Found:
        """Return (question id, repeat) -> what the run retrieved; no entry where the run failed.

        A repeat that the run does not have gets the passages of its first one.
        """
        asked = {r.question_id for r in self.responses}
        if missing := sorted({question.id for question, _ in questions} - asked):
            raise RunError(
                f"{self.run.name} was not asked {', '.join(missing)}, so it has no passages for "
                "them; collect that run completely first, or choose with questions=[...]"
            )
        answers = {(r.question_id, r.repeat): r for r in self.responses if r.response is not None}
        rows = {
            (question.id, repeat): answers.get((question.id, repeat), answers.get((question.id, 0)))
            for question, repeat in questions
        }
        return {
            key: Answer("", r.passages, r.k_requested, r.corpus_size, None, r.retrieval_seconds)
            for key, r in rows.items()
            if r is not None
        }

    def factors(self, variant: Factors) -> Factors:
        """Return the factors of the combination: retrieval from the run, generation from `variant`.

        So a contrast with the run is one of generation alone, and a contrast with the variant's
        own run is one of retrieval alone. `passages_from` is inactive beside them, except where
        the two differ in `version`, which may act on either side.
        """
        source = self.facts["factors"]
        if variant.choices.get("chat") == "extractive":
            check_one_embedder(variant, source)
        leaves = combined(source["leaves"], variant.leaves)
        source_version, version = leaves.pop("version", None), variant.leaves.get("version")
        if version is not None:
            leaves["version"] = version
        inactive = {n for n in source["inactive"] if not acts_after_retrieval(n)} - {PASSAGES_FROM}
        inactive |= {name for name in variant.inactive if acts_after_retrieval(name)}
        inactive |= {PASSAGES_FROM} if version == source_version else set()
        return Factors(
            choices={n: str(v) for n, v in combined(source["choices"], variant.choices).items()},
            leaves={**leaves, PASSAGES_FROM: self.run.name},
            inactive=tuple(sorted(inactive)),
        )

    def made_with(self, own: Provenance) -> Provenance:
        """Return what shaped the answers: the run's index and embedder, the variant's generator."""
        theirs = Provenance.from_record(self.facts["made_with"])
        models = {**theirs.models, **own.models}
        return replace(own, models=models, index=theirs.index, ingest=theirs.ingest)


def read_handover(folder: Path, name: str | None, testset: str) -> Handover | None:
    """Return the run whose passages are to be used; None without a name.

    Args:
        folder: The study's folder.
        name: The run.
        testset: Fingerprint of the study's test set now.
    """
    if name is None:
        return None
    [run] = chosen_runs(folder, [name])
    facts = run.facts()
    if facts["testset_fingerprint"] != testset:
        raise RunError(
            f"{name} was collected on another test set than the study's current one; collect it "
            "again under a new version=<label> and take the passages from that run"
        )
    return Handover(run, facts, tuple(run.responses()))


def combined(source: Mapping[str, object], variant: Mapping[str, object]) -> dict[str, object]:
    """Return the source's settings up to retrieval and the variant's settings after it."""
    return {name: value for name, value in source.items() if not acts_after_retrieval(name)} | {
        name: value for name, value in variant.items() if acts_after_retrieval(name)
    }


def check_one_embedder(variant: Factors, source: Mapping[str, Any]) -> None:
    """Raise where two embedders act, as the record has one: extractive answers use one too."""
    both = {**variant.choices, **variant.leaves}, {**source["choices"], **source["leaves"]}
    one, other = ({n: v for n, v in e.items() if n.split(".")[0] == "embedder"} for e in both)
    if one != other:
        raise ConfigError(
            "chat=extractive uses the variant's embedder, but the passages were retrieved with "
            "another one; give passages_from a run with the same embedder, or choose another chat="
        )


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
    generation: int = 0
    """How often the answers are asked for again, although they are cached."""

    @property
    def generator_calls(self) -> str:
        """What distinguishes the generator's calls from those before a repair; see `Calls`."""
        parts = [self.settings.version or "", f"again {self.generation}" if self.generation else ""]
        return " ".join(filter(None, parts))

    @property
    def questions(self) -> list[QuestionRepeat]:
        """The questions chosen, each with every repeat that the study asks for."""
        chosen = select(self.testset.questions, self.settings.questions, self.settings.limit)
        return [(q, repeat) for q in chosen for repeat in range(self.settings.study.repeats)]


def make_plan(settings: Collect, how: Composition) -> Plan:
    """Return the plan that the settings describe, having read the test set and hashed the corpus.

    Raises ConfigError or InputError for settings and test sets that cannot be used.
    """
    if settings.cache not in MODES:
        raise ConfigError(f"cache must be one of {', '.join(MODES)} (got {settings.cache})")
    if settings.give_up_after < 1 or settings.study.repeats < 1:
        raise ConfigError("give_up_after and study.repeats must be 1 or more")
    system = settings.variant
    if system is None or "variant" not in how.choices:
        names = ", ".join(settings.study.variants)
        raise ConfigError(f"no variant chosen: give variant=<name>; this study lists {names}")
    testset = read_testset(testset_path(settings.study.testset), settings.study.largest_mb)
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
        "corpus_fingerprint": sha256(json.dumps(corpus, sort_keys=True)),
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
    """Raise where a declaration names an unknown metric; warn where this variant lacks a factor.

    Another variant of the study may have the factor, but most often its name is misspelt, and
    after collecting it is too late to correct it.
    """
    declared: list[tuple[str, PrimaryTest | Expected]] = [
        *(("primary", one) for one in study.primary),
        *(("expect", one) for one in study.expect),
    ]
    if not declared:
        return
    from harness.analysis import GOLD_METRICS, OUTCOMES, RIGHT

    metrics = (RIGHT, *METRICS, *(facts.name for facts in GOLD_METRICS), *choices_of("check"))
    names = (*factors.choices, *factors.leaves, "version")
    for expected in study.expect:
        pick(dict.fromkeys(OUTCOMES), expected.outcome, "outcome")
    for key, one in declared:
        pick(dict.fromkeys(metrics), one.metric, "metric")
        if one.factor not in names:
            near = difflib.get_close_matches(one.factor, names, n=1)
            guess = f"; did you mean '{near[0]}'?" if near else ""
            log.warning("study.%s: this variant has no factor '%s'%s", key, one.factor, guess)


def earlier_declarations(run: Run, study: Study) -> Study:
    """Return the study with what it declared before a run's first answers were collected."""
    recorded = run.facts()["study"]
    return replace(
        study,
        primary=[one for one in study.primary if asdict(one) in recorded.get("primary", [])],
        expect=[one for one in study.expect if asdict(one) in recorded.get("expect", [])],
    )


def changed_parts(facts: Mapping[str, Any], setup: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs between a finished run and a plan's setup; of the factors, their names.

    >>> before = {"factors": {"choices": {}, "leaves": {"top_k": 4, "chat.build": "1"}}}
    >>> list(changed_parts(before, {"factors": {"choices": {}, "leaves": {"top_k": 6}}}))
    ['chat.build (weights, package, recording or processor of the model)', 'top_k']
    """
    for part, now in setup["factors"].items():
        before = facts["factors"].get(part)
        if isinstance(before, dict) and isinstance(now, dict):
            names = sorted(n for n in before.keys() | now.keys() if before.get(n) != now.get(n))
            yield from (name + (BUILD if name.endswith(".build") else "") for name in names)
        elif before != now:
            yield part
    yield from (name for part, name in PARTS.items() if facts.get(part) != setup.get(part))
