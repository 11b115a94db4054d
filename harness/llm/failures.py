"""What an HTTP failure means: whether to try again, when, and what the user can do."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from harness.errors import EndpointError
from harness.llm.remote import Address, without_path
from harness.text import single_spaced

if TYPE_CHECKING:
    from openai import APIStatusError

LONGEST_WAIT = 120.0
"""Seconds. A `Retry-After` beyond this is a quota that is used up, not a pause."""

LONGEST = 300
"""Characters that are quoted of a server's words."""

_OVERFLOW = re.compile(
    r"context.?(length|window|size)|maximum context|too many tokens|(prompt|input).{0,20} too long"
    r"|exceed.{0,40}(token|context)",
    re.IGNORECASE,
)

_ONE_CHOICE = re.compile(r"only one completion choice", re.IGNORECASE)
"""The answer of llama.cpp's server to `n`, in some versions with status 500."""

PROXY = "correct http_proxy or https_proxy, or add the host to no_proxy"


class ReplyError(Exception):
    """A reply that does not have the form that the protocol prescribes."""


class OversizedReplyError(Exception):
    """A reply with more bytes than are read of one."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the reply is larger than {most / 2**20:g} MiB")


class RefusedError(EndpointError):
    """The endpoint understood the request and will not answer it, however often it is sent."""

    reason = ""
    """The endpoint's own words."""
    too_long = False
    """Whether it refuses because the prompt does not fit the context window."""


@dataclass(frozen=True, slots=True)
class EndpointFailure:
    """One attempt that failed."""

    reason: str
    """One line."""
    status: int | None = None
    """HTTP status; None where no reply came."""
    retry: bool = True
    wait: float | None = None
    """Seconds that the endpoint asks to wait."""
    unreachable: bool = False
    """No server listens at the address."""
    timed_out: bool = False
    """No reply came in time."""
    remedy: str = ""
    """What the user can do, where the status does not say it."""
    too_long: bool = False
    """The prompt does not fit the model's context window."""
    other_protocol: bool = False
    """A reply came that is not one of the protocol."""
    everywhere: bool = False
    """Every other request to the endpoint would fail too."""

    @property
    def throttled(self) -> bool:
        """Whether the endpoint asks for fewer requests at a time."""
        return self.status == 429

    @property
    def hopeless(self) -> bool:
        """Whether every other request would fail too: wrong key, no such model, no credit."""
        return not self.retry and (self.everywhere or self.status in (401, 404, 407, 429))


def read_failure(error: Exception, seconds: float) -> EndpointFailure | None:
    """Return what the exception of an attempt means; None where the endpoint did not cause it.

    Args:
        error: Raised by sending the request or by reading the reply.
        seconds: How long the attempt was allowed to take.
    """
    if isinstance(error, TimeoutError):
        return EndpointFailure(f"no reply within {seconds:g} s", timed_out=True)
    if isinstance(error, ReplyError):
        return EndpointFailure(f"not a reply of this protocol: {error}", other_protocol=True)
    if isinstance(error, OversizedReplyError):
        remedy = "is base_url the address of a model server? an embedder's batch_size may be lower"
        return EndpointFailure(str(error), remedy=remedy)
    from openai import APIConnectionError, APIStatusError

    if isinstance(error, APIStatusError):
        return _refusal(error)
    if isinstance(error, APIConnectionError | OSError):
        return _broken_connection(error)
    return None


def remedy(failure: EndpointFailure, address: Address) -> str:
    """Return what the user can do about a failure at this address."""
    model, api_key_env = address.model, address.key_variable
    key = (
        f"is the environment variable {api_key_env} set, and is the key valid?"
        if api_key_env
        else "set api_key_env to the name of the environment variable that holds the key"
    )
    if failure.remedy:
        return failure.remedy
    if failure.too_long:
        return "use fewer or shorter passages, or widen the context window on the server"
    if failure.unreachable:
        proxy = "is the proxy in http_proxy or https_proxy running? else "
        proxy = proxy if address.is_proxied else ""
        return f"{proxy}start the server, or correct base_url"
    begins = "does base_url end where the protocol begins (/v1)?"
    if not (urlsplit(address.base_url).path or address.loads_weights or address.api_version):
        begins = f"the protocol often begins with /v1: set base_url={address.base_url}/v1"
    if failure.other_protocol:
        return f"is base_url the address of a model server? {begins} Else run the command again"
    known = {
        None: "the server is not responding; if it is slow, raise timeout and deadline",
        401: key,
        403: key,
        407: PROXY,
        404: f"does the server have '{model}'? {begins}",
        405: begins,
        429: "lower concurrency, or run the same command later to resume: answers are cached",
    }
    if failure.status == 400:
        for name in ("temperature", "top_p", "seed"):
            if name in failure.reason:
                return f"set {name}=null if the model does not support it"
    return known.get(failure.status, "run the same command to resume: answers are cached")


