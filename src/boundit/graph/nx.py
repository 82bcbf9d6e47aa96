"""Graphs as networkx graphs, both ways.

Node attributes ``latent`` and ``selected`` and the edge attribute ``bidirected`` carry what a
directed graph cannot say by itself. networkx is imported only here and only when asked for.
"""

from typing import TYPE_CHECKING

from boundit.graph.attributes import is_flag_set, is_hidden, is_selected
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import BIDIRECTED, FORWARD, GraphDraft
from boundit.terms.errors import MissingExtra, NotCausal
from boundit.terms.names import sort_names

if TYPE_CHECKING:
    import networkx as nx


def from_networkx(source: "nx.Graph") -> CausalGraph:
    """Read a networkx graph into a ``CausalGraph``; whole numbers as nodes become their digits.

    For users who draw their graph with networkx. An edge with a true ``bidirected`` attribute
    is bidirected, whichever way it points. In an undirected graph every edge must be.
    """
    if not all(hasattr(source, part) for part in ("nodes", "edges", "is_directed")):
        raise NotCausal(f"expected a networkx graph, found {type(source).__name__}")
    draft, named = GraphDraft(), {node: _read_name(node) for node in source.nodes}
    if len(set(named.values())) < len(named):
        raise NotCausal("two nodes have the same name once written down; rename one")
    for node, attributes in source.nodes(data=True):
        draft.nodes.add(named[node])
        if is_hidden(attributes):
            draft.hidden.add(named[node])
        if is_selected(attributes):
            draft.selections.add(named[node])
    for a, b, attributes in source.edges(data=True):
        both = is_flag_set(attributes.get("bidirected"))
        if not both and not source.is_directed():
            raise NotCausal(
                f"edge {named[a]!r} - {named[b]!r} has no direction; "
                "use a DiGraph, or mark the edge bidirected=True"
            )
        draft.connect(named[a], BIDIRECTED if both else FORWARD, named[b])
    return draft.make_graph()


def to_networkx(graph: CausalGraph) -> "nx.MultiDiGraph":
    """Write a graph for networkx; a bidirected edge is one edge with ``bidirected=True``.

    For users who want to go on with networkx; ``from_networkx`` reads it back.
    """
    try:
        import networkx as nx  # noqa: PLC0415, an optional package
    except ImportError:
        raise MissingExtra("networkx", "networkx") from None
    written = nx.MultiDiGraph()
    for node in sort_names(graph.nodes):
        written.add_node(node, latent=False, selected=node == graph.selection)
    written.add_edges_from(sorted(graph.directed), bidirected=False)
    written.add_edges_from(sorted(graph.bidirected), bidirected=True)
    return written


def _read_name(node: object) -> str:
    """Read a node of a networkx graph as a name: text, or the digits of a whole number.

    Called by ``from_networkx``.
    """
    if isinstance(node, str) or (isinstance(node, int) and not isinstance(node, bool)):
        return str(node)
    raise NotCausal(
        f"node {node!r} is a {type(node).__name__}; name nodes with text or integers"
    )
