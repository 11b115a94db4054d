"""Stand-ins for what a test must not wait for: an embedder without a model, a few passages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.llm import Calls, Embedder, Role
from harness.records import Passage


@dataclass
class CountingEmbedder(Embedder):
    """A vector of how often each of 64 hashed characters occurs."""

    name: str = "counting"

    @property
    def label(self) -> str:
        return self.name

    def identity(self) -> dict[str, object]:
        return {"embedder": self.name}

    def vectors(
        self, batches: Sequence[Sequence[str]], role: Role, calls: Calls
    ) -> Iterator[list[np.ndarray]]:
        for batch in batches:
            yield [vector(text) for text in batch]


def vector(text: str) -> np.ndarray:
    counts = np.zeros(64, np.float32)
    for character in text:
        counts[ord(character) % 64] += 1
    return counts


def passages(*texts: str) -> list[Passage]:
    return [Passage(f"d#1.{n}", "d", 1, "text", text) for n, text in enumerate(texts, start=1)]
