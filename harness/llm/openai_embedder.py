"""Embedding models behind any endpoint that speaks the OpenAI protocol."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from harness.errors import ContextOverflowError, EndpointError
from harness.llm.calls import Calls, Vector
from harness.llm.chat import count
from harness.llm.embedder import Embedder, Role
from harness.llm.prefixes import prefixes
from harness.llm.remote import PLACE, Remote
from harness.llm.tokens import estimate_tokens, fewest_tokens

log = logging.getLogger(__name__)


@dataclass
class OpenAIEmbedder(Remote, Embedder):
    """An embedding model behind any OpenAI-compatible endpoint, Ollama's `/v1` among them."""

    dimensions: int | None = None
    """Asked for, and checked; None takes what the model gives."""
    query_prefix: str | None = None
    """Put before a question; None takes what the model's family wants."""
    passage_prefix: str | None = None
    context: int | None = field(default=None, metadata=PLACE)
    """Tokens that the model reads of a text; None where it is not known."""
    batch_size: int = field(default=64, metadata=PLACE)
    concurrency: int = field(default=4, metadata=PLACE)

    @property
    def batch(self) -> int:
        """Texts a request."""
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
        from harness.llm.loop import submit

        prefix = self._prefix(role)
        prefixed = [[prefix + text for text in batch] for batch in batches]
        for text in (text for batch in prefixed for text in batch):
            self._check_length(text)
        running = []
        try:
            for batch in prefixed:
                calls.about_to_ask(self.label)
                running.append(submit(self._request(batch, calls)))
            for future in running:
                yield future.result()
        finally:
            for future in running:
                future.cancel()

    async def _request(self, texts: list[str], calls: Calls) -> list[Vector]:
        from harness.llm.endpoint import endpoint

        body: dict[str, object] = {"model": self.model, "input": texts}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        served = await endpoint(self.address()).post("/embeddings", body, _read, calls)
        vectors, tokens = served.value
        calls.answered(self.label, tokens, None)
        if len(vectors) != len(texts):
            raise EndpointError(f"{self._who}: {len(vectors)} vectors for {len(texts)} texts")
        for vector in vectors:
            self._check_vector(vector)
        if tokens and tokens < sum(fewest_tokens(text) for text in texts):
            raise ContextOverflowError(
                f"{self._who}: it read {tokens} tokens of {len(texts)} texts and cut the rest;"
                " make index.chunk_size smaller, or use a model with a wider window"
            )
        return vectors

    def _check_length(self, text: str) -> None:
        tokens = estimate_tokens(text)
        if self.context is not None and tokens > self.context:
            raise ContextOverflowError(
                f"{self._who}: a text of about {tokens} tokens, but the model reads"
                f" {self.context} (context={self.context}); make index.chunk_size smaller"
            )

    def _check_vector(self, vector: Vector) -> None:
        if not np.isfinite(vector).all():
            raise EndpointError(f"{self._who}: a vector with NaN or infinity in it; update it")
        if self.dimensions is not None and vector.size != self.dimensions:
            raise EndpointError(
                f"{self._who}: vectors of {vector.size} numbers, but dimensions={self.dimensions}"
            )

    def _prefix(self, role: Role) -> str:
        known = prefixes(self.model)
        query, passage = known or ("", "")
        given = self.query_prefix if role is Role.QUERY else self.passage_prefix
        if given is None and known is None:
            _warn_no_prefix(self.model)
        if given is not None:
            return given
        return query if role is Role.QUERY else passage

    @property
    def _who(self) -> str:
        return f"{self.base_url} (embedder {self.model})"


@cache
def _warn_no_prefix(model: str) -> None:
    log.warning(
        "embedder %s: nothing is known of what it wants before questions and passages, so nothing"
        " is put there; set embedder.query_prefix and embedder.passage_prefix ('' if nothing)",
        model,
    )


def _read(reply: dict[str, Any]) -> tuple[list[Vector], int | None]:
    data = sorted(reply["data"], key=lambda item: int(item["index"]))
    vectors = [np.array(item["embedding"], np.float32) for item in data]
    return vectors, count((reply.get("usage") or {}).get("prompt_tokens"))
