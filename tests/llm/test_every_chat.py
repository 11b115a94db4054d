"""What holds for every chat model in the table, whoever adds it."""

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from omegaconf import OmegaConf

from harness.errors import EndpointError
from harness.llm import (
    CHATS,
    Calls,
    Chat,
    LlamaCppChat,
    OpenAIChat,
    RemoteChat,
    Request,
    llamacpp_chat,
)
from tests.stub_endpoint import Received, Reply, StubEndpoint

each_chat = pytest.mark.parametrize("kind", CHATS.values(), ids=CHATS)
MakeRequest = Callable[..., Request]


def at(kind: type[Chat], stub: StubEndpoint, **given: object) -> RemoteChat:
    """Configure a chat model as Hydra does."""
    settings = {**reached(kind, stub), "model": "stub", "backoff": 0.01, **given}
    made = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(kind), settings))
    assert isinstance(made, RemoteChat)
    return made


def reached(kind: type[Chat], stub: StubEndpoint) -> dict[str, object]:
    """Return what points a chat model to the stub, as if llama.cpp had loaded this file there."""
    if kind is LlamaCppChat:
        content = sha256(Path(__file__).read_bytes()).hexdigest()
        server = SimpleNamespace(listening_address=stub.url)
        llamacpp_chat._servers[__file__, content, 4096, 2] = server
        return {"model_path": __file__}
    return {"base_url": stub.base_url if kind is OpenAIChat else stub.url}


@each_chat
def test_hydra_can_fill_it(kind: type[Chat]) -> None:
    """It is an ordinary dataclass whose fields all have values OmegaConf can hold."""
    assert is_dataclass(kind)
    assert isinstance(OmegaConf.to_object(OmegaConf.structured(kind)), kind)
    assert all(field.init for field in fields(kind))


@each_chat
def test_it_answers_and_remembers(kind: type[Chat], calls: Calls, ask: MakeRequest) -> None:
    """A reply is returned complete, and the second time from the cache."""
    with StubEndpoint("燈塔高 27 公尺") as stub:
        chat = at(kind, stub)
        first = chat.complete(ask(), calls)
        second = chat.complete(ask(), calls)

    assert first.text == "燈塔高 27 公尺"
    assert second == replace(first, remembered=True)
    assert len(stub.chats) == 1


@each_chat
def test_identity_is_json(kind: type[Chat]) -> None:
    """The identity is plain JSON and does not hold the name of a secret."""
    with StubEndpoint() as stub:
        identity = at(kind, stub, api_key_env="MY_KEY").identity()

    assert json.loads(json.dumps(identity)) == identity
    assert "MY_KEY" not in json.dumps(identity)


@each_chat
@pytest.mark.parametrize(
    "changed", [{"temperature": 0.5}, {"seed": 7}, {"top_p": 0.5}, {"max_tokens": 9}]
)
def test_sampling_is_in_the_key_and_on_the_wire(
    kind: type[Chat], calls: Calls, ask: MakeRequest, changed: dict[str, Any]
) -> None:
    """Each sampling parameter changes the key and the request."""
    with StubEndpoint() as stub:
        for chat in (at(kind, stub), at(kind, stub, **changed)):
            chat.complete(ask(), calls)

    assert len(stub.chats) == 2
    assert stub.chats[0].body != stub.chats[1].body


@each_chat
def test_images_are_sent(kind: type[Chat], calls: Calls, ask: MakeRequest) -> None:
    """An image of a message reaches the endpoint as base64."""
    request = ask()
    message = replace(request.messages[0], images=(b"\x89PNG",))
    with StubEndpoint() as stub:
        at(kind, stub).complete(replace(request, messages=(message,)), calls)

    assert "iVBORw==" in json.dumps(stub.chats[0].body)


@each_chat
def test_failures_name_address_and_model(kind: type[Chat], calls: Calls, ask: MakeRequest) -> None:
    """A failure is one line with the address and the remedy, and is not cached."""
    with StubEndpoint(Reply(status=500)) as stub:
        chat = at(kind, stub, retries=1)
        (outcome,) = chat.complete_all([ask()], calls)

    assert isinstance(outcome, EndpointError)
    assert f"{chat.address().base_url} (model stub): HTTP 500" in str(outcome)
    assert "\n" not in str(outcome)
    assert calls.size().calls == {}


@each_chat
def test_dead_endpoint_is_a_failure(kind: type[Chat], calls: Calls, ask: MakeRequest) -> None:
    """Where the connection is refused, every request is a failure with the remedy."""
    with StubEndpoint() as stub:
        pass
    outcomes = at(kind, stub).complete_all([ask("a"), ask("b")], calls)

    assert all("start the server" in str(outcome) for outcome in outcomes)


@each_chat
def test_label_is_short(kind: type[Chat]) -> None:
    """The name in tables is the model's."""
    with StubEndpoint() as stub:
        assert at(kind, stub).label == "stub"


@each_chat
def test_schema_reaches_the_endpoint(kind: type[Chat], calls: Calls, ask: MakeRequest) -> None:
    """The schema of the reply is sent, and another schema is another call."""
    schemas: list[dict[str, object]] = [
        {"type": "object", "title": "first"},
        {"type": "object", "title": "second"},
    ]

    def script(received: Received) -> str:
        return next(s for s in ("first", "second") if s in json.dumps(received.body))

    with StubEndpoint(script) as stub:
        chat = at(kind, stub)
        texts = [chat.complete(ask(schema=schema), calls).text for schema in schemas]

    assert texts == ["first", "second"]


@each_chat
def test_samples_are_drawn_apart(kind: type[Chat], calls: Calls, ask: MakeRequest) -> None:
    """Each sample that is sent separately has its own seed and the temperature it needs."""
    with StubEndpoint() as stub:
        chat = at(kind, stub, seed=7)
        for sample in (0, 2):
            chat.complete(ask(sample=sample, least_temperature=0.3), calls)
        bodies = [received.body for received in stub.chats]

    drawn = [body.get("options", body) for body in bodies]
    assert [(body["seed"], body["temperature"]) for body in drawn] == [(7, 0.3), (9, 0.3)]
