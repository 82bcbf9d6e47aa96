"""What the log must show if the graph is right: the independences that survive selection.

The log is the population given ``S = 1``. A separation ``(A _||_ B | Z)`` of the graph says
nothing about it unless ``Z`` together with the selection node separates A from B, so only those
separations can be tested. Equality constraints of other kinds (Verma's) are not listed.
"""

from dataclasses import dataclass
from itertools import combinations

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separators import minimal_separator
from boundit.terms.names import Nodes, sort_names, write_name


@dataclass(frozen=True, slots=True)
class Independence:
    """``one`` tells nothing about ``other`` once ``given`` is known, among the rows at hand."""

    one: str
    other: str
    given: Nodes
    selected: bool

    def __str__(self) -> str:
        known = [
            *map(write_name, sort_names(self.given)),
            *(["S = 1"] if self.selected else []),
        ]
        bar = f" | {', '.join(known)}" if known else ""
        return f"{write_name(self.one)} _||_ {write_name(self.other)}{bar}"


def implications(graph: CausalGraph) -> tuple[Independence, ...]:
    """List the testable independences of a graph: one for each pair that some set separates.

    Users ask what data could refute; called by ``_restate_in_columns`` for the statements that
    ``check`` tests on a log.

    Each is stated given a smallest set (nothing in it can be left out), so that a test of it
    keeps its power. Together they generate all others: whatever else the graph separates given
    S follows from them by the rules that separation obeys (the compositional graphoid axioms),
    and none of them follows from the rest.

    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y"), ("M", "S")], selection="S")
    >>> print(*implications(chain))
    X _||_ Y | M, S = 1

    Notes
    -----
    A pair costs two searches, so the list costs (pairs x edges). That it generates everything
    and that nothing in it is superfluous is checked in ``tests/graph/test_implications.py`` by
    closing it under the axioms on random graphs.
    """
    selected = frozenset((graph.selection,)) if graph.selection else frozenset[str]()
    found: list[Independence] = []
    for one, other in combinations(sort_names(graph.observed), 2):
        if other in graph.links[one].children + graph.links[one].siblings:
            continue
        separator = minimal_separator(graph, one, other, include=selected)
        if separator is not None:
            found.append(Independence(one, other, separator - selected, bool(selected)))
    return tuple(found)
