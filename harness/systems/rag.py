"""The built-in system: passages from a vector index, and a generator that reads them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from omegaconf import MISSING

from harness.errors import ConfigError, EndpointError
from harness.llm import Chat, Embedder, Request
from harness.records import Answer, Query
from harness.sources import Caption, Captioner, Index, Passages, build_passages, read_corpus
from harness.systems.extractive import Extractive
from harness.systems.index import VectorIndex, open_index, retriever
from harness.systems.prompts import Prompt
from harness.systems.system import Bench, System

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever


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
        if self.top_k < 1:
            raise ConfigError(f"variant.top_k={self.top_k}: ask for 1 passage or more")

    def inactive(self) -> frozenset[str]:
        """What an index without captions, or without their context, leaves no part to play."""
        unused = {"text": {"captioner", "index.context_size"}, "caption": {"index.context_size"}}
        return frozenset(unused.get(self.index.contents, ()))

    def models(self) -> dict[str, dict[str, object]]:
        """Generator, embedder and, where it acts, captioner."""
        models = {"chat": self.chat.identity(), "embedder": self.embedder.identity()}
        if "captioner" not in self.inactive():
            models["captioner"] = self.captioner.identity()
        return models

    @property
    def concurrency(self) -> int:
        return self.chat.width

    @contextmanager
    def open(self, bench: Bench) -> Iterator["OpenRag"]:
        """Build the index, or find it again."""
        paths = [str(bench.project / path) for path in self.corpus]
        documents = read_corpus(paths, figures=self.index.contents != "text")
        built = build_passages(documents, self.index, self.captioner, bench.calls, bench.cache)
        index = open_index(built.passages, self.embedder, bench)
        yield OpenRag(
            self, bench, built, index, retriever(index, self.embedder, bench.calls, self.top_k)
        )


@dataclass(frozen=True, slots=True)
class OpenRag:
    """The built-in system with its index at hand."""

    config: Rag
    bench: Bench
    built: Passages
    index: VectorIndex
    retriever: "BaseRetriever"

    @property
    def provenance(self) -> dict[str, Any]:
        """What shaped the answers beyond the configuration."""
        return {
            "index": {
                "fingerprint": self.index.fingerprint,
                "passages": len(self.index.passages),
                **self.index.search,
            },
            "ingest": dict(self.built.counts),
            "prompt_sha256": self.config.prompt.sha256,
            "models": self.config.models(),
            "generator": self.config.chat.label,
            "notes": ["ignores_prompts"] if isinstance(self.config.chat, Extractive) else [],
        }

    @property
    def captions(self) -> tuple[Caption, ...]:
        """What the index was told about figures."""
        return self.built.captions

    def answer(self, query: Query) -> Answer:
        """Retrieve, then generate."""
        found = self.retrieve(query)
        chat = self.config.chat
        if isinstance(chat, Extractive):
            calls, embedder = self.bench.calls, self.config.embedder
            return replace(found, text=chat.read(query.text, found.passages, embedder, calls))
        messages = self.config.prompt.messages(query.text, found.passages)
        reply = chat.complete(Request(messages, sample=query.repeat), self.bench.calls)
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
        )

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
