"""The grading page over HTTP: its routes, how it starts and stops, and who may use it.

The address is loopback, but any web page open in the same browser can send requests to it, and a
host name of an attacker can resolve to it. So the path must begin with the token of the link,
`Host` must be this server's own address with its port (starlette's TrustedHostMiddleware ignores
the port), `Origin`, if the browser sends it, must be ours, and the size of a body is limited.
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
from harness.grade.grading_page import SiteFile
from harness.render.notation import plain

if TYPE_CHECKING:
    import uvicorn

LARGEST_BODY = 1_000_000
"""Bytes; a note is a few sentences."""
DRAINED = 32_000_000
"""Bytes of a body too large that are read and discarded, so that the client gets the answer."""

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

ADDRESS = "127.0.0.1"
GRADES = (1, 0, None)
LONGEST_NOTE = 20_000

Endpoint = Callable[[Request], Awaitable[Response]]


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Yield a socket on loopback that is already listening."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((ADDRESS, port))
        except (OSError, OverflowError) as error:
            raise ConfigError(f"port={port}: {error}; port=0 takes a free port") from None
        opened.listen()
        yield opened


@dataclass(frozen=True, slots=True)
class ServedPage:
    """A grading page ready to be served, and the link to it."""

    server: "uvicorn.Server"
    socket: socket.socket
    link: str

    def serve(self) -> None:
        """Serve until Ctrl-C."""
        with suppress(KeyboardInterrupt):
            self.server.run(sockets=[self.socket])


def page_on(
    opened: socket.socket, desks: Mapping[str, Desk[Any]], site: Mapping[str, SiteFile]
) -> ServedPage:
    """Return the page on a socket, under a new token."""
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
    return ServedPage(uvicorn.Server(config), opened, f"http://{ADDRESS}:{port}/{token}/")


def app(desks: Mapping[str, Desk[Any]], site: Mapping[str, SiteFile]) -> Starlette:
    """Return the application: the page's files, and the routes of each desk for its script.

    All of it runs in one thread, as the desks and pdfium need.
    """
    routes = [Route(path, file_endpoint(file)) for path, file in site.items()]
    for kind, desk in desks.items():
        routes += [
            Route(f"/{kind}/now", act_endpoint(desk, lambda desk, body: None)),
            Route(f"/{kind}/grade", act_endpoint(desk, grade_item), methods=["POST"]),
            Route(f"/{kind}/skip", act_endpoint(desk, skip_item), methods=["POST"]),
            Route(f"/{kind}/undo", act_endpoint(desk, undo), methods=["POST"]),
            Route(f"/{kind}/picture/{{name}}.png", picture_endpoint(desk)),
        ]
    return Starlette(routes=routes)


def file_endpoint(file: SiteFile) -> Endpoint:
    """Return an endpoint that sends a file of the page."""

    async def endpoint(request: Request) -> Response:
        return Response(file.text, media_type=file.media)

    return endpoint


def picture_endpoint(desk: Desk[Any]) -> Endpoint:
    """Return an endpoint that sends a picture by its name, which is looked up and is no path."""

    async def endpoint(request: Request) -> Response:
        found = desk.picture(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(found, media_type="image/png")

    return endpoint


def act_endpoint(desk: Desk[Any], act: Callable[[Desk[Any], Mapping[str, Any]], None]) -> Endpoint:
    """Return an endpoint that acts on the desk, then sends what is to be graded now."""

    async def endpoint(request: Request) -> Response:
        act(desk, await json_body(request) if request.method == "POST" else {})
        return JSONResponse(desk.now())

    return endpoint


async def json_body(request: Request) -> Mapping[str, Any]:
    """Return the JSON object of a request; a form on another page cannot send one."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415)
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise HTTPException(400) from None
    if not isinstance(found, dict):
        raise HTTPException(400)
    return found


def grade_item(desk: Desk[Any], body: Mapping[str, Any]) -> None:
    """Save a grade of the item that the page shows."""
    value, note = body.get("grade"), body.get("note")
    if "grade" not in body or isinstance(value, bool) or value not in GRADES:
        raise HTTPException(400)
    if note is not None and (not isinstance(note, str) or len(note) > LONGEST_NOTE):
        raise HTTPException(400)
    desk.queue.grade(
        subject_of_ticket(desk, body), value, plain(note).strip() or None if note else None
    )


def skip_item(desk: Desk[Any], body: Mapping[str, Any]) -> None:
    """Put the item that the page shows behind the others."""
    desk.queue.skip(subject_of_ticket(desk, body))


def undo(desk: Desk[Any], body: Mapping[str, Any]) -> None:
    """Take back the last action."""
    desk.queue.undo()


def subject_of_ticket(desk: Desk[Any], body: Mapping[str, Any]) -> tuple[str, str]:
    """Return the subject that the page shows, by its ticket: two pages may be open."""
    found = desk.tickets.get(str(body.get("ticket")))
    if found is None:
        raise HTTPException(404)
    return found


class Guard:
    """Passes a request to the app with the token removed from its path, or refuses it."""

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
        """Return the refusal of a request; None if it is allowed."""
        host, origin = request.headers.get("host"), request.headers.get("origin")
        if host not in self.hosts:
            return PlainTextResponse("wrong host: open the link that harness.grade printed", 421)
        if origin is not None and origin != f"http://{host}":
            return PlainTextResponse("requests from other pages are refused", 403)
        path = request.scope["path"]
        if not is_plain(path) or not is_plain(request.scope.get("raw_path", b"").decode("latin-1")):
            return PlainTextResponse("no such path", 400)
        if not secrets.compare_digest(first_part(path).encode(), self.token.encode()):
            return PlainTextResponse("open the link that harness.grade printed", 403)
        return None

    def inner(self, request: Request) -> ASGIApp:
        """Return the app that answers below the token."""
        path = request.scope["path"].removeprefix(f"/{self.token}")
        if not path:
            return RedirectResponse(f"/{self.token}/")
        request.scope.update(path=path, raw_path=path.encode(), root_path="")
        return self.app


def first_part(path: str) -> str:
    """Return the part between the first two slashes."""
    return path.removeprefix("/").partition("/")[0]


def is_plain(path: str) -> bool:
    """Say whether a path has no step upwards and no empty part, in any encoding.

    >>> is_plain("/t/page.css"), is_plain("/t/../x"), is_plain("/t/%2e%2e/x"), is_plain("/t//x")
    (True, False, False, False)
    """
    spelt = unquote(unquote(path))
    parts = spelt.replace("\\", "/").removeprefix("/").split("/")
    empty = "" in parts[:-1]
    return not empty and not {"..", "."} & set(parts) and "\\" not in spelt and "\0" not in spelt


async def read_body(request: Request) -> bytes | None:
    """Return the body of a request; None if it is too large."""
    kept, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= LARGEST_BODY:
            kept.append(chunk)
        elif size > DRAINED:
            break
    return b"".join(kept) if size <= LARGEST_BODY else None


def replayed(body: bytes) -> Receive:
    """Return a channel that delivers a body that has been read already."""
    given = False

    async def receive() -> Message:
        nonlocal given
        if given:
            return {"type": "http.disconnect"}
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def secured(send: Send) -> Send:
    """Return a channel that adds our headers to every answer."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message["headers"], *ours]}
        await send(message)

    return sent
