"""Prompt templates: plain text with two slots, one template for each language."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import ConfigError
from harness.llm import Message
from harness.records import Passage

SLOTS = ("passages", "question")


@dataclass
class PromptTemplate:
    """The text that a chat model is sent, with slots for the passages and the question."""

    language: str = "en"
    en: str = ""
    ja: str = ""
    zh_hant: str = ""
    zh_hans: str = ""

    @property
    def template(self) -> str:
        """The text in the study's language. Raises ConfigError where it or a slot is missing."""
        text = str(getattr(self, self.language, ""))
        if not text:
            raise ConfigError(
                f"this prompt has no text in '{self.language}'; add it to its file in conf/prompt/"
            )
        if missing := [slot for slot in SLOTS if f"{{{slot}}}" not in text]:
            raise ConfigError(f"the prompt has no {{{missing[0]}}}: the model would not see it")
        return text

    @property
    def sha256(self) -> str:
        """Hash of the text that is used."""
        return hashlib.sha256(self.template.encode()).hexdigest()

    def factors(self) -> dict[str, object]:
        """Return the text in use; the other languages cannot change an answer."""
        return {"template": self.template}

    def messages(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        """Return the text with its slots filled; braces in passages and question are no slots."""
        numbered = "\n\n".join(f"[{n}] {p.text}" for n, p in enumerate(passages, start=1))
        filled = {"passages": numbered, "question": question}
        text = re.sub(r"\{(passages|question)\}", lambda slot: filled[slot[1]], self.template)
        return (Message("user", text),)
