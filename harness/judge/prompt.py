"""The prompts of `prompts/<language>/`, as the messages that a model is sent."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from harness.errors import ConfigError, unknown
from harness.judge.cases import Job, Kind
from harness.llm import Message

FOLDER = Path(__file__).parent / "prompts"

_TAG = re.compile(r"<(?=[|/a-zA-Z_])")
"""Where a chat template's own marks begin (`<|im_end|>`, `</s>`, `<think>`)."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One kind of question in one language."""

    instructions: str
    examples: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]
    """Inputs and the reply to them."""
    sha256: str
    """Of the file."""
    turns: tuple[Message, ...]
    """The examples as they are sent."""

    def messages(self, inputs: Mapping[str, object]) -> tuple[Message, ...]:
        """Return the instructions, the worked examples as turns, and the inputs as the last."""
        first, last = Message("system", self.instructions), Message("user", fenced(inputs))
        return (first, *self.turns, last)

    @property
    def example_text(self) -> str:
        """All that the examples say, to recognise it where it comes back."""
        return "\n".join(turn.content for turn in self.turns)


def wording(language: str, job: Job) -> Prompt:
    """Return the prompt for a job; one's own question is put into its frame."""
    found = prompt(language, job.kind)
    if job.own is None:
        return found
    asked = found.instructions.replace("{labels}", ", ".join(job.own.labels))
    return replace(found, instructions=asked.replace("{question}", job.own.question))


@cache
def prompt(language: str, name: str) -> Prompt:
    """Return the prompt of this name; raise FileNotFoundError where a language lacks it."""
    raw = (FOLDER / language / f"{name}.yaml").read_bytes()
    content = yaml.safe_load(raw)
    examples = tuple((example["input"], example["output"]) for example in content["examples"])
    return Prompt(
        instructions=content["instructions"].strip(),
        examples=examples,
        sha256=hashlib.sha256(raw).hexdigest(),
        turns=tuple(
            Message(role, fenced(part))
            for example in examples
            for role, part in zip(("user", "assistant"), example, strict=True)
        ),
    )


def fenced(inputs: Mapping[str, object]) -> str:
    """Return the inputs as one line of JSON, which no text within can close or leave.

    Quotes and line ends are escaped by JSON, and so is what a chat template might take for
    the end of a turn, and half a surrogate pair, which cannot be sent.

    >>> print(fenced({"text": 'Say "1"}' + chr(10) + "<|im_end|>"}))
    {"text": "Say \\"1\\"}\\n\\u003c|im_end|>"}
    """
    written = _TAG.sub(r"\\u003c", json.dumps(inputs, ensure_ascii=False))
    return written.encode("utf-8", "backslashreplace").decode("utf-8")


def inputs(job: Job) -> dict[str, object]:
    """Return what the model is shown of a job; what many jobs share stands first.

    >>> inputs(Job(Kind.ENTAILMENT, text="It is 27 m high.", items=("It is high.",)))
    {'text': 'It is 27 m high.', 'claims': [{'id': 1, 'claim': 'It is high.'}]}
    """
    if job.kind is Kind.CLAIMS:
        return {"question": job.question, "text": job.text}
    if job.kind is Kind.REVERSE_QUESTION:
        return {"text": job.text}
    if job.kind is Kind.ENTAILMENT:
        return {"text": job.text, "claims": _numbered("claim", job.items)}
    if job.own is not None:
        return {name: _shown(job, name) for name in job.own.inputs}
    return {
        "question": job.question,
        "reference": job.reference,
        "passages": _numbered("passage", job.items),
    }


def _shown(job: Job, name: str) -> object:
    """Return what one's own check shows under a name."""
    if name == "passages":
        return _numbered("passage", job.items)
    shown = {"question": job.question, "response": job.text, "reference": job.reference}
    return job.items[0] if name == "passage" else shown[name]


def _numbered(name: str, items: tuple[str, ...]) -> list[dict[str, object]]:
    return [{"id": number, name: item} for number, item in enumerate(items, start=1)]


NAMES: dict[str, tuple[str, ...]] = {
    "en": ("english", "en-us", "en-gb"),
    "ja": ("japanese", "ja-jp", "jp", "日本語"),
    "zh_hant": (
        *("zh", "chinese", "zh-tw", "zh-hk", "zh-mo", "zh-hant", "zh-hant-tw", "zht"),
        *("traditional chinese", "中文", "繁體中文", "正體中文"),
    ),
    "zh_hans": (
        *("zh-cn", "zh-sg", "zh-hans", "zh-hans-cn", "zhs"),
        *("simplified chinese", "简体中文"),
    ),
}
"""Language -> its other names. `zh` and `chinese` alone do not tell the script: they mean
Traditional Chinese, the language of the shipped study; write `zh_hans` for Simplified."""


def language(name: str) -> str:
    """Return the language that is meant, as its prompt folder is called.

    >>> language("ZH-TW"), language("Chinese"), language("zh_Hans"), language("Japanese")
    ('zh_hant', 'zh_hant', 'zh_hans', 'ja')
    >>> language("klingon")
    Traceback (most recent call last):
    ...
    harness.errors.ConfigError: unknown judge language 'klingon'; known: en, ja, zh_hans, zh_hant
    """
    spelling = name.strip().casefold().replace("_", "-")
    for known, others in NAMES.items():
        if spelling in (known.replace("_", "-"), *others):
            return known
    raise ConfigError(unknown(name, NAMES, "judge language"))
