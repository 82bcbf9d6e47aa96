"""A project: graph, question, settings and the name of a log, as one document of plain JSON.

The page holds it and sends it whole; every answer is a function of it. The data themselves are
never in it. The format is versioned, and what it does not know is refused by name.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from boundit.core.errors import shorten
from boundit.service.commands import has_repeated_keys
from boundit.studio.errors import StudioError

FORMAT, VERSION = "boundit project", 2
MARK = "boundit-project"
"""The id of a project within a report."""

EdgeSign: TypeAlias = Literal["->", "<->"]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
FileName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=1000)]
Text: TypeAlias = Annotated[str, Meta(max_length=400_000)]
Level: TypeAlias = str | int | float | bool
Pair: TypeAlias = tuple[float, float]
Position: TypeAlias = Annotated[float, Meta(ge=-1e6, le=1e6)]
MOST_NODES, MOST_EDGES = 500, 5_000

T = TypeVar("T")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`$", re.DOTALL)
_PLACE = re.compile(r" - at `([^`]*)`$", re.DOTALL)
_RENAMED = {
    "sensitivity": "selection_limit",
    "confounding": "confounding_limit",
    "reward_range": "outcome_range",
}
"""Names of 0.2.0, whose projects are of version 1."""


class _ProjectPart(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a project: unknown fields are refused."""


class DrawnNode(_ProjectPart, frozen=True):
    """A node of the drawing; hidden ones are variables that nobody recorded."""

    name: Name
    hidden: bool = False
    selection: bool = False
    x: Position | None = None
    y: Position | None = None


class DrawnEdge(_ProjectPart, frozen=True):
    """An edge of the drawing: tail may cause head, or something hidden may cause both."""

    tail: Name
    head: Name
    kind: EdgeSign = "->"


class DrawnGroup(_ProjectPart, frozen=True):
    """A name for several nodes, which may be related in any way unless independent."""

    name: Name
    members: Annotated[tuple[Name, ...], Meta(max_length=MOST_NODES)]
    independent: bool = False


class Drawing(_ProjectPart, frozen=True):
    """The graph as a person drew it; ``text`` is the person's own, while it says the same."""

    nodes: Annotated[tuple[DrawnNode, ...], Meta(max_length=MOST_NODES)] = ()
    edges: Annotated[tuple[DrawnEdge, ...], Meta(max_length=MOST_EDGES)] = ()
    groups: Annotated[tuple[DrawnGroup, ...], Meta(max_length=MOST_NODES)] = ()
    text: Text | None = None


class ProjectQuery(_ProjectPart, frozen=True):
    """What is asked: the effect of treatments on an outcome, by context, relative to a baseline."""

    outcome: Name | None = None
    treatments: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    context: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    baseline: tuple[Level | None, ...] | None = None
    adjust_for: Annotated[tuple[Name, ...], Meta(max_length=MOST_NODES)] = ()
    never_adjust_for: Annotated[tuple[Name, ...], Meta(max_length=MOST_NODES)] = ()


class DataSource(_ProjectPart, frozen=True):
    """A file of the folder, and how it is read."""

    file: FileName | None = None
    columns: dict[Name, Name] = field(default_factory=dict)
    bins: dict[Name, Annotated[tuple[float, ...], Meta(max_length=1000)]] = field(
        default_factory=dict
    )
    weight: Name | None = None
    levels: dict[Name, Annotated[tuple[Level, ...], Meta(max_length=10_000)]] = field(
        default_factory=dict
    )


class Settings(_ProjectPart, frozen=True):
    """What is known besides the graph, and how sure the answer is to be."""

    confidence: Annotated[float, Meta(gt=0, lt=1)] | None = 0.95
    inference: Literal["exact", "approximate"] = "exact"
    goal: Literal["max", "min"] = "max"
    selection_rate: float | Pair | None = None
    selection_limit: float | None = None
    confounding_limit: dict[str, float] = field(default_factory=dict)
    outcome_range: Pair | None = None
    missing: Literal["drop", "level", "error"] = "drop"
    external: Annotated[tuple[FileName, ...], Meta(max_length=20)] = ()


class SimulateSettings(_ProjectPart, frozen=True):
    """How policies are tried: how long, how often, and which."""

    rounds: Annotated[int, Meta(ge=1, le=1_000_000)] = 5_000
    runs: Annotated[int, Meta(ge=1, le=1_000)] = 20
    policies: Annotated[tuple[str, ...], Meta(max_length=20)] = ("Fused", "LinUCB")


class Project(_ProjectPart, frozen=True):
    """Everything that a person has drawn, asked and set."""

    format: Literal["boundit project"] = "boundit project"
    version: Literal[2] = 2
    name: Annotated[str, Meta(max_length=200)] = ""
    graph: Drawing = Drawing()
    query: ProjectQuery = ProjectQuery()
    data: DataSource = DataSource()
    settings: Settings = Settings()
    without_edges: Annotated[tuple[DrawnEdge, ...], Meta(max_length=MOST_EDGES)] = ()
    simulate: SimulateSettings = SimulateSettings()


