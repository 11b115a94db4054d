"""The HTTP client of an endpoint: address, size of a reply, proxy, certificates, environment."""

import gzip
import json
import logging
import socket
import ssl
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import trustme

from harness.errors import ConfigError, EndpointError
from harness.llm import Calls, OllamaChat, OpenAIChat, OpenAIEmbedder, Request, Role
from tests.stub_endpoint import Received, Reply, StubEndpoint, hashed_vector

MakeChat = Callable[..., OpenAIChat]
MakeRequest = Callable[..., Request]
Reach = Callable[..., str]


@pytest.fixture
def reach(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> Reach:
    """Send a request to a stub, with these settings, and return the reply."""

    def reply(stub: StubEndpoint, **fields: object) -> str:
        return chat_at(stub, **fields).complete(ask(), calls).text

    return reply


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("http://me:secret@host/v1", "***@host/v1 is not .*, without user and password: a key is"),
        ("http://secret@host/v1", "http://***@host/v1 is not an address; .*, without user and"),
        ("me:secret@host/v1", "***@host/v1 is not an address; .*, without user and password"),
        ("http://me:se/cr@et@host/v1", "http://***@host/v1 is not an address; .*, without user"),
        ("http://me:secret%40host/v1", "http://***@host/v1 is not an address; .*, without user"),
        ("http://host/v1?key=secret", r"http://host/v1\?*** is not an address; .*, without \? and"),
        ("http://host/v1#secret", r"http://host/v1\?*** is not an address; .*, without \? and #"),
        ("http://host/v1/chat/completions", "/chat/completions is added to it; .*=http://host/v1"),
        ("http://host/v1/embeddings/", "/embeddings/ is added to it; set base_url=http://host/v1"),
    ],
)
def test_what_an_address_must_not_hold(calls: Calls, ask: MakeRequest, url: str, line: str) -> None:
    """The reason is said, and a password or key in the address is not repeated."""
    with pytest.raises(ConfigError, match=line.replace("***", r"\*\*\*")) as raised:
        OpenAIChat(base_url=url, model="stub").complete(ask(), calls)

    assert "secret" not in str(raised.value)


def test_the_two_protocols_of_ollama(calls: Calls, ask: MakeRequest) -> None:
    """The address of the one is refused for the other, with the right one."""
    with pytest.raises(ConfigError, match=r"no /v1; set base_url=http://localhost:11434$"):
        OllamaChat(base_url="http://localhost:11434/v1/", model="stub").complete(ask(), calls)


@pytest.mark.parametrize("reply", [Reply(status=404), Reply(raw=b"<html>a router</html>")])
def test_an_address_without_the_protocol(reach: Reach, reply: Reply) -> None:
    """Where no model server answers, the remedy is the address that most servers have."""
    with StubEndpoint(reply) as stub:
        line = f"set base_url={stub.url}/v1"
        with pytest.raises(EndpointError, match=line):
            reach(stub, base_url=stub.url, retries=0)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:11434/v1",
        "http//x/v1",
        "http://127.0.0.1:99999/v1",
        "http://[::1/v1",
        "http://a..b/v1",
        "http://me:secret@models.example/v1",
        "http://models.example/v1?api-version=1",
        "http://models.example/v1 ",
        "",
    ],
)
def test_invalid_address(calls: Calls, ask: MakeRequest, url: str) -> None:
    """An invalid address is an error before anything is sent, and says how to write it."""
    with pytest.raises(ConfigError, match=r"is not an address; write it as http://host:port/v1"):
        OpenAIChat(base_url=url, model="stub").complete(ask(), calls)


