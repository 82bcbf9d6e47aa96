"""m-separation, answered with the walk that refutes it.

A *walk* is a chain of edges. A node in the middle of it is a *collider* when both its edges on
the walk point at it (``-> C <-``, ``<-> C <-`` and so on). A set ``given`` leaves the walk
*open* when every collider on it causes something in ``given`` (or is in it) and no other node
on it is in ``given``. Two sets are *separated* by ``given`` when no walk between them is open,
and then every distribution of every model with this graph makes them independent given it.

Why colliders are different: two independent causes of an effect become dependent once the
effect is known. Talent and looks may be unrelated in the population and opposed among the
famous. The selection node is such an effect, and the log is what is known of it.
"""

from collections import deque

from boundit.graph.causal_graph import Links
from boundit.graph.read import GraphLike, require_graph
from boundit.terms.errors import OverlappingRoles
from boundit.terms.names import Names, Nodes, sort_names

_Reached = dict[str, tuple[str, bool, str] | None]


def open_walk(
    graph: GraphLike, sources: Names, targets: Names, *, given: Names = ()
) -> tuple[str, ...] | None:
    """Find a shortest walk that ``given`` leaves open; None when it blocks every walk.

    A walk is a chain of edges; an open one carries dependence. None is therefore the claim
    ``(sources _||_ targets | given)`` in the graph. Users ask it; also called by ``adjusts``,
    ``find_selection_walk`` and wherever a separation is checked. The walk reads as it would be
    drawn:

    >>> berkson = "Talent -> Fame <- Looks"
    >>> open_walk(berkson, "Talent", "Looks", given="Fame")
    ('Talent', '->', 'Fame', '<-', 'Looks')
    >>> open_walk(berkson, "Talent", "Looks") is None
    True

    Notes
    -----
    Time is linear in the edges once ``graph.links`` is built: a node is entered at most twice,
    by an arrowhead and by a tail. ``tests/graph/test_separation.py`` counts it.
    """
    graph = require_graph(graph)
    start, goal, known = graph.require(sources), graph.require(targets), graph.require(given)
    _check_disjoint(start, "a source", goal, "a target")
    _check_disjoint(start, "a source", known, "given")
    _check_disjoint(goal, "a target", known, "given")
    opening = graph.ancestors(known)
    links = graph.links
    # How each node was first entered: from which node, how that one was entered, by which edge.
    by_head: _Reached = {}
    by_tail: _Reached = dict.fromkeys(sort_names(start))
    queue = deque((node, False) for node in by_tail)
    while queue:
        node, head = queue.popleft()
        parents, children, siblings = links[node]
        if node in known or (head and node not in opening):
            parents, children, siblings = find_exits(
                links[node], head=head, known=node in known
            )
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
                    return _retrace(other, not tail, by_head, by_tail)
                queue.append((other, not tail))
    return None


def find_exits(
    links: Links, *, head: bool, known: bool
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Find the parents, children and siblings to which an open walk may go on from a node.

    The node is one that limits it: it is given (``known``), or was entered by an arrowhead
    (``head``) and causes nothing given; others may be left by any edge.
    """
    parents, children, siblings = links
    if known:
        # Only a collider lets the walk go on.
        return (parents, (), siblings) if head else ((), (), ())
    # An arrowhead again would make a collider that causes nothing given.
    return (), children, ()


def _check_disjoint(one: Nodes, role: str, other: Nodes, other_role: str) -> None:
    """Refuse a node in two roles at once, such as source and given."""
    if both := one & other:
        raise OverlappingRoles(sort_names(both)[0], role, other_role)


def _retrace(node: str, head: bool, by_head: _Reached, by_tail: _Reached) -> tuple[str, ...]:  # noqa: FBT001
    """Write the open walk that a search found, from its source to ``node``, as it is drawn.

    ``by_head`` and ``by_tail`` say from where each node was entered.
    """
    walk = [node]
    while step := (by_head if head else by_tail)[node]:
        node, head, edge = step
        walk += [edge, node]
    return tuple(reversed(walk))
