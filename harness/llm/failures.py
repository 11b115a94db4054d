"""What an HTTP failure means: shall it be tried again, when, and what is the user to do."""

import email.utils
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.errors import EndpointError
from harness.llm.connection import ReplyError, StatusError

LONGEST_WAIT = 120.0
"""Seconds. A `Retry-After` beyond this is a quota that is used up, not a pause."""

_OVERFLOW = re.compile(
    r"context.?(length|window|size)|maximum context|too many tokens|(prompt|input).{0,20} too long"
    r"|exceed.{0,40}(token|context)",
    re.IGNORECASE,
)


_ONE_CHOICE = re.compile(r"only one completion choice", re.IGNORECASE)
"""What llama.cpp's server says to `n`, in some versions with status 500."""


PROXY = "mend http_proxy or https_proxy, or name the host in no_proxy"


class RefusedError(EndpointError):
    """The endpoint read the request and will not answer it, however often it is asked."""

    said = ""
    """The endpoint's own words."""
    too_long = False
    """Whether it refuses because the prompt does not fit."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One try that failed."""

    said: str
    """One line."""
    status: int | None = None
    """HTTP status; None where no reply came."""
    retry: bool = True
    wait: float | None = None
    """Seconds that the endpoint asks to be left alone."""
    unreachable: bool = False
    """Nobody listens at the address."""
    remedy: str = ""
    """What the user can do, where the status does not say it."""
    too_long: bool = False
    """The prompt does not fit the model's window."""

    @property
    def throttled(self) -> bool:
        """Whether the endpoint asks for less at a time."""
        return self.status == 429

    @property
    def hopeless(self) -> bool:
        """Whether every other request would fail alike: wrong key, no such model, no credit."""
        return not self.retry and (bool(self.remedy) or self.status in (401, 404, 407, 429))


def read_failure(error: Exception, seconds: float) -> Failure | None:
    """Return what the exception of a try means; None where it is no failure of the endpoint.

    Args:
        error: What sending, or reading the reply, raised.
        seconds: How long the endpoint was given.
    """
    from aiohttp import ClientError

    if isinstance(error, StatusError):
        return _refusal(error)
    if isinstance(error, TimeoutError):
        return Failure(f"no reply within {seconds:g} s")
    if isinstance(error, ReplyError):
        return Failure(f"not a reply of this protocol: {error}")
    if isinstance(error, ClientError | OSError):
        return _broken_connection(error)
    return None


def remedy(failure: Failure, model: str, api_key_env: str | None) -> str:
    """Return what the user can do about it."""
    key = (
        f"is the environment variable {api_key_env} set, and the key right?"
        if api_key_env
        else "set api_key_env to the name of the environment variable that holds the key"
    )
    if failure.remedy:
        return failure.remedy
    if failure.too_long:
        return "use fewer or shorter passages, or widen the window on the server"
    if failure.unreachable:
        return "start the server, or set base_url to where it is"
    known = {
        None: "is the server well? if it is slow, raise timeout and deadline",
        401: key,
        403: key,
        407: PROXY,
        404: f"is '{model}' there, and does base_url end where the protocol begins (/v1)?",
        429: "lower concurrency, or wait and run again: what was answered is kept",
    }
    if failure.status == 400:
        for name in ("temperature", "top_p", "seed"):
            if name in failure.said:
                return f"set {name}=null if the model does not take it"
    return known.get(failure.status, "run again: what was answered is kept")


def one_line(text: str, longest: int = 300) -> str:
    """Return the text without line breaks, at most `longest` characters of it."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _refusal(error: StatusError) -> Failure:
    status = error.status
    said = f"HTTP {status}: {one_line(_message(error.text))}"
    wait = _retry_after(error.headers)
    exhausted = "insufficient_quota" in error.text or (wait or 0.0) > LONGEST_WAIT
    too_long = status != 429 and _OVERFLOW.search(said) is not None
    passing = status in (408, 409, 425, 429) or status >= 500
    retry = passing and not too_long and not _ONE_CHOICE.search(said)
    return Failure(said, status, retry and not exhausted, wait, too_long=too_long)


def _message(text: str) -> str:
    """Return an error reply's own words: servers put them in several places."""
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(found, Mapping):
        found = found.get("error") or found
    if isinstance(found, Mapping):
        found = found.get("message") or found.get("detail") or found
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) * unit)
        except ValueError:
            return _seconds_until(value)
    return None


def _seconds_until(date: str) -> float | None:
    """Return how far off an HTTP date is; None where it is none."""
    try:
        at = email.utils.parsedate_tz(date)
        return None if at is None else max(0.0, email.utils.mktime_tz(at) - time.time())
    except (ValueError, OverflowError):
        return None


def _broken_connection(error: Exception) -> Failure:
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        said = f"its certificate cannot be trusted: {one_line(str(error.certificate_error))}"
        remedy = "name the file of your own authority in SSL_CERT_FILE, or mend base_url"
        return Failure(said, retry=False, remedy=remedy)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        said = f"the proxy refuses: HTTP {error.status}"
        return Failure(said, error.status, error.status >= 500, remedy=PROXY)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return Failure("the proxy does not answer", unreachable=True, remedy=PROXY)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Failure("no such host", unreachable=True)
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, ConnectionRefusedError):
        return Failure("nobody listens there", unreachable=True)
    # A proxy's password is a part of its URL.
    said = re.sub(r"//[^/@\s]*@", "//", str(cause)) or type(cause).__name__
    return Failure(f"the connection broke: {one_line(said)}")
