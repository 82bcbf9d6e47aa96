"""The Markov boundary: what the law of some variables depends on, of all that is given."""

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import find_exits
from boundit.terms.names import Names, Nodes, read_nodes


def find_boundary(
    graph: CausalGraph,
    names: Names,
    *,
    given: Nodes,
    closed: Nodes = frozenset(),
    into: Nodes = frozenset(),
    out_of: Nodes = frozenset(),
) -> Nodes:
    """Find which of ``given`` the law of ``names`` depends on: their Markov boundary in it.

    What is not found is separated from ``names`` by the rest of ``given``, so one search
    answers for all. Edges ``into`` and ``out_of`` these nodes count as cut. ``closed`` is a
    part of ``given`` that is known to hold all its causes, so that they need no search.

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
    links, found = graph.links, set(start)
    # Nobody enters a node twice the same way, nor by an edge that is cut.
    by_head, by_tail = set(into), set(start | out_of)
    queue = list(dict.fromkeys(start, False).items())
    while queue:
        here, head = queue.pop()
        parents, children, siblings = links[here]
        if here in given or (head and here not in opening):
            parents, children, siblings = find_exits(
                links[here], head=head, known=here in given
            )
        if here in into:
            parents = siblings = ()
        if here in out_of:
            children = ()
        for other in parents:
            if other not in by_tail:
                by_tail.add(other)
                found.add(other)
                queue.append((other, False))
        for other in children + siblings:
            if other not in by_head and other in inside:
                by_head.add(other)
                found.add(other)
                queue.append((other, True))
    return given & found


def find_causes(
    graph: CausalGraph,
    of: Nodes,
    *,
    closed: Nodes = frozenset(),
    into: Nodes = frozenset(),
    out_of: Nodes = frozenset(),
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
