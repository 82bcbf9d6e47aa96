"""Separators: the nearest, a minimal one, the smallest, those that all share, or all of them.

A *separator* of ``sources`` and ``targets`` is a set ``Z`` with ``(sources _||_ targets | Z)``.
Two sets limit the search: ``include`` is in every separator (the selection node, a context),
and nothing outside ``within`` is, ``include`` apart. By default any observed node may be used.

Why the searches are fast: all separators worth looking at lie among the ancestors ``A`` of
``sources``, ``targets`` and ``include``. For a set ``Z`` of such ancestors that holds
``include`` every collider in ``A`` may be passed: it causes something in ``Z``, or it leads on
to a source or a target, which is an open walk by itself. So blocking is plain reachability
inside ``A``: a node outside ``Z`` lets everything pass, a node of ``Z`` only colliders.

The smallest separator is a minimum vertex cut of the augmented graph of ``A``, where two nodes
are joined when a walk between them meets nothing but colliders. These are the members and the
causes of one district (nodes joined by bidirected edges), so that each district is kept as one
hub, and the network stays as small as the graph.

References
----------
B. van der Zander and M. Liśkiewicz, Finding minimal d-separators in linear time and
applications, UAI 2019. They treat directed graphs; bidirected edges enter here as edges
with two heads. T. Richardson, Markov properties for acyclic directed mixed graphs, Scand. J.
Stat. 2003 (the augmented graph). H. Shen and W. Liang, Efficient enumeration of all minimal
separators in a graph, Theor. Comput. Sci. 1997. J. Tian, A. Paz and J. Pearl, Finding minimal
d-separators, R-254, 1998.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from boundit.core.names import Names, Nodes, sort_names
from boundit.graph.causal_graph import CausalGraph, list_bits
from boundit.graph.read import GraphLike, require_graph
from boundit.graph.separation import require_roles


def find_separator(
    graph: CausalGraph,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Nodes | None:
    """Find the widest separator among the ancestors; None when nothing allowed separates.

    It is every allowed ancestor of ``sources``, ``targets`` and ``include``: if any set
    separates, this one does. One search, linear in the edges.

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y")])
    >>> sorted(find_separator(chain, "X", "Y"))
    ['A', 'B']
    >>> find_separator(chain, "A", "B") is None
    True
    """
    return _SeparatorSearch.of(graph, sources, targets, include, within).find()


def nearest_separator(
    graph: GraphLike,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Nodes | None:
    """Find the separator nearest to the sources: a set given which targets are independent.

    It keeps, beside ``include``, the nodes of the widest separator that the sources reach. No
    other separator comes between: one that leaves out a node of this one (outside ``include``)
    leaves that node connected to the sources. It may hold nodes that lead to no target.

    Parameters
    ----------
    graph
        The causal graph.
    sources, targets
        The two sets of nodes to separate.
    include
        Nodes that belong to the separator in any case.
    within
        Nodes that may be used besides; all observed ones by default.

    Returns
    -------
    frozenset of str, or None
        The separator with ``include``; None if nothing allowed separates.

    Examples
    --------
    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y"), ("D", "X")])
    >>> sorted(nearest_separator(chain, "X", "Y")), sorted(nearest_separator(chain, "Y", "X"))
    (['A', 'D'], ['B'])
    """
    task = _SeparatorSearch.of(require_graph(graph), sources, targets, include, within)
    return task.keep_nearest(task.widest)


def minimal_separator(
    graph: GraphLike,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Nodes | None:
    """Find a minimal separator: no proper subset that holds ``include`` separates.

    Two searches, linear in the edges: of the nearest separator it keeps what the targets reach.
    It need not be the smallest one.

    Parameters
    ----------
    graph
        The causal graph.
    sources, targets
        The two sets of nodes to separate.
    include
        Nodes that belong to the separator in any case.
    within
        Nodes that may be used besides; all observed ones by default.

    Returns
    -------
    frozenset of str, or None
        The separator with ``include``; None if nothing allowed separates.

    Examples
    --------
    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y"), ("D", "X")])
    >>> sorted(minimal_separator(chain, "X", "Y"))
    ['A']
    >>> sorted(minimal_separator(chain, "X", "Y", include="D", within="B"))
    ['B', 'D']
    """
    task = _SeparatorSearch.of(require_graph(graph), sources, targets, include, within)
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

    Of several it is the one nearest to the sources. It costs one search for each of its nodes,
    linear in the edges.

    >>> graph = CausalGraph.of(
    ...     directed=[("X", "A"), ("X", "B"), ("A", "C"), ("B", "C"), ("C", "Y")]
    ... )
    >>> sorted(smallest_separator(graph, "X", "Y")), sorted(minimal_separator(graph, "X", "Y"))
    (['C'], ['A', 'B'])
    """
    task = _SeparatorSearch.of(graph, sources, targets, include, within)
    if (widest := task.find()) is None:
        return None
    drawn = graph.induced(task.inside)
    return task.include | cut_vertices(
        drawn, task.sources, task.targets, gone=task.include, usable=widest
    )


