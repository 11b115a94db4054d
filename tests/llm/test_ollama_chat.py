"""Ollama's native protocol."""

from collections.abc import Callable, Iterator

import pytest

from harness.errors import EndpointError
from harness.llm import Calls, Message, OllamaChat, Request
from tests.stub_endpoint import Reply, StubEndpoint

SCHEMA: dict[str, object] = {"type": "object"}
MakeRequest = Callable[..., Request]


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with StubEndpoint("27 metres", models=["qwen3:4b", "llava:latest"], digest="abc") as stub:
        yield stub


def test_settings_stand_where_ollama_reads_them(
    stub: StubEndpoint, calls: Calls, ask: MakeRequest
) -> None:
    """Seed, temperature and num_ctx are options; the schema is the format."""
    chat = OllamaChat(base_url=stub.url, model="qwen3:4b", seed=7, context=4096, max_tokens=64)

    assert chat.complete(ask("q", schema=SCHEMA), calls).text == "27 metres"
    assert stub.chats[0].path == "/api/chat"
    assert stub.chats[0].body == {
        "model": "qwen3:4b",
        "messages": [{"role": "user", "content": "q"}],
        "format": SCHEMA,
        "options": {"temperature": 0.0, "seed": 7, "num_ctx": 4096, "num_predict": 64},
        "stream": False,
        "truncate": False,
        "shift": False,
    }


def test_identity_is_the_digest(stub: StubEndpoint) -> None:
    """The digest of the weights identifies the model on any server, and is requested once."""
    chat = OllamaChat(base_url=stub.url, model="qwen3:4b")

    assert chat.identity()["digest"] == "abc"
    assert "base_url" not in chat.identity()
    assert [received.path for received in stub.received] == ["/api/tags"]


def test_other_weights_under_the_name_are_another_call(ask: MakeRequest) -> None:
    """Other weights under the same name do not use the cached calls of the former ones."""
    keys = set()
    for digest in ("old", "new"):
        with StubEndpoint(models=["m:latest"], digest=digest) as stub:
            keys.add(OllamaChat(base_url=stub.url, model="m").key(ask()))

    assert len(keys) == 2


def test_tag_may_be_left_out(stub: StubEndpoint) -> None:
    """A model without a tag is the one tagged latest."""
    assert OllamaChat(base_url=stub.url, model="llava").identity()["digest"] == "abc"


def test_model_that_is_not_there(stub: StubEndpoint, calls: Calls, ask: MakeRequest) -> None:
    """A missing model is a failure that says how to install it and which models there are."""
    (outcome,) = OllamaChat(base_url=stub.url, model="gemma").complete_all([ask()], calls)

    assert isinstance(outcome, EndpointError)
    assert "`ollama pull gemma`" in str(outcome)
    assert "llava:latest, qwen3:4b" in str(outcome)
    assert stub.chats == []


def test_reply_is_read(calls: Calls, ask: MakeRequest) -> None:
    """Reasoning, finish reason and token counts have other names in this protocol."""
    reply = Reply(content="", reasoning="hm", finish_reason="length", prompt_tokens=20)
    with StubEndpoint(reply) as stub:
        completion = OllamaChat(base_url=stub.url, model="stub").complete(ask(), calls)

    assert (completion.text, completion.reasoning) == ("", "hm")
    assert (completion.finish_reason, completion.input_tokens) == ("length", 20)


def test_images_are_bare_base64(stub: StubEndpoint, calls: Calls) -> None:
    """An image is beside the content, without the `data:` of the other protocol."""
    request = Request((Message("user", "What?", (b"\x89PNG",)),))
    OllamaChat(base_url=stub.url, model="llava").complete(request, calls)

    assert stub.chats[0].messages[0]["images"] == ["iVBORw=="]


class TestDeclaredDigest:
    """`digest=` says which weights are meant, so that no server is needed."""

    def test_replays_without_a_server(self, calls: Calls, ask: MakeRequest) -> None:
        """Cached replies of those weights are found, and any other request is a failure."""
        with StubEndpoint("27 metres", models=["m:latest"], digest="abc") as stub:
            OllamaChat(base_url=stub.url, model="m").complete(ask("q"), calls)

        away = OllamaChat(base_url="http://127.0.0.1:9", model="m", digest="abc", backoff=0.01)
        replayed, fresh = away.complete_all([ask("q"), ask("new")], calls)

        assert getattr(replayed, "text", None) == "27 metres"
        assert "start the server" in str(fresh)

    def test_other_weights_are_not_asked(
        self, stub: StubEndpoint, calls: Calls, ask: MakeRequest
    ) -> None:
        """A server that has other weights gets no request, and both digests are named."""
        chat = OllamaChat(base_url=stub.url, model="llava", digest="feed")
        (outcome,) = chat.complete_all([ask()], calls)

        assert isinstance(outcome, EndpointError)
        assert "'llava' has the digest abc there, but digest=feed is set" in str(outcome)
        assert stub.chats == []

    def test_the_same_weights_are_asked(
        self, stub: StubEndpoint, calls: Calls, ask: MakeRequest
    ) -> None:
        """Where the server has those weights, the digest changes neither reply nor key."""
        declared = OllamaChat(base_url=stub.url, model="llava", digest="abc")
        plain = OllamaChat(base_url=stub.url, model="llava")

        assert declared.complete(ask(), calls).text == "27 metres"
        assert declared.key(ask()) == plain.key(ask())

    def test_is_named_where_the_server_is_away(self, ask: MakeRequest) -> None:
        """Without it, a server that cannot be reached is an error that mentions `digest=`."""
        with pytest.raises(
            EndpointError, match=r"start the server.* set variant.chat.digest=<digest> "
        ):
            OllamaChat(base_url="http://127.0.0.1:9", model="m", backoff=0.01).key(ask())
