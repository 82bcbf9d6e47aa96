"""Messages of a job as server-sent events: progress and parts, then how it ended."""

from collections.abc import AsyncIterator

import msgspec
from starlette.responses import StreamingResponse

from boundit.studio.jobs.pool import JobPool
from boundit.studio.jobs.worker import JobMessage


def stream_events(pool: JobPool, id_: str) -> StreamingResponse:
    """Answer with the events of a job until it ends; called for ``/api/jobs/{id}/events``."""
    job = pool.find(id_).id

    async def write() -> AsyncIterator[bytes]:
        async for message in pool.follow(job):
            yield write_event(message)

    return StreamingResponse(
        write(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


def write_event(message: JobMessage) -> bytes:
    r"""Write one message as an event; called by ``stream_events``.

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
