"""The OpenAI protocol: what is sent, and how the reply is read."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from openai import OpenAI

from harness.errors import ConfigError, EndpointError
from harness.llm import (
    AzureChat,
    Calls,
    Message,
    OpenAIChat,
    OpenAIEmbedder,
    Request,
    Role,
    Structured,
)
from harness.llm.openai_chat import departures
from tests.stub_endpoint import Received, Reply, StubEndpoint

SCHEMA: dict[str, object] = {"type": "object", "properties": {"verdict": {"type": "integer"}}}
MakeChat = Callable[..., OpenAIChat]
MakeRequest = Callable[..., Request]


def test_sampling_is_on_the_wire(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """Seed and temperature are at the top level, where this protocol reads them."""
    with StubEndpoint() as stub:
        chat_at(stub, seed=7, top_p=0.9, max_tokens=50).complete(ask("q"), calls)
        body = stub.chats[0].body

    assert body == {
        "model": "stub",
        "messages": [{"role": "user", "content": "q"}],
        "temperature": 0.0,
        "top_p": 0.9,
        "seed": 7,
        "max_tokens": 50,
    }


def test_null_is_not_sent(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """With temperature=null none is sent; extras are sent unchanged."""
    with StubEndpoint() as stub:
        chat = chat_at(stub, temperature=None, seed=None, extra={"reasoning_effort": "low"})
        chat.complete(ask(), calls)

    assert set(stub.chats[0].body) == {"model", "messages", "reasoning_effort"}


def test_requests_room_wins(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """The `max_tokens` of a request takes precedence over the model's."""
    with StubEndpoint() as stub:
        chat_at(stub, max_tokens=50).complete(ask(max_tokens=200), calls)

    assert stub.chats[0].body["max_tokens"] == 200


