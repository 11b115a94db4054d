"""The grading page over HTTP: its routes, how it starts and stops, and who may use it.

The address is loopback, but any web page open in the same browser can send requests there, and
a name under a stranger's control can resolve to it. So the path must begin with the token of the
link, `Host` must be our own address, `Origin`, where the browser sends it, must be ours, and the
size of a body is limited.
"""

import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.errors import ConfigError
from harness.grade.desk import Desk
from harness.grade.page import File
from harness.render.printable import plain

if TYPE_CHECKING:
    import uvicorn


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


ADDRESS = "127.0.0.1"
GRADES = (1, 0, None)
LONGEST_NOTE = 20_000


Endpoint = Callable[[Request], Awaitable[Response]]


def app(desks: Mapping[str, Desk[Any]], site: Mapping[str, File]) -> Starlette:
    """Return the page's files and what its script asks for, one desk a kind of thing graded.

    All of it runs in one thread, as the desks and pdfium need.
    """
    routes = [Route(path, given(file)) for path, file in site.items()]
    for kind, desk in desks.items():
        routes += [
            Route(f"/{kind}/now", replied(desk, lambda desk, asked: None)),
            Route(f"/{kind}/grade", replied(desk, grade), methods=["POST"]),
            Route(f"/{kind}/skip", replied(desk, skip), methods=["POST"]),
            Route(f"/{kind}/undo", replied(desk, undo), methods=["POST"]),
            Route(f"/{kind}/picture/{{name}}.png", picture(desk)),
        ]
    return Starlette(routes=routes)


def given(file: File) -> Endpoint:
    """Return a file of the page."""

    async def endpoint(request: Request) -> Response:
        return Response(file.text, media_type=file.media)

    return endpoint


def picture(desk: Desk[Any]) -> Endpoint:
    """Return a picture that the desk has named; a name is looked up and never a path."""

    async def endpoint(request: Request) -> Response:
        found = desk.picture(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(found, media_type="image/png")

    return endpoint


def replied(desk: Desk[Any], act: Callable[[Desk[Any], Mapping[str, Any]], None]) -> Endpoint:
    """Do what was asked, then tell what is to be graded now."""

    async def endpoint(request: Request) -> Response:
        act(desk, await asked(request) if request.method == "POST" else {})
        return JSONResponse(desk.now())

    return endpoint


async def asked(request: Request) -> Mapping[str, Any]:
    """Return the object that was sent; a form of another page cannot send one."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415)
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise HTTPException(400) from None
    if not isinstance(found, dict):
        raise HTTPException(400)
    return found


def grade(desk: Desk[Any], given: Mapping[str, Any]) -> None:
    """Keep a grade of what the page shows."""
    value, note = given.get("grade"), given.get("note")
    if "grade" not in given or isinstance(value, bool) or value not in GRADES:
        raise HTTPException(400)
    if note is not None and (not isinstance(note, str) or len(note) > LONGEST_NOTE):
        raise HTTPException(400)
    desk.queue.grade(about(desk, given), value, plain(note).strip() or None if note else None)


def skip(desk: Desk[Any], given: Mapping[str, Any]) -> None:
    """Put what the page shows behind the others."""
    desk.queue.skip(about(desk, given))


def undo(desk: Desk[Any], given: Mapping[str, Any]) -> None:
    """Take back what was done last."""
    desk.queue.undo()


def about(desk: Desk[Any], given: Mapping[str, Any]) -> tuple[str, str]:
    """Return what the page speaks of: the ticket says so, in case two pages are open."""
    found = desk.tickets.get(str(given.get("ticket")))
    if found is None:
        raise HTTPException(404)
    return found


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Give a socket on loopback that is listening already."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((ADDRESS, port))
        except (OSError, OverflowError) as error:
            raise ConfigError(f"port={port}: {error}; port=0 takes a free one") from None
        opened.listen()
        yield opened


@dataclass(frozen=True, slots=True)
class Page:
    """A page that can be served, and the link to it."""

    server: "uvicorn.Server"
    socket: socket.socket
    link: str

    def serve(self) -> None:
        """Serve until Ctrl-C."""
        with suppress(KeyboardInterrupt):
            self.server.run(sockets=[self.socket])


def page_on(
    opened: socket.socket, desks: Mapping[str, Desk[Any]], site: Mapping[str, File]
) -> Page:
    """Return the page on a socket, under a token of its own."""
    import uvicorn

    token, port = secrets.token_urlsafe(24), opened.getsockname()[1]
    hosts = [f"{ADDRESS}:{port}", f"localhost:{port}"]
    config = uvicorn.Config(
        Guard(app(desks, site), token, hosts),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return Page(uvicorn.Server(config), opened, f"http://{ADDRESS}:{port}/{token}/")
