"""Projects as files: plain JSON that is checked when it is read, and written the same twice."""

import re
from typing import Any

import msgspec

from boundit.studio.drawing import draw_draft, make_draft, read_drawing
from boundit.studio.errors import MalformedProject, StudioError
from boundit.studio.project import FORMAT, VERSION, Project
from boundit.studio.read_json import decode_json, read_json

_RENAMED = {
    "sensitivity": "selection_limit",
    "confounding": "confounding_limit",
    "reward_range": "outcome_range",
}


def read_project(text: str | bytes) -> Project:
    """Read a project from the text of a file, or say in one line what is wrong with it.

    Called for ``/api/project/read``.
    """
    project = read_draft(text)
    require_agreement(project)
    return project


def read_draft(text: str | bytes) -> Project:
    """Read a project that was kept in the middle of work: its text may lag behind its nodes."""
    found = _require_format(text)
    if found["version"] == 1:
        _raise_version(found)
        text = msgspec.json.encode(found)
    return read_json(Project, text)


def _raise_version(found: dict[str, Any]) -> None:
    """Give what 0.2.0 wrote the names that it has in version 2."""
    found["version"] = VERSION
    settings = found.get("settings")
    if not isinstance(settings, dict):
        return
    found["settings"] = {_RENAMED.get(name, name): of for name, of in settings.items()}
    if settings.get("missing") == "refuse":
        found["settings"]["missing"] = "error"


def _require_format(text: str | bytes) -> dict[str, Any]:
    """Decode a project; refuse what is another kind of file, or of a version to come."""
    found = decode_json(text)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise MalformedProject(
            f'this is no project file: it does not say "format": "{FORMAT}"',
            where="format",
            hint="A graph file is opened as text of the graph.",
        )
    version = found.get("version")
    if version not in (1, VERSION):
        raise MalformedProject(
            f"this project is of version {version!r}, and versions 1 and {VERSION} are known here",
            where="version",
            hint="A newer boundit may read it.",
        )
    return found


def require_agreement(project: Project) -> None:
    """Refuse a drawing that names nodes twice, or whose text says something else."""
    draft = make_draft(project.graph)
    if project.graph.text is None:
        return
    try:
        said = read_drawing(project.graph.text).graph
    except StudioError as error:
        raise MalformedProject(str(error), where="graph.text") from None
    draft.positions = {}
    drawn = draw_draft(draft)
    if (said.nodes, said.edges, set(said.groups)) != (
        drawn.nodes,
        drawn.edges,
        set(drawn.groups),
    ):
        raise MalformedProject(
            "the text says something else than nodes and edges do", where="graph.text"
        )


def write_project(project: Project) -> str:
    """Write a project as the text of a file; called for ``/api/project/write``."""
    require_agreement(project)
    return write_draft(project)


def write_draft(project: Project) -> str:
    """Write a project as it is just now, whatever it says."""
    return msgspec.json.format(msgspec.json.encode(project), indent=1).decode() + "\n"


def name_file(project: Project) -> str:
    """Choose the name of a project's file; called for ``/api/project/write``.

    >>> name_file(Project(name="Which reminder?"))
    'which-reminder.boundit.json'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", project.name.lower()).strip("-")[:60]
    return f"{plain or 'project'}.boundit.json"