def test_image_goes_beside_the_text(calls: Calls, chat_at: MakeChat) -> None:
    """An image is sent as base64 in a separate part."""
    request = Request((Message("user", "What does it show?", (b"\x89PNG",)),))
    with StubEndpoint() as stub:
        chat_at(stub).complete(request, calls)

    assert stub.chats[0].messages[0]["content"] == [
        {"type": "text", "text": "What does it show?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
    ]


def test_completion_holds_what_was_reported(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """Tokens and finish reason are the endpoint's; a truncated reply is returned unchanged."""
    reply = Reply("27 metr", finish_reason="length", prompt_tokens=12, completion_tokens=3)
    with StubEndpoint(reply) as stub:
        chat = chat_at(stub)
        request = ask()
        completion = chat.complete(request, calls)

    assert (completion.text, completion.finish_reason) == ("27 metr", "length")
    assert (completion.input_tokens, completion.output_tokens) == (12, 3)
    assert completion.call == chat.key(request)
    assert completion.seconds is not None
    assert 0.0 < completion.seconds < 5.0
    assert not completion.remembered


def test_empty_content_with_reasoning(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """Null content is an empty text, and the reasoning field is in `reasoning`."""
    with StubEndpoint(Reply(content=None, reasoning='{"verdict":1}')) as stub:
        completion = chat_at(stub).complete(ask(), calls)

    assert (completion.text, completion.reasoning) == ("", '{"verdict":1}')


@pytest.mark.parametrize("thinking", ["27?", [{"type": "text", "text": "27?"}]])
def test_thinking_parts_of_the_content_are_reasoning(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, thinking: object
) -> None:
    """A content in parts: the text is the answer, and what was thought is kept apart."""
    parts = [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "28"}]
    body = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    with StubEndpoint(Reply(raw=json.dumps(body).encode())) as stub:
        completion = chat_at(stub).complete(ask(), calls)

    assert (completion.text, completion.reasoning) == ("28", "27?")


def test_schema_is_asked_for(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """An endpoint that accepts JSON schemas gets the schema, marked strict."""
    with StubEndpoint("{}") as stub:
        chat_at(stub).complete(ask(schema=SCHEMA), calls)

    assert stub.chats[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
    }


def forms_taken(*taken: str) -> Callable[[Received], Reply]:
    """Script an endpoint that accepts only some reply formats."""

    def script(received: Received) -> Reply:
        form = received.body.get("response_format", {"type": "prose"})["type"]
        if form in taken:
            return Reply(form)
        return Reply(status=400, error=f"response_format {form} is not available")

    return script


@pytest.mark.parametrize(("taken", "requests"), [("json_object", 3), ("prose", 4)])
def test_refused_form_is_asked_for_once(
    calls: Calls,
    chat_at: MakeChat,
    ask: MakeRequest,
    caplog: pytest.LogCaptureFixture,
    taken: str,
    requests: int,
) -> None:
    """An endpoint that refuses JSON schemas gets the next format, from then on at once."""
    with StubEndpoint(forms_taken(taken)) as stub, caplog.at_level(logging.WARNING):
        chat = chat_at(stub)
        first = chat.complete(ask("first", schema=SCHEMA), calls)
        second = chat.complete(ask("second", schema=SCHEMA), calls)

    assert (first.text, second.text) == (taken, taken)
    assert len(stub.chats) == requests
    assert f"using {taken} from now on" in caplog.text
    ignored = {"ignored": 2} if taken == "json_object" else {}  # "json_object" is no JSON
    assert calls.reply_formats == {taken: 2, **ignored}


def test_chosen_form_is_not_changed(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """A format chosen by name that is refused is an error; no other one is tried."""
    with StubEndpoint(forms_taken("prose")) as stub:
        chat = chat_at(stub, structured=Structured.json_object)
        with pytest.raises(EndpointError, match="response_format json_object is not available"):
            chat.complete(ask(schema=SCHEMA), calls)

    assert len(stub.chats) == 1


def test_other_refusals_do_not_change_the_form(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """A refusal for another reason names the setting to change, and no other format is tried."""
    refusal = Reply(status=400, error="Unsupported value: temperature does not support 0.0")
    with StubEndpoint(refusal) as stub, pytest.raises(EndpointError, match="set temperature=null"):
        chat_at(stub).complete(ask(schema=SCHEMA), calls)

    assert len(stub.chats) == 1


def test_newer_name_of_the_room(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """A model that requires `max_completion_tokens` gets it, from then on at once."""

    def script(received: Received) -> Reply:
        if "max_tokens" in received.body:
            return Reply(status=400, error="Use 'max_completion_tokens' instead of 'max_tokens'")
        return Reply(str(received.body["max_completion_tokens"]))

    with StubEndpoint(script) as stub:
        chat = chat_at(stub, max_tokens=9)
        texts = [chat.complete(ask(question), calls).text for question in ("a", "b")]

    assert texts == ["9", "9"]
    assert len(stub.chats) == 3


def takes_one(reply: Reply) -> Callable[[Received], Reply]:
    """Script an endpoint that sends this reply to `n`, and the seed of the request otherwise."""

    def script(received: Received) -> Reply:
        return reply if received.body.get("n", 1) > 1 else Reply(str(received.body["seed"]))

    return script


@pytest.mark.parametrize(
    ("refusal", "sent"),
    [
        (Reply(status=400, error="Unsupported value: 'n' does not support 3"), 4),
        (Reply(status=500, error="Only one completion choice is allowed"), 4),
        (Reply("0", others=[]), 3),
        (Reply("0", others=["1"]), 2),
    ],
    ids=["refused", "llama.cpp", "ignored", "fewer"],
)
def test_samples_one_by_one_where_n_is_refused(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, refusal: Reply, sent: int
) -> None:
    """An endpoint that does not accept `n` gets a request per sample, each with its own seed.

    From then on at once, and each is counted.
    """
    with StubEndpoint(takes_one(refusal)) as stub:
        chat = chat_at(stub)
        first = chat.complete_all([ask("p", sample=i) for i in range(3)], calls)
        before = len(stub.chats)
        second = chat.complete_all([ask("q", sample=i) for i in range(3)], calls)

    for outcomes in (first, second):
        assert [getattr(outcome, "text", outcome) for outcome in outcomes] == ["0", "1", "2"]
    assert before == sent
    assert [received.body.get("n") for received in stub.chats[before:]] == [None] * 3
    assert calls.sent == before + 3
    assert calls.asked == calls.sent - (refusal.status != 200)


def test_refusal_for_another_reason(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """A request that is refused without `n` too is a failure, and `n` is tried again later."""
    with StubEndpoint(Reply(status=422, error="no")) as stub:
        chat = chat_at(stub)
        outcomes = chat.complete_all([ask(sample=i) for i in range(2)], calls)

    assert all("HTTP 422: no" in str(outcome) for outcome in outcomes)
    assert len(stub.chats) == 2
    assert chat.samples_at_once


@pytest.mark.parametrize(("set_to", "sent"), [(0.0, 0.3), (0.7, 0.7), (None, None)])
def test_least_temperature(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, set_to: float | None, sent: float | None
) -> None:
    """A lower temperature is raised; a higher one, and null, are kept."""
    with StubEndpoint() as stub:
        chat_at(stub, temperature=set_to).complete(ask(least_temperature=0.3), calls)

    assert stub.chats[0].body.get("temperature") == sent


def test_least_temperature_is_in_the_key(chat_at: MakeChat, ask: MakeRequest) -> None:
    """A request with another lower bound of the temperature is another call."""
    with StubEndpoint() as stub:
        chat = chat_at(stub)

    assert chat.key(ask()) != chat.key(ask(least_temperature=0.3))


def test_no_model_named(calls: Calls, ask: MakeRequest) -> None:
    """A chat without a model is an error before anything is sent."""
    with pytest.raises(ConfigError, match="which model"):
        OpenAIChat(base_url="http://127.0.0.1:9/v1").complete(ask(), calls)


class TestAzure:
    """Deployments on Azure have another path, another header and a version of the API."""

    @pytest.fixture
    def azure(self) -> Callable[..., AzureChat]:
        def make(stub: StubEndpoint, **fields: object) -> AzureChat:
            given = {"base_url": stub.url, "model": "my-gpt", "backoff": 0.01, **fields}
            return AzureChat(**given)  # type: ignore[arg-type]

        return make

    def test_path_version_and_key(
        self,
        calls: Calls,
        ask: MakeRequest,
        azure: Callable[..., AzureChat],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The deployment is in the path, the version in the query, the key in `api-key`."""
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "az-secret-1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-place")
        monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-place")
        with StubEndpoint("27 metres") as stub:
            chat = azure(stub, api_version="2024-10-21")
            assert chat.complete(ask("q"), calls).text == "27 metres"

        (received,) = stub.chats
        assert received.path == "/openai/deployments/my-gpt/chat/completions"
        assert received.query == "api-version=2024-10-21"
        assert received.headers["api-key"] == "az-secret-1"
        assert "authorization" not in received.headers
        assert "another-place" not in str(received)
        assert received.body["model"] == "my-gpt"

    def test_key_of_another_variable(
        self,
        calls: Calls,
        ask: MakeRequest,
        azure: Callable[..., AzureChat],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """`api_key_env` names another variable; an error that repeats the key masks it."""
        monkeypatch.setenv("MY_KEY", "az-secret-2")
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "az-secret-1")
        with StubEndpoint(Reply(status=401, error="bad key az-secret-2")) as stub:
            chat = azure(stub, api_key_env="MY_KEY")
            with pytest.raises(EndpointError, match=r"bad key \*\*\*; .*MY_KEY") as raised:
                chat.complete(ask("q"), calls)

        assert stub.chats[0].headers["api-key"] == "az-secret-2"
        assert "az-secret" not in str(raised.value) + str(chat.identity())

    def test_environment_does_not_move_the_call(
        self,
        calls: Calls,
        ask: MakeRequest,
        azure: Callable[..., AzureChat],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Endpoint, version and token of the environment are not used."""
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:9")
        monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "token-of-another-place")
        monkeypatch.setenv("OPENAI_API_VERSION", "1999-01-01")
        with StubEndpoint() as stub:
            azure(stub).complete(ask("q"), calls)

        assert stub.chats[0].query == "api-version=2024-10-21"
        assert "another-place" not in str(stub.chats[0].headers)

    def test_what_is_missing_is_named(self) -> None:
        """Without resource, deployment or version one line says what to set."""
        with pytest.raises(ConfigError, match=r"set base_url=https://<resource>"):
            AzureChat(model="m").identity()
        with pytest.raises(ConfigError, match=r"set variant\.chat\.model="):
            AzureChat(base_url="https://r.openai.azure.com").identity()
        with pytest.raises(ConfigError, match="needs api_version"):
            AzureChat(base_url="https://r.openai.azure.com", model="m", api_version="").identity()

    def test_resource_and_version_are_in_the_key(self, ask: MakeRequest) -> None:
        """Another resource, deployment or version of the API is another call."""
        chats = [
            AzureChat(base_url="https://a.openai.azure.com", model="m"),
            AzureChat(base_url="https://b.openai.azure.com", model="m"),
            AzureChat(base_url="https://a.openai.azure.com", model="n"),
            AzureChat(base_url="https://a.openai.azure.com", model="m", api_version="2025-01-01"),
        ]

        assert len({chat.key(ask()) for chat in chats}) == 4


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
def test_the_client_sends_the_same_chat(
    calls: Calls, chat_at: Callable[..., OpenAIChat], request_: Request
) -> None:
    """The typed client of the openai package accepts every field by name, and sends the same."""
    with StubEndpoint() as stub, client(stub) as typed:
        chat_at(stub).complete(request_, calls)
        typed.chat.completions.create(**stub.chats[0].body)

    ours, theirs = map(sent, stub.chats)
    assert ours == theirs


def test_the_client_sends_the_same_samples(
    calls: Calls, chat_at: Callable[..., OpenAIChat]
) -> None:
    """The typed client sends the same `n`."""
    requests = [Request((Message("user", "q"),), sample=sample) for sample in range(3)]
    with StubEndpoint() as stub, client(stub) as typed:
        chat_at(stub).complete_all(requests, calls)
        typed.chat.completions.create(**stub.chats[0].body)

    ours, theirs = map(sent, stub.chats)
    assert ours == theirs
    assert ours[3]["n"] == 3


def test_the_client_sends_the_same_embeddings(calls: Calls) -> None:
    """The typed client sends the same embeddings request, once it is asked for plain numbers."""
    with StubEndpoint() as stub, client(stub) as typed:
        embedder = OpenAIEmbedder(
            base_url=stub.base_url, model="stub", query_prefix="", passage_prefix=""
        )
        embedder.embed(["燈塔"], Role.QUERY, calls)
        typed.embeddings.create(**stub.received[0].body, encoding_format="float")

    ours, theirs = map(sent, stub.received)
    assert theirs[3].pop("encoding_format") == "float"
    assert ours == theirs


def test_departures() -> None:
    """A reply is checked against the package's types; fields it adds are allowed."""
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
    assert departures({**whole, "usage": None}) == {"usage": "missing"}
    assert list(departures({**whole, "choices": [{**choice, "finish_reason": "eos"}]})) == [
        "choices.0.finish_reason"
    ]
    assert list(departures({**whole, "usage": {**usage, "prompt_tokens": "9"}})) == [
        "usage.prompt_tokens"
    ]
    assert set(departures({"choices": []})) == {"id", "created", "model", "object"}
