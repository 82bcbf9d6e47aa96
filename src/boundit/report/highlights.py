"""Groups folded into one box each, and the paths that a step of a derivation is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from boundit.core.formula import StepRecord
from boundit.core.names import join_names, sort_names, write_name
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.groups import NodeGroup
from boundit.graph.paths import list_shortest_paths


@dataclass(frozen=True, slots=True)
class PathHighlight:
    """The parts of a drawn graph that a step is about: two sides, what is given, edges.

    The edges are those on paths between the sides, as ``write_edge`` writes them; the caption
    says which paths these are.
    """

    between: tuple[tuple[str, ...], tuple[str, ...]]
    given: tuple[str, ...]
    edges: tuple[str, ...]
    caption: str


LONGEST_LINE = 30
"""After how many characters the members of a group break."""
RELATED = "related in any way"


@dataclass(frozen=True, slots=True)
class FoldedGraph:
    """The graph that is drawn: which box each node is in, and the lines of boxes of groups."""

    graph: CausalGraph
    names: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def find_box(self, node: str) -> str:
        """Find the box that shows a node: its own, or that of its group."""
        return self.names.get(node, node)


def fold_groups(graph: CausalGraph, roles: Mapping[str, str] | None = None) -> FoldedGraph:
    """Fold each group whose members may be related in any way into one node.

    An edge of some members is one of the box; the graph's text says of which. Members that have
    ``roles`` are named in the box with them.

    >>> from boundit.graph.text import parse
    >>> folded = fold_groups(parse("Z = {Age, Sex}; Z -> X; Z -> Y; X -> Y"))
    >>> print(folded.graph, folded.labels["Z"])
    X -> Y; Z -> X; Z -> Y ('Z', 'Age, Sex', 'related in any way')
    """
    groups = [group for group in graph.groups if not group.independent]
    if not groups:
        return FoldedGraph(graph)
    names = {member: group.name for group in groups for member in group.members}

    def fold(edges: frozenset[tuple[str, str]]) -> set[tuple[str, str]]:
        pairs = {(names.get(a, a), names.get(b, b)) for a, b in edges}
        return {(a, b) for a, b in pairs if a != b}

    drawn = CausalGraph.of(
        {names.get(node, node) for node in graph.nodes},
        directed=fold(graph.directed),
        bidirected=fold(graph.bidirected),
        selection=graph.selection,
    )
    return FoldedGraph(
        drawn, names, {group.name: _write_lines(group, roles or {}) for group in groups}
    )


def _write_lines(group: NodeGroup, roles: Mapping[str, str]) -> tuple[str, ...]:
    """Write the lines of a group's box: its name, its members, their roles."""
    parts: dict[str, list[str]] = {}
    for member in sort_names(group.members):
        parts.setdefault(roles.get(member, ""), []).append(member)
    lines = [group.name, *_break_list(parts.pop("", []))]
    for role, members in sorted(parts.items()):
        lines += _break_list(members, f"{role}: ")
    return (*lines, *([RELATED] if len(group.members) > 1 else []))


def _break_list(names: list[str], head: str = "") -> list[str]:
    """Break a list of names with commas into lines that are not too long.

    >>> _break_list(["Age", "Education", "Household income"], "context: ")
    ['context: Age, Education,', 'Household income']
    """
    lines, line = list[str](), head
    for i, name in enumerate(names):
        piece = name + ("," if i < len(names) - 1 else "")
        if line.strip() and line != head and len(line) + 1 + len(piece) > LONGEST_LINE:
            lines.append(line)
            line = piece
        else:
            line = f"{line} {piece}" if line and line != head else line + piece
    return [*lines, line] if names else lines


MOST_PATHS = 5
"""How many paths are highlighted for one step: the shortest."""


def find_highlight(graph: CausalGraph, step: StepRecord) -> PathHighlight | None:
    """Find what to highlight in the drawn graph with a step of an explanation.

    That is both sides of the separation that the step rests on, what is given, and the paths
    between them in the graph without the edges that the step cuts. None for a step without a
    separation, or one that names a variable outside the graph.

    >>> from boundit.graph.text import parse
    >>> sentence = "Rule 2: do(X) equals conditioning"
    >>> step = StepRecord(sentence, (("Y",), ("X",)), ("Z",), out_of=("X",))
    >>> found = find_highlight(parse("X -> Y; Z -> X; Z -> Y"), step)
    >>> found.edges, found.caption
    (('Z -> Y', 'Z -> X'), 'Path between Y and X without the edges out of X. Blocked given Z.')
    """
    if step.between is None:
        return None
    one, other = step.between
    if not graph.nodes.issuperset((*one, *other, *step.given, *step.into, *step.out_of)):
        return None
    cut = graph.without_edges_into(step.into).without_edges_out_of(step.out_of)
    paths = list_shortest_paths(cut, one, other, most=MOST_PATHS)
    boxes = fold_groups(graph)
    edges = dict.fromkeys(edge for path in paths for edge in _list_edges(path, boxes))
    between, given = (_fold(one, boxes), _fold(other, boxes)), _fold(step.given, boxes)
    return PathHighlight(between, given, tuple(edges), _write_caption(step, paths))


def write_edge(a: str, sign: str, b: str) -> str:
    """Write an edge of a path so that both ways along it are written the same.

    >>> write_edge("X", "<-", "time of day"), write_edge("Y", "<->", "X")
    ('"time of day" -> X', 'X <-> Y')
    """
    if sign == "<-" or (sign == "<->" and b < a):
        a, b = b, a
    return f"{write_name(a)} {'->' if sign == '<-' else sign} {write_name(b)}"


def _fold(nodes: tuple[str, ...], boxes: FoldedGraph) -> tuple[str, ...]:
    """List the boxes that show some nodes, each once."""
    return tuple(dict.fromkeys(map(boxes.find_box, nodes)))


def _list_edges(path: tuple[str, ...], boxes: FoldedGraph) -> list[str]:
    """List the edges along a path as they are drawn, each as text like ``X -> Y``."""
    hops = zip(path[::2], path[1::2], path[2::2], strict=False)
    ends = ((boxes.find_box(a), sign, boxes.find_box(b)) for a, sign, b in hops)
    return [write_edge(a, sign, b) for a, sign, b in ends if a != b]


def _write_caption(step: StepRecord, paths: tuple[tuple[str, ...], ...]) -> str:
    """Write the caption of a step's lit-up paths: in which graph they are, what blocks them."""
    one, other = map(join_names, step.between or ((), ()))
    count = "No path"
    if paths:
        plural = f"{MOST_PATHS} shortest paths" if len(paths) == MOST_PATHS else "Paths"
        count = "Path" if len(paths) == 1 else plural
    parts = (("into", step.into), ("out of", step.out_of))
    cuts = " and ".join(f"{side} {join_names(names)}" for side, names in parts if names)
    without = f" without the edges {cuts}" if cuts else ""
    given = f" given {join_names(step.given)}" if step.given else ""
    blocked = f" Blocked{given}." if paths else ""
    return f"{count} between {one} and {other}{without}.{blocked}"
