"""Testable implications: the independences of a graph that survive selection.

The log shows the population given ``S = 1``. A separation ``(A _||_ B | Z)`` of the graph
implies something for logged rows only if ``Z`` together with the selection node separates A
from B, so only those can be tested. Equality constraints of other kinds (Verma's) are not
listed.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations

from boundit.core.names import Names, Nodes, read_nodes, sort_names, write_name
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike, require_graph
from boundit.graph.separators import minimal_separator


@dataclass(frozen=True, slots=True)
class Independence:
    """``one`` and ``other`` are independent given ``given``, in logged rows if ``selected``."""

    one: str
    other: str
    given: Nodes
    selected: bool

    def __str__(self) -> str:
        known = [*map(write_name, sort_names(self.given)), *["S = 1"] * self.selected]
        bar = f" | {', '.join(known)}" if known else ""
        return f"{write_name(self.one)} _||_ {write_name(self.other)}{bar}"


def implications(graph: GraphLike) -> tuple[Independence, ...]:
    """List the testable conditional independences of a graph: one for each pair separated.

    Each is given few variables, none of which can be left out, so that a test of it keeps its
    power. Together they generate all others: whatever else the graph separates given S follows
    from them by the compositional graphoid axioms, and none of them follows from the rest.

    Parameters
    ----------
    graph
        The causal graph.

    Returns
    -------
    tuple of Independence
        One for each pair of observed variables that some set separates.

    Examples
    --------
    >>> chain = CausalGraph.of(directed=[("X", "M"), ("M", "Y"), ("M", "S")], selection="S")
    >>> print(*implications(chain))
    X _||_ Y | M, S = 1
    """
    graph = require_graph(graph)
    stated = (state_independence(graph, *pair) for pair in list_apart(graph))
    return tuple(statement for statement in stated if statement is not None)


def list_apart(graph: CausalGraph) -> Iterator[tuple[str, str]]:
    """List the pairs of observed variables without an edge between them, in sorted order."""
    for one, other in combinations(sort_names(graph.observed), 2):
        parents, children, siblings = graph.links[one]
        if other not in (*parents, *children, *siblings):
            yield one, other


def state_independence(
    graph: CausalGraph, one: str, other: str, *, within: Names | None = None
) -> Independence | None:
    """State that two variables are independent in the log given few others; None if never.

    Of the two minimal separators nearest to either end, the one of fewer nodes is given, which
    hardly ever has more than the smallest of all. Only nodes ``within`` a set are used.

    >>> edges = [("X", "A"), ("X", "B"), ("A", "M"), ("B", "M"), ("M", "Y")]
    >>> fan = CausalGraph.of(directed=edges)
    >>> print(state_independence(fan, "X", "Y"))
    X _||_ Y | M
    >>> print(state_independence(fan, "X", "Y", within=("A", "B")))
    X _||_ Y | A, B
    """
    selected = frozenset((graph.selection,)) if graph.selection else frozenset[str]()
    if within is not None:
        within = read_nodes(within) | selected
    found = minimal_separator(graph, one, other, include=selected, within=within)
    if found is None:
        return None
    # No set is smaller than one node where the empty set does not do.
    if len(found - selected) > 1:
        behind = minimal_separator(graph, other, one, include=selected, within=within)
        found = min(found, behind or found, key=len)
    return Independence(one, other, found - selected, bool(selected))


# Without brackets a selection node is an ordinary variable, and every row counts as logged: bounds
# would claim far too much. Its column decides, or else its name.
_CALLED = {"s", "included", "kept", "logged", "observed", "recorded", "sampled"}
_CALLED |= {"selected", "selection"}


def find_possible_selection(graph: CausalGraph, asked: Names = ()) -> Nodes:
    """Find the nodes that may be a selection node without brackets.

    They cause nothing and are not asked about; a graph with a selection node has none.

    >>> from boundit.graph.text import parse
    >>> unmarked = parse("Ad -> Click -> S; Click -> Mail")
    >>> sorted(find_possible_selection(unmarked, asked=["Ad", "Click"]))
    ['Mail', 'S']
    >>> marked = parse("Ad -> Click -> [S]; Click -> Mail")
    >>> sorted(find_possible_selection(marked, asked=["Ad", "Click"]))
    []
    """
    if graph.selection is not None:
        return frozenset()
    others = graph.observed - read_nodes(asked)
    return frozenset(name for name in others if not graph.links[name].children)


def ask_by_name(names: Collection[str], columns: Collection[str]) -> tuple[str, ...]:
    """Write questions about nodes without a column that are called like a selection node.

    >>> ask_by_name({"Selected", "Mail"}, columns={"Ad", "Click"})[0][:33]
    'Selected is an ordinary node here'
    """
    return tuple(
        ask_if_selection(name, "is an ordinary node here")
        for name in sort_names(names)
        if name.casefold() in _CALLED and name not in columns
    )


def ask_if_selection(name: str, what: str) -> str:
    """Write the question whether a node is the selection node, and how to mark it."""
    return (
        f"{name} {what}: if it indicates which rows were logged, write [{write_name(name)}] in "
        "the graph; as written, the log is taken for the whole population"
    )
