"""Where an endpoint is, and the HTTP client that goes there."""

import logging
import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

log = logging.getLogger(__name__)


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
        if self.api_key_env is None and urlsplit(self.base_url).hostname == "api.openai.com":
            return "OPENAI_API_KEY"
        return self.api_key_env


def open_client(base_url: str, key: str) -> Any:
    """Return the client: aiohttp below it where it is installed, at a third of the CPU time.

    The environment does not move a configured call: a client without `base_url` would follow
    OPENAI_BASE_URL, and one that trusts the environment would send loopback to a proxy.
    """
    from openai import AsyncOpenAI, DefaultAioHttpClient, DefaultAsyncHttpxClient

    elsewhere = os.environ.get("OPENAI_BASE_URL")
    if elsewhere and elsewhere.rstrip("/") != base_url.rstrip("/"):
        log.warning("OPENAI_BASE_URL is not followed: calls go to %s as configured", base_url)
    # A line for each of thousands of requests would bury the run's own log.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    parts = urlsplit(base_url)
    options: dict[str, Any] = {
        "timeout": None,
        "follow_redirects": False,
        "trust_env": parts.hostname not in ("127.0.0.1", "localhost", "::1"),
        "verify": parts.scheme == "https",
    }
    try:
        transport = DefaultAioHttpClient(**options)
    except RuntimeError:
        transport = DefaultAsyncHttpxClient(**options)
    client = AsyncOpenAI(
        api_key=key,
        base_url=base_url,
        max_retries=0,
        timeout=None,
        default_headers={"Authorization": f"Bearer {key}"},
        http_client=transport,
    )
    if parts.hostname != "api.openai.com":
        client.organization = client.project = None
    return client
