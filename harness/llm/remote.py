"""Where a model behind a server is, and the limits on time, retries and concurrency there."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from harness.errors import ConfigError

OPENAI_HOST = "api.openai.com"

PLACE: dict[str, bool] = {"factor": False}
"""Marks a field that says where or how fast, not what."""

WEIGHTS: dict[str, bool] = {"factor": False, "named": True}
"""Marks the path of a file that counts by its content: that is a factor, as the model's build."""

_SECRET = re.compile(
    r"(api|access|auth|private|secret|client)[_-]?(key|token|secret)|^token$|authorization"
    r"|bearer|password|passwd|secret|credential",
    re.IGNORECASE,
)


_REQUEST = re.compile(
    r"(/chat/completions|/completions|/embeddings|/responses|/api/(chat|generate|embed|tags))/*$"
)
"""The path of a request, which a base URL does not include."""


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


@dataclass
class Remote:
    """A model behind a server."""

    loads_weights: ClassVar[bool] = False
    """Whether it is a local server that loads weights when asked: it gets one request at first."""

    base_url: str = field(default="https://api.openai.com/v1", metadata=PLACE)
    model: str = ""
    api_key_env: str | None = field(default=None, metadata=PLACE)
    """Name of the environment variable that holds the key; never the key itself."""
    concurrency: int = field(default=8, metadata=PLACE)
    """Requests in flight at most; fewer while more do not bring more answers per second."""
    timeout: float = field(default=120.0, metadata=PLACE)
    """Seconds for one attempt at most. Once some answers show what is usual, an attempt that hangs
    is ended earlier; the last attempt of a call has all of it."""
    deadline: float = field(default=300.0, metadata=PLACE)
    """Seconds for all attempts of a call together."""
    retries: int = field(default=5, metadata=PLACE)
    backoff: float = field(default=0.5, metadata=PLACE)
    """Seconds before the first retry, doubled each time."""

    @property
    def label(self) -> str:
        """The model's name."""
        return self.model

    def named(self, protocol: str) -> dict[str, object]:
        """Return the identity of a model whose weights are unknown: protocol, address, name.

        Raises ConfigError where no model is named, or the address or the variable is invalid.
        """
        if self.api_key_env and not re.fullmatch(r"[A-Za-z_]\w*", self.api_key_env):
            raise ConfigError(
                "api_key_env is the name of an environment variable, and never the key itself:"
                f" export MY_KEY=... and set {keys('api_key_env', 'MY_KEY')}"
            )
        check_address(self.base_url, protocol)
        if not self.model:
            raise ConfigError(f"{self.base_url}: which model? set {keys('model', '<name>')}")
        return {"protocol": protocol, "base_url": self.base_url.rstrip("/"), "model": self.model}

    def address(self) -> Address:
        """Return where the model is, and the limits on time, retries and concurrency."""
        places = {each.name for each in fields(Address)} & {each.name for each in fields(self)}
        limits = {name: getattr(self, name) for name in places}
        limits["base_url"] = self.base_url.rstrip("/")
        return Address(**limits, loads_weights=self.loads_weights)


def keys(name: str, value: str = "") -> str:
    """Return how a setting of a model is written: where the model is used is not known here.

    >>> keys("model", "<name>")
    'variant.chat.model=<name> (of a judge: judge.chat.model=<name>)'
    """
    return f"variant.chat.{name}={value} (of a judge: judge.chat.{name}={value})"


def check_address(base_url: str, protocol: str = "openai") -> None:
    """Raise ConfigError where a base URL cannot be used, without the passwords that it may hold."""
    if not is_address(base_url):
        shown, without = without_secrets(base_url), ""
        if "***@" in shown:
            without = ", without user and password: a key is named by api_key_env=<variable>"
        elif shown != base_url:
            without = ", without ? and #"
        raise ConfigError(
            f"base_url={shown} is not an address; write it as http://host:port/v1{without}"
        )
    if (whole := without_path(base_url)) != base_url:
        added = base_url.removeprefix(whole)
        raise ConfigError(f"base_url={base_url}: {added} is added to it; set base_url={whole}")
    if protocol == "ollama" and (whole := base_url.rstrip("/").removesuffix("/v1")) != base_url:
        raise ConfigError(
            f"base_url={base_url}: Ollama's own protocol has no /v1; set base_url={whole}"
        )


def without_secrets(url: str) -> str:
    """Return a URL for a message: user and password, query and fragment are replaced.

    >>> without_secrets("http://me:p@ss@host/v1?key=k")
    'http://***@host/v1?***'
    """
    url = re.sub(r"^([a-z]+://)?.*(?:[@＠]|%40)", r"\1***@", url, flags=re.I | re.S)
    return re.sub(r"[?#].*", "?***", url, flags=re.S)


def without_path(url: str) -> str:
    """Return a URL without the path of a request at its end.

    >>> without_path("http://host/v1/chat/completions"), without_path("http://host/v1")
    ('http://host/v1', 'http://host/v1')
    """
    return _REQUEST.sub("", url)


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


def refuse_secrets(extra: Mapping[str, Any], inside: str = "extra.") -> None:
    """Raise ConfigError for a key that is named like a secret, at any depth.

    What `extra` holds is written down with the run, and may be part of its name.
    """
    for key, value in extra.items():
        if _SECRET.search(str(key)):
            raise ConfigError(
                f"{inside}{key} looks like a secret, and would be written into the run's record; "
                "put it into an environment variable and give its name: "
                f"{keys('api_key_env', '<name>')}"
            )
        if isinstance(value, Mapping):
            refuse_secrets(value, f"{inside}{key}.")
