"""Drawings and graphs: what a person drew, as text of any format and as a causal graph."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import ceil
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from boundit.core.errors import BounditError, HasCycle, InvalidName, MalformedText
from boundit.core.names import is_name, sort_names
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import ReadFormat, draft_graph, write_draft
from boundit.graph.text import GraphDraft, list_lines
from boundit.report.drawing import draw_graph
from boundit.report.layout import NodeBox, lay_out_graph
from boundit.studio.errors import StudioError
from boundit.studio.project import (
    Drawing,
    DrawnEdge,
    DrawnGroup,
    DrawnNode,
    Project,
    ProjectQuery,
    dump_project,
    load_project,
)

DrawnFormat: TypeAlias = Literal["boundit", "dagitty", "dot", "json", "svg"]
_BETWEEN_COLUMNS = 60.0
"""How far apart the columns of a folded drawing stand."""
_SMALL, _APART = 25.0, 150.0
"""Places within so few units are none of pixels; and how far apart nodes then stand."""


class ReadDrawing(Struct, frozen=True):
    """A drawing that was read from text, and what came with it."""

    graph: Drawing
    text: str
    format: ReadFormat
    positions_given: bool
    query: ProjectQuery | None
    notes: tuple[str, ...]


def read_drawing(text: str) -> ReadDrawing:
    """Read a drawing from text of any format, or raise and say at which line and column.

    What is no causal graph, such as a cycle, can be drawn all the same.
    """
    try:
        found, draft = draft_graph(text)
        require_names(draft.nodes)
    except MalformedText as error:
        raise StudioError(
            "malformed", error.reason, where="text", line=error.line, column=error.column
        ) from None
    except BounditError as error:
        raise StudioError("malformed", str(error), where="text") from None
    own = found == "text"
    drawing = draw_draft(draft, text=text if own and not _is_plain(text, draft) else None)
    asked = None
    if draft.outcomes or draft.exposures:
        outcome = sort_names(draft.outcomes)[0] if draft.outcomes else None
        asked = ProjectQuery(outcome=outcome, treatments=tuple(sort_names(draft.exposures)))
    return ReadDrawing(
        graph=drawing,
        text=text if own else write_drawing(drawing, "boundit"),
        format=found,
        positions_given=bool(draft.positions),
        query=asked,
        notes=() if own else _list_losses(found, text),
    )


def _is_plain(text: str, draft: GraphDraft) -> bool:
    """Tell whether a text is just what we would write."""
    lines = list_lines(_drop_implied(draft))
    return text.strip() in {"\n".join(lines), "; ".join(lines)}


def _list_losses(found: ReadFormat, text: str) -> tuple[str, ...]:
    """Say what of another format's text is not kept."""
    if found == "json":
        return ()
    commented = found != "gml" and any(mark in text for mark in ("//", "/*", "#"))
    what = "Comments and looks" if commented else "Looks, such as colours,"
    return (f"{what} of the {_SPOKEN[found]} text are not kept; nodes and edges all are.",)


_SPOKEN = {"dagitty": "DAGitty", "dot": "DOT", "gml": "GML", "json": "JSON", "text": "graph"}


def draw_draft(draft: GraphDraft, *, text: str | None = None) -> Drawing:
    """Make the drawing of a draft; places are in pixels."""
    draft = _drop_implied(draft)
    places = _scale(draft.positions)
    nodes = [
        DrawnNode(
            name=name,
            hidden=name in draft.hidden,
            selection=name in draft.selections,
            x=places[name][0] if name in places else None,
            y=places[name][1] if name in places else None,
        )
        for name in sort_names(draft.nodes)
    ]
    edges = [DrawnEdge(tail=a, head=b) for a, b in sorted(draft.directed)]
    arcs = sorted({(min(pair), max(pair)) for pair in draft.bidirected})
    edges += [DrawnEdge(tail=a, head=b, kind="<->") for a, b in arcs]
    groups = [
        DrawnGroup(
            name=group.name,
            members=tuple(sort_names(group.members)),
            independent=group.independent,
        )
        for group in draft.groups.values()
    ]
    return Drawing(nodes=tuple(nodes), edges=tuple(edges), groups=tuple(groups), text=text)


