"""The built-in system: passages from a vector index, and a generator that reads them."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from omegaconf import MISSING

from harness.errors import ConfigError, RunError
from harness.files import input_path
from harness.llm import Chat, Embedder, Generator
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
from harness.systems.index import VectorIndex, open_index, retriever
from harness.systems.passage_readers import ChatReader, PassageReader, PromptTemplate
from harness.systems.system import Answerer, Bench, Found, IndexRecord, Provenance, System

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever

MOST = 1_000_000
"""Passages that can be asked for."""


@dataclass
class Rag(System):
    """Retrieval-augmented generation over one corpus."""

    top_k: int = 4
    """Passages asked for."""
    index: Index = MISSING
    prompt: PromptTemplate = MISSING
    chat: Generator = MISSING
    """A chat model, or a reader that answers without one: an entry of `GENERATORS`."""
    embedder: Embedder = MISSING
    captioner: Captioner = MISSING
    corpus: list[str] = field(default_factory=list, metadata={"factor": False})
    """Files and folders; runs are compared only with runs over the same bytes."""
    largest_mb: int = field(default=100, metadata={"factor": False})
    """Of one file, in millions of bytes."""
    follow_links: bool = field(default=False, metadata={"factor": False})
    """Whether links out of the folders of the corpus are followed."""

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= MOST:
            raise ConfigError(f"variant.top_k must be between 1 and {MOST} (got {self.top_k})")

    def inactive(self) -> frozenset[str]:
        """Settings without effect under the contents of the index, such as a captioner of text."""
        captioner = frozenset[str]() if self.index.wants_captions else frozenset({"captioner"})
        return captioner | {f"index.{name}" for name in self.index.unused}

    def documents(self) -> dict[str, str]:
        """The files that the index is built from."""
        return corpus_hashes(self.paths, self.largest_mb, self.follow_links)

    @property
    def paths(self) -> list[str]:
        """Where the files and folders of the corpus lie."""
        return [str(input_path(path)) for path in self.corpus]

    def models(self) -> dict[str, dict[str, object]]:
        """Generator, embedder and, where it is used, captioner."""
        models = {"chat": self.reader.identity(), "embedder": self.embedder.identity()}
        if "captioner" not in self.inactive():
            models["captioner"] = self.captioner.identity()
        return models

    @property
    def reader(self) -> PassageReader:
        """What reads the passages: the chat model with its prompt, or a program."""
        if isinstance(self.chat, PassageReader):
            return self.chat
        assert isinstance(self.chat, Chat), self.chat
        return ChatReader(self.chat, self.prompt)

    @property
    def concurrency(self) -> int:
        return self.reader.width

    @contextmanager
    def open(self, bench: Bench) -> Iterator["OpenRag"]:
        """Build the index, or open the one that was built before."""
        documents = read_corpus(self.paths, self.index.wants_captions, self.follow_links)
        built = build_passages(documents, self.index, self.captioner, bench.calls, bench.cache)
        index = open_index(built.passages, self.embedder, bench)
        search = retriever(index, self.embedder, bench.calls, self.top_k)
        yield OpenRag(self, bench, documents, built, index, search)

    @contextmanager
    def open_on(self, found: Found, bench: Bench) -> Iterator["HandedRag"]:
        """Read passages of another run: no index is opened, and nothing is retrieved."""
        yield HandedRag(self, bench, found)

    def read(self, query: Query, found: Answer, bench: Bench) -> Answer:
        """Return what was retrieved with the generator's text."""
        return self.reader.generate(query, found, self.embedder, bench.calls)

    def generation(self) -> Provenance:
        """Return what shapes an answer to given passages."""
        reader = self.reader
        return Provenance(
            generator=reader.label,
            models={"chat": reader.identity()},
            notes=reader.notes,
            prompt_sha256=self.prompt.sha256,
        )


@dataclass(frozen=True, slots=True)
class OpenRag(Answerer):
    """The built-in system with its index open."""

    config: Rag
    bench: Bench
    documents: tuple[Document, ...]
    built: Passages
    index: VectorIndex
    retriever: "BaseRetriever"

    @property
    def provenance(self) -> Provenance:
        """The generator, the index, and what went into it."""
        index = IndexRecord(self.index.fingerprint, len(self.index.passages), self.index.search)
        made_with, counts = self.config.generation(), dict(self.built.counts)
        return replace(made_with, models=self.config.models(), index=index, ingest=counts)

    @property
    def captions(self) -> tuple[Caption, ...]:
        """The captions in the index."""
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
        return self.config.read(query, self.retrieve(query), self.bench)

    def retrieve(self, query: Query) -> Answer:
        """Return the passages as an answer still without text.

        `retrieval_seconds` is the search alone: the question's vector is cached and shared by all
        variants, so that embedding it would be charged to the variant that is collected first.
        """
        self.retriever.invoke(query.text)  # embeds the question
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
class HandedRag(Answerer):
    """The built-in system's generator on passages that another run retrieved.

    It has no index: captions, pages and figures are those of the other run.
    """

    config: Rag
    bench: Bench
    found: Found

    @property
    def provenance(self) -> Provenance:
        """The generator alone."""
        return self.config.generation()

    def answer(self, query: Query) -> Answer:
        """Generate from the other run's passages; fails where that run failed."""
        found = self.found.get((query.id, query.repeat))
        if found is None:
            raise RunError(f"the other run failed on '{query.id}', so there are no passages")
        return self.config.read(query, found, self.bench)
