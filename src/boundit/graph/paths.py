"""Paths: proper causal paths, and the shortest paths between two sets of nodes.

A directed path from a treatment to an outcome is *proper* when it meets the treatments only at
its start. Adjustment must leave these paths alone and block every other one.

The shortest paths, whichever way their edges point, are what a separation has to block. There
can be exponentially many, so only the first few are listed, by the splitting of Lawler (1972):
the paths that are left after the best one fall into classes by where they part from it, and the
best of each class is one breadth-first search.
"""

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import islice
from typing import TypeAlias

from boundit.core.names import Names, Nodes
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import require_roles

_Hop: TypeAlias = tuple[str, str]
"""The sign of an edge and the node it leads to; at the start of a path the sign is empty."""
_Path: TypeAlias = tuple[_Hop, ...]


def find_proper_causal_nodes(
    graph: CausalGraph, *, treatments: Names, outcomes: Names
) -> Nodes:
    """Collect the nodes on proper causal paths, outcomes included, treatments not.

    A path is proper when it leads from a treatment to an outcome and meets no other treatment.

    They are the effects of the treatments that no treatment cuts off, as far as they are causes
    of an outcome that no treatment cuts off.

    >>> graph = CausalGraph.of(directed=[("X", "M"), ("M", "Y"), ("X", "Z"), ("M", "N")])
    >>> sorted(find_proper_causal_nodes(graph, treatments="X", outcomes="Y"))
    ['M', 'Y']
    """
    acting, ends = _read_ends(graph, treatments, outcomes)
    caused = graph.without_edges_into(acting).descendants(acting)
    causing = graph.without_edges_out_of(acting).ancestors(ends)
    return (caused & causing) - acting


def find_proper_causal_effects(
    graph: CausalGraph, *, treatments: Names, outcomes: Names
) -> Nodes:
    """Find ``Dpcp``: what nodes on proper causal paths cause by ways free of treatments.

    These are the descendants, in the graph cut into the treatments, of a node on a proper
    causal path: none of them may be adjusted for (Definition 2 (i)).

    >>> graph = CausalGraph.of(directed=[("X", "M"), ("M", "Y"), ("X", "Z"), ("M", "N")])
    >>> sorted(find_proper_causal_effects(graph, treatments="X", outcomes="Y"))
    ['M', 'N', 'Y']
    """
    acting, ends = _read_ends(graph, treatments, outcomes)
    on_the_way = find_proper_causal_nodes(graph, treatments=acting, outcomes=ends)
    return graph.without_edges_into(acting).descendants(on_the_way)


def make_back_door_graph(
    graph: CausalGraph, *, treatments: Names, outcomes: Names
) -> CausalGraph:
    """Make ``G_pbd``: the graph without the first edge of every proper causal path.

    What still connects treatments and outcomes in it is not the treatments' doing.

    >>> graph = CausalGraph.of(directed=[("X", "M"), ("M", "Y"), ("X", "Z"), ("U", "X")])
    >>> print(make_back_door_graph(graph, treatments="X", outcomes="Y"))
    M -> Y; U -> X; X -> Z
    """
    acting, ends = _read_ends(graph, treatments, outcomes)
    on_the_way = find_proper_causal_nodes(graph, treatments=acting, outcomes=ends)
    return graph.without_edges(
        e for e in graph.directed if e[0] in acting and e[1] in on_the_way
    )


def _read_ends(graph: CausalGraph, treatments: Names, outcomes: Names) -> list[Nodes]:
    """Read treatments and outcomes as sets of the graph's nodes, which may not overlap."""
    return require_roles(graph, {"a treatment": treatments, "an outcome": outcomes})


def list_causal_paths(
    graph: CausalGraph, treatments: Names, outcomes: Names, *, most: int
) -> list[tuple[str, ...]]:
    """List proper causal paths as they are drawn, at most ``most`` of them.

    >>> graph = CausalGraph.of(directed=[("X", "M"), ("M", "Y"), ("X", "Y")])
    >>> list_causal_paths(graph, "X", "Y", most=5)
    [('X', '->', 'Y'), ('X', '->', 'M', '->', 'Y')]
    """
    acting, ends = _read_ends(graph, treatments, outcomes)
    on_the_way = find_proper_causal_nodes(graph, treatments=acting, outcomes=ends)

    def follow(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        # Every node on the way leads to an outcome, so no step is in vain.
        if path[-1] in ends:
            yield path
            return
        for child in sorted(on_the_way.intersection(graph.links[path[-1]].children)):
            yield from follow((*path, "->", child))

    found = (path for start in sorted(acting) for path in follow((start,)))
    return sorted(islice(found, most), key=len)


def list_shortest_paths(
    graph: CausalGraph, sources: Names, targets: Names, *, most: int
) -> tuple[tuple[str, ...], ...]:
    """List the shortest paths between two disjoint sets of nodes, at most ``most`` of them.

    Each is written as it is drawn. An arrow and a bidirected edge between the same nodes are
    two paths. Paths of one length come in the order of their signs and names.

    >>> graph = CausalGraph.of(directed=[("X", "Y"), ("Z", "X"), ("Z", "Y")])
    >>> for path in list_shortest_paths(graph, "X", "Y", most=5):
    ...     print(*path)
    X -> Y
    X <- Z -> Y
    """
    start, goal = graph.require(sources), graph.require(targets)
    first = _find_shortest(graph, start, goal, (), frozenset())
    heap = [(len(first), first, 0, frozenset[_Hop]())] if first else []
    found = list[_Path]()
    while heap and len(found) < most:
        _, path, n_fixed, barred = heappop(heap)
        found.append(path)
        for i in range(n_fixed, len(path)):
            away = (barred if i == n_fixed else frozenset()) | {path[i]}
            other = _find_shortest(graph, start, goal, path[:i], away)
            if other is not None:
                heappush(heap, (len(other), other, i, away))
    return tuple(tuple(word for hop in path for word in hop)[1:] for path in found)


def _find_shortest(
    graph: CausalGraph, start: Nodes, goal: Nodes, prefix: _Path, barred: frozenset[_Hop]
) -> _Path | None:
    """Find the shortest path that begins with ``prefix`` and goes on by no barred edge."""
    met = {node for _, node in prefix}
    queue = deque([prefix])
    while queue:
        path = queue.popleft()
        for hop in sorted(_list_hops(graph, start, path)):
            if hop[1] in met or (len(path) == len(prefix) and hop in barred):
                continue
            longer = (*path, hop)
            if hop[1] in goal:
                return longer
            met.add(hop[1])
            queue.append(longer)
    return None


def _list_hops(graph: CausalGraph, start: Nodes, path: _Path) -> Iterator[_Hop]:
    """List the edges by which a path may go on, each with the node it leads to.

    An empty path may go to any start, another to neighbours outside the start.
    """
    if not path:
        yield from (("", node) for node in start)
        return
    parents, children, siblings = graph.links[path[-1][1]]
    for sign, nodes in (("<-", parents), ("->", children), ("<->", siblings)):
        yield from ((sign, node) for node in nodes if node not in start)
