"""Proper causal paths: the ways by which treatments act on outcomes.

A directed path from a treatment to an outcome is *proper* when it meets the treatments only at
its start. Adjustment must leave these paths alone and block every other one. Three sets say
where they run: the nodes on them, everything those nodes cause, and the graph that is left
when their first edges are cut.
"""

from boundit.graph.causal_graph import CausalGraph
from boundit.terms.errors import OverlappingRoles
from boundit.terms.names import Names, Nodes, sort_names


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


def _read_ends(graph: CausalGraph, treatments: Names, outcomes: Names) -> tuple[Nodes, Nodes]:
    """Read treatments and outcomes as sets of the graph's nodes, which may not overlap."""
    acting, ends = graph.require(treatments), graph.require(outcomes)
    if both := acting & ends:
        raise OverlappingRoles(sort_names(both)[0], "a treatment", "an outcome")
    return acting, ends
