"""Prompts: plain templates, one a language, with two slots."""

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
    """The wording that a language model is given with the passages."""

    language: str = "en"
    en: str = ""
    ja: str = ""
    zh_hant: str = ""
    zh_hans: str = ""

    @property
    def template(self) -> str:
        """The wording in the study's language."""
        text = str(getattr(self, self.language, ""))
        if not text:
            raise ConfigError(
                f"this prompt has no wording in '{self.language}'; add it to conf/prompt/"
            )
        if missing := [slot for slot in SLOTS if f"{{{slot}}}" not in text]:
            raise ConfigError(f"the prompt has no {{{missing[0]}}}; the model would never see it")
        return text

    @property
    def sha256(self) -> str:
        """The hash of the wording that is used."""
        return hashlib.sha256(self.template.encode()).hexdigest()

    def factors(self) -> dict[str, object]:
        """Only the wording in use can change an answer."""
        return {"template": self.template}

    def messages(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        """Return the wording with its slots filled; what is filled in is never read as a slot."""
        numbered = "\n\n".join(f"[{n}] {p.text}" for n, p in enumerate(passages, start=1))
        filled = {"passages": numbered, "question": question}
        text = re.sub(r"\{(passages|question)\}", lambda slot: filled[slot[1]], self.template)
        return (Message("user", text),)
