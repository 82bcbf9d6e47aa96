"""Hidden nodes folded into bidirected edges: the latent projection (Verma and Pearl)."""

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.groups import restrict_groups
from boundit.terms.errors import EmptyGraph, HiddenSelection
from boundit.terms.names import Names, sort_names


def project(graph: CausalGraph, hidden: Names) -> CausalGraph:
    """Hide nodes: make the graph of the others, with edges that stand for the hidden ones.

    ``A -> B`` when a directed path leads from A to B through hidden nodes alone; ``A <-> B``
    when hidden nodes alone carry a common cause to both. Every separation among the nodes that
    stay is kept, and none is added.

    >>> drawn = CausalGraph.of(directed=[("C", "X"), ("C", "Y"), ("X", "M"), ("M", "Y")])
    >>> print(project(drawn, {"C", "M"}))
    X -> Y; X <-> Y
    """
    gone = graph.require(hidden)
    if graph.selection in gone:
        raise HiddenSelection(graph.selection)
    if gone >= graph.observed:
        raise EmptyGraph("every node is hidden")
    links = {node: tuple(map(set, kinds)) for node, kinds in graph.links.items()}
    # Cheapest first: eliminating a node joins its causes and siblings to its effects.
    for node in sorted(sort_names(gone), key=lambda n: _count_fill(links[n])):
        parents, children, siblings = links.pop(node)
        for cause in parents:
            links[cause][1].discard(node)
            links[cause][1].update(children)
        for sibling in siblings:
            links[sibling][2].discard(node)
            links[sibling][2].update(children - {sibling})
        for effect in children:
            above, _, beside = links[effect]
            above.discard(node)
            above.update(parents)
            beside.update((children | siblings) - {effect})
    return CausalGraph.of(
        links,
        directed=((a, b) for a, (_, children, _) in links.items() for b in children),
        bidirected=((a, b) for a, (_, _, siblings) in links.items() for b in siblings),
        selection=graph.selection,
        groups=restrict_groups(graph.groups, graph.nodes - gone),
    )


def _count_fill(links: tuple[set[str], ...]) -> int:
    """Count the edges that hiding a node with these neighbours may add to the graph."""
    parents, children, siblings = links
    return len(children) * (len(parents) + len(siblings) + len(children))
