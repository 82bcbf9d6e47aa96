"""A project: graph, question, settings and the name of a log, as one document of plain JSON.

The page holds it and sends it whole; every answer is a function of it. The data themselves are
never in it. The format is versioned, and what it does not know is refused by name.
"""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct, field

FORMAT, VERSION = "boundit project", 2

EdgeSign: TypeAlias = Literal["->", "<->"]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
FileName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=1000)]
Text: TypeAlias = Annotated[str, Meta(max_length=400_000)]
Level: TypeAlias = str | int | float | bool
Pair: TypeAlias = tuple[float, float]
Position: TypeAlias = Annotated[float, Meta(ge=-1e6, le=1e6)]
MOST_NODES, MOST_EDGES = 500, 5_000


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
    """What is asked: what the arms would earn, in which contexts."""

    outcome: Name | None = None
    treatments: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    context: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()


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