def find_needed_nodes(
    graph: CausalGraph,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Nodes | None:
    """Find the nodes that every separator holds, beside ``include``; None when there is none.

    They are the nodes of the widest separator that both ends reach.

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y"), ("C", "Y")])
    >>> sorted(find_needed_nodes(chain, "X", "Y"))
    []
    >>> sorted(find_needed_nodes(chain, "X", "Y", within="A"))
    ['A']
    """
    task = _SeparatorSearch.of(graph, sources, targets, include, within)
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
    task = _SeparatorSearch.of(graph, sources, targets, include, within)

    def find(forced: Nodes, allowed: Nodes) -> Nodes | None:
        return replace(task, include=forced, within=allowed).find()

    return list_sets_between(task.include, task.within, find)


def list_minimal_separators(
    graph: CausalGraph,
    sources: Names,
    targets: Names,
    *,
    include: Names = (),
    within: Names | None = None,
) -> Iterator[Nodes]:
    """List every separator of which no proper subset that holds ``include`` separates.

    Each once, with polynomial delay, from near the sources to near the targets. They are the
    minimal vertex separators of the augmented graph, where the members and the causes of one
    c-component are joined: each follows from another by moving one of its nodes to the side of
    the sources (Shen and Liang 1997).

    >>> chain = CausalGraph.of(directed=[("X", "A"), ("A", "B"), ("B", "Y"), ("X", "C")])
    >>> [sorted(found) for found in list_minimal_separators(chain, "X", "Y")]
    [['A'], ['B']]
    """
    task, bits = _SeparatorSearch.of(graph, sources, targets, include, within), graph.bits
    start, goal, forced = map(bits.mask, (task.sources, task.targets, task.include))
    inside = bits.mask(task.inside)
    usable = bits.mask(task.within) & inside & ~forced
    near = [0] * len(bits.names)
    for part in bits.components(inside):
        around = (part | bits.find_parents(part)) & inside & ~forced
        for i in list_bits(around):
            near[i] |= around

    def expand(part: int, blocked: int) -> int:
        """Add what the augmented graph joins to a part, except the blocked nodes."""
        queue = part
        while queue:
            bit = queue & -queue
            new = near[bit.bit_length() - 1] & ~blocked & ~part
            part, queue = part | new, (queue ^ bit) | new
        return part

    def find_border(part: int) -> int:
        border = 0
        for i in list_bits(part):
            border |= near[i]
        return border & ~part

    def search() -> Iterator[Nodes]:
        waiting, seen = deque([start]), set[int]()
        while waiting:
            # What cannot be in a separator goes to the side of the sources.
            part = expand(waiting.popleft(), usable)
            if part & goal:
                continue
            found = find_border(expand(goal, find_border(part)))
            if found in seen:
                continue
            seen.add(found)
            yield task.include | bits.read(found)
            side = expand(start, found)
            waiting += (side | 1 << i for i in list_bits(found))

    return search()


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

    @classmethod
    def of(
        cls,
        graph: CausalGraph,
        sources: Names,
        targets: Names,
        include: Names,
        within: Names | None,
    ) -> "_SeparatorSearch":
        """Check the names of the question, and read them as sets of nodes."""
        start, goal, forced = require_roles(
            graph, {"a source": sources, "a target": targets, "included": include}
        )
        allowed = graph.observed if within is None else graph.require(within)
        return cls(graph, start, goal, forced, (allowed - start - goal) | forced)

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
        bits = self.graph.bits
        inside = bits.mask(self.inside)
        found = bits.find_reached(bits.mask(start), bits.mask(blocked), inside, inside)
        return bits.read(found)


_Gate: TypeAlias = tuple[str | int, bool]
"""Where walks enter a node (True) or leave it (False); or a hub, named by its number."""


def cut_vertices(
    graph: CausalGraph, sources: Nodes, targets: Nodes, *, gone: Nodes, usable: Nodes
) -> Nodes:
    """Find the minimum vertex cut nearest to the sources, by augmenting paths.

    ``graph`` holds only ancestors of what is asked about, ``gone`` are nodes that are given.
    All ``usable`` nodes together must separate. A usable node lets one unit of flow pass.
    """
    much = len(graph.nodes) + 1
    residual: dict[_Gate, dict[_Gate, int]] = {}
    places = {node: i for i, node in enumerate(graph.order) if node not in gone}
    for node in places:
        residual[node, True] = {(node, False): 1 if node in usable else much}
        residual[node, False] = {}
    for number, district in enumerate(graph.components()):
        hub = residual.setdefault((number, True), {})
        around = (district | graph.parents(district)) - gone
        for node in sorted(around, key=places.__getitem__):
            residual[node, False][number, True] = much
            hub[node, True] = much
    ends = {(node, True) for node in targets}
    while True:
        came_from: dict[_Gate, _Gate | None] = {(n, False): None for n in sort_names(sources)}
        queue = deque(came_from)
        reached: _Gate | None = None
        while queue and reached is None:
            here = queue.popleft()
            for there, capacity in residual[here].items():
                if capacity and there not in came_from:
                    came_from[there] = here
                    queue.append(there)
                    if there in ends:
                        reached = there
                        break
        if reached is None:
            return frozenset(
                node
                for node in usable - gone
                if (node, True) in came_from and (node, False) not in came_from
            )
        while (before := came_from[reached]) is not None:
            residual[before][reached] -= 1
            residual[reached][before] = residual[reached].get(before, 0) + 1
            reached = before
