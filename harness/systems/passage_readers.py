"""What follows retrieval: a reader turns a question and its passages into an answer.

A chat model reads them in a prompt: plain text with two slots, one template for each language.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.errors import ConfigError
from harness.llm import Calls, Chat, Embedder, Generator, Message, RecordedChat, Request
from harness.records import Answer, Passage, Query
from harness.text import sha256

SLOTS = ("passages", "question")


@dataclass
class PassageReader(Generator):
    """Turns passages into an answer. A subclass gives `label`, `identity` and `generate`.

    It can be configured under `variant.chat` in place of a chat model. It is not a `Chat`, so what
    needs a chat model (a judge, a captioner) does not accept it.
    """

    @property
    def width(self) -> int:
        """How many questions it can be asked at a time."""
        return 1

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the report must know of its answers; see `Provenance.notes`."""
        return ()

    def generate(self, query: Query, found: Answer, embedder: Embedder, calls: Calls) -> Answer:
        """Return what was retrieved, completed by the text of the answer.

        Args:
            query: The question.
            found: Its passages, as an answer still without text.
            embedder: That of the system, for a generator that compares by meaning.
            calls: The cache of model calls.
        """
        raise NotImplementedError


def check_slots(text: str, place: str) -> None:
    """Raise ConfigError where a template lacks a slot, with the word in braces that is nearest.

    >>> check_slots("{passages} {qestion}", "conf/prompt/mine.yaml: en")
    Traceback (most recent call last):
    ...
    harness.errors.ConfigError: conf/prompt/mine.yaml: en: no {question}, so the model would not ...
    """
    for slot in SLOTS:
        if f"{{{slot}}}" not in text:
            near = difflib.get_close_matches(slot, re.findall(r"\{(\w+)\}", text), n=1)
            instead = f"; write it for {{{near[0]}}}" if near else ""
            raise ConfigError(f"{place}: no {{{slot}}}, so the model would not see it{instead}")


@dataclass
class PromptTemplate:
    """The text that a chat model is sent, with slots for the passages and the question.

    A file in `conf/prompt/` has a text under the name of each language; those of languages that
    have no field here are put into `others` when it is read.
    """

    language: str = "en"
    en: str = ""
    ja: str = ""
    zh_hant: str = ""
    zh_hans: str = ""
    others: dict[str, str] = field(default_factory=dict)

    @property
    def template(self) -> str:
        """The text in the study's language. Raises ConfigError where it or a slot is missing."""
        texts = {"en": self.en, "ja": self.ja, "zh_hant": self.zh_hant, "zh_hans": self.zh_hans}
        texts = {name: text for name, text in {**texts, **self.others}.items() if text}
        if self.language not in texts:
            raise ConfigError(
                f"this prompt has no text in '{self.language}' (known: "
                f"{', '.join(texts) or 'none'}); add it to its file in conf/prompt/, or change "
                "study.language"
            )
        check_slots(texts[self.language], f"the prompt in '{self.language}'")
        return texts[self.language]

    @property
    def sha256(self) -> str:
        """Hash of the text that is used."""
        return sha256(self.template)

    def factors(self) -> dict[str, object]:
        """Return the text in use; the other languages cannot change an answer."""
        return {"template": self.template}

    def messages(self, question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
        """Return the text with its slots filled; braces in passages and question are no slots."""
        numbered = "\n\n".join(f"[{n}] {p.text}" for n, p in enumerate(passages, start=1))
        filled = {"passages": numbered, "question": question}
        text = re.sub(r"\{(passages|question)\}", lambda slot: filled[slot[1]], self.template)
        return (Message("user", text),)


@dataclass
class ChatReader(PassageReader):
    """A chat model that is sent the prompt, filled with the passages and the question."""

    chat: Chat
    prompt: PromptTemplate

    @property
    def label(self) -> str:
        return self.chat.label

    @property
    def width(self) -> int:
        return self.chat.width

    @property
    def notes(self) -> tuple[str, ...]:
        return ("recorded",) if isinstance(self.chat, RecordedChat) else ()

    def identity(self) -> dict[str, object]:
        """Return the chat model's identity; of a recording, the hash of its content too."""
        if isinstance(self.chat, RecordedChat):
            return {**self.chat.identity(), "recording": self.chat.recording.sha256}
        return self.chat.identity()

    def generate(self, query: Query, found: Answer, embedder: Embedder, calls: Calls) -> Answer:
        """Return the model's reply with its tokens and seconds."""
        messages = self.prompt.messages(query.text, found.passages)
        request = Request(messages, sample=query.repeat, generation=calls.generation)
        reply = self.chat.complete(request, calls)
        if reply.remembered:
            calls.answer_cached()
        return replace(
            found,
            text=reply.text,
            finish_reason=reply.finish_reason,
            generation_seconds=reply.seconds,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            thinking=reply.reasoning,
            model=reply.model,
            call=reply.call,
        )
