"""Where an endpoint is, and the limits on time, retries and concurrency there."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

OPENAI_HOST = "api.openai.com"


@dataclass(frozen=True, slots=True)
class Address:
    """Where an endpoint is, and its limits on time, retries and concurrency."""

    base_url: str
    model: str
    api_key_env: str | None = None
    """None: no key is sent, except OPENAI_API_KEY to api.openai.com and AZURE_OPENAI_API_KEY to
    Azure."""
    api_version: str | None = None
    """Azure's; None: the endpoint is not Azure."""
    concurrency: int = 8
    loads_weights: bool = False
    """Whether it is a local server that loads weights when asked, with one to four slots."""
    timeout: float = 120.0
    """Seconds for one attempt, from sending."""
    deadline: float = 300.0
    """Seconds for all attempts of a call together, without the pauses between them."""
    retries: int = 5
    backoff: float = 0.5
    """Seconds before the first retry; doubled each time, and reduced at random by up to half."""

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the key."""
        if self.api_key_env is None and self.api_version is not None:
            return "AZURE_OPENAI_API_KEY"
        if self.api_key_env is None and self.is_openai:
            return "OPENAI_API_KEY"
        return self.api_key_env

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI itself."""
        return urlsplit(self.base_url).hostname == OPENAI_HOST

    @property
    def is_proxied(self) -> bool:
        """Whether the environment names a proxy for it."""
        parts = urlsplit(self.base_url)
        proxies = {} if self.is_local or proxy_bypass(parts.netloc) else getproxies()
        return bool(proxies.get(parts.scheme) or proxies.get("all"))

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine.

        >>> Address("http://[::1]:8000/v1", "m").is_local
        True
        """
        host = urlsplit(self.base_url).hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def is_address(base_url: str) -> bool:
    """Say whether a base URL names a host, and a path that can be extended.

    A user or password in it would be written down with the run.

    >>> is_address("http://localhost:11434/v1"), is_address("localhost:11434/v1")
    (True, False)
    """
    try:
        parts = urlsplit(base_url)
        host = (parts.hostname or "").encode("idna")  # raises where a label is empty or too long
        # `port` raises where it is not a number, or too large.
        named = parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        return False
    return named and "@" not in parts.netloc and not re.search(r"[\s?#]", base_url)
