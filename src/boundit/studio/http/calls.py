"""The calls that the page makes: what each takes, and what it answers."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

import boundit
from boundit.service.http.openapi import JSON
from boundit.studio.claims import make_claims
from boundit.studio.drawing import (
    DrawnFormat,
    lay_out_drawing,
    read_drawing,
    write_drawing,
)
from boundit.studio.errors import StudioError
from boundit.studio.examples import EXAMPLES, Example, open_example
from boundit.studio.folder import Folder, FolderFile
from boundit.studio.http.answers import RefusalAnswer, write_answer
from boundit.studio.http.events import stream_events
from boundit.studio.http.uploads import save_upload
from boundit.studio.jobs.pool import JobPool
from boundit.studio.jobs.worker import JobKind
from boundit.studio.project import MOST_EDGES, MOST_NODES, Drawing, Project, ProjectQuery, Text
from boundit.studio.project_file import (
    name_file,
    read_draft,
    read_project,
    write_draft,
    write_project,
)
from boundit.studio.take import TakenPart, TakePart, take_part


@dataclass(frozen=True)
class Studio:
    """What calls share: the folder, how much is taken, and the jobs."""

    folder: Folder
    limits: "StudioLimits"
    pool: JobPool


class StudioLimits(Struct, frozen=True, kw_only=True):
    """How much the studio takes at once."""

    body: int = 8 * 1024 * 1024
    upload: int = 2 * 1024**3
    nodes: int = MOST_NODES
    edges: int = MOST_EDGES


class _Body(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a call."""


class NameBody(_Body, frozen=True):
    """A name."""

    name: str


class TextBody(_Body, frozen=True):
    """A text to be read."""

    text: Text


class ProjectBody(_Body, frozen=True):
    """A whole project."""

    project: Project


class DrawingBody(_Body, frozen=True):
    """A drawing."""

    graph: Drawing


class WriteBody(_Body, frozen=True):
    """A drawing, the format to write it in, and the question whose roles it shows."""

    graph: Drawing
    format: DrawnFormat
    query: ProjectQuery = ProjectQuery()


class ClaimsBody(_Body, frozen=True):
    """A drawing, and what is asked of it."""

    graph: Drawing
    query: ProjectQuery = ProjectQuery()


class JobBody(_Body, frozen=True):
    """A job: what is asked of which project; ``line`` is the part of a window that asks."""

    kind: JobKind
    project: Project
    line: Annotated[str, Meta(max_length=100)] = ""


class TakeBody(_Body, frozen=True):
    """A part of a project that is to be taken away."""

    project: Project
    part: TakePart


class StartAnswer(Struct, frozen=True):
    """What the page needs to begin."""

    version: str
    folder: str
    draft: Project | None
    examples: tuple[Example, ...]
    limits: StudioLimits


class ProjectAnswer(Struct, frozen=True):
    """A project."""

    project: Project


class TextAnswer(Struct, frozen=True):
    """A text, and the name of a file that would hold it."""

    text: str
    name: str | None = None


class IdAnswer(Struct, frozen=True):
    """The id of a job."""

    id: str


class NameAnswer(Struct, frozen=True):
    """The name that a file has in the folder."""

    name: str


class FilesAnswer(Struct, frozen=True):
    """The logs in the folder."""

    files: list[FolderFile]


class NothingAnswer(Struct, frozen=True):
    """That it is done."""


Handler: TypeAlias = Callable[[Studio, Request, Any], Awaitable[Any]]


@dataclass(frozen=True)
class PageCall:
    """A path, its method, the body that it takes and what handles it."""

    method: str
    path: str
    takes: type | None
    handler: Handler


async def _start(studio: Studio, _: Request, __: None) -> StartAnswer:
    """Answer what the page needs to begin; the draft that was kept is part of it."""
    studio.pool.warm_up()
    kept, draft = await asyncio.to_thread(studio.folder.load_draft), None
    if kept is not None:
        try:
            draft = read_draft(kept)
        except StudioError:
            draft = None  # damaged, or of another version: the page begins anew
    return StartAnswer(
        boundit.__version__, str(studio.folder.path), draft, EXAMPLES, studio.limits
    )


async def _say_alive(_: Studio, __: Request, ___: None) -> NothingAnswer:
    """Answer the page, which looks whether anybody is there."""
    return NothingAnswer()


async def _open_example(studio: Studio, _: Request, body: NameBody) -> ProjectAnswer:
    """Open an example, and write its log."""
    return ProjectAnswer(await asyncio.to_thread(open_example, body.name, studio.folder))


