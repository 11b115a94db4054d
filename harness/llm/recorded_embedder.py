"""Vectors that an embedder made once, replayed from a recording."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError, NotRecordedError
from harness.llm.calls import Calls, Vector
from harness.llm.embedder import Embedder, Role, vector_key
from harness.llm.recordings import Recorded


@dataclass
class RecordedEmbedder(Recorded, Embedder):
    """An embedder's recorded vectors: the same ranking on every machine.

    On another processor an embedding model gives slightly other vectors, enough to swap near
    neighbours.
    """

    @property
    def label(self) -> str:
        """The name in tables."""
        return "recorded"

    def identity(self) -> dict[str, object]:
        """Return the identity of the embedder that was recorded, and the file's content.

        Raises ConfigError where the recording holds no vectors.
        """
        return {**self._recorded, "recording": self.recording.sha256}

    def vectors(
        self, batches: Sequence[Sequence[str]], role: Role, calls: Calls
    ) -> Iterator[list[Vector]]:
        """Yield the vectors of each batch. Raises NotRecordedError where one is not there."""
        identity, known = self._recorded, self.recording.vectors
        for batch in batches:
            keys = {text: vector_key(identity, role, text) for text in batch}
            for text, key in keys.items():
                if key not in known:
                    raise NotRecordedError(self._unrecorded(text))
            calls.recall(len(batch))
            yield [known[keys[text]] for text in batch]

    @property
    def _recorded(self) -> Mapping[str, object]:
        """The identity of the embedder that made the vectors."""
        identity = self.recording.head.embedder
        if identity is None:
            raise ConfigError(f"{self.file} holds no vectors; embed live: embedder=e5")
        return identity

    def _unrecorded(self, text: str) -> str:
        return (
            f"{Path(self.file).name} holds no vector of '{text[:40]}': a setting, a document, a"
            " question or a package differs from when it was recorded. Embed live: embedder=e5, or"
            " embedder=openai variant.embedder.model=..."
        )
