"""The fewest nodes whose removal parts two sets: a minimum vertex cut, by augmenting paths.

Given the ancestors of all nodes in question, separation is plain reachability in the augmented
graph: there two nodes are joined when a walk between them meets nothing but colliders. These
are the members and the causes of one district (nodes joined by bidirected edges), so that a
district is kept as one hub which everything around it can pass through, and the network stays
as small as the graph.

References
----------
T. Richardson, Markov properties for acyclic directed mixed graphs, Scand. J. Stat. 2003 (the
augmented graph). J. Tian, A. Paz and J. Pearl, Finding minimal d-separators, R-254, 1998.
"""

from collections import deque
from typing import NamedTuple, TypeAlias

from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes, sort_names


class _Gate(NamedTuple):
    """One side of a node, where walks come ``in`` or go out; or a hub, named by its number."""

    name: str | int
    inward: bool


_Residual: TypeAlias = dict[_Gate, dict[_Gate, int]]


def cut_vertices(
    graph: CausalGraph, sources: Nodes, targets: Nodes, *, gone: Nodes, usable: Nodes
) -> Nodes:
    """Find the fewest ``usable`` nodes that part sources from targets in the augmented graph.

    ``graph`` holds only ancestors of what is asked about, ``gone`` are nodes that are given
    already. All usable nodes together must part the two. Of several such sets it is the one
    nearest to the sources.

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y"), ("A", "Y")])
    >>> ends, usable = (frozenset("X"), frozenset("Y")), frozenset("AB")
    >>> sorted(cut_vertices(chain, *ends, gone=frozenset(), usable=usable))
    ['A']
    """
    residual = _make_network(graph, gone, usable)
    starts = [_Gate(node, inward=False) for node in sort_names(sources)]
    ends = frozenset(_Gate(node, inward=True) for node in targets)
    while True:
        came_from = _search_residual(residual, starts, ends)
        reached = next((gate for gate in ends if gate in came_from), None)
        if reached is None:
            return frozenset(
                node
                for node in usable - gone
                if _Gate(node, inward=True) in came_from
                and _Gate(node, inward=False) not in came_from
            )
        _push_one(residual, came_from, reached)


def _make_network(graph: CausalGraph, gone: Nodes, usable: Nodes) -> _Residual:
    """Make the network of flows: a gate in and out of every node, a hub for every district.

    A usable node lets one unit pass, everything else as much as may come.
    """
    much = len(graph.nodes) + 1
    residual: _Residual = {}
    places = {node: i for i, node in enumerate(graph.order) if node not in gone}
    for node in places:
        way_in, way_out = _Gate(node, inward=True), _Gate(node, inward=False)
        residual[way_in] = {way_out: 1 if node in usable else much}
        residual[way_out] = {}
    for number, district in enumerate(graph.components()):
        hub = _Gate(number, inward=True)
        residual[hub] = {}
        around = (district | graph.parents(district)) - gone
        for node in sorted(around, key=places.__getitem__):
            residual[_Gate(node, inward=False)][hub] = much
            residual[hub][_Gate(node, inward=True)] = much
    return residual


def _search_residual(
    residual: _Residual, starts: list[_Gate], ends: frozenset[_Gate]
) -> dict[_Gate, _Gate | None]:
    """Collect the gates that more flow can reach, each with the one before it.

    The search stops at the first of ``ends``.
    """
    came_from: dict[_Gate, _Gate | None] = dict.fromkeys(starts)
    queue = deque(starts)
    while queue:
        here = queue.popleft()
        for there, room in residual[here].items():
            if room and there not in came_from:
                came_from[there] = here
                if there in ends:
                    return came_from
                queue.append(there)
    return came_from


def _push_one(
    residual: _Residual, came_from: dict[_Gate, _Gate | None], reached: _Gate
) -> None:
    """Send one unit of flow along the way that a search found, and leave room to take it back."""
    here, before = reached, came_from[reached]
    while before is not None:
        residual[before][here] -= 1
        residual[here][before] = residual[here].get(before, 0) + 1
        here, before = before, came_from[before]
