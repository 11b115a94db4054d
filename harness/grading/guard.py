"""Who may speak to the page: the browser that was given the link, and nobody else.

The address is loopback, but any web page open in the same browser can send requests there, and
a name under a stranger's control can be made to point there. So the path must begin with the
token of the link, `Host` must be our own address, `Origin`, where a browser names it, must be
ours, and no body is larger than it need be.
"""

import secrets
from collections.abc import Collection
from urllib.parse import unquote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1_000_000
"""Bytes; a note is a few sentences."""
DRAINED = 32_000_000
"""Bytes of a body too large that are read and thrown away, so that the answer arrives."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Lets a request through to the app, the token taken off its path, or refuses it."""

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self.app = app
        self.token = token
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        response: ASGIApp = self.refusal(request) or self.inner(request)
        try:
            body = await read_body(request)
        except ClientDisconnect:
            return
        if body is None:
            response = PlainTextResponse("the body is too large", 413)
        await response(scope, replayed(body or b""), secured(send))

    def refusal(self, request: Request) -> Response | None:
        """Return why a request is refused, None where it is not."""
        host, origin = request.headers.get("host"), request.headers.get("origin")
        if host not in self.hosts:
            return PlainTextResponse("this is not the address that the page was given", 421)
        if origin is not None and origin != f"http://{host}":
            return PlainTextResponse("another page may not ask here", 403)
        path = request.scope["path"]
        if not is_plain(path) or not is_plain(request.scope.get("raw_path", b"").decode("latin-1")):
            return PlainTextResponse("no such path", 400)
        if not secrets.compare_digest(first_part(path).encode(), self.token.encode()):
            return PlainTextResponse("open the link that harness.grade printed", 403)
        return None

    def inner(self, request: Request) -> ASGIApp:
        """Return the app as it answers below the token."""
        path = request.scope["path"].removeprefix(f"/{self.token}")
        if not path:
            return RedirectResponse(f"/{self.token}/")
        request.scope.update(path=path, raw_path=path.encode(), root_path="")
        return self.app


def first_part(path: str) -> str:
    """Return what stands between the first two slashes."""
    return path.removeprefix("/").partition("/")[0]


def is_plain(path: str) -> bool:
    """Say whether a path means what it says: no step upwards, in whatever spelling.

    >>> is_plain("/t/page.css"), is_plain("/t/../x"), is_plain("/t/%2e%2e/x"), is_plain("/t//x")
    (True, False, False, False)
    """
    spelt = unquote(unquote(path))
    parts = spelt.replace("\\", "/").removeprefix("/").split("/")
    empty = "" in parts[:-1]
    return not empty and not {"..", "."} & set(parts) and "\\" not in spelt and "\0" not in spelt


async def read_body(request: Request) -> bytes | None:
    """Return what was sent with a request, None where it is too large."""
    kept, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= LARGEST_BODY:
            kept.append(chunk)
        elif size > DRAINED:
            break
    return b"".join(kept) if size <= LARGEST_BODY else None


def replayed(body: bytes) -> Receive:
    """Return a channel that gives a body that was read already."""
    given = False

    async def receive() -> Message:
        nonlocal given
        if given:
            return {"type": "http.disconnect"}
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def secured(send: Send) -> Send:
    """Return a channel that puts our headers on every answer."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message["headers"], *ours]}
        await send(message)

    return sent
