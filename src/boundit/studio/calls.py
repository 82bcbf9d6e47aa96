"""The calls that the page makes: a path, what its body holds, and what is answered."""

import asyncio
import inspect
import os
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Annotated, Any, TypeVar, get_type_hints
from uuid import uuid4

import msgspec
from msgspec import NODEFAULT, Meta, Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

import boundit
from boundit.core.errors import BounditError
from boundit.estimand.query import parse_query
from boundit.studio.claims import DrawingClaims, make_claims
from boundit.studio.convert import Reading, convert_file
from boundit.studio.drawing import (
    DrawnFormat,
    PlacedDrawing,
    ReadDrawing,
    lay_out_drawing,
    read_drawing,
    write_drawing,
    write_project,
)
from boundit.studio.errors import StudioError
from boundit.studio.examples import EXAMPLES, open_example
from boundit.studio.folder import Folder
from boundit.studio.pool import JobPool
from boundit.studio.project import (
    MOST_EDGES,
    MOST_NODES,
    Drawing,
    Project,
    ProjectQuery,
    Text,
    dump_project,
    load_project,
    name_file,
)
from boundit.studio.saved import (
    export_project,
    list_saved,
    open_project,
    read_any,
    save_project,
    unpack_export,
)
from boundit.studio.take import TakenPart, TakePart, take_part
from boundit.studio.worker import JobKind, JobMessage

JSON, BYTES = "application/json", "application/octet-stream"
_SILENCE = 60.0
"""Seconds without a byte after which a body is given up."""


class StudioLimits(Struct, frozen=True, kw_only=True):
    """How much the studio takes at once."""

    body: int = 8 * 1024 * 1024
    upload: int = 2 * 1024**3
    nodes: int = MOST_NODES
    edges: int = MOST_EDGES


@dataclass(frozen=True)
class Studio:
    """What calls share: the folder, how much is taken, and the jobs."""

    folder: Folder
    limits: StudioLimits
    pool: JobPool


_NO_QUESTION = ProjectQuery()
_Handler = TypeVar("_Handler", bound=Callable[..., Any])


@dataclass(frozen=True)
class PageCall:
    """A path, its method, the kind of its body and what handles it."""

    method: str
    path: str
    takes: type[Struct] | None
    handler: Callable[..., Any]

    async def answer(self, studio: Studio, request: Request, body: Struct | None) -> Any:
        """Answer a request whose body was read; what is not a coroutine runs in a thread."""
        given = {} if body is None else msgspec.structs.asdict(body)
        if inspect.iscoroutinefunction(self.handler):
            return await self.handler(studio, request, **given)
        return await asyncio.to_thread(self.handler, studio, request, **given)


CALLS: list[PageCall] = []
"""Every call of the page."""


def _call(method: str, path: str) -> Callable[[_Handler], _Handler]:
    """Declare a call; its handler's keywords are the fields of the body."""

    def declare(handler: _Handler) -> _Handler:
        hints = get_type_hints(handler, include_extras=True)
        fields = [
            (p.name, hints[p.name], NODEFAULT if p.default is p.empty else p.default)
            for p in inspect.signature(handler).parameters.values()
            if p.kind is p.KEYWORD_ONLY
        ]
        takes = (
            msgspec.defstruct("Body", fields, frozen=True, forbid_unknown_fields=True)
            if fields
            else None
        )
        CALLS.append(PageCall(method, path, takes, handler))
        return handler

    return declare


async def read_body(request: Request, most: int) -> AsyncIterator[bytes]:
    """Yield the parts of a body until it ends, is too large or stands still."""
    too_much = StudioError(
        "too_much",
        f"this is larger than {most:,} bytes",
        hint="Put a large file into the folder yourself, and choose it there.",
    )
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > most:
        raise too_much
    size, parts = 0, request.stream().__aiter__()
    while True:
        try:
            async with asyncio.timeout(_SILENCE):
                part = await anext(parts, None)
        except ClientDisconnect:
            raise StudioError("malformed", "the connection ended within the body") from None
        except TimeoutError:
            reason = f"no byte arrived within {_SILENCE:g} seconds"
            raise StudioError("timeout", reason) from None
        if part is None:
            return
        size += len(part)
        if size > most:
            raise too_much
        yield part


