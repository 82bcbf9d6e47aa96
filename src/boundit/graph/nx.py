"""Graphs of networkx, both ways, and in GML, which networkx reads.

Node attributes ``latent`` and ``selected`` and the edge attribute ``bidirected`` say what a
directed graph cannot say by itself, ``related`` and ``independent`` name a node's group.
networkx is imported when first needed; pgmpy and dowhy never are.
"""

import re
from typing import TYPE_CHECKING, TypeGuard

from boundit.core.errors import GraphError, MalformedText, shorten
from boundit.core.names import sort_names
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.draft import BIDIRECTED, FORWARD, GraphDraft, is_flag_set

if TYPE_CHECKING:
    import networkx as nx

_DEEPEST = 3
"""A model of dowhy holds its graph, which holds one of networkx."""
_GML_POWER = re.compile(r'("[^"]*")|(?<=\s)([-+]?\d+)(?=[eE][-+]?\d)')
"""A number such as ``2e3``, which networkx reads with a point alone, or a text to pass over."""
_GML_PLACE = re.compile(r" at \((\d+), (\d+)\)$")


def from_networkx(source: "nx.Graph") -> CausalGraph:
    """Read a graph of networkx, or one that a graph of pgmpy or dowhy holds.

    Parameters
    ----------
    source
        The graph. An edge with a true attribute ``bidirected`` is bidirected, whichever way it
        points; in an undirected graph every edge must be. The ``latents`` of a graph of pgmpy
        are hidden, and so are nodes of dowhy that are not ``observed``. Whole numbers as nodes
        become their digits.

    Returns
    -------
    CausalGraph
        The graph, without its hidden nodes.
    """
    found = find_networkx(source)
    if found is None:
        raise GraphError(f"expected a networkx graph, found {type(source).__name__}")
    named = {node: _read_name(node) for node in found.nodes}
    if len(set(named.values())) < len(named):
        raise GraphError("two nodes have the same name once written down; rename one")
    return _draft_networkx(found, named).make_graph()


def _draft_networkx(source: "nx.Graph", named: dict[object, str]) -> GraphDraft:
    """Read a networkx graph into a draft, its nodes named as they shall be."""
    draft = GraphDraft()
    draft.mark_nodes({named[node]: marks for node, marks in source.nodes(data=True)})
    draft.hidden.update(named[node] for node in getattr(source, "latents", ()) if node in named)
    for one, other, marks in source.edges(data=True):
        a, b = named[one], named[other]
        # The ADMG of pgmpy marks both halves of a bidirected edge by their type.
        both = is_flag_set(marks.get("bidirected")) or marks.get("type") == "bidirected"
        if not both and not source.is_directed():
            raise GraphError(
                f"edge {a!r} - {b!r} has no direction; "
                "use a DiGraph, or mark the edge bidirected=True"
            )
        draft.connect(a, BIDIRECTED if both else FORWARD, b)
    return draft


def draft_gml(text: str) -> GraphDraft:
    """Read GML text into a draft that keeps the hidden nodes; a node is called by its label.

    >>> nodes = 'node [ id 0 label "X" ] node [ id 1 ]'
    >>> text = f"graph [ directed 1 {nodes} edge [ source 0 target 1 ] ]"
    >>> print(draft_gml(text).make_graph())
    X -> 1
    """
    import networkx as nx  # noqa: PLC0415, takes 0.15 s

    head, mark, tail = text.removeprefix("\ufeff").rpartition("]")
    # An arrow and a bidirected edge may join the same nodes.
    text = _GML_POWER.sub(lambda m: m[1] or f"{m[2]}.", f"{head} multigraph 1 {mark}{tail}")
    try:
        drawn = nx.parse_gml(text, label="id")
    except RecursionError:
        raise MalformedText("too deep a nesting", line=1, column=1) from None
    except (nx.NetworkXError, ValueError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())
        place = _GML_PLACE.search(reason)
        reason = f"{shorten(reason[: place.start()] if place else reason)}; this is not GML"
        line, column = map(int, place.groups()) if place else (1, 1)
        raise MalformedText(reason, line=line, column=column) from None
    named = {node: str(marks.get("label", node)) for node, marks in drawn.nodes(data=True)}
    if len(set(named.values())) < len(named):
        raise GraphError("two nodes have the same label; rename one")
    return _draft_networkx(drawn, named)


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
    """Return whether something has what we read of a networkx graph, without importing it."""
    return all(hasattr(source, part) for part in ("nodes", "edges", "is_directed"))


def to_networkx(graph: CausalGraph) -> "nx.MultiDiGraph":
    """Write a graph for networkx, which ``from_networkx`` reads back.

    Parameters
    ----------
    graph
        The causal graph.

    Returns
    -------
    networkx.MultiDiGraph
        The graph; a bidirected edge is one edge with ``bidirected=True``.
    """
    import networkx as nx  # noqa: PLC0415, takes 0.15 s

    written, grouped = nx.MultiDiGraph(), GraphDraft.from_graph(graph).name_groups()
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
    raise GraphError(
        f"node {node!r} is a {type(node).__name__}; name nodes with text or integers"
    )
