"""A check of one's own: one YAML file, no Python.

question: Does the response name the policy it rests on, with its version?
inputs: [question, response]
labels: [names_it, does_not]
counts: names_it
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from harness.errors import InputError, unknown
from harness.records import Layer

INPUTS = ("question", "response", "reference", "passages", "passage")
"""What a check may show the judge; `passage` asks about each passage by itself."""


@dataclass(frozen=True, slots=True)
class CustomCheck:
    """A question with a fixed set of answers."""

    name: str
    """The file's name without its ending."""
    question: str
    inputs: tuple[str, ...]
    labels: tuple[str, ...]
    counts: str
    """The label that counts 1; the others count 0."""

    @property
    def of(self) -> str:
        """What it is about, as in `Check.of`: `passages` where each gets a label of its own."""
        if "passage" in self.inputs:
            return "passages"
        return "context" if "passages" in self.inputs else "response"

    @property
    def layer(self) -> Layer:
        """Who is held responsible: the generator, but where the response is not looked at."""
        return Layer.GENERATION if "response" in self.inputs else Layer.RETRIEVAL


def custom_layers(identity: Mapping[str, Any]) -> dict[str, Layer]:
    """Return name -> layer of the checks of one's own that a judge has made of a run.

    Args:
        identity: What the run recorded of the judge, as `Run.judges` gives it.

    >>> custom_layers({"own": {"dated": {"question": "Dated?", "inputs": ["passage"],
    ...     "labels": ["yes", "no"], "counts": "yes"}}})
    {'dated': <Layer.RETRIEVAL: 'retrieval'>}
    """
    made: Mapping[str, Mapping[str, Any]] = identity.get("own", {})
    return {name: CustomCheck(name=name, **said).layer for name, said in made.items()}


def read_check(path: Path) -> CustomCheck:
    """Return the check that a YAML file describes. Raises InputError."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: {' '.join(str(error).split())}") from error
    wanted = [field.name for field in fields(CustomCheck) if field.name != "name"]
    if not isinstance(content, dict) or set(content) != set(wanted):
        got = ", ".join(map(str, content)) if isinstance(content, dict) else "no mapping"
        raise InputError(f"{path}: write exactly the keys {', '.join(wanted)}; found {got}")
    check = CustomCheck(
        name=path.stem,
        question=str(content["question"]).strip(),
        inputs=_words(path, "inputs", content["inputs"]),
        labels=_words(path, "labels", content["labels"]),
        counts=str(content["counts"]),
    )
    for name in check.inputs:
        if name not in INPUTS:
            raise InputError(f"{path}: inputs: {unknown(name, INPUTS, 'input')}")
    if {"passage", "passages"} <= set(check.inputs):
        raise InputError(f"{path}: inputs: take passages (all at once) or passage (one by one)")
    if len(check.labels) < 2:
        raise InputError(f"{path}: labels: a question needs two answers or more")
    if check.counts not in check.labels:
        raise InputError(f"{path}: counts: {unknown(check.counts, check.labels, 'label')}")
    return check


def _words(path: Path, key: str, value: object) -> tuple[str, ...]:
    """Return a list of distinct strings; YAML reads a bare yes or no as a truth value."""
    if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
        raise InputError(f"{path}: {key}: write a list of words; quote yes, no, on and off")
    if not value or len(set(value)) < len(value):
        raise InputError(f"{path}: {key}: name each word once, and one at least")
    return tuple(value)