def require_type(request: Request, kind: str) -> None:
    """Refuse other types of bodies: a browser asks before it sends this one across sites."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != kind:
        raise StudioError("wrong_media_type", f"send this with Content-Type: {kind}")


@_call("GET", "/api/start")
async def start(studio: Studio, _: Request) -> dict[str, object]:
    """Answer what the page needs to begin; the draft that was kept is part of it."""
    studio.pool.warm_up()
    kept, draft = await asyncio.to_thread(studio.folder.load_draft), None
    if kept is not None:
        with suppress(StudioError):  # damaged, or of another version: the page begins anew
            draft = load_project(kept)
    return {
        "version": boundit.__version__,
        "folder": str(studio.folder.path),
        "draft": draft,
        "examples": EXAMPLES,
        "limits": studio.limits,
    }


@_call("GET", "/api/alive")
async def say_alive(_: Studio, __: Request) -> dict[str, object]:
    """Answer the page, which looks whether anybody is there."""
    return {}


@_call("POST", "/api/examples/open")
def open_one(studio: Studio, _: Request, *, name: str) -> dict[str, object]:
    """Open an example, and write its log."""
    return {"project": open_example(name, studio.folder)}


@_call("POST", "/api/draft")
def keep_draft(studio: Studio, _: Request, *, project: Project) -> dict[str, object]:
    """Keep a project as it is just now, so that a crash costs nothing."""
    studio.folder.save_draft(dump_project(project))
    return {}


@_call("POST", "/api/project/read")
def read_file(_: Studio, __: Request, *, text: Text) -> dict[str, object]:
    """Read the text of a project's file, or of a report."""
    return {"project": read_any(text)}


@_call("POST", "/api/project/write")
def write_file(_: Studio, __: Request, *, project: Project) -> dict[str, object]:
    """Write a project as the text of a file."""
    return {"text": write_project(project), "name": name_file(project)}


@_call("GET", "/api/projects")
def list_projects(studio: Studio, _: Request) -> dict[str, object]:
    """List the projects in the folder, the newest first."""
    return {"projects": list_saved(studio.folder)}


@_call("POST", "/api/projects/save")
def save(
    studio: Studio, _: Request, *, project: Project, file: str | None = None
) -> dict[str, object]:
    """Write a project into the folder."""
    return {"file": save_project(project, file, studio.folder)}


@_call("POST", "/api/projects/open")
def open_saved(studio: Studio, _: Request, *, file: str) -> dict[str, object]:
    """Open a project of the folder."""
    return {"project": open_project(file, studio.folder)}


@_call("POST", "/api/projects/export")
def export(studio: Studio, _: Request, *, project: Project) -> dict[str, object]:
    """Write a project with its data into one file of the folder."""
    path = export_project(project, studio.folder)
    command = shlex.join(["boundit", "studio", path.name])
    return {"file": path.name, "bytes": path.stat().st_size, "command": command}


@_call("POST", "/api/projects/unpack")
async def unpack(studio: Studio, request: Request) -> dict[str, object]:
    """Read an export, and write its data into the folder."""
    require_type(request, BYTES)
    with TemporaryFile() as file:
        async for part in read_body(request, studio.limits.upload):
            await asyncio.to_thread(file.write, part)
        return {"project": await asyncio.to_thread(unpack_export, file, studio.folder)}


@_call("POST", "/api/graph/read")
def read_graph(_: Studio, __: Request, *, text: Text) -> ReadDrawing:
    """Read a drawing from text of any format."""
    return read_drawing(text)


@_call("POST", "/api/graph/write")
def write_graph(
    _: Studio,
    __: Request,
    *,
    graph: Drawing,
    format: DrawnFormat,  # noqa: A002, the field of the body
    query: ProjectQuery = _NO_QUESTION,
) -> dict[str, object]:
    """Write a drawing in a format; a query gives its nodes roles."""
    return {"text": write_drawing(graph, format, query)}


@_call("POST", "/api/graph/layout")
def lay_out(
    _: Studio,
    __: Request,
    *,
    graph: Drawing,
    aspect: Annotated[float, Meta(ge=0.1, le=10)] = 1.5,
) -> PlacedDrawing:
    """Find a place for every node, on a canvas of this width over height."""
    return lay_out_drawing(graph, aspect)


