"""Sets that separate: one, the nearest, a minimal one, the smallest, or all of them.

A *separator* of ``sources`` and ``targets`` is a set ``Z`` with ``(sources _||_ targets | Z)``.
Two sets limit the search: ``include`` is in every separator (the selection node, a context),
and nothing outside ``within`` is, ``include`` apart. By default any observed node may be used.

Why the searches are fast: all separators worth looking at lie among the ancestors ``A`` of
``sources``, ``targets`` and ``include``. For a set ``Z`` of such ancestors that holds
``include`` every collider in ``A`` may be passed: it causes something in ``Z``, or it leads on
to a source or a target, which is an open walk by itself. So blocking is plain reachability
inside ``A``: a node outside ``Z`` lets everything pass, a node of ``Z`` only colliders.

References
----------
B. van der Zander and M. Liśkiewicz, Finding minimal d-separators in linear time and
applications, UAI 2019. They treat directed graphs; bidirected edges enter here as edges
with two heads.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike, require_graph
from boundit.graph.separation import find_exits
from boundit.graph.vertex_cut import cut_vertices
from boundit.terms.errors import OverlappingRoles
from boundit.terms.names import Names, Nodes, read_nodes, sort_names


def find_separator(
    graph: CausalGraph,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Nodes | None:
    """Find the widest separator among the ancestors; None when nothing allowed separates.

    A separator is a set given which sources and targets are independent.

    It is every allowed ancestor of ``sources``, ``targets`` and ``include``: if any set
    separates, this one does. One search, linear in the edges.

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y")])
    >>> sorted(find_separator(chain, "X", "Y"))
    ['A', 'B']
    >>> find_separator(chain, "A", "B") is None
    True
    """
    return _prepare_separator_search(graph, sources, targets, include, within).find()


def nearest_separator(
    graph: GraphLike,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Nodes | None:
    """Find the separator that lies nearest to the sources; None when nothing separates.

    A separator is a set given which sources and targets are independent. It keeps, beside
    ``include``, the nodes of the widest separator that the sources reach. No other separator
    comes between: one that leaves out a node of this one (outside ``include``) leaves that node
    connected to the sources. It may hold nodes that lead to no target.

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y"), ("D", "X")])
    >>> sorted(nearest_separator(chain, "X", "Y")), sorted(nearest_separator(chain, "Y", "X"))
    (['A', 'D'], ['B'])
    """
    task = _prepare_separator_search(require_graph(graph), sources, targets, include, within)
    return task.keep_nearest(task.widest)


def minimal_separator(
    graph: GraphLike,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Nodes | None:
    """Find a separator of which only ``include`` may be superfluous; None when there is none.

    A separator is a set given which sources and targets are independent. Two searches, linear
    in the edges: of the nearest separator it keeps what the targets reach. No proper subset
    that holds ``include`` separates. It need not be the smallest one.

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y"), ("D", "X")])
    >>> sorted(minimal_separator(chain, "X", "Y"))
    ['A']
    >>> sorted(minimal_separator(chain, "X", "Y", include="D", within="B"))
    ['B', 'D']
    """
    task = _prepare_separator_search(require_graph(graph), sources, targets, include, within)
    nearest = task.keep_nearest(task.widest)
    return nearest and nearest & (task.reach(task.targets, nearest) | task.include)


def smallest_separator(
    graph: CausalGraph,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Nodes | None:
    """Find a separator of the fewest nodes; None when nothing allowed separates.

    A separator is a set given which sources and targets are independent. Of several that are
    smallest it is the one nearest to the sources. It costs one search for each of its nodes,
    linear in the edges.

    >>> graph = CausalGraph.of(
    ...     directed=[("X", "A"), ("X", "B"), ("A", "C"), ("B", "C"), ("C", "Y")]
    ... )
    >>> sorted(smallest_separator(graph, "X", "Y")), sorted(minimal_separator(graph, "X", "Y"))
    (['C'], ['A', 'B'])
    """
    task = _prepare_separator_search(graph, sources, targets, include, within)
    if (widest := task.find()) is None:
        return None
    drawn = graph.induced(task.inside)
    ends = task.sources, task.targets
    return task.include | cut_vertices(drawn, *ends, gone=task.include, usable=widest)


def find_needed_nodes(
    graph: CausalGraph,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Nodes | None:
    """Find the nodes that every separator holds, beside ``include``; None when there is none.

    A separator is a set given which sources and targets are independent.

    They are the nodes of the widest separator that both ends reach.

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y"), ("C", "Y")])
    >>> sorted(find_needed_nodes(chain, "X", "Y"))
    []
    >>> sorted(find_needed_nodes(chain, "X", "Y", within="A"))
    ['A']
    """
    task = _prepare_separator_search(graph, sources, targets, include, within)
    if (widest := task.find()) is None:
        return None
    reached = (task.reach(end, widest) for end in (task.sources, task.targets))
    return (widest - task.include).intersection(*reached)


def list_separators(
    graph: CausalGraph,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Iterator[Nodes]:
    """List every separator once, in an order that repeats, the widest first.

    Names are checked at once, the search goes on as separators are asked for. Between two of
    them lie at most as many searches as ``within`` has nodes: polynomial delay.

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y")])
    >>> [sorted(found) for found in list_separators(chain, "X", "Y")]
    [['A', 'B'], ['A'], ['B']]
    """
    task = _prepare_separator_search(graph, sources, targets, include, within)

    def find(forced: Nodes, allowed: Nodes) -> Nodes | None:
        return replace(task, include=forced, within=allowed).find()

    return list_sets_between(task.include, task.within, find)


def find_connected_nodes(graph: CausalGraph, sources: Names, *, given: Names = ()) -> Nodes:
    """Collect every node that ``given`` does not separate from the sources, in one search.

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("C", "A")])
    >>> sorted(find_connected_nodes(chain, "X"))
    ['A', 'B']
    >>> sorted(find_connected_nodes(chain, "X", given="A"))
    ['C']
    """
    start, known = graph.require(sources), graph.require(given)
    if both := start & known:
        raise OverlappingRoles(sort_names(both)[0], "a source", "given")
    reached = _find_reached(
        graph, start, known, inside=graph.nodes, opening=graph.ancestors(known)
    )
    return reached - start - known


def list_sets_between(
    forced: Nodes, allowed: Nodes, find: Callable[[Nodes, Nodes], Nodes | None]
) -> Iterator[Nodes]:
    """List every set between ``forced`` and ``allowed`` that has a property.

    ``find(low, high)`` returns some set between ``low`` and ``high`` with the property, or None
    when there is none. Each set but the one found differs from it first at some node, and that
    node names the range to look into next. Depth first; the stack stands in for recursion.

    >>> def with_a(low, high):
    ...     return high if "A" in high else None
    >>> ["".join(sorted(z)) for z in list_sets_between(frozenset(), frozenset("ABC"), with_a)]
    ['ABC', 'AB', 'AC', 'A']
    """
    ranges = [iter([(forced, allowed)])]
    while ranges:
        if (bounds := next(ranges[-1], None)) is None:
            ranges.pop()
        elif (found := find(*bounds)) is not None:
            yield found
            ranges.append(_split_ranges(*bounds, found))


def _split_ranges(forced: Nodes, allowed: Nodes, found: Nodes) -> Iterator[tuple[Nodes, Nodes]]:
    """Split the sets from ``forced`` to ``allowed``, without ``found``, into disjoint ranges.

    Each range is its smallest and its largest set.
    """
    free = sort_names(allowed - forced)
    for i in range(len(free) - 1, -1, -1):
        before, node = frozenset(free[:i]), free[i]
        low, high = forced | (before & found), allowed - (before - found)
        yield (low, high - {node}) if node in found else (low | {node}, high)


@dataclass(frozen=True)
class _SeparatorSearch:
    """A checked question: ``include`` lies in ``within``, and neither meets the two ends."""

    graph: CausalGraph
    sources: Nodes
    targets: Nodes
    include: Nodes
    within: Nodes

    @cached_property
    def inside(self) -> Nodes:
        """The ancestors of what is asked about; no separator needs more nodes."""
        return self.graph.ancestors(self.sources | self.targets | self.include)

    @property
    def widest(self) -> Nodes:
        """All allowed ancestors: if any set separates, this one does."""
        return self.within & self.inside

    def find(self) -> Nodes | None:
        """Find the widest separator; None when even that does not separate."""
        return None if self.keep_nearest(self.widest) is None else self.widest

    def keep_nearest(self, separator: Nodes) -> Nodes | None:
        """Keep the nodes of a separator that the sources reach; None when they reach a target."""
        reached = self.reach(self.sources, separator)
        return None if reached & self.targets else separator & (reached | self.include)

    def reach(self, start: Nodes, blocked: Nodes) -> Nodes:
        """Collect what walks among the ancestors reach past ``blocked``, itself included."""
        return _find_reached(
            self.graph, start, blocked, inside=self.inside, opening=self.inside
        )


def _prepare_separator_search(
    graph: CausalGraph, sources: Names, targets: Names, include: Names, within: Names | None
) -> _SeparatorSearch:
    """Check the names of a question about separators, and read them as sets of nodes."""
    start, goal, forced = graph.require(sources), graph.require(targets), graph.require(include)
    for one, role, other, other_role in (
        (start, "a source", goal, "a target"),
        (start, "a source", forced, "included"),
        (goal, "a target", forced, "included"),
    ):
        if both := one & other:
            raise OverlappingRoles(sort_names(both)[0], role, other_role)
    allowed = graph.observed if within is None else graph.require(read_nodes(within))
    return _SeparatorSearch(graph, start, goal, forced, (allowed - start - goal) | forced)


def _find_reached(
    graph: CausalGraph, start: Nodes, blocked: Nodes, *, inside: Nodes, opening: Nodes
) -> Nodes:
    """Collect what walks inside ``inside`` reach when ``blocked`` lets only colliders pass.

    Of the other nodes, only those of ``opening`` may be passed as colliders. Blocked nodes that
    are reached belong to the answer. A node is left at most twice, once for each way in.
    """
    links = graph.links
    by_head: set[str] = set()
    by_tail: set[str] = set(start)
    queue = deque((node, False) for node in start)
    while queue:
        node, head = queue.pop()
        parents, children, siblings = links[node]
        if node in blocked or (head and node not in opening):
            parents, children, siblings = find_exits(
                links[node], head=head, known=node in blocked
            )
        for other in parents:
            if other not in by_tail and other in inside:
                by_tail.add(other)
                queue.append((other, False))
        for other in (*children, *siblings):
            if other not in by_head and other in inside:
                by_head.add(other)
                queue.append((other, True))
    return frozenset(by_head | by_tail)
