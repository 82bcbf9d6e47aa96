"""m-separation: open walks, what a set separates, and Markov boundaries.

A *walk* is a chain of edges. A node in the middle of it is a *collider* when both its edges on
the walk point at it (``-> C <-``, ``<-> C <-`` and so on). A set ``given`` leaves the walk
*open* when every collider on it causes something in ``given`` (or is in it) and no other node
on it is in ``given``. Two sets are *separated* by ``given`` when no walk between them is open,
and then every distribution of every model with this graph makes them independent given it.

Why colliders are different: two independent causes of an effect become dependent once the
effect is known. Talent and looks may be unrelated in the population and opposed among the
famous. The selection node is such an effect, and every logged row has it.
"""

from collections import deque
from collections.abc import Mapping
from itertools import combinations

from boundit.core.errors import OverlappingRoles
from boundit.core.names import Names, Nodes, read_nodes, sort_names
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike, require_graph

_NONE = Nodes()
_Reached = dict[str, tuple[str, bool, str] | None]


def open_walk(
    graph: GraphLike, sources: Names, targets: Names, *, given: Names = ()
) -> tuple[str, ...] | None:
    """Find a shortest walk that ``given`` leaves open.

    Parameters
    ----------
    graph
        The causal graph.
    sources, targets
        The two sets of nodes that the walk joins.
    given
        The nodes that are known.

    Returns
    -------
    tuple of str, or None
        The walk as it would be drawn; None if ``given`` separates the two sets.

    Examples
    --------
    >>> berkson = "Talent -> Fame <- Looks"
    >>> open_walk(berkson, "Talent", "Looks", given="Fame")
    ('Talent', '->', 'Fame', '<-', 'Looks')
    >>> open_walk(berkson, "Talent", "Looks") is None
    True

    Notes
    -----
    Time is linear in the edges: a node is entered at most twice, by an arrowhead and by a tail.
    """
    graph = require_graph(graph)
    start, goal, known = require_roles(
        graph, {"a source": sources, "a target": targets, "given": given}
    )
    links, opening = graph.links, graph.ancestors(known)
    # How each node was first entered: from which node, how that one was entered, by which edge.
    by_head: _Reached = {}
    by_tail: _Reached = dict.fromkeys(sort_names(start))
    queue = deque((node, False) for node in by_tail)
    while queue:
        node, head = queue.popleft()
        parents, children, siblings = links[node]
        if node in known:
            children = ()
            if not head:
                parents = siblings = ()
        elif head and node not in opening:
            parents = siblings = ()
        for neighbours, edge, tail, reached in (
            (parents, "<-", True, by_tail),
            (children, "->", False, by_head),
            (siblings, "<->", False, by_head),
        ):
            for other in neighbours:
                if other in reached or (tail and other in known):
                    continue
                reached[other] = (node, head, edge)
                if other in goal:
                    walk, step = [other], reached[other]
                    while step:
                        before, entered, sign = step
                        walk += [sign, before]
                        step = (by_head if entered else by_tail)[before]
                    return tuple(reversed(walk))
                queue.append((other, not tail))
    return None


def find_connected_nodes(graph: CausalGraph, sources: Names, *, given: Names = ()) -> Nodes:
    """Collect every node that ``given`` does not separate from the sources, in one search.

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("C", "A")])
    >>> sorted(find_connected_nodes(chain, "X"))
    ['A', 'B']
    >>> sorted(find_connected_nodes(chain, "X", given="A"))
    ['C']
    """
    start, known = require_roles(graph, {"a source": sources, "given": given})
    opening = graph.ancestors(known)
    return (
        find_reached(graph, start, known, inside=graph.nodes, opening=opening) - start - known
    )


def find_boundary(
    graph: CausalGraph,
    names: Names,
    *,
    given: Nodes,
    closed: Nodes = _NONE,
    into: Nodes = _NONE,
    out_of: Nodes = _NONE,
) -> Nodes:
    """Find the Markov boundary of ``names`` in ``given``: the rest of it is separated by these.

    Edges ``into`` and ``out_of`` these nodes count as cut. ``closed`` is a part of ``given``
    that is known to hold all its causes, so that they need no search.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y")])
    >>> sorted(find_boundary(chain, "Y", given=frozenset("XM")))
    ['M']
    >>> sorted(find_boundary(chain, "Y", given=frozenset("XM"), out_of=frozenset("M")))
    []
    """
    start = read_nodes(names)
    opening = find_causes(graph, given, closed=closed, into=into, out_of=out_of)
    # An open walk between two nodes never leaves the causes of the two and of what is given.
    inside = find_causes(graph, start, closed=opening, into=into, out_of=out_of)
    return given & find_reached(
        graph, start, given, inside=inside, opening=opening, into=into, out_of=out_of
    )


def find_causes(
    graph: CausalGraph,
    of: Nodes,
    *,
    closed: Nodes = _NONE,
    into: Nodes = _NONE,
    out_of: Nodes = _NONE,
) -> Nodes:
    """Find ``An(of)``, the causes of ``of``, with the edges ``into`` and ``out_of`` sets cut.

    ``closed`` is a set known to hold all its causes; it is part of the answer without a search.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y")])
    >>> sorted(find_causes(chain, frozenset("Y"), into=frozenset("M")))
    ['M', 'Y']
    """
    links, found, queue = graph.links, set(closed | of), list(of - closed)
    while queue:
        if (here := queue.pop()) in into:
            continue
        for cause in links[here][0]:
            if cause not in found and cause not in out_of:
                found.add(cause)
                queue.append(cause)
    return frozenset(found)


def find_reached(
    graph: CausalGraph,
    start: Nodes,
    given: Nodes,
    *,
    inside: Nodes,
    opening: Nodes,
    into: Nodes = _NONE,
    out_of: Nodes = _NONE,
) -> Nodes:
    """Collect what walks inside ``inside`` reach from ``start``, the given ones among it.

    A given node lets only colliders pass, and of the others only those of ``opening`` may be
    passed as colliders. Edges ``into`` and ``out_of`` these nodes count as cut. A node is left
    at most twice, once for each way in.
    """
    links, found, by_head, by_tail = graph.links, set(start), set(into), set(start | out_of)
    queue = list(dict.fromkeys(start, False).items())
    while queue:
        node, head = queue.pop()
        parents, children, siblings = links[node]
        if node in given:
            children = ()
            if not head:
                parents = siblings = ()
        elif head and node not in opening:
            parents = siblings = ()
        if node in into:
            parents = siblings = ()
        if node in out_of:
            children = ()
        for other in parents:
            if other not in by_tail and other in inside:
                by_tail.add(other)
                found.add(other)
                queue.append((other, False))
        for other in children + siblings:
            if other not in by_head and other in inside:
                by_head.add(other)
                found.add(other)
                queue.append((other, True))
    return frozenset(found)


def require_roles(graph: CausalGraph, roles: Mapping[str, Names]) -> list[Nodes]:
    """Read the names of each role as a set of nodes; refuse a node in two roles."""
    parts = [graph.require(names) for names in roles.values()]
    if len(_NONE.union(*parts)) < sum(map(len, parts)):
        for (role, part), (other_role, other) in combinations(
            zip(roles, parts, strict=True), 2
        ):
            if both := part & other:
                raise OverlappingRoles(sort_names(both)[0], role, other_role)
    return parts
