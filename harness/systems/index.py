"""A vector index: a persistent Chroma collection, named by a hash of everything that shapes it."""

import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import EndpointError, InputError, RunError
from harness.files import write_whole
from harness.llm import Calls, Embedder, Role, Vector
from harness.records import Floats, Passage
from harness.systems.system import Bench
from harness.text import sha256, single_spaced

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from langchain_chroma import Chroma
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever

FOLDER = "chroma"
"""Folder of the indexes in the cache."""
SPACE = "cosine"
EXACT_UP_TO = 20_000
"""Up to this many passages every one is compared: a few milliseconds a query at 384 dimensions."""
APPROXIMATE = {"ef_construction": 400, "ef_search": 400, "max_neighbors": 64, "num_threads": 1}
"""Chroma's graph search beyond that; with these settings two builds return the same."""
CONFIGURATION: Any = {"hnsw": {"space": SPACE, **APPROXIMATE}}
DIGITS = 6
"""Similarities are rounded to this many before ranking: the last bits differ between machines."""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The passages of one index with their vectors, ready to be searched."""

    fingerprint: str
    """SHA-256 over passages, embedder and search parameters."""
    passages: tuple[Passage, ...]
    """In the order of their ids."""
    store: "Chroma"
    vectors: Floats | None
    """(passages, dimensions), length 1 each; None where the search is approximate."""

    @property
    def search(self) -> dict[str, Any]:
        """How the nearest passages are found, as `IndexRecord.search` holds it."""
        if self.vectors is not None:
            return {"space": SPACE, "method": "exact"}
        return {"space": SPACE, "method": "hnsw", **APPROXIMATE}

    def nearest(self, vector: Floats, k: int) -> list[Passage]:
        """Return the k nearest passages, nearest first; at equal similarity in the order of ids."""
        if self.vectors is not None:
            (unit,) = unit_vectors(vector[None, :], ["the question"])
            similarity = np.round(self.vectors @ unit, DIGITS)
            best = np.argsort(-similarity, kind="stable")[:k]
            found = [replace(self.passages[i], similarity=float(similarity[i])) for i in best]
        else:
            found = self.nearest_by_graph(vector, k)
        ids = [passage.id for passage in found]
        assert len(ids) <= k, (len(ids), k)
        assert len(set(ids)) == len(ids), ids
        return found

    def nearest_by_graph(self, vector: Floats, k: int) -> list[Passage]:
        """Ask Chroma for more than k, then rank by (similarity, id) as the exact search does."""
        table = {passage.id: passage for passage in self.passages}
        hits = self.store.similarity_search_by_vector_with_relevance_scores(
            vector.tolist(), k=min(4 * k + 16, len(self.passages))
        )
        ranked = sorted((round(distance - 1, DIGITS), document.id) for document, distance in hits)
        return [replace(table[str(name)], similarity=-distance) for distance, name in ranked[:k]]


def open_index(passages: Sequence[Passage], embedder: Embedder, bench: Bench) -> VectorIndex:
    """Return the index of these passages: built once, later opened by its fingerprint."""
    from filelock import FileLock
    from langchain_chroma import Chroma

    if not passages:
        raise InputError("the index would be empty: the corpus holds no text; see study.corpus")
    ordered = tuple(sorted(passages, key=lambda passage: passage.id))
    mark = fingerprint(ordered, embedder)
    folder = bench.cache / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{mark[:32]}.lock"), readable(folder):
        client = client_in(folder)
        store = Chroma(
            collection_name=mark[:32],
            embedding_function=cached_embeddings(embedder, bench.calls),
            client=client,
            collection_metadata={"fingerprint": mark},
            collection_configuration=CONFIGURATION,
        )
        stored = set(store.get(include=[])["ids"])
        proof = folder / f"{mark[:32]}.sha256"
        if stored != {passage.id for passage in ordered}:  # empty, or a build that was killed
            proof.unlink(missing_ok=True)
            if stored:
                store.delete(list(stored))
            add_passages(store, ordered, client.get_max_batch_size())
        vectors = stored_vectors(store, ordered, proof)
    exact = len(ordered) <= EXACT_UP_TO
    return VectorIndex(mark, ordered, store, vectors if exact else None)


def indexed(cache: Path, mark: str) -> list[tuple[str, Vector]]:
    """Return texts and vectors of an index in the cache; an empty list where it is missing."""
    from chromadb.errors import NotFoundError

    folder = cache / FOLDER
    if not folder.is_dir():
        return []
    with readable(folder):
        try:
            found = client_in(folder).get_collection(mark[:32], embedding_function=None)
        except NotFoundError:
            return []
        stored: Any = found.get(include=["documents", "embeddings"])
    vectors = (np.asarray(vector, "<f4") for vector in stored["embeddings"])
    return list(zip(stored["documents"], vectors, strict=True))


def client_in(folder: Path) -> "ClientAPI":
    """Return Chroma with its data in a folder."""
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))


@contextmanager
def readable(folder: Path) -> Iterator[None]:
    """Raise RunError with the remedy where Chroma's data in a folder cannot be read."""
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.errors import ChromaError

    try:
        yield
    except ChromaError as error:
        SharedSystemClient.clear_system_cache()
        raise RunError(
            f"{folder} cannot be read ({single_spaced(str(error))}); delete it and run the same "
            f"command again, the vectors are cached: rm -r {shlex.quote(str(folder))}"
        ) from None


