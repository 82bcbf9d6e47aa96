"""Files written whole or not at all: a crash or a Ctrl-C leaves the old file or the new."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from boundit.core.errors import CannotWrite


def write_page(path: str | os.PathLike[str], page: str) -> None:
    """Write a page, or any text, to a file as UTF-8, whole or not at all."""
    write_whole(path, page.encode("utf-8"))


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all."""
    write_pieces(path, [content])


def write_pieces(path: str | os.PathLike[str], pieces: Iterable[bytes]) -> None:
    """Write a file beside its target and move it into place, so that none is half written."""
    target = Path(path)
    beside = target.parent / f".{target.name}.{uuid4().hex}"
    try:
        with beside.open("xb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        raise CannotWrite(path, error.strerror or str(error)) from None
    finally:
        with suppress(OSError):  # what was never made need not go
            beside.unlink(missing_ok=True)
