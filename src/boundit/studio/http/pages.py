"""The files of the page, as they lie in ``studio/page``, and the palette of the reports."""

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from boundit.report.stylesheet import write_palette
from boundit.studio.errors import NoSuchPart

PAGE = Path(__file__).parents[1] / "page"
TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
PALETTE = "palette.css"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}\.[a-z]{1,5}")


async def show_index(_: Request) -> Response:
    """Answer ``/`` with the page; Starlette calls it."""
    return load_file("index.html")


async def show_file(request: Request) -> Response:
    """Answer ``/page/name`` with a file of the page; Starlette calls it."""
    return load_file(request.path_params["name"])


def load_file(name: str) -> Response:
    """Load a file of the page by its plain name; called by ``show_index`` and ``show_file``.

    ``palette.css`` is no file: its colours are those of the reports.
    """
    if name == PALETTE:
        return Response(write_palette(), media_type=TYPES[".css"])
    path = PAGE / name if _NAME.fullmatch(name) else None
    if path is None or path.suffix not in TYPES or not path.is_file():
        raise NoSuchPart("there is no such part of the page")
    answer = Response(path.read_bytes(), media_type=TYPES[path.suffix])
    answer.headers["Cache-Control"] = "no-cache"
    return answer
