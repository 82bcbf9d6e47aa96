"""Files dropped on the page: streamed into the folder, whole or not at all."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from starlette.requests import ClientDisconnect, Request

from boundit.service.errors import RequestRefused
from boundit.studio.errors import MalformedProject, TooMuch, UploadRefused
from boundit.studio.folder import Folder

KIND = "application/octet-stream"
_SILENCE = 60.0
"""After how many seconds without a byte an upload is given up."""


async def save_upload(request: Request, folder: Folder, name: str, most: int) -> str:
    """Write the bytes of a request to a file of the folder; give the name that it has.

    A browser asks before it sends this type across sites, so that other pages cannot. Called
    for ``/api/files/upload``.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != KIND:
        raise RequestRefused(415, "wrong_media_type", f"send the file as {KIND}")
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > most:
        raise _describe_excess(most)
    beside = folder.path / f".{uuid4().hex}.part"
    try:
        await _write_stream(request, beside, most)
        # A link rather than a move: a file that came meanwhile is not overwritten.
        await asyncio.to_thread(os.link, beside, folder.path / name)
    except ClientDisconnect:
        raise MalformedProject("the connection ended within the file") from None
    except TimeoutError:
        reason = f"no byte arrived within {_SILENCE:g} seconds"
        raise RequestRefused(408, "timeout", reason) from None
    except OSError as error:
        raise UploadRefused(f"cannot write {name!r}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    return name


async def _write_stream(request: Request, path: Path, most: int) -> None:
    """Write what comes until it ends or is too much; called by ``save_upload``."""
    size, parts = 0, request.stream().__aiter__()
    with path.open("xb") as file:
        while True:
            async with asyncio.timeout(_SILENCE):
                part = await anext(parts, None)
            if part is None:
                break
            size += len(part)
            if size > most:
                raise _describe_excess(most)
            await asyncio.to_thread(file.write, part)
    if not size:
        raise UploadRefused("the file is empty")


def _describe_excess(most: int) -> TooMuch:
    """Say that a file is too large; called by ``save_upload`` and ``_write_stream``."""
    return TooMuch(
        f"the file is larger than {most:,} bytes",
        hint="Put it into the folder yourself, and choose it there.",
    )
