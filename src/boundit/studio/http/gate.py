"""Who may ask: this machine, by its own name, with this run's cookie, from our own page."""

import secrets
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from boundit.studio.errors import StudioError, WrongHost, WrongOrigin, WrongToken
from boundit.studio.http.answers import write_refusal

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
    def draw(cls, port: int) -> "StartToken":
        """Draw a new secret; called when the studio starts."""
        return cls(secrets.token_urlsafe(32), port)

    @property
    def cookie(self) -> str:
        """The name of the cookie, so that two studios do not overwrite each other's."""
        return f"boundit-studio-{self.port}"

    @property
    def link(self) -> str:
        """The link that lets a browser in."""
        return f"http://127.0.0.1:{self.port}/?token={self.secret}"

    def fits(self, found: str | None) -> bool:
        """Tell whether somebody knows the secret; called by ``Gate``."""
        return found is not None and secrets.compare_digest(
            found.encode("utf-8", "replace"), self.secret.encode()
        )


class Gate:
    """The app behind checks of host, cookie and origin; every answer gets safe headers."""

    def __init__(self, app: ASGIApp, token: StartToken) -> None:
        self._app, self._token = app, token
        self._hosts = {f"127.0.0.1:{token.port}", f"localhost:{token.port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it; the server calls it."""
        if scope["type"] != "http":
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SAFE.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        try:
            answer = self._admit(request)
        except StudioError as error:
            answer = write_refusal(error, as_text=_is_visit(request))
        await (answer or self._app)(scope, receive, send_safely)

    def _admit(self, request: Request) -> Response | None:
        """Admit a request, or raise; the link of this run is answered with a cookie.

        Called for every request.
        """
        if request.headers.getlist("host") not in ([host] for host in self._hosts):
            raise WrongHost(self._token.port)
        given = parse_qs(request.scope["query_string"].decode("latin-1")).get("token")
        if request.method == "GET" and request.scope["path"] == "/" and given:
            if len(given) == 1 and self._token.fits(given[0]):
                return self._let_in()
            raise WrongToken
        if not self._token.fits(request.cookies.get(self._token.cookie)):
            raise WrongToken
        _require_own_page(request)
        return None

    def _let_in(self) -> Response:
        """Set the cookie and lead to the page, so that the secret leaves the address bar."""
        answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            self._token.cookie, self._token.secret, httponly=True, samesite="strict", path="/"
        )
        return answer


def _require_own_page(request: Request) -> None:
    """Refuse what a page of another site sent, also one of another port of this machine."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site not in {None, "none", "same-origin"}:
        raise WrongOrigin
    if origin is not None:
        if origin != f"http://{request.headers['host']}":
            raise WrongOrigin
    elif request.method not in {"GET", "HEAD"} and site != "same-origin":
        raise WrongOrigin


def _is_visit(request: Request) -> bool:
    """Tell whether a person opens the page, so that a refusal is text; called by ``Gate``."""
    return request.method == "GET" and not request.scope["path"].startswith("/api/")
