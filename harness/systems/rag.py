"""The built-in system: passages from a vector index, and a generator that reads them."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING

from harness.errors import ConfigError, EndpointError, RunError
from harness.llm import Chat, Embedder, RecordedChat, Request
from harness.records import Answer, Query
from harness.sources import (
    Caption,
    Captioner,
    Document,
    Index,
    Passages,
    build_passages,
    corpus_hashes,
    read_corpus,
)
from harness.systems.extractive import Extractive
from harness.systems.index import VectorIndex, open_index, retriever
from harness.systems.prompts import Prompt
from harness.systems.system import Bench, Found, System

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever

MOST = 1_000_000
"""Passages that can be asked for."""

NOTES: dict[type[Chat], str] = {Extractive: "ignores_prompt", RecordedChat: "recorded"}
"""What a reader of the report must know of a generator."""


@dataclass
class Rag(System):
    """Retrieval-augmented generation over one corpus."""

    top_k: int = 4
    """Passages asked for."""
    index: Index = MISSING
    prompt: Prompt = MISSING
    chat: Chat = MISSING
    embedder: Embedder = MISSING
    captioner: Captioner = MISSING
    corpus: list[str] = field(default_factory=list, metadata={"factor": False})
    """Files and folders; a run is only set beside runs over the same bytes."""

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= MOST:
            raise ConfigError(
                f"variant.top_k={self.top_k}: ask for 1 passage or more, up to {MOST}"
            )

    def inactive(self) -> frozenset[str]:
        """Settings without effect under the contents of the index, such as a captioner of text."""
        captioner = frozenset[str]() if self.index.wants_captions else frozenset({"captioner"})
        return captioner | {f"index.{name}" for name in self.index.unused}

    def documents(self, project: Path) -> dict[str, str]:
        """The files that the index is built from."""
        return corpus_hashes([str(project / path) for path in self.corpus])

    def models(self) -> dict[str, dict[str, object]]:
        """Generator, embedder and, where it acts, captioner."""
        models = {"chat": self.generator(), "embedder": self.embedder.identity()}
        if "captioner" not in self.inactive():
            models["captioner"] = self.captioner.identity()
        return models

    def generator(self) -> dict[str, object]:
        """Return what stands for the generator; of a recording, its content too."""
        chat = self.chat
        content = {"recording": chat.recording.sha256} if isinstance(chat, RecordedChat) else {}
        return {**chat.identity(), **content}

    @property
    def concurrency(self) -> int:
        return self.chat.width

    @contextmanager
    def open(self, bench: Bench) -> Iterator["OpenRag"]:
        """Build the index, or find it again."""
        paths = [str(bench.project / path) for path in self.corpus]
        documents = read_corpus(paths, figures=self.index.wants_captions)
        built = build_passages(documents, self.index, self.captioner, bench.calls, bench.cache)
        index = open_index(built.passages, self.embedder, bench)
        yield OpenRag(
            self,
            Reader(self, bench),
            documents,
            built,
            index,
            retriever(index, self.embedder, bench.calls, self.top_k),
        )

    @contextmanager
    def open_on(self, found: Found, bench: Bench) -> Iterator["HandedRag"]:
        """Read what was found elsewhere: no index is opened, and nothing is retrieved."""
        yield HandedRag(Reader(self, bench), found)


@dataclass(frozen=True, slots=True)
class Reader:
    """What comes after retrieval: the prompt, and the generator that reads the passages."""

    config: Rag
    bench: Bench

    @property
    def provenance(self) -> dict[str, Any]:
        """What shaped the answers beyond the configuration and the passages."""
        chat = self.config.chat
        return {
            "prompt_sha256": self.config.prompt.sha256,
            "models": {"chat": self.config.generator()},
            "generator": chat.label,
            "notes": [note for kind, note in NOTES.items() if isinstance(chat, kind)],
        }

    def read(self, query: Query, found: Answer) -> Answer:
        """Return what was found with the text that is made of it."""
        chat, calls = self.config.chat, self.bench.calls
        if isinstance(chat, Extractive):
            text = chat.read(query.text, found.passages, self.config.embedder, calls)
            return replace(found, text=text)
        messages = self.config.prompt.messages(query.text, found.passages)
        reply = chat.complete(Request(messages, sample=query.repeat), calls)
        if not reply.text.strip() and reply.reasoning:
            raise EndpointError(
                f"{chat.label} put its whole reply into the reasoning field and answered nothing; "
                "switch the server's reasoning parser off or raise variant.chat.max_tokens"
            )
        return replace(
            found,
            text=reply.text,
            finish_reason=reply.finish_reason,
            generation_seconds=reply.seconds,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            call=reply.call,
        )


@dataclass(frozen=True, slots=True)
class OpenRag:
    """The built-in system with its index at hand."""

    config: Rag
    reader: Reader
    documents: tuple[Document, ...]
    built: Passages
    index: VectorIndex
    retriever: "BaseRetriever"

    @property
    def provenance(self) -> dict[str, Any]:
        """What shaped the answers beyond the configuration."""
        return {
            **self.reader.provenance,
            "index": {
                "fingerprint": self.index.fingerprint,
                "passages": len(self.index.passages),
                **self.index.search,
            },
            "ingest": dict(self.built.counts),
            "models": self.config.models(),
        }

    @property
    def captions(self) -> tuple[Caption, ...]:
        """What the index was told about figures."""
        return self.built.captions

    @property
    def pages(self) -> Mapping[tuple[str, int], str]:
        """The pages of the corpus, cleaned as for the index."""
        return {(d.name, page.number): page.text for d in self.documents for page in d.pages}

    @property
    def figures(self) -> frozenset[str] | None:
        """All figures of the corpus; None if the index does not want captions."""
        if not self.config.index.wants_captions:
            return None
        return frozenset(figure.id for d in self.documents for figure in d.figures)

    def answer(self, query: Query) -> Answer:
        """Retrieve, then generate."""
        return self.reader.read(query, self.retrieve(query))

    def retrieve(self, query: Query) -> Answer:
        """Return the passages as an answer still without text.

        `retrieval_seconds` is the search alone: the question's vector is remembered between
        variants, so its making would be charged to whichever variant came first.
        """
        self.retriever.invoke(query.text)
        started = time.perf_counter()
        found = self.retriever.invoke(query.text)
        return Answer(
            text="",
            passages=tuple(document.metadata["passage"] for document in found),
            k_requested=self.config.top_k,
            corpus_size=len(self.index.passages),
            retrieval_seconds=time.perf_counter() - started,
        )


@dataclass(frozen=True, slots=True)
class HandedRag:
    """The built-in system's generator on passages that another run retrieved."""

    reader: Reader
    found: Found

    @property
    def provenance(self) -> dict[str, Any]:
        """What shaped the answers beyond the configuration and the passages."""
        return self.reader.provenance

    @property
    def captions(self) -> tuple[Caption, ...]:
        """None: it has no index of its own."""
        return ()

    @property
    def pages(self) -> Mapping[tuple[str, int], str]:
        """None were read: the other run's evidence was held against its corpus."""
        return {}

    @property
    def figures(self) -> None:
        """None were looked for."""
        return None

    def answer(self, query: Query) -> Answer:
        """Generate from what the other run found; it has failed where that run did."""
        found = self.found.get((query.id, query.repeat))
        if found is None:
            raise RunError(f"the other run failed on '{query.id}', so there are no passages")
        return self.reader.read(query, found)