def _refusal(error: "APIStatusError") -> EndpointFailure:
    status, headers, text = error.status_code, error.response.headers, error.response.text
    if 300 <= status < 400:
        target, moved = "another address", " to the address that answers"
        with suppress(LookupError, ValueError):
            target = urljoin(str(error.request.url), re.split(r"[?#]", headers["location"])[0])
            target = single_spaced(_without_password(target), LONGEST)
        if (base_url := without_path(target)) != target:
            moved = f"={base_url}"
        reason = f"HTTP {status}: redirect to {target}"
        remedy = f"redirects are not followed; set base_url{moved}"
        return EndpointFailure(reason, status, retry=False, remedy=remedy, everywhere=True)
    reason = f"HTTP {status}: {single_spaced(_message(error.body or text), LONGEST)}"
    wait = _retry_after(headers)
    exhausted = "insufficient_quota" in text or (wait or 0.0) > LONGEST_WAIT
    too_long = status != 429 and _OVERFLOW.search(reason) is not None
    passing = status in (408, 409, 425, 429) or status >= 500
    retry = passing and not too_long and not _ONE_CHOICE.search(reason)
    return EndpointFailure(reason, status, retry and not exhausted, wait, too_long=too_long)


def _message(body: object) -> str:
    """Return an error reply's own words: servers put them in several places."""
    if isinstance(body, Mapping):
        body = body.get("message") or body.get("detail") or body
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the endpoint asks to wait; None where it does not say it clearly."""
    readings: tuple[Callable[[], float], ...] = (
        lambda: float(headers["retry-after-ms"]) / 1000,
        lambda: float(headers["retry-after"]),
        lambda: parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time(),
    )
    for seconds in readings:
        with suppress(LookupError, ValueError, OverflowError):
            return max(0.0, seconds())
    return None


def _broken_connection(error: Exception) -> EndpointFailure:
    import socket
    import ssl

    import httpx2

    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = f"its certificate cannot be verified: {single_spaced(str(cause), LONGEST)}"
            remedy = "set SSL_CERT_FILE to the file of your own authority, or correct base_url"
            return EndpointFailure(reason, retry=False, remedy=remedy, everywhere=True)
        if isinstance(cause, httpx2.ProxyError):
            found = re.match(r"\d{3}\b", str(cause))
            status = int(found[0]) if found else None
            refusal = (
                f"HTTP {status}" if found else single_spaced(_without_password(str(cause)), LONGEST)
            )
            retry = status is not None and status >= 500
            reason = f"the proxy refuses: {refusal}"
            return EndpointFailure(reason, status, retry, remedy=PROXY, everywhere=True)
        if isinstance(cause, socket.gaierror):
            return EndpointFailure("no such host", unreachable=True)
        if isinstance(cause, ConnectionRefusedError):
            return EndpointFailure("connection refused", unreachable=True)
    cause = causes[1] if len(causes) > 1 else error
    reason = _without_password(str(cause)) or type(cause).__name__
    return EndpointFailure(f"the connection failed: {single_spaced(reason, LONGEST)}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception and those that led to it, the latest first."""
    found: BaseException | None = error
    while found is not None:
        yield found
        if isinstance(found, BaseExceptionGroup):
            for member in found.exceptions:
                yield from _causes(member)
        found = found.__cause__ or found.__context__


def _without_password(text: str) -> str:
    """Return the text without the user and password that a URL in it may hold."""
    return re.sub(r"//\S*@", "//", text)
