"""The HTTP client of an endpoint: the openai package's own, with limits.

Importing this module imports openai, which takes about a second of CPU: only `endpoint` imports
it, when the first request is sent.
"""

import logging
import os
import zlib
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import httpx2
from openai import AsyncAzureOpenAI, AsyncOpenAI

from harness.errors import ConfigError
from harness.llm.failures import OversizedReplyError
from harness.llm.remote import Address

log = logging.getLogger(__name__)

MOST_BYTES = 8 * 2**20
"""Size of a reply, decompressed. 128,000 tokens of Chinese, each character escaped, take 2 MB."""

MOST_BYTES_OF_VECTORS = 64 * 2**20
"""The same of a reply with vectors: 512 of 4,096 numbers take about 46 MB."""

HEADERS = {
    "User-Agent": "rag-ablation-harness",
    "Connection": "close",
    "Accept-Encoding": "gzip",
}
"""Each request has a connection of its own. On a kept connection, a server (or a proxy) that sends
a reply twice shifts all following replies by one question: of 90 calls to a server that sent every
third reply twice, 55 got another call's reply with the package's default transport, and none this
way. It costs about 0.5 ms of CPU a call."""

ANY_FORMAT = zlib.MAX_WBITS | 32
"""gzip or zlib, as its first bytes say."""

ENCODED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that no longer hold once the body has been read."""


class LimitedClient(httpx2.AsyncClient):
    """An HTTP client that reads at most `MOST_BYTES` of a reply, more where it holds vectors."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send the request and return the response, read to its end.

        Raises OversizedReplyError as soon as more than the limit has been read or decompressed:
        httpx2 would decompress each part of a reply whole, a thousand times its size.
        """
        vectors = request.url.path.endswith("/embeddings")
        most = MOST_BYTES_OF_VECTORS if vectors else MOST_BYTES
        response = await super().send(request, **{**options, "stream": True})
        encoding = response.headers.get("content-encoding", "identity")
        unpack = zlib.decompressobj(ANY_FORMAT) if encoding != "identity" else None
        body = bytearray()
        try:
            async for part in response.aiter_raw():
                body += unpack.decompress(part, most + 1 - len(body)) if unpack else part
                if len(body) > most:
                    raise OversizedReplyError(most)
        finally:
            await response.aclose()
        headers = [pair for pair in response.headers.multi_items() if pair[0] not in ENCODED]
        return httpx2.Response(
            response.status_code, headers=headers, content=bytes(body), request=request
        )


def open_client(address: Address, key: str) -> AsyncOpenAI:
    """Return the client for an address.

    Address and key come from the configuration alone: OPENAI_BASE_URL, AZURE_OPENAI_ENDPOINT and
    .netrc are not followed, and OPENAI_ORG_ID and OPENAI_PROJECT_ID go to OpenAI only. Proxies and
    SSL_CERT_FILE are used as httpx2 does, except that calls to this machine use no proxy. Redirects
    are not followed, and no cookies are kept.

    Raises ConfigError where the environment names a proxy that cannot be used.
    """
    base_url = address.base_url
    elsewhere = os.environ.get("OPENAI_BASE_URL")
    if elsewhere and elsewhere.rstrip("/") != base_url.rstrip("/"):
        log.warning("OPENAI_BASE_URL is not followed: calls go to %s as configured", base_url)
    common: dict[str, Any] = {
        "api_key": key,
        "max_retries": 0,
        "default_headers": HEADERS,
        "http_client": _http_client(address),
    }
    client: AsyncOpenAI
    if address.api_version is None:
        client = AsyncOpenAI(base_url=base_url, **common)
    else:
        client = AsyncAzureOpenAI(
            azure_endpoint=base_url,
            azure_deployment=address.model,
            api_version=address.api_version,
            **common,
        )
    if not address.is_openai:
        client.organization = client.project = None
    return client


def _http_client(address: Address) -> LimitedClient:
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    # With a transport given, httpx2 ignores the proxies of the environment.
    transport = httpx2.AsyncHTTPTransport(limits=limits) if address.is_local else None
    try:
        return LimitedClient(
            timeout=None,  # `Endpoint` limits the time of the whole attempt
            limits=limits,
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            transport=transport,
        )
    except ImportError as error:
        raise ConfigError(
            f"{address.base_url}: the environment names a SOCKS proxy, which needs the package"
            " socksio: pip install socksio, or unset all_proxy"
        ) from error
    except (ValueError, httpx2.InvalidURL) as error:
        # The message could hold the proxy's password.
        scheme = urlsplit(address.base_url).scheme
        raise ConfigError(
            f"{address.base_url}: the environment names a proxy whose address is invalid; correct"
            f" {scheme}_proxy or all_proxy (http://host:port)"
        ) from error
