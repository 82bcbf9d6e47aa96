"""Which variables to try when there are too many to try them all."""

from collections import deque
from math import comb

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separators import minimal_separator
from boundit.terms.names import Nodes, sort_names


def shortlist(
    graph: CausalGraph,
    usable: Nodes,
    *,
    outcomes: Nodes,
    treatments: Nodes,
    context: Nodes,
    max_size: int,
    max_sets: int,
) -> list[str]:
    """Choose variables so few that at most ``max_sets`` sets of ``max_size`` can be made.

    All ``usable`` ones when that is so; otherwise first those of minimal separators between
    outcomes on one side and treatments and selection on the other, near either end, then the
    nearest to the outcomes by edges. It is a rule of thumb: what is left out might have served
    as well.

    >>> chain = CausalGraph.of(directed=[("A", "B"), ("B", "Y"), ("X", "Y"), ("B", "X")])
    >>> y, x, none = frozenset("Y"), frozenset("X"), frozenset()
    >>> roles = {"outcomes": y, "treatments": x, "context": none}
    >>> shortlist(chain, frozenset("AB"), **roles, max_size=1, max_sets=2)
    ['B']
    """
    width = len(usable)
    while width and sum(comb(width, size) for size in range(max_size + 1)) > max_sets:
        width -= 1
    if width == len(usable):
        return sort_names(usable)
    first = _collect_separators(graph, usable, outcomes, treatments, context)
    steps, far = _count_steps(graph, outcomes), len(graph.nodes)
    ranked = sorted(sort_names(usable), key=lambda v: (v not in first, steps.get(v, far)))
    return sort_names(ranked[:width])


def _collect_separators(
    graph: CausalGraph, usable: Nodes, y: Nodes, x: Nodes, c: Nodes
) -> Nodes:
    """Collect the usable variables that lie in one of six minimal separators of the outcomes.

    Each is a smallest set that blocks all paths from the outcomes to the treatments, to
    selection or to both.
    """
    s = frozenset((graph.selection,)) if graph.selection else frozenset()
    behind, ahead = graph.without_edges_out_of(x), graph.without_edges_into(x)
    cuts = [
        minimal_separator(cut, *ends, include=include, within=usable)
        for cut, one, other, include in (
            (behind, y, x | s, c),
            (behind, y, x, c | s),
            (ahead, y, s, x | c),
        )
        # One near each end: the outcomes, and what they are to be separated from.
        for ends in ((one, other), (other, one))
    ]
    return usable & frozenset().union(*(cut for cut in cuts if cut))


def _count_steps(graph: CausalGraph, start: Nodes) -> dict[str, int]:
    """Count the edges from ``start`` to every node it is joined to, in whatever direction."""
    steps = dict.fromkeys(sort_names(start), 0)
    queue = deque(steps)
    while queue:
        node = queue.popleft()
        for other in (n for kind in graph.links[node] for n in kind):
            if other not in steps:
                steps[other] = steps[node] + 1
                queue.append(other)
    return steps