def read_json(kind: type[T], body: bytes | str) -> T:
    """Read a value of one kind from JSON, or say which part does not fit.

    >>> read_json(Project, '{"graph": {"edges": [{"tail": "X", "haed": "Y"}]}}')
    Traceback (most recent call last):
    boundit.studio.errors.StudioError: 'haed' is no field here; there are tail, head, kind
    """
    value = decode_json(body)
    try:
        return msgspec.convert(value, type=kind)
    except msgspec.ValidationError as error:
        where, innermost, reason = _locate(kind, value, str(error))
        raise StudioError(
            "malformed", _explain(innermost, reason), where=where or None
        ) from None


def decode_json(body: bytes | str) -> Any:
    """Decode JSON into plain values, or say what is wrong with it."""
    try:
        found, repeats = msgspec.json.decode(body), has_repeated_keys(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise StudioError("malformed", f"this is no JSON: {error}") from None
    if repeats:
        raise StudioError("malformed", "a key stands twice in one object; write it once")
    return found


def _locate(kind: Any, value: object, reason: str) -> tuple[str, Any, str]:
    """Find the innermost part that does not fit: its place, its kind, and what is wrong."""
    place = ""
    while True:
        for step, inner, part in _list_parts(kind, value):
            try:
                msgspec.convert(part, type=inner)
            except msgspec.ValidationError as error:
                reason, kind, value = str(error), inner, part
                place += step
                break
        else:
            return place.removeprefix("."), kind, reason


def _list_parts(kind: Any, value: object) -> Iterator[tuple[str, Any, object]]:
    """List the parts of a value, with the kind that each should be of."""
    bare = _strip(kind)
    if isinstance(value, Mapping):
        kinds = dict[str, Any]()
        if isinstance(bare, type) and issubclass(bare, Struct):
            kinds = {part.name: part.type for part in msgspec.structs.fields(bare)}
        elif get_origin(bare) is dict:
            kinds = dict.fromkeys(value, get_args(bare)[1])
        yield from ((f".{key}", kinds[key], of) for key, of in value.items() if key in kinds)
    elif isinstance(value, list) and get_origin(bare) is tuple and get_args(bare)[-1] is ...:
        yield from ((f"[{i}]", get_args(bare)[0], of) for i, of in enumerate(value))


def _strip(kind: Any) -> Any:
    """Take limits and ``None`` off a kind, for the parts within."""
    while hasattr(kind, "__metadata__"):
        kind = kind.__origin__
    others = [of for of in get_args(kind) if of is not type(None)]
    if get_origin(kind) not in {dict, tuple} and len(others) == 1:
        return _strip(others[0])
    return kind


def _explain(kind: Any, said: str) -> str:
    reason = _PLACE.sub("", said)
    if unknown := _UNKNOWN.match(reason):
        names = ", ".join(part.name for part in msgspec.structs.fields(_strip(kind)))
        return f"{shorten(unknown[1], 60)!r} is no field here; there are {names}"
    return f"{reason[:1].lower()}{reason[1:]}".replace("`", "")


def load_project(text: str | bytes) -> Project:
    """Read a project that was kept in the middle of work: its text may lag behind its nodes."""
    found = decode_json(text)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise StudioError(
            "malformed",
            f'this is no project file: it does not say "format": "{FORMAT}"',
            where="format",
            hint="A graph file is opened as text of the graph.",
        )
    version, settings = found.get("version"), found.get("settings")
    if version not in (1, VERSION):
        raise StudioError(
            "malformed",
            f"this project is of version {version!r}, and versions 1 and {VERSION} are known here",
            where="version",
            hint="A newer boundit may read it.",
        )
    if version == VERSION:
        return read_json(Project, text)
    found["version"] = VERSION
    if isinstance(settings, dict):
        found["settings"] = {_RENAMED.get(name, name): of for name, of in settings.items()}
        if settings.get("missing") == "refuse":
            found["settings"]["missing"] = "error"
    return read_json(Project, msgspec.json.encode(found))


def dump_project(project: Project) -> str:
    """Write a project as it is just now, whatever it says."""
    return msgspec.json.format(msgspec.json.encode(project), indent=1).decode() + "\n"


def name_file(project: Project) -> str:
    """Choose the name of a project's file.

    >>> name_file(Project(name="Which reminder?"))
    'which-reminder.boundit.json'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", project.name.lower()).strip("-")[:60]
    return f"{plain or 'project'}.boundit.json"


def keep_asked(project: Project) -> Project:
    """Keep what answers depend on: no places, no name, no text, no settings of simulations."""
    nodes = tuple(replace(node, x=None, y=None) for node in project.graph.nodes)
    return replace(
        project,
        name="",
        graph=replace(project.graph, nodes=nodes, text=None),
        simulate=SimulateSettings(),
    )