def _drop_implied(draft: GraphDraft) -> GraphDraft:
    """Leave out hidden causes of two members of a group, which the group says already."""
    inner = {
        frozenset((one, other))
        for group in draft.groups.values()
        if not group.independent
        for one in group.members
        for other in group.members
        if one != other
    }
    draft.bidirected = {pair for pair in draft.bidirected if frozenset(pair) not in inner}
    return draft


def _scale(places: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Bring the places of another program to pixels; those in pixels stay as they are."""
    if len(places) < 2:
        return places
    xs, ys = zip(*places.values(), strict=True)
    span = max(max(xs) - min(xs), max(ys) - min(ys))
    if not 0 < span <= _SMALL:
        return places
    factor = _APART * len(places) ** 0.5 / span
    return {
        name: (round((x - min(xs)) * factor + 60, 1), round((y - min(ys)) * factor + 60, 1))
        for name, (x, y) in places.items()
    }


def make_draft(drawing: Drawing) -> GraphDraft:
    """Make the draft of a drawing, or refuse one that names a node twice or not at all."""
    draft = GraphDraft(
        hidden={node.name for node in drawing.nodes if node.hidden},
        selections={node.name for node in drawing.nodes if node.selection},
    )
    for i, node in enumerate(drawing.nodes):
        _add_node(draft, node, f"graph.nodes[{i}].name")
    for i, edge in enumerate(drawing.edges):
        for end in (edge.tail, edge.head):
            if end not in draft.nodes:
                raise StudioError(
                    "malformed",
                    f"this edge ends at {end!r}, which is no node",
                    where=f"graph.edges[{i}]",
                )
        draft.connect(edge.tail, edge.kind, edge.head)
    for i, group in enumerate(drawing.groups):
        _add_group(draft, group, f"graph.groups[{i}]")
    return _drop_implied(draft)


def _add_node(draft: GraphDraft, node: DrawnNode, where: str) -> None:
    """Add a node to a draft, or refuse its name."""
    if node.name in draft.nodes:
        raise StudioError(
            "malformed", f"{node.name!r} is drawn twice; a node has one name", where=where
        )
    if not is_name(node.name):
        raise StudioError("malformed", str(InvalidName(node.name)), where=where)
    draft.nodes.add(node.name)
    if node.x is not None and node.y is not None:
        draft.positions[node.name] = node.x, node.y


def _add_group(draft: GraphDraft, group: DrawnGroup, where: str) -> None:
    """Add a group to a draft, or refuse it."""
    try:
        draft.add_group(group.name, group.members, independent=group.independent)
    except BounditError as error:
        raise StudioError("malformed", str(error), where=where) from None
    if unknown := [name for name in group.members if name not in draft.nodes]:
        raise StudioError("malformed", f"{unknown[0]!r} is no node", where=f"{where}.members")


def require_names(names: Iterable[str]) -> None:
    """Refuse names of nodes that cannot be written down."""
    for name in names:
        if not is_name(name):
            raise InvalidName(name)


def write_drawing(drawing: Drawing, to: DrawnFormat, query: ProjectQuery | None = None) -> str:
    """Write a drawing in a format; the person's own text is kept where it is asked for.

    With a ``query`` the drawing has its roles.
    """
    if to == "boundit" and drawing.text is not None:
        return drawing.text
    asked = query or ProjectQuery()
    if to == "svg":
        return _draw_picture(drawing, asked)
    draft = make_draft(drawing)
    if to == "boundit":
        return "\n".join([*list_lines(draft), ""])
    if to == "dagitty":
        draft.exposures = set(asked.treatments) & draft.nodes
        draft.outcomes = {asked.outcome or ""} & draft.nodes
    try:
        return write_draft(draft, to)
    except BounditError as error:
        raise StudioError("refused", str(error), where="graph") from None


def _draw_picture(drawing: Drawing, asked: ProjectQuery) -> str:
    """Draw a drawing as SVG with a legend, its nodes where they stand, with their roles."""
    graph = make_graph(drawing)
    places = {n.name: (n.x, n.y) for n in drawing.nodes if n.x is not None and n.y is not None}
    return draw_graph(
        graph,
        treatments=graph.nodes.intersection(asked.treatments),
        context=graph.nodes.intersection(asked.context),
        outcomes=graph.nodes.intersection([asked.outcome or ""]),
        places=places if graph.nodes <= places.keys() else None,
    )


def read_project(text: str | bytes) -> Project:
    """Read a project from the text of a file, or say in one line what is wrong with it."""
    project = load_project(text)
    require_agreement(project)
    return project


def write_project(project: Project) -> str:
    """Write a project as the text of a file, unless it contradicts itself."""
    require_agreement(project)
    return dump_project(project)


def require_agreement(project: Project) -> None:
    """Refuse a drawing that names nodes twice, or whose text says something else."""
    draft = make_draft(project.graph)
    if project.graph.text is None:
        return
    try:
        said = read_drawing(project.graph.text).graph
    except StudioError as error:
        raise StudioError("malformed", str(error), where="graph.text") from None
    draft.positions = {}
    drawn = draw_draft(draft)
    if (said.nodes, said.edges, set(said.groups)) != (
        drawn.nodes,
        drawn.edges,
        set(drawn.groups),
    ):
        reason = "the text says something else than nodes and edges do"
        raise StudioError("malformed", reason, where="graph.text")


def without_edges(project: Project) -> Drawing:
    """Give the drawing of a project without the edges that are switched off."""
    cut = {_key(edge) for edge in project.without_edges}
    kept = tuple(edge for edge in project.graph.edges if _key(edge) not in cut)
    return replace(project.graph, edges=kept)


def make_graph(drawing: Drawing) -> CausalGraph:
    """Make the causal graph of a drawing, or say what is wrong with it."""
    try:
        return make_draft(drawing).make_graph()
    except StudioError:
        raise
    except BounditError as error:
        raise StudioError("refused", str(error), where="graph") from None


def _key(edge: DrawnEdge) -> tuple[str, str, str]:
    """Name an edge so that both ways to write a two-headed one are the same."""
    ends = sorted((edge.tail, edge.head)) if edge.kind == "<->" else [edge.tail, edge.head]
    return ends[0], edge.kind, ends[1]


def make_query(project: Project) -> EffectQuery:
    """Make the question of a project, or say what it lacks."""
    asked = project.query
    if asked.outcome is None:
        raise StudioError("refused", "no outcome is marked", where="query.outcome", hint=_MARK)
    if not asked.treatments:
        raise StudioError(
            "refused", "no treatment is marked", where="query.treatments", hint=_MARK
        )
    try:
        return EffectQuery((asked.outcome,), asked.treatments, asked.context)
    except BounditError as error:
        raise StudioError("refused", str(error), where="query") from None


_MARK = "Choose a node, and say whether it is a treatment, the outcome or a subgroup."


class PlacedNode(Struct, frozen=True):
    """Where the middle of a node stands, in pixels."""

    x: float
    y: float


class PlacedDrawing(Struct, frozen=True):
    """A place for every node, and how much room the drawing takes."""

    positions: dict[str, PlacedNode]
    width: float
    height: float


def lay_out_drawing(drawing: Drawing, aspect: float = 1.5) -> PlacedDrawing:
    """Find a place for every node that suits a canvas of this width over height.

    Causes stand above or left of effects, whichever is seen larger; a long strip goes on in
    columns. Members of a group stand together. A drawing with a cycle is laid out without one
    edge of it.
    """
    draft = make_draft(drawing)
    if not draft.nodes:
        return PlacedDrawing({}, 0, 0)
    homes = {name: g.name for g in draft.groups.values() for name in g.members}
    groups = {g.name: sort_names(g.members) for g in draft.groups.values()}
    boxes = _lay_out(draft, homes, groups)
    rows = list(dict.fromkeys(sorted(box.y for box in boxes.values())))
    layers = [_sort_boxes(boxes, y) for y in rows]
    width = max(box.x + box.width / 2 for box in boxes.values())
    tries = [
        {n: (box.x, box.y) for n, box in boxes.items()},
        _turn(layers),
        *(_fold(boxes, rows, width, ceil(len(rows) / n)) for n in range(2, len(rows) // 4 + 1)),
    ]

    def measure(places: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
        wide = max(places[n][0] + boxes[n].width / 2 for n in places)
        return wide + 20, max(places[n][1] + boxes[n].height / 2 for n in places) + 20

    def fit(places: Mapping[str, tuple[float, float]]) -> float:
        wide, high = measure(places)
        return min(aspect / wide, 1 / high)

    best = max(tries, key=fit)
    placed = {n: at for n, at in best.items() if n not in groups}
    for group, members in groups.items():
        x, y = best[group]
        for i, name in enumerate(members):
            placed[name] = x, y + 8 + _MEMBER * (i - (len(members) - 1) / 2)
    wide, high = measure(best)
    points = {name: PlacedNode(round(x, 1), round(y, 1)) for name, (x, y) in placed.items()}
    return PlacedDrawing(points, round(wide), round(high))


_MEMBER, _LINE, _FIRST_LINE = 48.0, 17.0, 34.0
"""How far apart members of a group stand; how high lines of a label are, and the first."""


def _sort_boxes(boxes: Mapping[str, NodeBox], y: float) -> list[tuple[str, NodeBox]]:
    """List the boxes of one row from left to right."""
    row = [(name, box) for name, box in boxes.items() if box.y == y]
    return sorted(row, key=lambda each: each[1].x)


def _turn(layers: list[list[tuple[str, NodeBox]]]) -> dict[str, tuple[float, float]]:
    """Let causes stand left of their effects; rows become columns."""
    pairs = [pair for layer in layers for pair in pairwise(box for _, box in layer)]
    needed = (((a.height + b.height) / 2 + 30, b.x - a.x) for a, b in pairs)
    stretch = max((room / (apart or 1) for room, apart in needed), default=1.0)
    places, left = dict[str, tuple[float, float]](), 0.0
    for layer in layers:
        half = max(box.width for _, box in layer) / 2 + 8
        places |= {name: (left + half, box.x * stretch) for name, box in layer}
        left += 2 * half + _BETWEEN_COLUMNS
    return places


def _fold(
    boxes: Mapping[str, NodeBox], rows: list[float], width: float, n_rows: int
) -> dict[str, tuple[float, float]]:
    """Go on at the top, in a column to the right, after so many rows."""
    places = dict[str, tuple[float, float]]()
    for name, box in boxes.items():
        column = rows.index(box.y) // n_rows
        x = box.x + column * (width + _BETWEEN_COLUMNS)
        places[name] = x, box.y - rows[column * n_rows] + rows[0]
    return places


def _lay_out(
    draft: GraphDraft, homes: Mapping[str, str], groups: Mapping[str, list[str]]
) -> Mapping[str, NodeBox]:
    """Lay a draft out as a graph of all its nodes, each group one of them."""
    home = {name: homes.get(name, name) for name in draft.nodes}
    arrows = {(home[a], home[b]) for a, b in draft.directed if home[a] != home[b]}
    arcs = {(home[a], home[b]) for a, b in draft.bidirected if home[a] != home[b]}
    labels = dict[str, tuple[str, ...]]()
    for name, members in groups.items():
        high = _MEMBER * len(members) + 26
        lines = ceil((high - _FIRST_LINE) / _LINE) + 1
        labels[name] = (f"{max(members, key=len)}mm",) * lines
    while True:
        try:
            graph = CausalGraph.of(home.values(), directed=arrows, bidirected=arcs)
            return lay_out_graph(graph, labels).boxes
        except HasCycle as error:
            arrows.discard((error.cycle[-2], error.cycle[-1]))
