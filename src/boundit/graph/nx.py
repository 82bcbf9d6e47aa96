"""Graphs as networkx graphs, both ways.

Node attributes ``latent`` and ``selected`` and the edge attribute ``bidirected`` carry what a
directed graph cannot say by itself, ``related`` and ``independent`` name a node's group.
networkx is imported only here and only when asked for; pgmpy and dowhy never are.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeGuard

from boundit.graph.attributes import is_flag_set, is_hidden, is_selected, name_groups
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import BIDIRECTED, FORWARD, GraphDraft
from boundit.terms.errors import MissingExtra, NotCausal
from boundit.terms.names import sort_names

if TYPE_CHECKING:
    import networkx as nx

_ARC = "bidirected"  # how pgmpy's ADMG marks both halves of such an edge
_DEEPEST = 3
"""A model of dowhy holds its graph, which holds one of networkx."""


def from_networkx(source: "nx.Graph") -> CausalGraph:
    """Read a networkx graph into a ``CausalGraph``; whole numbers as nodes become their digits.

    For users who draw their graph with networkx, pgmpy or dowhy. An edge with a true
    ``bidirected`` attribute is bidirected, whichever way it points. In an undirected graph
    every edge must be. The ``latents`` of a graph of pgmpy are hidden, and so is what dowhy
    calls not ``observed``.
    """
    found = find_networkx(source)
    if found is None:
        raise NotCausal(f"expected a networkx graph, found {type(source).__name__}")
    source = found
    draft, named = GraphDraft(), {node: _read_name(node) for node in source.nodes}
    if len(set(named.values())) < len(named):
        raise NotCausal("two nodes have the same name once written down; rename one")
    latents = set(getattr(source, "latents", ()))
    for node, attributes in source.nodes(data=True):
        draft.nodes.add(named[node])
        if is_hidden(attributes) or node in latents:
            draft.hidden.add(named[node])
        if is_selected(attributes):
            draft.selections.add(named[node])
    draft.gather_groups({named[node]: found for node, found in source.nodes(data=True)})
    for a, b, attributes in source.edges(data=True):
        kind = _read_edge(named[a], named[b], attributes, directed=source.is_directed())
        draft.connect(named[a], kind, named[b])
    return draft.make_graph()


def _read_edge(a: str, b: str, attributes: Mapping[str, object], *, directed: bool) -> str:
    """Read what an edge of a networkx graph says: ``->`` or ``<->``."""
    if is_flag_set(attributes.get("bidirected")) or attributes.get("type") == _ARC:
        return BIDIRECTED
    if not directed:
        raise NotCausal(
            f"edge {a!r} - {b!r} has no direction; "
            "use a DiGraph, or mark the edge bidirected=True"
        )
    return FORWARD


def find_networkx(source: object) -> "nx.Graph | None":
    """Find the networkx graph that something is or holds; None if there is none.

    A graph of pgmpy is one. A graph or model of dowhy holds one, and its causal models of
    mechanisms do too.
    """
    for _ in range(_DEEPEST):
        if is_networkx(source):
            return source
        source = getattr(source, "_graph", None) or getattr(source, "graph", None)
    return None


def is_networkx(source: object) -> TypeGuard["nx.Graph"]:
    """Tell whether something has what we read of a networkx graph, without importing it."""
    return all(hasattr(source, part) for part in ("nodes", "edges", "is_directed"))


def to_networkx(graph: CausalGraph) -> "nx.MultiDiGraph":
    """Write a graph for networkx; a bidirected edge is one edge with ``bidirected=True``.

    For users who want to go on with networkx; ``from_networkx`` reads it back.
    """
    try:
        import networkx as nx  # noqa: PLC0415, an optional package
    except ImportError:
        raise MissingExtra("networkx", "networkx") from None
    written, grouped = nx.MultiDiGraph(), name_groups(graph.groups)
    for node in sort_names(graph.nodes):
        group = dict([grouped[node]]) if node in grouped else {}
        written.add_node(node, latent=False, selected=node == graph.selection, **group)
    written.add_edges_from(sorted(graph.directed), bidirected=False)
    written.add_edges_from(sorted(graph.bidirected), bidirected=True)
    return written


def _read_name(node: object) -> str:
    """Read a node of a networkx graph as a name: text, or the digits of a whole number."""
    if isinstance(node, str) or (isinstance(node, int) and not isinstance(node, bool)):
        return str(node)
    raise NotCausal(
        f"node {node!r} is a {type(node).__name__}; name nodes with text or integers"
    )
