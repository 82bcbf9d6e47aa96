"""Our own graph text, written: ``X -> Y; X <-> Y; Y -> [S]``. ``text.py`` reads it back."""

from collections.abc import Collection

from boundit.terms.names import Nodes, sort_names, write_name


def write_statements(
    nodes: Nodes,
    directed: Collection[tuple[str, str]],
    bidirected: Collection[tuple[str, str]],
    selection: str | None,
) -> str:
    """Write a graph as text, one statement an edge: directed, bidirected, then lone nodes.

    Called by ``CausalGraph.__str__``.

    >>> write_statements(frozenset("XYZ"), {("X", "Y")}, {("X", "Y")}, "Y")
    'X -> [Y]; X <-> [Y]; Z'
    """

    def spell(name: str) -> str:
        return f"[{write_name(name)}]" if name == selection else write_name(name)

    arrows = [f"{spell(a)} -> {spell(b)}" for a, b in _sort_edges(directed)]
    arcs = [f"{spell(a)} <-> {spell(b)}" for a, b in _sort_edges(bidirected)]
    alone = nodes.difference(*directed, *bidirected)
    return "; ".join([*arrows, *arcs, *(spell(node) for node in sort_names(alone))])


def _sort_edges(edges: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """Sort edges by both ends, X2 before X10. Called by ``write_statements``."""
    place = {name: i for i, name in enumerate(sort_names({n for edge in edges for n in edge}))}
    return sorted(edges, key=lambda edge: (place[edge[0]], place[edge[1]]))
