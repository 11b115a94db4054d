"""The grading page over HTTP: what the browser asks for, and how it is started and stopped."""

import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from harness.errors import ConfigError
from harness.grading.desk import Desk
from harness.grading.guard import Guard
from harness.grading.page import File
from harness.render.printable import plain

if TYPE_CHECKING:
    import uvicorn

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
