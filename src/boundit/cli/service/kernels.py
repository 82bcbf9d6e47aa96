"""Where compiled code is kept: a folder that no other user may write to.

Who could write there would have the service run code of their own.
"""

import os
import stat
from pathlib import Path

import click

import boundit

_VARIABLE = "NUMBA_CACHE_DIR"


def set_kernel_folder(data: Path | None) -> None:
    """Choose the folder of compiled code, before anything that is compiled is imported.

    The one that ``NUMBA_CACHE_DIR`` names; else beside the installed package, if no other user
    may write there and we may; else ``kernels`` in the folder of the events, or in the user's
    cache.
    """
    named = os.environ.get(_VARIABLE)
    if named:
        require_private(Path(named))
    elif not _is_package_private():
        folder = Path(data) if data is not None else _find_cache()
        require_private(folder / "kernels")
        os.environ[_VARIABLE] = str(folder / "kernels")


def require_private(folder: Path) -> None:
    """Make a folder for us alone, or refuse one that others may write to."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"cannot make {str(folder)!r}: {error.strerror}") from None
    if not is_private(folder):
        raise click.UsageError(
            f"others may write to {str(folder)!r}, which compiled code is loaded from; "
            f"make it yours alone (chmod 700), or name another folder in {_VARIABLE}"
        )


def is_private(folder: Path) -> bool:
    """Return True if only this user and root may write to a folder."""
    found = folder.stat()
    shared = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return not shared and found.st_uid in {os.getuid(), 0}


def _is_package_private() -> bool:
    """Tell whether compiled code may be kept beside the installed package."""
    package = Path(boundit.__file__).parent
    folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
    return all(is_private(folder) and os.access(folder, os.W_OK) for folder in folders)


def _find_cache() -> Path:
    """Find the user's own cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "boundit"
