"""The studio as an ASGI app: who may ask, the page's files, and one way to answer and refuse."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from boundit.core.errors import BounditError
from boundit.studio.bundle import pack_page
from boundit.studio.calls import CALLS, JSON, PageCall, Studio, read_body, require_type
from boundit.studio.errors import StudioError, describe_bug
from boundit.studio.project import read_json

POLICY = "; ".join(
    [
        "default-src 'self'",
        "img-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
"""What the page may load: from here alone, and no script or style within its text."""
SAFE = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""


@dataclass(frozen=True)
class StartToken:
    """The secret of one run, and the port that it is for."""

    secret: str
    port: int

    @classmethod
    def draw(cls, port: int, secret: str | None = None) -> "StartToken":
        """Draw a new secret, unless there is one."""
        return cls(secret or secrets.token_urlsafe(32), port)

    @property
    def cookie(self) -> str:
        """The name of the cookie, so that two studios do not overwrite each other's."""
        return f"boundit-studio-{self.port}"

    @property
    def link(self) -> str:
        """The link that lets a browser in."""
        return f"http://127.0.0.1:{self.port}/?token={self.secret}"

    def fits(self, found: str | None) -> bool:
        """Tell whether somebody knows the secret."""
        return found is not None and secrets.compare_digest(
            found.encode("utf-8", "replace"), self.secret.encode()
        )


class Gate:
    """The app behind checks of host, cookie and origin; every answer gets safe headers."""

    def __init__(self, app: ASGIApp, token: StartToken) -> None:
        self._app, self._token = app, token
        self._hosts = {f"127.0.0.1:{token.port}", f"localhost:{token.port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SAFE.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        answer: ASGIApp | None
        try:
            answer = self._admit(request)
        except StudioError as error:
            # A person who opens the page reads a sentence.
            visit = request.method == "GET" and not request.scope["path"].startswith("/api/")
            line = str(error)
            said = PlainTextResponse(f"{line[:1].upper()}{line[1:]}.\n", error.status)
            answer = said if visit else write_refusal(error)
        await (answer or self._app)(scope, receive, send_safely)

    def _admit(self, request: Request) -> Response | None:
        """Admit a request, or raise; the link of this run is answered with a cookie."""
        if request.headers.getlist("host") not in ([host] for host in self._hosts):
            names = " or ".join(sorted(self._hosts))
            raise StudioError("wrong_host", f"ask for {names}, nothing else")
        given = parse_qs(request.scope["query_string"].decode("latin-1")).get("token")
        if request.method == "GET" and request.scope["path"] == "/" and given:
            if len(given) != 1 or not self._token.fits(given[0]):
                raise _refuse_entry()
            # So that the secret leaves the address bar.
            answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
            answer.set_cookie(
                self._token.cookie,
                self._token.secret,
                httponly=True,
                samesite="strict",
                path="/",
            )
            return answer
        if not self._token.fits(request.cookies.get(self._token.cookie)):
            raise _refuse_entry()
        if not _is_own_page(request):
            raise StudioError("wrong_origin", "a page of another site may not ask")
        return None


def _refuse_entry() -> StudioError:
    return StudioError("no_token", "open the link that boundit studio printed when it started")


def _is_own_page(request: Request) -> bool:
    """Tell our page from one of another site, or of another port of this machine."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site not in {None, "none", "same-origin"}:
        return False
    if origin is not None:
        return origin == f"http://{request.headers['host']}"
    return request.method in {"GET", "HEAD"} or site == "same-origin"


def make_app(studio: Studio, token: StartToken) -> Gate:
    """Make the app of a studio behind its gate."""
    routes = [
        Route("/", _show_page, methods=["GET"]),
        Route("/page/{name}", _show_page, methods=["GET"]),
        *(Route(call.path, _answer(studio, call), methods=[call.method]) for call in CALLS),
    ]
    refuse: dict[Any, Any] = dict.fromkeys((BounditError, HTTPException, Exception), _refuse)
    return Gate(Starlette(routes=routes, exception_handlers=refuse), token)


def _answer(studio: Studio, call: PageCall) -> Callable[[Request], Awaitable[Response]]:
    """Make the endpoint of a call."""

    async def answer(request: Request) -> Response:
        body = None
        if call.takes is not None:
            require_type(request, JSON)
            sent = [part async for part in read_body(request, studio.limits.body)]
            body = read_json(call.takes, b"".join(sent))
        found = await call.answer(studio, request, body)
        return found if isinstance(found, Response) else _write(found)

    return answer


async def _refuse(_: Request, error: Exception) -> Response:
    """Make of whatever was raised an answer in one line."""
    match error:
        case StudioError():
            return write_refusal(error)
        case BounditError():
            return write_refusal(StudioError("refused", str(error)))
        case HTTPException(status_code=HTTPStatus.METHOD_NOT_ALLOWED, headers=headers):
            allowed = (headers or {}).get("Allow", "another method")
            return write_refusal(StudioError("wrong_method", f"this path takes {allowed}"))
        case HTTPException():
            return write_refusal(StudioError("not_found", "there is nothing here"))
        case _:
            return write_refusal(describe_bug(error))


def write_refusal(error: StudioError) -> Response:
    """Write a refusal as JSON."""
    return _write({"error": error.record()}, error.status)


def _write(value: object, status: int = HTTPStatus.OK) -> Response:
    return Response(msgspec.json.encode(value), status, media_type=JSON)


async def _show_page(request: Request) -> Response:
    """Answer with a file of the page; every browser unpacks it."""
    found = pack_page(request.path_params.get("name", "index.html"))
    if found is None:
        raise StudioError("not_found", "there is no such part of the page")
    content, kind = found
    headers = {"Cache-Control": "no-cache", "Content-Encoding": "gzip"}
    return Response(content, media_type=kind, headers=headers)
