"""A graph as a reader finds it in a file: edges, hidden nodes and marks, not yet judged."""

from dataclasses import dataclass, field

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.projection import project
from boundit.terms.errors import EmptyGraph, HiddenSelection, TwoSelectionNodes

FORWARD, BACKWARD, BIDIRECTED = "->", "<-", "<->"


@dataclass
class GraphDraft:
    """What a format said so far. Every reader fills one; ``make_graph`` judges it."""

    nodes: set[str] = field(default_factory=set)
    directed: set[tuple[str, str]] = field(default_factory=set)
    bidirected: set[tuple[str, str]] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    selections: set[str] = field(default_factory=set)

    def connect(self, left: str, edge: str, right: str) -> None:
        """Add one edge to the draft as a file writes it: ``->``, ``<-`` or ``<->``.

        Called by every reader, such as ``from_record``, for every edge.
        """
        self.nodes |= {left, right}
        match edge:
            case "->":
                self.directed.add((left, right))
            case "<-":
                self.directed.add((right, left))
            case _:
                self.bidirected.add((left, right))

    def make_graph(self) -> CausalGraph:
        """Check the draft's names and edges, and make a causal graph without its hidden nodes.

        Called by every reader at its end: ``parse``, ``parse_dot``, ``parse_dagitty``,
        ``from_record``, ``from_networkx``.
        """
        if not self.nodes:
            raise EmptyGraph
        if len(self.selections) > 1:
            raise TwoSelectionNodes(self.selections)
        if both := self.selections & self.hidden:
            raise HiddenSelection(min(both))
        graph = CausalGraph.of(
            self.nodes,
            directed=self.directed,
            bidirected=self.bidirected,
            selection=next(iter(self.selections), None),
        )
        graph.require(self.hidden)
        return project(graph, self.hidden) if self.hidden else graph
