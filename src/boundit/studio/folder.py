"""The folder that the studio may read and write: names inside it, and nothing else."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO

from msgspec import Struct

from boundit.core.errors import shorten
from boundit.core.files import write_page
from boundit.counts.files import KINDS, find_format
from boundit.studio.errors import StudioError

OWN = ".boundit-studio"
"""The folder in the folder that is ours: the draft lies there."""
MOST_FILES, MOST_FOLDERS = 2_000, 5_000
"""How many logs are listed, and how many folders are looked into for them."""
_DEEPEST, _LONGEST, _SECRET = 4, 1_000, 40
_PATTERNS = frozenset("*?[]")


class FolderFile(Struct, frozen=True):
    """A log in the folder: its name from there, its size and its kind."""

    name: str
    bytes: int
    kind: str


class Folder:
    """A folder whose files can be named, and none outside it."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    def find(self, name: str) -> Path:
        """Find the file that a name means, or raise; links that lead out are refused."""
        shown = shorten(repr(name), 80)
        _require_plain(name, shown)
        try:
            found = (self.path / name).resolve()
            inside = found.is_relative_to(self.path)
            there = inside and found.is_file()
        except (OSError, RuntimeError):  # a name that is too long, a link that leads to itself
            inside, there = True, False
        if not inside:
            raise StudioError("outside_folder", f"{shown} leads out of the folder")
        if not there:
            raise StudioError(
                "not_found",
                f"there is no file {shown} in the folder",
                hint="Put it there, drop it on the page, or choose another one.",
            )
        return found

    def stamp(self, name: str) -> tuple[str, int, int] | None:
        """Tell a file as it is now from the same file changed; None where it is not there."""
        try:
            found = self.find(name).stat()
        except (StudioError, OSError):
            return None
        return name, found.st_size, found.st_mtime_ns

    def list_files(self) -> list[FolderFile]:
        """List the logs in the folder, by name."""
        return sorted(self._walk(), key=lambda file: file.name)

    def _walk(self) -> Iterator[FolderFile]:
        """Walk through the folder, not deep, past hidden places and links that lead out."""
        count = 0
        for root, folders, names in islice(os.walk(self.path), MOST_FOLDERS):
            at = Path(root).relative_to(self.path)
            deep = len(at.parts) >= _DEEPEST
            folders[:] = [] if deep else sorted(f for f in folders if not f.startswith("."))
            for name in sorted(names):
                kind, shown = find_format(name), (at / name).as_posix()
                if kind is None or name.startswith(".") or count >= MOST_FILES:
                    continue
                try:
                    size = self.find(shown).stat().st_size
                except (StudioError, OSError):
                    continue
                count += 1
                yield FolderFile(shown, size, kind.value)

    def choose_name(self, name: str) -> str:
        """Choose the name of a file that is dropped on the page, one that nothing has yet."""
        base = name.replace("\\", "/").rpartition("/")[2].strip()
        if not base or base.startswith((".", "-")) or not base.isprintable() or len(base) > 150:
            raise StudioError(
                "upload_refused", f"{shorten(repr(name), 80)} cannot be the name of a file"
            )
        if find_format(base) is None:
            raise StudioError(
                "upload_refused",
                f"{shorten(repr(base), 80)} is no {KINDS} file by its name",
                hint="Name it log.csv, log.csv.gz, log.parquet, log.jsonl or such.",
            )
        return self.choose_free(
            "".join("_" if c in _PATTERNS or c in ':"<>|' else c for c in base)
        )

    def choose_free(self, name: str) -> str:
        """Choose the name of a new file, numbered where there is one already."""
        stem, dot, ending = name.partition(".")
        found, n = name, 1
        while (self.path / found).exists() or (self.path / found).is_symlink():
            n += 1
            found = f"{stem}-{n}{dot}{ending}"
        return found

    def copy(self, source: IO[bytes], name: str) -> None:
        """Copy what is read into a new file of the folder."""
        with (self.path / name).open("xb") as file:
            shutil.copyfileobj(source, file)

    def keep_secret(self) -> str:
        """Give the secret of this folder's studio, which only its owner may read.

        It stays the same, so that a page goes on when the studio is started again.
        """
        self._own().mkdir(exist_ok=True)
        path = self._own() / "secret"
        with suppress(OSError, UnicodeDecodeError):
            found = path.read_text("ascii").strip()
            private = path.lstat()
            mine = private.st_uid == os.getuid() and not private.st_mode & 0o077
            if len(found) >= _SECRET and mine and not path.is_symlink():
                return found
        path.unlink(missing_ok=True)
        secret = secrets.token_urlsafe(32)
        with suppress(OSError), open(path, "x", opener=_open_private) as file:
            file.write(secret)
        return secret

    def keep(self, name: str, text: str) -> str:
        """Write a file of an example where none is yet, and give its name."""
        path = self.path / name
        if path.parent.is_symlink():
            raise StudioError(
                "outside_folder", f"{path.parent.name} is a link; remove it, or start elsewhere"
            )
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            write_page(path, text)
        return name

    def save_draft(self, text: str) -> None:
        """Keep a project as it is just now, whole or not at all."""
        self._own().mkdir(exist_ok=True)
        write_page(self._own() / "draft.json", text)

    def load_draft(self) -> str | None:
        """Load the project that was kept last; None where there is none that can be read."""
        try:
            return (self._own() / "draft.json").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def _own(self) -> Path:
        """The place for what is ours, or raise if it is a link to somewhere else."""
        own = self.path / OWN
        if own.is_symlink():
            raise StudioError(
                "outside_folder", f"{OWN} is a link; remove it, so that drafts stay here"
            )
        return own


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _require_plain(name: str, shown: str) -> None:
    """Refuse what is no plain name of a file inside a folder."""
    if not name or len(name) > _LONGEST or not name.isprintable():
        raise StudioError("outside_folder", f"{shown} is no name of a file in the folder")
    if _PATTERNS & set(name) or "://" in name or name.startswith("-"):
        raise StudioError(
            "outside_folder",
            f"{shown} is no plain name of a file; rename it without *, ?, [ and ]",
        )
    path = Path(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name:
        raise StudioError(
            "outside_folder", f"{shown} is not in the folder; name a file inside it"
        )
