"""The way to an endpoint: address, proxy, certificates, and what the environment may not do."""

import logging
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme
from harness.llm.connection import proxy_for

from harness.errors import ConfigError, EndpointError
from harness.llm import Calls, OpenAIChat, Request
from tests.stub_endpoint import Reply, StubEndpoint

MakeChat = Callable[..., OpenAIChat]
MakeRequest = Callable[..., Request]
Reach = Callable[..., str]


@pytest.fixture
def reach(calls: Calls, chat_at: MakeChat, ask: MakeRequest) -> Reach:
    """Ask a question at a stub, with these settings, and return the reply."""

    def asked(stub: StubEndpoint, **fields: object) -> str:
        return chat_at(stub, **fields).complete(ask(), calls).text

    return asked


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
def test_what_is_no_address(calls: Calls, ask: MakeRequest, url: str) -> None:
    """A slip in the address is told before anything is asked, with how to write it."""
    with pytest.raises(ConfigError, match=r"is no address; write it as http://host:port/v1"):
        OpenAIChat(base_url=url, model="stub").complete(ask(), calls)


def test_half_a_character_is_sent_as_its_escape(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest
) -> None:
    """UTF-8 cannot hold half a surrogate pair, JSON can."""
    with StubEndpoint() as stub:
        assert chat_at(stub).complete(ask("高\ud83d"), calls).text == "ok"

    assert stub.chats[0].prompt == "高\ud83d"


