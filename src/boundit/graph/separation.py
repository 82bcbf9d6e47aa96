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
    bits = graph.bits
    start, known = map(bits.mask, require_roles(graph, {"a source": sources, "given": given}))
    found = bits.find_reached(start, known, bits.everything, bits.ancestors(known))
    return bits.read(found & ~start & ~known)


def find_boundary(
    graph: CausalGraph,
    names: Names,
    *,
    given: Nodes,
    into: Nodes = _NONE,
    out_of: Nodes = _NONE,
) -> Nodes:
    """Find the Markov boundary of ``names`` in ``given``: the rest of it is separated by these.

    Edges ``into`` and ``out_of`` these nodes count as cut.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y")])
    >>> sorted(find_boundary(chain, "Y", given=frozenset("XM")))
    ['M']
    >>> sorted(find_boundary(chain, "Y", given=frozenset("XM"), out_of=frozenset("M")))
    []
    """
    mask = graph.bits.mask
    sets = mask(read_nodes(names)), mask(given), mask(into), mask(out_of)
    return graph.bits.read(graph.bits.find_boundary(*sets))


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
