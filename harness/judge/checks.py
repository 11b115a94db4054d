"""The checks, built-in and custom: which text is asked about, and which evidence results.

A custom check is one YAML file, no Python:

    question: Does the response name the policy it rests on, with its version?
    inputs: [question, response]
    labels: [names_it, does_not]
    counts: names_it

The question may have a wording for each judge language: `question: {en: ..., ja: ...}`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from harness.errors import ConfigError, InputError, UnknownNameError, unknown
from harness.metrics.evidence import Evidence
from harness.records import CLAIMS_OF, Layer
from harness.text import single_spaced

INPUTS = ("question", "response", "reference", "passages", "passage")
"""What a custom check may show the judge; `passage` asks about each passage by itself."""

DECLINES = "declines"
"""The shipped custom check by which a model decides whether a response is a refusal."""


@dataclass(frozen=True, slots=True)
class Case:
    """One response with everything it is judged by."""

    question_id: str
    repeat: int
    question: str
    response: str
    reference: str
    passages: tuple[str, ...]
    """In rank order."""


class CheckKind(StrEnum):
    """The kinds of question to a judge. Each has a prompt of its name and a form of reply."""

    CLAIMS = "claims"
    ENTAILMENT = "entailment"
    USEFULNESS = "usefulness"
    REVERSE_QUESTION = "reverse_question"
    CUSTOM_CHECK = "own_check"


@dataclass(frozen=True, slots=True)
class CustomCheck:
    """A question of the user with a fixed set of answers."""

    name: str
    """The file's name without its ending."""
    question: str
    inputs: tuple[str, ...]
    labels: tuple[str, ...]
    counts: str
    """The label that counts 1; the others count 0."""

    @property
    def of(self) -> str:
        """The text asked about, as in `Check.of`: `passages` where each passage gets a label."""
        if "passage" in self.inputs:
            return "passages"
        return "context" if "passages" in self.inputs else "response"

    @property
    def layer(self) -> Layer:
        """The layer held responsible: the generator, unless the response is not an input."""
        return Layer.GENERATION if "response" in self.inputs else Layer.RETRIEVAL


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of question, put to one text of a case."""

    name: str
    kind: CheckKind
    of: str
    """response | reference | context (all passages joined) | passages (one after another)"""
    claims: str | None = None
    """The check whose claims are held against the text."""
    gives: tuple[str, ...] = ()
    """Fields of `Evidence` that it fills."""
    custom: CustomCheck | None = None

    def texts(self, case: Case) -> tuple[str, ...]:
        """Return the texts that are asked about; empty where there are no passages."""
        if self.of == "passages":
            return case.passages
        if self.of == "context":
            return ("\n".join(case.passages),) if case.passages else ()
        return (case.response if self.of == "response" else case.reference,)


CHECKS: dict[str, Check] = {
    check.name: check
    for check in (
        Check("claims_response", CheckKind.CLAIMS, "response"),
        Check("claims_reference", CheckKind.CLAIMS, "reference"),
        Check("passage_useful", CheckKind.USEFULNESS, "passages", gives=("passage_useful",)),
        Check(
            "reverse_question",
            CheckKind.REVERSE_QUESTION,
            "response",
            gives=("question_similarity", "noncommittal"),
        ),
        *(
            Check(name, CheckKind.ENTAILMENT, name.rpartition("_")[2], claims, (name,))
            for name, claims in CLAIMS_OF.items()
        ),
    )
}
"""In the order in which they are asked: checks that rest on claims come last."""


def checks_named(names: Iterable[str], custom: Iterable[CustomCheck] = ()) -> tuple[Check, ...]:
    """Return the checks of these names with those they rest on, then the custom checks.

    Raises UnknownNameError, and ConfigError where a custom check has the name of another check.
    """
    found = {name: CHECKS[name] for name in with_claims(names)}
    for check in custom:
        if check.name in CHECKS or check.name in found:
            raise ConfigError(f"check '{check.name}' exists already; give yours another name")
        found[check.name] = Check(check.name, CheckKind.CUSTOM_CHECK, check.of, custom=check)
    return tuple(found.values())


def checks_for(needs: Iterable[str]) -> tuple[str, ...]:
    """Return the checks that fill these fields of `Evidence`, and the checks these rest on.

    Fields that need no judge ask for no check.

    >>> checks_for(["response_in_context", "response_text"])
    ('claims_response', 'response_in_context')
    >>> checks_for(["noncommittal", "question_similarity"])
    ('reverse_question',)
    """
    wanted = set(needs)
    known = [field.name for field in fields(Evidence)]
    for need in sorted(wanted - set(known)):
        raise UnknownNameError(unknown(need, known, "field of Evidence"))
    return with_claims(name for name, check in CHECKS.items() if wanted & set(check.gives))


def with_claims(names: Iterable[str]) -> tuple[str, ...]:
    """Return the checks in the order of asking, with the claim checks that they rest on.

    >>> with_claims(["reference_in_response"])
    ('claims_reference', 'reference_in_response')
    """
    wanted = set(names)
    for name in sorted(wanted - set(CHECKS)):
        raise UnknownNameError(unknown(name, CHECKS, "check"))
    wanted |= {claims for name in wanted if (claims := CHECKS[name].claims)}
    return tuple(name for name in CHECKS if name in wanted)


def custom_layers(identity: Mapping[str, Any]) -> dict[str, Layer]:
    """Return name -> layer of the custom checks that a judge has made on a run.

    Args:
        identity: What the run recorded about the judge, as `Run.judges` gives it.

    >>> custom_layers({"own": {"dated": {"question": "Dated?", "inputs": ["passage"],
    ...     "labels": ["yes", "no"], "counts": "yes"}}})
    {'dated': <Layer.RETRIEVAL: 'retrieval'>}
    """
    checks: Mapping[str, Mapping[str, Any]] = identity.get("own", {})
    return {name: CustomCheck(name=name, **content).layer for name, content in checks.items()}


def read_check(path: Path, language: str = "en") -> CustomCheck:
    """Return the check that a YAML file describes. Raises InputError.

    Args:
        path: The file.
        language: Of the judge: a question with several wordings is put in this one, else in
            English.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; give the path of a check's YAML file") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: {single_spaced(str(error))}") from error
    wanted = [field.name for field in fields(CustomCheck) if field.name != "name"]
    if not isinstance(content, dict) or set(content) != set(wanted):
        keys = ", ".join(map(str, content)) if isinstance(content, dict) else "no key: value"
        raise InputError(f"{path}: write exactly the keys {', '.join(wanted)}; found {keys}")
    question = content["question"]
    if isinstance(question, dict):
        question = question.get(language, question.get("en"))
    if not isinstance(question, str):
        raise InputError(f"{path}: question: write a text, or one per language, 'en' among them")
    check = CustomCheck(
        name=path.stem,
        question=question.strip(),
        inputs=_words(path, "inputs", content["inputs"]),
        labels=_words(path, "labels", content["labels"]),
        counts=str(content["counts"]),
    )
    for name in check.inputs:
        if name not in INPUTS:
            raise InputError(f"{path}: inputs: {unknown(name, INPUTS, 'input')}")
    if {"passage", "passages"} <= set(check.inputs):
        raise InputError(
            f"{path}: inputs: give passages (all at once) or passage (one by one), not both"
        )
    if len(check.labels) < 2:
        raise InputError(f"{path}: labels: give two answers or more")
    if check.counts not in check.labels:
        raise InputError(f"{path}: counts: {unknown(check.counts, check.labels, 'label')}")
    return check


def _words(path: Path, key: str, value: object) -> tuple[str, ...]:
    """Return a list of distinct strings; YAML reads a bare yes or no as a truth value."""
    if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
        raise InputError(f"{path}: {key}: write a list of words; quote yes, no, on and off")
    if not value or len(set(value)) < len(value):
        raise InputError(f"{path}: {key}: give at least one word, each of them once")
    return tuple(value)
