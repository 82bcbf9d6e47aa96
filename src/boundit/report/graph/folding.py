"""Groups of a graph folded into one box each, so that many covariates can be drawn and read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from boundit.core.names import sort_names
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.groups import NodeGroup

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
