"""Projects as files of the folder, and exports that hold a project with its data."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from msgspec import Struct
from msgspec.structs import replace

from boundit.core.files import write_page
from boundit.studio.drawing import read_project, write_project
from boundit.studio.errors import StudioError
from boundit.studio.folder import Folder
from boundit.studio.project import MARK, Project, name_file

ENDING, EXPORT = ".boundit.json", ".boundit"
_INSIDE = "project.json"
_MOST_PROJECTS = 100
_LARGEST = 20 * 1024 * 1024
_EMBEDDED = re.compile(
    rf'<script type="application/json" id="{MARK}">(.*?)</script>', re.DOTALL
)


class SavedProject(Struct, frozen=True):
    """A project's file: its name in the folder, the project's own, and when it was saved."""

    file: str
    name: str
    modified: str


def list_saved(folder: Folder) -> list[SavedProject]:
    """List the projects of a folder, the newest first."""
    files = [f for f in folder.path.glob(f"*{ENDING}") if f.is_file() and not f.is_symlink()]
    times = {file: file.stat().st_mtime for file in files}
    newest = sorted(files, key=lambda file: -times[file])[:_MOST_PROJECTS]
    return [
        SavedProject(
            file.name, _read_name(file), datetime.fromtimestamp(times[file], UTC).isoformat()
        )
        for file in newest
    ]


def _read_name(file: Path) -> str:
    try:
        return str(json.loads(file.read_text("utf-8"))["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def save_project(project: Project, file: str | None, folder: Folder) -> str:
    """Write a project into the folder, over its own file or under a name that is free."""
    text = write_project(project)
    if file is None or not file.endswith(ENDING):
        file = folder.choose_free(name_file(project))
    path = folder.path / Path(file).name
    if path.is_symlink():
        raise StudioError("outside_folder", f"{file} is a link; save under another name")
    write_page(path, text)
    return path.name


def open_project(file: str, folder: Folder) -> Project:
    """Read a project of the folder."""
    return read_any(folder.find(file).read_bytes()[:_LARGEST].decode("utf-8", "replace"))


def read_any(text: str) -> Project:
    """Read a project from its file, or from a report that it is part of."""
    embedded = _EMBEDDED.search(text) if text.lstrip()[:1] == "<" else None
    return read_project(embedded[1].replace("<\\/", "</") if embedded else text)


def embed_project(page: str, project: Project) -> str:
    """Put a project into a report, for the studio to open."""
    text = write_project(project).replace("</", "<\\/")
    script = f'<script type="application/json" id="{MARK}">{text}</script>'
    before, end, after = page.rpartition("</body>")
    return f"{before}{script}{end}{after}" if end else page


def export_project(project: Project, folder: Folder) -> Path:
    """Write a project and the data that it names into one file of the folder."""
    files = [name for name in (project.data.file, *project.settings.external) if name]
    plain = {name: Path(name).name for name in files}
    if len(set(plain.values())) < len(plain):
        raise StudioError(
            "refused", "two files of the project have one name; rename one of them"
        )
    moved = replace(
        project,
        data=replace(project.data, file=plain.get(project.data.file or "")),
        settings=replace(
            project.settings, external=tuple(plain[name] for name in project.settings.external)
        ),
    )
    stem = name_file(project).removesuffix(ENDING)
    path = folder.path / folder.choose_free(f"{stem}{EXPORT}")
    with ZipFile(path, "x", ZIP_DEFLATED) as archive:
        archive.writestr(_INSIDE, write_project(moved))
        for name in files:
            archive.write(folder.find(name), f"data/{plain[name]}")
    return path


def unpack_export(file: BinaryIO | Path, folder: Folder) -> Project:
    """Read an export: its data come into the folder, under names that are free."""
    try:
        with ZipFile(file) as archive:
            if archive.getinfo(_INSIDE).file_size > _LARGEST:
                raise StudioError("too_much", "the project in this export is too large")
            project = read_project(archive.read(_INSIDE))
            names = dict[str, str]()
            for name in (project.data.file, *project.settings.external):
                if name:
                    names[name] = folder.choose_name(name)
                    with archive.open(f"data/{name}") as packed:
                        folder.copy(packed, names[name])
    except (BadZipFile, KeyError, OSError) as error:
        raise StudioError("malformed", f"this is no export of a project: {error}") from None
    return replace(
        project,
        data=replace(project.data, file=names.get(project.data.file or "")),
        settings=replace(
            project.settings, external=tuple(names[name] for name in project.settings.external)
        ),
    )


def find_folder(place: Path) -> tuple[Path, Project | None]:
    """Find the folder that a path of the command line means, and the project it opens.

    An export is unpacked into a new folder beside it.
    """
    if place.is_dir():
        return place, None
    if place.suffix == EXPORT:
        home, n = place.with_suffix(""), 1
        while home.exists():
            n += 1
            home = place.with_name(f"{place.stem}-{n}")
        home.mkdir()
        return home, unpack_export(place, Folder(home))
    return place.absolute().parent, read_any(place.read_text("utf-8"))
