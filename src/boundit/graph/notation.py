"""Our own graph text, written: ``X -> Y; X <-> Y; Y -> [S]``. ``text.py`` reads it back."""

from collections.abc import Collection, Iterator
from itertools import combinations, permutations, product

from boundit.graph.groups import Groups
from boundit.terms.names import Names, Nodes, read_nodes, sort_names, write_name

Pairs = Collection[tuple[str, str]]


def write_statements(
    nodes: Nodes,
    directed: Pairs,
    bidirected: Pairs,
    selection: str | None,
    groups: Groups = (),
) -> str:
    """Write a graph as text: groups, directed edges, bidirected ones, then lone nodes.

    Edges that all members of a group have are one statement, and those that a group brings by
    itself are left out.

    >>> write_statements(frozenset("XYZ"), {("X", "Y")}, {("X", "Y")}, "Y")
    'X -> [Y]; X <-> [Y]; Z'
    """
    return "; ".join(list_statements(nodes, directed, bidirected, selection, groups))


def list_statements(
    nodes: Nodes,
    directed: Pairs,
    bidirected: Pairs,
    selection: Names | None,
    groups: Groups = (),
) -> list[str]:
    """List the statements of a graph's text; ``selection`` are the nodes in brackets."""
    marked = read_nodes(selection or ())

    def spell(name: str) -> str:
        return f"[{write_name(name)}]" if name in marked else write_name(name)

    inner = {
        pair
        for group in groups
        if not group.independent
        for pair in combinations(sorted(group.members), 2)
    }
    ways = {*bidirected, *((b, a) for a, b in bidirected)} - inner - {(b, a) for a, b in inner}
    arrows = [f"{spell(a)} -> {spell(b)}" for a, b in _shorten(directed, groups)]
    both = {(min(pair), max(pair)) for pair in _shorten(ways, groups)}
    arcs = [f"{spell(a)} <-> {spell(b)}" for a, b in _sort_edges(both)]
    alone = nodes.difference(*directed, *bidirected, *(group.members for group in groups))
    named = map(str, groups)
    return [*named, *arrows, *arcs, *(spell(node) for node in sort_names(alone))]


def _shorten(edges: Pairs, groups: Groups) -> list[tuple[str, str]]:
    """Put the name of a group in place of its members, where all of them have an edge."""
    whole, left = set(edges), set(edges)
    found = list[tuple[str, str]]()
    for ends, covered in _list_blocks(edges, groups) if groups else ():
        if covered & left and covered <= whole:
            found.append(ends)
            left -= covered
    return _sort_edges([*found, *left])


def _list_blocks(
    edges: Pairs, groups: Groups
) -> Iterator[tuple[tuple[str, str], set[tuple[str, str]]]]:
    """List what could be one statement: edges between two groups, a group and a node.

    With each come the edges that it would stand for.
    """
    for one, other in permutations(groups, 2):
        yield (one.name, other.name), set(product(one.members, other.members))
    for node in sort_names({name for edge in edges for name in edge}):
        for group in groups:
            if node not in group.members:
                yield (node, group.name), set(product([node], group.members))
                yield (group.name, node), set(product(group.members, [node]))


def _sort_edges(edges: Pairs) -> list[tuple[str, str]]:
    """Sort edges by both ends, X2 before X10."""
    place = {name: i for i, name in enumerate(sort_names({n for edge in edges for n in edge}))}
    return sorted(edges, key=lambda edge: (place[edge[0]], place[edge[1]]))