@_call("POST", "/api/query/read")
def read_question(_: Studio, __: Request, *, text: Text) -> dict[str, object]:
    """Read a question that was typed."""
    try:
        asked = parse_query(text)
    except BounditError as error:
        raise StudioError("malformed", str(error), where="query") from None
    if len(asked.outcomes) != 1:
        raise StudioError("malformed", "a question has one outcome", where="query")
    return {
        "query": {
            "outcome": asked.outcomes[0],
            "treatments": asked.treatments,
            "context": asked.context,
        }
    }


@_call("POST", "/api/graph/claims")
def claim(
    _: Studio, __: Request, *, graph: Drawing, query: ProjectQuery = _NO_QUESTION
) -> DrawingClaims:
    """Say what a drawing claims, and what is wrong with it."""
    return make_claims(graph, query)


@_call("GET", "/api/files")
def list_files(studio: Studio, _: Request) -> dict[str, object]:
    """List the logs in the folder."""
    return {"files": studio.folder.list_files()}


@_call("POST", "/api/files/upload")
async def upload(studio: Studio, request: Request) -> dict[str, object]:
    """Write a file that was dropped on the page into the folder, whole or not at all."""
    name = studio.folder.choose_name(request.query_params.get("name", ""))
    require_type(request, BYTES)
    beside = studio.folder.path / f".{uuid4().hex}.part"
    try:
        with beside.open("xb") as file:
            async for part in read_body(request, studio.limits.upload):
                await asyncio.to_thread(file.write, part)
        if not beside.stat().st_size:
            raise StudioError("upload_refused", "the file is empty")
        # A link rather than a move: a file that came meanwhile is not overwritten.
        await asyncio.to_thread(os.link, beside, studio.folder.path / name)
    except OSError as error:
        reason = f"cannot write {name!r}: {error.strerror or error}"
        raise StudioError("upload_refused", reason) from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    return {"name": name}


@_call("POST", "/api/files/convert")
def convert(studio: Studio, _: Request, *, file: str, reading: Reading) -> dict[str, object]:
    """Copy a file as it should be read."""
    return {"name": convert_file(file, reading, studio.folder)}


@_call("POST", "/api/jobs")
async def submit(
    studio: Studio,
    _: Request,
    *,
    kind: JobKind,
    project: Project,
    line: Annotated[str, Meta(max_length=100)] = "",
) -> dict[str, object]:
    """Take a job, which a worker does; ``line`` is the part of a window that asks."""
    return {"id": studio.pool.submit(kind, project, line).id}


@_call("GET", "/api/jobs/{id}/events")
async def follow(studio: Studio, request: Request) -> Response:
    """Send what a job tells as server-sent events, until it ends."""
    job = studio.pool.find(request.path_params["id"]).id

    async def write() -> AsyncIterator[bytes]:
        async for message in studio.pool.follow(job):
            yield write_event(message)

    return StreamingResponse(
        write(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


@_call("POST", "/api/jobs/{id}/cancel")
async def cancel(studio: Studio, request: Request) -> dict[str, object]:
    """End a job at once."""
    studio.pool.cancel(request.path_params["id"])
    return {}


@_call("POST", "/api/take")
def take(studio: Studio, _: Request, *, project: Project, part: TakePart) -> TakenPart:
    """Write the command and the Python that repeat a part."""
    return take_part(project, part, studio.folder)


def write_event(message: JobMessage) -> bytes:
    r"""Write what a job tells as an event.

    >>> write_event(JobMessage("a", "progress", "count rows", 1, 2))
    b'event: progress\ndata: {"done":1,"total":2,"words":"count rows"}\n\n'
    """
    match message.what:
        case "result" | "part":
            name, data = str(message.what), bytes(message.result)
        case "error":
            name, data = "error", msgspec.json.encode(message.error)
        case "stopped":
            name, data = "cancelled", b"{}"
        case _:
            told = {"done": message.done, "total": message.total, "words": message.words}
            name, data = "progress", msgspec.json.encode(told)
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