def test_half_a_character_is_sent_as_its_escape(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """UTF-8 cannot hold half a surrogate pair, JSON can."""
    with StubEndpoint() as stub:
        assert chat_at(stub).complete(ask("高\ud83d"), calls).text == "ok"

    assert stub.chats[0].prompt == "高\ud83d"


def test_host_that_is_not_there(reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that does not resolve is one line with the remedy."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with StubEndpoint() as stub:
        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        with pytest.raises(EndpointError, match="no such host; start the server, or cor"):
            reach(stub, base_url="http://models.invalid/v1")


def test_environment_does_not_move_a_call(
    reach: Reach,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Address and key come from the configuration; a differing variable is a warning."""
    dead = "http://127.0.0.1:9"
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, dead)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-place")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-place")
    with StubEndpoint() as stub, caplog.at_level(logging.WARNING):
        assert reach(stub) == "ok"

    assert "another-place" not in str(stub.chats[0].headers)
    assert f"OPENAI_BASE_URL is not followed: calls go to {stub.base_url}" in caplog.text


def test_netrc_is_not_used(
    reach: Reach,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A .netrc of the user neither replaces the key nor breaks the call."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password of-another-place\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with StubEndpoint() as stub:
        assert reach(stub) == "ok"

    assert stub.chats[0].headers["authorization"] == "Bearer none"


class TestRepeatedReplies:
    """A server that sends every third reply twice: no reply is taken for another question's."""

    QUESTIONS = tuple(f"question {number}" for number in range(30))

    @staticmethod
    def script(stub: Callable[[], StubEndpoint], late: bool) -> Callable[[Received], Reply]:
        """Answer with the question, and repeat every third reply, at once or a little later."""

        def echo(received: Received) -> Reply:
            third = len(stub().chats) % 3 == 0
            return Reply(received.prompt, twice=third and not late, late=third and late)

        return echo

    @pytest.mark.parametrize("late", [False, True], ids=["at once", "late"])
    @pytest.mark.parametrize("protocol", ["openai", "ollama"])
    def test_chat(self, calls: Calls, ask: MakeRequest, protocol: str, late: bool) -> None:
        """Each question gets its own reply, in both protocols."""
        with StubEndpoint(self.script(lambda: stub, late)) as stub:
            chat: OpenAIChat | OllamaChat = (
                OpenAIChat(base_url=stub.base_url, model="stub")
                if protocol == "openai"
                else OllamaChat(base_url=stub.url, model="stub")
            )
            outcomes = chat.complete_all([ask(question) for question in self.QUESTIONS], calls)

        assert tuple(getattr(each, "text", each) for each in outcomes) == self.QUESTIONS
        assert calls.sent == len(self.QUESTIONS)

    @pytest.mark.parametrize("way", ["https", "proxy"])
    def test_other_ways(
        self,
        calls: Calls,
        ask: MakeRequest,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        way: str,
    ) -> None:
        """Each question gets its own reply under https, and through a proxy."""
        authority = trustme.CA()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        tls = context if way == "https" else None
        with StubEndpoint(self.script(lambda: stub, late=False), tls=tls) as stub:
            monkeypatch.setenv("http_proxy", stub.url)
            base_url = stub.base_url if way == "https" else "http://models.example/v1"
            chat = OpenAIChat(base_url=base_url, model="stub")
            outcomes = chat.complete_all([ask(question) for question in self.QUESTIONS], calls)

        assert tuple(getattr(each, "text", each) for each in outcomes) == self.QUESTIONS

    def test_embeddings(self, calls: Calls) -> None:
        """Each text gets its own vector."""
        with StubEndpoint(fault=Reply(twice=True)) as stub:
            embedder = OpenAIEmbedder(
                base_url=stub.base_url,
                model="stub",
                query_prefix="",
                passage_prefix="",
                batch_size=1,
            )
            vectors = embedder.embed(self.QUESTIONS, Role.QUERY, calls)

        expected = [hashed_vector(question) for question in self.QUESTIONS]
        assert np.allclose(vectors, expected, atol=1e-6)


class TestSizeOfAReply:
    """A reply is read up to a limit, decompressed bytes counted; more is a failed attempt."""

    @pytest.fixture(autouse=True)
    def _limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("harness.llm.http_client.MOST_BYTES", 2**20)
        monkeypatch.setattr("harness.llm.http_client.MOST_BYTES_OF_VECTORS", 2**21)

    @pytest.mark.parametrize("status", [200, 500])
    def test_too_large(self, calls: Calls, reach: Reach, status: int) -> None:
        """More bytes than that end the call in one line, also those of an error."""
        with (
            StubEndpoint(Reply(status=status, raw=b" " * (2**20 + 1))) as stub,
            pytest.raises(EndpointError, match="the reply is larger than 1 MiB; is base_url"),
        ):
            reach(stub, retries=1)

        assert calls.sent == 2

    def test_small_but_decompressed_large(self, calls: Calls, reach: Reach) -> None:
        """A few kilobytes that would be 100 MB are decompressed up to the limit."""
        bomb = Reply(raw=gzip.compress(b" " * 10**8), headers={"Content-Encoding": "gzip"})
        with StubEndpoint(bomb) as stub:
            reach_once = partial(reach, stub, retries=0)
            with pytest.raises(EndpointError):
                reach_once()  # imports what the first call needs
            tracemalloc.start()
            with pytest.raises(EndpointError, match="the reply is larger than 1 MiB"):
                reach_once()
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()

        assert peak < 2**23

    def test_errors_keep_no_reply(self, calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
        """Errors are kept as values: a reply in their tracebacks would stay in memory."""
        with StubEndpoint(Reply(raw=b" " * 2**21)) as stub:
            [outcome] = chat_at(stub, retries=0).complete_all([ask()], calls)

        assert isinstance(outcome, EndpointError)
        assert (outcome.__cause__, outcome.__context__) == (None, None)

    def test_sometimes_too_large(self, reach: Reach) -> None:
        """The call is answered where another attempt brings a reply of a usual size."""
        with StubEndpoint([Reply(raw=b" " * 2**21), "27 metres"]) as stub:
            assert reach(stub) == "27 metres"

    def test_vectors_may_be_larger(self, calls: Calls) -> None:
        """A batch of vectors has a limit of its own."""
        with StubEndpoint(embed=lambda _: [0.123456789] * 100_000) as stub:
            embedder = OpenAIEmbedder(
                base_url=stub.base_url, model="stub", query_prefix="", retries=0
            )
            assert embedder.embed(["tower"], Role.QUERY, calls).shape == (1, 100_000)
            with pytest.raises(EndpointError, match=r"larger than 2 MiB; .* batch_size may"):
                embedder.embed(["two", "towers"], Role.QUERY, calls)

    def test_compressed_reply_is_read(self, reach: Reach) -> None:
        """A reply below the limit is decompressed."""
        body = json.dumps({"choices": [{"message": {"content": "27 metres"}}]}).encode()
        reply = Reply(raw=gzip.compress(body), headers={"Content-Encoding": "gzip"})
        with StubEndpoint(reply) as stub:
            assert reach(stub) == "27 metres"


@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream"])
def test_json_of_another_content_type_is_read(reach: Reach, content_type: str) -> None:
    """Some servers do not say that their reply is JSON."""
    with StubEndpoint(Reply("27 metres", content_type=content_type)) as stub:
        assert reach(stub) == "27 metres"


def test_cookies_are_not_sent_back(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> None:
    """No reply depends on a cookie that an earlier one set."""
    with StubEndpoint(Reply("ok", headers={"Set-Cookie": "route=1; Path=/"})) as stub:
        chat = chat_at(stub)
        for question in ("a", "b"):
            chat.complete(ask(question), calls)

    assert "cookie" not in stub.chats[1].headers


def test_redirects_are_not_followed(reach: Reach) -> None:
    """A key is not sent to another address: one line names it."""
    with StubEndpoint() as other:
        moved = Reply(status=308, headers={"Location": f"{other.base_url}/chat/completions"})
        with (
            StubEndpoint(moved) as stub,
            pytest.raises(
                EndpointError, match=r"HTTP 308: redirect to http.*; redirects are"
            ) as up,
        ):
            reach(stub)

    assert str(up.value).endswith(f"set base_url={other.base_url}")
    assert other.received == []


@pytest.mark.parametrize(
    ("location", "line"),
    [
        ("/v2/chat/completions?key=secret", r"redirect to .*/v2/chat/completions; .*base_url=http"),
        ("https://me:secret@host/login", "redirect to https://host/login; .* the address that ans"),
        ("http://[::1", "redirect to another address; .* to the address that answers"),
        (None, "HTTP 307: redirect to another address; .* to the address that answers"),
    ],
)
def test_where_a_redirect_leads(reach: Reach, location: str | None, line: str) -> None:
    """A relative address is completed, and no secret is repeated."""
    moved = Reply(status=307, headers={"Location": location} if location else {})
    with StubEndpoint(moved) as stub, pytest.raises(EndpointError, match=line) as raised:
        reach(stub)

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("key", ["sk-1\nsk-2", "sk-ключ", "sk-\x07"])
def test_invalid_key(reach: Reach, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """A key with a line break or other letters is an error that names its variable only."""
    monkeypatch.setenv("MY_KEY", key)
    with StubEndpoint() as stub, pytest.raises(ConfigError, match="MY_KEY does not hold") as raised:
        reach(stub, api_key_env="MY_KEY")

    assert stub.received == []
    assert key[:3] not in str(raised.value)


def test_key_in_the_place_of_its_name(reach: Reach) -> None:
    """A key given as the name of its variable is refused, not shown, and not written down."""
    with StubEndpoint() as stub, pytest.raises(ConfigError, match="never the key") as raised:
        reach(stub, api_key_env="sk-12345")

    assert "sk-12345" not in str(raised.value)


class TestCertificates:
    """A server under https needs a certificate that can be verified."""

    @pytest.fixture
    def authority(self) -> trustme.CA:
        return trustme.CA()

    @pytest.fixture
    def tls(self, authority: trustme.CA) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        return context

    def test_unknown_is_refused(self, calls: Calls, reach: Reach, tls: ssl.SSLContext) -> None:
        """A certificate of an unknown authority ends the call, and no key is sent."""
        with (
            StubEndpoint(tls=tls) as stub,
            pytest.raises(
                EndpointError, match=r"cannot be verified: .*verify failed.*; set SSL_CERT_FILE"
            ),
        ):
            reach(stub)

        assert calls.sent == 1
        assert stub.received == []

    def test_own_authority(
        self,
        reach: Reach,
        authority: trustme.CA,
        tls: ssl.SSLContext,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        """SSL_CERT_FILE names the authority of a company, as it does for other tools."""
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        with StubEndpoint("under https", tls=tls) as stub:
            assert reach(stub) == "under https"


class TestProxy:
    """A proxy of the environment is used for addresses beyond this machine."""

    @pytest.fixture(autouse=True)
    def _none_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.upper(), raising=False)

    def test_carries_the_call(
        self,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The proxy gets the whole address and returns the reply."""
        with StubEndpoint("by proxy") as stub:
            monkeypatch.setenv("http_proxy", stub.url)
            assert reach(stub, base_url="http://models.example/v1") == "by proxy"

        assert stub.chats[0].path == "http://models.example/v1/chat/completions"

    def test_openai_gets_the_organisation(
        self,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Organisation and project are sent to api.openai.com only."""
        monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
        monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
        with StubEndpoint() as stub:
            monkeypatch.setenv("http_proxy", stub.url)
            for host in ("api.openai.com", "other.example"):
                reach(stub, base_url=f"http://{host}/v1")
            openai, other = (received.headers for received in stub.chats)

        assert (openai["openai-organization"], openai["openai-project"]) == ("org-1", "proj-1")
        assert not {"openai-organization", "openai-project"} & other.keys()

    def test_does_not_see_the_key(
        self,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A proxy that carries https sees the host, and not the key."""
        monkeypatch.setenv("MY_KEY", "sk-secret-123")
        with StubEndpoint(fault=Reply(status=403)) as stub:
            monkeypatch.setenv("https_proxy", stub.url)
            with pytest.raises(EndpointError, match="proxy refuses: HTTP 403; correct http_pr"):
                reach(stub, base_url="https://seen.example/v1", api_key_env="MY_KEY")

        (tunnel,) = stub.received
        assert tunnel.path == "seen.example:443"
        assert not {"authorization", "proxy-authorization"} & tunnel.headers.keys()
        assert "secret" not in str(tunnel)

    @pytest.mark.parametrize("scheme", ["http", "https"])
    def test_password_is_sent_to_the_proxy_only(
        self,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
        scheme: str,
    ) -> None:
        """A proxy that refuses user and password is an error without them, after one request."""
        refusal = Reply(status=407)
        with StubEndpoint(refusal, fault=refusal) as stub:
            monkeypatch.setenv(f"{scheme}_proxy", stub.url.replace("//", "//me:hunter2@"))
            with pytest.raises(EndpointError, match=r"HTTP 407.*; correct http_proxy") as raised:
                reach(stub, base_url=f"{scheme}://refused.example/v1")

        (received,) = stub.received
        assert received.headers["proxy-authorization"] == "Basic bWU6aHVudGVyMg=="
        assert "hunter2" not in str(raised.value)

    def test_is_down(
        self,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The error names the proxy as a possible cause; its scheme may be left out."""
        with StubEndpoint() as stub:
            pass
        monkeypatch.setenv("http_proxy", stub.url.removeprefix("http://"))
        with pytest.raises(EndpointError, match=r"connection refused; is the proxy .* running"):
            reach(stub, base_url="http://unreached.example/v1")

    def test_is_not_used_on_this_machine(
        self, reach: Reach, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Calls to this machine use no proxy, whatever its kind."""
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:9")
        with StubEndpoint("direct") as stub:
            assert reach(stub) == "direct"
            assert reach(stub, base_url=stub.base_url.replace("127.0.0.1", "localhost")) == "direct"

    def test_is_not_used_for_excepted_hosts(
        self, reach: Reach, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """no_proxy names hosts that are reached directly."""
        with StubEndpoint("by proxy") as stub:
            monkeypatch.setenv("http_proxy", stub.url)
            monkeypatch.setenv("no_proxy", "models.invalid")
            with pytest.raises(EndpointError, match="no such host"):
                reach(stub, base_url="http://models.invalid/v1")
            assert reach(stub, base_url="http://other.invalid/v1") == "by proxy"

    @pytest.mark.parametrize(
        ("proxy", "message"),
        [
            ("socks5://me:secret@127.0.0.1:1080", "pip install socksio, or unset all_proxy"),
            (
                "ftp://me:secret@127.0.0.1:1080",
                "whose address is invalid; correct http_proxy",
            ),
            (
                "http://me:secret@127.0.0.1:port",
                "whose address is invalid; correct http_proxy",
            ),
        ],
    )
    def test_cannot_be_used(
        self,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
        proxy: str,
        message: str,
    ) -> None:
        """A SOCKS proxy without socksio, or an invalid one, is one line without the password."""
        monkeypatch.setitem(sys.modules, "socksio", None)
        monkeypatch.setenv("all_proxy", proxy)
        with StubEndpoint() as stub, pytest.raises(ConfigError, match=message) as raised:
            reach(stub, base_url=f"http://{len(proxy)}.example/v1")

        assert "secret" not in str(raised.value)
        assert "\n" not in str(raised.value)
