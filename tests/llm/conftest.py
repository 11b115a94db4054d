from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.llm import Calls, Message, OpenAIChat, Request
from tests.stub_endpoint import StubEndpoint


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """An empty call store."""
    store = Calls(tmp_path / "cache")
    yield store
    store.close()


@pytest.fixture
def ask() -> Callable[..., Request]:
    """Make a request of one user message."""

    def make(text: str = "How high is the lighthouse?", **fields: object) -> Request:
        return Request((Message("user", text),), **fields)  # type: ignore[arg-type]

    return make


@pytest.fixture
def chat_at() -> Callable[..., OpenAIChat]:
    """Make a chat model at a stub, with retries that do not keep a test waiting."""

    def make(stub: StubEndpoint, **fields: object) -> OpenAIChat:
        given = {"base_url": stub.base_url, "model": "stub", "backoff": 0.01, **fields}
        return OpenAIChat(**given)  # type: ignore[arg-type]

    return make