async def _keep_draft(studio: Studio, _: Request, body: ProjectBody) -> NothingAnswer:
    """Keep a project as it is just now, so that a crash costs nothing."""
    await asyncio.to_thread(studio.folder.save_draft, write_draft(body.project))
    return NothingAnswer()


async def _read_project(_: Studio, __: Request, body: TextBody) -> ProjectAnswer:
    """Read the text of a project's file."""
    return ProjectAnswer(read_project(body.text))


async def _write_project(_: Studio, __: Request, body: ProjectBody) -> TextAnswer:
    """Write a project as the text of a file."""
    return TextAnswer(write_project(body.project), name_file(body.project))


async def _read_graph(_: Studio, __: Request, body: TextBody) -> Any:
    """Read a drawing from text of any format."""
    return await asyncio.to_thread(read_drawing, body.text)


async def _write_graph(_: Studio, __: Request, body: WriteBody) -> TextAnswer:
    """Write a drawing in a format."""
    said = await asyncio.to_thread(write_drawing, body.graph, body.format, body.query)
    return TextAnswer(said)


async def _lay_out_graph(_: Studio, __: Request, body: DrawingBody) -> Any:
    """Find a place for every node."""
    return await asyncio.to_thread(lay_out_drawing, body.graph)


async def _claim_graph(_: Studio, __: Request, body: ClaimsBody) -> Any:
    """Say what a drawing claims, and what is wrong with it."""
    return await asyncio.to_thread(make_claims, body.graph, body.query)


async def _upload(studio: Studio, request: Request, _: None) -> NameAnswer:
    """Write the bytes of a file that was dropped on the page into the folder."""
    name = studio.folder.choose_name(request.query_params.get("name", ""))
    return NameAnswer(await save_upload(request, studio.folder, name, studio.limits.upload))


async def _list_files(studio: Studio, _: Request, __: None) -> FilesAnswer:
    """List the logs in the folder."""
    return FilesAnswer(await asyncio.to_thread(studio.folder.list_files))


async def _look(studio: Studio, _: Request, body: ProjectBody) -> Response:
    """Look at the log of a project; it takes a worker, so that the page stays awake."""
    found = await studio.pool.ask("look", body.project, secrets.token_hex(8))
    if found.what == "result":
        return Response(bytes(found.result), media_type=JSON)
    if found.error is None:
        raise StudioError("the look at the log was cancelled; try again")
    return write_answer(RefusalAnswer(found.error), status=422)


async def _submit(studio: Studio, _: Request, body: JobBody) -> IdAnswer:
    """Take a job, which a worker does."""
    return IdAnswer(studio.pool.submit(body.kind, body.project, body.line).id)


async def _follow(studio: Studio, request: Request, _: None) -> Response:
    """Send what a job tells, as it comes."""
    return stream_events(studio.pool, request.path_params["id"])


async def _cancel(studio: Studio, request: Request, _: None) -> NothingAnswer:
    """End a job at once."""
    studio.pool.cancel(request.path_params["id"])
    return NothingAnswer()


async def _take(studio: Studio, _: Request, body: TakeBody) -> TakenPart:
    """Write the command and the Python that repeat a part."""
    return await asyncio.to_thread(take_part, body.project, body.part, studio.folder)


CALLS = (
    PageCall("GET", "/api/start", None, _start),
    PageCall("GET", "/api/alive", None, _say_alive),
    PageCall("POST", "/api/examples/open", NameBody, _open_example),
    PageCall("POST", "/api/draft", ProjectBody, _keep_draft),
    PageCall("POST", "/api/project/read", TextBody, _read_project),
    PageCall("POST", "/api/project/write", ProjectBody, _write_project),
    PageCall("POST", "/api/graph/read", TextBody, _read_graph),
    PageCall("POST", "/api/graph/write", WriteBody, _write_graph),
    PageCall("POST", "/api/graph/layout", DrawingBody, _lay_out_graph),
    PageCall("POST", "/api/graph/claims", ClaimsBody, _claim_graph),
    PageCall("GET", "/api/files", None, _list_files),
    PageCall("POST", "/api/files/upload", None, _upload),
    PageCall("POST", "/api/data/look", ProjectBody, _look),
    PageCall("POST", "/api/jobs", JobBody, _submit),
    PageCall("GET", "/api/jobs/{id}/events", None, _follow),
    PageCall("POST", "/api/jobs/{id}/cancel", None, _cancel),
    PageCall("POST", "/api/take", TakeBody, _take),
)
"""Every call of the page that takes JSON or nothing, and answers JSON."""