def test_host_that_is_not_there(reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that does not resolve is an address to mend, like one where nobody listens."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with StubEndpoint() as stub:
        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        with pytest.raises(EndpointError, match="no such host; start the server, or set base_url"):
            reach(stub, base_url="http://models.invalid/v1")


def test_environment_does_not_move_a_call(
    reach: Reach,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Case N09: address and key come from the configuration; a differing variable is told."""
    dead = "http://127.0.0.1:9"
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, dead)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-place")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-place")
    with StubEndpoint() as stub, caplog.at_level(logging.WARNING):
        assert reach(stub) == "ok"

    assert "another-place" not in str(stub.chats[0].headers)
    assert f"OPENAI_BASE_URL is not followed: calls go to {stub.base_url}" in caplog.text


def test_netrc_gives_nobody_a_key(
    reach: Reach,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A .netrc of the user's neither replaces the key nor breaks the call."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password of-another-place\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with StubEndpoint() as stub:
        assert reach(stub) == "ok"

    assert stub.chats[0].headers["authorization"] == "Bearer none"


def test_what_nobody_asked_for_is_no_reply(
    calls: Calls, chat_at: MakeChat, ask: MakeRequest, caplog: pytest.LogCaptureFixture
) -> None:
    """A reply that comes on an idle connection is not the next question's, and costs no try."""
    stray = b'{"choices": [{"message": {"content": "of another question"}}]}'
    late = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(stray), stray)
    with StubEndpoint([Reply("first", stray=late), "second"]) as stub:
        chat = chat_at(stub)
        first = chat.complete(ask("1"), calls).text
        assert stub.strayed.wait(10)
        time.sleep(0.2)
        second = chat.complete(ask("2"), calls).text

    assert (first, second) == ("first", "second")
    assert calls.sent == 2
    assert "sent something that nobody had asked for" in caplog.text


def test_redirection_is_not_followed(reach: Reach) -> None:
    """A key is not carried to another place: the address is to be mended."""
    with StubEndpoint() as other:
        moved = Reply(status=308, headers={"Location": f"{other.base_url}/chat/completions"})
        with (
            StubEndpoint(moved) as stub,
            pytest.raises(EndpointError, match="HTTP 308"),
        ):
            reach(stub)

    assert other.received == []


@pytest.mark.parametrize("key", ["sk-1\nsk-2", "sk-ключ", "sk-\x07"])
def test_what_no_key_can_be(reach: Reach, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """A key that was pasted with too much of its file is told by its variable, and kept secret."""
    monkeypatch.setenv("MY_KEY", key)
    with StubEndpoint() as stub, pytest.raises(ConfigError, match="MY_KEY holds what no") as raised:
        reach(stub, api_key_env="MY_KEY")

    assert stub.received == []
    assert key[:3] not in str(raised.value)


def test_key_in_the_place_of_its_name(reach: Reach) -> None:
    """A key that is given as the name of its variable is refused, not shown, and not written."""
    with StubEndpoint() as stub, pytest.raises(ConfigError, match="never the key") as raised:
        reach(stub, api_key_env="sk-12345")

    assert "sk-12345" not in str(raised.value)


class TestCertificates:
    """Whoever answers under https must show who it is."""

    @pytest.fixture
    def authority(self) -> trustme.CA:
        return trustme.CA()

    @pytest.fixture
    def tls(self, authority: trustme.CA) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        return context

    def test_unknown_is_refused(self, calls: Calls, reach: Reach, tls: ssl.SSLContext) -> None:
        """A certificate that nobody vouches for ends the call, and no key is sent."""
        with (
            StubEndpoint(tls=tls) as stub,
            pytest.raises(
                EndpointError, match=r"cannot be trusted: .*verify failed.*; name .* SSL_CERT_FILE"
            ),
        ):
            reach(stub)

        assert calls.sent == 1
        assert stub.received == []

    def test_authority_of_ones_own(
        self,
        reach: Reach,
        authority: trustme.CA,
        tls: ssl.SSLContext,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        """SSL_CERT_FILE adds the authority of a company, as it does for other tools."""
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        with StubEndpoint("under https", tls=tls) as stub:
            assert reach(stub) == "under https"


class TestProxy:
    """A proxy of the environment is used for what is not on this machine."""

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
        """The proxy is sent the whole address, and gives back the reply."""
        with StubEndpoint("by proxy") as stub:
            monkeypatch.setenv("http_proxy", stub.url)
            assert reach(stub, base_url="http://models.example/v1") == "by proxy"

        assert stub.chats[0].path == "http://models.example/v1/chat/completions"

    def test_openai_is_told_whom_to_bill(
        self,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Organisation and project go to api.openai.com, and nowhere else."""
        monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
        monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
        with StubEndpoint() as stub:
            monkeypatch.setenv("http_proxy", stub.url)
            for host in ("api.openai.com", "other.example"):
                reach(stub, base_url=f"http://{host}/v1")
            openai, other = (received.headers for received in stub.chats)

        assert (openai["openai-organization"], openai["openai-project"]) == ("org-1", "proj-1")
        assert not {"openai-organization", "openai-project"} & other.keys()

    def test_is_not_shown_the_key(
        self,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A proxy that is to carry https sees the host, and nothing of the key."""
        monkeypatch.setenv("MY_KEY", "sk-secret-123")
        with StubEndpoint(fault=Reply(status=403)) as stub:
            monkeypatch.setenv("https_proxy", stub.url)
            with pytest.raises(EndpointError, match="the proxy refuses: HTTP 403; mend http_proxy"):
                reach(stub, base_url="https://seen.example/v1", api_key_env="MY_KEY")

        (tunnel,) = stub.received
        assert tunnel.path == "seen.example:443"
        assert not {"authorization", "proxy-authorization"} & tunnel.headers.keys()
        assert "secret" not in str(tunnel)

    @pytest.mark.parametrize("scheme", ["http", "https"])
    def test_password_is_told_to_the_proxy_alone(
        self,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
        scheme: str,
    ) -> None:
        """A proxy that refuses user and password is told without them, and asked once."""
        refusal = Reply(status=407)
        with StubEndpoint(refusal, fault=refusal) as stub:
            monkeypatch.setenv(f"{scheme}_proxy", stub.url.replace("//", "//me:hunter2@"))
            with pytest.raises(EndpointError, match=r"HTTP 407.*; mend http_proxy") as raised:
                reach(stub, base_url=f"{scheme}://refused.example/v1")

        (received,) = stub.received
        assert received.headers["proxy-authorization"] == "Basic bWU6aHVudGVyMg=="
        assert "hunter2" not in str(raised.value)

    def test_is_down(
        self,
        reach: Reach,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """It is the proxy that is named, not the server behind it; a scheme may be left out."""
        with StubEndpoint() as stub:
            pass
        monkeypatch.setenv("http_proxy", stub.url.removeprefix("http://"))
        with pytest.raises(EndpointError, match="the proxy does not answer; mend http_proxy"):
            reach(stub, base_url="http://unreached.example/v1")

    def test_is_left_aside(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where no_proxy says so, on this machine, and for another protocol."""
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", "models.example")

        assert proxy_for("http://models.example/v1") is None
        assert proxy_for("http://localhost:11434/v1") is None
        assert proxy_for("http://elsewhere.example/v1") == "http://127.0.0.1:9"
        assert proxy_for("https://elsewhere.example/v1") is None

    def test_must_speak_http(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Another one is told, without what it may hold of a password."""
        monkeypatch.setenv("all_proxy", "socks5://me:secret@127.0.0.1:1080")
        with pytest.raises(ConfigError, match=r"speaks socks5; set https_proxy to one"):
            proxy_for("https://models.example/v1")

        monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
        assert proxy_for("https://models.example/v1") == "http://127.0.0.1:9"
