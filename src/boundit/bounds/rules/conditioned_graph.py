"""What is left of a graph once some variables are given: who still shares causes with whom.

A variable's *disturbance* is all that decides it besides its drawn causes: the hidden causes
behind its bidirected edges, and chance. Given earlier variables, disturbances that were joined
through them are joined for good, and a disturbance may depend on what was given. Both can be
read off separations.

Say that a disturbance depends on a given ``Z``: the model is then no wider if the variable is
said to respond to ``Z`` instead, by a disturbance that does not. That takes one joint law of
disturbances for all values of ``Z``, which exists when, within variables whose disturbances are
joined, those influenced by fewer of the given are influenced by a part of what influences the
others. So the sets are made to nest. It is how ``Z <-> X <-> Y, Z -> X -> Y`` becomes the
instrument: Z influences X, not the disturbance of Y.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.projection import project
from boundit.graph.separation import open_walk
from boundit.terms.names import Nodes, sort_names


@dataclass(frozen=True, slots=True)
class ConditionedGraph:
    """The graph of ``inside`` once others are given, and which of the varied influence each."""

    graph: CausalGraph
    influences: Mapping[str, Nodes]


def condition_graph(
    graph: CausalGraph, *, inside: Nodes, known: Nodes, varied: Nodes, done: Nodes
) -> ConditionedGraph | None:
    """Draw the graph of ``inside`` given ``known`` and ``varied``, when ``done`` are set.

    ``known`` stays at one value; of ``varied`` several are compared. All others are hidden.
    None when something inside acts on what is given: its disturbance (what else moves it,
    unseen) would depend on it.

    >>> from boundit.graph.text import parse
    >>> graph = parse("Z -> X -> Y; Z <-> X <-> Y")
    >>> roles = {"known": frozenset(), "done": frozenset(), "varied": frozenset("Z")}
    >>> found = condition_graph(graph, inside=frozenset("XY"), **roles)
    >>> print(found.graph, {v: sorted(found.influences[v]) for v in "XY"})
    X -> Y; X <-> Y {'X': ['Z'], 'Y': []}
    """
    cut = graph.induced(graph.observed).without_edges_into(done)
    if cut.descendants(inside) & (known | varied):
        return None
    kept = inside | known | varied | done
    drawn = project(cut, cut.nodes - kept) if cut.nodes - kept else cut
    disturbed, names = _draw_disturbances(drawn, inside)
    fixed = known | varied | done
    pairs = [
        (a, b)
        for a, b in combinations(sort_names(inside), 2)
        if open_walk(disturbed, names[a], names[b], given=fixed) is not None
    ]
    arrows = [(a, b) for a, b in drawn.directed if a in inside and b in inside]
    among = CausalGraph.of(inside, directed=arrows, bidirected=pairs)
    found = {v: _find_influences(disturbed, names[v], varied, fixed) for v in inside}
    nested = _nest_influences(among, found)
    return ConditionedGraph(among, {v: nested[v] | (drawn.parents(v) & varied) for v in inside})


def _find_influences(graph: CausalGraph, node: str, varied: Nodes, fixed: Nodes) -> Nodes:
    """Find which ``varied`` variables the disturbance ``node`` depends on, given ``fixed``.

    A disturbance is all that moves a variable unseen.
    """
    return frozenset(
        z for z in varied if open_walk(graph, node, z, given=fixed - {z}) is not None
    )


def _draw_disturbances(drawn: CausalGraph, inside: Nodes) -> tuple[CausalGraph, dict[str, str]]:
    """Replace each variable inside by a node for its disturbance; arrows inside are dropped.

    A disturbance is all that moves a variable unseen. The graph comes out with the new nodes'
    names.
    """
    names = {v: f"disturbance of {v}" for v in inside}
    arrows = [(a, b) for a, b in drawn.directed if a not in inside and b not in inside]
    arcs = [(names.get(a, a), names.get(b, b)) for a, b in drawn.bidirected]
    nodes = [names.get(v, v) for v in drawn.nodes]
    return CausalGraph.of(nodes, directed=arrows, bidirected=arcs), names


def _nest_influences(graph: CausalGraph, influences: Mapping[str, Nodes]) -> dict[str, Nodes]:
    """Widen the sets of influences so that, in each c-component, one contains the next.

    ``influences`` says on which varied variables each variable's disturbance depends; a
    c-component is variables that share hidden causes. One joint law of disturbances then serves
    every value of the varied.
    """
    found: dict[str, Nodes] = {}
    for component in graph.components():
        so_far = frozenset[str]()
        for node in sorted(sort_names(component), key=lambda v: len(influences[v])):
            so_far |= influences[node]
            found[node] = so_far
    return found
