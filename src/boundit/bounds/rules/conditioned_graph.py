"""What is left of a graph once some variables are given: who still shares luck with whom.

A variable's *luck* is all that decides it besides its drawn causes: the hidden causes behind
its bidirected edges, and chance. Given earlier variables, luck that was shared through them is
shared for good, and luck may depend on what was given. Both can be read off separations.

Say that luck depends on a given ``Z``: the model is then no wider if the variable is said to
respond to ``Z`` instead, by luck that does not. That takes one joint law of luck for all values
of ``Z``, which exists when, within variables that share luck, those that feel fewer of the
given feel a part of what the others feel. So the sets are made to grow. It is how
``Z <-> X <-> Y, Z -> X -> Y`` becomes the instrument: X feels Z, the luck of Y does not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.projection import project
from boundit.graph.separation import open_walk
from boundit.terms.names import Nodes, sort_names


@dataclass(frozen=True, slots=True)
class ConditionedGraph:
    """The graph of ``inside`` once others are given, and which of the varied each feels."""

    graph: CausalGraph
    felt: Mapping[str, Nodes]


def given(
    graph: CausalGraph, *, inside: Nodes, known: Nodes, varied: Nodes, done: Nodes
) -> ConditionedGraph | None:
    """Draw the graph of ``inside`` given ``known`` and ``varied``, when ``done`` are set.

    ``known`` stays at one value; of ``varied`` several are compared. All others are hidden.
    None when something inside acts on what is given: its luck would answer to it.

    >>> from boundit.graph.text import parse
    >>> from boundit.terms.names import make_nodes
    >>> graph = parse("Z -> X -> Y; Z <-> X <-> Y")
    >>> roles = {"known": make_nodes(), "done": make_nodes(), "varied": make_nodes("Z")}
    >>> found = given(graph, inside=make_nodes("X", "Y"), **roles)
    >>> print(found.graph, {v: sorted(found.felt[v]) for v in "XY"})
    X -> Y; X <-> Y {'X': ['Z'], 'Y': []}
    """
    cut = graph.induced(graph.observed).without_edges_into(done)
    if cut.descendants(inside) & (known | varied):
        return None
    kept = inside | known | varied | done
    drawn = project(cut, cut.nodes - kept) if cut.nodes - kept else cut
    luck, shown = _luck(drawn, inside)
    fixed = known | varied | done
    pairs = [
        (a, b)
        for a in sort_names(inside)
        for b in sort_names(inside)
        if a < b and open_walk(luck, shown[a], shown[b], given=fixed) is not None
    ]
    arrows = [(a, b) for a, b in drawn.directed if a in inside and b in inside]
    among = CausalGraph.of(inside, directed=arrows, bidirected=pairs)
    lucky = {
        v: frozenset(
            z for z in varied if open_walk(luck, shown[v], z, given=fixed - {z}) is not None
        )
        for v in inside
    }
    grown = _growing(among, lucky)
    return ConditionedGraph(among, {v: grown[v] | (drawn.parents(v) & varied) for v in inside})


def _luck(drawn: CausalGraph, inside: Nodes) -> tuple[CausalGraph, dict[str, str]]:
    """Put a node for the luck of each inside variable in its place, above what is given."""
    shown = {v: f"luck of {v}" for v in inside}
    arrows = [(a, b) for a, b in drawn.directed if a not in inside and b not in inside]
    arcs = [(shown.get(a, a), shown.get(b, b)) for a, b in drawn.bidirected]
    names = [shown.get(v, v) for v in drawn.nodes]
    return CausalGraph.of(names, directed=arrows, bidirected=arcs), shown


def _growing(graph: CausalGraph, lucky: Mapping[str, Nodes]) -> dict[str, Nodes]:
    """Widen what is felt until, among those who share luck, every two sets are nested."""
    found: dict[str, Nodes] = {}
    for component in graph.components():
        so_far = frozenset[str]()
        for node in sorted(sort_names(component), key=lambda v: len(lucky[v])):
            so_far |= lucky[node]
            found[node] = so_far
    return found
