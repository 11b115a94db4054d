"""Where an endpoint is, and the HTTP connections that go there."""

import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harness.errors import ConfigError

if TYPE_CHECKING:
    from ssl import SSLContext

log = logging.getLogger(__name__)

OPENAI_HOST = "api.openai.com"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Address:
    """Where an endpoint is, and how patiently it is asked."""

    base_url: str
    model: str
    api_key_env: str | None = None
    """None: no key is sent, but OPENAI_API_KEY to api.openai.com itself."""
    concurrency: int = 8
    climbs: bool = False
    timeout: float = 120.0
    """Seconds for one try, from when the endpoint starts on it."""
    deadline: float = 300.0
    """Seconds for all tries of a call together, likewise."""
    retries: int = 5
    backoff: float = 0.5
    """Seconds before the first retry; doubled each time, less up to a half by chance."""

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the key."""
        if self.api_key_env is None and urlsplit(self.base_url).hostname == OPENAI_HOST:
            return "OPENAI_API_KEY"
        return self.api_key_env


def is_address(base_url: str) -> bool:
    """Say whether a base URL names a host, and a path that more can be put behind.

    A user or password in it would be written down with the run.

    >>> is_address("http://localhost:11434/v1"), is_address("localhost:11434/v1")
    (True, False)
    """
    try:
        parts = urlsplit(base_url)
        host = (parts.hostname or "").encode("idna")  # raises where a label is empty or too long
        # `port` raises where it is no number, or too large.
        named = parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        return False
    return named and "@" not in parts.netloc and not re.search(r"[\s?#]", base_url)


class ReplyError(Exception):
    """A reply that is not of the protocol's form."""


class StatusError(Exception):
    """The endpoint replied, and not with a success."""

    def __init__(self, status: int, headers: Mapping[str, str], text: str) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.headers = headers
        """Case-insensitive."""
        self.text = text


class StrayError(Exception):
    """A connection on which something came that nobody had asked for."""


class Connection:
    """HTTP connections to one endpoint, kept open between calls. Lives on one event loop.

    Made of aiohttp itself: the client of the openai package takes some four times the CPU a call,
    and a second to import. The environment does not move a call that is configured:
    OPENAI_BASE_URL is not followed, loopback goes through no proxy, and .netrc gives nobody a key.
    """

    MOST_STRAYS = 256
    """Connections in a row on which something came unasked, until the server is no server of this
    protocol: as many may have been kept idle."""
    KEEP_SECONDS = 4.0
    """How long an idle connection is kept: common servers close theirs after five seconds, and a
    request that meets the closing is lost."""

    def __init__(self, base_url: str, key: str) -> None:
        import aiohttp

        elsewhere = os.environ.get("OPENAI_BASE_URL")
        if elsewhere and elsewhere.rstrip("/") != base_url.rstrip("/"):
            log.warning("OPENAI_BASE_URL is not followed: calls go to %s as configured", base_url)
        self._base_url = base_url
        self._wary = wary_request()
        # Headers of the session would go to a proxy too, the key among them.
        self._headers = headers_for(base_url, key)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, ssl=ssl_context_for(base_url), keepalive_timeout=self.KEEP_SECONDS
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            proxy=proxy_for(base_url),
            request_class=self._wary,
        )

    async def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send JSON, and return the JSON of the reply.

        Raises StatusError or ReplyError, aiohttp.ClientError or OSError.
        """
        for _ in range(self.MOST_STRAYS):
            try:
                data = await self._exchange(method, path, body)
                break
            except StrayError:  # nothing was sent; the next connection is another one
                self._beware()
        else:
            raise ReplyError("it speaks before it is asked")
        try:
            return json.loads(data.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise ReplyError(f"no JSON ({error})") from error

    async def _exchange(self, method: str, path: str, body: Mapping[str, Any] | None) -> bytes:
        """Send once, and return the body of the reply."""
        async with self._session.request(
            method, self._base_url + path, json=body, headers=self._headers, allow_redirects=False
        ) as reply:
            data = await reply.read()
            if reply.status >= 300:
                raise StatusError(reply.status, reply.headers, data.decode("utf-8", "replace"))
        return data

    def _beware(self) -> None:
        """Keep no connection from now on, and say so once."""
        if not self._wary.once:
            log.warning(
                "%s sent something that nobody had asked for: each connection is used once from "
                "now on. Should answers seem to belong to other questions, delete "
                "runs/.cache/calls.sqlite and give the command again with again=true",
                self._base_url,
            )
        self._wary.once = True

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


def wary_request() -> Any:
    """Return aiohttp's request, refusing a connection on which something came unasked.

    aiohttp would take what came for the reply: another question's answer, in the worst case.
    Only what came before the request was sent is seen: HTTP does not say whose a reply is. With
    its attribute `once` set, no connection is kept for another request.
    """
    import aiohttp

    class Wary(aiohttp.ClientRequest):
        once = False

        async def send(self, conn: "aiohttp.connector.Connection") -> aiohttp.ClientResponse:
            if conn.protocol is not None and conn.protocol.should_close:
                conn.close()
                raise StrayError
            if self.once and conn.protocol is not None:
                conn.protocol.force_close()
            return await super().send(conn)

    return Wary


def headers_for(base_url: str, key: str) -> dict[str, str]:
    """Return what goes with every request."""
    headers = {"Authorization": f"Bearer {key}", "User-Agent": "rag-ablation-harness"}
    if urlsplit(base_url).hostname == OPENAI_HOST:
        billed = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
        headers |= {name: os.environ[v] for name, v in billed.items() if os.environ.get(v)}
    return headers


def ssl_context_for(base_url: str) -> "SSLContext | bool":
    """Return what certificates are held against: the system's, and certifi's beside them.

    Some Pythons find none of the system's.
    """
    if urlsplit(base_url).scheme != "https":
        return True
    import ssl

    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def proxy_for(base_url: str) -> str | None:
    """Return the environment's proxy for the address. Raises ConfigError where it is no HTTP proxy.

    Asked once here: aiohttp would ask the system before each call.
    """
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(base_url)
    if parts.hostname in LOOPBACK or proxy_bypass(parts.netloc):
        return None
    known = getproxies()
    found = known.get(parts.scheme) or known.get("all")
    if found and "://" not in found:
        found = f"http://{found}"
    if found and (scheme := urlsplit(found).scheme) not in ("http", "https"):
        raise ConfigError(
            f"{base_url}: the environment's proxy speaks {scheme}; set {parts.scheme}_proxy to one"
            " that speaks HTTP, or name the host in no_proxy"
        )
    return found
