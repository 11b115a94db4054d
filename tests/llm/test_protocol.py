"""What the harness sends is what the openai package's own client would send."""

from collections.abc import Callable
from typing import Any

import pytest
from harness.llm.protocol import departures
from openai import OpenAI

from harness.llm import Calls, Message, OpenAIChat, OpenAIEmbedder, Request, Role
from tests.stub_endpoint import Received, StubEndpoint

SCHEMA: dict[str, object] = {"type": "object", "properties": {"verdict": {"type": "integer"}}}

REQUESTS = {
    "plain": Request((Message("system", "Be brief."), Message("user", "燈塔有多高？"))),
    "schema": Request((Message("user", "How high?"),), SCHEMA, max_tokens=300, sample=2),
    "image": Request((Message("user", "What does it show?", (b"\x89PNG",)),)),
}


def client(stub: StubEndpoint) -> OpenAI:
    return OpenAI(base_url=stub.base_url, api_key="none", max_retries=0)


def sent(received: Received) -> tuple[str, str, str, dict[str, Any]]:
    headers = received.headers
    return received.path, headers["authorization"], headers["content-type"], received.body


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_chat(calls: Calls, chat_at: Callable[..., OpenAIChat], request_: Request) -> None:
    """The client takes every field by its name, and puts the same on the wire."""
    with StubEndpoint() as stub:
        chat_at(stub).complete(request_, calls)
        client(stub).chat.completions.create(**stub.chats[0].body)

    ours, theirs = map(sent, stub.chats)
    assert ours == theirs


def test_samples_at_once(calls: Calls, chat_at: Callable[..., OpenAIChat]) -> None:
    """So it is with `n`."""
    requests = [Request((Message("user", "q"),), sample=sample) for sample in range(3)]
    with StubEndpoint() as stub:
        chat_at(stub).complete_all(requests, calls)
        client(stub).chat.completions.create(**stub.chats[0].body)

    ours, theirs = map(sent, stub.chats)
    assert ours == theirs
    assert ours[3]["n"] == 3


def test_embeddings(calls: Calls) -> None:
    """So it is with embeddings, but that the client wants numbers written in base64."""
    with StubEndpoint() as stub:
        embedder = OpenAIEmbedder(
            base_url=stub.base_url, model="stub", query_prefix="", passage_prefix=""
        )
        embedder.embed(["燈塔"], Role.QUERY, calls)
        client(stub).embeddings.create(**stub.received[0].body, encoding_format="float")

    ours, theirs = map(sent, stub.received)
    assert theirs[3].pop("encoding_format") == "float"
    assert ours == theirs


def test_departures() -> None:
    """A reply is held against the package's types; what it adds is no departure."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "27 m", "reasoning": "it says so"},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    whole = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }

    assert departures(whole) == {}
    assert departures({**whole, "usage": None}) == {"usage": "not told"}
    assert list(departures({**whole, "choices": [{**choice, "finish_reason": "eos"}]})) == [
        "choices.0.finish_reason"
    ]
    assert list(departures({**whole, "usage": {**usage, "prompt_tokens": "9"}})) == [
        "usage.prompt_tokens"
    ]
    assert set(departures({"choices": []})) == {"id", "created", "model", "object"}
