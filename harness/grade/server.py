"""The grading page over HTTP: its files and routes, how it starts and stops, who may use it.

The page is one template, its words in each language, a style sheet and a script. The address is
loopback, but any web page open in the same browser can send requests to it, and a host name of an
attacker can resolve to it. So the path must begin with the token of the link, `Host` must be this
server's own address with its port (starlette's TrustedHostMiddleware ignores the port), `Origin`,
if the browser sends it, must be ours, and the size of a body is limited.
"""

import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route
from starlette.types import ASGIApp

from harness.errors import ConfigError
from harness.grade.desk import Desk
from harness.render import LANGUAGES
from harness.render.notation import plain
from harness.render.vocabulary import language_tag

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
Action = Callable[[Desk[Any], Mapping[str, Any]], None]


def listening(port: int) -> socket.socket:
    """Return a socket on loopback that is already listening."""
    if port not in range(65_536):
        raise ConfigError(f"port={port} is not in 0 to 65535; port=0 takes a free port")
    try:
        return socket.create_server((ADDRESS, port))
    except OSError as error:
        raise ConfigError(f"port={port}: {error}; port=0 takes a free port") from None


def page_on(
    opened: socket.socket, desks: Mapping[str, Desk[Any]], site: Mapping[str, Response]
) -> tuple["uvicorn.Server", str]:
    """Return a server of the page, to run on a socket, and the link to it with a new token."""
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
    return uvicorn.Server(config), f"http://{ADDRESS}:{port}/{token}/"


def site(kinds: Sequence[str], language: str, study_language: str) -> dict[str, Response]:
    """Return path -> response: a page for each kind of thing graded, the first at `/` too.

    They contain no text of the study: the script requests those and inserts them as text.

    Args:
        kinds: The kinds of things to grade: answers, captions.
        language: Of the page; KeyError for one that is not in `LANGUAGES`.
        study_language: Of questions and answers.
    """
    pages = {
        f"/{kind}": HTMLResponse(page(kinds, kind, language, study_language)) for kind in kinds
    }
    return {
        "/": pages[f"/{kinds[0]}"],
        **pages,
        "/page.css": Response(asset("page.css"), media_type="text/css"),
        "/page.js": Response(asset("page.js"), media_type="text/javascript"),
    }


def page(kinds: Sequence[str], kind: str, language: str, study_language: str) -> str:
    """Return the page for one kind of thing, with links to the others."""
    from jinja2 import Environment, StrictUndefined

    name = LANGUAGES[language]
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(asset("page.html"))
    return template.render(
        kinds=kinds,
        kind=kind,
        words=page_words(name),
        language=language_tag(name),
        study_language=language_tag(study_language),
    )


@cache
def page_words(language: str) -> Any:
    """Return the page's words in one language."""
    import yaml  # type: ignore[import-untyped, unused-ignore]

    return yaml.safe_load(asset(f"{language}.yaml", "words"))


def asset(name: str, folder: str = "assets") -> str:
    """Return a file of the page."""
    return files("harness.grade").joinpath(folder, name).read_text(encoding="utf-8")


def app(desks: Mapping[str, Desk[Any]], site: Mapping[str, Response]) -> Starlette:
    """Return the application: the page's files, and the routes of each desk for its script.

    All of it runs in one thread, as the desks and pdfium need.
    """
    routes = [Route(path, file, methods=["GET"]) for path, file in site.items()]
    acts: dict[str, Action] = {
        "grade": grade_item,
        "skip": lambda desk, body: desk.queue.skip(subject_of_ticket(desk, body)),
        "undo": lambda desk, body: desk.queue.undo(),
    }
    for kind, desk in desks.items():
        routes += [
            Route(f"/{kind}/now", act_endpoint(desk, lambda desk, body: None)),
            Route(f"/{kind}/picture/{{name}}.png", picture_endpoint(desk)),
            *(
                Route(f"/{kind}/{name}", act_endpoint(desk, act), methods=["POST"])
                for name, act in acts.items()
            ),
        ]
    return Starlette(routes=routes)


def picture_endpoint(desk: Desk[Any]) -> Endpoint:
    """Return an endpoint that sends a picture by its name, which is looked up and is no path."""

    async def endpoint(request: Request) -> Response:
        found = desk.picture(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(found, media_type="image/png")

    return endpoint


def act_endpoint(desk: Desk[Any], act: Action) -> Endpoint:
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
        found = None
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


def subject_of_ticket(desk: Desk[Any], body: Mapping[str, Any]) -> tuple[str, str]:
    """Return the subject that the page shows, by its ticket: two pages may be open."""
    found = desk.tickets.get(str(body.get("ticket")))
    if found is None:
        raise HTTPException(404)
    return found


class Guard(BaseHTTPMiddleware):
    """Passes a request to the app with the token removed from its path, or refuses it."""

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        super().__init__(app)
        self.token = token
        self.hosts = hosts

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Answer one request, with our headers."""
        try:
            refusal = await oversize(request) or self.refusal(request)
        except ClientDisconnect:
            return Response(status_code=400)
        response = refusal or await call_next(request)
        response.headers.update(HEADERS)
        return response

    def refusal(self, request: Request) -> Response | None:
        """Return the refusal of a request; None if it is allowed, its path without the token."""
        host, origin = request.headers.get("host"), request.headers.get("origin")
        if host not in self.hosts:
            return PlainTextResponse("wrong host: open the link that harness.grade printed", 421)
        if origin is not None and origin != f"http://{host}":
            return PlainTextResponse("requests from other pages are refused", 403)
        token, slash, rest = request.scope["path"].removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return PlainTextResponse("open the link that harness.grade printed", 403)
        if not slash:
            return RedirectResponse(f"/{self.token}/")
        request.scope["path"] = f"/{rest}"
        return None


async def oversize(request: Request) -> Response | None:
    """Return the refusal of a body that is too large, or whose size is not given; else read it."""
    declared = int(request.headers.get("content-length", 0))
    if declared <= LARGEST_BODY and "transfer-encoding" not in request.headers:
        await request.body()
        return None
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > DRAINED:
            break
    return PlainTextResponse("the body is too large", 413)