def fingerprint(passages: Sequence[Passage], embedder: Embedder) -> str:
    """Return a SHA-256 over everything that shapes what the index returns."""
    shaped = {
        "passages": [[p.id, p.document, p.page, p.origin, p.text] for p in passages],
        "embedder": embedder.identity(),
        "search": [SPACE, EXACT_UP_TO, APPROXIMATE, DIGITS],
    }
    text = json.dumps(shaped, ensure_ascii=False, sort_keys=True)
    return sha256(text)


def add_passages(store: "Chroma", passages: Sequence[Passage], batch: int) -> None:
    """Add the passages, with document, page and origin as metadata."""
    for start in range(0, len(passages), batch):
        part = passages[start : start + batch]
        store.add_texts(
            [p.text for p in part],
            metadatas=[
                {"document": p.document, "page": p.page or 0, "origin": p.origin} for p in part
            ],
            ids=[p.id for p in part],
        )


def stored_vectors(store: "Chroma", passages: Sequence[Passage], proof: Path) -> Floats:
    """Return the vectors in the order of the passages. Raises RunError where the store differs.

    `proof` has the SHA-256 of the vectors; it is written where it is missing.
    """
    stored = store.get(include=["embeddings", "documents"])
    texts = zip(stored["documents"], stored["embeddings"], strict=True)
    rows = dict(zip(stored["ids"], texts, strict=True))
    wrong = [p.id for p in passages if p.id not in rows or rows[p.id][0] != p.text]
    if wrong or len(rows) != len(passages):
        raise RunError(
            f"the index has {len(rows)} passages and the corpus {len(passages)}, of which "
            f"{len(wrong)} differ; delete .cache/chroma under root= and collect again"
        )
    vectors = np.array([rows[p.id][1] for p in passages], "<f4")
    digest = sha256(vectors.tobytes())
    if not proof.exists():
        write_whole(proof, digest.encode())
    elif proof.read_bytes() != digest.encode():
        raise RunError(
            f"{proof.parent}: vectors of the index are damaged; delete the folder and collect again"
            f": rm -r {shlex.quote(str(proof.parent))}"
        )
    return unit_vectors(vectors.astype(np.float64), [p.id for p in passages])


def unit_vectors(vectors: Floats, names: Sequence[str]) -> Floats:
    """Return the vectors scaled to length 1. Raises EndpointError where one has length zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not lengths.all():
        name = names[int((lengths == 0).argmax())]
        raise EndpointError(f"the embedder gave a vector of length zero for '{name}'")
    scaled: Floats = vectors / lengths
    return scaled


def cached_embeddings(embedder: Embedder, calls: Calls) -> "Embeddings":
    """Return the embedder, with its cache, as a LangChain embedder."""
    from langchain_core.embeddings import Embeddings

    class CachedEmbeddings(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            vectors: list[list[float]] = embedder.embed(texts, Role.PASSAGE, calls).tolist()
            return vectors

        def embed_query(self, text: str) -> list[float]:
            vector: list[float] = embedder.embed([text], Role.QUERY, calls)[0].tolist()
            return vector

    return CachedEmbeddings()


def retriever(index: VectorIndex, embedder: Embedder, calls: Calls, top_k: int) -> "BaseRetriever":
    """Return the index as a LangChain retriever of exactly `top_k` passages.

    Each document carries its passage under `passage` in its metadata.
    """
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Nearest(BaseRetriever):
        k: int

        def _get_relevant_documents(
            self, query: str, *, run_manager: CallbackManagerForRetrieverRun
        ) -> list[Document]:
            vector = embedder.embed([query], Role.QUERY, calls)[0]
            return [
                Document(p.text, id=p.id, metadata={"passage": p})
                for p in index.nearest(vector, self.k)
            ]

    return Nearest(k=top_k)
